"""Entry points as C and C++ programs use them: layouts of arrays, preconditions, overlap, errors that a handler turns into a jump,
calls at the same time on a machine with local stores; and programs with a main, built and run by one command."""

import ctypes
import itertools
import os
import shutil
import subprocess
import threading

import harness
import numpy as np
from build_test import Library, SqArray, describe, random
from harness import ROOT

VECTADD = os.path.join(ROOT, "examples/sequoia/vectadd/vectadd.sq")
MATMUL = os.path.join(ROOT, "examples/sequoia/matmul/matmul.sq")

BOX = """
void task Box(in float A[K][M][N], inout float B[K][M][N], inout float total, in int add);
void task<leaf> Box::Do(in float A[K][M][N], inout float B[K][M][N], inout float total, in int add)
{
  for (long k = 0; k < K; k++)
    for (long m = 0; m < M; m++)
      for (long n = 0; n < N; n++) {
        B[k][m][n] += 2 * A[k][m][n] + add;
        total += A[k][m][n];
      }
}
"""


BOX_ON_DISK = """
void task Box(in float A[K][M][N], inout float B[K][M][N], in int add);
void task<inner> Box::Planes(in float A[K][M][N], inout float B[K][M][N], in int add)
{
  mapseq (long k = 0 : K) { Box(A[k;1][0:M;][0:N;], B[k;1][0:M;][0:N;], add); }
}
void task<leaf> Box::Do(in float A[K][M][N], inout float B[K][M][N], in int add)
{
  for (long k = 0; k < K; k++)
    for (long m = 0; m < M; m++)
      for (long n = 0; n < N; n++)
        B[k][m][n] += 2 * A[k][m][n] + add;
}
"""

BOX_ON_DISK_MAP = """#include "cell-disk"
task Box : entrypoint(Top) {
  instance Top::Planes(level 3) {
    data(level 3) { array A() { elements <= 9, 9, 9; } }
    control(level 3) { callsite Box() { target Low() { } } }
  }
  instance Low::Do(level 0) { }
}
"""


def ordered(shape, contiguous, pad=0):
    """A physical array in which dimension `contiguous` varies fastest and the others are in row-major order, a box of it as NumPy sees it,
    and its description."""
    rank = len(shape)
    order = [d for d in range(rank) if d != contiguous] + [contiguous]
    pitch = [n + 2 * pad for n in shape]
    physical = np.zeros([pitch[d] for d in order], np.float32)
    view = np.transpose(physical, np.argsort(order))[tuple(slice(pad, pad + n) for n in shape)]
    array = SqArray(numDims=rank, contigDim=contiguous, elmtSize=4, ptr=physical.ctypes.data)
    for d in range(rank):
        array.offset[d], array.pitch[d], array.numElmts[d] = pad, pitch[d], shape[d]
    return physical, view, array


