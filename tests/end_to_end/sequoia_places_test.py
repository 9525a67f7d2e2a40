"""Sequoia programs whose mappings put arrays, indices, control and combiners at different levels: what each of them reaches is moved there, and what
cannot be is refused with a reason. Every run is compared with the interpreter."""

import harness
import numpy as np

HALVES = """
void task Double(in float x[N][M], out float y[N][M]);
void task<inner> Double::Halves(in float x[N][M], out float y[N][M])
{
  Double(x[0 : N / 2;][0;], y[0 : N / 2;][0;]);
  Double(x[N / 2;][0 : M;], y[N / 2 : N;][0 : M : 1;]);
}
void task<leaf> Double::Leaf(in float x[N][M], out float y[N][M])
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) y[i][j] = 2 * x[i][j];
}
"""

TURN = """
void task Turn(in int x[N], in int P[N], inout int y[N]);
void task<inner> Turn::VARIANT(in int x[N], in int P[N], inout int y[N])
{
  BODY
}
void task<leaf> Turn::Leaf(in int x[N], in int P[N], inout int y[N])
{
  for (int i = 0; i < N; i++) y[i] = x[i] + P[i];
}
"""

FOLD = """
void task Plus(in int a[B], inout int b[B]);
void task<inner> Plus::Cut(in int a[B], inout int b[B])
{
  tunable t;
  mappar (int i = 0 : (B + t - 1) / t) { Plus(a[i * t; t], b[i * t; t]); }
}
void task<leaf> Plus::Leaf(in int a[B], inout int b[B])
{
  for (int i = 0; i < B; i++) b[i] += a[i];
}
void task Count(in int x[N], in int P[B], inout int y[B]);
void task<inner> Count::Cut(in int x[N], in int P[B], inout int y[B])
{
  tunable n;
  mapreduce (int i = 0 : (N + n - 1) / n) { Count(x[i * n; n], P, reducearg<RESULT, Plus>); }
}
void task<leaf> Count::Leaf(in int x[N], in int P[B], inout int y[B])
{
  for (int i = 0; i < N; i++)
    for (int k = 0; k < B; k++) y[k] += x[i];
}
"""

