"""How leaves become code: which of their dimensions goes in lanes, and functions that they call in other files. Expected values come from loops
of the host in the programs themselves."""

import os
import subprocess

import harness

# A leaf with a function in another file that calls an inline one and has a table; one with a function that counts its calls.
OTHERS = r"""
#include <hpvm.h>
#include <cstdio>
namespace numbers { unsigned char median(unsigned char *v); }
extern "C" int next(int);
extern "C" int counted(void);
static void median(unsigned char *in, size_t inBytes, unsigned char *out, size_t outBytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  unsigned char v[5];
  for (int k = 0; k < 5; ++k) v[k] = in[i + k];
  out[i] = numbers::median(v);
  __hpvm__return(1, outBytes);
}
static void number(int *data, size_t bytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  data[i] = next(data[i]);
  __hpvm__return(1, bytes);
}
void graph(unsigned char *in, size_t inBytes, unsigned char *out, size_t outBytes, int *data, size_t bytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(2, in, data, 2, out, data);
  void *node = __hpvm__createNodeND(1, median, outBytes), *other = __hpvm__createNodeND(1, number, bytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0); __hpvm__bindIn(node, 1, 1, 0); __hpvm__bindIn(node, 2, 2, 0); __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(other, 4, 0, 0); __hpvm__bindIn(other, 5, 1, 0);
}
int main() {
  unsigned char in[1004], out[1000];
  int data[8] = {0}, wrong = 0;
  for (int i = 0; i < 1004; ++i) in[i] = (unsigned char)(i * 37 % 251);
  struct __attribute__((packed)) { unsigned char *in; size_t inBytes; unsigned char *out; size_t outBytes; int *data; size_t bytes; } arguments =
      {in, sizeof in, out, sizeof out, data, sizeof data};
  __hpvm__init();
  llvm_hpvm_track_mem(in, sizeof in);
  llvm_hpvm_track_mem(out, sizeof out);
  llvm_hpvm_track_mem(data, sizeof data);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_request_mem(out, sizeof out);
  llvm_hpvm_request_mem(data, sizeof data);
  for (int i = 0; i < 1000; ++i) {
    int below = 0, equal = 0;
    for (int k = 0; k < 5; ++k) below += in[i + k] < out[i], equal += in[i + k] == out[i];
    wrong += !(below <= 2 && below + equal >= 3);
  }
  for (int i = 0; i < 8; ++i) wrong += data[i] != 1;
  __hpvm__cleanup();
  std::printf("%d wrong, %d counted\n", wrong, counted());
}
"""
MIDDLE = """
#include <utility>
namespace numbers {
static const unsigned char ends[] = {3, 5};
static void order(unsigned char &a, unsigned char &b) { if (b < a) std::swap(a, b); }
unsigned char median(unsigned char *v) {
  for (int i = 0; i < ends[0]; ++i)
    for (int j = i + 1; j < ends[1]; ++j) order(v[i], v[j]);
  return v[2];
}
}
"""
COUNTER = """
static int count;
int next(int n) { __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); return n + 1; }
int counted(void) { return count; }
"""
# Leaves of two dimensions: the second is of no use; only the first column stores; all store to one element.
UNUSED = r"""
#include <hpvm.h>
#include <stdio.h>
enum { n = 1000 };
void add(int *in, size_t inBytes, int *out, size_t outBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  long x = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  out[x] = in[x] * 2 + 1;
}
void guarded(int *in, size_t inBytes, int *out, size_t outBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  long x = __hpvm__getNodeInstanceID_x(__hpvm__getNode()), y = __hpvm__getNodeInstanceID_y(__hpvm__getNode());
  if (y == 0) out[x] = in[x] + 3;
}
void last(int *in, size_t inBytes, int *out, size_t outBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  out[0] = in[0];
}
#define GRAPH(name, leaf, ...)                                                   \
  void name(int *in, size_t inBytes, int *out, size_t outBytes, size_t m) {      \
    __hpvm__hint(CPU_TARGET);                                                    \
    __hpvm__attributes(1, in, 1, out);                                           \
    void *node = __hpvm__createNodeND(__VA_ARGS__);                              \
    __hpvm__bindIn(node, 0, 0, 0); __hpvm__bindIn(node, 1, 1, 0);                \
    __hpvm__bindIn(node, 2, 2, 0); __hpvm__bindIn(node, 3, 3, 0);                \
  }
GRAPH(first, add, 2, add, inBytes / 4, EXTENT)
GRAPH(second, guarded, 2, guarded, inBytes / 4, (size_t)3)
GRAPH(third, last, 1, last, inBytes / 4)
int main(void) {
  static int in[n], out[3][n];
  int wrong = 0;
  for (int i = 0; i < n; ++i) in[i] = i * i % 1000;
  __hpvm__init();
  llvm_hpvm_track_mem(in, sizeof in);
  llvm_hpvm_track_mem(out, sizeof out);
  struct __attribute__((packed)) arguments { int *in; size_t inBytes; int *out; size_t outBytes; size_t m; };
  struct arguments a = {in, sizeof in, out[0], sizeof out[0], 1}, b = {in, sizeof in, out[1], sizeof out[1], 1}, c = {in, sizeof in, out[2], sizeof out[2], 1};
  __hpvm__wait(__hpvm__launch(0, first, &a));
  __hpvm__wait(__hpvm__launch(0, second, &b));
  __hpvm__wait(__hpvm__launch(0, third, &c));
  llvm_hpvm_request_mem(out, sizeof out);
  for (int i = 0; i < n; ++i) wrong += out[0][i] != in[i] * 2 + 1 || out[1][i] != in[i] + 3;
  wrong += out[2][0] != in[0];
  __hpvm__cleanup();
  printf("%d wrong\n", wrong);
}
"""