class FromC(harness.Case):
    count = 0

    def load(self, program, entry, *options):
        FromC.count += 1
        name = f"from{FromC.count}.so"
        self.succeeds("build", program, "-o", name, *options)
        return Library(self.path(name), entry)

    def test_arrays_in_any_order(self):
        library = self.load(self.write("box.sq", BOX), "Box_Do", "--machine", "host")
        shape = (3, 5, 7)
        for first, second, pad in itertools.product(range(3), range(3), (0, 2)):
            with self.subTest(A=first, B=second, pad=pad):
                a_all, a, a_box = ordered(shape, first, pad)
                b_all, b, b_box = ordered(shape, second, pad)
                a_all[:], b_all[:] = random(*a_all.shape), random(*b_all.shape)
                want, outside = b_all.copy(), b + 2 * a + 3
                total = ctypes.c_float(0)
                library.call(a_box, b_box, ctypes.byref(total), 3)
                self.assertEqual(library.errors, [])
                np.testing.assert_allclose(b, outside, atol=1e-5)
                self.assertAlmostEqual(total.value, float(a.sum()), delta=1e-3)
                # Nothing beside the box has changed.
                b[:] = 0
                changed = b_all.copy()
                b_all[:] = want
                b[:] = 0
                np.testing.assert_array_equal(changed, b_all)

    def test_the_whole_product_in_fortrans_order(self):
        for machine in ("host", "cell"):
            folder = os.path.dirname(MATMUL)
            with open(os.path.join(folder, machine + ".map")) as file:
                entry = file.read().split("entrypoint(")[1].split(")")[0]
            library = self.load(MATMUL, entry, "--machine", machine, "--map", os.path.join(folder, machine + ".map"))
            _, a, a_box = ordered((130, 70), 0, 1)
            _, b, b_box = ordered((70, 90), 1)
            _, c, c_box = ordered((130, 90), 0, 3)
            a[:], b[:] = random(130, 70), random(70, 90)
            library.call(c_box, a_box, b_box)
            self.assertEqual(library.errors, [])
            np.testing.assert_allclose(c, a.astype(np.float64) @ b, atol=1e-3)

    def test_empty_arrays_in_any_order(self):
        library = self.load(self.write("box.sq", BOX), "Box_Do", "--machine", "host")
        total = ctypes.c_float(7)
        for contiguous in range(3):
            _, _, a = ordered((3, 0, 7), contiguous)
            _, _, b = ordered((3, 0, 7), 2 - contiguous)
            library.call(a, b, ctypes.byref(total), 0)
        self.assertEqual((library.errors, total.value), ([], 7))

    def is_refused_by(self, library, code, *arguments, words=""):
        library.errors.clear()
        library.call(*arguments)
        self.assertEqual([found for found, _ in library.errors], [code], library.errors)
        self.assertIn(words, library.errors[0][1])
        library.errors.clear()

    def test_preconditions_of_the_entry(self):
        mapping = self.write("pre.map", """#include "cell"
            task AddVectors: entrypoint(Top) {
              instance Top::Split(level 2) {
                tunable block = 64;
                data(level 2) { array A() { elements <= 1000; } array B() { elements >= 10; } }
                control(level 2) { loop i(level 0) { } callsite AddVectors() { target Low() { } } }
              }
              instance Low::Add(level 0) { }
            }""")
        library = self.load(VECTADD, "Top", "--map", mapping)
        for n, code in ((1000, ""), (1001, "sequoia-precondition"), (9, "sequoia-precondition"), (10, "")):
            a, c = random(n), np.zeros(n, np.float32)
            if code:
                self.is_refused_by(library, code, describe(a), describe(a), describe(c), words=f"is given {n}")
                self.assertFalse(c.any())
            else:
                library.call(describe(a), describe(a), describe(c))
                np.testing.assert_array_equal(c, a + a)

    def test_overlap_is_found_and_nothing_else(self):
        """Boxes of one physical matrix, against what sets of their elements say."""
        library = self.load(self.write("box.sq", BOX.replace("[K][M][N]", "[M][N]").replace("for (long k = 0; k < K; k++)", "")
                                       .replace("[k]", "")), "Box_Do", "--machine", "host")
        grid = np.random.default_rng(3)
        refused = 0
        for _ in range(300):
            pitch = grid.integers(3, 9, 2)
            memory = np.zeros(int(pitch.prod()) + 40, np.float32)

            def box():
                extent = [int(grid.integers(1, p + 1)) for p in pitch]
                offset = [int(grid.integers(0, p - n + 1)) for p, n in zip(pitch, extent)]
                return offset, extent

            (ao, ae), (bo, _) = box(), box()
            be = ae
            bo = [min(o, int(p) - n) for o, p, n in zip(bo, pitch, be)]
            shift = int(grid.integers(0, 30))
            a = describe(memory[:pitch.prod()].reshape(pitch), ao, ae)
            b = describe(memory[shift:shift + pitch.prod()].reshape(pitch), bo, be)
            inside = {(ao[0] + i) * int(pitch[1]) + ao[1] + j for i in range(ae[0]) for j in range(ae[1])}
            other = {shift + (bo[0] + i) * int(pitch[1]) + bo[1] + j for i in range(be[0]) for j in range(be[1])}
            library.errors.clear()
            library.call(a, b, ctypes.byref(ctypes.c_float(0)), 0)
            self.assertEqual([code for code, _ in library.errors], ["sequoia-overlap"] if inside & other else [], (pitch, ao, ae, bo, be, shift))
            refused += bool(inside & other)
        self.assertGreater(refused, 30)
        self.assertLess(refused, 270)
        # A scalar that is written, within an array.
        memory = np.zeros((4, 4), np.float32)
        self.is_refused_by(library, "sequoia-overlap", describe(memory), describe(np.zeros((4, 4), np.float32)),
                           ctypes.c_void_p(memory.ctypes.data + 20), 0, words="'total'")
        # Between the rows of a box there is room.
        library.call(describe(memory, (0, 0), (4, 2)), describe(np.zeros((4, 2), np.float32)), ctypes.c_void_p(memory.ctypes.data + 12), 0)
        self.assertEqual(library.errors, [])
        self.is_refused_by(library, "sequoia-misaligned", describe(memory), describe(np.zeros((4, 4), np.float32)),
                           ctypes.c_void_p(memory.ctypes.data + 2), 0)

    def test_calls_at_once_on_a_machine_with_stores(self):
        library = self.load(VECTADD, "AddVectors_Split", "--map", os.path.join(os.path.dirname(VECTADD), "cell.map"))
        n = 300000
        inputs = [random(n) * (k + 1) for k in range(4)]
        results = [np.zeros(n, np.float32) for _ in inputs]

        def work(a, c):
            for _ in range(8):
                library.call(describe(a), describe(inputs[0]), describe(c))

        threads = [threading.Thread(target=work, args=pair) for pair in zip(inputs, results)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(library.errors, [])
        for a, c in zip(inputs, results):
            np.testing.assert_array_equal(c, a + inputs[0])

    def test_structs_in_the_header(self):
        program = self.write("points.sq", "struct point { float at[3]; int near[2][4]; char kind; };\n"
                             "void task Move(inout struct point p[N], in struct point by);\n"
                             "void task<leaf> Move::Do(inout struct point p[N], in struct point by)\n"
                             "{ for (long i = 0; i < N; i++) { p[i].at[2] += by.at[1]; p[i].near[1][3] = by.near[0][0]; } }\n")
        self.write("main.c", POINTS)
        self.succeeds("build", program, "--main", "main.c", "-o", "app", "--machine", "host")
        done = subprocess.run([self.path("app")], capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout), (0, "3.5 9\n"), done.stderr)

    def test_types_in_headers_are_the_programs(self):
        """Unions are unions, typedefs name what they name, and headers of several programs go together in C and C++."""
        for name, text in RECORDS.items():
            self.succeeds("build", self.write(name + ".sq", text), "--machine", "host", "--werror", "-o", name + ".so")
        include = "-I" + os.path.join(ROOT, "include")
        self.write("use.c", RECORDS_C)
        self.write("use.cpp", RECORDS_CXX)
        for compiler in ("gcc -std=c11 use.c", "clang-19 -std=c11 use.c", "g++ -std=c++20 use.cpp", "clang++-19 -std=c++20 use.cpp"):
            subprocess.run(compiler.split() + ["-pedantic", "-Wall", "-Wextra", "-Werror", include, "-fsyntax-only"], cwd=self.folder, check=True)
        subprocess.run(["clang-19", "use.c", "first.so", "second.so", include, "-o", "use"], cwd=self.folder, check=True)
        done = subprocess.run(["./use"], cwd=self.folder, env=dict(os.environ, LD_LIBRARY_PATH=self.folder), capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout), (0, "9.5 3 2.5 7\n"), done.stderr)
        # One name for two types is said where the headers meet.
        self.write("clash.c", '#include "first.h"\n#include "other.h"\n')
        clash = subprocess.run(["clang-19", include, "-fsyntax-only", "clash.c"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(clash.returncode, 1)
        self.assertIn("the header of another program defines 'struct point' differently", clash.stderr)

    def test_every_type_and_enumerator_is_in_the_header(self):
        """Also those that no entry point takes, and those whose names are keywords of C++ or types of the C library."""
        program = self.write("names.sq", NAMES)
        self.succeeds("build", program, "--machine", "host", "--werror", "-o", "names.so")
        include = "-I" + os.path.join(ROOT, "include")
        self.write("names_use.c", NAMES_C)
        self.write("names_use.cpp", NAMES_C)
        for compiler in ("gcc -std=c11 names_use.c", "clang-19 -std=c11 names_use.c", "g++ -std=c++20 names_use.cpp", "clang++-19 -std=c++20 names_use.cpp"):
            subprocess.run(compiler.split() + ["-pedantic", "-Wall", "-Wextra", "-Werror", include, "names.so", "-o", "names_use"],
                           cwd=self.folder, check=True)
            done = subprocess.run(["./names_use"], cwd=self.folder, env=dict(os.environ, LD_LIBRARY_PATH=self.folder), capture_output=True, text=True, timeout=600)
            self.assertEqual((done.returncode, done.stdout), (0, "1234 5 6 -7 8\n"), done.stderr)

    def test_a_struct_by_value_is_built_without_warnings(self):
        """What the compiler notes of arguments for itself is gone before the code is LLVM's."""
        head = "struct pair { int a; float b; };\nvoid task L(inout int Z[N], in struct pair x);\n"
        leaf = "void task<leaf> %s::K(inout int Z[N], in struct pair x) { for (long i = 0; i < N; i++) Z[i] += x.a; }\n"
        inner = "void task M(inout int Z[N], in struct pair x);\nvoid task<inner> L::K(inout int Z[N], in struct pair x) { M(Z, x); }\n"
        pair = type("Pair", (ctypes.Structure,), {"_fields_": [("a", ctypes.c_int), ("b", ctypes.c_float)]})
        for name, text in (("leaf", head + leaf % "L"), ("inner", head + inner + leaf % "M")):
            with self.subTest(name):
                library = self.load(self.write(name + ".sq", text), "L_K", "--machine", "host", "--werror")
                numbers = np.arange(5, dtype=np.int32)
                library.function.argtypes = [ctypes.c_void_p, pair]
                library.function(ctypes.addressof(described := describe(numbers)), pair(7, 0.5))
                self.assertEqual(library.errors, [])
                np.testing.assert_array_equal(numbers, np.arange(5) + 7)

    def test_large_structs_in_any_order(self):
        program = self.write("big.sq", "struct big { float v[100]; int n; };\nvoid task Add(in struct big A[M][N], inout struct big B[M][N]);\n"
                             "void task<leaf> Add::Do(in struct big A[M][N], inout struct big B[M][N])\n"
                             "{ for (long i = 0; i < M; i++) for (long j = 0; j < N; j++)\n"
                             "    { B[i][j].v[99] += A[i][j].v[99] + j; B[i][j].n = A[i][j].n + i; } }\n")
        library = self.load(program, "Add_Do", "--machine", "host")
        big = np.dtype([("v", "f4", 100), ("n", "i4")])
        for first, second in itertools.product(range(2), range(2)):
            shape = (3, 4)
            arrays, described = [], []
            for contiguous in (first, second):
                physical = np.zeros(shape if contiguous else shape[::-1], big)
                view = physical if contiguous else physical.T
                view["v"][..., 99], view["n"] = random(*shape), np.arange(12).reshape(shape)
                array = describe(physical)
                array.contigDim = contiguous
                for d in range(2):
                    array.pitch[d] = array.numElmts[d] = shape[d]
                arrays.append((physical, view))
                described.append(array)
            (_, a), (_, b) = arrays
            want = b["v"][..., 99] + a["v"][..., 99] + np.arange(4)
            library.call(*described)
            self.assertEqual(library.errors, [])
            np.testing.assert_allclose(b["v"][..., 99], want, atol=1e-5)
            np.testing.assert_array_equal(b["n"], a["n"] + np.arange(3)[:, None])
        self.is_refused_by(library, "sequoia-overlap", described[0], described[0])

    # ---- programs with a main ----

    def test_a_handler_that_jumps(self):
        self.write("main.c", JUMPS)
        self.succeeds("build", VECTADD, "--machine", "cell", "--main", "main.c", "-o", "app")
        done = subprocess.run([self.path("app")], capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout), (0, "sequoia-size-mismatch\nsequoia-index\nsequoia-out-of-memory\n2000 fine\n"), done.stderr)

    def test_an_error_as_the_program_runs_is_fatal(self):
        self.write("main.c", FATAL)
        program = self.write("take.sq", "void task Take(in float A[N], in int I[M], out float B[M]);\n"
                             "void task<leaf> Take::Do(in float A[N], in int I[M], out float B[M]) { for (long i = 0; i < M; i++) B[i] = A[I[i]]; }\n")
        self.succeeds("build", program, "--main", "main.c", "-o", "app", "--machine", "host")
        done = subprocess.run([self.path("app")], capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout), (1, "index-out-of-range is fatal\n"), done.stderr)
        self.assertNotIn("error:", done.stderr)

    def test_run_with_a_main(self):
        self.write("main.c", ARGUMENTS)
        result = self.strata("run", VECTADD, "main.c", "--machine", "cell", "--", "one", "--in", "two words")
        self.assertEqual((result.status, result.out), (7, "one|--in|two words|\n3\n"), str(result))
        self.write("main.cpp", ARGUMENTS.replace("#include <stdio.h>", "#include <cstdio>\n#include <vector>\nstatic std::vector<int> unused;"))
        result = self.strata("run", VECTADD, "--main", "main.cpp")
        self.assertEqual((result.status, result.out), (7, "\n3\n"), str(result))

    def test_mistakes_in_a_main(self):
        main = self.write("main.c", "#include \"vectadd.h\"\nint main(void) { return AddVectors_Splt(0, 0, 0); }\n")
        result = self.strata("run", VECTADD, main)
        self.assertEqual(result.status, 1, str(result))
        self.assertIn("main.c:2:", result.err)
        self.assertIn("AddVectors_Splt", result.err)
        self.is_refused("build", VECTADD, "-o", "x", "--main", self.write("empty.c", ""), code="clang-error", mentions="main")
        self.is_refused("build", VECTADD, "-o", "x.so", "--main", main, code="build-main-of-library", mentions="x.so")
        self.is_refused("build", VECTADD, "-o", "x", code="build-unknown-output", mentions="--main")
        self.is_refused("run", VECTADD, "--", "argument", code="driver-usage", mentions="main")
        self.is_refused("run", VECTADD, main, "--in", "A=iota", code="driver-usage", mentions="--in")
        self.is_refused("run", VECTADD, main, "--emit=svm", code="driver-usage")
        self.is_refused("run", VECTADD, main, "--size", "N=x", errors=1)

    def test_arrays_on_a_disk(self):
        """They lie in scratch files for as long as a call lasts."""
        library = self.load(VECTADD, "AddVectors_Split", "--machine", "cell-disk")
        before = set(os.listdir(self.folder))
        for count in (0, 1, 100003, 7):
            a, b, c = random(count), random(count)[::-1].copy(), np.full(count, 9, np.float32)
            library.call(describe(a), describe(b), describe(c))
            self.assertEqual(library.errors, [])
            np.testing.assert_array_equal(c, a + b)
        self.assertEqual(set(os.listdir(self.folder)), before)
        # Parts of arrays in any order, read and written.
        library = self.load(self.write("box.sq", BOX_ON_DISK), "Top", "--map", self.write("box.map", BOX_ON_DISK_MAP))
        shape = (3, 5, 7)
        for first, second, pad in itertools.product(range(3), range(3), (0, 2)):
            with self.subTest(A=first, B=second, pad=pad):
                a_all, a, a_box = ordered(shape, first, pad)
                b_all, b, b_box = ordered(shape, second, pad)
                a_all[:], b_all[:] = random(*a_all.shape), random(*b_all.shape)
                beside, want = b_all.copy(), b + 2 * a + 5
                library.call(a_box, b_box, 5)
                self.assertEqual(library.errors, [])
                np.testing.assert_allclose(b, want, atol=1e-5)
                b[:] = 0
                changed = b_all.copy()
                b_all[:] = beside
                b[:] = 0
                np.testing.assert_array_equal(changed, b_all, "nothing beside the box has changed")

    def test_a_file_of_dependencies(self):
        os.mkdir(self.path("with space"))
        self.write("with space/n.h", "#define PLUS +\n")
        with open(VECTADD) as file:
            self.write("v.sq", '#include "with space/n.h"\n' + file.read().replace("A[i] + B[i]", "A[i] PLUS B[i]"))
        shutil.copy(os.path.join(os.path.dirname(VECTADD), "cell.map"), self.path("v.map"))
        self.succeeds("build", "v.sq", "--map", "v.map", "-o", "v.o", "--depfile", "v.d")
        with open(self.path("v.d")) as file:
            text = file.read()
        self.assertTrue(text.startswith("v.o:"), text)
        for name in ("v.sq", "v.map", "with\\ space/n.h", "cell/machine.yaml"):
            self.assertIn(name, text)

    def test_dependencies_of_external_tasks(self):
        self.write("scale.sq", "void task Scale(in float A[N], out float B[N]);\nvoid task<ext> Scale::E(in float A[N], out float B[N]);\n")
        self.write("by.h", "#define BY 3\n")
        self.write("e.c", '#include "sequoia_ext.h"\n#include "by.h"\nvoid Top(sqArray_t *A, sqArray_t *B) { sqCalcParams(Top);\n'
                   "  for (sqSize_t i = 0; i < sqParam(Top, N); i++) *sqElmtSpec1D(Top, B, i) = BY * *(float *)sqElmt1D(A, i); }\n")
        self.write("m.map", '#include "host"\ntask Scale: entrypoint(Top) { instance Top::E(level 0) external("e.c") { } }\n')
        library = self.load("scale.sq", "Top", "--map", "m.map", "--depfile", "s.d")
        with open(self.path("s.d")) as file:
            text = file.read()
        for name in ("e.c", "by.h", "scale.sq", "m.map"):
            self.assertIn(name, text)
        a, b = random(9), np.zeros(9, np.float32)
        library.call(describe(a), describe(b))
        np.testing.assert_array_equal(b, a * np.float32(3))


