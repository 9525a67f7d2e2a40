"""What people expect of any command: names of outputs that say what is in them, results that arrive or fail, nothing left behind by a
signal, colours and progress for terminals only."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

import harness
import numpy as np

VECTADD = os.path.join(harness.ROOT, "examples/sequoia/vectadd/vectadd.sq")
SUM = os.path.join(harness.ROOT, "examples/sequoia/sum/sum.sq")
HBIR = os.path.join(harness.ROOT, "examples/hbir/vectadd/vectadd.hbir")
DATA = ("--size", "N=4", "--in", "A=iota", "--in", "B=1")
LONG = """
void task Turn(inout float a[N], in long rounds);
void task<leaf> Turn::L(inout float a[N], in long rounds)
{
  for (long r = 0; r < rounds; r++)
    for (long i = 0; i < N; i++)
      a[i] = a[i] * 0.5 + 1;
}
"""

PRINTS = """
target { memory g { size 1M; width 8B; }; tile t[2] { memory l { size 16K; width 8B; }; }; }
config { group all[2] { tile target.t[x]; } }
data { A : int[2] = block[1] { target.g; host; }; }
code { config.all[x] { printf("tile %d\\n", tile_id); } }
"""


class Habits(harness.Case):
    def on_a_terminal(self, *arguments, **environment):
        """What a command writes where standard error is a terminal."""
        master, slave = pty.openpty()
        env = {**{name: value for name, value in os.environ.items() if name != "NO_COLOR"}, "TERM": "xterm", **environment}
        process = subprocess.Popen([harness.options.strata, *map(str, arguments)], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        written = b""
        while select.select([master], [], [], 600)[0]:
            try:
                piece = os.read(master, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            written += piece
        os.close(master)
        process.wait(timeout=600)
        return written.decode()

    def test_a_name_says_what_is_in_a_file(self):
        for arguments, told in ((("--out", "C=c.txt"), ".npy"), (("--timeline", "t.svg"), ".html"), (("--trace", "t.html"), ".json"),
                                (("--stats=json:s.npy",), ".json"), (("--emit=llvm", "-o", "p.mlir"), ".ll")):
            self.is_refused("run", VECTADD, *DATA, *arguments, code="driver-output-suffix", mentions=["command line:1:", told])
        self.is_refused("show", VECTADD, "-o", "v.png", code="driver-output-suffix", mentions="rsvg-convert")
        self.is_refused("show", "cell", "-o", "v.pdf", code="driver-output-suffix")
        self.is_refused("machine", "cell", "-o", "cell.json", code="driver-output-suffix", mentions=".yaml")
        self.is_refused("machine", "cell", "--header", "-o", "cell.yaml", code="driver-output-suffix", mentions=".h")
        self.is_refused("map", VECTADD, "--format=xml", "-o", "m.map", code="driver-output-suffix", mentions=".xml")

    def test_what_is_written_to_files_is_not_for_standard_output(self):
        for arguments in (("--out", "C=-"), ("--timeline", "-"), ("--trace", "-"), ("--stats=json:-",)):
            self.is_refused("run", VECTADD, *DATA, *arguments, code="driver-no-standard-output", mentions=["command line:1:", "./-"])
        self.succeeds("run", VECTADD, *DATA, "--out", "C=./-")
        np.load(self.path("-"))

    def test_names_that_nearly_say_something_else(self):
        self.succeeds("run", VECTADD, *DATA, "--out", "C=c", "--trace", "t", "--timeline", "t.htm", "--stats=json:s.json")
        np.load(self.path("c"))
        self.succeeds("run", VECTADD, *DATA, "--out", "C=/dev/null")
        self.succeeds("run", VECTADD, *DATA, "--emit=llvm", "-o", "p.ll")
        os.makedirs(self.path("v1.5"))
        self.succeeds("run", VECTADD, *DATA, "--out", "C=v1.5/c")
        # A suffix chooses the form where it can.
        self.succeeds("map", VECTADD, "-o", "m.xml")
        with open(self.path("m.xml")) as file:
            self.assertTrue(file.read().startswith("<?xml"))

    def test_no_two_outputs_are_one_file(self):
        self.is_refused("run", VECTADD, *DATA, "--out", "C=z", "--trace", "z", code="driver-same-output", mentions="here first")
        self.is_refused("run", VECTADD, *DATA, "--trace", "z", "--timeline", "./z", code="driver-same-output")
        self.write("z", "")
        os.symlink("z", self.path("link"))
        self.is_refused("run", VECTADD, *DATA, "--trace", "z", "--timeline", "link", code="driver-same-output")
        self.is_refused("build", VECTADD, "--depfile", "z.h", "-o", "z.so", code="driver-same-output", mentions="the header beside -o")
        self.is_refused("build", VECTADD, "--cpu", "-o", "z.so", code="driver-usage", mentions="--cpu takes a value, and '-o' stands behind it")
        self.succeeds("run", VECTADD, *DATA, "--trace", "/dev/null", "--timeline", "/dev/null")

    def test_no_output_is_a_source(self):
        with open(VECTADD) as file:
            source = self.write("v.sq", file.read())
        self.is_refused("map", source, "-o", "v.sq", code="driver-output-is-input", mentions="the program")
        mapping = self.succeeds("map", source, "-o", "m.map") and self.path("m.map")
        self.is_refused("run", source, *DATA, "--map", mapping, "--out", "C=m.map", code="driver-output-is-input", mentions="the mapping")
        self.succeeds("map", source, "--map", mapping, "-o", "m.map")  # may be rewritten
        self.save("a.npy", np.ones(4, "f4"))
        count = self.write("count.sq", LONG)
        self.succeeds("run", count, "--in", "a=a.npy", "--in", "rounds=1", "--out", "a=a.npy")  # data too: it appears when all is done
        self.assertEqual(np.load(self.path("a.npy"))[0], 1.5)

    def test_what_does_not_arrive_is_an_error(self):
        for arguments in (("run", SUM, "--size", "N=10", "--in", "data=1", "--in", "total=0"), ("--help",), ("--version",),
                          ("run", "--help"), ("help", "run"), ("map", SUM), ("machine", "--list"), ("completion", "bash")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([harness.options.strata, *arguments], stdout=full, stderr=subprocess.PIPE, cwd=self.folder, text=True)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("driver-cannot-write", done.stderr, arguments)
            self.assertIn("No space left on device", done.stderr, arguments)

    def test_what_a_program_prints_to_a_full_device(self):
        source = self.write("p.hbir", PRINTS)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([harness.options.strata, "run", source, "--in", "A=1"], stdout=full, stderr=subprocess.PIPE, cwd=self.folder, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("driver-cannot-write", done.stderr)

    @unittest.skipIf(harness.sanitizer(), "is slow to start")
    def test_a_signal_leaves_nothing_behind(self):
        temporary = self.path("temporary")
        os.mkdir(temporary)
        commands = (("run", HBIR, "--in", "A=random", "--in", "B=1", "--out", "C=C.npy"), ("build", VECTADD, "-o", "v.so"))
        takes = []
        for command in commands:
            begin = time.monotonic()
            self.succeeds(*command)
            takes.append(time.monotonic() - begin)
        left = []
        for number in range(24):  # anywhere in a run: which step a signal meets decides nothing
            what = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[number % 3]
            process = subprocess.Popen([harness.options.strata, *commands[number % 2]], cwd=self.folder, env=dict(os.environ, TMPDIR=temporary),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            time.sleep(takes[number % 2] * (number + 1) / 25)
            process.send_signal(what)
            process.wait(timeout=600)
            self.assertIn(process.returncode, (0, -what))
            self.ends(process.pid)
            left += os.listdir(temporary) + [name for name in os.listdir(self.folder) if name not in ("temporary", "v.so", "v.h", "C.npy")]
        self.assertEqual(left, [])

    def ends(self, group):
        """Waits until no process of a group is left: what another program was called for may end after the one that called it."""
        for _ in range(6000):
            try:
                os.killpg(group, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
        self.fail("a process that the command began does not end")

    def test_a_folder_for_temporary_files_that_is_none(self):
        self.write("file", "")
        for folder in ("/nowhere/temporary", self.path("file")):
            for source in (VECTADD, HBIR):
                self.is_refused("build", source, "-o", "v.so", code="clang-no-folder", mentions=["set TMPDIR", folder], TMPDIR=folder)

    def test_check_looks_at_the_machine(self):
        for program in (VECTADD, HBIR):
            self.is_refused("check", program, "--machine", "nosuch", code="machine-not-found", mentions="cell")
            self.is_refused("check", program, "--machine", "./nosuch.yaml", code="machine-unreadable")
        self.is_refused("check", VECTADD, "--machine", self.write("m.yaml", "machine: m\n"), code="machine-")
        self.succeeds("check", VECTADD, "--machine", "cell")
        self.is_refused("check", VECTADD, code="machine-not-found", mentions=["cell", "STRATA_MACHINE:1:1"], STRATA_MACHINE="nosuch")

    def test_a_file_name_need_not_be_text(self):
        name = os.fsencode(self.folder) + b"/a\xff.sq"
        with open(VECTADD, "rb") as source, open(name, "wb") as file:
            file.write(source.read())
        done = subprocess.run([harness.options.strata, "run", name, *DATA, "--stats=json"], cwd=self.folder, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stderr)["sizes"], {"N": 4})

    def test_colours(self):
        wrong = self.write("wrong.sq", "void task;")
        self.assertIn("\x1b[", self.on_a_terminal("check", wrong))
        self.assertNotIn("\x1b[", self.on_a_terminal("check", wrong, NO_COLOR="1"))
        self.assertIn("\x1b[", self.on_a_terminal("check", wrong, NO_COLOR=""))
        self.assertNotIn("\x1b[", self.on_a_terminal("check", wrong, TERM="dumb"))
        self.assertNotIn("\x1b[", self.on_a_terminal("check", wrong, TERM=""))
        self.assertIn("\x1b[", self.on_a_terminal("check", wrong, "--color=always", NO_COLOR="1"))
        self.assertNotIn("\x1b[", self.strata("check", wrong).err)

    @unittest.skipIf(harness.sanitizer(), "its times are others")
    def test_progress_of_what_takes_long(self):
        long = self.write("long.sq", LONG)
        arguments = ("run", long, "--size", "N=1000", "--in", "a=1", "--in")
        rounds = 1000000
        while True:  # until it has run for so long that it was told of; what this takes depends on the computer
            told = self.on_a_terminal(*arguments, f"rounds={rounds}")
            if re.search(r"\rrunning \w+, \d+ s\x1b\[K", told) or rounds > 10**10:
                break
            rounds *= 4
        self.assertRegex(told, r"\rrunning \w+, ([2-9]|\d\d+) s\x1b\[K")
        self.assertTrue(told.endswith("\r\x1b[K"), repr(told[-80:]))
        begin = time.monotonic()
        told = self.on_a_terminal(*arguments, "rounds=1")
        if time.monotonic() - begin < 2:  # else there was something to tell
            self.assertEqual(told, "")
        self.assertEqual(self.on_a_terminal(*arguments, f"rounds={rounds}", TERM="dumb"), "")


if __name__ == "__main__":
    harness.main()
