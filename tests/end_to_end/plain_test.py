"""Entry points as plain C and C++ call them: sizes and pointers, and views of what holds elements contiguously; wrong arguments, which a
handler that returns is told of; several libraries in one program; calls at the same time."""

import ctypes
import os
import subprocess
import threading

import harness
import numpy as np
from build_test import SCALED, describe, random
from harness import ROOT

MATMUL = os.path.join(ROOT, "examples/sequoia/matmul/matmul.sq")
VECTADD = os.path.join(ROOT, "examples/sequoia/vectadd/vectadd.sq")
HBIR = os.path.join(ROOT, "examples/hbir")
INCLUDE = "-I" + os.path.join(ROOT, "include")
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-Wshadow"]
HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)

# Types and extents of many kinds: a struct, a scalar that is written, sizes in sums and products.
KINDS = """struct point { float x; int n; };
void task Kinds(in struct point P[M], in float edge[M + 2], inout float total, in int add, in float scale[K], out long counts[2 * K][M]);
void task<leaf> Kinds::Do(in struct point P[M], in float edge[M + 2], inout float total, in int add, in float scale[K], out long counts[2 * K][M])
{
  for (long k = 0; k < 2 * K; k++)
    for (long i = 0; i < M; i++) counts[k][i] = P[i].n + add + k + (long)scale[0];
  for (long i = 0; i < M; i++) total += P[i].x * edge[i + 2];
}
"""

UNSTATED = """
#v = strided<[?, 1], offset: ?>
module attributes {svm.stage = "logical"} {
  func.func @twice(%x: memref<?x?xf32, #v> {svm.access = "readwrite", svm.name = "x"}) attributes {svm.entry} {
    svm.run @leaf(%x) : (memref<?x?xf32, #v>) -> ()
    return
  }
  svm.kernel @leaf(%x: memref<?x?xf32, #v> {svm.access = "readwrite", svm.name = "x"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?x?xf32, #v>
    %m = memref.dim %x, %c1 : memref<?x?xf32, #v>
    scf.for %i = %c0 to %n step %c1 {
      svm.index %i in %n of "x", 0
      scf.for %j = %c0 to %m step %c1 {
        svm.index %j in %m of "x", 1
        %a = memref.load %x[%i, %j] : memref<?x?xf32, #v>
        %b = arith.addf %a, %a : f32
        memref.store %b, %x[%i, %j] : memref<?x?xf32, #v>
      }
    }
    svm.return
  }
}
"""


class Plain:
    """A built library, loaded, with a handler that remembers errors and returns."""

    def __init__(self, path, entry, *types):
        self.library = ctypes.CDLL(path)
        self.function = self.library[entry]
        self.function.restype, self.function.argtypes = None, types
        self.errors = []
        self.handler = HANDLER(lambda code, message: self.errors.append((code.decode(), message.decode())))
        self.library.strataSetErrorHandler(self.handler)

    def call(self, *arguments):
        self.function(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments])


SIZE, ARRAY = ctypes.c_int64, ctypes.c_void_p


