"""Loops whose iterations run in vector lanes although they hold other loops: random nests in every element type, of sizes around
full registers, against the interpreter (--check), and how many threads there are changes no bit."""

import random
import re

import harness
import numpy as np
from harness import Case

MAP = """#include "host"
task Nest: entrypoint(Top) {
  instance Top::Blocks(level 0) {
    tunable rows = %d; tunable columns = %d;
    control(level 0) { loop i(level 0) { spmd { ways = auto; } } loop j(level 0) { } callsite Nest() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""
PARAMETERS = "(in {t} A[M + U - 1][N + V - 1], in {t} H[U][V], in {o} X[N], inout {t} C[M][N], out {o} D[M][N])"
PROGRAM = """
void task Nest{parameters};
void task<inner> Nest::Blocks{parameters} {{
  tunable rows, columns;
  mappar (long i = 0 : (M + rows - 1) / rows, long j = 0 : (N + columns - 1) / columns) {{
    Nest(A[i * rows; rows + U - 1][j * columns; columns + V - 1], H, X[j * columns; columns],
         C[i * rows; rows][j * columns; columns], D[i * rows; rows][j * columns; columns]);
  }}
}}
void task<leaf> Nest::Leaf{parameters} {{
  for ({i} m = 0; m < M; m++)
    for ({i} n = 0; n < N; n++) {{
      {t} s = {start};
      {o} other = X[n];
      int rounds = 0;
      for ({i} u = 0; u < U; u++) {{
        {choice}
        for ({i} v = 0; v < V; v++) {{
          s = {step};
          other = {other};
        }}
        rounds++;
      }}
      C[m][n] {into} s;
      D[m][n] = other + rounds;
    }}
}}
"""
REAL, WHOLE = ("float", "double"), ("int", "long", "short", "unsigned", "char", "unsigned char")


def program(choose):
    """A nest, and whether its columns can go in lanes whatever its types are."""
    t, o = choose.choice(REAL + WHOLE), choose.choice(REAL + WHOLE)
    image, mask = "A[m + u][n + v]", "H[u][v]"
    steps = [f"s + {mask} * {image}", f"max(s, {image})", f"s < {image} ? {image} : s - {mask}", f"s * 2 - {image}", f"{image} - s * X[n]"]
    if t in REAL:
        steps += [f"s + sqrt({image} * {image} + 1)", f"s + {mask} / (2 + {image} * {image})", f"fma(s, {mask}, {image})"]
    else:
        steps += [f"s ^ ({image} & 12)", f"s + ({image} >> 1)"]
    text = PROGRAM.format(
        parameters=PARAMETERS.format(t=t, o=o), t=t, o=o, i=choose.choice(("long", "int")),
        start=choose.choice(("0", "C[m][n]", "1", "n + 1", "A[m][n]")),
        choice=choose.choice(("", "if (u != 1)", "if (H[u][0] > 0)")),
        step=choose.choice(steps), other=choose.choice((f"other + {image}", "other - X[n]", f"({image} > 0) ? other : 3", "n - other")),
        into=choose.choice(("=", "+=", "-=")))
    return text


def extreme(left, right, is_least, has_number_first):
    """Element by element: -0 is less than 0, and of a number and a NaN comes which is asked for."""
    signs = np.signbit(left) | np.signbit(right) if is_least else np.signbit(left) & np.signbit(right)
    equal = np.copysign(left, np.where(signs, -1, 1).astype(left.dtype))
    better = np.where(left == right, equal, np.where(left < right if is_least else left > right, left, right))
    nans = np.where(np.isnan(left), right, left) if has_number_first else np.full_like(left, np.nan)
    return np.where(np.isnan(left) | np.isnan(right), nans, better)


class Lanes(Case):
    def assert_same_bits(self, found, right):
        """But for which NaN it is."""
        bits = f"u{right.itemsize}"
        wrong = (found.view(bits) != right.view(bits)) & ~(np.isnan(found) & np.isnan(right))
        self.assertFalse(wrong.any(), f"{found[wrong]} for {right[wrong]}, at {np.argwhere(wrong).tolist()}")

    def compare(self, text, rows, columns, sizes, threads=(1, 3)):
        self.write("p.sq", text)
        self.write("m.map", MAP % (rows, columns))
        shape = ",".join(f"{name}={value}" for name, value in sizes.items())
        results = []
        for count in threads:
            inputs = [word for name in "AHXC" for word in ("--in", f"{name}=random:{ord(name)}")]
            self.succeeds("run", "p.sq", "--map", "m.map", "--size", shape, *inputs, "--threads", count, "--check",
                          "--out", "C=c.npy", "--out", "D=d.npy")
            results.append((np.load(self.path("c.npy")).tobytes(), np.load(self.path("d.npy")).tobytes()))
        for other in results[1:]:
            self.assertEqual(other, results[0])

    def test_random_nests(self):
        for seed in range(40):
            choose = random.Random(seed)
            text = program(choose)
            sizes = {"M": choose.randint(1, 5), "N": choose.choice((1, 7, 8, 15, 16, 17, 31, 64, 65, 100, 131)), "U": choose.randint(1, 4),
                     "V": choose.randint(1, 5)}
            with self.subTest(seed=seed, sizes=sizes):
                self.compare(text, choose.choice((1, 2, 256)), choose.choice((13, 64, 512)), sizes)

    def test_limits_at_the_ends_of_what_a_number_holds(self):
        """Conditions on a loop's variable become its bounds: "no limit" is one that nothing can be added to."""
        ends = (-(1 << 63), -(1 << 63) + 1, -1, 0, 5, 33, (1 << 63) - 2, (1 << 63) - 1)
        parameters = "(in long limit, in float X[N], inout float Y[N])"
        signs = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}
        for sign, holds in signs.items():
            for first in (0, 1):
                self.write("p.sq", f"void task F{parameters};\nvoid task<leaf> F::A{parameters}\n{{\n  for (long i = {first}; i < N; i++)\n"
                                   f"    if (i {sign} limit) Y[i] = 2 * X[i];\n}}\n")
                for limit in ends:
                    with self.subTest(sign=sign, first=first, limit=limit):
                        self.succeeds("run", "p.sq", "--size", "N=33", "--in", f"limit={limit}", "--in", "X=3", "--in", "Y=zeros", "--out", "Y=y.npy")
                        right = [6.0 if i >= first and holds(i, limit) else 0.0 for i in range(33)]
                        self.assertEqual(np.load(self.path("y.npy")).tolist(), right)
        # Negative numbers are great ones without a sign.
        parameters = parameters.replace("in long", "in unsigned long")
        self.write("p.sq", f"void task F{parameters};\nvoid task<leaf> F::A{parameters}\n{{\n  for (long i = -5; i < N - 5; i++)\n"
                           "    if ((unsigned long)i < limit) Y[i + 5] = 2 * X[i + 5];\n}\n")
        for limit in (0, 7, (1 << 63) - 1, 1 << 63, (1 << 64) - 3, (1 << 64) - 1):
            with self.subTest(limit=limit):
                self.succeeds("run", "p.sq", "--size", "N=33", "--in", f"limit={limit}", "--in", "X=3", "--in", "Y=zeros", "--out", "Y=y.npy")
                self.assertEqual(np.load(self.path("y.npy")).tolist(), [6.0 if i % (1 << 64) < limit else 0.0 for i in range(-5, 28)])

    def test_the_least_and_greatest_of_zeros_and_nans(self):
        parameters = "(in {0} X[N], in {0} Y[N], out {0} Z[8][N])"
        for element, suffix in (("float", "f"), ("double", "")):
            values = np.array([0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-310 if element == "double" else 1e-40, 1e30], "f8" if element == "double" else "f4")
            x, y = np.repeat(values, len(values)), np.tile(values, len(values))
            zero, one = np.zeros_like(x), np.ones_like(x)
            calls = [("fmin(X[i], Y[i])", x, y), ("fmax(X[i], Y[i])", x, y), ("fmin(X[i], 0.0@)", x, zero), ("fmin(-0.0@, X[i])", -zero, x),
                     ("fmax(X[i], -0.0@)", x, -zero), ("fmax(0.0@, X[i])", zero, x), ("fmax(X[i], 1.0@)", x, one), ("fmin(0.0@, -0.0@)", zero, -zero)]
            lines = "".join(f" Z[{row}][i] = {call.replace('@', suffix)};" for row, (call, _, _) in enumerate(calls))
            given = parameters.format(element)
            self.write("p.sq", f"void task E{given};\nvoid task<leaf> E::L{given} {{ for (long i = 0; i < N; i++) {{{lines} }} }}\n")
            self.succeeds("run", "p.sq", "--in", "X=" + self.save("x.npy", x), "--in", "Y=" + self.save("y.npy", y), "--out", "Z=z.npy", "--check")
            for row, (call, left, right) in enumerate(calls):
                with self.subTest(element=element, call=call):
                    self.assert_same_bits(np.load(self.path("z.npy"))[row], extreme(left, right, call.startswith("fmin"), True))
        with open(f"{harness.ROOT}/docs/vector_add.mlir") as file:
            text = file.read()
        x, y = (each.astype("f4") for each in (x, y))
        for name in ("minimumf", "maximumf", "minnumf", "maxnumf"):
            with self.subTest(operation=name):
                self.write("p.mlir", text.replace("arith.addf", "arith." + name))
                self.succeeds("run", "p.mlir", "--machine", "host", "--in", "A=" + self.save("x.npy", x), "--in", "B=" + self.save("y.npy", y),
                              "--out", "C=c.npy", "--check")
                self.assert_same_bits(np.load(self.path("c.npy")), extreme(x, y, name.startswith("min"), "num" in name))

    def test_columns_that_rows_read_again_come_in_panels(self):
        """Products so long that half a cache holds few of their columns; whole numbers, whose sums are exact."""
        parameters = "(in {0} A[M][K], in {0} B[K][N], out {0} C[M][N])"
        for element in ("int", "double"):
            given = parameters.format(element)
            self.write("p.sq", f"void task P{given};\nvoid task<leaf> P::L{given}\n{{\n  for (long i = 0; i < M; i++)\n    for (long j = 0; j < N; j++) {{\n"
                               f"      {element} sum = 0;\n      for (long k = 0; k < K; k++) sum += A[i][k] * B[k][j];\n      C[i][j] = sum;\n    }}\n}}\n")
            for m, n, k in ((7, 150, 5000), (13, 64, 4097), (6, 129, 70000), (1, 70, 5000), (12, 300, 1500), (20, 1, 9000)):
                with self.subTest(element=element, sizes=(m, n, k)):
                    random = np.random.default_rng(m)
                    a, b = (random.integers(-50, 50, shape).astype(np.int32 if element == "int" else np.float64) for shape in ((m, k), (k, n)))
                    self.succeeds("run", "p.sq", "--in", "A=" + self.save("a.npy", a), "--in", "B=" + self.save("b.npy", b), "--out", "C=c.npy")
                    self.assertTrue((np.load(self.path("c.npy")) == a @ b).all())

    def test_a_convolution_runs_in_lanes(self):
        vector = int(re.search(r"vector: (\d+)", self.succeeds("machine", "host").out).group(1))
        for element, lanes in (("float", vector // 4), ("double", vector // 8)):
            text = PROGRAM.format(parameters=PARAMETERS.format(t=element, o=element), t=element, o=element, i="long", start="0", choice="",
                                  step="s + H[u][v] * A[m + u][n + v]", other="other", into="=")
            self.write("p.sq", text)
            self.write("m.map", MAP % (8, 64))
            emitted = self.succeeds("run", "p.sq", "--map", "m.map", "--emit=llvm", "-o", "-").out
            self.assertIn(f"@llvm.masked.store.v{lanes}f", emitted)


if __name__ == "__main__":
    harness.main()
