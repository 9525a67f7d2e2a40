"""Code for other processors than this computer's: strata build --cpu, strata cc --cpu and -march, as object, archive, library and program. What
needs more than the computer has says so as it begins. Expected values come from C's fma, or from the program's own loops on the host."""

import ctypes
import os
import re
import subprocess
import sys

import harness
import numpy as np

# A multiply-add for each element: rounded once.
SCALE = """
void task Scale(in float factor, in float x[N], inout float y[N]);
void task<inner> Scale::Cut(in float factor, in float x[N], inout float y[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Scale(factor, x[i * block; block], y[i * block; block]);
  }
}
void task<leaf> Scale::Multiply(in float factor, in float x[N], inout float y[N])
{
  for (long i = 0; i < N; i++)
    y[i] = factor * x[i] + y[i];
}
"""
MAIN = """
#include "scale.h"
#include <stdio.h>
int main(void) {
  float x[64], y[64] = {0};
  for (int i = 0; i < 64; i++) x[i] = i;
  Scale_Cut(64, 2, x, y);
  printf("%g\\n", y[63]);
}
"""
# A function that a leaf calls and the host. Prints in how many of the elements they differ.
FUSED = """
#include <hpvm.h>
#include <stdio.h>
static float f(float x) { return x * 1.7f - 20; }
void work(float *p, size_t b) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  p[i] = f(p[i]);
  UNRAISED
}
void root(float *p, size_t b) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  void *k = __hpvm__createNodeND(1, work, b / sizeof(float));
  __hpvm__bindIn(k, 0, 0, 0);
  __hpvm__bindIn(k, 1, 1, 0);
}
struct __attribute__((packed)) args { float *p; size_t b; };
int main(void) {
  float p[100], e[100];
  int differ = 0;
  volatile int n = 100; /* not computed when it is compiled */
  for (int i = 0; i < n; i++) { p[i] = i; e[i] = f(i); }
  struct args a = {p, sizeof p};
  __hpvm__init();
  llvm_hpvm_track_mem(p, sizeof p);
  __hpvm__wait(__hpvm__launch(0, root, &a));
  llvm_hpvm_request_mem(p, sizeof p);
  for (int i = 0; i < 100; i++) differ += p[i] != e[i];
  printf("%d of 100 differ\\n", differ);
  llvm_hpvm_untrack_mem(p);
  __hpvm__cleanup();
}
"""
with open("/proc/cpuinfo", encoding="utf-8") as told:
    FLAGS = told.read().split()
HAS_FMA = "fma" in FLAGS


def absent():
    """A processor that this computer is none of, and what it lacks. No computer has both of what AMD and Intel added in 2011 and 2017."""
    return ("skylake-avx512", "AVX-512F") if "xop" in FLAGS else ("bdver4", "XOP")