FOLD_MAP = """#include "MACHINE"
task Count: entrypoint(Top) {
  instance Top::Cut(level TOP) {
    tunable n = 3;
    control(level CONTROL) {
      loop i() { spmd { ways = WAYS; } }
      callsite Count() { target Leaf() { } }
      callsite Plus() { target Join() { } }
    }
  }
  instance Leaf::Leaf(level 0) { }
}
task Plus {
  instance Join::Cut(level 0) {
    tunable t = 2;
    data(level 0) { array JOINED(level 1) { } }
    control() { callsite Plus() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""


class Places(harness.Case):
    def test_control_touches_neither_the_array_nor_its_indices(self):
        """A gather, a scatter and both in a copy: elements are moved one by one, by indices that are moved to control."""
        p = np.random.default_rng(3).permutation(50).astype("i4")
        x, y = np.arange(50, dtype="i4"), np.full(50, 7, "i4")
        data = ("--in", f"x={self.save('x.npy', x)}", "--in", f"P={self.save('P.npy', p)}", "--in", f"y={self.save('y.npy', y)}", "--out", "y=out.npy")
        called = y.copy()
        called[p] = x[p] + p
        copied = y.copy()
        copied[p] = x[p]
        for body, wanted in (("Turn(x[P], P, y[P]);", called), ("copy(y[P], x[P]);", copied),
                             ("copy(y[P[0; 25]], x[P[0; 25]]); copy(y[P[25;]], x[P[25;]]);", copied)):
            program = TURN.replace("VARIANT", "Indexed").replace("BODY", body) + "void task Top(in int x[N], in int P[N], inout int y[N]);" + \
                "void task<inner> Top::Top(in int x[N], in int P[N], inout int y[N]) { Turn(x, P, y); }"
            calls = "control() { callsite Turn() { target Low() { } } }" if "Turn" in body else "control() { }"
            leaf = "instance Low::Leaf(level 0) { }" if "Turn" in body else ""
            for machine, top, levels in (("cell", 2, "x(level 0) { } array y(level 1)"), ("cluster", 2, "y(level 0) { } array P(level 1)"),
                                         ("cell-disk", 3, "P(level 0) { } array x(level 1)")):
                mapping = (f'#include "{machine}"\ntask Top: entrypoint(T) {{ instance T::Top(level {top}) {{ control() {{ callsite Turn() {{ target I() '
                           f'{{ }} }} }} }} }}\ntask Turn {{ instance I::Indexed(level {top}) {{ data() {{ array {levels} {{ }} }} {calls} }} {leaf} }}\n')
                self.succeeds("run", self.write("t.sq", program), "--map", self.write("t.map", mapping), *data, "--check")
                np.testing.assert_array_equal(np.load(self.path("out.npy")), wanted, f"{body} on {machine}")

    def test_results_of_a_reduction_that_control_does_not_touch(self):
        x, p, y = np.arange(40, dtype="i4"), np.random.default_rng(4).permutation(9).astype("i4"), np.arange(9, dtype="i4")
        data = ("--in", f"x={self.save('x.npy', x)}", "--in", f"P={self.save('P.npy', p)}", "--in", f"y={self.save('y.npy', y)}", "--out", "y=out.npy")
        for result in ("y", "y[P]", "y[P[0; B]]"):
            for ways in (1, 3):
                for joined in ("a", "b"):
                    mapping = FOLD_MAP.replace("MACHINE", "cell").replace("TOP", "2").replace("CONTROL", "0").replace("WAYS", str(ways))
                    mapping = mapping.replace("JOINED", joined)
                    if ways > 1:
                        # The combiner's arrays are its own: one in a local store, one distributed.
                        mapping = mapping.replace("control(level 0)", "control(level 2)").replace("loop i()", "loop i(level 0)")
                    self.succeeds("run", self.write("f.sq", FOLD.replace("RESULT", result)), "--map", self.write("f.map", mapping), *data, "--check")
                    np.testing.assert_array_equal(np.load(self.path("out.npy")), y + x.sum(), result)

    def test_parts_of_a_reduction_in_a_store_that_processors_share(self):
        program = FOLD.replace("RESULT", "y") + """
void task All(in int x[N], in int P[B], inout int y[B]);
void task<inner> All::Each(in int x[N], in int P[B], inout int y[B])
{
  mappar (int k = 0 : B) { Count(x, P[k; 1], y[k; 1]); }
}
"""
        mapping = FOLD_MAP.replace("MACHINE", "cell-disk").replace("TOP", "0").replace("CONTROL", "0").replace("WAYS", "2")
        mapping = mapping.replace(": entrypoint(Top)", "").replace("array JOINED(level 1) { }", "").replace("tunable n", "data(level 2) { } tunable n")
        mapping += "task All: entrypoint(A) { instance A::Each(level 3) { control() { loop k(level 0) { spmd { ways = 4; } } callsite Count() " \
                   "{ target Top() { } } } } }\n"
        self.is_refused("run", self.write("s.sq", program), "--map", self.write("s.map", mapping), "--size", "N=9,B=8",
                        "--in", "x=iota", "--in", "P=iota", "--in", "y=iota", code="placement-shared-store", mentions="parts of a reduction", errors=4)

    def test_arrays_of_an_entry_point_go_from_a_disk_to_a_virtual_level(self):
        mapping = """#include "cell-disk"
