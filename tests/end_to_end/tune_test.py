"""strata tune: mappings found by trying, what is remembered of them, and programs that leave nothing to find. Times decide what is found, so
these programs have mappings that are many times slower than others, and nothing else is asked of the times."""

import glob
import os
import re
import signal
import subprocess
import xml.dom.minidom

import harness
import numpy as np

CUT = """
void task Twice(in float a[N], out float b[N]);
void task<inner> Twice::Cut(in float a[N], out float b[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Twice(a[i * block; block], b[i * block; block]);
  }
}
void task<leaf> Twice::Leaf(in float a[N], out float b[N])
{
  for (long i = 0; i < N; i++)
    b[i] = a[i] * 2;
}
"""

# A block of one element is hundreds of times slower than one of thousands.
SLOW = """#include "host"
task Twice: entrypoint(Cut) {
  instance Cut::Cut(level 0) {
    tunable block = 1;
    control(level 0) {
      loop i(level 0) { spmd { ways = auto; iterblk = 1; } }
      callsite Twice() { target Leaf() { } }
    }
  }
  instance Leaf::Leaf(level 0) { }
}
"""

# What it writes is the size of its blocks: no two mappings give the same.
TELLING = CUT.replace("b[i] = a[i] * 2;", "b[i] = N;")

EXTERNAL = CUT.replace("task<leaf> Twice::Leaf(in float a[N], out float b[N])\n{\n  for (long i = 0; i < N; i++)\n    b[i] = a[i] * 2;\n}",
                       "task<ext> Twice::Leaf(in float a[N], out float b[N]);")
LEAF = """
#include "sequoia_ext.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
void Leaf(sqArray_t *a, sqArray_t *b) {
  sqCalcParams();
  float *in = sqElmtSpec1D(Leaf, a, 0), *out = sqElmtSpec1D(Leaf, b, 0);
  for (unsigned i = 0; i < sqParam(Leaf, N); i++)
    out[i] = in[i] * 2;
  BODY
}
"""


