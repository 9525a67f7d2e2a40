"""Levels of machines: arrays distributed over the instances of a virtual memory, instances at every level, arrays of a leaf at one address, and
what is said when blocks do not fit or have no bound."""

import json
import os

import harness
import numpy as np

MATMUL = os.path.join(harness.ROOT, "examples/sequoia/matmul/matmul.sq")

SCALE = """
void task Scale(in float x[N], in float factor, out float y[N]);
void task<inner> Scale::Cut(in float x[N], in float factor, out float y[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    Scale(x[i * block; block], factor, y[i * block; block]);
  }
}
void task<inner> Scale::Whole(in float x[N], in float factor, out float y[N])
{
  mappar (long i = 0 : 1) {
    Scale(x, factor, y);
  }
}
void task<leaf> Scale::Forwards(in float x[N], in float factor, out float y[N])
{
  for (long i = 0; i < N; i++)
    y[i] = factor * x[i];
}
void task<leaf> Scale::Backwards(in float x[N], in float factor, out float y[N])
{
  for (long i = 0; i < N; i++)
    y[i] = factor * x[N - 1 - i];
}
void task<leaf> Scale::Zeroed(in float x[N], in float factor, out float y[N])
{
  for (long i = 0; i < N; i++) {
    y[i] = 0;
    y[i] = factor * x[i];
  }
}
void task<leaf> Scale::Repeated(in float x[N], in float factor, out float y[N])
{
  for (int k = 0; k < 2; k++)
    for (long i = 0; i < N; i++)
      y[i] = factor * x[i];
}
void task<leaf> Scale::Staged(in float x[N], in float factor, out float y[N])
{
  float kept[N];
  for (long i = 0; i < N; i++)
    kept[i] = factor * x[i];
  for (long i = 0; i < N; i++)
    y[i] = kept[i];
}
"""

CELL = """#include "cell"
task Scale: entrypoint(Top) {
  instance Top::Cut(level 2) {
    tunable block = BLOCK;
    control(level 0) {
      loop i(level 0) { spmd { fullrange = 0,8; ways = 8; } }
      callsite Scale() { target Leaf() { } }
    }
  }
  instance Leaf::VARIANT(level 0) {
    data() : spaceshare(ARRAYS) { }
  }
}
"""


