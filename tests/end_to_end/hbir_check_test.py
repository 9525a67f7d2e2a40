"""What --check finds in HBIR programs: indices out of range, reads of what nobody wrote, tiles that write one element without an order, and
tiles that wait for ever. Each message names tile, array, index and line. And loops that never end and wait for nothing, which stay in the program."""

import os
import resource
import subprocess
import time

import harness
import numpy as np

PROGRAM = """target { memory g[2] { size 64M; width 8B; }; tile t[4][4] { memory l { size 64K; width 8B; }; }; }
config { group tg[4][4] { tile target.t[x][y]; }; }
data {
  const n = 100;
  A : int[n] = block[2] { target.g[x]; host; };
  T : int[n] = block[2] { target.g[x]; };
  C : int[n] = block[4][4] { target.t.l[x][y]; chunked; device; };
}
code {
  int flag = 0;
  config.tg[x][y] {
    %s
  }
}
"""
LINE = 12


class HbirChecks(harness.Case):
    def run_checked(self, statements):
        return self.strata("run", self.write("p.hbir", PROGRAM % statements), "--in", "A=iota", "--check", timeout=600)

    def finds(self, statements, code, *mentions):
        result = self.run_checked(statements)
        self.assertEqual(result.status, 1, str(result))
        for text in (f"[{code}]", f"{LINE} |", *mentions):
            self.assertIn(text, result.err, str(result))

    def test_a_loop_that_never_ends_is_not_left_out(self):
        """One after the other, each until it has used three times the processor time of a program whose loop ends."""
        loops = ("while (k < 5) { }", "while (true) { }", "for (;;) { }", "for (int i = 0; k < 5; ) { int j = i * 2; }", "while (k < 5) k = k * 2;")

        def start(name, loop, *how):
            path = self.write(name + ".hbir", PROGRAM % f"int k = 0; {loop} C[tile_id] = k + 100;")
            return subprocess.Popen([harness.options.strata, "run", path, "--in", "A=iota", "--out", f"C={name}.npy", *how], cwd=self.folder,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertEqual(start("ends", "while (k < 5) k = k + 1;").wait(600), 0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertTrue((np.load(self.path("ends.npy"))[:16] == 105).all())
        enough = 3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        for number, loop in enumerate(loops):
            for how in ((), ("--interpret",), ("--threads", "1")) if number == 0 else ((),):
                process = start("endless", loop, *how)
                try:
                    while (used := self.processor_time(process)) is not None and used < enough:
                        time.sleep(0.05)
                    self.assertIsNotNone(used, f"'{loop}' {how} ends")
                finally:
                    process.kill()
                    process.wait()
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".npy") and name != "ends.npy"])

    @staticmethod
    def processor_time(process):
        """The seconds that a process has used, or nothing when it has ended."""
        if process.poll() is not None:
            return None
        with open(f"/proc/{process.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_functions_in_c(self):
        self.write("f.c", """#include <stdbool.h>
int twice(int x) { return 2 * x; }
float half(float x) { return x / 2; }
bool odd(int x, bool turn) { return (x % 2 != 0) != turn; }
""")
        program = PROGRAM.replace("code {", """code {
  extern twice(x : int) : int;
  extern half(x : float) : float;
  extern odd(x : int, turn : bool) : bool;""") % """C[tile_id] = twice(A[tile_id]) + 4 * half(A[tile_id]); if (odd(tile_id, tile_id > 7)) C[tile_id] = 0;
    if (tile_id == 15) for (int i = 16; i < 100; i = i + 1) C[i] = i;"""
        self.write("p.hbir", program)
        for how in ("--interpret", "--check"):
            self.succeeds("run", "p.hbir", "f.c", "--in", "A=iota", how, "--out", "C=C.npy")
            wanted = [0 if (i % 2 != 0) != (i > 7) else 4 * i for i in range(16)] + list(range(16, 100))
            self.assertEqual(np.load(self.path("C.npy")).tolist(), wanted)

    def test_an_index_out_of_range(self):
        self.finds("C[tile_id * 7] = A[0];", "index-out-of-range", "105", "'C'", "tile 15", "100")

    def test_the_last_index_in_range(self):
        self.assertEqual(self.run_checked("C[tile_id * 6 + 9] = A[0];").status, 0)

    def test_a_read_of_what_nobody_wrote(self):
        self.finds("C[tile_id] = T[tile_id]; T[tile_id] = 1;", "interpret-undefined-read", "'T'", "element [0]", "tile 0")
        self.finds("if (C[tile_id + 3] == 0) C[tile_id] = 1;", "interpret-undefined-read", "'C'", "element [3]", "tile 0")

    def test_a_read_of_what_was_just_written(self):
        self.assertEqual(self.run_checked("T[tile_id] = 1; C[tile_id] = T[tile_id];").status, 0)

    def test_two_tiles_that_write_one_element(self):
        self.finds("C[x] = y;", "check-race", "tile 0", "tile 1", "'C'", "[0]")

    def test_two_tiles_that_write_the_same(self):
        result = self.run_checked("C[x] = 5;")
        self.assertEqual(result.status, 0, str(result))
        self.assertIn("warning[check-race-same-value]", result.err)

    def test_a_read_beside_a_write(self):
        self.finds("T[tile_id] = 1; if (tile_id == 3) C[3] = T[2];", "check-race", "tile 3 reads", "element [2] of 'T'", "tile 2")

    def test_a_read_behind_a_flag(self):
        result = self.run_checked("if (tile_id == 3) { T[0] = 7; flag = 1; } if (tile_id == 5) { while (flag == 0) { } C[0] = T[0]; }")
        self.assertEqual(result.status, 0, str(result))

    def test_tiles_that_wait_for_ever(self):
        self.finds("while (flag == 0) { } C[tile_id] = 1;", "interpret-deadlock", "tile 9")

    def test_tiles_that_wait_for_ever_without_check(self):
        loops = ["while (flag == 0) { }", "int v = flag; while (v == 0) { v = flag; }", "int n; while (flag == 0) { n = n + 1; }",
                 "int k; int v; while (v == 0) { k = (k + 1) % 5; if (k == 3 && T[k] > 0) { v = 1; } }",
                 "while (true) { if (flag == 1) { bsg_finish(); } }"]
        for number, loop in enumerate(loops):
            program = PROGRAM % f"if (tile_id == 3 && A[3] > 5) {{ flag = 1; T[3] = 1; }} if (tile_id == 9) {{ {loop} }} C[tile_id] = 1;"
            path = self.write("p.hbir", program.replace("int flag = 0;", "int flag = 0; T[3] = 0;"))
            for threads in ("1", "2", "7"):
                result = self.strata("run", path, "--in", "A=iota", "--threads", threads, timeout=600)
                self.assertEqual(result.status, 1, f"{loop}\n{result}")
                for text in ("error[runtime-deadlock]", f"{LINE} |", "tile 9"):
                    self.assertIn(text, result.err, f"{loop}\n{result}")
                self.succeeds("run", path, "--in", "A=9", "--threads", threads)

    def test_copies_of_an_array(self):
        declared = "  W : int[4] = block[4][4] { target.t.l[x][y]; replicated; device; };\n  C :"
        def run(statements):
            return self.strata("run", self.write("p.hbir", PROGRAM.replace("  C :", declared) % statements), "--in", "A=iota", "--check",
                               "--out", "W=W.npy", timeout=600)
        lost = run("W[tile_id / 4] = tile_id; C[tile_id] = W[tile_id / 4];")
        self.assertEqual(lost.status, 0, str(lost))
        self.assertIn("warning[check-copies-differ]", lost.err)
        self.assertIn("'W'", lost.err)
        same = run("for (int i = 0; i < 4; i = i + 1) { W[i] = i; } C[tile_id] = W[3];")
        self.assertEqual((same.status, same.err), (0, ""), str(same))
        self.assertEqual(np.load(self.path("W.npy")).tolist(), [0, 1, 2, 3])
        for statements in ("if (tile_id == 0) { W[0] = 3; } C[tile_id] = W[0];", "W[0] = 3; C[tile_id] = W[1];"):
            unwritten = run(statements)
            self.assertEqual(unwritten.status, 1, str(unwritten))
            self.assertIn("error[interpret-undefined-read]", unwritten.err)
            self.assertIn("'W'", unwritten.err)


if __name__ == "__main__":
    harness.main()
