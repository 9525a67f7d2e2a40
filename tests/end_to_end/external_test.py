"""External tasks: a C function as the leaf of a Sequoia program, through its mapping file, on host and cell."""

import json
import os
import signal

import harness
import numpy as np

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
  float *a = sqElmtSpec1D(Mix_Leaf, A, 0), *b = (float *)sqElmt1D(B, 0), *c = sqElmtSpec1D(Mix_Leaf, C, 0);
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
    data() { array A() { elements <= 2, 9, 11; } }
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


VALUES_TYPES = """
#include <stddef.h>
struct pair { float re; float im; };
struct odd { char c; double d; short s[3]; };
typedef union { float f; unsigned u; } word;
struct large { int x[5]; double y[2]; };
struct wide { double v[600]; int last; };
typedef struct { char c; } tiny;
"""

VALUES = VALUES_TYPES.replace("#include <stddef.h>\n", "") + """
#define SCALARS in struct pair p, in struct odd o, in word u, in struct large l, \\
  in struct wide w, in tiny c, in int k, inout struct pair t
void task Mix(in float A[N], out float B[N], SCALARS);
void task<inner> Mix::Split(in float A[N], out float B[N], SCALARS)
{
  tunable block;
  mapseq (long i = 0 : (N + block - 1) / block) {
    Mix(A[i * block; block], B[i * block; block], p, o, u, l, w, c, k, t);
  }
}
void task<ext> Mix::Ext(in float A[N], out float B[N], SCALARS);
"""

VALUES_LEAF = """
#include "sequoia_ext.h"
CHERE void Low(sqArray_t *A, sqArray_t *B, struct pair p, struct odd o, word u, struct large l, struct wide w, tiny c, int k, struct pair *t) {
  float sum = p.im + o.c + (float)o.d + o.s[1] + o.s[2] + u.f + l.x[4] + (float)l.y[1] + (float)w.v[599] + w.last + c.c + k;
  for (sqSize_t i = 0; i < A->numElmts[0]; i++)
    *(float *)sqElmt1D(B, i) = *(float *)sqElmt1D(A, i) * p.re + sum;
  t->re += (float)o.d;
  t->im += c.c;
  p.re = 0; /* a copy, as a scalar is */
}
"""