# A function that several libraries have.
CALLS = r"""
#include <hpvm.h>
#include <stdio.h>
int helper(int);
void leaf(int *y, size_t yBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, y, 1, y);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  y[i] = helper(y[i]);
  __hpvm__return(1, yBytes);
}
void graph(int *y, size_t yBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, y, 1, y);
  void *node = __hpvm__createNodeND(1, leaf, yBytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
int main(void) {
  int y[3] = {1, 2, 3};
  __hpvm__init();
  llvm_hpvm_track_mem(y, sizeof y);
  struct __attribute__((packed)) { int *y; size_t yBytes, result; } arguments = {y, sizeof y, 0};
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_request_mem(y, sizeof y);
  __hpvm__cleanup();
  printf("%d %d %d\n", y[0], y[1], y[2]);
}
"""


# The median of nine neighbours, sorted in an array of the instance's own, which a counter fills; and one whose place for an element is found.
MEDIAN = r"""
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
enum { w = 131, h = 37 };
static int within(int v, int last) { return v < 0 ? 0 : v > last ? last : v; }
static unsigned char sorted(const unsigned char *in, int x, int y) {
  unsigned char v[9];
  int k = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      v[k++] = in[within(y + dy, h - 1) * w + within(x + dx, w - 1)];
  for (int i = 0; i < 5; ++i)
    for (int j = i + 1; j < 9; ++j)
      if (v[j] < v[i]) {
        unsigned char t = v[i];
        v[i] = v[j];
        v[j] = t;
      }
  return v[4];
}
static unsigned char inserted(const unsigned char *in, int x, int y) {
  unsigned char v[10];
  for (int k = 0; k < 10; ++k) {
    unsigned char u = in[y * w + (x + k) % w];
    int j = k;
    for (; j > 0 && v[j - 1] > u; --j)
      v[j] = v[j - 1];
    v[j] = u;
  }
  return v[3];
}
#define LEAF(name)                                                                                              \
  void leaf_##name(unsigned char *in, size_t inBytes, unsigned char *out, size_t outBytes) {                    \
    __hpvm__hint(CPU_TARGET);                                                                                   \
    __hpvm__attributes(1, in, 1, out);                                                                          \
    void *node = __hpvm__getNode();                                                                             \
    long x = __hpvm__getNodeInstanceID_x(node), y = __hpvm__getNodeInstanceID_y(node);                          \
    out[y * w + x] = name(in, (int)x, (int)y);                                                                  \
    __hpvm__return(1, outBytes);                                                                                \
  }                                                                                                             \
  void graph_##name(unsigned char *in, size_t inBytes, unsigned char *out, size_t outBytes) {                   \
    __hpvm__hint(CPU_TARGET);                                                                                   \
    __hpvm__attributes(1, in, 1, out);                                                                          \
    void *node = __hpvm__createNodeND(2, leaf_##name, (size_t)w, (size_t)h);                                    \
    __hpvm__bindIn(node, 0, 0, 0);                                                                              \
    __hpvm__bindIn(node, 1, 1, 0);                                                                              \
    __hpvm__bindIn(node, 2, 2, 0);                                                                              \
    __hpvm__bindIn(node, 3, 3, 0);                                                                              \
    __hpvm__bindOut(node, 0, 0, 0);                                                                             \
  }
LEAF(sorted)
LEAF(inserted)
static unsigned char in[w * h], out[w * h];
struct __attribute__((packed)) { void *in; size_t inBytes; void *out; size_t outBytes, result; } arguments = {in, sizeof in, out, sizeof out, 0};
static int wrong(unsigned char (*value)(const unsigned char *, int, int)) {
  llvm_hpvm_request_mem(out, sizeof out);
  int count = 0;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      count += out[y * w + x] != value(in, x, y);
  return count;
}
int main(void) {
  for (int i = 0; i < w * h; ++i)
    in[i] = (unsigned char)(i * i * 37 % 251);
  __hpvm__init();
  llvm_hpvm_track_mem(in, sizeof in);
  llvm_hpvm_track_mem(out, sizeof out);
  __hpvm__wait(__hpvm__launch(0, graph_sorted, &arguments));
  int first = wrong(sorted);
  __hpvm__wait(__hpvm__launch(0, graph_inserted, &arguments));
  int second = wrong(inserted);
  __hpvm__cleanup();
  printf("%d %d wrong\n", first, second);
}
"""


