"""Leaves of other notations on processor arrays: what is affine in them becomes equations and runs there, to the host's last bit; what
is not runs on the core, and a remark says why, at its line. What an array has no operation for is a warning."""

import os
import re

import harness
import numpy as np

# Options and the result. Some are mapped once for all sizes; `conv2d` and `sgemv` for each set of them, since values go from the end of a
# loop to the beginning of the next one.
SEQUOIA = {
    "vectadd": (["--size", "N=100", "--in", "A=random", "--in", "B=random:2"], "C"),
    "matmul": (["--size", "M=9,N=8,P=7", "--in", "A=random", "--in", "B=random:2"], "C"),
    "saxpy": (["--size", "N=100", "--in", "a=0.5", "--in", "X=random", "--in", "Y=random:2"], "Y"),
    "scale": (["--size", "N=50", "--in", "factor=3", "--in", "x=random"], "y"),
    "sum": (["--size", "N=100", "--in", "data=random", "--in", "total=1"], "total"),
    "conv1d": (["--size", "N=40,U=5", "--in", "signal=random", "--in", "taps=random"], "filtered"),
    "conv2d": (["--size", "M=6,N=5,U=2,V=3", "--in", "image=random", "--in", "mask=random:2"], "filtered"),
    "sgemv": (["--size", "M=7,N=9", "--in", "A=random", "--in", "x=random:2", "--in", "y=zeros"], "y"),
}

HBIR = {
    "vectadd": (["--size", "n=100", "--in", "A=random", "--in", "B=random:2"], "C"),
    "matmul": (["--size", "m=8,n=8,p=8", "--in", "A=random", "--in", "B=random:2"], "C"),
    "conv2d": (["--size", "h=8,w=8,u=2,v=3", "--in", "A=random", "--in", "F=random:2"], "C"),
    "nbody": (["--size", "n=20", "--in", "P=random"], "G"),
}

# The runs of one graph of tests/matrix/graphs.c on 30 elements, and how many of its kernels' runs go onto the array.
GRAPHS = {
    "graph_0": (["aBytes=120", "bBytes=120", "cBytes=120"], {"a": 30, "b": 30, "c": 30}, "c"),
    "graph_1": (["aBytes=96", "bBytes=80", "cBytes=120", "n=5", "depth=4", "m=6"], {"a": 24, "b": 20, "c": 30}, "c"),
    "graph_2": (["fromBytes=768", "toBytes=768", "nx=6", "ny=32"], {"from": 192, "to": 192}, "to"),
}

ROOTS = """
void task Root(in float x[N], out float y[N]);
void task<leaf> Root::Of(in float x[N], out float y[N])
{
  for (long i = 0; i < N; i++)
    y[i] = sqrt(x[i]) * 2;
}
"""

HALVES = """
void task Half(in double x[N], out double y[N]);
void task<leaf> Half::Of(in double x[N], out double y[N])
{
  for (long i = 0; i < N; i++)
    y[i] = x[i] * 0.5;
}
"""

EXTERNAL = """
void task F(in float A[N], out float B[N]);
void task<ext> F::E(in float A[N], out float B[N]);
void task T(in float A[N], out float B[N]);
void task<inner> T::I(in float A[N], out float B[N]) { F(A, B); }
"""
EXTERNAL_MAPPING = """#include "MACHINE"
task T: entrypoint(Top) { instance Top::I(level 0) { control(level 0) { callsite F() { target One() { } } } } }
task F: { instance One::E(level 0) external("one.c") { } }
"""
EXTERNAL_C = """#include "sequoia_ext.h"
void One(sqArray_t *A, sqArray_t *B) {
  float *a = sqElmtSpec1D(One, A, 0), *b = sqElmtSpec1D(One, B, 0);
  for (long i = 0; i < sqParam(One, N); i++) {
    float sum = 0;
    for (long j = 0; j <= i; j++) sum = sum * 0.5f + a[j];
    b[i] = sum;
  }
}
"""