VALUES_MAPPING = """#include "MACHINE"
task Mix: entrypoint(Top) {
  instance Top::Split(level OUTER) {
    tunable block = 1000;
    control(level OUTER) {
      callsite Mix() { target Low() { } }
    }
  }
  instance Low::Ext(level 0) external("FILE") { }
}
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

    def values(self, leaf, machine="host", outer=0, file="leaf.c", program=VALUES):
        """The arguments of a command for a task whose arguments are structs by value."""
        self.write(file, leaf)
        mapping = VALUES_MAPPING.replace("MACHINE", machine).replace("OUTER", str(outer)).replace("FILE", file)
        return self.write("values.sq", program), "--map", self.write("values.map", mapping)

    def test_structs_by_value(self):
        """Whatever way C has them (in registers, in halves, in memory), in C and C++, with the program's types, the file's
        own under other names, and without the header."""
        pair = np.dtype([("re", "<f4"), ("im", "<f4")])
        odd = np.dtype([("c", "i1"), ("d", "<f8"), ("s", "<i2", 3)], align=True)
        word = np.dtype([("bits", "<u4")])
        large = np.dtype([("x", "<i4", 5), ("y", "<f8", 2)], align=True)
        wide = np.dtype([("v", "<f8", 600), ("last", "<i4")], align=True)
        tiny = np.dtype([("c", "i1")])
        w = np.zeros((), wide)
        w["v"] = np.arange(600)
        w["last"] = 7
        a = np.arange(2500, dtype="f4")
        data = ["--in", "A=" + self.save("a.npy", a), "--in", "k=-3", "--out", "B=b.npy", "--out", "t=sum.npy"]
        for name, value in (("p", np.array((1.5, 2), pair)), ("o", np.array((-4, 0.25, [1, -2, 3]), odd)),
                            ("u", np.array((np.float32(8).view("u4"),), word)), ("l", np.array(([1, 2, 3, 4, 5], [0.5, -0.5]), large)),
                            ("w", w), ("c", np.array((-9,), tiny)), ("t", np.array((0, 10), pair))):
            data += ["--in", f"{name}={self.save(name + '.npy', value)}"]
        expected = a * np.float32(1.5) + np.float32(2 - 4 + 0.25 - 2 + 3 + 8 + 5 - 0.5 + 599 + 7 - 9 - 3)
        plain = VALUES_LEAF.replace("CHERE", "")
        own = VALUES_TYPES.replace("struct pair", "struct mine").replace("word", "Word").replace("tiny", "Tiny") + plain
        own = own.replace("struct pair", "struct mine").replace("word u", "Word u").replace("tiny c", "Tiny c")
        for file, text in (("leaf.c", plain), ("leaf.cpp", VALUES_LEAF.replace("CHERE", 'extern "C"')),
                           ("own.c", "#define SEQUOIA_EXT_NO_TYPES\n#define re RE\n" + own.replace(".re", ".RE")),
                           ("own.cpp", "#define SEQUOIA_EXT_NO_TYPES\n" + own.replace("void Low", 'extern "C" void Low'))):
            for machine, outer in (("host", 0), ("cell", 2)):
                for how in ((), ("--check",), ("--interpret",)):
                    with self.subTest(file, machine=machine, how=how):
                        self.succeeds("run", *self.values(text, machine, outer, file), *data, *how)
                        np.testing.assert_array_equal(np.load(self.path("b.npy")), expected)
                        self.assertEqual(np.load(self.path("sum.npy")).tolist(), (3 * 0.25, 10 - 3 * 9))  # of three blocks

    def test_a_function_that_takes_other_structs_is_refused(self):
        """In its own line where the header has declared it, else by what it was compiled to."""
        leaf = VALUES_LEAF.replace("CHERE", "")
        self.is_refused("check", *self.values(leaf.replace("word u", "word *u").replace("u.f", "u->f")), code="clang-error",
                        mentions=["leaf.c:3:", "conflicting types for 'Low'"])
        bare = VALUES_TYPES + leaf
        for was, becomes in (("word u", "float *u"), ("struct large l", "const struct large *l"), ("int k", "double k"),
                             ("float im; };", "float im, more; };"), ("double y[2]; };", "double y[3]; };"), ("void Low", "int Low")):
            text = bare.replace(was, becomes).replace("u.f", "u[0]" if becomes == "float *u" else "u.f")
            if "*l" in becomes:
                text = text.replace("l.", "l->")
            with self.subTest(becomes):
                self.is_refused("check", *self.values("#define SEQUOIA_EXT_NO_TYPES\n" + text), code="clang-external-arguments",
                                mentions=["leaf.c", "values.map:9:", "struct pair, struct odd, union word, struct large, struct wide, struct tiny, int"])
        self.is_refused("check", *self.values(leaf.replace("void Low", "void High")), code="clang-external-missing",
                        mentions=["values.map:9:", "struct pair"])
        self.is_refused("check", *self.values("#define SEQUOIA_EXT_NO_TYPES\n" + VALUES_TYPES + leaf, file="leaf.cc"),
                        code="clang-external-missing", mentions=["values.map:9:", 'extern "C"'])

    def test_structs_by_value_have_to_fit_a_stack(self):
        program = VALUES.replace("double v[600]", "double v[8191]")
        self.succeeds("check", *self.values(VALUES_LEAF.replace("CHERE", ""), program=program.replace("8191", "8000")))
        self.is_refused("check", *self.values("int x;", program=program), code="clang-external-type",
                        mentions=["values.sq:19:", "values.map:9:", "argument 'w'", "65612", "65536", "make it inout"])

    def test_large_variables_do_not_need_a_large_stack(self):
        """More than the stack of a part that is started beside others has, touched in all places or at one end; the same on any number of threads."""
        leaf = """
            #include "sequoia_ext.h"
            void Leaf(sqArray_t *a, int touched) {
              volatile char large[400000];
              for (long i = 0; i < touched; i++) large[i] = (char)(i % 100);
              *(int *)sqElmt1D(a, 0) += large[touched - 1];
            }"""
        program = """
            void task F(inout int a[N], in int touched);
            void task<ext> F::C(inout int a[N], in int touched);
            void task<inner> F::S(inout int a[N], in int touched) { mappar (long i = 0 : N) { F(a[i; 1], touched); } }"""
        mapping = """#include "host"
            task F: entrypoint(Top) {
              instance Top::S(level 0) { control(level 0) { loop i(level 0) { spmd { ways = auto; } } callsite F() { target Leaf() { } } } }
              instance Leaf::C(level 0) external("large.c") { }
            }"""
        self.write("large.c", leaf)
        files = [self.write("large.sq", program), "--map", self.write("large.map", mapping)]
        for touched in (9050, 400000):
            for threads in (1, 4):
                self.succeeds("run", *files, "--size", "N=64", "--in", "a=iota", "--in", f"touched={touched}", "--threads", str(threads), "--out", "a=a.npy")
                np.testing.assert_array_equal(np.load(self.path("a.npy")), np.arange(64) + (touched - 1) % 100)

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
                self.assertEqual(json.load(file)["paths"], {"Mix_Leaf": "structured"})

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

    def test_types_that_are_defined_twice(self):
        """Before or after the header, and under another sort of name: what to do is said once."""
        leaf = VALUES_LEAF.replace("CHERE", "")
        for file, text in (("leaf.c", VALUES_TYPES + leaf), ("leaf.cpp", '#include "sequoia_ext.h"\n' + VALUES_TYPES + leaf),
                           ("leaf.cc", '#include "sequoia_ext.h"\nunion pair { int x; };\n')):
            with self.subTest(file, text=text):
                result = self.strata("check", *self.values(text, file=file))
                self.assertEqual(result.err.count("#define SEQUOIA_EXT_NO_TYPES"), 1, str(result))
                self.assertIn(self.path(file) + ":", result.err)
        result = self.is_refused("check", *self.values(leaf + "int x;\nint x(void);\n"), code="clang-error")
        self.assertNotIn("SEQUOIA_EXT_NO_TYPES", result.err)

    def test_a_wrong_function_is_shown_with_what_it_is_to_be(self):
        self.is_refused("check", *self.files("host", 0, LEAF.replace("int k)", "long k)")),
                        mentions=["leaf.c:4:6", "note: previous declaration is here: void Mix_Leaf(sqArray_t *, sqArray_t *, sqArray_t *, int);"])
        self.is_refused("check", *self.values(VALUES_LEAF.replace("CHERE", "").replace("int k", "long k")),
                        mentions=["leaf.c:3:7", "here: void Low(sqArray_t *, sqArray_t *, struct pair, struct odd, union word, struct large,"])

    def test_macros_of_the_file_change_nothing_around_it(self):
        """Whatever they are called; and what is defined before the first header of the system counts."""
        names = ("a", "i0", "d", "p0", "p0n0", "rank", "place", "values", "check", "count", "code", "inner", "extent", "indices", "spaced", "array", "INT64_MAX")
        leaf = "#undef _GNU_SOURCE\n#define _GNU_SOURCE\n#include <math.h>\n#ifndef M_PIf\n#error\n#endif\n" + LEAF.replace("*a =", "*first =").replace("= a[i]", "= first[i]")
        for file in ("leaf.c", "leaf.cpp"):
            text = leaf.replace("void Mix", 'extern "C" void Mix') if file == "leaf.cpp" else leaf
            command = self.files("host", 0, text + "".join(f"#undef {name}\n#define {name} 3 4\n" for name in names))
            os.rename(self.path("leaf.c"), self.path("all." + file))
            self.write("mix.map", MAPPING.replace("MACHINE", "host").replace("OUTER", "0").replace("leaf.c", "all." + file))
            self.succeeds("run", *command, "--in", "A=iota", "--in", "B=4", "--in", "k=3", "--size", "N=2500", "--out", "C=c.npy")
            self.assertTrue(np.array_equal(np.load(self.path("c.npy")), np.arange(2500, dtype="f4") + 6), file)

    def test_names_that_no_function_can_have(self):
        for name in ("while", "class", "main", "__x", "sqElmt1D", "strata_fail"):
            program, option, mapping = self.files("host", 0)
            self.write("mix.map", MAPPING.replace("MACHINE", "host").replace("OUTER", "0").replace("Mix_Leaf", name))
            self.is_refused("check", program, option, mapping, code="clang-external-name", mentions=["mix.map:10:12", f"'{name}'"])

    def test_cxx_that_needs_more_than_a_call(self):
        """Static variables are made at the first call; exceptions and constructors before that are refused in their lines."""
        def command(text):
            self.write("all.cpp", "#include <vector>\n" + text + LEAF.replace("void Mix", 'extern "C" void Mix').replace("(float)k", "scale(k)"))
            program, option, _ = self.files("host", 0)
            return program, option, self.write("mix.map", MAPPING.replace("MACHINE", "host").replace("OUTER", "0").replace("leaf.c", "all.cpp"))
        data = ("--in", "A=iota", "--in", "B=4", "--in", "k=3", "--size", "N=2500", "--out", "C=c.npy")
        for how in ((), ("--check",)):
            self.succeeds("run", *command("static float scale(int k) { static std::vector<float> known{0, 1, 2, 3}; return known[k]; }\n"), *data, *how)
            self.assertTrue(np.array_equal(np.load(self.path("c.npy")), np.arange(2500, dtype="f4") + 6), how)
        self.is_refused("check", *command("static float scale(int k) {\n  if (k < 0) throw k;\n  return k; }\n"), code="clang-error",
                        mentions=["all.cpp:3:14", "sqRaiseError"])
        self.is_refused("check", *command("static std::vector<float> known{0, 1, 2, 3};\nstatic float scale(int k) { return known[k]; }\n"),
                        code="clang-error", mentions=["all.cpp:2:", "requires a global", "as static"])

    def test_text_that_ends_too_soon(self):
        for leaf in (LEAF.rstrip()[:-1], LEAF + "#if 1\n", LEAF + "/*"):
            self.is_refused("check", *self.files("host", 0, leaf), code="clang-error", mentions="leaf.c:")

    def test_a_null_pointer(self):
        if harness.sanitizer():
            self.skipTest("it tells of null pointers itself")
        files = self.files("host", 0, LEAF.replace("  sqCalcParams();", "  sqCalcParams(); *(volatile int *)8 = k;"))
        self.is_refused("run", *files, "--size", "N=10", "--in", "A=zeros", "--in", "B=zeros", "--in", "k=1",
                        code="runtime-null-pointer", mentions="at address 8")

    def test_faults_name_the_task(self):
        """Also where the compiler knows that the pointer is null, and would leave the code behind it out."""
        if harness.sanitizer():
            self.skipTest("it tells of null pointers itself")
        sizes = ("--size", "N=10", "--in", "A=zeros", "--in", "B=zeros", "--in", "k=1")
        for fault, code in (("int *p = 0; *p = 1;", "runtime-null-pointer"), ("int *p = 0; k = *p;", "runtime-null-pointer"),
                            ("abort();", "runtime-abort")):
            leaf = "#include <stdlib.h>\n" + LEAF.replace("  sqCalcParams();", "  sqCalcParams(); " + fault + " C->pitch[0] += k;")
            for how in ((), ("--check",)):
                self.is_refused("run", *self.files("host", 0, leaf), *sizes, *how, code=code,
                                mentions=["the external task 'Mix_Leaf'", ".sq:10:"])

    def test_a_wild_pointer_is_told_and_ends_by_its_signal(self):
        if harness.sanitizer():
            self.skipTest("it tells of wild pointers itself")
        leaf = LEAF.replace("  sqCalcParams();", "  sqCalcParams(); int *volatile p = (int *)0x123456789000; *p = k;")
        files = self.files("host", 0, leaf)
        for how in ((), ("--check",), ("--interpret",), ("--threads", "1")):
            made = self.strata("run", *files, "--size", "N=10", "--in", "A=zeros", "--in", "B=zeros", "--in", "k=1", "--out", "C=c.npy", *how)
            self.assertEqual(made.status, -signal.SIGSEGV, (how, made.err))
            for part in ("error[runtime-wild-pointer]", ".sq:10:", "the external task 'Mix_Leaf'"):
                self.assertIn(part, made.err, how)
            self.assertFalse(os.path.exists(self.path("c.npy")))

    def test_a_write_to_a_constant(self):
        if harness.sanitizer():
            self.skipTest("it tells of such writes itself")
        leaf = LEAF.replace("  sqCalcParams();", '  sqCalcParams(); char *volatile text = (char *)"constant"; *text = (char)k;')
        made = self.strata("run", *self.files("host", 0, leaf), "--size", "N=10", "--in", "A=zeros", "--in", "B=zeros", "--in", "k=1")
        self.assertEqual(made.status, -signal.SIGSEGV, made.err)
        for part in ("error[runtime-wild-pointer]", "writes to memory that may only be read", ".sq:10:", "such as a string's"):
            self.assertIn(part, made.err)

    def test_folders_and_macros_reach_the_file(self):
        os.makedirs(self.path("parts"), exist_ok=True)
        self.write("parts/plus.h", "#define plus(a, b) ((a) + (b))\n")
        leaf = '#include "plus.h"\n' + LEAF.replace("a[i] + (float)k * sqrtf(b[i])", "plus(a[i], ADDED)")
        files = self.files("host", 0, leaf)
        self.succeeds("run", *files, "-I", self.path("parts"), "-DADDED=3", "--size", "N=1000", "--in", "A=iota", "--in", "B=zeros",
                      "--in", "k=1", "--out", "C=c.npy")
        np.testing.assert_array_equal(np.load(self.path("c.npy")), np.arange(1000, dtype="f4") + 3)

    def test_a_file_that_is_missing(self):
        program, option, mapping = self.files("host", 0)
        with open(mapping) as file:
            text = file.read().replace("leaf.c", "lief.c")
        self.is_refused("check", program, option, self.write("mix.map", text), mentions="lief.c")

    def test_a_function_that_is_missing(self):
        self.is_refused("check", *self.files("host", 0, LEAF.replace("void Mix_Leaf(sq", "void Other(sq")), mentions="Mix_Leaf")


if __name__ == "__main__":
    harness.main()
