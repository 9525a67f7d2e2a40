"""The two mappings that the Sequoia document prints, in XML, its slips included, applied to programs of ours that have tasks, variants, tunables,
arrays and loops of the same names: they run on the machine that they name and agree with NumPy, and so does what they are in braces."""

import json
import xml.etree.ElementTree as xml

import harness
import numpy as np

EPSILON = 2.0 ** -24

VECTOR = """
void task VectAdd(in float x[K], in float y[K], out float sum[K]);
void task<inner> VectAdd::Inner(in float x[K], in float y[K], out float sum[K])
{
  tunable T;
  mappar (long i = 0 : (K + T - 1) / T) {
    VectAdd(x[i * T; T], y[i * T; T], sum[i * T; T]);
  }
}
void task<leaf> VectAdd::Leaf(in float x[K], in float y[K], out float sum[K])
{
  for (long k = 0; k < K; k++)
    sum[k] = y[k] + x[k];
}
"""

# The mask lies the other way than in a correlation, which NumPy's convolution turns round too.
CONVOLUTION = """
void task Conv2D(in float H[Y][X], in float image[R + Y - 1][Q + X - 1], out float blurred[R][Q]);
void task<inner> Conv2D::Inner(in float H[Y][X], in float image[R + Y - 1][Q + X - 1], out float blurred[R][Q])
{
  tunable S;
  tunable T;
  mappar (long i = 0 : (R + S - 1) / S, long j = 0 : (Q + T - 1) / T) {
    Conv2D(H, image[i * S; S + Y - 1][j * T; T + X - 1], blurred[i * S; S][j * T; T]);
  }
}
void task<leaf> Conv2D::Leaf(in float H[Y][X], in float image[R + Y - 1][Q + X - 1], out float blurred[R][Q])
{
  for (long r = 0; r < R; r++)
    for (long q = 0; q < Q; q++) {
      float sum = 0;
      for (long y = 0; y < Y; y++)
        for (long x = 0; x < X; x++)
          sum += image[r + Y - 1 - y][q + X - 1 - x] * H[y][x];
      blurred[r][q] = sum;
    }
}
"""

# Elements of the two files: name, attributes, text, what is inside.
SPMD = ("spmd", {}, None, [("fullrange", {}, " 0, 8 "), ("ways", {}, " 8 "), ("iterblk", {}, "1")])
SWP = ("swp", {}, " 2 ")


def mapping(task, top, leaf, tunables, data, loops, leaf_level_first):
    level, variant = ("level", {}, "0"), ("variant", {}, "Leaf")
    return ("mapping", {}, None, [
        ("machine", {"filename": "cell.xml"}, None),
        ("entrypoints", {}, top),
        ("taskmapping", {"name": task}, None, [
            ("instance", {"name": top}, None, [
                ("variant", {}, "Inner"), ("level", {}, "2"), *(("tunable", {"name": name}, value) for name, value in tunables), *data,
                ("ctrl", {}, None, [("level", {}, "0"), *loops, ("callsite", {"name": task}, None, [("target", {"name": leaf}, None)])])]),
            ("instance", {"name": leaf}, None, [level, variant] if leaf_level_first else [variant, level])])])


VECTOR_MAP = mapping("VectAdd", "VectAddTopInst", "VectAddLeafInst", [("T", "8192")], [], [("loop", {"name": "i"}, None, [SPMD, SWP])], True)
# The name of the array stands with its size too, and in small letters.
CONVOLUTION_MAP = mapping(
    "Conv2D", "Conv2DMainInst", "Conv2DLeafInst", [("S", "32"), ("T", "256")],
    [("data", {}, None, [("array", {"name": "H"}, None, [("arraysizeprecond", {"type": "exact", "name": "h"}, "5, 5")])])],
    [("loop", {"name": "i"}, None, [SPMD]), ("loop", {"name": "j"}, None, [SWP])], False)


def element(name, attributes, text, inside=()):
    made = xml.Element(name, attributes)
    made.text = text
    made.extend(element(*each) for each in inside)
    return made


class PrintedMappings(harness.Case):
    def run_both(self, program, parts, given, output):
        """The results under the mapping as XML and in braces, which are the same bits, and the figures of the first."""
        path = self.write("program.sq", program)
        written = self.write("printed.xml", '<?xml version="1.0"?>\n' + xml.tostring(element(*parts), "unicode"))
        braces = self.write("printed.map", self.succeeds("map", path, "--map", written, "--format", "braces").out)
        results = []
        data = [word for name, array in given.items() for word in ("--in", f"{name}={self.save(name + '.npy', array)}")]
        for file in (written, braces):
            self.succeeds("run", path, "--map", file, *data, "--out", f"{output}={self.path('out.npy')}", "--check", "--stats",
                          "json:" + self.path("figures.json"))
            results.append(np.load(self.path("out.npy")))
        self.assertEqual(results[0].tobytes(), results[1].tobytes())
        with open(self.path("figures.json")) as file:
            return results[0], json.load(file)

    def test_vector_addition(self):
        random = np.random.default_rng(1)
        a, b = random.random((2, 100001), np.float32)
        got, figures = self.run_both(VECTOR, VECTOR_MAP, {"x": a, "y": b}, "sum")
        np.testing.assert_array_equal(got, a + b)
        self.assertEqual(figures["machine"], "cell")
        self.assertEqual(figures["entry"], "VectAddTopInst")
        self.assertEqual(figures["runs"], {"VectAddLeafInst": 13})  # blocks of 8192
        self.assertEqual(figures["starts"], {"ppe -> spe": 8})      # the loop is pulled
        self.assertEqual(figures["bytes"], {"main -> ls": 8 * 100001, "ls -> main": 4 * 100001})

    def test_convolution(self):
        random = np.random.default_rng(2)
        h, a = random.random((5, 5), np.float32) - np.float32(0.5), random.random((324, 1004), np.float32)
        got, figures = self.run_both(CONVOLUTION, CONVOLUTION_MAP, {"H": h, "image": a}, "blurred")
        windows = np.lib.stride_tricks.sliding_window_view(a.astype("f8"), h.shape)
        want, size = [np.einsum("ijyx,yx->ij", each(windows), each(h[::-1, ::-1].astype("f8"))) for each in (np.asarray, np.abs)]
        self.assertTrue((np.abs(got - want) <= (h.size + 2) * EPSILON * size).all())
        self.assertEqual(figures["runs"], {"Conv2DLeafInst": 10 * 4})  # 320 * 1000 in blocks of 32 * 256
        self.assertEqual(figures["starts"], {"ppe -> spe": 8})
        self.assertEqual(figures["bytes"]["ls -> main"], 4 * 320 * 1000)

    def test_the_mask_has_the_size_that_the_mapping_says(self):
        path = self.write("program.sq", CONVOLUTION)
        written = self.write("printed.xml", xml.tostring(element(*CONVOLUTION_MAP), "unicode"))
        self.is_refused("run", path, "--map", written, "--in", f"H={self.save('H.npy', np.ones((5, 3), np.float32))}", "--in", "image=random",
                        "--size", "R=40,Q=300", code="sequoia-precondition", mentions="'H'")


if __name__ == "__main__":
    harness.main()
