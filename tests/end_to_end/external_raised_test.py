"""External tasks that are raised to structured kernels, and those that are not: what they compute is the same to the last bit, on host and
cell, by the interpreter, and when the program is written out and run again; remarks say what keeps one as LLVM code, and where."""

import json

import harness
import numpy as np

PROGRAM = """
void task T(in float A[N], in float B[N], out float C[N], in int k);
void task<inner> T::Split(in float A[N], in float B[N], out float C[N], in int k)
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) { T(A[i * block; block], B[i * block; block], C[i * block; block], k); }
}
void task<ext> T::Extern(in float A[N], in float B[N], out float C[N], in int k);
"""

MAPPING = """#include "MACHINE"
task T: entrypoint(Top) {
  instance Top::Split(level OUTER) {
    tunable block = 700;
    control(level OUTER) {
      loop i(level 0) { spmd { ways = 2; iterblk = 1; } }
      callsite T() { target Leaf() { } }
    }
  }
  instance Leaf::Extern(level 0) external("FILE") { }
}
"""

PLANES = """
void task P(in float A[K][M + 2][N + 2], out float B[K][M][N], inout double sum);
void task<inner> P::Split(in float A[K][M + 2][N + 2], out float B[K][M][N], inout double sum)
{
  tunable m, n;
  mapseq (long i = 0 : (M + m - 1) / m, long j = 0 : (N + n - 1) / n) {
    P(A[0;][i * m; m + 2][j * n; n + 2], B[0;][i * m; m][j * n; n], sum);
  }
}
void task<ext> P::Extern(in float A[K][M + 2][N + 2], out float B[K][M][N], inout double sum);
"""

PLANES_MAPPING = """#include "MACHINE"
task P: entrypoint(Top) {
  instance Top::Split(level OUTER) {
    tunable m = 5;
    tunable n = 9;
    data() { array A() { elements <= 3, 30, 40; } }
    control(level OUTER) { callsite P() { target Leaf() { } } }
  }
  instance Leaf::Extern(level 0) external("FILE") { }
}
"""

PAIR = """
void task F(in float A[N], out float B[N]);
void task<ext> F::E(in float A[N], out float B[N]);
void task G(in float A[N], out float B[N]);
void task<ext> G::E(in float A[N], out float B[N]);
void task T(in float A[N], out float B[N]);
void task<inner> T::I(in float A[N], out float B[N]) { float X[N]; F(A, X); G(X, B); }
"""

PAIR_MAPPING = """#include "host"
task T: entrypoint(Top) { instance Top::I(level 0) { control(level 0) { callsite F() { target One() { } } callsite G() { target Two() { } } } } }
task F: { instance One::E(level 0) external("FILE") { } }
task G: { instance Two::E(level 0) external("two.c") { } }
"""

HEAD = '#include "sequoia_ext.h"\n#include <math.h>\n#include <string.h>\n#include <stdio.h>\n'
SIGNATURE = "void Leaf(sqArray_t *A, sqArray_t *B, sqArray_t *C, int k) {\n"
POINTERS = "  float *a = sqElmtSpec1D(Leaf, A, 0), *b = (float *)sqElmt1D(B, 0), *c = (float *)C->ptr;\n"
LOOP = "  for (unsigned i = 0; i < sqParam(Leaf, N); i++) "
# A place that nobody may look into keeps a function as LLVM code.
STAYS = "  volatile int stays = 0;\n"