class SpaceShare(harness.Case):
    def mapping(self, variant, arrays, block=20000):
        text = CELL.replace("VARIANT", variant).replace("ARRAYS", arrays).replace("BLOCK", str(block))
        return self.write("scale.sq", SCALE), "--map", self.write("scale.map", text), "--size", "N=100000"

    def test_where_it_is_harmless(self):
        x = np.random.default_rng(1).random(100000, "f4")
        data = ("--in", "factor=3", "--in", f"x={self.save('x.npy', x)}", "--out", "y=y.npy")
        # 60000 elements fill the store but for a little: there is no room for a second array.
        for variant, arrays, block in (("Forwards", "x, y", 60000), ("Staged", "x, y", 30000), ("Staged", "kept, y", 30000)):
            self.succeeds("run", *self.mapping(variant, arrays, block), *data)
            np.testing.assert_array_equal(np.load(self.path("y.npy")), np.float32(3) * x)

    def test_where_it_is_not(self):
        for variant in ("Backwards", "Zeroed", "Repeated"):
            self.is_refused("run", *self.mapping(variant, "x, y"), "--in", "factor=3", "--in", "x=iota", code="sequoia-spaceshare",
                            mentions=("spaceshare(", "this write", "may come before this"))

    def test_arrays_that_hold_values_at_the_same_time(self):
        program = self.write("add.sq", """
void task Add(in float a[N], in float b[N], in double d[N], out float c[N]);
void task<leaf> Add::Leaf(in float a[N], in float b[N], in double d[N], out float c[N])
{
  for (long i = 0; i < N; i++)
    c[i] = a[i] + b[i] + d[i];
}
""")
        for arrays, why in (("a, b", "when the task begins"), ("d, c", "not the same")):
            mapping = self.write("add.map", '#include "cell"\ntask Add: entrypoint(L) { instance L::Leaf(level 0) { data() : spaceshare('
                                 + arrays + ") { array a() { elements <= 64; } } } }\n")
            self.is_refused("run", program, "--map", mapping, "--size", "N=8", "--in", "a=iota", "--in", "b=iota", "--in", "d=iota",
                            code="sequoia-spaceshare", mentions=why)

    def test_only_leaves_share(self):
        text = CELL.replace("VARIANT", "Forwards").replace("BLOCK", "100")
        text = text.replace("data() : spaceshare(ARRAYS) { }", "").replace("tunable", "data() : spaceshare(x, y) { } tunable")
        self.is_refused("run", self.write("scale.sq", SCALE), "--map", self.write("s.map", text), "--size", "N=8", "--in", "factor=3",
                        "--in", "x=iota", code="sequoia-spaceshare-leaf")

    def test_arrays_at_two_levels_do_not_share(self):
        text = CELL.replace("VARIANT", "Staged").replace("BLOCK", "100").replace("ARRAYS", "x, y")
        text = text.replace('"cell"', '"flat"').replace("{ }\n  }\n}", "{ array x(level 1) { } }\n  }\n}")
        machine = self.write("flat.yaml", """machine: flat
memories: [{name: near, capacity: 64K, explicit: true}, {name: far, capacity: available}, {name: main, capacity: available}]
processors: [{name: boss, kind: core, masters: [boss], local: [near]}]
links: [{name: bus, ends: [boss, near, far, main]}]
levels: [{level: 0, memory: near, processor: boss}, {level: 1, memory: far, processor: boss}, {level: 2, memory: main, processor: boss}]
""")
        text = text.replace("fullrange = 0,8; ways = 8;", "ways = 1;")
        self.is_refused("run", self.write("scale.sq", SCALE), "--map", self.write("s.map", text), "--machine", machine, "--size", "N=8",
                        "--in", "factor=3", "--in", "x=iota", code="sequoia-spaceshare-levels")

    def test_where_memory_is_not_divided_it_changes_nothing(self):
        text = CELL.replace("VARIANT", "Forwards").replace("BLOCK", "100").replace("ARRAYS", "x, y")
        text = text.replace('"cell"', '"host"').replace("level 2", "level 0").replace("fullrange = 0,8; ways = 8;", "ways = 2;")
        result = self.succeeds("run", self.write("scale.sq", SCALE), "--map", self.write("s.map", text), "--size", "N=8", "--in",
                               "factor=3", "--in", "x=iota", "--remarks")
        self.assertIn("sequoia-spaceshare-unused", result.err)


VIRTUAL = """#include "cell"
task Product: entrypoint(Outer) {
  instance Outer::Blocks(level 2) {
    tunable height = 128; tunable width = 96; tunable depth = 128;
    control(level 2) {
      loop row(level 2) { } loop column(level 2) { } loop step(level 2) { }
      callsite Product() { target Middle() { } }
    }
  }
  instance Middle::Blocks(level 1) {
    tunable height = 32; tunable width = 32; tunable depth = 64;
    data(level 1) { LAYOUTS }
    control(level 1) {
      loop row(level 0) { spmd { fullrange = 0,8; ways = 4; iterblk = 1; } }
      loop column(level 0) { spmd { ways = 2; iterblk = 1; } }
      loop step(level 0) { }
      callsite Product() { target Leaf() { } }
    }
  }
  instance Leaf::Rows(level 0) { }
}
"""


