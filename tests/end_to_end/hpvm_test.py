"""Programs with dataflow graphs: the examples at several sizes and numbers of threads, the page's program, and the ways in which programs
are built: several files, archives, joined objects, shared libraries, make and CMake, other linkers."""

import json
import os
import re
import stat
import subprocess
import time
import xml.dom.minidom

import harness
import numpy as np
from harness import ROOT

EXAMPLES = {  # name: (file, arguments of other sizes)
    "matrix_product": ("matrix_product.cpp", [["1"], ["37", "5", "64"]]),
    "stencil3d": ("stencil3d.c", [["1"], ["17", "5", "9", "3"]]),
    "sparse_product": ("sparse_product.cpp", [["1"], ["777"]]),
    "histogram": ("histogram.c", [["1"], ["12345"]]),
    "reduction": ("reduction.c", [["1"], ["65"]]),
    "lattice_boltzmann": ("lattice_boltzmann.c", [["1"], ["17", "5", "9"]]),
    "breadth_first": ("breadth_first.cpp", [["1"], ["777"]]),
    "edges": ("edges.cpp", [["1", "1", "1"], ["33", "17", "40"]]),
}

HIDES = """#include <hpvm.h>
#include <stdio.h>
void leaf(int *from, size_t fb, int *to, size_t tb, int more) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  int *volatile kept[2] = {from, to};
  kept[0][0] = from[0] + more;
  to[0] = 1;
}
void graph(int *from, size_t fb, int *to, size_t tb, int more) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void *node = __hpvm__createNodeND(0, leaf);
  __hpvm__bindIn(node, 0, 0, 0); __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0); __hpvm__bindIn(node, 3, 3, 0); __hpvm__bindIn(node, 4, 4, 0);
}
int main(int count, char **words) {
  static int from[1] = {4}, to[1];
  struct __attribute__((packed)) { int *from; size_t fb; int *to; size_t tb; int more; } a = {from, 4, to, 4, count < 2};
  (void)words;
  __hpvm__init();
  llvm_hpvm_track_mem(from, 4);
  llvm_hpvm_track_mem(to, 4);
  __hpvm__wait(__hpvm__launch(0, (void *)graph, &a));
  llvm_hpvm_untrack_mem(from);
  llvm_hpvm_untrack_mem(to);
  __hpvm__cleanup();
  printf("%d\\n", from[0]);
}
"""
FORGETS = """
#include <hpvm.h>
#include <stdio.h>
void more(int *data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  *data += 1;
  __hpvm__return(1, data);
}
void graph(int *data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void *node = __hpvm__createNodeND(0, more);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
int main(int count, char **words) {
  int data[2] = {1, 5};
  struct __attribute__((packed)) { int *data; size_t bytes; int *result; } arguments = {data, sizeof data, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  if (count > 1)
    llvm_hpvm_track_mem(data + 1, sizeof *data);
  printf("%d ", data[0]);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  printf("%d ", data[0]);
  llvm_hpvm_request_mem(data, sizeof data);
  printf("%d ", data[0]);
  llvm_hpvm_request_mem(data, sizeof data);
  printf("%d %s\\n", data[0], arguments.result == data ? "here" : "elsewhere");
  __hpvm__cleanup();
}
"""

NESTED = """
#include <hpvm.h>
void more(int *data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  data[__hpvm__getNodeInstanceID_x(__hpvm__getNode())] += 1;
  __hpvm__return(1, bytes);
}
void inner(int *data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void *node = __hpvm__createNodeND(1, more, bytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void graph(int *data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void *first = __hpvm__createNodeND(1, more, bytes / sizeof(int));
  void *second = __hpvm__createNodeND(1, inner, (size_t)3);
  void *third = __hpvm__createNodeND(1, more, bytes / sizeof(int));
  __hpvm__bindIn(first, 0, 0, 0);
  __hpvm__bindIn(first, 1, 1, 0);
  __hpvm__bindIn(second, 0, 0, 0);
  __hpvm__edge(first, second, 1, 0, 1, 0);
  __hpvm__bindIn(third, 0, 0, 0);
  __hpvm__edge(second, third, 1, 0, 1, 0);
  __hpvm__bindOut(third, 0, 0, 0);
}
int main(void) {
  int data[8] = {0};
  struct __attribute__((packed)) { int *data; size_t bytes, result; } arguments = {data, sizeof data, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  for (int number = 0; number < 2; ++number)
    __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_request_mem(data, sizeof data);
  __hpvm__cleanup();
  return data[7] == 10 ? 0 : 1;
}
"""