class Tune(harness.Case):
    def setUp(self):
        super().setUp()
        self.tuned = self.path("tuned")

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def tune(self, *arguments, **keywords):
        return self.strata("tune", *arguments, STRATA_TUNED=self.tuned, **keywords)

    def run_tuned(self, *arguments):
        return self.succeeds("run", *arguments, STRATA_TUNED=self.tuned)

    def external(self, body):
        self.write("p.sq", EXTERNAL)
        self.write("leaf.c", LEAF.replace("BODY", body))
        return self.write("p.map", SLOW.replace("instance Leaf::Leaf(level 0) { }", 'instance Leaf::Leaf(level 0) external("leaf.c") { }')
                          .replace("block = 1", "block = 64"))

    def test_a_slow_mapping_becomes_a_fast_one_that_computes_the_same(self):
        self.write("p.sq", CUT)
        self.write("p.map", SLOW)
        data = self.save("a.npy", np.arange(20000, dtype=np.float32))
        result = self.tune("p.sq", "--map", "p.map", "--in", f"a={data}", "--trials", 12, "-o", "fast.map", "--search", "search.svg")
        self.assertEqual(result.status, 0, result)
        self.assertRegex(result.out, r"Cut on host, N=20000: [\d.]+ [mu]?s -> [\d.]+ [mu]?s, [\d.]+ times as fast")
        block = int(re.search(r"block = (\d+);", self.read("fast.map")).group(1))
        self.assertGreater(block, 16)
        self.assertRegex(result.err, "the mapping in use: block of Cut 1, ")
        self.succeeds("run", "p.sq", "--map", "fast.map", "--in", f"a={data}", "--out", "b=b.npy")
        np.testing.assert_array_equal(np.load(self.path("b.npy")), np.arange(20000, dtype=np.float32) * 2)
        drawing = xml.dom.minidom.parse(self.path("search.svg"))
        self.assertEqual(drawing.documentElement.tagName, "svg")
        # A mapping that a user has written is not replaced behind his back.
        self.assertFalse(os.path.exists(self.tuned))
        # The same in the other form, and on standard output.
        result = self.tune("p.sq", "--map", "p.map", "--in", f"a={data}", "--trials", 3, "-o", "fast.xml")
        self.assertIn("<mapping>", self.read("fast.xml"), result)
        self.assertIn('#include "host"', self.tune("p.sq", "--map", "p.map", "--in", f"a={data}", "--trials", 3, "-o", "-").out)

    def test_what_was_found_is_remembered_for_these_sizes_and_this_program(self):
        self.write("p.sq", CUT)
        result = self.tune("p.sq", "--size", "N=5000", "--trials", 4)
        self.assertEqual(result.status, 0, result)
        [file] = glob.glob(f"{self.tuned}/p-*.map")
        self.assertIn(file, result.out)
        self.assertIn("seconds: {before: ", self.read(file.replace(".map", ".yaml")))
        found = self.read(file)
        run = ["p.sq", "--in", "a=iota", "--size", "N=5000"]
        result = self.run_tuned(*run)
        self.assertIn(f"mapping: {file}, found by strata tune", result.out)
        stats = self.run_tuned(*run, "--stats=json").err
        self.assertIn(f'"mapping":"{file}"', stats)
        self.assertEqual(self.succeeds("map", "p.sq", "--size", "N=5000", STRATA_TUNED=self.tuned).out.strip(), found.strip())
        emitted = [self.succeeds("run", *run, *words, "--emit=svm", STRATA_TUNED=self.tuned).out for words in ((), ("--map", file))]
        self.assertEqual(*emitted)
        # An input's shape says as much as --size.
        data = self.save("a.npy", np.zeros(5000, np.float32))
        self.assertIn("found by strata tune", self.run_tuned("p.sq", "--in", f"a={data}").out)
        for other in (["--untuned"], ["--size", "N=5001"], ["--entry", "Twice"], ["--machine", "cell"]):
            arguments = [each for each in run if "N=5000" not in each and each != "--size"] if other[0] == "--size" else run
            self.assertNotIn("found by strata tune", self.run_tuned(*arguments, *other).out)
        self.write("p.sq", CUT + "// another program\n")
        self.assertNotIn("found by strata tune", self.run_tuned(*run).out)
        # Nothing is remembered where there is no folder for it.
        result = self.strata("tune", "p.sq", "--size", "N=5000", "--trials", 4, STRATA_TUNED="")
        self.assertNotIn("remembered", result.out)
        result = self.strata("tune", "p.sq", "--size", "N=5000", "--trials", 4, STRATA_TUNED="/dev/null/folder")
        self.assertEqual(result.status, 0, result)
        self.assertIn("warning[tune-not-remembered]", result.err)

    def test_other_machines_and_other_leaves(self):
        two = CUT + """
void task<leaf> Twice::Chain(in float a[N], out float b[N])
{
  for (long i = 0; i < N; i++) {
    float sum = 0;
    for (long k = 0; k < 1000; k++)
      sum = sum * 0.5 + a[i];
    b[i] = a[i] * 2 + (sum - sum);
  }
}
"""
        self.write("p.sq", two)
        mapped = SLOW.replace('"host"', '"cell"').replace("level 0", "level 2").replace("loop i(level 2)", "loop i(level 0)") \
            .replace("ways = auto", "fullrange = 0,8; ways = 8").replace("instance Leaf::Leaf(level 2)", "instance Leaf::Chain(level 0)")
        self.write("p.map", mapped)
        for by, said in (([], "times are estimates from the machine's description; results are the same in a run on this computer"),
                         (["--by", "runs"], "times are this computer's, whatever the machine")):
            result = self.tune("p.sq", "--map", "p.map", "--size", "N=20000", "--trials", 30, "-o", "fast.map", *by)
            self.assertEqual(result.status, 0, result)
            self.assertIn(said, result.out)
            self.assertRegex(result.err, "the mapping in use: .*variant of Leaf Chain")
            self.assertIn("instance Leaf::Leaf", self.read("fast.map"), result)
            self.assertIn("variant of Leaf Chain -> Leaf", result.out)

    def test_a_mapping_with_other_results_is_not_taken(self):
        self.write("p.sq", TELLING)
        self.write("p.map", SLOW)
        result = self.tune("p.sq", "--map", "p.map", "--size", "N=20000", "--trials", 6, "-o", "same.map")
        self.assertEqual(result.status, 0, result)
        self.assertIn("block = 1;", self.read("same.map"))
        self.assertRegex(result.out, r"(\d+) mappings tried, [1-9]\d* of them refused or with other results")

    def test_loop_programs(self):
        product = os.path.join(harness.ROOT, "examples/pla/matmul/matmul.pla")
        sizes = ["--size", "M=96,N=40,K=24"]
        result = self.tune(product, *sizes, "--trials", 6, "-o", "block.yaml")
        self.assertEqual(result.status, 0, result)
        self.assertIn("the mapping in use: block of matmul 0\n", result.err)
        self.assertIn("6 mappings tried, 0 of them refused or with other results", result.out)
        self.assertIn("nodes:\n  - node: matmul\n", self.read("block.yaml"))
        data = ["--in", "a=random", "--in", "b=random:2"]
        run = self.run_tuned(product, *sizes, *data, "--out", "c=tuned.npy")
        self.assertIn("found by strata tune", run.out)
        self.run_tuned(product, *sizes, *data, "--untuned", "--map", "block.yaml", "--out", "c=mapped.npy")
        self.run_tuned(product, *sizes, *data, "--untuned", "--out", "c=plain.npy")
        for name in ("tuned.npy", "mapped.npy"):
            np.testing.assert_array_equal(np.load(self.path(name)), np.load(self.path("plain.npy")))
        # A block that the user has stated is where the search begins.
        self.write("blocks.yaml", "nodes: [{node: matmul, block: [7]}]")
        self.assertIn("the mapping in use: block of matmul 7\n", self.tune(product, *sizes, "--map", "blocks.yaml", "--trials", 2).err)
        # Nothing to choose: one value follows from the other, or one processor computes all.
        self.write("sums.pla", "parameter N >= 1;\ninput a: int64[N];\noutput b: int64[N];\nvariable s: int64;\nfor i where 0 <= i < N {\n"
                               "  s[i] = a[i] if i == 0;\n  s[i] = s[i - 1] + a[i] if i > 0;\n  b[i] = s[i];\n}\n")
        self.is_refused("tune", "sums.pla", "--size", "N=100", code="tune-nothing")
        self.is_refused("tune", product, *sizes, "--machine", "cell", code="tune-nothing")

    def test_what_leaves_nothing_to_find_says_so(self):
        self.write("p.sq", CUT)
        self.write("leaf.sq", "void task T(inout float x);\nvoid task<leaf> T::L(inout float x) { x += 1; }\n")
        self.is_refused("tune", "leaf.sq", code="tune-nothing", mentions=("leaf.sq",))
        self.write("p.pla", "program P(N) { in float32 a[N]; out float32 b[N]; for (i = 0; i < N) b[i] = a[i]; }")
        self.assertEqual(self.tune("p.pla", "--size", "N=4").status, 1)
        self.is_refused("tune", "none.sq", code="driver-cannot-read")
        for option in ("--time", "--trials"):
            self.is_refused("tune", "p.sq", "--size", "N=100", option, "0", code="driver-usage")
        self.is_refused("tune", "p.sq", "--size", "N=100", "--search", "x.png", code="driver-output-suffix")
        self.is_refused("tune", "p.sq", "--size", "N=100", "-o", "p.sq", code="driver-output-is-input")
        self.is_refused("tune", "p.sq", "--size", "M=100", code="run-unknown-size")

    def test_a_program_that_fails_with_its_own_mapping_says_why(self):
        self.write("p.sq", CUT.replace("b[i] = a[i] * 2", "b[i] = a[i + 1]"))
        self.is_refused("tune", "p.sq", "--size", "N=100", code="index-out-of-range", mentions=("p.sq:",))
        self.write("p.sq", CUT.replace("b[i] = a[i]", "b[i] = a[i"))
        self.assertEqual(self.tune("p.sq", "--size", "N=100").status, 1)

    def test_a_mapping_with_which_the_program_fails_is_left_out(self):
        # Blocks of other sizes than 64 and its neighbours end the process behind the compiler's back, as an error of Strata would.
        mapping = self.external("if (sqParam(Leaf, N) != 64) _exit(2);")
        result = self.tune("p.sq", "--map", mapping, "--size", "N=6400", "--trials", 6, "-o", "same.map")
        self.assertEqual(result.status, 0, result)
        self.assertIn("warning[tune-broken]", result.err)
        self.assertIn("block = 64;", self.read("same.map"))

    def test_a_program_that_does_another_thing_each_time_is_refused(self):
        mapping = self.external("struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); out[0] = (float)(now.tv_nsec % 1000003);")
        for by in ("runs", "estimate"):
            self.is_refused("tune", "p.sq", "--map", mapping, "--size", "N=6400", "--trials", "2", "--by", by, code="tune-not-repeated", mentions=("'b'",))

    def test_a_search_that_is_interrupted_keeps_what_it_found(self):
        self.write("p.sq", CUT)
        self.write("p.map", SLOW)
        environment = dict(os.environ, STRATA_TUNED=self.tuned)
        with subprocess.Popen([harness.options.strata, "tune", "p.sq", "--map", "p.map", "--size", "N=2000000", "--time", "6000", "-o", "fast.map"],
                              cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            line = process.stderr.readline()  # the mapping in use has been tried
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0, line + err)
        self.assertIn("ended when it was interrupted", out)
        self.succeeds("run", "p.sq", "--map", "fast.map", "--size", "N=100", "--in", "a=iota")


if __name__ == "__main__":
    harness.main()
