"""Wrong HBIR programs, mappings, sizes, data and C files, and programs that fail as they run: each ends with status 1 and one error that
says where and why, in time linear in its length, and leaves no file behind."""

import os
import resource
import subprocess

import harness
import numpy as np

TARGET = "memory g[4] { size 8G; width 8B; };\n  tile t[4][4] { memory l { size 16K; width 8B; }; };"
CONFIG = "group tg[4][4] { tile target.t[x][y]; };"
DATA = ("dim = 16;\n  A : int[dim] = block[4] { target.g[x]; host; };\n  C : int[dim] = block[4] { target.g[x]; device; };")
FINE = "config.tg[x][y] { C[tile_id] = A[tile_id] + 1; }"
SECONDS = 60  # of a processor: what only work reaches that is quadratic in the length of the longest texts below, on the slowest machine


def program(code=FINE, data=DATA, config=CONFIG, target=TARGET):
    return f"target {{\n  {target}\n}}\nconfig {{\n  {config}\n}}\ndata {{\n  {data}\n}}\ncode {{\n  {code}\n}}\n"


def out(extents, place="block[4] { target.g[x]; device; }"):
    return f"C : int{extents} = {place};"


class HbirBadInput(harness.Case):
    def refuse(self, text, *arguments, job="run", given=("--in", "A=iota"), **keywords):
        begin = self.seconds()
        result = self.is_refused(job, self.write("p.hbir", text), *(given if job == "run" else ()), *arguments, **keywords)
        self.assertLess(self.seconds() - begin, SECONDS, str(result))
        return result

    @staticmethod
    def seconds():
        """What the commands so far have taken of the processors, which other work on this computer does not change."""
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def check(self, text, code, mentions=("p.hbir:",), **keywords):
        self.refuse(text, job="check", code=f"error[{code}]", mentions=mentions, **keywords)

    def fails(self, code, message, **keywords):
        """It fails as it runs, in the same way when it is checked."""
        for options in ((), ("--check",)):
            with self.subTest(options=options):
                self.refuse(program(code, **keywords), *options, mentions=(message, "p.hbir:"))

    def maps(self, mapping, code, mentions="m.map:", text=program()):
        self.refuse(text, "--map", self.write("m.map", mapping), code=f"error[{code}]", mentions=mentions)

    def works(self, text, *arguments):
        return self.succeeds("run", self.write("p.hbir", text), "--in", "A=iota", *arguments)

    # ---- what a tile's memory holds ----
    def test_the_memory_of_a_tile(self):
        data = "C : int[%d] = block[1] { target.t.l[0][0]; device; };"
        code = "config.tg[0][0] { int a[1000]; if (C[0] == 0) { int b[1000]; b[1] = 1; a[1] = b[1]; } else { int c[900]; c[2] = a[2]; } }"
        # 16 KiB hold 2096 elements beside the 2000 of the arrays that are there at once.
        self.refuse(program(code, data % 2097), job="check", code="error[hbir-tile-memory-full]",
                    mentions=("16388 bytes", "16384", "'a' takes 4000", "'b' takes 4000", "'C' takes 8388", "p.hbir:"))
        self.succeeds("check", self.write("p.hbir", program(code, data % 2096)))
        # The data of other tiles is not beside them.
        elsewhere = "C : int[%d] = block[1] { target.t.l[1][0]; device; };"
        self.succeeds("check", self.write("p.hbir", program(code, elsewhere % 4000)))

    # ---- the extents of indices ----
    def test_x_max_belongs_to_x(self):
        config = "group tg[2][4] { tile target.t[x][y]; };"
        code = "config.tg[%s] { C[tile_id] = 100 * x_max + 10 * y_max; }"
        for path, wanted in (("x][y", 240), ("y][x", 420), ("a][b", 240)):
            self.succeeds("run", self.write("p.hbir", program(code % path, config=config)), "--in", "A=iota", "--out", "C=C.npy")
            self.assertEqual(np.load(self.path("C.npy"))[:8].tolist(), [wanted] * 8, path)

    # ---- files ----
    def test_empty(self):
        self.check("", "hbir-segment-missing", mentions="'target', 'config', 'data', 'code'")

    def test_no_text(self):
        for content in (bytes(range(256)) * 16, b"\x7fELF" + bytes(4 << 20), program().encode("utf-16")):
            with self.subTest(content=content[:8]):
                self.check(content, "hbir-no-text", mentions="0x00")

    def test_another_notation(self):
        with open(os.path.join(harness.ROOT, "examples/sequoia/vectadd/vectadd.sq")) as file:
            result = self.strata("check", self.write("p.hbir", file.read()))
        self.assertEqual(result.status, 1, str(result))
        self.assertIn("p.hbir:", result.err)

    def test_truncated(self):
        text = program()
        for share in range(1, 10, 2):
            result = self.strata("check", self.write("p.hbir", text[: len(text) * share // 10]))
            self.assertEqual(result.status, 1, str(result))
            self.assertIn("p.hbir:", result.err)

    def test_nesting(self):
        deep = 100000
        for code in ("C[0] = " + "(" * deep + "1" + ")" * deep + ";", "{" * deep + "}" * deep, "C[0] = " + "-" * deep + "1;",
                     "C[0] = " + "A[" * deep + "0" + "]" * deep + ";", "if (A[0]) {} else " * deep + "{}", "C[0] = " + "1+" * deep + "1;",
                     "C[0] = " + "A[0] ? 1 : " * deep + "1;"):
            with self.subTest(code=code[:20]):
                self.refuse(program("config.tg[x][y] { " + code + " }"), job="check", mentions="p.hbir:")

    def test_nested_groups(self):
        self.refuse(program("", "", "group a[1] {" * 5000 + "}" * 5000), job="check", mentions="p.hbir:")

    def test_mixed_forms_are_said_once(self):
        self.check(program(config="arrange t as { group tg at (0:4, 0:4); }"), "hbir-mixed-forms", mentions=("form A", "form B"))

    # ---- numbers ----
    def test_huge_extents(self):
        self.check(program(target="tile t[4294967296][2147483648];"), "hbir-too-large")
        self.check(program("", data=out("[4611686018427387904]")), "hbir-too-large")
        self.check(program("", data=out("[2305843009213693952]")), "hbir-data-too-large", mentions="'C'")
        self.check(program("", data=out("[68719476736]")), "hbir-data-does-not-fit", mentions=("g[0]", "'C'", "8589934592"))

    def test_memory_of_this_computer(self):
        unknown = TARGET.replace("size 8G", "size ?")
        self.refuse(program("", data=out("[1125899906842624]"), target=unknown), given=(), mentions="'C'")
        self.refuse(program("", data=out("[1125899906842624]", "block[4] { target.g[x]; }"), target=unknown).replace(
                                "code {", "code { config.tg[0][0] { C[0] = 1; }"), given=(), mentions="C, which takes 4503599627370496")

    def test_little_memory(self):
        huge = program("", data="C : bool[4611686018427387903] = block[4] { target.g[x]; device; };", target=TARGET.replace("size 8G", "size ?"))
        texts = ("(" * 1000000, huge, program("config.tg[x][y] { C[0] = " + "(" * 1000000), "@ " * 1000000)
        for text in texts:
            script = f'ulimit -v {4 << 20}; exec "$0" "$@"'
            completed = subprocess.run(["bash", "-c", script, harness.options.strata, "run", self.write("p.hbir", text), "--in", "A=iota"],
                                       cwd=self.folder, capture_output=True, timeout=300)
            err = completed.stderr.decode()
            if completed.returncode == 127 or "Sanitizer" in err:  # the command itself cannot be loaded
                continue
            with self.subTest(text=text[:20]):
                self.assertEqual(completed.returncode, 1, err[:2000])
                self.assertIn("error[", err[:2000])

    def test_constants(self):
        for value in ("4/0", "4%0", "1/(2-2)"):
            self.check(program("", data=f"a = {value}; b = a + 1; " + out("[b]")), "hbir-division-by-zero", mentions="p.hbir:9:7")
        self.check(program("", data="a = 9223372036854775807 + 1;"), "hbir-overflow")
        self.check(program("", data="a = 99999999999999999999;"), "hbir-number")
        self.check(program(config="group tg[4][4] { tile target.t[x/0][y]; };"), "hbir-division-by-zero")
        self.check(program("", data=out("[0]")), "hbir-extent")

    def test_sizes(self):
        for size, code in (("dim=-1", "data-size"), ("dim=", "data-size"), ("dim=9223372036854775808", "data-size"),
                           ("nosuch=3", "hbir-size-name"), ("A=3", "hbir-size-name"), ("dim=1000000000000", "hbir-data-does-not-fit")):
            with self.subTest(size=size):
                self.refuse(program(), "--size", size, code=f"error[{code}]")
        for size in (0, 9223372036854775807):
            self.refuse(program("", data="dim = 4; " + out("[dim]")), "--size", f"dim={size}", given=(), mentions="p.hbir:9:20")

    # ---- groups and layouts ----
    def test_groups(self):
        self.check(program(config="group tg[4][5] { tile target.t[x][y]; };"), "hbir-group-outside", mentions=("'tg'", "t[0][4]", "4 x 4"))
        self.check(program(config=CONFIG + "group other[2] { tile target.t[x][x]; };"), "hbir-groups-overlap",
                   mentions=("'tg'", "'other'", "t[0][0]"))
        self.check(program(config="group tg[4][4] { tile target.t[x][x]; };"), "hbir-group-repeats-tile", mentions="'tg'")

    def test_fit(self):
        self.check(program("", data=out("[20000]", "block[1] { target.t.l[0][0]; device; }")), "hbir-data-does-not-fit",
                   mentions=("l", "80000", "16384", "'C'"))

    def test_local_array_too_large(self):
        self.check(program("config.tg[x][y] { int b[5000]; }"), "hbir-local-array-size", mentions=("'b'", "20000", "16384"))

    def test_conflicting_flags(self):
        self.check(program("", data=out("[4]", "block[4] { target.g[x]; host; device; }")), "hbir-conflicting-flags")

    def test_paths(self):
        self.check(program("config.tg[4][0] { }"), "hbir-path-range")
        self.check(program("config.tg[x][x] { }"), "hbir-path-twice")
        self.check(program("config.tgg[x] { }"), "hbir-unknown-name")

    # ---- code ----
    def test_statements(self):
        for code, kind in (("C[16] = 1;", "hbir-index-range"), ("C = 1;", "hbir-index-count"), ("C[0][0] = 1;", "hbir-index-count"),
                           ("A[0] = 1;", "hbir-assign"), ("C[0] = 1 / 0;", "hbir-zero-divisor"), ("break;", "hbir-break"),
                           ("printf(\"%s\", A[0]);", "hbir-print-format"), ("printf(\"a\\0\");", "hbir-print-zero"),
                           ("int a = bsg_finish();", "hbir-void-value"), ("C[0] = B[0];", "hbir-unknown-name")):
            with self.subTest(code=code):
                self.check(program("config.tg[x][y] { " + code + " }"), kind)

    def test_outside_of_blocks(self):
        self.check(program("bsg_finish();"), "hbir-finish")
        self.check(program("int flag; while (flag == 0) { } config.tg[0][0] { flag = 1; }"), "hbir-wait-outside")

    def test_faults(self):
        # In one tile only: of several, any may be the first.
        self.fails("config.tg[x][y] { if (A[tile_id] == 6) C[A[tile_id] * 3] = 1; }", "index 18 of 'C'")
        self.fails("config.tg[x][y] { int b[4]; if (A[tile_id] == 4) b[A[tile_id]] = 1; C[tile_id] = b[0]; }", "index 4 of 'b'")
        self.fails("int g[4]; g[A[5]] = 1; config.tg[0][0] { C[0] = g[0]; }", "index 5 of 'g'")
        self.fails("config.tg[x][y] { C[tile_id] = 1 / A[0]; }", "divisor is zero")
        self.fails("config.tg[x][y] { C[tile_id] = 1 % A[0]; }", "divisor of a remainder is zero")
        self.fails("config.tg[x][y] { C[tile_id] = 1 << (A[1] * 64); }", "by 64")

    def test_waiting_for_nobody(self):
        for code in ("int flag; config.tg[0][0] { while (flag == 0) { } C[0] = 1; }",
                     "int f[4]; config.tg[0][0] { for (;;) { if (f[3] == 1) break; } C[0] = 1; } config.tg[1][1] { f[3] = 2; }",
                     "int flag; config.tg[0][0] { while (flag == 0) { } C[0] = 1; } config.tg[1][0] { bsg_finish(); flag = 1; }"):
            with self.subTest(code=code):
                self.refuse(program(code), "--check", mentions=("waits", "p.hbir:"))

    def test_race(self):
        self.refuse(program("config.tg[x][y] { C[0] = tile_id; }"), "--check", code="check-race", mentions="'C'")

    # ---- mappings ----
    def test_mappings(self):
        for text, code in (("x", "hbir-syntax"), ("\0", "hbir-no-text"), ("group tg at (0);", "hbir-map-rank"),
                           ("group tg at (-1, 0);", "hbir-map-number"), ("group nosuch at (0, 0);", "hbir-map-group"),
                           ("group tg at (1, 0);", "hbir-group-outside"), ("array D = block over target.g;", "hbir-map-array"),
                           ("array A = block[2][2] over target.g;", "hbir-map-pieces"), ("array A = block over nosuch;", "hbir-unknown-place"),
                           ("array A = block over target.g[x+9];", "hbir-place-range"),
                           ("array A = striped[1] over target.g[x/0];", "hbir-division-by-zero"),
                           ("array A = block[9223372036854775807] over target.g;", "hbir-map-too-large"),
                           ("/* open", "hbir-open-comment"), ("target { }", "hbir-syntax")):
            with self.subTest(mapping=text):
                self.maps(text, code)

    def test_mapping_that_changes_copies(self):
        self.maps("array C = replicated over config.tg;", "hbir-map-replicated", mentions=("m.map:1:27", "'C'"))
        replicated = program(data=DATA.replace("block[4] { target.g[x]; device; }", "block[4][4] { target.t.l[x][y]; replicated; device; }"))
        self.maps("array C = block[4] over target.g;", "hbir-map-replicated", mentions=("m.map:1:25", "'C'"), text=replicated)

    def test_mapping_files(self):
        self.refuse(program(), "--map", "absent.map", code="driver-cannot-read-mapping", mentions="absent.map")
        self.refuse(program(), "--map", self.folder, code="driver-cannot-read-mapping")

    # ---- data, entry points, machines ----
    def test_inputs(self):
        self.refuse(program(), given=(), code="run-missing-input", mentions="A")
        self.refuse(program(), "--in", "B=iota", code="run-unknown-argument", mentions="A, C")
        self.refuse(program(), "--out", "A=a.npy", code="run-not-an-output")
        for array, words in ((np.zeros(16), ("float64", "int32")), (np.zeros(15, "i4"), ("(15,)", "(16,)")),
                             (np.zeros((4, 4), "i4"), ("(4, 4)",)), (np.zeros(16, "?"), ("bool", "int32"))):
            with self.subTest(words=words):
                self.refuse(program(), given=("--in", f"A={self.save('a.npy', array)}"), mentions=words)

    def test_entry_and_machine(self):
        self.refuse(program(), "--entry", "tg", code="hbir-entry", mentions="'tg'")
        self.refuse(program(), "--machine", "absent", code="machine-not-found")

    # ---- functions in C ----
    def test_functions(self):
        text = program("extern f(x : int) : int; config.tg[x][y] { C[tile_id] = f(A[tile_id]); }")
        good = self.write("f.c", "int f(int x) { return x + 1; }\n")
        again = self.write("h.c", "int f(int x) { return x + 2; }\n")
        wrong = self.write("w.c", "float f(float x) { return x; }\n")
        calls = self.write("g.c", "int g(int);\nint f(int x) { return g(x); }\n")
        self.refuse(text, code="clang-function-missing", mentions="'f'")
        self.refuse(text, "absent.c", code="clang-function-file", mentions="absent.c")
        self.refuse(text, good, again, code="clang-function-twice", mentions="'f'")
        self.refuse(text, wrong, mentions="conflicting types for 'f'")
        self.refuse(text, calls, mentions="'g'")
        self.works(text, good)
        self.works(program(), good)

    # ---- what is unusual and right ----
    def test_nothing_to_do(self):
        self.works(program("config.tg[x][y] { }"))
        self.works(program("config.tg[x][y] { for (int i = 5; i < 2; i = i + 1) C[0] = 1; while (false) C[0] = 1; bsg_finish(); C[0] = 1; }"))
        self.succeeds("run", self.write("p.hbir", "target { tile t[1]; } config { } data { } code { }"))

    def test_names_of_other_languages(self):
        for name in ("main", "module", "index", "class", "malloc", "strata", "memref"):
            with self.subTest(name=name):
                text = program(f"int func; config.{name}[x][y] {{ int return_ = {name}0; {name}_[tile_id] = return_ + func; }}",
                               data=f"{name}0 = 3; A : int[16] = block[4] {{ target.g[x]; host; }};"
                                    f"{name}_ : int[16] = block[4] {{ target.g[x]; device; }};",
                               config=f"group {name}[4][4] {{ tile target.t[x][y]; }};")
                self.works(text, "--out", f"{name}_={self.path('o.npy')}")
                self.assertEqual(np.load(self.path("o.npy")).tolist(), [3] * 16)

    def test_many_tiles_that_wait(self):
        text = program("int f[8192]; config.tg[x][y] { if (tile_id > 0) { while (f[tile_id - 1] == 0) { } C[tile_id] = C[tile_id - 1] + 1; }"
                       " else C[0] = 1; f[tile_id] = 1; }",
                       data="A : int[8192] = block[4] { target.g[x]; host; }; C : int[8192] = block[4] { target.g[x]; device; };",
                       config="group tg[128][64] { tile target.t[x][y]; };", target=TARGET.replace("t[4][4]", "t[128][64]"))
        for threads in (1, 2, 7):
            self.works(text, "--threads", threads, "--out", f"C={self.path('c.npy')}")
            np.testing.assert_array_equal(np.load(self.path("c.npy")), np.arange(1, 8193))


if __name__ == "__main__":
    harness.main()