RAISED = {
    "contracted": ("", LOOP + "c[i] = a[i] * b[i] + (float)k;\n"),
    "rounded twice": ("", LOOP + "{ float p = a[i] * b[i]; c[i] = p + a[i]; }\n"),
    "fused by name": ("", LOOP + "c[i] = fmaf(a[i], b[i], a[i]);\n"),
    "signed indices": ("", "  for (int i = (int)C->numElmts[0] - 1; i >= 0; --i) c[i] = a[i] - b[i];\n"),
    "pointers that walk": ("", "  for (float *end = c + C->numElmts[0]; c != end;) *c++ = *a++ / (1 + *b++);\n"),
    "an element at a time": ("", LOOP + "*(float *)sqElmt1D(C, i) = *(float *)sqElmtSpec1D(Leaf, A, i) + 2;\n"),
    "choices": ("", LOOP + "c[i] = a[i] < b[i] ? a[i] : k > 2 ? b[i] : 0;\n"),
    "a loop that data end": ("", LOOP + "{ float x = a[i]; int n = 0; while (x < 30.f && n < 50) { x = x * 1.5f + b[i]; n++; } c[i] = x + n; }\n"),
    "functions of its own": ("static float twice(float x) { return x + x; }\nstatic void put(float *to, float x) { *to = twice(x) - 1; }\n",
                             LOOP + "put(c + i, a[i] * b[i]);\n"),
    "mathematics": ("", LOOP + "c[i] = sqrtf(a[i]) + expf(b[i]) * sinf(a[i]) - powf(b[i], 1.25f) + logf(a[i] + 1);\n"),
    "a constant table": ("static const float table[4] = {1, 0.5f, 0.25f, 3};\n", LOOP + "c[i] = a[i] * table[(i + k) & 3] + b[i];\n"),
    "local space": ("", "  float *own = (float *)sqLocalSpace(Leaf); float last[8] = {0};\n" + LOOP + "{ last[i & 7] += a[i]; c[i] = last[i & 7]; }\n"),
    "zeros first": ("", "  memset(c, 0, C->numElmts[0] * sizeof(float));\n" + LOOP + "c[i] += a[i] * b[i];\n"),
    "copies": ("", "  if (k > 2) memcpy(c, b, C->numElmts[0] * sizeof(float));\n  else memset(c, 0, C->numElmts[0] * sizeof(float));\n"),
    "values that change places": ("", LOOP + "{ float p = a[i], q = b[i]; for (int j = 0; j < k + 6; j++) { float next = p - q * 0.5f; p = q; q = next; }"
                                  " c[i] = p + q; }\n"),
    "a sum of some": ("", LOOP + "{ float sum = 0; for (int j = 0; j < 7; j++) if (k > j) sum += a[i] * (float)j; else sum -= b[i]; c[i] = sum; }\n"),
    "a sum": ("", "  float sum = 0;\n" + LOOP + "{ sum += a[i] * b[i]; c[i] = sum; }\n"),
    "integers": ("", LOOP + "{ long x = (long)(a[i] * 1000) * k; c[i] = (float)((x << 3) ^ (x >> 2) ^ (x % 7)); }\n"),
}

KEPT = {  # name: (in front of the function, its body, what the remark says, a part of its line; None: the mapping's)
    "a call": ("", LOOP + "c[i] = a[i];\n  if (k < 0) puts(\"negative\");\n", "it has a call of 'puts'", "puts("),
    "a variable outside": ("static int calls;\n", LOOP + "c[i] = a[i];\n  calls++;\n", "it has a variable outside of functions", "calls++"),
    "a volatile variable": ("", STAYS + LOOP + "c[i] = a[i];\n", "it has a volatile or atomic access", "stays"),
    "a store to what is read": ("", LOOP + "c[i] = a[i];\n  if (k < -1) b[0] = 1;\n", "it stores to 'B', which its task only reads", None),
    "a read of what is only written": ("", "  float first = c[0];\n" + LOOP + "c[i] = a[i] + 0 * first;\n", "its kernel would break a rule: ", None),
    "bits of other elements": ("", "  unsigned *bits = (unsigned *)a;\n" + LOOP + "c[i] = (float)bits[i];\n",
                               "it takes the elements of 'A' for others than they are", None),
    "large variables": ("", "  float own[20000];\n" + LOOP + "own[(i * 7) % 20000] = a[i];\n" + LOOP + "c[i] = own[(i * 7) % 20000];\n",
                        "its variables take more than 65536 bytes", None),
    "an array that it describes": ("", "  sqArray_t own = *C; own.contigDim = k - 3;\n" + LOOP + "*(float *)sqElmt1D(&own, i) = a[i];\n",
                                   "it has an array whose order of dimensions is not known", "sqElmt1D(&own"),
    "a pointer from memory": ("", "  float *all[2] = {a, b};\n" + LOOP + "c[i] = all[(i + k) & 1][i];\n", "it has a pointer that is kept in memory", "all[2]"),
}