class Leaves(harness.Case):
    def prints(self, program, wanted):
        for threads in ("1", "2", "7"):
            done = subprocess.run([self.path(program)], capture_output=True, text=True, timeout=600, env={**os.environ, "STRATA_THREADS": threads})
            self.assertEqual((done.returncode, done.stdout), (0, wanted), done.stderr)

    def test_functions_of_other_files_are_taken(self):
        """A leaf's function in another file is code of the leaf; one with a variable of its own is called, since there is one of it."""
        self.write("graph.cpp", OTHERS)
        self.write("middle.cpp", MIDDLE)
        self.write("counter.c", COUNTER)
        for name, compiler in (("graph.cpp", "c++"), ("middle.cpp", "c++"), ("counter.c", "cc")):
            self.succeeds(compiler, "-O2", "-c", name, "-o", name + ".o")
        subprocess.run(["clang-19", "-c", "counter.c", "-o", "foreign.o"], cwd=self.folder, check=True)
        subprocess.run(["ar", "rc", "libmiddle.a", "middle.cpp.o"], cwd=self.folder, check=True)
        self.succeeds("c++", "-O2", "-flto", "-c", "middle.cpp", "-o", "lto.o")
        ways = [("graph.cpp.o", "middle.cpp.o", "counter.c.o"), ("middle.cpp.o", "graph.cpp.o", "foreign.o"), ("graph.cpp.o", "-L.", "-lmiddle", "counter.c.o"),
                ("graph.cpp.o", "-fuse-ld=lld", "lto.o", "counter.c.o")]
        for files in ways:
            done = self.succeeds("c++", *files, "-o", "program", STRATA_REMARKS="1")
            self.assertNotIn("node 'median'", done.err, files)
            self.assertIn("remark[hpvm-not-raised]: node 'number' runs instance by instance, as LLVM code: it has a call of 'next'", done.err)
            reason = ("is in foreign.o, which neither strata cc nor strata c++ has compiled" if "foreign.o" in files
                      else "is in counter.c.o and has the static variable 'count', which cannot be there twice")
            self.assertIn("note: 'next' " + reason, done.err)
            self.prints("program", "0 wrong, 8 counted\n")

    def test_the_linker_decides_which_function_it_is(self):
        """Also where a shared library has it, or it is replaced."""
        for name, text in (("calls", CALLS), ("one", "int helper(int x) { return x + 1000; }"), ("two", "int helper(int x) { return x + 2000; }"),
                           ("wrap", "int __real_helper(int); int __wrap_helper(int x) { return __real_helper(x) + 10; }")):
            self.write(name + ".c", text)
            self.succeeds("cc", "-O2", "-fPIC", "-c", name + ".c", "-o", name + ".o")
        self.succeeds("cc", "-shared", "one.o", "-o", "libone.so")
        for archive in ("uno", "two"):
            subprocess.run(["ar", "rc", f"lib{archive}.a", "one.o" if archive == "uno" else "two.o"], cwd=self.folder, check=True)
        stripped = self.path("stripped")
        os.mkdir(stripped)
        subprocess.run(["strip", "libone.so", "-o", "stripped/libone.so"], cwd=self.folder, check=True)
        here = "-Wl,-rpath," + self.folder
        first, second = "1001 1002 1003\n", "2001 2002 2003\n"
        for words, wanted in ((["-L.", "-lone", "-ltwo", here], first), (["-L.", "-ltwo", "-lone", here], second), (["-L.", "-l:libuno.a", "-ltwo"], first),
                              (["-L.", "-Wl,--library=uno", "-ltwo"], first), (["-Lstripped", "-lone", "-L.", "-ltwo", here], first),
                              (["wrap.o", "two.o", "-Wl,--wrap=helper"], "2011 2012 2013\n")):
            self.succeeds("cc", "calls.o", *words, "-o", "program")
            self.prints("program", wanted)

        # Archives of which each has a part of it, and a name that another function is given.
        for name, text in (("deep_one", "int deep(int x) { return x + 100; }"), ("calls_deep", "int deep(int); int helper(int x) { return deep(x) + 1; }"),
                           ("deep_two", "int deep(int x) { return x + 200; }"), ("other", "int other(int x) { return x + 50; }")):
            self.write(name + ".c", text)
            self.succeeds("cc", "-O2", "-c", name + ".c", "-o", name + ".o")
        subprocess.run(["ar", "rc", "libshallow.a", "deep_one.o"], cwd=self.folder, check=True)
        subprocess.run(["ar", "rc", "libdeep.a", "calls_deep.o", "deep_two.o"], cwd=self.folder, check=True)
        for words, wanted in ((["calls.o", "libshallow.a", "libdeep.a"], "202 203 204\n"), (["libuno.a", "calls.o", "libtwo.a"], second),
                              (["calls.o", "-Wl,--defsym=helper=other", "other.o", "libtwo.a"], "51 52 53\n")):
            self.succeeds("cc", *words, "-o", "program")
            self.prints("program", wanted)

    def test_arrays_of_each_instances_own(self):
        self.write("median.c", MEDIAN)
        for level in ("-O0", "-O1", "-O2"):
            told = self.succeeds("cc", level, "median.c", "-o", "median", STRATA_REMARKS="1").err
            self.assertIn("kernel 'leaf_sorted': tiles 1x", told)
            self.assertIn("an array of each iteration's own has no form for lanes", told)  # its elements are not numbered by loops
            self.prints("median", "0 0 wrong\n")

    def test_a_dimension_without_use(self):
        """Lanes are along what stores move along, and processors share that."""
        for extent in ("(size_t)1", "m"):
            self.write("unused.c", UNUSED.replace("EXTENT", extent))
            told = self.succeeds("cc", "-O2", "unused.c", "-o", "unused", STRATA_REMARKS="1").err
            self.assertIn("kernel 'add': tiles 1x", told)
            self.assertIn("kernel 'guarded': tiles 1x", told)
            self.assertEqual(told.count("left to LLVM: "), 1, told)
            self.assertIn("remark[kernel-path]: kernel 'last': 1 loop left to LLVM", told)
            self.assertIn("left to LLVM: all instances along x store to one element", told)
            self.assertIn("have one instance store there, or create the node without x", told)
            self.prints("unused", "0 wrong\n")


if __name__ == "__main__":
    harness.main()