JUMPS = r"""
#include "vectadd.h"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf back;
static void jump(const char *code, const char *message) { (void)message; puts(code); longjmp(back, 1); }
int main(void) {
  sqSetErrorHandler(jump);
  sqArray_t *a = sqAllocArray1D(4, 1000), *b = sqAllocArray1D(4, 1000), *c = sqAllocArray1D(4, 999);
  volatile int fine = 0;
  if (!setjmp(back)) AddVectors_Split(a, b, c);
  if (!setjmp(back)) sqElmt1D(c, 999);
  if (!setjmp(back)) sqAllocArray1D(1, 1ul << 46);
  sqFreeArray(c);
  c = sqAllocArray1D(4, 1000);
  for (int round = 1; round <= 2; ++round) {
    for (int i = 0; i < 1000; ++i) { *(float *)sqElmt1D(a, i) = (float)i; *(float *)sqElmt1D(b, i) = (float)round; }
    AddVectors_Split(a, b, c);
    for (int i = 0; i < 1000; ++i) fine += *(float *)sqElmt1D(c, i) == (float)(i + round);
  }
  printf("%d fine\n", fine);
  return 0;
}
"""

FATAL = r"""
#include "take.h"
#include <stdio.h>
static void tell(const char *code, const char *message) {
  (void)message;
  printf("%s is %s\n", code, sqIsFatal() ? "fatal" : "not fatal");
  fflush(stdout);
}
int main(void) {
  sqSetErrorHandler(tell);
  sqArray_t *a = sqAllocArray1D(4, 10), *b = sqAllocArray1D(4, 1), *i = sqAllocArray1D(4, 1);
  *(float *)a->ptr = 1;
  *(int *)i->ptr = 10;
  Take_Do(a, i, b);
  puts("never");
  return 0;
}
"""

