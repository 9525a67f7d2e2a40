"""strata build: the same programs as libraries, called from Python through ctypes and from C, on two machines; and what happens when
a caller's arrays do not fit, or a library cannot be built."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
import threading

import harness
import numpy as np
from harness import ROOT

VECTADD = os.path.join(ROOT, "examples/sequoia/vectadd/vectadd.sq")
MATMUL = os.path.join(ROOT, "examples/sequoia/matmul/matmul.sq")
SUM = os.path.join(ROOT, "examples/sequoia/sum/sum.sq")


class SqArray(ctypes.Structure):
    """sqArray_t of include/sequoia.h."""
    _fields_ = [("numDims", ctypes.c_uint), ("contigDim", ctypes.c_int), ("offset", ctypes.c_ulong * 9), ("pitch", ctypes.c_ulong * 9),
                ("numElmts", ctypes.c_ulong * 9), ("elmtSize", ctypes.c_ulong), ("ptr", ctypes.c_void_p)]


def describe(physical, offset=None, extent=None):
    """A NumPy array, or a box of it, for a compiled program. The array must outlive the result."""
    array = SqArray(numDims=physical.ndim, contigDim=physical.ndim - 1, elmtSize=physical.itemsize, ptr=physical.ctypes.data)
    for d in range(physical.ndim):
        array.offset[d] = offset[d] if offset else 0
        array.pitch[d] = physical.shape[d]
        array.numElmts[d] = extent[d] if extent else physical.shape[d]
    return array


class Library:
    """A built program, loaded, with a handler that remembers errors."""

    HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)

    def __init__(self, path, entry):
        self.library = ctypes.CDLL(path)
        self.function = self.library[entry]
        self.function.restype = None
        self.errors = []
        self.handler = self.HANDLER(lambda code, message: self.errors.append((code.decode(), message.decode())))
        self.library.sqSetErrorHandler(self.handler)

    def call(self, *arguments):
        self.function(*[ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in arguments])


def random(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


class BuildTest(harness.Case):
    optimise = True  # objects are compared
    count = 0

    def load(self, program, entry, *options):
        # A library is loaded under a name of its own: the same name would give the library loaded before.
        BuildTest.count += 1
        name = f"built{BuildTest.count}.so"
        self.succeeds("build", program, "-o", name, *options)
        return Library(self.path(name), entry)

    def on_both_machines(self, example, entry):
        folder = os.path.dirname(example)
        for machine in ("host", "cell"):
            with self.subTest(machine=machine):
                yield self.load(example, entry, "--machine", machine, "--map", os.path.join(folder, machine + ".map"))

    def run_c(self, library, main, *flags):
        self.write("main.c", main)
        subprocess.run(["clang-19", "-std=c11", "-Wall", "-Werror", "-I" + os.path.join(ROOT, "include"), "main.c", library, *flags, "-o", "main"],
                       cwd=self.folder, check=True)
        return subprocess.run(["./main"], cwd=self.folder, env=dict(os.environ, LD_LIBRARY_PATH=self.folder), capture_output=True, text=True, timeout=600)

    def link_flags(self):
        libraries = os.path.join(os.path.dirname(os.path.dirname(harness.options.strata)), "lib")
        return [os.path.join(libraries, "libstrata.a"), "-lstdc++", "-lm", "-lpthread"]

    def test_vectors_of_any_length(self):
        for library in self.on_both_machines(VECTADD, "AddVectors_Split"):
            for n in (0, 1, 1000, 100003):
                a, b, c = random(n), random(n)[::-1].copy(), np.zeros(n, np.float32)
                library.call(describe(a), describe(b), describe(c))
                self.assertEqual(library.errors, [])
                np.testing.assert_array_equal(c, a + b)

    def test_boxes_of_larger_arrays(self):
        for library in self.on_both_machines(MATMUL, self.entry_of(MATMUL)):
            a, b, c = random(70, 90), random(80, 60), random(64, 64)
            want = c.copy()
            want[3:43, 5:41] += a[10:50, 20:70].astype(np.float64) @ b[7:57, 11:47].astype(np.float64)
            library.call(describe(c, (3, 5), (40, 36)), describe(a, (10, 20), (40, 50)), describe(b, (7, 11), (50, 36)))
            self.assertEqual(library.errors, [])
            np.testing.assert_allclose(c, want, rtol=0, atol=1e-3)

    def test_a_scalar_that_is_written_is_a_pointer(self):
        for library in self.on_both_machines(SUM, self.entry_of(SUM)):
            data, total = np.arange(5000, dtype=np.float32), ctypes.c_float(0.5)
            library.call(describe(data), ctypes.byref(total))
            self.assertEqual(library.errors, [])
            self.assertAlmostEqual(total.value, 0.5 + data.sum(dtype=np.float64), delta=8)
            library.call(describe(data), None)
            self.assertEqual([code for code, _ in library.errors], ["sequoia-null-argument"])

    def entry_of(self, program):
        """The entry point of a program's mapping, as the mapping names it."""
        with open(os.path.join(os.path.dirname(program), "host.map")) as file:
            return file.read().split("entrypoint(")[1].split(")")[0]

    def test_the_dialect_too(self):
        library = self.load(self.write("add.mlir", SCALED), "scaled", "--interface", "sequoia")
        x, y = random(100), np.zeros(100, np.float32)
        library.function.argtypes = [ctypes.c_void_p, ctypes.c_float, ctypes.c_void_p]
        library.call(ctypes.addressof(xs := describe(x)), 2.5, ctypes.addressof(ys := describe(y)))
        self.assertEqual(library.errors, [])
        np.testing.assert_array_equal(y, x * np.float32(2.5))

    def test_hbir_too(self):
        folder = os.path.join(ROOT, "examples", "hbir")
        library = self.load(os.path.join(folder, "vectadd", "vectadd.hbir"), "vectadd", "--size", "n=777", "--interface", "sequoia")
        a, b, c = random(777), random(777)[::-1].copy(), np.zeros(777, np.float32)
        library.call(describe(a), describe(b), describe(c))
        self.assertEqual(library.errors, [])
        np.testing.assert_array_equal(c, a + b)
        library.call(describe(a[:776]), describe(b), describe(c))
        self.assertEqual([code for code, _ in library.errors], ["sequoia-size-mismatch"])

    def test_hbir_with_functions_in_c(self):
        folder = os.path.join(ROOT, "examples", "hbir", "external")
        library = self.load(os.path.join(folder, "external.hbir"), "external", os.path.join(folder, "escape.c"), "--interface", "sequoia")
        steps = np.zeros((40, 100), np.int32)
        library.call(describe(steps))
        self.assertEqual(library.errors, [])
        # The same function, called directly for every point.
        subprocess.run(["clang-19", "-O2", "-march=native", "-shared", "-fPIC", os.path.join(folder, "escape.c"), "-o", "escape.so"],
                       cwd=self.folder, check=True)
        escape = ctypes.CDLL(self.path("escape.so")).escape
        escape.argtypes = [ctypes.c_float, ctypes.c_float, ctypes.c_int]
        single = np.float32
        re = single(3) * np.arange(100, dtype=single) / single(100) - single(2)
        im = single(2.4) * np.arange(40, dtype=single) / single(40) - single(1.2)
        want = [[escape(float(x), float(y), 100) for x in re] for y in im]
        np.testing.assert_array_equal(steps, want)
        self.assertGreater(len(np.unique(steps)), 10)

    def test_hbir_that_prints(self):
        program = os.path.join(ROOT, "examples", "hbir", "groups", "groups.hbir")
        self.succeeds("build", program, "-o", "groups.so", "--interface", "sequoia")
        call = ("import ctypes, sys; import numpy as np; sys.path.insert(0, sys.argv[1]); from build_test import *\n"
                "library = Library('./groups.so', 'groups'); arrays = [np.arange(1000, dtype='i4')] + [np.zeros(8, 'i4') for i in range(3)]\n"
                "library.call(*[describe(a) for a in arrays])\n")
        done = subprocess.run([sys.executable, "-c", call, os.path.dirname(os.path.abspath(__file__))], cwd=self.folder, capture_output=True,
                              text=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout), (0, "the first piece adds up to 7750\n"), done.stderr)

    def test_several_calls_at_once(self):
        library = self.load(VECTADD, "AddVectors_Split", "--machine", "host")
        a, b = random(200000), random(200000)
        results = [np.zeros(200000, np.float32) for _ in range(4)]
        threads = [threading.Thread(target=lambda c=c: [library.call(describe(a), describe(b), describe(c)) for _ in range(5)]) for c in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            np.testing.assert_array_equal(result, a + b)

    def test_wrong_arguments_reach_the_handler(self):
        library = self.load(VECTADD, "AddVectors_Split", "--machine", "cell")
        good, result = random(1000), np.zeros(1000, np.float32)

        def is_wrong(code, words, a, b, c):
            library.errors.clear()
            library.call(a, b, c)
            self.assertEqual([found for found, _ in library.errors], [code])
            self.assertIn(words, library.errors[0][1])
            self.assertFalse(result.any(), "nothing is to be written")

        a, b, c = describe(good), describe(good), describe(result)
        is_wrong("sequoia-size-mismatch", "dimension 0 of array 'B' of AddVectors_Split has 999 elements; it is to have N = 1000", a, describe(good[:999]), c)
        is_wrong("sequoia-size-mismatch", "'C'", a, b, describe(result[:7]))
        is_wrong("sequoia-null-argument", "'A'", None, b, c)
        is_wrong("sequoia-wrong-rank", "1 dimension(s), not the 2", describe(good.reshape(10, 100)), b, c)
        is_wrong("sequoia-wrong-element", "4 bytes each, not the 8", describe(good.astype(np.float64)), b, c)
        is_wrong("sequoia-wrong-layout", "in a physical array of 1000", describe(good, (1,), (1000,)), b, c)
        is_wrong("sequoia-overlap", "'A' and 'C'", describe(result), b, c)
        nowhere = describe(good)
        nowhere.ptr = None
        is_wrong("sequoia-null-argument", "no elements to point to", nowhere, b, c)
        nowhere.ptr = good.ctypes.data + 1
        is_wrong("sequoia-misaligned", "no multiple of 4 bytes", nowhere, b, c)
        columns = describe(good)
        columns.contigDim = -1
        is_wrong("sequoia-wrong-layout", "its contigDim is -1", columns, b, c)
        columns.contigDim = 1
        is_wrong("sequoia-wrong-layout", "dimensions are 0 to 0", columns, b, c)
        huge = describe(good, None, (2 ** 62,))
        huge.pitch[0] = 2 ** 63
        is_wrong("sequoia-wrong-layout", "larger than what can be addressed", huge, b, c)

    def test_c_with_an_archive_and_an_object(self):
        for library, machine in (("add.a", "host"), ("add.o", "cell")):
            with self.subTest(library=library):
                self.succeeds("build", VECTADD, "-o", library, "--machine", machine, "--size", "N=1000")
                result = self.run_c(library, MAIN, *self.link_flags())
                self.assertEqual((result.returncode, result.stdout), (0, "fine\nsequoia-size-mismatch\n"), result.stderr)

    def test_c_with_a_shared_library(self):
        self.succeeds("build", VECTADD, "-o", "add.so")
        result = self.run_c("add.so", MAIN)
        self.assertEqual((result.returncode, result.stdout), (0, "fine\nsequoia-size-mismatch\n"), result.stderr)

    def test_without_a_handler_the_program_ends(self):
        self.succeeds("build", VECTADD, "-o", "add.so")
        result = self.run_c("add.so", MAIN.replace("sqSetErrorHandler(remember);", "(void)remember;"))
        self.assertEqual((result.returncode, result.stdout), (1, "fine\n"), result.stderr)
        self.assertIn("[sequoia-size-mismatch]", result.stderr)

    def test_the_header_is_cxx_too(self):
        self.succeeds("build", VECTADD, "-o", "add.o")
        self.write("use.cpp", '#include "add.h"\nint main() { auto *f = &AddVectors_Split; return f ? 0 : 1; }\n')
        subprocess.run(["clang++-19", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(ROOT, "include"), "-fsyntax-only", "use.cpp"],
                       cwd=self.folder, check=True)

    def test_structs_are_declared(self):
        self.succeeds("build", self.write("complex.mlir", COMPLEX), "-o", "complex.so")
        with open(self.path("complex.h")) as file:
            self.assertIn("struct complex {\n  float re;\n  float im;\n};", file.read())

    def test_an_object_is_the_same_each_time(self):
        """Addresses of what the compiler allocates, which differ from run to run, decide nothing. The machine is stated: where the memory of a
        virtual machine is not always as large, the one that is found is another one each time."""
        self.succeeds("machine", "-o", "this.yaml")
        for name in ("gravity", "conv2d", "matmul", "fft3d"):
            program = os.path.join(ROOT, "examples/sequoia", name, name + ".sq")
            objects = set()
            for _ in range(4):
                self.succeeds("build", program, "--machine", "this.yaml", "-o", name + ".o")
                with open(self.path(name + ".o"), "rb") as file:
                    objects.add(file.read())
            self.assertEqual(len(objects), 1, name)

    def test_what_cannot_be_built(self):
        self.is_refused("build", VECTADD, "-o", "add.exe", code="build-unknown-output", mentions="--main")
        self.is_refused("build", VECTADD, "-o", "/nowhere/add.so", code="build-cannot-write")
        os.mkdir(self.path("taken.so"))
        self.is_refused("build", VECTADD, "-o", "taken.so", code="build-cannot-write", mentions="directory")
        program = self.write("name.mlir", SCALED.replace("@scaled", "@main"))
        self.is_refused("build", program, "-o", "x.so", code="build-entry-name", mentions="'main'")
        for name, what in (("_Bool", "does not take the name"), ("malloc", "the C library"), ("exit", "the C library")):
            program = self.write("name.mlir", SCALED.replace("@scaled", "@" + name))
            self.is_refused("build", program, "-o", "x.so", code="build-entry-name", mentions=[f"'{name}'", what])
        program = self.write("own.mlir", SCALED.replace("@scaled", "@sqElmt1D"))
        self.is_refused("build", program, "-o", "x.so", code="build-entry-name", mentions="the runtime's")
        block = "memref<" + "?x" * 10 + "f32, strided<[" + "?, " * 9 + "1], offset: ?>>"
        program = self.write("rank.mlir", SCALED.replace("@scaled(", "@scaled(%h: " + block + ' {svm.access = "read", svm.name = "h"}, ')
                             .replace("extents = [", "extents = [affine_map<()[n] -> (" + ", ".join("n" * 10) + ")>, "))
        self.is_refused("build", program, "-o", "x.so", code="build-entry-argument", mentions="'h'")
        self.is_refused("build", VECTADD, "-o", "x.so", "--entry", "Nothing", errors=1)

    def test_clang_that_is_missing_or_no_clang(self):
        self.is_refused("build", VECTADD, "-o", "x.so", code="clang-failed", mentions="clang-19", STRATA_CLANG="/nowhere/clang")
        fake = self.write("fake", '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\necho nonsense > "$2"\n')
        os.chmod(fake, stat.S_IRWXU)
        result = self.strata("build", VECTADD, "-o", "x.so", STRATA_CLANG=fake)
        self.assertIn("build-internal", result.err)
        self.assertFalse(os.path.exists(self.path("x.h")))

    def test_the_line_that_is_told_works(self):
        """Wherever the library is put, and whatever the folder is called."""
        self.write("main.c", PLAIN)
        for name in ("vectadd.so", "in a folder, it's/vectadd.so", "comma,/vectadd.o"):
            folder = self.path(os.path.dirname(name))
            os.makedirs(folder, exist_ok=True)
            told = self.succeeds("build", VECTADD, "--interface", "plain", "-o", name).out
            line = told.split("use it with: cc ")[1].strip()
            subprocess.run(f"clang-19 {line} -o main && ./main", shell=True, cwd=self.folder, check=True, env={**os.environ, "CPATH": folder})

    def test_mains_are_compiled_without_a_word(self):
        """Options that Strata gives Clang are no matter of the user's."""
        self.write("main.c", PLAIN)
        self.write("main.cpp", PLAIN.replace("<stdio.h>", "<cstdio>"))
        for main in ("main.c", "main.cpp"):
            result = self.succeeds("run", VECTADD, main, "--interface", "plain", "--werror")
            self.assertEqual((result.out, result.err), ("3\n", ""))
        self.succeeds("build", VECTADD, "--interface", "plain", "-o", "vectadd.o")
        subprocess.run(["clang-19", "-c", "main.c", "-I" + os.path.join(ROOT, "include"), "-o", "main.o"], cwd=self.folder, check=True)
        self.assertEqual(self.succeeds("build", VECTADD, "--interface", "plain", "--main", "main.o", "-o", "program", "--werror").err, "")

    def test_a_strata_without_its_runtime(self):
        os.mkdir(self.path("bin"))
        shutil.copy(harness.options.strata, self.path("bin/strata"))
        os.mkdir(self.path("lib"))
        shutil.copy(os.path.join(os.path.dirname(harness.options.strata), "../lib/strata-compiler"), self.path("lib"))
        completed = subprocess.run([self.path("bin/strata"), "build", VECTADD, "-o", self.path("x.so")], capture_output=True, text=True, timeout=600)
        self.assertEqual(completed.returncode, 1)
        self.assertIn("build-no-runtime", completed.stderr)


PLAIN = """
#include "vectadd.h"
#include <stdio.h>
int main(void) {
  float a[100], b[100], c[100];
  for (int i = 0; i < 100; ++i) { a[i] = 1; b[i] = 2; }
  AddVectors_Split(100, a, b, c);
  printf("%g\\n", c[99]);
  return c[99] != 3;
}
"""
MAIN = """
#include "add.h"
#include <stdio.h>
static void remember(const char *code, const char *message) { puts(code); }
int main(void) {
  sqArray_t *a = sqAllocArray1D(sizeof(float), 1000), *b = sqAllocArray1D(sizeof(float), 1000), *c = sqAllocArray1D(sizeof(float), 1000);
  for (int i = 0; i < 1000; ++i) {
    *(float *)sqElmt1D(a, i) = i;
    *(float *)sqElmt1D(b, i) = 2 * i;
  }
  sqSetErrorHandler(remember);
  AddVectors_Split(a, b, c);
  for (int i = 0; i < 1000; ++i)
    if (*(float *)sqElmt1D(c, i) != 3 * i)
      return 2;
  puts("fine");
  fflush(stdout);
  b->numElmts[0] = 999;
  AddVectors_Split(a, b, c);
  sqFreeArray(a);
  sqFreeArray(b);
  sqFreeArray(c);
  return 0;
}
"""

SCALED = """
#v = strided<[1], offset: ?>
module attributes {svm.stage = "logical"} {
  func.func @scaled(%x: memref<?xf32, #v> {svm.access = "read", svm.name = "x"}, %k: f32 {svm.name = "k"},
                    %y: memref<?xf32, #v> {svm.access = "write", svm.name = "y"})
      attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>, affine_map<()[n] -> ()>, affine_map<()[n] -> (n)>]} {
    %c0 = arith.constant 0 : index
    %n = memref.dim %x, %c0 : memref<?xf32, #v>
    svm.run @leaf(%x, %k, %y) : (memref<?xf32, #v>, f32, memref<?xf32, #v>) -> ()
    return
  }
  svm.kernel @leaf(%x: memref<?xf32, #v> {svm.access = "read", svm.name = "x"}, %k: f32 {svm.name = "k"},
                   %y: memref<?xf32, #v> {svm.access = "write", svm.name = "y"}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %x, %c0 : memref<?xf32, #v>
    scf.for %i = %c0 to %n step %c1 {
      svm.index %i in %n of "x", 0
      %v = memref.load %x[%i] : memref<?xf32, #v>
      %p = arith.mulf %v, %k : f32
      svm.index %i in %n of "y", 0
      memref.store %p, %y[%i] : memref<?xf32, #v>
    }
    svm.return
  }
}
"""

COMPLEX = """
!complex = !svm.record<"complex", re: f32, im: f32>
#v = strided<[1], offset: ?>
module attributes {svm.stage = "logical"} {
  func.func @nothing(%x: memref<?x!complex, #v> {svm.access = "readwrite", svm.name = "x"})
      attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
    return
  }
}
"""

if __name__ == "__main__":
    harness.main()
