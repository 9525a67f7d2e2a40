"""Every loop program on every machine with levels, at three sizes: exactly NumPy's result, the interpreter's (--check), and the same again
from its form in the dialect. With --brief: the other machines and the sizes at the edges in turn. Wrong sizes, wrong options and numbers that end a program."""

import functools
import itertools
import math
import os
import random
import re
from xml.etree import ElementTree

import harness
import numpy as np
from pla_programs import check, input_options, programs, run

MACHINES = ("host", "cell", "cell-disk", "smp-2level", "cluster")


class LoopPrograms(harness.Case):
    def wrong(self, text, code, *options):
        self.is_refused(code, "run", self.write("wrong.pla", text), *options)

    def test_dependences_are_drawn(self):
        program = os.path.join(harness.ROOT, "examples/pla/systolic/systolic.pla")
        self.succeeds("show", program, "-o", self.path("g.svg"))
        with open(self.path("g.svg")) as file:
            drawing = file.read()
        for words in ("input a", "output c", "= s[i, j, k - 1]", "(0, 1, 1)"):
            self.assertIn(words, drawing)
        ElementTree.fromstring(drawing)

    def test_sizes_that_do_not_agree(self):
        path = next(program.path for program in programs() if program.name == "matmul")
        a, b = self.save("a.npy", np.zeros((3, 4), "f4")), self.save("b.npy", np.zeros((5, 2), "f4"))
        self.is_refused("", "run", path, "--in", f"a={a}", "--in", f"b={b}")

    def test_a_size_that_the_program_excludes(self):
        path = next(program.path for program in programs() if program.name == "fir")
        self.is_refused("pla-size", "run", path, "--size", "N=3,T=5", "--in", "x=random", "--in", "h=random")

    def test_messages_about_sizes_and_arguments_have_the_place_of_the_declaration(self):
        program = self.write("window.pla", """parameter H, K >= 1, T;
assume K <= H and T <= K;
input  image: float[H],
       weight: float[K], gap: int;
output y: float[H - K + 1];
for i, k where 0 <= i < H - K + 1 and 0 <= k < K { y[i] = sum[k](image[i + k] * weight[k] * float(gap + 0 * T)); }
""".replace(" + 0 * T", ""))
        data = ("--in", "image=1", "--in", "weight=1", "--in", "gap=2", "--in", "T=1")
        for command, given in (("run", data), ("check", ()), ("build", ("-o", "x.so"))):
            for sizes, place, mentions in (
                    ("H=0,K=1", "2:8", ["sizes with H >= K, and H is 0 and K is 1"]), ("H=4,K=0", "1:14", ["sizes with K >= 1, and K is 0"]),
                    ("H=3,K=5", "2:8", ["sizes with H >= K, and H is 3 and K is 5", "K=5"])):
                with self.subTest(command=command, sizes=sizes):
                    result = self.strata(command, program, *given, "--size", sizes)
                    self.assertEqual(result.status, 1, str(result))
                    self.assertIn("error[pla-size]", result.err)
                    self.assertIn(f"window.pla:{place}", result.err)
                    for words in mentions:
                        self.assertIn(words, result.err)
        # A parameter that no extent tells is known when the program runs.
        self.is_refused("run", program, "--size", "H=4,K=2", "--in", "image=1", "--in", "weight=1", "--in", "gap=2", "--in", "T=3", code="pla-size",
                        mentions=["window.pla:2:19", "sizes with K >= T, and K is 2 and T is 3"])
        self.is_refused("run", program, "--size", "H=4,K=2", "--in", "image=1", "--in", "weight=1", "--in", "T=1", code="run-missing-input",
                        mentions=["window.pla:4:26", "'gap'"])
        self.is_refused("run", program, "--size", "H=4,K=2", *data[:-2], code="run-missing-input", mentions=["window.pla:1:22", "'T'"])
        self.is_refused("run", program, *data, "--size", "H=4", code="run-missing-size", mentions=["window.pla:4:8", "its extents depend on it"])
        self.is_refused("check", program, "--size", "T=3", code="run-unknown-size", mentions="'T' is an argument: --in T=3")

    def test_extents_with_a_factor_tell_their_parameter(self):
        windows = self.write("windows.pla", """parameter N >= 1, R >= 0;
input x: int64[N], h: int64[2 * R + 1];
output y: int64[N];
for i, k where 0 <= i < N and -R <= k <= R { y[i] = sum[k](x[i] * h[k + R]); }
""")
        x, h = np.arange(7), np.arange(5) - 3
        given = ("--in", f"x={self.save('x.npy', x)}", "--in", f"h={self.save('h.npy', h)}")
        self.succeeds("run", windows, *given, "--check", "--out", "y=y.npy")
        self.assertEqual(np.load(self.path("y.npy")).tolist(), (x * h.sum()).tolist())
        self.succeeds("run", windows, "--size", "N=7,R=2", "--in", "x=1", "--in", "h=1", "--out", "y=y.npy")
        self.assertEqual(np.load(self.path("y.npy")).tolist(), [5] * 7)
        even = self.save("even.npy", np.arange(4))
        self.is_refused("run", windows, given[0], given[1], "--in", f"h={even}", code="run-missing-size",
                        mentions="dimension 0 of 'h' is 4, which is 2 * R + 1 for no whole 'R'")

    def test_the_order_of_iterators_says_nothing(self):
        """A product of products, with the iterators in every order: the way of the values of the first to where the second uses them is found."""
        size, random = 5, np.random.default_rng(1)
        a, b, c = (random.integers(-9, 9, (size, size)) for _ in range(3))
        given = [word for name, array in (("a", a), ("b", b), ("c", c)) for word in ("--in", f"{name}={self.save(name + '.npy', array)}")]
        for order in itertools.permutations("ijk"):
            path = self.write("products.pla", f"""parameter N >= 1;
input a, b, c: int64[N, N];
output d: int64[N, N];
variable p: int64;
for {', '.join(order)} where 0 <= i < N and 0 <= j < N and 0 <= k < N {{
  p[i, j] = sum[k](a[i, k] * b[k, j]);
  d[i, j] = sum[k](p[i, k] * c[k, j]);
}}
""")
            self.succeeds("run", path, *given, "--check", "--out", "d=d.npy")
            self.assertEqual(np.load(self.path("d.npy")).tolist(), (a @ b @ c).tolist(), order)

    def test_processors_share_a_program(self):
        """Parts of a few rows each, in steps where values are handed on, give what one processor gives; the mapping says how many rows."""
        product = os.path.join(harness.ROOT, "examples/pla/matmul/matmul.pla")
        stencil = os.path.join(harness.ROOT, "examples/pla/jacobi2d/jacobi2d.pla")
        random = np.random.default_rng(4)
        a, b, grid = (random.random(shape, np.float32) for shape in ((37, 11), (11, 19), (23, 17)))
        for program, name, data in ((product, "matmul", [("a", a), ("b", b)]), (stencil, "jacobi2d", [("a", grid)])):
            given = [word for array, value in data for word in ("--in", f"{array}={self.save(array + '.npy', value)}")]
            given += ["--in", "T=6"] if name == "jacobi2d" else []
            out = "c" if name == "matmul" else "b"
            self.succeeds("run", program, *given, "--out", f"{out}=whole.npy")
            for block in (1, 5):
                mapping = self.write("blocks.yaml", f"machine: host\nnodes:\n  - {{node: {name}, processor: core, block: [{block}]}}\n")
                run = self.succeeds("run", program, *given, "--map", mapping, "--threads", 1 + block % 4, "--out", f"{out}=parts.npy", "--stats")
                np.testing.assert_array_equal(np.load(self.path("parts.npy")), np.load(self.path("whole.npy")))
                rows, steps = data[0][1].shape[0], 7 if name == "jacobi2d" else 1
                self.assertIn(f"runs {name}.equations: {-(-rows // block) * steps}\n", run.out)
                # Written down and read again it is the same program.
                text = self.succeeds("map", program, "--map", mapping).out
                self.assertEqual(text, f"machine: host\nnodes:\n  - node: {name}\n    processor: core\n    block: [{block}]\n")
                self.write("p.mlir", self.succeeds("run", program, *given, "--map", mapping, "--emit=svm").out)
                again = self.succeeds("run", "p.mlir", *given, "--stats", "--out", f"{out}=again.npy").out
                self.assertIn(f"runs {name}.equations: {-(-rows // block) * steps}\n", again)
                np.testing.assert_array_equal(np.load(self.path("again.npy")), np.load(self.path("whole.npy")))
        self.assertEqual(self.succeeds("map", product).out, "machine: host\nnodes:\n  - node: matmul\n    processor: core\n")

    def test_mappings_that_are_wrong(self):
        program = os.path.join(harness.ROOT, "examples/pla/matmul/matmul.pla")
        given = ["--size", "M=8,N=8,K=8", "--in", "a=1", "--in", "b=1"]
        for text, code, mentions in (("nodes: [{node: product}]", "pla-map-node", "'matmul'"), ("nodes: [{node: matmul, processor: spe}]", "pla-map-processor", "'core'"),
                                     ("nodes: [{node: matmul, block: [4, 4]}]", "pla-map-block", "block: [64]"),
                                     ("nodes: [{node: matmul, block: [0]}]", "machine-bad-value", "'block'"), ("nodes: [{node: matmul}, {node: matmul}]", "map-node-twice", "'matmul'"),
                                     ("nods: []", "machine-unknown-field", "'nodes'"), ("", "machine-wrong-type", "mapping")):
            for command in ("run", *given), ("map",):
                self.is_refused(command[0], program, *command[1:], "--map", self.write("m.yaml", text), code=code, mentions=["m.yaml:1:", mentions])
        self.is_refused("run", program, *given, "--map", "none.yaml", code="driver-cannot-read-mapping")
        mapping = self.write("m.yaml", "nodes: [{node: matmul, block: [4]}]")
        for command in ("run", *given), ("map",):
            self.is_refused(command[0], program, *command[1:], "--map", mapping, "--machine", "cell", code="pla-map-one", mentions=["m.yaml:1:31", "'cell'"])
            self.is_refused(command[0], program, *command[1:], "--map", mapping, "--machine", "array-4x4", code="driver-array-mapping", mentions="--tile")
        self.is_refused("map", program, "--template", code="pla-mapping-form")
        # Of a recurrence nothing is divided: that is said, and it runs.
        recurrence = self.write("sums.pla", """parameter N >= 1;
input a: int64[N];
output b: int64[N];
variable s: int64;
for i where 0 <= i < N {
  s[i] = a[i] if i == 0;
  s[i] = s[i - 1] + a[i] if i > 0;
  b[i] = s[i];
}
""")
        run = self.succeeds("run", recurrence, "--size", "N=9", "--in", "a=iota", "--map", self.write("m.yaml", "nodes: [{node: sums, block: [4]}]"), "--out", "b=b.npy")
        self.assertIn("warning[equations-not-divided]", run.err)
        self.assertIn("m.yaml:1:", run.err)
        self.assertEqual(np.load(self.path("b.npy")).tolist(), np.arange(9).cumsum().tolist())

    def kept(self, path, size, given):
        """Bytes of the blocks that hold a program's variables, where sizes are known when it is compiled."""
        text = self.succeeds("run", path, "--machine", "cell-disk", "--size", f"N={size}", *given, "--emit=scheduled").out
        found = re.findall(r'svm\.block "[^"]*\.equations\.[^"]*"\([^)]*\) max \[([\d, ]+)\].*?memref<[?x]*[a-z]+(\d+)', text)
        return sum(math.prod(map(int, bounds.split(","))) * int(bits) // 8 for bounds, bits in found)

    def test_memory_of_values_used_far_away(self):
        """What is used where it was defined is kept once, in as many dimensions as tell its instances apart."""
        products = self.write("products.pla", """parameter N >= 1;
input a, b, c, e: double[N, N];
output d: double[N, N];
variable p, q: double;
for i, k, j where 0 <= i < N and 0 <= j < N and 0 <= k < N {
  p[i, j] = sum[k](a[i, k] * b[k, j]);
  q[i, j] = sum[k](c[i, k] * e[k, j]);
  d[i, j] = sum[k](p[i, k] * q[k, j]);
}
""")
        given = [word for name in "abce" for word in ("--in", f"{name}=random")]
        self.assertLessEqual(self.kept(products, 40, given), 8 * (2 * 40 * 40 + 3 * 40))
        solve = self.write("solve.pla", """parameter N >= 1;
input l: double[N, N], b: double[N];
output x: double[N];
variable s, v: double;
for j, i where 0 <= i < N and 0 <= j < N {
  s[i, j] = b[i] if j == 0;
  s[i, j] = s[i, j - 1] - l[i, j - 1] * v[j - 1] if 0 < j <= i;
  v[i] = s[i, i] / l[i, i] if j == 0;
  x[i] = v[i] if j == 0;
}
""")
        self.assertLessEqual(self.kept(solve, 40, ("--in", "l=random:1:1:2", "--in", "b=random")), 8 * 2 * 40)
        ways = next(program.path for program in programs() if program.name == "floyd")
        self.assertLessEqual(self.kept(ways, 40, ("--in", "w=random")), 4 * 2 * 40 * 40)
        corner = self.write("corner.pla", """parameter N >= 1;
input a: double[N];
output y: double[N, N];
variable v: double;
for i, j, k where 0 <= i < N and 0 <= j < N and 0 <= k < N {
  v[i, j, k] = a[i] if j == i and k == N - 1;
  y[i, j] = v[j, j, N - 1] - v[0, 0, N - 1] if k == 0;
}
""")  # one instance a line, told apart by one number
        self.assertLessEqual(self.kept(corner, 40, ("--in", "a=random")), 8 * 40)

    def test_what_no_array_could_pass_on(self):
        """Processors with a memory read values where they were defined, however the way there changes; arrays refuse."""
        random, size = np.random.default_rng(3), 6
        a, b, f = random.integers(-9, 9, (size, size)), random.integers(-9, 9, (size, size)), random.integers(-9, 9, size)
        back = np.zeros(size, int)
        for i in reversed(range(size)):
            back[i] = f[:i + 1].sum() - sum(a[i, j] * back[j] for j in range(i + 1, size))
        mean = a.sum(axis=0)
        cases = {
            "for i where 0 <= i < N and 0 <= j < 1 { v[i] = f[i] if j == 0; y[i, j] = v[N - 1 - i] * v[0]; }": (f[::-1] * f[0])[:, None],
            "for i where 0 <= i < N and 0 <= j < N { v[i, j] = a[i, j] - b[i, j]; y[i, j] = v[j, i] * v[i, j]; }": (a - b).T * (a - b),
            "for i where 0 <= i < N and 0 <= j < N and 0 <= k < N { v[j] = sum[i](a[i, j]) if k == 0;"
            " y[i, j] = sum[k]((a[k, i] - v[i]) * (a[k, j] - v[j])); }": (a - mean).T @ (a - mean),  # which arrays take
            # A solve from the last to the first, of what a sum from the first to the last has given.
            "for i where 0 <= i < N and 0 <= j < N { u[i] = f[i] if j == 0 and i == 0; u[i] = u[i - 1] + f[i] if j == 0 and i > 0;"
            " s[i, j] = u[N - 1 - i] if j == 0; s[i, j] = s[i, j - 1] - a[N - 1 - i, N - j] * v[j - 1] if 0 < j <= i;"
            " v[i] = s[i, i] if j == i; y[i, j] = v[N - 1 - i] if j == 0; y[i, j] = 0 if j > 0; }": back[:, None] * (np.arange(size) == 0),
            "for i where 0 <= i < N and 0 <= j < N { v[2 * i, j] = a[i, j]; v[2 * i + 1, j] = b[i, j];"
            " y[i, j] = v[i, j] * v[2 * N - 1 - i, N - 1 - j]; }":
                np.stack((a, b), 1).reshape(2 * size, size)[:size] * np.stack((a, b), 1).reshape(2 * size, size)[:size - 1:-1, ::-1],
        }
        for text, wanted in cases.items():
            text = text.replace("for i ", "for i, j, k " if "< N and 0 <= k" in text else "for i, j ", 1)
            used = [name for name in ("a", "b", "f") if f"{name}[" in text]
            declared = "".join(f"input {name}: int64[N{', N' if name != 'f' else ''}];\n" for name in used)
            variables = [name for name in ("s", "u", "v") if f"{name}[" in text]
            path = self.write("far.pla", f"parameter N >= 1;\n{declared}output y: int64[N, {1 if 'j < 1' in text else 'N'}];\n"
                              f"variable {', '.join(variables)}: int64;\n{text}\n")
            given = [word for name in used for word in ("--in", f"{name}={self.save(name + '.npy', {'a': a, 'b': b, 'f': f}[name])}")]
            for machine in ("host", "cell-disk"):
                self.succeeds("run", path, *given, "--machine", machine, "--check", "--out", "y=y.npy")
                self.assertEqual(np.load(self.path("y.npy")).tolist(), wanted.tolist(), text)
            if "sum" not in text:
                self.is_refused("run", path, *given, "--machine", "array-4x4", code="equations-not-uniform")
                self.is_refused("run", path, "--emit=uniform", code="equations-not-uniform")

    def test_sizes_that_iterations_are_not_computed_with(self):
        """Conditions with remainders are computed as they stand, with large factors: sizes for which that needs more than 64 bits end the program."""
        text = ("parameter N >= 0, T >= 0;\ninput a: int32[N];\noutput y: int32[N];\nfor i where 0 <= i < N {\n"
                "  y[i] = a[i] if i mod 3 == 1 or FACTOR * i >= T;\n  y[i] = -a[i] if not (i mod 3 == 1 or FACTOR * i >= T);\n}\n")
        path, a = self.write("large.pla", text.replace("FACTOR", "1073741824")), np.arange(1, 8, dtype="i4")
        given, factor, i = ("--in", f"a={self.save('a.npy', a)}"), 1 << 30, np.arange(7)
        for most in (0, factor, 3 * factor + 1, 1 << 58):
            self.succeeds("run", path, *given, "--in", f"T={most}", "--check", "--out", "y=y.npy")
            wanted = np.where((i % 3 == 1) | (i * factor >= most), a, -a)
            self.assertEqual(np.load(self.path("y.npy")).tolist(), wanted.tolist(), most)
        self.is_refused("run", path, *given, "--in", f"T={(1 << 63) - 1}", code="equations-size", mentions="'T' is 9223372036854775807")

    def test_bounds_and_remainders_joined(self):
        """Guards such as 'i < c or i mod m != r' and their opposites cover every iteration once, and less is refused."""
        for least, modulus, rest in itertools.product((1, 2, 4), (2, 3), (0, 1)):
            guard = f"i >= {least} and i mod {modulus} == {rest}"
            text = f"""parameter N >= 1;
input a: int64[N];
output b: int64[N];
for i where 0 <= i < N {{
  b[i] = a[i] * 2 if not ({guard});
  b[i] = a[i] + 3 if {guard}%s;
}}
"""
            i = np.arange(11)
            self.succeeds("run", self.write("guards.pla", text % ""), "--size", "N=11", "--in", "a=iota", "--check", "--out", "b=b.npy")
            wanted = np.where((i >= least) & (i % modulus == rest), i + 3, 2 * i)
            self.assertEqual(np.load(self.path("b.npy")).tolist(), wanted.tolist(), guard)
            self.is_refused("check", self.write("holes.pla", text % f" and i < {least + 2 * modulus}"), code="equations-")

    def test_many_conditions_on_one_iterator(self):
        """Alternatives that contradict each other are none: of twenty unequal numbers twenty-one ranges are left."""
        others = " and ".join(f"i != {number}" for number in range(0, 60, 3))
        text = f"""parameter N >= 1;
output b: int32[N];
for i where 0 <= i < N {{
  b[i] = 7 if {others} and i >= 2 and i != 4 and i < 70;
  b[i] = 0 if not ({others} and i >= 2 and i != 4 and i < 70);
}}
"""
        self.succeeds("run", self.write("many.pla", text), "--size", "N=75", "--check", "--out", "b=b.npy")
        i = np.arange(75)
        wanted = np.where(((i % 3 != 0) | (i >= 60)) & (i >= 2) & (i != 4) & (i < 70), 7, 0)
        self.assertEqual(np.load(self.path("b.npy")).tolist(), wanted.tolist())

    def test_many_conditions_on_two_iterators(self):
        """Alternatives within others are none: the points that are left out leave fewer rectangles than there are ways to combine the ranges."""
        pick = random.Random(7)
        out = {(pick.randrange(40), pick.randrange(40)) for _ in range(30)}
        others = " and ".join(f"(i != {i} or j != {j})" for i, j in sorted(out)[::2] + sorted(out)[1::2])
        text = f"""parameter N >= 40;
output b: int32[N, N];
for i, j where 0 <= i < N and 0 <= j < N {{
  b[i, j] = 7 if {others};
  b[i, j] = 0 if not ({others});
}}
"""
        self.succeeds("run", self.write("many.pla", text), "--size", "N=45", "--check", "--out", "b=b.npy")
        wanted = [[0 if (i, j) in out else 7 for j in range(45)] for i in range(45)]
        self.assertEqual(np.load(self.path("b.npy")).tolist(), wanted)

    def test_large_factors(self):
        text = "input a: int32[65536 * 4];\noutput b: int32[4];\nfor i where 0 <= i < 4 { b[i] = a[65536 * i + 40000]; }\n"
        self.succeeds("run", self.write("flat.pla", text), "--in", "a=iota", "--check", "--out", "b=b.npy")
        self.assertEqual(np.load(self.path("b.npy")).tolist(), [65536 * i + 40000 for i in range(4)])
        self.is_refused("check", self.write("flat.pla", text.replace("65536 * i", "65536 * 65536 * 65536 * i")), code="pla-too-large")

    def test_equations_that_wait_for_each_other(self):
        """Uses in all directions, such that along a hidden time, shifted for each variable, none goes back."""
        for seed in range(12):
            pick = random.Random(seed)
            rank, count = pick.choice((1, 2, 2, 3)), pick.randint(2, 3)
            names, extents = "ijk"[:rank], [pick.randint(4, 7) if rank < 3 else 4 for _ in range(rank)]
            time, shifts = [pick.choice((-5, -3, 1, 2, 4)) for _ in names], [pick.randint(-6, 6) for _ in range(count)]
            uses = []
            for to in range(count):
                uses.append([])
                while len(uses[to]) < 2:
                    source, distance = pick.randrange(count), [pick.randint(-3, 3) for _ in names]
                    if sum(a * b for a, b in zip(time, distance)) + shifts[to] - shifts[source] >= 1:
                        uses[to].append((source, distance))

            def within(at, variable):
                return all(0 <= a - d < n for _, distance in uses[variable] for a, d, n in zip(at, distance, extents))

            @functools.cache
            def value(variable, at):
                start = int(at[0]) * 3 + variable
                if not within(at, variable):
                    return start
                return max(value(source, tuple(a - d for a, d in zip(at, distance))) for source, distance in uses[variable]) + start

            index = ", ".join(names)
            lines = [f"variable {', '.join(f'v{number}' for number in range(count))}: int64;", f"input s: int64[{', '.join(map(str, extents))}];",
                     f"output y: int64[{', '.join(map(str, extents))}];",
                     f"for {index} where " + " and ".join(f"0 <= {name} < {extent}" for name, extent in zip(names, extents)) + " {"]
            for to in range(count):
                guard = " and ".join(f"0 <= {name} - ({d}) < {extent}" for _, distance in uses[to] for name, d, extent in zip(names, distance, extents))
                read = [f"v{source}[{', '.join(f'{name} - ({d})' for name, d in zip(names, distance))}]" for source, distance in uses[to]]
                lines += [f"  v{to}[{index}] = max({', '.join(read)}) + s[{index}] + {to} if {guard};", f"  v{to}[{index}] = s[{index}] + {to} if not ({guard});"]
            path = self.write("waits.pla", "\n".join([*lines, f"  y[{index}] = {' + '.join(f'v{number}[{index}]' for number in range(count))};", "}", ""]))
            s = np.fromfunction(lambda *at: at[0] * 3, extents).astype("i8")
            self.succeeds("run", path, "--in", f"s={self.save('s.npy', s)}", "--check", "--out", "y=y.npy")
            wanted = [[sum(value(variable, at) for variable in range(count))] for at in np.ndindex(*extents)]
            self.assertEqual(np.load(self.path("y.npy")).ravel().tolist(), np.ravel(wanted).tolist(), f"seed {seed}")
        circle = "parameter N >= 2;\noutput b: int32[N];\nvariable x, y: int32;\nfor i where 0 <= i < N {\n  x[i] = y[i - 1] if i > 0;\n" \
                 "  x[i] = 1 if i == 0;\n  y[i] = x[i + 1] if i < N - 1;\n  y[i] = 1 if i == N - 1;\n  b[i] = x[i];\n}\n"
        self.is_refused("check", self.write("circle.pla", circle), code="equations-no-order",
                        mentions=("x[i] waits for y[i - 1]", "y[i] waits for x[i + 1]", "for example, N = 2: x[1] waits for y[0], y[0] waits for x[1]"))
        mirrored = "parameter N >= 5;\noutput b: int32[N];\nvariable x, y: int32;\nfor i where 0 <= i < N {\n  x[i] = y[N - 1 - i];\n" \
                   "  y[i] = x[N - 1 - i] if i > 2;\n  y[i] = 1 if i <= 2;\n  b[i] = x[i];\n}\n"
        self.is_refused("check", self.write("mirrored.pla", mirrored), code="equations-", mentions="for example, N = 5: x[0] waits for y[4], y[4] waits for x[0]")
        for least in ("1000000", "2147483647"):  # too many to look at
            self.is_refused("check", self.write("mirrored.pla", mirrored.replace("N >= 5", "N >= " + least)), code="equations-", mentions="x[i] waits for y[")
        self.is_refused("check", self.write("mirrored.pla", mirrored.replace("N >= 5", "N >= 2147483648")), code="pla-syntax", mentions="at most 2147483647")

    def test_divisions_by_zero_end_a_program(self):
        text = "parameter N >= 1;\ninput a, b: int32[N];\noutput c: int32[N];\nfor i where 0 <= i < N { c[i] = a[i] / b[i]; }\n"
        self.wrong(text, "equations-division", "--size", "N=4", "--in", "a=1", "--in", "b=0")
        self.write("wrong.pla", text)
        self.is_refused("", "run", self.path("wrong.pla"), "--size", "N=4", "--in", "a=1", "--in", "b=0", "--target", "interpreter")

    def test_numbers_that_an_integer_cannot_hold_end_a_program(self):
        text = "parameter N >= 1;\ninput a: double[N];\noutput c: int32[N];\nfor i where 0 <= i < N { c[i] = int32(a[i]); }\n"
        for value, isFine in (("2147483647.5", True), ("-2147483648.5", True), ("2147483648", False), ("-2147483649", False), ("1e300", False)):
            words = ("run", self.write("cut.pla", text), "--size", "N=3", "--in", f"a={value}", "--check")
            if isFine:
                self.succeeds(*words)
            else:
                self.is_refused("equations-conversion", *words)

    def test_another_entry(self):
        self.wrong("parameter N;\noutput y: int[N];\nfor i where 0 <= i < N { y[i] = 1; }\n", "pla-entry", "--entry", "other", "--size", "N=3")

    def test_sizes_of_managed_memories_are_constants(self):
        """A library keeps the sizes that it was compiled for; the check that it is called with them is in its text."""
        path = next(program.path for program in programs() if program.name == "vectadd")
        text = self.succeeds("run", path, "--machine", "cell-disk", "--size", "N=3", "--in", "a=1", "--in", "b=1", "--emit=svm").out
        self.assertIn("pla-other-size", text)

    def test_views(self):
        path = next(program.path for program in programs() if program.name == "matmul")
        self.assertIn("sum3[i, j, k] = add(sum3[i, j, k - 1], sum3.term[i, j, k]) if",
                      self.succeeds("run", path, "--emit=equations").out)
        self.assertIn("for i, j, k where", self.succeeds("run", path, "--emit=ast").out)

    def test_values_passed_on_in_both_directions(self):
        """Every element of a step uses one of the step before that lies to its left or to its right."""
        text = ("parameter N, T >= 1;\ninput x: int32[N];\noutput y: int32[N];\nvariable u: int32;\n"
                "for t, i where 0 <= t <= T and 0 <= i < N {\n  u[t, i] = x[i] if t == 0;\n"
                "  u[t, i] = u[t - 1, i] * 3 + u[t - 1, 0] + u[t - 1, N - 1] if t > 0;\n  y[i] = u[t, i] if t == T;\n}\n")
        x = np.arange(7, dtype="i4")
        for steps in (1, 4):
            self.succeeds("run", self.write("ends.pla", text), "--in", f"x={self.save('x.npy', x)}", "--in", f"T={steps}",
                          "--out", f"y={self.path('y.npy')}", "--check")
            u = x
            for _ in range(steps):
                u = u * 3 + u[0] + u[-1]
            np.testing.assert_array_equal(np.load(self.path("y.npy")), u)

    def test_no_equations_of_the_dialect_go_unchecked(self):
        """Equations written in the dialect keep the rules, too."""
        kernel = ("svm.kernel @k(%y: memref<?xi32, strided<[1], offset: ?>> {svm.access = \"write\"}, %n: index) "
                  "attributes {extents = [affine_map<()[N] -> (N)>, affine_map<() -> ()>]} {\n"
                  "  svm.equations [\"i\"] (%n) [\"N\"] in [] {\n"
                  "    svm.equation of %y at affine_map<(i)[N] -> (i)> : memref<?xi32, strided<[1], offset: ?>> "
                  "in [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>] {\n      %v = VALUE\n      svm.define %v : i32\n    }\n  }\n  svm.return\n}\n"
                  "func.func @main(%y: memref<?xi32, strided<[1], offset: ?>> {svm.name = \"y\", svm.access = \"write\"}) "
                  "attributes {svm.entry, svm.sizes = [\"N\"], svm.extents = [affine_map<()[n] -> (n)>]} {\n"
                  "  %c0 = arith.constant 0 : index\n  %n = memref.dim %y, %c0 : memref<?xi32, strided<[1], offset: ?>>\n"
                  "  svm.run @k(%y, %n) : (memref<?xi32, strided<[1], offset: ?>>, index) -> ()\n  return\n}\n")
        fine = self.write("fine.mlir", kernel.replace("VALUE", "arith.constant 3 : i32"))
        self.succeeds("run", fine, "--size", "N=4", "--out", f"y={self.path('y.npy')}", "--check")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), np.full(4, 3))
        self.is_refused("", "run", self.write("a.mlir", kernel.replace("VALUE", "svm.use \"s\" at affine_map<(i)[N] -> (i - 1)> : i32")), "--size", "N=4")
        self.is_refused("equations-operation", "run", self.write("b.mlir", kernel.replace("VALUE", "math.ctpop %c : i32").replace(
            "      %v = math", "      %c = arith.constant 1 : i32\n      %v = math")), "--size", "N=4")
        self.is_refused("equations-index-range", "run", self.write("c.mlir", kernel.replace("VALUE", "arith.constant 3 : i32").replace(
            "(i)[N] -> (i)", "(i)[N] -> (i + 1)")), "--size", "N=4")
        equation = kernel.split("{\n    svm.equation")[1].split("  }\n  svm.return")[0]
        twice = kernel.replace("VALUE", "arith.constant 3 : i32").replace("    svm.equation" + equation.replace("VALUE", "arith.constant 3 : i32"),
                                                                          2 * ("    svm.equation" + equation.replace("VALUE", "arith.constant 3 : i32")))
        self.is_refused("equations-defined-twice", "run", self.write("e.mlir", twice), "--size", "N=4")
        own = ("    svm.equation \"s\" in [affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>] {\n      %v = svm.use \"s\" at affine_map<(i)[N] -> (i - 1)> : i32\n"
               "      svm.define %v : i32\n    }\n    svm.equation of")
        unfounded = kernel.replace("VALUE", "svm.use \"s\" at affine_map<(i)[N] -> (i)> : i32").replace("    svm.equation of", own, 1)
        self.is_refused("equations-undefined", "run", self.write("f.mlir", unfounded), "--size", "N=4")
        large = kernel.replace("in [] {", "in [affine_set<(i)[N] : (N - 9999999999 >= 0)>] {").replace("(i)[N] -> (i)", "(i)[N] -> (i + 1)")
        self.is_refused("equations-hard", "run", self.write("g.mlir", large.replace("VALUE", "arith.constant 3 : i32")), "--size", "N=4")
        self.is_refused("equations-set", "run", self.write("d.mlir", kernel.replace("VALUE", "arith.constant 3 : i32").replace(
            "(i >= 0,", "(i floordiv 2 >= 0,")), "--size", "N=4")


def test_of(program, size, machine):
    def test(self):
        given = program.make(size)
        what = f"{program.name} {size} on {machine}"
        extra = ("--machine", machine, "--werror")
        check(self, program, given, size, run(self, program, given, size, *extra, "--check"), what)
        if size is not program.sizes[1] or machine not in ("host", "cell"):
            return
        stated = ("--size", f"N={size['N']}") if program.name == "bits" else ()
        self.succeeds("run", program.path, *input_options(self, given), *stated, "--machine", machine, "--emit=svm", "-o", self.path("p.mlir"))
        check(self, program, given, size, run(self, program, given, size, *extra, source=self.path("p.mlir")), what + " from the dialect")
    return test


for index, each in enumerate(programs()):
    for number, size in enumerate(each.sizes):
        for machine in MACHINES if number == 1 else MACHINES[:1]:
            # By day at the middle size on host and one other machine, and at one of the others.
            by_day = machine in (MACHINES[0], MACHINES[1 + index % (len(MACHINES) - 1)]) and number != index % 2 * 2
            setattr(LoopPrograms, f"test_{each.name}_{number}_{machine.replace('-', '_')}", harness.unless_brief(not by_day, test_of(each, size, machine)))

if __name__ == "__main__":
    harness.main()