NAMES = """
enum { first = 5, second, new = -7 };
enum color { red, green = 8, class };
typedef struct { int a; } private;
typedef struct { int a; } plain;
typedef struct tagged { int a; } template;
typedef int namespace;
typedef long size_t;
typedef unsigned char byte;
typedef enum { up, down } direction;
typedef struct { float x[2]; } unused;
typedef byte Op_L;
struct never { int b; };
void task Op(in private p, in plain q, in template r, in namespace n, out int y);
void task<leaf> Op::L(in private p, in plain q, in template r, in namespace n, out int y)
{ enum { inner = 9 }; typedef int local; local one = inner - 8; y = p.a * 1000 + q.a * 100 + r.a * 10 + n * one; }
"""

NAMES_C = """
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include "names.h"
int main(void) {
  private_ p; plain q; template_ r; namespace_ n = 4; size_t_ size = sizeof(size_t_) == 8; byte small = 255; direction way = down; unused two;
  int y = 0;
  struct tagged *same = &r;
  p.a = 1; q.a = 2; same->a = 3; two.x[1] = 0;
  Op_L(p, q, r, n, &y);
  printf("%d %d %d %d %d\\n", y, first, second, new_, green);
  return !(size == 1 && small == 255 && way == 1 && two.x[1] == 0 && class_ == 9 && red == 0);
}
"""

