"""Data in and out of the command, against NumPy: generators recomputed from their documentation, file orders and byte orders,
structs and complex numbers."""

import harness
import numpy as np
from programs import PROGRAMS, first

VECTADD = next(p for p in PROGRAMS if p.name == "vectadd")


def splitmix64(seed, count):
    """The first outputs of splitmix64, from its definition."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype="u8") * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


class Data(harness.Case):
    def add(self, a, b, size=None):
        """A + B by examples/sequoia/vectadd."""
        read, written = first(VECTADD.parameters(), "in"), first(VECTADD.parameters(), "out", "inout")
        sizes = ["--size", f"{read[0].dimensions[0]}={size}"] if size else []
        self.succeeds("run", VECTADD.path, *sizes, "--in", f"{read[0].name}={a}", "--in", f"{read[1].name}={b}",
                      "--out", f"{written[0].name}={self.path('c.npy')}")
        return np.load(self.path("c.npy"))

    def test_random_is_as_documented(self):
        want = (splitmix64(42, 1000) >> np.uint64(40)).astype("f4") * np.float32(2.0 ** -24)
        self.assertEqual(self.add("random:42", "zeros", 1000).tobytes(), want.tobytes())

    def test_generators(self):
        self.assertEqual(self.add("iota", "2.5", 5).tolist(), [2.5, 3.5, 4.5, 5.5, 6.5])

    def test_random_arrays_differ_by_name(self):
        double = self.add("random", "random", 100)
        single = self.add("random", "zeros", 100)
        self.assertNotEqual(double.tolist(), (single + single).tolist())
        self.assertEqual(single.tobytes(), self.add("random", "zeros", 100).tobytes())

    def test_other_byte_order(self):
        a = self.save("a.npy", np.arange(7, dtype=">f4"))
        self.assertEqual(self.add(a, "0").tolist(), list(range(7)))

    def test_fortran_order(self):
        matmul = next(p for p in PROGRAMS if p.name == "matmul")
        given = matmul.make((5, 6, 7))
        results = []
        for order in ("C", "F"):
            command = ["run", matmul.path]
            for name, array in given.items():
                command += ["--in", f"{name}={self.save(f'{order}-{name}.npy', np.asarray(array, order=order))}"]
            output = first(matmul.parameters(), "out", "inout")[0].name
            self.succeeds(*command, "--out", f"{output}={self.path(order + '.npy')}")
            results.append(np.load(self.path(order + ".npy")).tobytes())
        self.assertEqual(results[0], results[1])


if __name__ == "__main__":
    harness.main()
