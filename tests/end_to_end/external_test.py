"""External tasks: a C function as the leaf of a Sequoia program, through its mapping file, on host and cell."""

import json

import numpy as np

import harness

PROGRAM = """
void task Mix(in float A[N], in float B[N], out float C[N], in int k);
void task<inner> Mix::Split(in float A[N], in float B[N], out float C[N], in int k)
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Mix(A[i * block; block], B[i * block; block], C[i * block; block], k);
  }
}
void task<ext> Mix::Extern(in float A[N], in float B[N], out float C[N], in int k);
"""

LEAF = """
#include "sequoia_ext.h"
#include <math.h>
void Mix_Leaf(sqArray_t *A, sqArray_t *B, sqArray_t *C, int k) {
  sqCalcParams();
  float *a = sqElmtSpec1D(Mix_Leaf, A, 0), *b = sqElmt1D(B, 0), *c = sqElmtSpec1D(Mix_Leaf, C, 0);
  for (unsigned i = 0; i < sqParam(Mix_Leaf, N); i++) c[i] = a[i] + (float)k * sqrtf(b[i]);
}
"""

MAPPING = """#include "MACHINE"
task Mix: entrypoint(Mix_Top) {
  instance Mix_Top::Split(level OUTER) {
    tunable block = 1000;
    control(level OUTER) {
      loop i(level 0) { spmd { ways = 2; iterblk = 1; } }
      callsite Mix() { target Mix_Leaf() { } }
    }
  }
  instance Mix_Leaf::Extern(level 0) external("leaf.c") { }
}
"""


BLOCKS = """
void task Mix(in float A[K][M + 1][N], out float B[K][M][N], in double f, inout int count);
void task<inner> Mix::Split(in float A[K][M + 1][N], out float B[K][M][N], in double f, inout int count)
{
  tunable m, n;
  mapseq (long i = 0 : (M + m - 1) / m, long j = 0 : (N + n - 1) / n) {
    Mix(A[0;][i * m; m + 1][j * n; n], B[0;][i * m; m][j * n; n], f, count);
  }
}
void task<ext> Mix::Ext(in float A[K][M + 1][N], out float B[K][M][N], in double f, inout int count);
"""

BLOCKS_LEAF = """
#include "sequoia_ext.h"
extern "C" void Low(sqArray_t *A, sqArray_t *B, double f, int *count) {
  sqCalcParams(Low);
  for (sqSize_t k = 0; k < sqParam(Low, K); k++)
    for (sqSize_t m = 0; m < sqParam(Low, M); m++) {
      const float *a = sqElmtSpec3D(Low, A, k, m, 0), *b = (float *)sqElmt3D(A, k, m + 1, 0);
      float *c = sqElmtSpec3D(Low, B, k, m, 0);
      for (sqSize_t n = 0; n < sqParam(Low, N); n++) c[n] = a[n] + f * b[n];
    }
  ++*count;
}
"""

BLOCKS_MAPPING = """#include "MACHINE"
task Mix: entrypoint(Top) {
  instance Top::Split(level OUTER) {
    tunable m = 3;
    tunable n = 4;
    data() { array A() { elements < 2, 9, 11; } }
    control(level OUTER) { callsite Mix() { target Low() { } } }
  }
  instance Low::Ext(level 0) external("leaf.cpp") { }
}
"""


RECORDS = """
typedef union { float f; unsigned u; } word;
struct cell { word words[2]; short s; };
typedef struct { struct cell cell; long total; } sum;
void task Add(in struct cell A[N], inout sum total);
void task<ext> Add::Ext(in struct cell A[N], inout sum total);
"""

RECORDS_LEAF = """
#include "sequoia_ext.h"
CHERE void Sum(sqArray_t *A, sum *total) {
  for (sqSize_t i = 0; i < sqParam(Sum, N); i++) {
    const struct cell *at = (const struct cell *)sqElmtSpec1D(Sum, A, i);
    word w = at->words[1];
    total->total += at->s + (long)w.f;
    total->cell = *at;
  }
}
"""

RECORDS_MAPPING = """#include "host"
task Add: entrypoint(Sum) { instance Sum::Ext(level 0) external("FILE") { } }
"""