class Leaves(harness.Case):
    def result(self, program, options, output, machine):
        name = self.path(f"{machine}.npy")
        done = self.succeeds("run", program, *options, "--machine", machine, "--out", f"{output}={name}", "--check", "--werror", "--stats")
        return np.load(name), done.out

    def run_on_arrays(self, folder, suffix, examples):
        for name, (options, output) in examples.items():
            program = os.path.join(harness.ROOT, f"examples/{folder}/{name}/{name}{suffix}")
            wanted, _ = self.result(program, options, output, "host")
            for machine in ("array-4x4", "array-8x8"):
                got, said = self.result(program, options, output, machine)
                self.assertEqual(got.tobytes(), wanted.tobytes(), f"{name} on {machine}")
                self.assertRegex(said, r"array operations.*: [1-9]", f"{name} on {machine}")

    def test_sequoia(self):
        self.run_on_arrays("sequoia", ".sq", SEQUOIA)

    def test_hbir(self):
        self.run_on_arrays("hbir", ".hbir", HBIR)

    def test_hbir_in_other_forms(self):
        self.run_on_arrays("hbir", "_b.hbir", {"matmul": HBIR["matmul"]})
        self.run_on_arrays("hbir", "_c.hbir", {"conv2d": HBIR["conv2d"]})

    def test_graphs(self):
        self.succeeds("cc", "-O2", os.path.join(harness.ROOT, "tests/matrix/graphs.c"), "-o", "program", "--graphs=graphs.mlir")
        random = np.random.default_rng(1)
        for graph, (scalars, arrays, output) in GRAPHS.items():
            words = ["--entry", graph]
            for scalar in scalars:
                words += ["--in", scalar]
            for name, count in arrays.items():
                self.save(f"{name}.npy", random.random(count).astype("f4"))
                words += ["--in", f"{name}={name}.npy"]
            wanted, _ = self.result("graphs.mlir", words, output, "host")
            got, said = self.result("graphs.mlir", words, output, "array-4x4")
            self.assertEqual(got.tobytes(), wanted.tobytes(), graph)
            runs = sum(int(each) for each in re.findall(r"array runs.*: (\d+)", said))
            self.assertEqual(runs, int(re.search(r"kernel runs: (\d+)", said).group(1)), graph + ": " + said)

    def test_functions_in_c(self):
        program = self.write("external.sq", EXTERNAL)
        self.write("one.c", EXTERNAL_C)
        results = {}
        for machine in ("host", "array-4x4"):
            mapping = self.write(f"{machine}.map", EXTERNAL_MAPPING.replace("MACHINE", machine))
            results[machine], said = self.result(program, ["--map", mapping, "--size", "N=30", "--in", "A=random"], "B", machine)
        self.assertEqual(results["host"].tobytes(), results["array-4x4"].tobytes())
        self.assertRegex(said, r"array operations of mul: 465\b") # a multiply-add for each of 30 * 31 / 2

    def test_what_is_not_affine_is_said(self):
        program = os.path.join(harness.ROOT, "examples/sequoia/histogram/histogram.sq")
        values = self.save("values.npy", np.arange(64, dtype="i4") % 8)
        done = self.succeeds("run", program, "--size", "N=64,B=8", "--in", f"data={values}", "--machine", "array-4x4", "--check", "--remarks")
        self.assertIn("[array-interpreted]", done.err)
        self.assertRegex(done.err, r"histogram\.sq:\d+:\d+")

    def narrow(self):
        """The small array with words of 4 bytes."""
        with open(os.path.join(harness.ROOT, "machines/array-2alu/machine.yaml")) as file:
            return self.write("narrow.yaml", file.read().replace("word: 8", "word: 4"))

    def test_an_operation_that_the_array_lacks(self):
        program = os.path.join(harness.ROOT, "examples/pla/lu/lu.pla")
        result = self.strata("run", program, "--machine", self.narrow(), "--size", "N=4", "--in", "a=random")
        self.assertEqual(result.status, 1, result)
        self.assertRegex(result.err, r"error\[array-word\]: .* float64")
        self.assertRegex(result.err, r"error\[array-operation\]: .* .div.")

    def test_an_operation_that_the_array_lacks_in_a_leaf(self):
        for text, what in ((ROOTS, "'sqrt'"), (HALVES, "float64, 8 bytes")):
            program = self.write("leaf.sq", text)
            options = ("run", program, "--entry", "Root" if text is ROOTS else "Half", "--size", "N=4", "--in", "x=random", "--machine", self.narrow())
            done = self.succeeds(*options, "--check")
            self.assertRegex(done.err, r"warning\[array-lacks\]: kernel '[\w.]+' runs on the core.*" + what)
            self.assertRegex(done.err, r"leaf\.sq:3:\d+")
            self.assertIn("6 |", done.err)
            self.assertIn("--werror makes it an error", done.err)
            result = self.strata(*options, "--werror")
            self.assertEqual(result.status, 1, result)
            self.assertIn("error[array-lacks]", result.err)


if __name__ == "__main__":
    harness.main()