CAMERA = os.path.join(ROOT, "examples/hpvm/camera")
CMAKE = """
cmake_minimum_required(VERSION 3.20)
project(camera C CXX)
set(CMAKE_CXX_STANDARD 17)
set(at "@at@")
add_library(stages STATIC ${at}/demosaic.c ${at}/denoise.c ${at}/correct.c ${at}/tone.c)
add_executable(camera ${at}/main.cpp ${at}/reference.cpp ${at}/graph.c)
target_link_libraries(camera stages)
""".replace("@at@", CAMERA)

LEAF = """
#include <hpvm.h>
int offset = 1;
static int calls; /* of this file alone */
void add(int *data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  data[__hpvm__getNodeInstanceID_x(__hpvm__getNode())] += offset + calls;
  __hpvm__return(1, bytes);
}
void setCalls(int n) { calls = n; }
"""
GRAPH = """
#include <hpvm.h>
void add(int *data, size_t bytes);
void graph(int *data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void *node = __hpvm__createNodeND(1, add, bytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
"""
MAIN = """
#include <hpvm.h>
#include <stdio.h>
void graph(int *data, size_t bytes);
void setCalls(int n);
extern int offset;
static int calls; /* another one */
int main(void) {
  int data[] = {1, 2, 3};
  struct __attribute__((packed)) { int *data; size_t bytes, result; } arguments = {data, sizeof data, 0};
  offset = 10;
  setCalls(5);
  calls = 100;
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_request_mem(data, sizeof data);
  __hpvm__cleanup();
  printf("%d %d %d %d\\n", data[0], data[1], data[2], (int)arguments.result);
  return 0;
}
"""
# Three nodes: one in lanes, one that divides, one with atomics. The last line is of an array that is added up in itself.
RAISED = """
#include <hpvm.h>
#include <stdio.h>
void twice(int *from, size_t fromBytes, int *to, size_t toBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  long x = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  to[x] = from[x] + from[x];
  __hpvm__return(1, toBytes);
}
void divide(int *from, size_t fromBytes, int *to, size_t toBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  long x = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  to[x] = from[x] / to[x];
  __hpvm__return(1, toBytes);
}
void count(int *values, size_t valueBytes, int *counts, size_t countBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, values, counts, 1, counts);
  long x = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  __hpvm__atomic_add(counts + values[x] % 4, 1); /* told */
  __hpvm__return(1, countBytes);
}
#define GRAPH(name, leaf, n)                                  \\
  void name(int *a, size_t aBytes, int *b, size_t bBytes) {   \\
    __hpvm__hint(CPU_TARGET);                                 \\
    __hpvm__attributes(2, a, b, 1, b);                        \\
    void *node = __hpvm__createNodeND(1, leaf, (size_t)(n));  \\
    __hpvm__bindIn(node, 0, 0, 0);                            \\
    __hpvm__bindIn(node, 1, 1, 0);                            \\
    __hpvm__bindIn(node, 2, 2, 0);                            \\
    __hpvm__bindIn(node, 3, 3, 0);                            \\
    __hpvm__bindOut(node, 0, 0, 0);                           \\
  }
GRAPH(twiceGraph, twice, bBytes / 4)
GRAPH(divideGraph, divide, bBytes / 4)
GRAPH(countGraph, count, aBytes / 4)
/* One array by two names: what is stored by one is loaded by the other. */
void same(int *a, size_t aBytes, int *alsoA, size_t alsoABytes, int *b, size_t bBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(3, a, alsoA, b, 3, a, alsoA, b);
  long x = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  a[x] = 1;
  alsoA[x] = 2;
  b[x] = a[x];
  __hpvm__return(1, bBytes);
}
void sameGraph(int *a, size_t aBytes, int *b, size_t bBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 2, a, b);
  void *node = __hpvm__createNodeND(1, same, bBytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 0, 2, 0);
  __hpvm__bindIn(node, 1, 3, 0);
  __hpvm__bindIn(node, 2, 4, 0);
  __hpvm__bindIn(node, 3, 5, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
static void launch(int which, int *a, size_t aBytes, int *b, size_t bBytes) {
  struct __attribute__((packed)) { int *a; size_t aBytes; int *b; size_t bBytes, result; } arguments = {a, aBytes, b, bBytes, 0};
  void *launched = which == 0   ? __hpvm__launch(0, twiceGraph, &arguments)
                   : which == 1 ? __hpvm__launch(0, divideGraph, &arguments)
                   : which == 2 ? __hpvm__launch(0, countGraph, &arguments)
                                : __hpvm__launch(0, sameGraph, &arguments);
  __hpvm__wait(launched);
}
int main(void) {
  int a[] = {1, 2, 3, 4}, b[4] = {0}, counts[4] = {0}, numbers[] = {0, 1, 2, 3, 4, 5, 6, 7}, row[] = {1, 1, 2, 4, 8, 16};
  __hpvm__init();
  llvm_hpvm_track_mem(a, sizeof a);
  llvm_hpvm_track_mem(b, sizeof b);
  llvm_hpvm_track_mem(counts, sizeof counts);
  llvm_hpvm_track_mem(numbers, sizeof numbers);
  llvm_hpvm_track_mem(row, sizeof row);
  launch(0, a, sizeof a, b, sizeof b);
  printf("%d %d %d %d | ", b[0], b[1], b[2], b[3]);
  launch(1, b, sizeof b, a, sizeof a);
  printf("%d %d %d %d | ", a[0], a[1], a[2], a[3]);
  launch(2, numbers, sizeof numbers, counts, sizeof counts);
  launch(3, a, sizeof a, counts, sizeof counts);
  launch(0, row + 1, 20, row + 1, 20); /* overlaps: what is given is what is written */
  printf("%d %d %d %d %d\\n", row[1], row[2], row[3], row[4], row[5]);
  __hpvm__cleanup();
  return counts[0] + counts[1] + counts[2] + counts[3] != 8; /* two in each element, of whichever launch */
}
"""
RESULT = "16 17 18 12\n"


