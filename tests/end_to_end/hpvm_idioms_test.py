"""Leaves with what LLVM has intrinsics for (tests/hpvm/idioms.py): all are raised, and give the bits that the same functions give in plain loops
that Clang alone has compiled, for the edges of each type; so does the interpreter. With --brief: each for one type of integers in four."""

import os
import re
import subprocess
import sys

import harness

sys.path.append(os.path.join(harness.ROOT, "tests/hpvm"))
import idioms
import numpy as np

COUNTS = [0, 1, -1, 5, 31, 32, 63, 64, 127, -126, 1000, -1074, 52, -23]


def values(kind):
    """The edges of a type."""
    if kind[0] in "iu":
        of = np.iinfo(idioms.TYPES[kind].removesuffix("_t"))
        near = [of.min, of.min + 1, 0, 1, 2, 3, 5, 7, 40, 100, of.max // 2, of.max // 2 + 1, of.max - 1, of.max, 0x5a % of.max, 0x12345678 % of.max, 0xf0e1d2c3b4a59687 % of.max]
        return [value % of.max if not of.min <= value <= of.max else value for value in near + ([-1, -2, -3, -77] if of.min else [])]
    of = np.finfo(np.float32 if kind == "f32" else np.float64)
    halves = [0.5, 1.5, 2.5, 0.49999997, 0.49999999999999994, 8388607.5, 4503599627370495.5, 4503599627370497.0, 2147483647.5, 9.3e18, 1e30]
    positive = [0.0, 1.0, 3.7, float(of.tiny), float(of.tiny) / 8, float(of.smallest_subnormal), float(of.max), float("inf"), float("nan")] + halves
    return positive + [-value for value in positive]


def pairs(kind):
    """Each edge with some others, and counts that go with them."""
    edges = values(kind)
    first = [a for a in edges for _ in edges]
    second = [b for _ in edges for b in edges]
    with np.errstate(over="ignore"):
        made = [np.array(part, dtype=idioms.TYPES[kind].removesuffix("_t") if kind[0] in "iu" else "f4" if kind == "f32" else "f8") for part in (first, second)]
    return made + [np.array([COUNTS[i * 5 % len(COUNTS)] for i in range(len(first))], dtype="i4")]


def function(kind, name, text):
    """It gives the bits of its result."""
    type, value = idioms.TYPES[kind], idioms.expression(kind, text)
    return (f"static inline uint64_t {name}({type} a, {type} b, int c) {{\n  __typeof__({value}) value = {value};\n"
            "  return _Generic(value, float: bits32(value), double: bits64(value), default: (uint64_t)value);\n}\n")


class Leaf:
    """All idioms of a list; the results of one lie side by side."""

    def __init__(self, kind, texts, name):
        self.kind, self.texts, self.name = kind, texts, name
        self.data = pairs(kind)
        self.count = len(self.data[0])

    def given(self):
        type = idioms.TYPES[self.kind]
        return f"{type} *a, size_t ab, {type} *b, size_t bb, int *c, size_t cb, uint64_t *o, size_t ob"

    def functions(self):
        return "".join(function(self.kind, f"{self.name}_{number}", text) for number, text in enumerate(self.texts))

    def graph(self):
        hint = "  __hpvm__hint(CPU_TARGET);\n  __hpvm__attributes(3, a, b, c, 1, o);\n"
        lines = "".join(f"  o[{number} * {self.count}L + i] = {self.name}_{number}(a[i], b[i], c[i]);\n" for number in range(len(self.texts)))
        binds = "".join(f"  __hpvm__bindIn(node, {number}, {number}, 0);\n" for number in range(8))
        return (f"void leaf_{self.name}({self.given()}) {{\n{hint}  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());\n{lines}  __hpvm__return(1, ob);\n}}\n"
                f"void graph_{self.name}({self.given()}) {{\n{hint}  void *node = __hpvm__createNodeND(1, leaf_{self.name}, cb / sizeof(int));\n{binds}"
                "  __hpvm__bindOut(node, 0, 0, 0);\n}\n"
                f"void launch_{self.name}({self.given()}) {{\n  struct __attribute__((packed)) {{ void *a; size_t ab; void *b; size_t bb; void *c; size_t cb; void *o; size_t ob, r; }} all ="
                " {a, ab, b, bb, c, cb, o, ob, 0};\n"
                f"  __hpvm__wait(__hpvm__launch(0, graph_{self.name}, &all));\n}}\n")

    def loops(self):
        lines = "".join(f"    o[{number} * {self.count}L + i] = {self.name}_{number}(a[i], b[i], c[i]);\n" for number in range(len(self.texts)))
        return f"void loops_{self.name}({self.given()}) {{\n  for (long i = 0; i < {self.count}; ++i) {{\n{lines}  }}\n}}\n"

    def trial(self):
        """Reads the arrays that Python has made, and writes both results."""
        type = idioms.TYPES[self.kind]
        size = self.count * len(self.texts)
        return (f"void launch_{self.name}({self.given()});\nvoid loops_{self.name}({self.given()});\n"
                f"static void try_{self.name}(void) {{\n  static {type} a[{self.count}], b[{self.count}];\n  static int c[{self.count}];\n  static uint64_t mine[{size}], theirs[{size}];\n"
                + "".join(f'  read_all("{self.name}.{part}", {part}, sizeof {part});\n' for part in "abc") +
                "".join(f"  llvm_hpvm_track_mem({part}, sizeof {part});\n" for part in ("a", "b", "c", "mine")) +
                f"  launch_{self.name}(a, sizeof a, b, sizeof b, c, sizeof c, mine, sizeof mine);\n  llvm_hpvm_request_mem(mine, sizeof mine);\n"
                + "".join(f"  llvm_hpvm_untrack_mem({part});\n" for part in ("a", "b", "c", "mine")) +
                f"  loops_{self.name}(a, sizeof a, b, sizeof b, c, sizeof c, theirs, sizeof theirs);\n"
                f'  write_all("{self.name}.mine", mine, sizeof mine);\n  write_all("{self.name}.theirs", theirs, sizeof theirs);\n}}\n')


FILES = r"""
static void read_all(const char *name, void *to, size_t bytes) {
  FILE *file = fopen(name, "rb");
  if (!file || fread(to, 1, bytes, file) != bytes)
    exit(3);
  fclose(file);
}
static void write_all(const char *name, const void *from, size_t bytes) {
  FILE *file = fopen(name, "wb");
  if (!file || fwrite(from, 1, bytes, file) != bytes)
    exit(3);
  fclose(file);
}
"""


class IdiomsTest(harness.Case):
    optimise = True

    def build(self, leaves, *flags):
        """The link's remarks."""
        head = "#include <stddef.h>\n" + idioms.HEADER + "".join(leaf.functions() for leaf in leaves)
        self.write("graphs.c", "#include <hpvm.h>\n" + head + "".join(leaf.graph() for leaf in leaves))
        self.write("loops.c", head + "".join(leaf.loops() for leaf in leaves))
        self.write("main.c", "#include <hpvm.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n" + FILES + "".join(leaf.trial() for leaf in leaves) +
                   "int main(void) {\n  __hpvm__init();\n" + "".join(f"  try_{leaf.name}();\n" for leaf in leaves) + "  __hpvm__cleanup();\n}\n")
        for leaf in leaves:
            for part, array in zip("abc", leaf.data):
                array.tofile(self.path(f"{leaf.name}.{part}"))
        flags = ["-w", "-D_GNU_SOURCE", "-ffp-contract=off", *flags]
        subprocess.run(["clang-19", "-O1", *flags, "-c", "loops.c"], cwd=self.folder, check=True)
        self.succeeds("cc", "-O2", *flags, "-c", "graphs.c")
        return self.succeeds("cc", "-O2", *flags, "graphs.o", "loops.o", "main.c", "-lm", "-o", "program", "--graphs=graphs.mlir", STRATA_REMARKS="1").err

    def compare(self, leaf, mine, theirs):
        shape = (len(leaf.texts), leaf.count)
        mine, theirs = mine.reshape(shape), theirs.reshape(shape)
        for number, text in enumerate(leaf.texts):
            left, right = mine[number], theirs[number]
            if leaf.kind[0] == "f" and text not in idioms.WHOLE:  # of results that are NaNs the bits may be any NaN's
                for pattern, dtype in ((np.uint32, np.float32), (np.uint64, np.float64)):
                    if dtype == (np.float32 if leaf.kind == "f32" else np.float64):
                        both = np.isnan(left.astype(pattern).view(dtype)) & np.isnan(right.astype(pattern).view(dtype))
                        left, right = np.where(both, 0, left), np.where(both, 0, right)
            wrong = np.flatnonzero(left != right)
            at = wrong[0] if wrong.size else 0
            self.assertFalse(wrong.size, f"{wrong.size} wrong of {idioms.expression(leaf.kind, text)} ({leaf.kind}): a = {leaf.data[0][at]!r}, b = {leaf.data[1][at]!r}, "
                             f"c = {leaf.data[2][at]}: {left[at]:#x}, and {right[at]:#x} by Clang")

    def same_bits(self, leaves, *flags):
        remarks = self.build(leaves, *flags)
        self.assertNotIn("hpvm-not-raised", remarks)
        subprocess.run([self.path("program")], cwd=self.folder, check=True, timeout=600)
        for leaf in leaves:
            self.compare(leaf, *(np.fromfile(self.path(f"{leaf.name}.{side}"), dtype="u8") for side in ("mine", "theirs")))
        return remarks

    def in_lanes(self, leaves, remarks):
        for leaf in leaves:
            self.assertIn(f"kernel 'leaf_{leaf.name}': tiles", remarks)

    def interpreted(self, leaves):
        """The interpreter has the same bits as what is compiled."""
        with open(self.path("graphs.mlir")) as file:
            text = file.read()
        for number, leaf in enumerate(leaves):
            signature = re.search(rf"func.func @graph_{number}\(.*", text)[0]
            inputs = []
            out = np.zeros(leaf.count * len(leaf.texts), dtype="u8")
            for name, array in [*zip("abc", leaf.data), ("o", out)]:
                # Numbers are loaded as what is done with them, or as their bits.
                element = re.search(rf'memref<\?x([if])(\d+)[^{{]*{{[^}}]*svm.name = "{name}"', signature)
                self.save(f"{name}.npy", array.view(f"{element[1]}{int(element[2]) // 8}"))
                inputs += ["--in", f"{name}={name}.npy", "--in", f"{name}b={array.nbytes}"]
            self.succeeds("run", "graphs.mlir", "--entry", f"graph_{number}", *inputs, "--out", "o=result.npy", "--check")
            self.compare(leaf, np.load(self.path("result.npy")).view("u8"), np.fromfile(self.path(f"{leaf.name}.theirs"), dtype="u8"))

    def test_integers(self):
        kinds = [kind for kind in idioms.IDIOMS if kind[0] in "iu"]
        leaves = [Leaf(kind, idioms.IDIOMS[kind][number % 4::4] if harness.options.brief else idioms.IDIOMS[kind], kind) for number, kind in enumerate(kinds)]
        self.in_lanes(leaves, self.same_bits(leaves))
        self.interpreted(leaves)

    def test_reals(self):
        leaves = [Leaf(kind, texts, kind) for kind, texts in idioms.IDIOMS.items() if kind[0] == "f"]
        for flags in ([], ["-fno-math-errno"]):  # calls of the library, and intrinsics
            self.in_lanes(leaves, self.same_bits(leaves, *flags))
        self.interpreted(leaves)

    def test_what_has_no_lanes(self):
        leaves = [Leaf(kind, texts, kind + "a") for kind, texts in idioms.ALONE.items()]
        self.same_bits(leaves)
        self.interpreted(leaves)


if __name__ == "__main__":
    harness.main()
