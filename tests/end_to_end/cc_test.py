"""strata cc and strata c++ in the place of clang and clang++: what they are given and what they do is Clang's, but for the headers and
the library of streams, which they find."""

import os
import shutil
import signal
import stat
import subprocess

import harness
from harness import ROOT

MEAN = os.path.join(ROOT, "examples/stream-project/main.c")

LONELY = r"""
#include <svm/pca.h>
typedef struct { Kernel kernel; IStream* in; } Reader;
static void read(void* data) { float x; streamPop(((Reader*)data)->in, &x); }
int main(void) {
  static Stream nothing;
  static Reader reader;
  streamInitRAM(&nothing, LOCALMEM1, 0, 8, sizeof(float), 0);
  kernelInit(&reader.kernel, PROC1, NULL, &reader, sizeof reader, read);
  reader.in = &nothing;
#ifdef TWICE
  streamInitRAM(&nothing, GLOBALMEM1, 0, 8, sizeof(float), 0);
  kernelRun(&reader);
  kernelEnd(&reader);
  kernelWait(&reader);
  kernelRun(&reader); /* it is FINISHED */
#else
  kernelRun(&reader);
#endif
  kernelWait(&reader);
  return 0;
}
"""


MACHINE = r"""
#include "machine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static Stream from, to, indices;
static Block block;
static Move mover;
static StridedScatter scatter;
static StridedGather gather;
static IndexedScatter scatterIndexed;
static IndexedGather gatherIndexed;
static void move(void) {
  moveInit(&mover, DMA1, &from, &to, 1, FALSE); }
static void strided(void) {
  stridedScatterInit(&scatter, DMA1, &from, &block, 1, 1, 1, FALSE); }
static void indexed(void) {
  indexedScatterInit(&scatterIndexed, DMA1, &from, &indices, &block, 1, 1, FALSE); }
static void gathered(void) {
  stridedGatherInit(&gather, DMA1, &block, &to, 1, 1, 1, FALSE); }
static void gatheredIndexed(void) {
  indexedGatherInit(&gatherIndexed, DMA1, &block, &indices, &to, 1, 1, FALSE); }
static void fifo(void) {
  streamInitFIFO(&from, FIFO2, sizeof(int), 0); }
static void global(int address) {
  streamInitRAM(&from, GLOBALMEM1, address, 8, sizeof(int), 0); }
int main(int argc, char** argv) {
  const char* what = argv[1];
  if (strcmp(what, "fifo") == 0)
    fifo();
  else if (strcmp(what, "global") == 0)
    global(atoi(argv[2]));
  else {
    streamInitRAM(&from, LOCALMEM1, 0, 4, sizeof(int), 0);
    streamInitRAM(&to, LOCALMEM1, 4, 4, sizeof(int), 0);
    streamInitRAM(&indices, LOCALMEM1, 8, 4, sizeof(int), 0);
    blockInit(&block, LOCALMEM1, 12, 4, sizeof(int));
    strcmp(what, "move") == 0 ? move() : strcmp(what, "scatter") == 0 ? strided() : strcmp(what, "gather") == 0 ? gathered()
    : strcmp(what, "scatterIndexed") == 0 ? indexed() : gatheredIndexed();
  }
  puts("accepted");
  return argc == 0;
}
"""

DEEP = r"""
#include <svm/pca.h>
#include <string.h>
typedef struct { Kernel kernel; volatile int depth; } Diver;
static int dive(int depth) { volatile int here[16]; here[depth % 16] = depth; return depth ? dive(depth - 1) + here[depth % 16] : 0; }
static int over(volatile int* depth) { volatile int here[10000]; here[*depth % 7] = 1; return here[*depth % 7]; }
static int gap(volatile int* depth) { volatile char here[40000]; here[*depth % 7] = 1; return over(depth) + here[*depth % 7]; }
static void work(void* data) {
  Diver* diver = (Diver*)data;
  if (diver->depth == 0)
    diver->depth = gap(&diver->depth) + over(&diver->depth); /* touches the lowest bytes only */
  else
    diver->depth = dive(diver->depth);
}
int main(int argc, char** argv) {
  static Diver divers[3];
  for (int i = 0; i < 3; ++i) {
    kernelInit(&divers[i].kernel, PROC(1 + i), NULL, &divers[i], sizeof(Diver), work);
    divers[i].depth = argc > 1 && strcmp(argv[1], "step") == 0 ? 0 : i == 2 ? 100000 : 1;
  }
  for (int i = 0; i < 3; ++i)
    kernelRun(&divers[i]);
  kernelWaitMultiple(&divers[0], &divers[1], &divers[2]);
  return 0;
}
"""