class External(harness.Case):
    def test_types_of_the_program(self):
        """Structs, unions and typedefs are the program's in C and C++, or the file's own where it says so."""
        cell = np.dtype([("words", [("bits", "<u4")], 2), ("s", "<i2")], align=True)  # NumPy has no unions
        cells = np.zeros(5, cell)
        cells["words"]["bits"][:, 1] = np.arange(5, dtype="f4").view("u4")
        cells["s"] = 10
        self.save("a.npy", cells)
        self.save("zero.npy", np.zeros((), np.dtype([("cell", cell), ("total", "<i8")], align=True)))
        self.write("add.sq", RECORDS)
        own = ("#define SEQUOIA_EXT_NO_TYPES\n#include <string.h>\ntypedef union { float f; unsigned u; } word;\n"
               "struct cell { word words[2]; short s; };\ntypedef struct { struct cell cell; long total; } sum;\n")
        for file, text in (("leaf.c", RECORDS_LEAF.replace("CHERE", "")), ("leaf.cpp", RECORDS_LEAF.replace("CHERE", 'extern "C"')),
                           ("own.c", own + RECORDS_LEAF.replace("CHERE", ""))):
            with self.subTest(file):
                self.write(file, text)
                mapping = self.write("add.map", RECORDS_MAPPING.replace("FILE", file))
                self.succeeds("run", "add.sq", "--map", mapping, "--in", "A=a.npy", "--in", "total=zero.npy", "--out", "total=t.npy")
                total = np.load(self.path("t.npy"))
                self.assertEqual((int(total["total"]), int(total["cell"]["s"])), (60, 10))

    def test_a_struct_by_value_is_refused_with_its_place(self):
        self.write("leaf.c", "int x;")
        self.write("add.sq", RECORDS.replace("inout sum", "in word").replace("[N], in word", "[N],\n  in word"))
        mapping = self.write("add.map", RECORDS_MAPPING.replace("FILE", "leaf.c"))
        self.is_refused("check", "add.sq", "--map", mapping, code="clang-external-type", mentions=["add.sq:8:", "add.map:2:", "make it inout"])

    def test_a_cxx_function_on_blocks_within_arrays(self):
        """On host the blocks are parts of the arrays, with pitches larger than their extents; on cell they are copies."""
        a = np.random.default_rng(2).random((2, 9, 11), "f4")
        self.save("a.npy", a)
        self.write("leaf.cpp", BLOCKS_LEAF)
        self.write("mix.sq", BLOCKS)
        for machine, outer in (("host", 0), ("cell", 2)):
            mapping = self.write("mix.map", BLOCKS_MAPPING.replace("MACHINE", machine).replace("OUTER", str(outer)))
            for how in ((), ("--check",), ("--interpret", "--out", "count=count.npy")):
                result = self.succeeds("run", "mix.sq", "--map", mapping, "--in", "A=a.npy", "--in", "f=2", "--in", "count=5", "--out", "B=b.npy", *how)
                if "--interpret" in how:
                    self.assertEqual(np.load(self.path("count.npy")), 14)
                else:
                    self.assertIn("count: int32 () = 14", result.out)
                np.testing.assert_allclose(np.load(self.path("b.npy")), a[:, :-1] + 2 * a[:, 1:], rtol=1e-6, err_msg=machine)

    def files(self, machine, outer, leaf=LEAF):
        self.write("leaf.c", leaf)
        mapping = MAPPING.replace("MACHINE", machine).replace("OUTER", str(outer))
        return self.write("mix.sq", PROGRAM), "--map", self.write("mix.map", mapping)

    def test_a_c_function_is_a_leaf(self):
        random = np.random.default_rng(1)
        a, b = random.random(10007, "f4"), random.random(10007, "f4")
        for machine, outer in (("host", 0), ("cell", 2)):
            self.succeeds("run", *self.files(machine, outer), "--in", f"A={self.save('a.npy', a)}", "--in",
                          f"B={self.save('b.npy', b)}", "--in", "k=3", "--out", "C=c.npy", "--stats", "json:s.json")
            self.assertTrue(np.allclose(np.load(self.path("c.npy")), a + 3 * np.sqrt(b), rtol=1e-6), machine)
            with open(self.path("s.json")) as file:
                self.assertEqual(json.load(file)["paths"], {"Mix_Leaf": "llvm"})

    def test_checked_with_the_rest_of_the_program(self):
        """The function is called by the interpreter too, which finds what is wrong around it."""
        data = ("--in", "A=iota", "--in", "B=4", "--in", "k=3", "--size", "N=2500", "--out", "C=c.npy")
        for machine, outer in (("host", 0), ("cell", 2)):
            self.succeeds("run", *self.files(machine, outer), *data, "--check")
            self.assertTrue(np.array_equal(np.load(self.path("c.npy")), np.arange(2500, dtype="f4") + 6), machine)
            # Blocks that overlap by an element, which each iteration writes.
            program, *mapping = self.files(machine, outer)
            with open(program) as file:
                text = file.read().replace("C[i * block; block]", "C[i * block; block + 1]").replace("A[i * block; block]", "A[i * block; block + 1]")
            self.write("mix.sq", text.replace("B[i * block; block]", "B[i * block; block + 1]"))
            self.is_refused("run", program, *mapping, *data, "--check", code="check-iteration-overlap")

    def test_errors_of_the_c_file_have_its_place(self):
        self.is_refused("check", *self.files("host", 0, LEAF.replace("sqrtf(b[i])", "sqrtf(q[i])")), mentions=["leaf.c:7", "'q'"])

    def test_a_file_that_is_missing(self):
        program, option, mapping = self.files("host", 0)
        with open(mapping) as file:
            text = file.read().replace("leaf.c", "lief.c")
        self.is_refused("check", program, option, self.write("mix.map", text), mentions="lief.c")

    def test_a_function_that_is_missing(self):
        self.is_refused("check", *self.files("host", 0, LEAF.replace("void Mix_Leaf(sq", "void Other(sq")), mentions="Mix_Leaf")


if __name__ == "__main__":
    harness.main()