task Double: entrypoint(Top) {
  instance Top::Halves(level 3) {
    data() { array x(level 1) { blockcyclic { grid = 2, 4; blocksize = 3, 1; } } array y(level 1) { } }
    control() { callsite Double[0]() { target Leaf() { } } callsite Double[1]() { target Leaf() { } } }
  }
  instance Leaf::Leaf(level 0) { }
}
"""
        x = np.random.default_rng(5).random((20, 6), "f4")
        self.succeeds("run", self.write("d.sq", HALVES), "--map", self.write("d.map", mapping), "--in", f"x={self.save('x.npy', x)}", "--out", "y=y.npy",
                      "--check")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), 2 * x)

    def test_a_task_that_halves_one_dimension_ends_by_itself(self):
        """However small that dimension is, and however large the other."""
        for machine in ("host", "cell", "smp-2level", "cluster"):
            for n, m in ((1, 500), (0, 3), (7, 1), (100, 60)):
                self.succeeds("run", self.write("h.sq", HALVES), "--machine", machine, "--size", f"N={n},M={m}", "--in", "x=random", "--check")

    def test_many_ways_through_calls_that_hold_blocks(self):
        """30 instances, each of which calls the next one twice and holds blocks meanwhile: a billion ways."""
        instances = "".join(f"""
  instance I{n}::Halves(level 0) {{
    control() {{ callsite Double[0]() {{ target {f'I{n + 1}' if n < 29 else 'Leaf'}() : copy(x) {{ }} }}
                callsite Double[1]() {{ target Small() {{ x.elements <= 1, 9; }} target {f'I{n + 1}' if n < 29 else 'Leaf'}() {{ }} }} }}
  }}""" for n in range(30))
        mapping = '#include "cell"\ntask Double: entrypoint(Top) {\n  instance Top::Halves(level 2) { control() { callsite Double[0]() ' \
                  '{ target I0() { } } callsite Double[1]() { target I0() { } } } }' + instances + \
                  "\n  instance Leaf::Leaf(level 0) { }\n  instance Small::Leaf(level 0) { }\n}\n"
        self.succeeds("check", self.write("d.sq", HALVES), "--map", self.write("d.map", mapping))
        self.succeeds("run", self.path("d.sq"), "--map", self.path("d.map"), "--size", "N=1,M=3", "--in", "x=random", "--emit=scheduled", "-o", "d.mlir")

    def test_checks_of_rows_stay_with_the_target_that_is_called(self):
        """A pipelined loop with a target that never is called, and has no space: nothing of it is made ahead."""
        program = """
void task Half(in int x[N], out int y[N]);
void task<inner> Half::Cut(in int x[N], out int y[N])
{
  tunable b;
  mappar (int i = 0 : (N + b - 1) / b) { Half(x[i * b; b], y[i * b; b]); }
}
void task<leaf> Half::Leaf(in int x[N], out int y[N])
{
  for (int i = 0; i < N; i++) y[i] = x[i] / 2;
}
"""
        mapping = """#include "cell"
task Half: entrypoint(Top) {
  instance Top::Cut(level 2) {
    tunable b = 4;
    data() { array x() { elements <= 20; } }
    control() { loop i(level 0) { swp = 2; } callsite Half() { target Never() { instantiations = 0; x.elements >= 100; } target Low() { } } }
  }
  instance Never::Leaf(level 0) { data() { array x() { pitch <= 50; } } }
  instance Low::Leaf(level 0) { }
}
"""
        self.succeeds("run", self.write("h.sq", program), "--map", self.write("h.map", mapping), "--size", "N=10", "--in", "x=iota", "--check")

    def test_loops_whose_ranges_follow_each_other_share_nothing(self):
        program = """
void task Fill(out int y[N]);
void task<inner> Fill::Twice(out int y[N])
{
  mappar (long i = 0 : (N + 3) / 4, long j = i * 4 : (i * 4 + 4 < N ? i * 4 + 4 : N)) { Fill(y[j; 1]); }
}
void task<leaf> Fill::Leaf(out int y[N])
{
  for (int i = 0; i < N; i++) y[i] = 1;
}
"""
        self.succeeds("check", self.write("f.sq", program), "--werror")

    def test_loops_that_run_backwards_let_arrays_share_space(self):
        program = """
void task Negate(in int x[N], out int y[N]);
void task<leaf> Negate::Back(in int x[N], out int y[N])
{
  for (long i = N - 1; i >= 0; i--) y[i] = -x[i];
}
"""
        mapping = '#include "cell"\ntask Negate: entrypoint(T) { instance T::Back(level 0) { data() : spaceshare(x, y) { array x() { elements <= 99; } } } }\n'
        self.succeeds("run", self.write("n.sq", program), "--map", self.write("n.map", mapping), "--size", "N=50", "--in", "x=iota", "--out", "y=y.npy",
                      "--check")
        np.testing.assert_array_equal(np.load(self.path("y.npy")), -np.arange(50))


if __name__ == "__main__":
    harness.main()