STENCIL = """
  double all = 0;
  for (sqSize_t z = 0; z < sqParam(Leaf, K); z++)
    for (sqSize_t y = 0; y < sqParam(Leaf, M); y++)
      for (int x = 0; x < (int)sqParam(Leaf, N); x++) {
        float *row = sqElmtSpec3D(Leaf, A, z, y + 1, 1), *up = (float *)sqElmt3D(A, z, y, 1);
        float value = 0.5f * row[x] + 0.25f * (row[x - 1] + row[x + 1]) - up[x] * *(float *)sqElmt3D(A, z, y + 2, x + 1);
        *(float *)sqElmtSpec3D(Leaf, B, z, y, x) = value;
        all += value;
      }
  *sum += all;
}
"""

# Three loops over rows and columns.
PRODUCT = """
void task P(inout float C[M][N], in float A[M][K], in float B[K][N]);
void task<inner> P::Split(inout float C[M][N], in float A[M][K], in float B[K][N])
{
  tunable m, n;
  mappar (long i = 0 : (M + m - 1) / m, long j = 0 : (N + n - 1) / n) {
    P(C[i * m; m][j * n; n], A[i * m; m][0; K], B[0; K][j * n; n]);
  }
}
void task<ext> P::Extern(inout float C[M][N], in float A[M][K], in float B[K][N]);
"""

PRODUCT_MAPPING = """#include "MACHINE"
task P: entrypoint(Top) {
  instance Top::Split(level OUTER) {
    tunable m = 13;
    tunable n = 50;
    data() { array A() { elements <= 40, 30; } }
    control(level OUTER) { callsite P() { target Leaf() { } } }
  }
  instance Leaf::Extern(level 0) external("FILE") { }
}
"""

THREE_LOOPS = """void Leaf(sqArray_t *C, sqArray_t *A, sqArray_t *B) {
  for (long i = 0; i < (long)C->numElmts[0]; i++)
    for (long j = 0; j < (long)C->numElmts[1]; j++) {
      float sum = *sqElmtSpec2D(Leaf, C, i, j);
      for (long k = 0; k < (long)A->numElmts[1]; k++)
        sum += *sqElmtSpec2D(Leaf, A, i, k) * *sqElmtSpec2D(Leaf, B, k, j);
      *sqElmtSpec2D(Leaf, C, i, j) = sum;
    }
}
"""