class PlainTest(harness.Case):
    count = 0

    def build(self, program, *options):
        PlainTest.count += 1
        name = f"plain{PlainTest.count}.so"
        self.succeeds("build", program, "-o", name, "--interface", "plain", *options)
        return self.path(name)

    def header(self, path):
        with open(os.path.splitext(path)[0] + ".h") as file:
            return file.read()

    def is_refused_by(self, library, code, *arguments, words=""):
        library.errors.clear()
        library.call(*arguments)
        self.assertEqual([found for found, _ in library.errors], [code], library.errors)
        self.assertIn(words, library.errors[0][1])
        library.errors.clear()

    def matmul(self, machine):
        mapping = os.path.join(os.path.dirname(MATMUL), machine + ".map")
        with open(mapping) as file:
            entry = file.read().split("entrypoint(")[1].split(")")[0]
        return self.build(MATMUL, "--machine", machine, "--map", mapping), entry

    def test_odd_sizes_on_machines(self):
        for machine in ("host", "cell"):
            path, entry = self.matmul(machine)
            self.assertIn(f"void {entry}(int64_t M, int64_t N, int64_t P, float *C, const float *A, const float *B);", self.header(path))
            library = Plain(path, entry, SIZE, SIZE, SIZE, ARRAY, ARRAY, ARRAY)
            for m, n, p in ((1, 1, 1), (130, 70, 90), (7, 129, 3), (64, 64, 64)):
                a, b, c = random(m, p), random(p, n), random(m, n)
                want = c + a.astype(np.float64) @ b
                library.call(m, n, p, c, a, b)
                self.assertEqual(library.errors, [])
                np.testing.assert_allclose(c, want, atol=1e-3)

    def test_wrong_arguments_reach_the_handler(self):
        path, entry = self.matmul("cell")
        library = Plain(path, entry, SIZE, SIZE, SIZE, ARRAY, ARRAY, ARRAY)
        a, b, c = random(8, 8), random(8, 8), np.zeros((8, 8), np.float32)
        self.is_refused_by(library, "entry-null-argument", 8, 8, 8, c, None, b, words="'A'")
        self.is_refused_by(library, "entry-null-argument", 8, 8, 8, None, a, b, words="'C'")
        self.is_refused_by(library, "entry-negative-size", 8, -1, 8, c, a, b, words=f"size 'N' of {entry} is -1")
        self.is_refused_by(library, "entry-size-too-large", 8, 2 ** 60, 8, c, a, b, words="size 'N'")
        self.is_refused_by(library, "entry-size-too-large", 2 ** 40, 8, 2 ** 40, c, a, b, words="larger than what can be addressed")
        self.is_refused_by(library, "entry-misaligned", 8, 8, 8, c, a.ctypes.data + 1, b, words="'A'")
        self.is_refused_by(library, "entry-overlap", 8, 8, 8, a, a, b, words="share memory")
        self.is_refused_by(library, "entry-overlap", 4, 4, 4, c, c.ctypes.data + 60, b, words="share memory")
        self.assertFalse(c.any(), "nothing is written")
        # Behind each other they are apart, and what is empty is nowhere.
        library.call(4, 4, 4, c, c.ctypes.data + 64, b)
        library.call(0, 8, 8, None, None, b)
        self.assertEqual(library.errors, [])

    def test_kinds_of_arguments(self):
        path = self.build(self.write("kinds.sq", KINDS), "--machine", "host")
        self.assertIn("void Kinds_Do(int64_t M, int64_t K, const struct point *P, const float *edge, float *total, int add, const float *scale, long *counts);",
                      self.header(path))
        library = Plain(path, "Kinds_Do", SIZE, SIZE, ARRAY, ARRAY, ARRAY, ctypes.c_int, ARRAY, ARRAY)
        points = np.zeros(5, np.dtype([("x", "f4"), ("n", "i4")]))
        points["x"], points["n"] = np.arange(5) + 1, np.arange(5)
        edge, total, counts = np.arange(7, dtype=np.float32), np.array(1, np.float32), np.zeros((6, 5), np.int64)
        scale = np.zeros(3, np.float32)
        library.call(5, 3, points, edge, total, 10, scale, counts)
        self.assertEqual(library.errors, [])
        self.assertEqual(float(total), 1 + float((points["x"] * edge[2:]).sum()))
        np.testing.assert_array_equal(counts, np.arange(5) + 10 + np.arange(6)[:, None])
        self.is_refused_by(library, "entry-null-argument", 5, 3, points, edge, None, 10, scale, counts, words="'total'")
        self.is_refused_by(library, "entry-overlap", 5, 3, points, edge, edge, 10, scale, counts, words="'total'")
        # Without elements there need be no memory; the two that every edge has are there.
        library.call(0, 0, None, edge, total, 0, None, None)
        self.assertEqual(library.errors, [])
        self.compiles_as_c_and_cxx(path)

    def compiles_as_c_and_cxx(self, path):
        name = os.path.splitext(os.path.basename(path))[0] + ".h"
        self.write("use.c", f'#include "{name}"\nint main(void) {{ return 0; }}\n')
        self.write("use.cpp", f'#include "{name}"\nint main() {{ return 0; }}\n')
        for compiler in ("gcc -std=c11 use.c", "clang-19 -std=c11 use.c", "g++ -std=c++11 use.cpp", "g++ -std=c++20 use.cpp", "clang++-19 -std=c++20 use.cpp"):
            subprocess.run(compiler.split() + WARNINGS + [INCLUDE, "-fsyntax-only"], cwd=self.folder, check=True)

    def test_programs_in_other_notations_are_plain_without_asking(self):
        self.succeeds("build", os.path.join(HBIR, "vectadd/vectadd.hbir"), "-o", "hbir.so", "--size", "n=777")
        header = self.header(self.path("hbir.so"))
        self.assertIn("void vectadd(const float *A, const float *B, float *C);", header)
        self.assertIn("C: inout, float[777]", header)
        library = Plain(self.path("hbir.so"), "vectadd", ARRAY, ARRAY, ARRAY)
        a, b, c = random(777), random(777)[::-1].copy(), np.zeros(777, np.float32)
        library.call(a, b, c)
        self.assertEqual(library.errors, [])
        np.testing.assert_array_equal(c, a + b)
        self.is_refused_by(library, "entry-null-argument", a, None, c, words="'B'")
        self.is_refused_by(library, "entry-overlap", c, b, c)

        self.succeeds("build", self.write("add.mlir", SCALED), "-o", "add.so")
        self.assertIn("void scaled(int64_t N, const float *x, float k, float *y);", self.header(self.path("add.so")))
        library = Plain(self.path("add.so"), "scaled", SIZE, ARRAY, ctypes.c_float, ARRAY)
        library.call(100, a, 2.5, c)
        self.assertEqual(library.errors, [])
        np.testing.assert_array_equal(c[:100], a[:100] * np.float32(2.5))

        # A size that is no extent by itself stands before the views, too.
        self.succeeds("build", self.write("double.mlir", SCALED.replace("()[n] -> (n)", "()[n] -> (n * 2)")), "-o", "double.so")
        done = self.run_built("main.cpp", DOUBLE, "double.so")
        self.assertEqual((done.returncode, done.stdout), (0, "6\nentry-size-mismatch dimension 0 of array 'x' of scaled has 4 elements; it is to have N * 2 = 2\n"),
                         done.stderr)

        # Extents that no size states are the call's.
        self.succeeds("build", self.write("twice.mlir", UNSTATED), "-o", "twice.so")
        self.assertIn("void twice(int64_t x_extent0, int64_t x_extent1, float *x);", self.header(self.path("twice.so")))
        library = Plain(self.path("twice.so"), "twice", SIZE, SIZE, ARRAY)
        x = random(5, 3)
        want = x + x
        library.call(5, 3, x)
        self.assertEqual(library.errors, [])
        np.testing.assert_array_equal(x, want)
        self.is_refused_by(library, "entry-negative-size", -5, 3, x, words="extent 0 of array 'x' of twice is -5")
        self.compiles_as_c_and_cxx(self.path("twice.so"))

    def test_functions_in_c_report_errors(self):
        self.write("far.hbir", HBIR_WITH_FUNCTION)
        self.write("step.c", '#include "strata.h"\nint step(int i) { if (i < 0) strataRaiseError("far-negative", "below 0"); return i + 1; }\n')
        self.succeeds("build", "far.hbir", "step.c", "-o", "far.so")
        library = Plain(self.path("far.so"), "far", ARRAY)
        x = np.arange(8, dtype=np.int32)
        library.call(x)
        self.assertEqual(library.errors, [])
        np.testing.assert_array_equal(x, np.arange(8) + 1)
        self.assertEqual(self.strata("run", "far.hbir", "step.c", "--in", "x=iota").status, 0)

    def test_what_is_not_so(self):
        self.is_refused("build", VECTADD, "-o", "x.so", "--interface", "fortran", code="driver-usage", mentions="fortran")
        self.is_refused("run", VECTADD, "--interface", "plain", code="driver-usage", mentions="main")
        for name, code in (("strataSetErrorHandler", "dialect-error"), ("strata_move", "dialect-error"), ("sqAllocArray1D", "build-entry-name")):
            program = self.write("name.mlir", SCALED.replace("@scaled", "@" + name))
            self.is_refused("build", program, "-o", "x.so", code=code, mentions="the runtime's")
        self.succeeds("build", self.write("name.mlir", SCALED.replace("@scaled", "@square")), "-o", "square.so")
        self.is_refused("build", "name.mlir", "-o", "x.so", "--interface", "sequoia", code="build-entry-name", mentions="'sq'")

    def test_sequoias_arrays_are_what_they_were(self):
        self.succeeds("build", VECTADD, "-o", "add.so", "--machine", "host")
        self.assertIn("void AddVectors_Split(sqArray_t *A, sqArray_t *B, sqArray_t *C);", self.header(self.path("add.so")))
        self.succeeds("build", self.write("add.mlir", SCALED), "-o", "scaled.so", "--interface", "sequoia")
        self.assertIn("void scaled(sqArray_t *x, float k, sqArray_t *y);", self.header(self.path("scaled.so")))

    def test_on_a_disk(self):
        path = self.build(VECTADD, "--machine", "cell-disk")
        library = Plain(path, "AddVectors_Split", SIZE, ARRAY, ARRAY, ARRAY)
        for count in (0, 1, 100003):
            a, b, c = random(count), random(count)[::-1].copy(), np.full(count, 9, np.float32)
            library.call(count, a, b, c)
            self.assertEqual(library.errors, [])
            np.testing.assert_array_equal(c, a + b)

    def test_calls_at_once(self):
        for machine in ("host", "cell"):
            library = Plain(self.build(VECTADD, "--machine", machine), "AddVectors_Split", SIZE, ARRAY, ARRAY, ARRAY)
            n = 200000
            a, results = random(n), [np.zeros(n, np.float32) for _ in range(2)]
            threads = [threading.Thread(target=lambda c=c, k=k: [library.call(n - k, a, a, c) for _ in range(8)]) for k, c in enumerate(results)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(library.errors, [])
            for k, c in enumerate(results):
                np.testing.assert_array_equal(c[:n - k], (a + a)[:n - k])

    # ---- programs around ----

    def run_built(self, source, main, *files, flags=()):
        compiler = ["clang++-19", "-std=c++20"] if source.endswith(".cpp") else ["clang-19", "-std=c11"]
        self.write(source, main)
        subprocess.run([*compiler, "-O1", *WARNINGS, INCLUDE, source, *files, *flags, "-o", "app"], cwd=self.folder, check=True)
        return subprocess.run(["./app"], cwd=self.folder, env=dict(os.environ, LD_LIBRARY_PATH=self.folder), capture_output=True, text=True, timeout=600)

    def archive(self):
        libraries = os.path.join(os.path.dirname(os.path.dirname(harness.options.strata)), "lib")
        return [os.path.join(libraries, "libstrata.a"), "-lstdc++", "-lm", "-lpthread"]

    def test_plain_c(self):
        for output in ("add.o", "add.a", "add.so"):
            self.succeeds("build", VECTADD, "-o", output, "--interface", "plain", "--machine", "cell")
            done = self.run_built("main.c", MAIN_C, output, flags=() if output == "add.so" else self.archive())
            self.assertEqual((done.returncode, done.stdout), (0, "fine\nentry-overlap 0\n"), done.stderr)
        done = self.run_built("main.c", MAIN_C.replace("strataSetErrorHandler(remember);", "(void)remember;"), "add.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("[entry-overlap]", done.stderr)

    def test_a_program_with_its_main(self):
        self.write("main.c", MAIN_C.replace("add.h", "vectadd.h"))
        result = self.strata("run", VECTADD, "main.c", "--interface", "plain", "--machine", "cell")
        self.assertEqual((result.status, result.out), (0, "fine\nentry-overlap 0\n"), str(result))
        self.write("hbir.c", '#include "vectadd.h"\n#include <stdio.h>\nint main(void) {\n  static float a[1000], b[1000], c[1000];\n'
                   "  a[999] = b[999] = 2;\n  vectadd(a, b, c);\n  printf(\"%g\\n\", c[999]);\n  return 0;\n}\n")
        self.succeeds("build", os.path.join(HBIR, "vectadd/vectadd.hbir"), "--main", "hbir.c", "-o", "app")
        self.assertEqual(subprocess.run([self.path("app")], capture_output=True, text=True, timeout=600).stdout, "4\n")

    def test_the_first_programs_of_the_page(self):
        with open(os.path.join(ROOT, "docs/from-c.md")) as file:
            page = file.read().split("\n")
        for language, name, says in (("C", "main.c", "2997\n"), ("C++", "main.cpp", "3\n")):
            begin = page.index(f"## A first program in {language}")
            text = page[begin + 1:next(at for at in range(begin + 1, len(page)) if page[at].startswith("## "))]
            shown = [line[4:] if line.startswith("    ") else None if line else "" for line in text]
            program = shown[next(at for at, line in enumerate(shown) if line and line.startswith("#include")):]
            program = program[:next(at for at, line in enumerate(program) if line == "}") + 1]
            command = next(line for line in shown if line and line.startswith("strata run ")).split()
            self.write(name, "\n".join(program) + "\n")
            result = self.strata("run", os.path.join(ROOT, command[2]), *command[3:])
            self.assertEqual((result.status, result.out), (0, says), str(result))

    def test_views_in_cxx(self):
        """Everything contiguous is an array; what is not, and what does not agree, is an error that the handler returns from."""
        self.write("rows.sq", ROWS)
        self.succeeds("build", "rows.sq", "-o", "rows.so", "--interface", "plain", "--machine", "cell")
        self.succeeds("build", "rows.sq", "-o", "rows.o", "--interface", "plain", "--machine", "host")
        for flags in ((), ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")):
            done = self.run_built("main.cpp", MAIN_CXX, "rows.so", flags=flags)
            self.assertEqual((done.returncode, done.stdout), (0, MAIN_CXX_SAYS), done.stderr)
        subprocess.run(["g++", "-std=c++20", "-O1", *WARNINGS, INCLUDE, "main.cpp", "rows.o", *self.archive(), "-o", "app"], cwd=self.folder, check=True)
        done = subprocess.run(["./app"], cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout), (0, MAIN_CXX_SAYS), done.stderr)

    def test_two_libraries_and_both_ways_in_one_program(self):
        """One handler is told of both libraries' errors, also of one that ends the process in the library that comes second."""
        take = self.write("take.sq", TAKE)
        self.succeeds("build", VECTADD, "-o", "add.so", "--machine", "host", "--interface", "plain")
        self.succeeds("build", take, "-o", "take.so", "--machine", "host")
        self.succeeds("build", VECTADD, "-o", "add.o", "--machine", "cell", "--interface", "plain")
        self.succeeds("build", take, "-o", "take.o", "--machine", "host")
        says = "entry-overlap 0\nsequoia-overlap 0\n7\nindex-out-of-range 1\n"
        for libraries in (("add.so", "take.so"), ("take.so", "add.so")):
            done = self.run_built("main.c", BOTH, *libraries)
            self.assertEqual((done.returncode, done.stdout), (1, says), done.stderr)
            self.assertNotIn("error:", done.stderr)
        done = self.run_built("main.c", BOTH, "add.o", "take.o", *self.archive())
        self.assertEqual((done.returncode, done.stdout), (1, says), done.stderr)
        self.write("two.cpp", '#include "take.h"\n#include "add.h"\nint main() { return 0; }\n')
        for compiler in ("g++", "clang++-19"):
            subprocess.run([compiler, "-std=c++20", *WARNINGS, INCLUDE, "-fsyntax-only", "two.cpp"], cwd=self.folder, check=True)


HBIR_WITH_FUNCTION = """target { memory g[1] { size 64M; width 8B; }; tile t[2] { memory l { size 256K; width 8B; }; }; }
config { group all[2] { tile target.t[x]; } }
data { x : int[8] = block[target.t.x_max] { target.t.l[x]; chunked; device; }; }
code {
  extern step(i : int) : int;
  config.all[p] {
    for (int i = p * 4; i < p * 4 + 4; i = i + 1) { x[i] = step(x[i]); }
  }
}
"""

ROWS = """void task Rows(in float A[M][N], in float weights[N], out float sums[M], inout float total);
void task<leaf> Rows::Do(in float A[M][N], in float weights[N], out float sums[M], inout float total)
{
  for (long i = 0; i < M; i++) {
    sums[i] = 0;
    for (long j = 0; j < N; j++) sums[i] += A[i][j] * weights[j];
    total += sums[i];
  }
}
"""

TAKE = """void task Take(in float A[N], in int I[M], out float B[M]);
void task<leaf> Take::Do(in float A[N], in int I[M], out float B[M]) { for (long i = 0; i < M; i++) B[i] = A[I[i]]; }
"""

DOUBLE = """
#include "double.h"
#include <array>
#include <cstdio>
int main() {
  std::array<float, 4> x{1, 2, 3, 4}, y{};
  scaled(2, x, 2, y);
  std::printf("%g\\n", static_cast<double>(y[2]));
  strataSetErrorHandler([](const char *code, const char *message) { std::printf("%s %s\\n", code, message); });
  scaled(1, x, 2, y);
}
"""

MAIN_C = """
#include "add.h"
#include <stdio.h>
static void remember(const char *code, const char *message) { printf("%s %d\\n", code, strataIsFatal() + (*message == 0)); }
int main(void) {
  static float a[1003], b[1003], c[1003];
  for (int i = 0; i < 1003; ++i) {
    a[i] = (float)i;
    b[i] = (float)(2 * i);
  }
  strataSetErrorHandler(remember);
  AddVectors_Split(1003, a, b, c);
  for (int i = 0; i < 1003; ++i)
    if (c[i] != (float)(3 * i))
      return 2;
  puts("fine");
  fflush(stdout);
  AddVectors_Split(1000, a, b, a + 3);
  return 0;
}
"""

BOTH = """
#include "add.h"
#include "take.h"
#include <stdio.h>
static void remember(const char *code, const char *message) { (void)message; printf("%s %d\\n", code, strataIsFatal()); fflush(stdout); }
int main(void) {
  static float a[4] = {5, 6, 7, 8}, c[4];
  static int i[4] = {2, 0, 0, 0};
  strataSetErrorHandler(remember);
  AddVectors_Split(4, a, a, a);
  sqArray_t A = {1, 0, {0}, {4}, {4}, sizeof(float), a}, I = {1, 0, {0}, {4}, {4}, sizeof(int), i}, B = {1, 0, {0}, {4}, {4}, sizeof(float), c};
  Take_Do(&A, &I, &A);
  Take_Do(&A, &I, &B);
  printf("%g\\n", c[0]);
  fflush(stdout);
  i[3] = 9;
  Take_Do(&A, &I, &B);
  return 0;
}
"""

MAIN_CXX = """
#include "rows.h"
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <vector>

static std::string last;
static void remember(const char *code, const char *message) { last = std::string(code) + ": " + message; }

// As std::mdspan is.
struct Matrix {
  const float *elements;
  std::array<std::size_t, 2> extents, strides;
  static constexpr std::size_t rank() { return 2; }
  const float *data_handle() const { return elements; }
  std::size_t extent(std::size_t d) const { return extents[d]; }
  std::size_t stride(std::size_t d) const { return strides[d]; }
};

static void say(const char *what, float total) {
  std::printf("%s %g%s%s\\n", what, total, last.empty() ? "" : " ", last.c_str());
  last.clear();
}

int main() {
  strataSetErrorHandler(remember);
  std::vector<float> a(15), weights{1, 2, 3, 4, 5}, sums(3);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<float>(i);
  float total = 0;
  Rows_Do(3, 5, a.data(), weights.data(), sums.data(), &total);
  say("pointers", total);
  auto with = [&](const char *what, auto &&...arrays) {
    total = 0;
    Rows_Do(arrays..., &total);
    say(what, total);
  };
  with("vector", strata::View<const float, 2>(a, 3, 5), weights, sums);
  with("mdspan", Matrix{a.data(), {3, 5}, {5, 1}}, weights, sums);
  std::array<std::array<float, 5>, 3> nested{};
  nested[2] = {1, 1, 1, 1, 1};
  with("array", nested, std::span<const float>(weights), sums);
  const float c[3][5] = {{1}, {0, 1}, {0, 0, 1}};
  with("c array", c, weights, std::span(sums));
  std::vector<std::array<float, 5>> rows(3, nested[2]);
  with("vector of arrays", rows, weights, strata::View<float, 1>(sums));
  total = 0;
  Rows_Do({a.data(), 3, 5}, weights, sums, &total);
  say("braces", total);
  with("empty", strata::View<float, 2>(nullptr, 0, 5), weights, std::vector<float>());
  // What is wrong.
  with("columns", Matrix{a.data(), {3, 5}, {1, 3}}, weights, sums);
  with("gaps", Matrix{a.data(), {2, 5}, {6, 1}}, weights, sums);
  with("count", strata::View<const float, 2>(a, 3, 4), weights, sums);
  with("sizes", strata::View<const float, 2>(a, 5, 3), weights, sums);
  with("sums", strata::View<const float, 2>(a, 3, 5), weights, std::span(sums).first(2));
  with("overlap", strata::View<const float, 2>(a, 3, 5), weights, std::span(a).first(3));
  with("null", strata::View<const float, 2>(nullptr, 3, 5), weights, sums);
  with("negative", strata::View<const float, 2>(a.data(), -3, 5), weights, strata::View<float, 1>(sums.data(), -3));
  // The last one has changed nothing, and calls may come at once.
  std::vector<float> results(2);
  std::vector<std::thread> threads;
  for (float &result : results)
    threads.emplace_back([&] {
      std::vector<float> own(3);
      for (int i = 0; i < 100; ++i) {
        float sum = 0;
        Rows_Do({a, 3, 5}, weights, own, &sum);
        result += sum;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  say("threads", results[0] == results[1] ? results[0] : -1);
}
"""

MAIN_CXX_SAYS = """pointers 345
vector 345
mdspan 345
array 15
c array 6
vector of arrays 45
braces 345
empty 0
columns 0 entry-wrong-layout: array 'A' of Rows_Do does not lie in C's order without gaps
gaps 0 entry-wrong-layout: array 'A' of Rows_Do does not lie in C's order without gaps
count 0 entry-size-mismatch: array 'A' of Rows_Do is given 15 elements, which its extents do not make
sizes 0 entry-size-mismatch: dimension 0 of array 'weights' of Rows_Do has 5 elements; it is to have N = 3
sums 0 entry-size-mismatch: dimension 0 of array 'sums' of Rows_Do has 2 elements; it is to have M = 3
overlap 0 entry-overlap: arguments 'A' and 'sums' of Rows_Do share memory, and one of them is written
null 0 entry-null-argument: array 'A' of Rows_Do is a null pointer
negative 0 entry-negative-size: size 'M' of Rows_Do is -3
threads 34500
"""

if __name__ == "__main__":
    harness.main()