class VirtualLevels(harness.Case):
    def multiply(self, mapping, *extra, m=300, n=200, p=260, program=MATMUL):
        random = np.random.default_rng(1)
        a, b, c = (random.random(shape, "f4") for shape in ((m, p), (p, n), (m, n)))
        inputs = sum((["--in", f"{name}={self.save(name + '.npy', value)}"] for name, value in zip("ABC", (a, b, c))), [])
        mapped = ["--map", self.write("v.map", mapping)] if mapping else []
        self.succeeds("run", program, *mapped, *inputs, "--out", "C=out.npy", "--stats", "json:s.json", *extra)
        got = np.load(self.path("out.npy"))
        self.assertLess(np.abs(got - (c + a @ b)).max(), 1e-3)
        with open(self.path("s.json")) as file:
            return got, json.load(file)

    def test_layouts_change_who_holds_what_and_nothing_else(self):
        results, within = set(), set()
        for layouts in ("", "array A() { blockcyclic { grid = 4,2; blocksize = 8,16; } } array B() { blockcyclic { grid = 1,8; blocksize = 5,3; } } "
                            "array C() { blockcyclic { grid = 2,4; } }", "array C() { blockcyclic { grid = 1,1; blocksize = 7,7; } }"):
            for threads in (1, 7):
                got, figures = self.multiply(VIRTUAL.replace("LAYOUTS", layouts), "--threads", threads)
                results.add(got.tobytes())
            stayed = figures["bytes"]["within ls"] + figures["bytes"].get("in place ls", 0)
            within.add(stayed)
            moved = sum(figures["bytes"][way] for way in figures["bytes"] if "stores" in way)
            self.assertEqual(stayed + figures["bytes"]["across ls"], moved)
        self.assertEqual(len(results), 1, "a mapping changes no result")
        self.assertEqual(len(within), 3, "layouts decide what stays where it is")

    def test_a_dealt_program_is_replayed(self):
        mapping = VIRTUAL.replace("LAYOUTS", "array A() { blockcyclic { grid = 4,2; blocksize = 8,16; } }")
        got, figures = self.multiply(mapping)
        inputs = sum((["--in", f"{name}={self.path(name + '.npy')}"] for name in "ABC"), [])
        self.succeeds("run", MATMUL, "--map", self.path("v.map"), *inputs, "--emit=svm", "-o", "p.mlir")
        again, other = self.multiply(None, program=self.path("p.mlir"))
        self.assertEqual(got.tobytes(), again.tobytes())
        self.assertEqual(figures["bytes"], other["bytes"])

    def test_pieces_count_where_they_lie(self):
        # All of C in one store, twice over: it does not fit beside the leaves' blocks.
        mapping = VIRTUAL.replace("LAYOUTS", "array C() { blockcyclic { grid = 1,1; } }").replace("width = 96", "width = 512")
        self.is_refused("run", MATMUL, "--map", self.write("v.map", mapping), "--size", "M=512,N=512,P=128", "--in", "A=zeros", "--in",
                        "B=zeros", "--in", "C=zeros", code="schedule-does-not-fit", mentions=("memory 'ls'", "Product#0.C", "it fits ("), errors=2)

    def test_grids_are_checked(self):
        mapping = VIRTUAL.replace("LAYOUTS", "array A() { blockcyclic { grid = 4,4; } }")
        self.is_refused("run", MATMUL, "--map", self.write("v.map", mapping), "--size", "M=8,N=8,P=8", "--in", "A=zeros", "--in",
                        "B=zeros", "--in", "C=zeros", code="sequoia-mapping-grid", mentions="v.map:")