class Processors(harness.Case):
    def libraries(self):
        return os.path.join(os.path.dirname(os.path.dirname(harness.options.strata)), "lib")

    def says_what_is_lacking(self, *command, mentions=()):
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600)
        name, feature = absent()
        self.assertEqual(done.returncode, 1, (command, done.stdout, done.stderr))
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        self.assertIn(f"is compiled for processor '{name}' and needs ", done.stderr)
        for text in (feature, "which this computer does not have [runtime-processor]\n  help: ", *mentions):
            self.assertIn(text, done.stderr)

    def instructions(self, file):
        return subprocess.run(["llvm-objdump-19", "-d", file], cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def test_results_are_the_same_on_all(self):
        self.write("scale.sq", SCALE)
        x, y = (np.random.default_rng(seed).standard_normal(1000).astype(np.float32) for seed in (1, 2))
        # A product of two floats is exact in double.
        want = (np.float64(np.float32(1.7)) * x.astype(np.float64) + y).astype(np.float32)
        for number, cpu in enumerate(("x86-64", "x86-64-v2", "x86-64-v3", "native")):
            if cpu == "x86-64-v3" and not HAS_FMA:
                continue
            with self.subTest(cpu=cpu):
                self.succeeds("build", "scale.sq", "--interface", "plain", "--cpu", cpu, "-o", f"scale{number}.so")
                with open(self.path(f"scale{number}.h"), encoding="utf-8") as header:
                    self.assertIn(f"processor '{cpu}", header.read())
                mine = y.copy()
                function = ctypes.CDLL(self.path(f"scale{number}.so")).Scale_Cut
                function.argtypes = [ctypes.c_int64, ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p]
                function(1000, 1.7, x.ctypes.data, mine.ctypes.data)
                np.testing.assert_allclose(mine, want, rtol=0, atol=1e-7)
                same = mine if number == 0 else same
                np.testing.assert_array_equal(mine, same)

    def test_code_keeps_to_its_processor(self):
        self.write("scale.sq", SCALE)
        for cpu, has, has_not in (("x86-64", "%xmm", "%ymm"), ("x86-64-v3", "%ymm", "%zmm")):
            self.succeeds("build", "scale.sq", "--interface", "plain", "--cpu", cpu, "-o", "scale.o", STRATA_OPTIMIZATION="3")
            text = self.instructions("scale.o")
            self.assertTrue(has in text and has_not not in text, cpu)

    def test_other_names_are_refused(self):
        self.write("scale.sq", SCALE)
        refused = self.is_refused("build", "scale.sq", "--cpu", "x86-64-v33", "-o", "scale.o", code="target-unknown-processor",
                                  mentions="did you mean 'x86-64-v3'?")
        self.assertIn("build scale.sq --cpu x86-64-v33 -o", refused.err)
        self.write("fused.c", FUSED.replace("UNRAISED", ""))
        self.succeeds("cc", "-c", "fused.c", "-o", "fused.o")
        self.is_refused("cc", "--cpu=abacus", "fused.o", "-o", "fused", code="target-unknown-processor", errors=2)  # and Clang's
        self.assertIn("abacus", self.strata("cc", "--cpu=abacus", "-c", "fused.c", "-o", "again.o").err)

    def test_what_is_lacking_is_told(self):
        cpu = absent()[0]
        self.write("scale.sq", SCALE)
        self.write("main.c", MAIN)
        build = ["build", "scale.sq", "--interface", "plain", "--cpu", cpu]
        self.succeeds(*build, "-o", "scale.o")
        self.succeeds(*build, "-o", "scale.a")
        self.succeeds(*build, "-o", "libscale.so")
        self.succeeds(*build, "--main", "main.c", "-o", "program")
        for kind in ("o", "a"):
            subprocess.run(["clang-19", "main.c", "-I" + os.path.join(harness.ROOT, "include"), "scale." + kind, os.path.join(self.libraries(), "libstrata.a"),
                            "-lstdc++", "-lm", "-lpthread", "-o", "with_" + kind], cwd=self.folder, check=True)
        self.says_what_is_lacking("./with_o", mentions=["with_o', of which 'scale.o' is a part,"])
        self.says_what_is_lacking("./with_a", mentions=["with_a', of which 'scale.a' is a part,"])
        self.says_what_is_lacking("./program", mentions=["program' is compiled"])
        self.says_what_is_lacking(sys.executable, "-c", "import ctypes; ctypes.CDLL('./libscale.so'); print('loaded')", mentions=["libscale.so' is compiled"])

    def test_what_the_code_of_graphs_lacks_is_told(self):
        cpu, _ = absent()
        self.write("fused.c", FUSED.replace("UNRAISED", ""))
        self.succeeds("cc", "-O1", "-c", "fused.c", "-o", "fused.o")
        self.succeeds("cc", "--cpu=" + cpu, "fused.o", "-o", "linked")
        self.says_what_is_lacking("./linked", mentions=["linked' is compiled"])
        self.succeeds("cc", "-O1", "-march=" + cpu, "fused.c", "-o", "compiled")
        self.says_what_is_lacking("./compiled")

    def test_leaves_are_for_what_their_files_say(self):
        self.write("fused.c", FUSED.replace("UNRAISED", ""))
        for compiling, linking, has_not in ((["-march=x86-64"], [], "%ymm"), ([], ["--cpu=x86-64"], "%ymm"), (["-march=x86-64-v3"], ["--cpu=x86-64-v2"], "%ymm"),
                                            (["-march=x86-64-v2"], ["--cpu=x86-64-v3"], "%ymm"), (["--cpu=x86-64-v3"], [], "%zmm")):
            self.succeeds("cc", "-O2", *compiling, "-c", "fused.c", "-o", "fused.o")
            self.succeeds("cc", *linking, "fused.o", "-o", "fused")
            # All but what Clang has made of the file.
            parts = self.instructions("fused").split("\n\n")
            text = "\n\n".join(part for part in parts if not re.search("<(main|root|work|f)>:", part))
            self.assertFalse(has_not in text, (compiling, linking))
            self.assertIn("<graph_0", text)

    def test_multiply_adds_of_leaves(self):
        for unraised in ("", "__hpvm__return(1, __hpvm__malloc(1));"):
            self.write("fused.c", FUSED.replace("UNRAISED", unraised))
            ways = [([], 27), (["-ffp-contract=off"], 0), (["-march=x86-64"], 0), (["-mno-fma"], 0), (["--cpu=x86-64-v2"], 0)]
            if HAS_FMA:
                ways += [(["-mfma"], 0), (["--cpu=x86-64-v3"], 0), (["-march=native"], 0), (["-march=x86-64-v3", "-mno-fma"], 0)]
            for options, differ in ways:
                for level in ("-O0", "-O2"):
                    with self.subTest(options=options, level=level, unraised=unraised):
                        self.succeeds("cc", level, *options, "fused.c", "-o", "fused")
                        done = subprocess.run([self.path("fused")], capture_output=True, text=True, check=True)
                        self.assertEqual(done.stdout, f"{differ} of 100 differ\n")


if __name__ == "__main__":
    harness.main()