SHORT = r"""
#include <svm/pca.h>
Stream s; /* to a demangler the name of a type, as is Pa */
Kernel Pa;
int main(int argc, char** argv) {
  if (argc == 1)
    streamInitRAM(&s, LOCALMEM1, 0, 0, 4, 0);
  (void)argv;
  kernelRun(&Pa);
  return 0;
}
"""

WILD = r"""
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <svm/pca.h>
static void own(int signal) { _exit(7); }
static void use(Kernel* k) {
  Block block;
  int x = 1;
  memset(&block, 0x41, sizeof block);
  blockRead(&block, 5, &x);
}
int main(int argc, char** argv) {
  static Kernel reader;
  char* volatile text = (char*)"constant";
  if (argc > 3)
    *text = 'C';
  if (argc > 2)
    signal(SIGSEGV, own);
  if (argc == 1)
    use(&reader);
  kernelInit(&reader, PROC1, NULL, &reader, sizeof reader, (ExtKernelWork)use);
  kernelRun(&reader);
  kernelWait(&reader);
  return 0;
}
"""

NONE = r"""
#include <svm/pca.h>
typedef struct { Kernel kernel; OStream* out; } Source;
static void work(void* data) {
  Source* source = (Source*)data;
  float sample = 1;
  streamPush(source->out, &sample);
}
int main(int argc, char** argv) {
  static Source source;
  static Stream* volatile none;
  float sample = 0;
  (void)argv;
  kernelInit(&source.kernel, PROC1, NULL, &source, sizeof source, work);
  if (argc > 1)
    streamPop(none, &sample);
  kernelRun(&source);
  kernelWait(&source);
  return 0;
}
"""


