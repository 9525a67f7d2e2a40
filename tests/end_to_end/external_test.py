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


class External(harness.Case):
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