class NestedLoops(harness.Case):
    """The example's mapping for the cluster: a loop over nodes, and in an instance of its own a loop over each node's cores."""

    def mapping(self, before, after):
        with open(os.path.join(harness.ROOT, "examples/sequoia/vectadd/cluster.map")) as file:
            text = file.read()
        self.assertIn(before, text)
        return (os.path.join(harness.ROOT, "examples/sequoia/vectadd/vectadd.sq"), "--map", self.write("c.map", text.replace(before, after)),
                "--size", "N=300000", "--in", "A=iota", "--in", "B=1", "--out", "C=c.npy")

    def test_as_many_as_are_left(self):
        self.succeeds("run", *self.mapping("fullrange = 0,2;\n          ways = 2;", "ways = auto;"))
        np.testing.assert_array_equal(np.load(self.path("c.npy")), np.arange(300000, dtype="f4") + 1)

    def test_more_than_are_left(self):
        self.is_refused("run", *self.mapping("fullrange = 0,2;\n          ways = 2;", "fullrange = 0,8;\n          ways = 8;"),
                        code="placement-nested-parts", mentions="has 2")

    def test_the_place_is_that_of_the_loop_in_the_mapping(self):
        for change, code in (("fullrange = 0,8;\n          ways = 8;", "placement-nested-parts"),
                             ("fullrange = 1,3;\n          ways = 2;", "placement-subset-outside")):
            program = self.mapping("fullrange = 0,2;\n          ways = 2;", change)
            with open(program[2]) as file:
                lines = file.read().splitlines()
            place = f"c.map:{1 + lines.index('      loop i(level 0) {')}:12 (mapping)"
            self.is_refused("run", *program, code=code, mentions=place)
            self.is_refused("check", *program[:3], code=code, mentions=place)

    def test_others_than_are_left(self):
        self.succeeds("run", *self.mapping("fullrange = 0,2;\n          ways = 2;", "fullrange = 1,2;\n          ways = 1;"))
        np.testing.assert_array_equal(np.load(self.path("c.npy")), np.arange(300000, dtype="f4") + 1)
        self.is_refused("run", *self.mapping("fullrange = 0,2;\n          ways = 2;", "fullrange = 1,3;\n          ways = 2;"),
                        code="placement-subset-outside", mentions="from 1 on, 2 of 'core', and there are 2")


class Fits(harness.Case):
    def test_a_tunable_that_fits_is_named(self):
        text = CELL.replace("data() : spaceshare(ARRAYS) { }", "").replace("VARIANT", "Forwards").replace("BLOCK", "100000")
        result = self.is_refused("run", self.write("scale.sq", SCALE), "--map", self.write("s.map", text), "--size", "N=1000000", "--in",
                                 "factor=3", "--in", "x=iota", code="schedule-does-not-fit",
                                 mentions=("with 32768 here it fits", "with block = 32768 in instance 'Top' it fits (262144 of 262144 bytes)"))
        self.assertIn("tunable block = 100000;", result.err)
        self.write("s.map", text.replace("100000", "32768"))
        self.succeeds("run", self.path("scale.sq"), "--map", self.path("s.map"), "--size", "N=8", "--in", "factor=3", "--in", "x=iota")

    def test_what_has_no_bound_is_shown_with_who_leads_there(self):
        text = CELL.replace("data() : spaceshare(ARRAYS) { }", "").replace("VARIANT", "Forwards")
        text = text.replace("Top::Cut", "Top::Whole").replace("tunable block = BLOCK;", "DATA")
        arguments = (self.write("scale.sq", SCALE), "--map", self.path("s.map"), "--size", "N=8", "--in", "factor=3", "--in", "x=iota")
        self.write("s.map", text.replace("DATA", ""))
        self.is_refused("build", *arguments[:3], "-o", self.path("s.o"), code="schedule-unbounded-block", mentions="'Top'", errors=2)
        self.write("s.map", text.replace("DATA", "data() { array x() { elements <= 64; } }"))
        self.succeeds("run", *arguments)

    def test_conditions_of_targets_bound_what_they_call(self):
        text = """#include "cell"
task Scale: entrypoint(Top) {
  instance Top::Whole(level 2) {
    control(level 0) {
      callsite Scale() {
        target Small() { x.elements <= 1000; }
        target Cut() { }
      }
    }
  }
  instance Cut::Cut(level 0) {
    data(level 2) { }
    tunable block = 1000;
    control(level 0) { callsite Scale() { target Small() { } } }
  }
  instance Small::Forwards(level 0) { }
}
"""
        for size in (8, 5000):
            self.succeeds("run", self.write("scale.sq", SCALE), "--map", self.write("s.map", text), "--size", f"N={size}", "--in", "factor=3",
                          "--in", "x=iota", "--check")


if __name__ == "__main__":
    harness.main()