class CcTest(harness.Case):
    def runs(self, *command, status=0):
        done = subprocess.run([self.path(command[0]), *command[1:]], cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def clang(self, *arguments, cxx=False):
        return subprocess.run(["clang++-19" if cxx else "clang-19", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=600)

    def test_a_program_of_streams(self):
        self.succeeds("cc", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", MEAN, "-o", "mean")
        self.assertEqual(self.runs("mean", "500"), "500 means of 2000 samples\n")
        shutil.copy(MEAN, self.path("mean.cpp"))
        result = self.succeeds("c++", "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "mean.cpp")
        self.assertEqual((result.out, result.err), ("", ""))
        self.runs("a.out")

    def test_a_work_function_that_uses_up_its_stack(self):
        self.write("deep.c", DEEP)
        for form in ("library", "checked"):
            self.succeeds("cc", "-O1", "-fno-inline", "-fno-optimize-sibling-calls", f"--svm={form}", "deep.c", "-o", "deep")
            said = self.runs("deep", status=1)
            self.assertRegex(said, r"deep\.c:18: error: kernel 'divers\[2\]' on PROC3 has used up its stack of 61440 bytes \[runtime-stack-overflow\]")
            self.assertIn("into the kernel's struct or into a block", said)
            # Two frames of 40000 bytes that hardly touch what they have.
            self.assertRegex(self.runs("deep", "step", status=1), r"kernel 'divers\[[012]\]' on PROC[123] has used up its stack")

    def test_short_names(self):
        self.write("short.c", SHORT)
        self.succeeds("cc", "--svm=checked", "short.c", "-o", "short")
        self.assertRegex(self.runs("short", status=1), r"short\.c:7: error: stream 's' .*\[svm-stream-size\]")
        self.assertRegex(self.runs("short", "Pa", status=1), r"short\.c:9: error: kernelRun on kernel 'Pa', which has not been initialised")

    def test_a_stream_that_was_never_given(self):
        self.write("none.c", NONE)
        for form in ("library", "checked"):
            self.succeeds("cc", "-O2", f"--svm={form}", "none.c", "-o", "none")
            said = self.runs("none", status=1)
            self.assertRegex(said, r"none\.c:14: error: kernel 'source' on PROC1 follows a null pointer \[svm-null-pointer\]")
            self.assertIn("that the kernel's struct names before kernelRun", said)
            self.assertRegex(self.runs("none", "control", status=-signal.SIGSEGV), r"error: control code follows a null pointer \[svm-null-pointer\]")

    def test_a_block_that_nothing_has_initialised(self):
        self.write("wild.c", WILD)
        for form in ("library", "checked"):
            self.succeeds("cc", "-O1", f"--svm={form}", "wild.c", "-o", "wild")
            words = r"reads or writes where there is no memory \[svm-wild-pointer\]\n  help: .*\(rule B1\)"
            self.assertRegex(self.runs("wild", status=-signal.SIGSEGV), "error: control code " + words)
            self.assertRegex(self.runs("wild", "kernel", status=1), r"wild\.c:\d+: error: kernel 'reader' on PROC1 " + words)
            self.assertRegex(self.runs("wild", "to", "a", "constant", status=-signal.SIGSEGV),
                             r"error: control code writes to memory that may only be read \[svm-wild-pointer\]\n  help: copy what is constant")
            # Who handles the signal is not spoken for.
            self.assertEqual(self.runs("wild", "kernel", "handled", status=7), "")

    def becomes(self, name, *changes):
        """MACHINE for `pca` with pieces of its description exchanged."""
        with open(os.path.join(ROOT, "machines/pca/machine.yaml"), encoding="utf-8") as file:
            text = file.read()
        for before, after in changes:
            self.assertEqual(text.count(before), 1, before)
            text = text.replace(before, after)
        self.succeeds("machine", self.write(name + ".yaml", text), "--header", "-o", "machine.h")
        self.succeeds("cc", "-O2", "-I.", "machine.c", "-o", name)

    def says(self, program, *arguments, status):
        """What is printed in plain and in checked mode, which is the same."""
        said = set()
        for mode in ("plain", "checked"):
            done = subprocess.run([self.path(program), *arguments], cwd=self.folder, capture_output=True, text=True, timeout=600,
                                  env=dict(os.environ, STRATA_SVM=mode))
            self.assertEqual(done.returncode, status, done)
            said.add(done.stdout + done.stderr)
        self.assertEqual(len(said), 1, said)
        return said.pop()

    def test_a_processor_runs_what_its_description_lists(self):
        self.write("machine.c", MACHINE)
        kernels = "kernels: [move, scatter, gather]\n"
        lines = {"move": 14, "scatter": 16, "scatterIndexed": 18, "gather": 20, "gatherIndexed": 22}
        for listed in ("move", "scatter", "gather", "move, scatter, gather", "", None):
            self.becomes("lists", (kernels, "\n" if listed is None else f"kernels: [{listed}]\n"))
            for kernel, line in lines.items():
                kind = kernel.removesuffix("Indexed")
                if listed is None or kind in listed.split(", "):
                    self.assertEqual(self.says("lists", kernel, status=0), "accepted\n", (listed, kernel))
                    continue
                said = self.says("lists", kernel, status=1)
                self.assertRegex(said, rf"machine\.c:{line}: error: DMA1 does not run kernels that {kind}; its description lists "
                                       + (listed and f"'{listed}'" or "none") + r" \[svm-supported-kernels\]")
                self.assertIn("these do: PROC", said)

    def test_a_machine_larger_than_the_computer(self):
        self.write("machine.c", MACHINE)
        self.becomes("fifo", ("capacity: 1K\n", "capacity: 1000T\n"))
        self.assertRegex(self.says("fifo", "fifo", status=1),
                         r"machine\.c:24: error: stream 'from' is to lie in FIFO2, whose 1099511627776000 bytes this computer has no room for: "
                         r"it has \d+ in all \[svm-memory\]\n.*a smaller capacity of 'FIFO', or use a stream in a memory")
        self.assertEqual(self.says("fifo", "move", status=0), "accepted\n")
        # Of a memory only what is touched takes room. Addresses that count so many bytes that an int reaches beyond it all:
        self.becomes("memory", ("capacity: 64M\n    width: 16\n    alignment: 4\n    unit: 4\n",
                                "capacity: 32T\n    width: 16\n    alignment: 4\n    unit: 16T\n"))
        self.assertEqual(self.says("memory", "global", "0", status=0), "accepted\n")
        self.assertEqual(self.says("memory", "global", "1", status=0), "accepted\n")
        for address in ("2", "1048576", "2147483647"):
            self.assertRegex(self.says("memory", "global", address, status=1),
                             rf"machine\.c:26: error: stream 'from' does not fit into GLOBALMEM1: 32 bytes at address {address} .*where 0 of its "
                             r"35184372088832 bytes are left \[svm-address\]")
        # As many processors as a description may have, of which two are used.
        self.becomes("crowd", ("kind: stream\n    count: 8\n", "kind: stream\n    count: 1048576\n"),
                     ("capacity: 64K\n", "capacity: 64\n"), ("count: 8\n    capacity: 64\n", "count: 1048576\n    capacity: 64\n"))
        self.assertEqual(self.says("crowd", "move", status=0), "accepted\n")

    def test_the_environment(self):
        self.write("lonely.c", LONELY)
        self.succeeds("cc", "lonely.c", "-o", "lonely")
        os.mkfifo(self.path("pipe"))
        said = {("STRATA_THREADS", "abc"): "STRATA_THREADS is 'abc'", ("STRATA_THREADS", "-1"): "from 1 to 512", ("STRATA_THREADS", "0"): "STRATA_THREADS is '0'",
                ("STRATA_THREADS", "99999999999"): "from 1 to 512", ("STRATA_THREADS", "513"): "from 1 to 512", ("STRATA_THREADS", "2 "): "STRATA_THREADS is '2 '",
                ("STRATA_SVM", "checkd"): "STRATA_SVM is 'checkd'", ("STRATA_SVM", "CHECKED"): "set it to checked or plain",
                ("STRATA_MACHINE", "nosuch"): "this program includes the header of 'pca' [svm-machine]", ("STRATA_MACHINE", "/dev/null"): "/dev/null:1:1",
                ("STRATA_MACHINE", "pc"): "did you mean 'pca'?",
                ("STRATA_MACHINE", "nosuch.yaml"): "no such file or directory", ("STRATA_RECORD", "pipe"): "what is there is no file",
                ("STRATA_RECORD", "/"): "cannot be written", ("STRATA_RECORD", "no/such/folder"): "cannot be written",
                # Nothing is what is not set; and so is what is right.
                ("STRATA_THREADS", ""): "[svm-deadlock]", ("STRATA_THREADS", "1"): "[svm-deadlock]", ("STRATA_SVM", ""): "[svm-deadlock]",
                ("STRATA_SVM", "plain"): "[svm-deadlock]", ("STRATA_MACHINE", "pca"): "[svm-deadlock]", ("STRATA_RECORD", ""): "[svm-deadlock]"}
        for (name, value), words in said.items():
            kept = {key: each for key, each in os.environ.items() if not key.startswith("STRATA_")}
            done = subprocess.run([self.path("lonely")], cwd=self.folder, capture_output=True, text=True, timeout=600, env=dict(kept, **{name: value}))
            self.assertEqual(done.returncode, 1, (name, value))
            self.assertIn(words, done.stderr, (name, value))
            if words.startswith(("STRATA_THREADS is", "STRATA_SVM is")):
                self.assertIn("[svm-environment]", done.stderr)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_a_null_block_as_the_very_first_call(self):
        for name, header, call in (("block", "svm/pca.h", "int x = 0; blockWrite((Block*)none, 0, &x);"), ("stream", "svm.h", "int x = 0; streamPush((Stream*)none, &x);")):
            self.write(f"{name}.c", f"#include <{header}>\nint main(void) {{ static void* volatile none; {call} return 0; }}\n")
            self.succeeds("cc", f"{name}.c", "-o", name)
            self.assertRegex(self.runs(name, status=-signal.SIGSEGV), r"^error: control code follows a null pointer \[svm-null-pointer\]\n  help: give the")

    def test_a_handler_of_the_programs_own(self):
        self.write("own.c", """#include <svm/pca.h>
#include <signal.h>
#include <unistd.h>
static void own(int signal) { (void)signal; _exit(9); }
int main(int argc, char** argv) {
  static Stream s;
  static int* volatile none;
  (void)argv;
  if (argc > 1)
    signal(SIGSEGV, own);
  streamInitRAM(&s, LOCALMEM1, 0, 4, 4, 0);
  return *none;
}
""")
        self.succeeds("cc", "own.c", "-o", "own")
        self.runs("own", "handles", status=9)
        self.assertIn("control code follows a null pointer", self.runs("own", status=-signal.SIGSEGV))

    def test_a_machine_that_is_not_found(self):
        self.write("named.c", '#include <svm.h>\nint main(void) {\n  svmMachine("pca");\n  return !svmAddress(0x10000000, 0);\n}\n')
        self.succeeds("cc", "named.c", "-o", "named")
        kept = {key: each for key, each in os.environ.items() if not key.startswith("STRATA_")}
        run = lambda **given: subprocess.run([self.path("named")], cwd=self.folder, capture_output=True, text=True, timeout=600, env=dict(kept, PATH="/usr/bin:/bin", **given))
        done = run()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"named\.c:3: error: no machine is named 'pca'; there are 'host' \[svm-machine\]\n  help: include the machine's header, as <svm/pca\.h>")
        self.assertEqual(run(STRATA_MACHINES=os.path.join(ROOT, "machines")).returncode, 0)
        self.assertRegex(run(STRATA_MACHINE="/absent.yaml").stderr, r"named\.c:3: error: no machine is named 'pca'")  # the call comes first
        self.write("wrong.yaml", "name: 3\n")
        self.write("file.c", '#include <svm/pca.h>\nint main(void) {\n  svmMachine("wrong.yaml");\n  return !svmAddress(GLOBALMEM1, 0);\n}\n')
        self.succeeds("cc", "file.c", "-o", "file")
        self.assertRegex(self.runs("file", status=1), r"file\.c:3: error: the description of machine 'wrong.yaml' is of no use\nerror\[machine-[\s\S]*\nso the program has no machine to run on \[svm-machine\]\n$")

    def test_the_calls_about_the_machine_in_every_language(self):
        source = self.write("calls.c", """#include <svm/pca.h>
#include <svm_kernels.h>
static void work(void* data) { (void)data; }
int main(void) {
  void (*const threads)(int) = svmThreads;
  svmMachine("pca");
  svmThreads(1 + 1);
  threads(2);
  svmControl(CONTROL);
  svmRegisterKernel("mine", work);
  (svmRegisterKernel)("mine", work);
  return svmAddress(GLOBALMEM1, 0) != (svmAddress)(GLOBALMEM1, 0);
}
""")
        built = os.path.dirname(os.path.dirname(harness.options.strata))
        for compiler, language in (("cc", ("c", "c11")), ("g++", ("c++", "c++20")), ("clang-19", ("c", "c11")), ("clang++-19", ("c++", "c++20"))):
            done = subprocess.run([compiler, "-x", language[0], "-std=" + language[1], "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", source,
                                   "-I" + os.path.join(ROOT, "include"), "-I" + os.path.join(built, "include")], capture_output=True, text=True, timeout=600)
            self.assertEqual((done.returncode, done.stderr), (0, ""), compiler)
        self.succeeds("cc", source, "-o", "calls")
        self.runs("calls")

    def test_several_files_in_two_steps(self):
        self.write("one.c", '#include "both.h"\n#include <svm.h>\nint main(void) { static Stream s; return (int)s.pushed_ + two(); }\n')
        self.write("two.c", '#include "both.h"\nint two(void) { return 2; }\n')
        os.mkdir(self.path("headers"))
        self.write("headers/both.h", "int two(void);\n")
        for file in ("one.c", "two.c"):
            result = self.succeeds("cc", "-c", "-Wall", "-Werror", "-Iheaders", file)
            self.assertEqual((result.out, result.err), ("", ""))
        self.succeeds("cc", "one.o", "two.o", "-o", "both")
        self.runs("both", status=2)
        self.succeeds("cc", "-Iheaders", "one.c", "two.c", "-o", "at once")
        self.runs("at once", status=2)
        self.write("arguments", "-Iheaders one.c two.c -o answered")
        self.succeeds("cc", "@arguments")
        self.runs("answered", status=2)

    def test_the_users_own_headers_come_first(self):
        self.write("svm.h", "#define OWN 4\n")
        self.write("main.c", "#include <svm.h>\nint main(void) { return OWN; }\n")
        self.succeeds("cc", "-I.", "main.c")
        self.runs("a.out", status=4)

    def test_a_program_without_streams_needs_nothing_of_it(self):
        self.write("plain.c", "int main(void) { return 0; }\n")
        self.succeeds("cc", "plain.c")
        needed = subprocess.run(["readelf", "-d", self.path("a.out")], capture_output=True, text=True, check=True).stdout
        self.assertEqual(needed.count("(NEEDED)"), 1, needed)  # the C library
        for options in (["-nostdlib", "-ffreestanding", "-e", "main"], ["-r"], ["-shared", "-fPIC"]):
            self.succeeds("cc", *options, "plain.c", "-o", "other")

    def test_a_shared_library_has_what_it_uses(self):
        self.write("part.c", "#include <svm/pca.h>\nint status(void) { static Kernel k; return kernelGetStatus(&k) == KERNEL_UNSTARTED; }\n")
        self.write("main.c", "int status(void);\nint main(void) { return !status(); }\n")
        self.succeeds("cc", "-shared", "-fPIC", "part.c", "-Wl,-z,defs", "-o", "libpart.so")
        self.succeeds("cc", "main.c", "-L.", "-lpart", "-Wl,-rpath," + self.folder, "-o", "main")
        self.runs("main")

    def test_the_checked_library(self):
        self.write("lonely.c", LONELY)
        self.succeeds("cc", "-g", "lonely.c", "-o", "lonely")
        self.assertIn("lonely.c:20: error: nothing can run any more", self.runs("lonely", status=1))
        self.succeeds("cc", "-DTWICE", "lonely.c", "-o", "twice")
        self.runs("twice")
        for form in (["--svm=checked"], ["-lstrata-svm-checked"], ["--svm=library", "--svm=checked"]):
            self.succeeds("cc", "-DTWICE", "lonely.c", *form, "-o", "checked")
            self.assertIn("lonely.c:", self.runs("checked", status=1))
        self.is_refused("cc", "--svm=fast", "lonely.c", code="cc-unknown-form", mentions="library, checked")

    def test_messages_and_status_are_clangs(self):
        self.write("bad.c", "int main(void) { int unused; return missing; }\n")
        for arguments in (["-Wall", "bad.c"], ["-c", "-Wall", "bad.c"], ["absent.c"], [], ["-no-such-option", "bad.c"], ["-fsyntax-only", "bad.c"]):
            expected = self.clang(*arguments)
            result = self.strata("cc", *arguments)
            self.assertEqual((result.status, result.out, result.err), (expected.returncode, expected.stdout, expected.stderr), arguments)
        self.write("unlinked.c", "int missing(void);\nint main(void) { return missing(); }\n")
        self.assertIn("undefined reference to `missing'", self.strata("cc", "unlinked.c").err)

    def test_what_clang_prints(self):
        self.write("plain.c", "int main(void) { return 0; }\n")
        for arguments in (["--version"], ["-help"], ["-dumpmachine"], ["-print-resource-dir"], ["-E", "plain.c"], ["-S", "-emit-llvm", "-o", "-", "plain.c"]):
            expected = self.clang(*arguments, "-fstack-clash-protection")
            self.assertEqual(self.succeeds("cc", *arguments).out, expected.stdout, arguments)
        shown = self.succeeds("cc", "-###", "plain.c").err
        self.assertIn('strata-ld"', shown)
        self.assertNotIn("strata-ld", self.succeeds("cc", "-###", "-c", "plain.c").err)
        self.assertFalse(os.path.exists(self.path("a.out")))

    def test_what_stands_behind_two_dashes_are_files(self):
        self.write("-c.c", "int main(void) { return 5; }\n")
        self.succeeds("cc", "-o", "dashes", "--", "-c.c")
        self.runs("dashes", status=5)
        self.write("-o", "")
        self.assertIn("no such file", self.strata("cc", "--", "--svm=fast").err)

    def test_standard_input_is_the_compilers(self):
        done = subprocess.run([harness.options.strata, "cc", "-x", "c", "-", "-o", self.path("piped")], input="int main(void) { return 6; }", text=True,
                              timeout=600, check=False)
        self.assertEqual(done.returncode, 0)
        self.runs("piped", status=6)

    def test_the_first_program_of_the_page(self):
        with open(os.path.join(ROOT, "docs/svm.md"), encoding="utf-8") as file:
            page = file.read()
        program = page[page.index("    #include <stdio.h>"):page.index("To compile and run it:")]
        program = "\n".join(line[4:] for line in program.split("\n")).rstrip() + "\n"
        self.write("amplifier.c", program)
        self.succeeds("cc", "-O2", "amplifier.c", "-o", "amplifier")
        self.assertIn("It prints `" + self.runs("amplifier").strip() + "`", page)
        # The standstill that the page tells of.
        self.assertIn("kernelRun(&fetch);", program)
        self.write("amplifier.c", program.replace("  kernelRun(&fetch);\n", ""))
        self.succeeds("cc", "-O2", "amplifier.c", "-o", "amplifier")
        for line in self.runs("amplifier", status=1).splitlines():
            self.assertIn("    " + line + "\n", page)

    def test_help(self):
        told = self.succeeds("cc", "--help").out
        for word in ("--svm=checked", "-help", "STRATA_CLANG", "strata cc -O2 amplifier.c"):
            self.assertIn(word, told)
        self.assertEqual(told, self.succeeds("c++", "--help").out)
        self.assertIn("  cc ", self.succeeds("--help").out)

    def test_without_clang_or_library(self):
        self.is_refused("cc", MEAN, code="cc-no-clang", mentions="'/absent/clang'", STRATA_CLANG="/absent/clang")
        os.makedirs(self.path("other/bin"))
        alone = shutil.copy(harness.options.strata, self.path("other/bin/strata"))
        done = subprocess.run([alone, "--help"], cwd=self.folder, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("'lib/strata-compiler' cannot be started: it is not beside this program", done.stderr)
        os.makedirs(self.path("other/lib"))
        shutil.copy(os.path.join(os.path.dirname(harness.options.strata), "../lib/strata-compiler"), self.path("other/lib"))
        done = subprocess.run([alone, "cc", MEAN], cwd=self.folder, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("cc-no-library", done.stderr)
        self.assertIn("libstrata-svm.a", done.stderr)


if __name__ == "__main__":
    harness.main()