class HpvmTest(harness.Case):
    def build(self, *arguments, compiler="cc"):
        self.succeeds(compiler, *arguments)

    def output(self, program, *arguments, threads=2):
        result = subprocess.run([self.path(program), *arguments], capture_output=True, text=True, timeout=600,
                                env={**os.environ, "STRATA_THREADS": str(threads)})
        self.assertEqual(result.returncode, 0, (program, arguments, threads, result.stdout, result.stderr))
        return result.stdout

    def parts(self):
        for name, text in (("leaf", LEAF), ("graph", GRAPH), ("main", MAIN)):
            self.write(name + ".c", text)
            self.build("-O2", "-c", name + ".c", "-o", name + ".o")

    def runs(self, *command):
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(done.returncode, 0, (command, done.stdout + done.stderr))

    def sections(self, file):
        return subprocess.run(["readelf", "-SW", self.path(file)], capture_output=True, text=True, check=True).stdout

    def same_on_any_threads(self, program, *arguments):
        printed = {self.output(program, *arguments, threads=threads) for threads in (1, 2, 7)}
        self.assertEqual(len(printed), 1, (program, arguments, printed))
        return printed.pop()

    def readme_says(self, name, printed):
        with open(os.path.join(ROOT, "examples/hpvm", name, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        for line in printed.splitlines():
            self.assertIn("\n    " + line + "\n", readme, f"{name}'s README says what it prints")

    def test_examples(self):
        for number, (name, (file, sizes)) in enumerate(EXAMPLES.items()):
            source = os.path.join(ROOT, "examples/hpvm", name, file)
            for options in (["-O2"], *harness.in_turn((["-O0"], ["-O3", "-g"]), number)):
                self.build(*options, source, "-lm", "-o", name, compiler="c++" if file.endswith("pp") else "cc")
                self.readme_says(name, self.output(name))
                self.assertNotIn(".strata.ir", self.sections(name))
                self.assertEqual(".debug_info" in self.sections(name), "-g" in options, name)
                if options == ["-O2"]:
                    for arguments in [[], *sizes]:
                        self.same_on_any_threads(name, *arguments)

    def test_the_camera_by_make_and_cmake(self):
        strata = harness.options.strata
        self.runs("make", "-s", "-f", os.path.join(CAMERA, "Makefile"), f"CC={strata} cc", f"CXX={strata} c++")
        self.readme_says("camera", self.output("camera"))
        for size in (["1"], ["37", "21", "2"]):
            self.same_on_any_threads("camera", *size)
        self.assertNotIn(".strata.ir", self.sections("camera"))
        for name in ("graph.o", "tone.o", "main.o"):
            self.assertIn(".strata.ir", self.sections(name))
        self.write("CMakeLists.txt", CMAKE)
        # A compiler of two words is given as one and its first argument; a script around it does as well.
        for kind, compilers in (("Debug", [f"-DCMAKE_C_COMPILER={strata}", "-DCMAKE_C_COMPILER_ARG1=cc", f"-DCMAKE_CXX_COMPILER={strata}", "-DCMAKE_CXX_COMPILER_ARG1=c++"]),
                                ("Release", [f"-DCMAKE_C_COMPILER={self.wrapper('c', 'cc')}", f"-DCMAKE_CXX_COMPILER={self.wrapper('cxx', 'c++')}"])):
            self.runs("cmake", "-S", ".", "-B", kind, f"-DCMAKE_BUILD_TYPE={kind}", *compilers)
            self.runs("cmake", "--build", kind, "-j2")
            self.readme_says("camera", self.output(kind + "/camera"))
            self.assertEqual(".debug_info" in self.sections(kind + "/camera"), kind == "Debug")

    def test_the_pages_program(self):
        with open(os.path.join(ROOT, "docs/hpvm.md")) as page:
            text = page.read()
        program = text[text.index("    #include <hpvm.h>"):text.index("\nIt is compiled")]
        self.write("double.c", re.sub("^    ", "", program, flags=re.MULTILINE))
        for options in ([], ["-O2"], ["-O3", "-g"]):
            self.build(*options, "double.c", "-o", "double")
            self.assertEqual(self.output("double"), "2 4 6 8 10 \n")

    def test_leaves_are_raised(self):
        """What is not raised, or not in lanes, is told with its place."""
        self.write("raised.c", RAISED)
        self.build("-O2", "-c", "raised.c", "-o", "raised.o")
        told = subprocess.run([harness.options.strata, "cc", self.path("raised.o"), "-o", self.path("raised")], capture_output=True, text=True,
                              timeout=600, env={**os.environ, "STRATA_REMARKS": "1"}, check=True).stderr
        self.assertIn("remark[hpvm-not-raised]: node 'same' runs instance by instance", told)
        self.assertIn("remark[kernel-path]: kernel 'count': 1 loop left to LLVM", told)
        self.assertIn("- left to LLVM: an atomic operation has no form for lanes", told)
        self.assertIn("\n%d |   __hpvm__atomic_add(counts + values[x] %% 4, 1); /* told */" % (1 + RAISED.split("\n").index("  __hpvm__atomic_add(counts + values[x] % 4, 1); /* told */")), told)
        self.assertIn("remark[kernel-path]: kernel 'divide': 1 loop left to LLVM", told)
        self.assertIn("- left to LLVM: a division that may fail has no form for lanes", told)
        self.assertIn("remark[kernel-path]: kernel 'twice': tiles 1x", told)
        self.assertEqual(self.same_on_any_threads("raised"), "2 4 6 8 | 2 2 2 2 | 2 4 8 16 32\n")

    def test_the_number_of_threads(self):
        self.parts()
        self.build("main.o", "graph.o", "leaf.o", "-o", "program")
        for threads in ("0", "x", "513", "-1"):
            ended = subprocess.run([self.path("program")], capture_output=True, text=True, timeout=600, env={**os.environ, "STRATA_THREADS": threads})
            self.assertNotEqual(ended.returncode, 0)
            self.assertIn("[hpvm-environment]", ended.stderr)
            self.assertIn(f"STRATA_THREADS is '{threads}'", ended.stderr)
            self.assertIn("a number of worker threads from 1 to 512", ended.stderr)
        self.assertEqual(self.output("program", threads=512), RESULT)
        self.assertEqual(self.output("program", threads=""), RESULT)

    def test_a_memory_of_the_graphs_own(self):
        for name, (source, _) in EXAMPLES.items():
            self.build("-O2", os.path.join(ROOT, "examples/hpvm", name, source), "-o", name, compiler="c++" if source.endswith("pp") else "cc")
            shared = self.output(name)
            with_copies = subprocess.run([self.path(name)], capture_output=True, text=True, timeout=600, check=False,
                                         env={**os.environ, "STRATA_HPVM_MEMORY": "separate"})
            self.assertEqual((with_copies.returncode, with_copies.stdout), (0, shared), with_copies.stderr)
        # What is not asked for stays where it is.
        self.write("forgets.c", FORGETS)
        self.build("forgets.c", "-o", "forgets")
        for kind, wanted in (("shared", "1 2 2 2 here"), ("separate", "1 1 2 2 here")):
            done = subprocess.run([self.path("forgets")], capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "STRATA_HPVM_MEMORY": kind})
            self.assertEqual(done.stdout, wanted + "\n", done.stderr)
        for kind, code, text in (("elsewhere", "hpvm-environment", "say 'shared'"), ("separate", "hpvm-objects-overlap", "track the whole")):
            done = subprocess.run([self.path("forgets"), "overlap"], capture_output=True, text=True, timeout=600, check=False,
                                  env={**os.environ, "STRATA_HPVM_MEMORY": kind})
            self.assertEqual(done.returncode, 1)
            self.assertIn(code, done.stderr)
            self.assertIn(text, done.stderr)

        # A pointer that a leaf keeps in memory, so that no link sees what is written.
        self.write("hides.c", HIDES)
        self.build("hides.c", "-o", "hides")
        for kind, status, text in (("shared", 0, "5\n"), ("separate", 1, "graph 'graph', launched at hides.c:24:16, only reads argument 'from'")):
            done = subprocess.run([self.path("hides")], capture_output=True, text=True, timeout=600, check=False, env={**os.environ, "STRATA_HPVM_MEMORY": kind})
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(text, done.stdout + done.stderr)
        done = subprocess.run([self.path("hides"), "same"], capture_output=True, text=True, timeout=600, check=False,
                              env={**os.environ, "STRATA_HPVM_MEMORY": "separate"})
        self.assertEqual((done.returncode, done.stdout), (0, "4\n"), done.stderr)

    def test_the_time_of_a_link(self):
        self.parts()
        told = self.succeeds("cc", "--time-passes", "main.o", "graph.o", "leaf.o", "-o", "timed").err
        for part in ("reading what objects carry", "raising leaves", "svm-tile-loops", "generating code", "in all"):
            self.assertIn(part, told)
        self.assertEqual(self.succeeds("cc", "main.o", "graph.o", "leaf.o", "-o", "timed").err, "")
        self.assertEqual(self.output("timed"), RESULT)

    def test_several_files(self):
        self.parts()
        self.build("main.o", "graph.o", "leaf.o", "-o", "all")
        subprocess.run(["ar", "rc", "libgraph.a", "graph.o", "leaf.o"], cwd=self.folder, check=True)
        self.build("main.o", "-L.", "-lgraph", "-o", "archive")
        subprocess.run(["ld", "-r", "graph.o", "leaf.o", "-o", "joined.o"], cwd=self.folder, check=True)
        self.build("main.o", "joined.o", "-o", "joined")
        self.build("-r", "joined.o", "main.o", "-o", "whole.o")
        self.build("whole.o", "-o", "twice")
        self.build("-fuse-ld=lld", "main.o", "graph.o", "leaf.o", "-o", "lld")
        self.build("-static", "main.o", "graph.o", "leaf.o", "-o", "static")
        self.write("list", "main.o graph.o\nleaf.o -o response\n")
        self.build("@list")
        for name in ("all", "archive", "joined", "twice", "lld", "static", "response"):
            self.assertEqual(self.output(name), RESULT, name)
            self.assertNotIn(".strata.ir", self.sections(name))
        self.build("-O2", "-flto", "-c", "leaf.c", "-o", "leaf.o")
        self.build("-O2", "-flto", "-fuse-ld=lld", "main.c", "graph.o", "leaf.o", "-o", "lto")
        self.assertEqual(self.output("lto"), RESULT)

    def test_a_graph_in_a_shared_library(self):
        self.parts()
        for name in ("leaf", "graph"):
            self.build("-O2", "-fPIC", "-c", name + ".c", "-o", name + ".o")
        self.write("start.c", '#include <hpvm.h>\nvoid graph(int *, size_t);\nvoid *start(void *a) { return __hpvm__launch(0, graph, a); }\n')
        self.build("-O2", "-fPIC", "-shared", "start.c", "graph.o", "leaf.o", "-o", "libpart.so")
        self.write("main.c", MAIN.replace("__hpvm__launch(0, graph, &arguments)", "start(&arguments)").replace("int main", "void *start(void *);\nint main"))
        self.build("-O2", "main.c", "-L.", "-lpart", "-Wl,-rpath," + self.folder, "-o", "user")
        self.assertEqual(self.output("user"), RESULT)

    def wrapper(self, name, command):
        path = self.write(name, f'#!/bin/sh\nexec "{harness.options.strata}" {command} "$@"\n')
        os.chmod(self.path(name), os.stat(self.path(name)).st_mode | stat.S_IXUSR)
        return self.path(name)

    def test_make_and_cmake(self):
        self.parts()
        self.write("Makefile", "CFLAGS = -O2\nprogram: main.o libgraph.a\n\t$(CC) $^ -o $@\nlibgraph.a: libgraph.a(graph.o leaf.o)\nclean:\n\trm -f *.o *.a\n")
        subprocess.run(["make", "-s", "clean"], cwd=self.folder, check=True)
        subprocess.run(["make", "-s", "-j1", f"CC={harness.options.strata} cc"], cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(self.output("program"), RESULT)
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.20)\nproject(p C)\nadd_library(g STATIC graph.c leaf.c)\n"
                   "add_executable(made main.c)\ntarget_link_libraries(made g)\n")
        compiler = self.wrapper("compiler", "cc")
        subprocess.run(["cmake", "-S", ".", "-B", "b", f"-DCMAKE_C_COMPILER={compiler}"], cwd=self.folder, check=True, capture_output=True)
        subprocess.run(["cmake", "--build", "b"], cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(self.output("b/made"), RESULT)

    def test_lines_are_the_users_choice(self):
        self.write("leaf.c", LEAF)
        for options, wanted in (([], False), (["-O2"], False), (["-g"], True), (["-gline-tables-only"], True), (["-g", "-g0"], False)):
            self.build(*options, "-c", "leaf.c", "-o", "leaf.o")
            for section in (".debug_info", ".debug_line"):
                self.assertEqual(section in self.sections("leaf.o"), wanted, options)
            self.assertIn(".strata.ir", self.sections("leaf.o"))

    def test_words_of_others_are_left_alone(self):
        self.write("macros.c", "#define None 0L\n#define Bool int\n#include <hpvm.h>\nint min = 3, max = None;\nint main(void) { return CPU_TARGET - 1 + (int)max; }\n")
        self.build("macros.c", "-o", "macros")
        self.output("macros")
        # What X11's headers and many a program define, before and behind.
        words = ("#define None 0L\n#define Bool int\n#define Status int\n#define True 1\n#define False 0\n#define Success 0\n#define Always 2\n"
                 "#define min(a, b) ((a) < (b) ? (a) : (b))\n#define max(a, b) ((a) > (b) ? (a) : (b))\n#define abs(x) ((x) < 0 ? -(x) : (x))\n")
        for text in (words + LEAF, LEAF.replace("#include <hpvm.h>\n", "#include <hpvm.h>\n" + words)):
            self.write("words.c", text.replace("CPU_TARGET", "None").replace("offset + calls", "max(offset, min(0, abs(1))) + calls") + GRAPH + MAIN
                       .replace("static int calls;", "").replace("calls = 100;", ""))
            self.build("-Wall", "-Werror", "words.c", "-o", "words")
            self.assertEqual(self.output("words"), RESULT)
        self.write("none.cpp", "#define None 0L\n#include <hpvm.h>\nint main() { return hpvm::CPU_TARGET == 1 && None == 0 ? 0 : 1; }\n")
        self.build("none.cpp", "-o", "none", compiler="c++")
        self.output("none")
        self.write("names.cpp", "#include <hpvm.h>\n#include <algorithm>\nenum class Kind { None, Device };\nusing namespace hpvm;\n"
                   "int main() { return std::min(0, 1) + static_cast<int>(Kind::None); }\n")
        self.build("names.cpp", "-o", "names", compiler="c++")
        self.output("names")

    def test_damaged_objects(self):
        self.parts()
        with open(self.path("leaf.o"), "rb") as file:
            whole = file.read()
        at = whole.index(b"STRATAIR")
        for name, code, damaged in (("mark", "link-damaged-ir", whole[:at] + b"X" + whole[at + 1:]),
                                    ("length", "link-damaged-ir", whole[:at + 16] + b"\xff" * 8 + whole[at + 24:]),
                                    ("code", "link-unreadable-ir", whole[:at + 40] + bytes(200) + whole[at + 240:])):
            with open(self.path(name + ".o"), "wb") as file:
                file.write(damaged)
            refused = self.strata("cc", "main.o", "graph.o", name + ".o", "-o", "damaged")
            self.assertNotEqual(refused.status, 0, name)
            self.assertIn(f"error[{code}]", refused.err, name)

    def test_what_does_not_go_together(self):
        self.parts()
        refused = self.strata("cc", "main.o", "graph.o", "leaf.o", "leaf.o", "-o", "twice")
        self.assertNotEqual(refused.status, 0)
        self.assertIn("link-ir-differs", refused.err)
        missing = self.strata("cc", "main.o", "graph.o", "-o", "missing")
        self.assertIn("hpvm-node-missing", missing.err)

    def test_without_a_linker(self):
        self.write("leaf.c", "int main(void) { return 0; }\n")
        refused = self.strata("cc", "-fuse-ld=/no/such/linker", "leaf.c", "-o", "none")
        self.assertNotEqual(refused.status, 0)
        self.assertIn("link-no-linker", refused.err)


class Seeing(harness.Case):
    """Drawings of graphs, and records of runs."""

    def drawing(self, name):
        with open(self.path(name)) as file:
            text = file.read()
        xml.dom.minidom.parseString(text)
        return text

    def test_a_graph_is_drawn(self):
        edges = os.path.join(ROOT, "examples/hpvm/edges/edges.cpp")
        self.succeeds("show", edges, "-o", "edges.svg")
        text = self.drawing("edges.svg")
        for part in (">pipeline<", ">streaming<", ">soften<", ">width × height<", ">edgesBytes<", ">1 all to all<", ">6 in<", ">1 out<"):
            self.assertIn(part, text)
        self.succeeds("cc", "-c", os.path.join(ROOT, "tests/matrix/graphs.c"), "-o", "graphs.o")
        self.succeeds("show", "graphs.o", "-o", "graphs.html")
        with open(self.path("graphs.html")) as file:
            page = file.read()
        for part in ("graph product", "graph reduction", "n × m", "partBytes / 4"):
            self.assertIn(part, page)
        self.succeeds("show", "graphs.o", "--picture", "stencil", "-o", "stencil.svg")
        self.assertIn(">smooth<", self.drawing("stencil.svg"))
        self.succeeds("show", os.path.join(ROOT, "tests/hpvm/ir/stages.ll"), "-o", "stages.svg")
        self.drawing("stages.svg")

    def test_a_program_of_several_files_is_drawn(self):
        for name, text in (("leaf.c", LEAF), ("graph.c", GRAPH), ("main.c", MAIN)):
            self.write(name, text)
        self.succeeds("cc", "-c", "graph.c", "-o", "graph.o")
        self.succeeds("show", "main.c", "graph.o", "leaf.c", "-o", "all.svg")
        self.assertIn(">bytes / 4<", self.drawing("all.svg"))
        self.is_refused("show", "main.c", "leaf.c", code="hpvm-node-missing")
        self.is_refused("show", "main.c", "cell", code="show-one-thing")
        self.is_refused("show", "cell", "main.c", code="show-one-thing")

    def test_what_is_linked_is_not_drawn(self):
        self.write("main.c", "int main(void) { return 0; }\n")
        self.succeeds("cc", "main.c", "-o", "program")
        self.succeeds("cc", "-shared", "-fPIC", "main.c", "-o", "library.so")
        self.succeeds("cc", "-static", "main.c", "-o", "cell")
        for name in ("program", "./program", "library.so", "./cell"):
            self.is_refused("show", name, "-o", "a.html", code="show-linked", mentions=["strata show main.cpp graph.o", "--record"])

    def test_a_source_is_compiled_with_what_it_needs(self):
        os.mkdir(self.path("headers"))
        self.write("headers/leaf.h", LEAF)
        self.write("program.c", '#ifdef WANTED\n#include "leaf.h"\n#undef stdio\n' + GRAPH.replace("void add(int *data, size_t bytes);", "")
                   + MAIN.replace("void graph(int *data, size_t bytes);", "").replace("void setCalls(int n);", "").replace("extern int offset;", "")
                   .replace("static int calls; /* another one */", "") + "#endif\n")
        self.succeeds("show", "program.c", "-I", "headers", "-D", "WANTED", "-o", "program.svg")
        self.assertIn(">bytes / 4<", self.drawing("program.svg"))

    def test_what_is_not_drawn(self):
        self.write("none.c", "int main(void) { return 0; }\n")
        self.is_refused("show", "none.c", code="show-no-graph")
        self.write("bad.c", "int main(void) { return }\n")
        self.assertIn("show-not-compiled", self.strata("show", "bad.c").err)
        self.is_refused("show", "none.c", "--machine", "cell", code="driver-not-a-program")
        self.is_refused("show", "missing.o", code="show-")
        self.write("damaged.ll", "define i32 @main( {")
        self.assertEqual(self.strata("show", "damaged.ll").status, 1)

    def run_program(self, *words, **environment):
        done = subprocess.run(["./program", *words], cwd=self.folder, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    def test_nodes_are_recorded(self):
        edges = os.path.join(ROOT, "examples/hpvm/edges/edges.cpp")
        self.succeeds("c++", "-O2", edges, "-o", "program", "--record")
        # Pictures so large that the first stage takes milliseconds for one: the next one then waits for what that gives, whoever else computes.
        self.assertEqual(self.run_program("1200", "800", "20", STRATA_RECORD="run.json", STRATA_THREADS="3"), "")
        with open(self.path("run.json")) as file:
            events = json.load(file)["traceEvents"]
        for node in ("soften", "differ", "largest", "choose"):
            self.assertEqual(sum(event["ph"] == "X" and event["name"] == node for event in events), 20, node)
        self.assertTrue(any(event["ph"] == "M" and event["args"]["name"].startswith("pipeline 1, ") for event in events))
        self.succeeds("show", "run.json", "-o", "run.html")
        with open(self.path("run.html")) as file:
            page = file.read()
        self.assertIn("What ran", page)
        self.assertIn("<td>soften</td><td>20</td>", page)
        # Rows are stages, whatever processors there are, and say what they wait for; nothing is said of moves where there are none.
        for row in ("pushed items", "stage soften", "stage differ", "stage largest", "stage choose", "results"):
            self.assertIn(f"<td>pipeline 1, {row}</td>", page)
        self.assertIn("<th>stage</th><th>running</th><th>waiting</th><th>mostly</th><th>runs</th></tr>", page)
        self.assertRegex(page, "<td>wait for an element of output [0-9] of [a-z]+ for [a-z ]+</td>")
        self.assertNotIn(", core", page)
        self.assertIn("[hpvm-record]", self.run_program(STRATA_RECORD=self.path("no/folder/run.json")))
        # Each launch has processors of its own; the number of the process may be in the name.
        source = os.path.join(ROOT, "examples/hpvm/breadth_first/breadth_first.cpp")
        self.succeeds("c++", "-O2", source, "-o", "program", "--record")
        self.run_program(STRATA_RECORD="many%p.json")
        name = next(each for each in os.listdir(self.folder) if re.fullmatch(r"many\d+\.json", each))
        with open(self.path(name)) as file:
            events = json.load(file)["traceEvents"]
        self.assertGreater(len({event["args"]["name"].split(",")[0] for event in events if event["ph"] == "M"}), 5)

    def figures(self, *words, **environment):
        started = time.monotonic()
        done = subprocess.run(["./program", *words], cwd=self.folder, capture_output=True, text=True, timeout=600,
                              env={**os.environ, **environment, "STRATA_STATS": "json"})
        whole = time.monotonic() - started
        self.assertEqual(done.returncode, 0, done.stderr)
        graphs = {graph["graph"]: graph for graph in json.loads(done.stderr)["graphs"]}
        for graph in graphs.values():
            self.assertTrue(0 < graph["seconds"] < whole, graph)
            for node in graph["nodes"]:
                self.assertTrue(0 < node["seconds"] <= graph["seconds"], graph)
        return graphs

    @staticmethod
    def counts(graph):
        return {node["node"]: (node["runs"], node["instances"]) for node in graph["nodes"]}

    def test_figures_of_nodes(self):
        self.succeeds("c++", "-O2", os.path.join(ROOT, "examples/hpvm/edges/edges.cpp"), "-o", "program", "--record")
        for threads in ("1", "3"):
            graph = self.figures("30", "10", "7", STRATA_THREADS=threads)["pipeline"]
            self.assertEqual((graph["launches"], graph["items"]), (1, 7))
            self.assertEqual(self.counts(graph), {"soften": (7, 2100), "differ": (7, 2100), "largest": (7, 7), "choose": (7, 2100)})
        # Nodes in nodes, and several of one function, one after another.
        self.write("nested.c", NESTED)
        self.succeeds("cc", "-O2", "nested.c", "-o", "program", "--record")
        graph = self.figures()["graph"]
        self.assertEqual((graph["launches"], graph["items"]), (2, 2))
        self.assertEqual(self.counts(graph), {"more#1": (2, 16), "inner": (2, 6), "inner/more": (6, 48), "more#2": (2, 16)})
        seconds = {node["node"]: node["seconds"] for node in graph["nodes"]}
        self.assertLessEqual(seconds["inner/more"], seconds["inner"])
        self.assertLessEqual(seconds["more#1"] + seconds["inner"] + seconds["more#2"], graph["seconds"])

    def test_figures_in_other_forms(self):
        self.write("nested.c", NESTED)
        self.succeeds("cc", "-O2", "nested.c", "-o", "program", "--record")
        self.assertIn("graph: 2 launches, 2 items, ", self.run_program(STRATA_STATS="text"))
        self.assertEqual(self.run_program(STRATA_STATS="json:figures%p.json", STRATA_RECORD="run.json"), "")
        name = next(each for each in os.listdir(self.folder) if re.fullmatch(r"figures\d+\.json", each))
        with open(self.path(name)) as file:
            self.assertEqual(json.load(file)["graphs"][0]["launches"], 2)
        with open(self.path("run.json")) as file:
            events = json.load(file)["traceEvents"]
        self.assertEqual(sum(event["name"] == "inner/more" for event in events), 6)
        self.assertIn("[hpvm-record]", self.run_program(STRATA_STATS="json:" + self.path("no/folder/figures.json")))
        done = subprocess.run(["./program"], cwd=self.folder, capture_output=True, text=True, timeout=600, env={**os.environ, "STRATA_STATS": "xml"})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("[hpvm-environment]", done.stderr)

    def test_a_recording_program_is_interpreted(self):
        """What a trace shows is of no effect on results."""
        self.write("nested.c", NESTED)
        self.succeeds("cc", "-O2", "nested.c", "-o", "program", "--record", "--graphs=graphs.mlir")
        with open(self.path("graphs.mlir")) as file:
            self.assertIn('svm.span "inner/more" of ', file.read())
        data = self.save("data.npy", np.zeros(8, "i4"))
        for way in ("--interpret", "--stats"):
            self.succeeds("run", "graphs.mlir", "--in", f"data={data}", "--in", "bytes=32", way, "--out", "data=out.npy")
            np.testing.assert_array_equal(np.load(self.path("out.npy")), np.full(8, 5))

    def test_a_program_that_does_not_record_says_so(self):
        self.succeeds("c++", "-O2", os.path.join(ROOT, "examples/hpvm/edges/edges.cpp"), "-o", "program")
        self.assertIn("link it with strata cc --record", self.run_program(STRATA_RECORD="run.json"))
        self.assertIn("link it with strata cc --record", self.run_program(STRATA_STATS="text"))


if __name__ == "__main__":
    harness.main()