RECORDS = {
    "first": """
struct cmplx { float re; float im; };
typedef struct { float x, y; } point;
typedef struct { int only; } single;
typedef union { float f; unsigned u; struct { short lo, hi; } parts; } word;
union number { double d; long l; struct cmplx c; };
typedef struct cmplx complex_number;
struct mix { union number u; struct cmplx c[2][3]; unsigned char tag; word word[4]; point point; single one;
             struct { int a; union { int b; float class; } either; } inner; signed char class; long long ll; };
typedef struct mix P_L;
void task P(in struct cmplx class[N], out struct mix new[N], in struct mix one, inout union number acc, in point at, in word w);
void task<leaf> P::L(in struct cmplx class[N], out struct mix new[N], in struct mix one, inout union number acc, in point at, in word w)
{
  for (long i = 0; i < N; i++) { new[i] = one; new[i].c[1][2].re = class[i].im + at.y + w.f; new[i].word[3].u = one.one.only; }
  acc.d += 0.5;
}
""",
    "second": """
typedef struct { float x, y; } point;
typedef point place;
void task Q(inout point p[N]);
void task<leaf> Q::M(inout point p[N]) { for (long i = 0; i < N; i++) p[i].x += 1; }
""",
    "other": """
typedef struct { double x, y; } point;
void task R(inout point p[N]);
void task<leaf> R::M(inout point p[N]) { for (long i = 0; i < N; i++) p[i].x += 1; }
"""}