class ExternalRaised(harness.Case):
    def command(self, text, machine="host", file="leaf.c", program=PROGRAM, mapping=MAPPING):
        self.write(file, text)
        mapping = mapping.replace("MACHINE", machine).replace("OUTER", "0" if machine == "host" else "2").replace("FILE", file)
        return self.write("t.sq", program), "--map", self.write("t.map", mapping)

    def result(self, path, command, data, output, *how):
        """The bytes that a run writes; the kernel's code has the form `path`."""
        self.succeeds("run", *command, *data, "--stats", "json:s.json", *how)
        with open(self.path("s.json")) as file:
            self.assertEqual(json.load(file)["paths"]["Leaf"], path, command)
        with open(self.path(output), "rb") as file:
            return file.read()

    def data(self):
        random = np.random.default_rng(3)
        return ["--in", "A=" + self.save("a.npy", random.random(2503, "f4") * 4), "--in", "B=" + self.save("b.npy", random.random(2503, "f4") + 0.5),
                "--in", "k=3", "--out", "C=c.npy"]

    def test_what_is_raised_computes_the_same(self):
        data = self.data()
        for number, (name, (front, body)) in enumerate(RAISED.items()):
            with self.subTest(name):
                text = HEAD + front + SIGNATURE + POINTERS + body + "}\n"
                kept = self.result("llvm", self.command(text.replace(POINTERS, POINTERS + STAYS)), data, "c.npy")
                for machine in harness.in_turn(("host", "cell"), number):
                    self.assertEqual(self.result("structured", self.command(text, machine), data, "c.npy", "--remarks"), kept, machine)
                self.succeeds("run", *self.command(text, "cell"), *data, "--check")
                if number % harness.less(3, 1):
                    continue
                cxx = HEAD + front + 'extern "C" ' + SIGNATURE + POINTERS + body + "}\n"
                self.assertEqual(self.result("structured", self.command(cxx, "host", "leaf.cpp"), data, "c.npy"), kept)

    def test_blocks_within_arrays(self):
        """Of three dimensions, whose pitches are larger than their extents on host."""
        a = np.random.default_rng(4).random((3, 25, 33), "f4")
        data = ["--in", "A=" + self.save("a.npy", a), "--in", "sum=0.5", "--out", "B=b.npy"]
        text = HEAD + "void Leaf(sqArray_t *A, sqArray_t *B, double *sum) {\n" + STENCIL
        files = {"program": PLANES, "mapping": PLANES_MAPPING}
        kept = self.result("llvm", self.command(text.replace("  double all", STAYS + "  double all"), **files), data, "b.npy")
        for machine in ("host", "cell"):
            self.assertEqual(self.result("structured", self.command(text, machine, **files), data, "b.npy"), kept, machine)
            self.succeeds("run", *self.command(text, machine, **files), *data, "--interpret")
            with open(self.path("b.npy"), "rb") as file:
                self.assertEqual(file.read(), kept)
            # Written out, read again, and checked as a program of the dialect is.
            self.succeeds("run", *self.command(text, machine, **files), *data, "--emit=svm", "-o", "t.mlir")
            self.assertEqual(self.result("structured", ["t.mlir"], data, "b.npy"), kept, machine)

    def test_rows_of_arrays_go_along_in_tiles(self):
        random = np.random.default_rng(5)
        data = []
        for name, shape in (("A", (37, 29)), ("B", (29, 113)), ("C", (37, 113))):
            data += ["--in", f"{name}=" + self.save(name + ".npy", random.random(shape, "f4"))]
        for machine in ("host", "cell"):
            command = self.command(HEAD + THREE_LOOPS, machine, program=PRODUCT, mapping=PRODUCT_MAPPING)
            told = self.succeeds("run", *command, *data, "--out", "C=c.npy", "--remarks").err
            self.assertRegex(told, r"kernel 'Leaf': tiles [2-9]x")
            compiled = np.load(self.path("c.npy"))
            np.testing.assert_allclose(compiled, np.load(self.path("C.npy")) + np.load(self.path("A.npy")) @ np.load(self.path("B.npy")), rtol=1e-5)
            self.succeeds("run", *command, *data, "--out", "C=c.npy", "--check")
            self.assertEqual(np.load(self.path("c.npy")).tobytes(), compiled.tobytes())
        # An element that lies behind its row, where the next one begins.
        over = THREE_LOOPS.replace("C, i, j) = sum", "C, i, j) = *sqElmtSpec2D(Leaf, B, 0, j + (long)B->numElmts[1] * (j > 1000)) + sum")
        command = self.command(HEAD + over, program=PRODUCT, mapping=PRODUCT_MAPPING)
        self.succeeds("run", *command, *data, "--out", "C=c.npy")
        np.testing.assert_allclose(np.load(self.path("c.npy")), compiled + np.load(self.path("B.npy"))[0], rtol=1e-5)

    def test_what_is_kept_is_told(self):
        data = self.data()
        for name, (front, body, says, part) in KEPT.items():
            with self.subTest(name):
                text = HEAD + front + SIGNATURE + POINTERS + body + "}\n"
                told = self.succeeds("check", *self.command(text), "--remarks").err
                self.assertIn("remark[sequoia-not-raised]: external task 'Leaf' runs as LLVM code: " + says, told)
                if part:
                    line = next(number for number, line in enumerate(text.split("\n"), 1) if part in line)
                    self.assertIn(f"leaf.c:{line}:", told)
                else:
                    self.assertIn("t.map:10:", told)
                self.assertNotIn("sequoia-not-raised", self.succeeds("check", *self.command(text)).err)
                self.result("llvm", self.command(text), data, "c.npy")

    def test_structs_are_kept(self):
        program = "struct s { int a; float b; };\nvoid task T(in struct s A[N], out float C[N]);\nvoid task<ext> T::Extern(in struct s A[N], out float C[N]);\n"
        mapping = '#include "host"\ntask T: entrypoint(Leaf) { instance Leaf::Extern(level 0) external("FILE") { } }\n'
        text = HEAD + "void Leaf(sqArray_t *A, sqArray_t *C) { *(float *)sqElmt1D(C, 0) = ((struct s *)sqElmt1D(A, 0))->b; }\n"
        told = self.succeeds("check", *self.command(text, program=program, mapping=mapping), "--remarks").err
        self.assertIn("external task 'Leaf' runs as LLVM code: it takes structs", told)

    def test_files_that_call_each_other(self):
        """One that is raised still has what the other one calls."""
        loop = "for (int i = 0; i < A->numElmts[0]; i++) *(float *)sqElmt1D(B, i) = 2 * helper(*(float *)sqElmt1D(A, i)); }\n"
        self.write("two.c", HEAD + "float helper(float x);\nvoid Two(sqArray_t *A, sqArray_t *B) { " + loop)
        text = HEAD + "float helper(float x) { return x + 3; }\nvoid One(sqArray_t *A, sqArray_t *B) { " + loop
        self.succeeds("run", *self.command(text, program=PAIR, mapping=PAIR_MAPPING), "--size", "N=5", "--in", "A=iota", "--out", "B=b.npy",
                      "--check", "--stats", "json:s.json")
        np.testing.assert_array_equal(np.load(self.path("b.npy")), 4 * np.arange(5) + 18)
        with open(self.path("s.json")) as file:
            self.assertEqual(json.load(file)["paths"], {"One": "structured", "Two": "llvm"})

    def test_an_index_outside(self):
        """Of an element that is asked for by a function of sequoia.h; and what the interpreter sees of other ones."""
        outside = HEAD + SIGNATURE + POINTERS + LOOP + "*(float *)sqElmt1D(C, i + (i == 699)) = a[i];\n}\n"
        for machine in ("host", "cell"):
            self.is_refused("run", *self.command(outside, machine), *self.data(), code="sequoia-index", mentions=["index 700 in dimension 0, which has 700"])
        silent = HEAD + SIGNATURE + POINTERS + LOOP + "c[i] = a[i + (i == 699)];\n}\n"
        self.is_refused("run", *self.command(silent, "cell"), *self.data(), "--check", code="interpret-", mentions=["leaf.c:7"])

    def test_extents_that_indices_in_32_bits_do_not_reach(self):
        program = "void task T(in char A[M][N], inout int k);\nvoid task<ext> T::Extern(in char A[M][N], inout int k);\n"
        mapping = '#include "host"\ntask T: entrypoint(Leaf) { instance Leaf::Extern(level 0) external("FILE") { } }\n'
        text = HEAD + "void Leaf(sqArray_t *A, int *k) { for (int i = 0; i < (int)A->numElmts[1]; i++) *k += *(char *)sqElmt2D(A, 0, i); }\n"
        command = [*self.command(text, program=program, mapping=mapping), "--in", "A=zeros", "--in", "k=0"]
        self.succeeds("run", *command, "--size", "M=3,N=5")
        self.succeeds("run", *command, "--size", f"M={2**30 - 1},N=0")
        self.is_refused("run", *command, "--size", f"M={2**30},N=0", code="sequoia-index-bits", mentions=["'Leaf'", str(2**30)])


if __name__ == "__main__":
    harness.main()