RECORDS_C = """
#include "first.h"
#include "second.h"
#include <stdio.h>
int main(void) {
  sqArray_t *in = sqAllocArray1D(sizeof(struct cmplx), 2), *out = sqAllocArray1D(sizeof(struct mix), 2), *p = sqAllocArray1D(sizeof(point), 1);
  complex_number *z = sqElmt1D(in, 1);
  struct mix one = {.tag = 1, .one = {.only = 3}, .inner = {.either = {.class_ = 2}}}, *mix;
  union number acc = {.d = 2};
  place at = {1, 2}, *there = sqElmt1D(p, 0);
  struct point by = {6, 0};
  word w = {.f = 0.5f};
  z->im = 7;
  *there = by;
  P_L(in, out, one, &acc, at, w);
  Q_M(p);
  mix = sqElmt1D(out, 1);
  printf("%g %u %g %g\\n", mix->c[1][2].re, mix->word[3].u, acc.d, there->x);
  return 0;
}
"""

RECORDS_CXX = """
#include "first.h"
#include "second.h"
void use(number &n);
void use(number &n) {
  point p{1, 2};
  mix m{};
  word w;
  m.u = n;
  w.f = 1;
  m.point = place{3, 4};
  P_L(nullptr, nullptr, m, &n, p, w);
}
"""

POINTS = r"""
#include "points.h"
#include <stdio.h>
#include <string.h>
int main(void) {
  sqArray_t *p = sqAllocArray1D(sizeof(struct point), 4);
  memset(p->ptr, 0, 4 * sizeof(struct point));
  struct point *third = sqElmt1D(p, 2), by = {.at = {1, 2.5f, 3}, .near = {{9}}};
  third->at[2] = 1;
  Move_Do(p, by);
  printf("%g %d\n", third->at[2], third->near[1][3]);
  return 0;
}
"""

ARGUMENTS = r"""
#include "vectadd.h"
#include <stdio.h>
int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) printf("%s|", argv[i]);
  puts("");
  sqArray_t *a = sqAllocArray1D(4, 1), *b = sqAllocArray1D(4, 1), *c = sqAllocArray1D(4, 1);
  *(float *)a->ptr = 1;
  *(float *)b->ptr = 2;
  AddVectors_Split(a, b, c);
  printf("%g\n", *(float *)c->ptr);
  return 7;
}
"""

if __name__ == "__main__":
    harness.main()
