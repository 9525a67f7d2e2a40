"""What mapping files ask for and what then happens: pitch preconditions, conditions on instantiations, local space of external
tasks, calls that stay calls and copies that stay copies, in both forms of the file, on host and cell; and that default mappings fill the machine."""

import json
import os

import harness
import numpy as np

PITCH = """
void task Double(in float A[M][N], out float C[U][V], in int p);
void task<leaf> Double::Leaf(in float A[M][N], out float C[U][V], in int p)
{
  for (long i = 0; i < U; i++) for (long j = 0; j < V; j++) C[i][j] = 2 * A[i][j];
}
void task<inner> Double::Corner(in float A[M][N], out float C[U][V], in int p)
{
  Double(A[0;U][0;V], C, p);
}
"""

PITCH_MAP = """#include "MACHINE"
task Double : entrypoint(Top) {
  instance Top::Corner(level OUTER) {
    data() {
      array A() { BOUND }
      array C() { elements <= 4, 4; }
    }
    control() { callsite Double() { target Low() { } } }
  }
  instance Low::Leaf(level 0) {
    data() {
      array A() {
        LEAF
      }
    }
  }
}
"""

COUNT = """
void task Add(in int v, inout int A[N]);
void task<leaf> Add::One(in int v, inout int A[N]) { for (long i = 0; i < N; i++) A[i] += v; }
void task<leaf> Add::Ten(in int v, inout int A[N]) { for (long i = 0; i < N; i++) A[i] += 10 * v; }
void task Twice(inout int A[N]);
void task<inner> Twice::T(inout int A[N]) { Add(1, A); Add(1, A); }
void task Run(inout int A[N], in int n);
void task<inner> Run::R(inout int A[N], in int n)
{
  tunable parts;
  Twice(A);
  mappar (long i = 0 : parts) { Add(100, A[i * (N / parts); N / parts]); }
  mapseq (long i = 0 : n) { Twice(A); }
}
"""

COUNT_MAP = """#include "MACHINE"
task Run : entrypoint(Top) {
  instance Top::R(level OUTER) {
    tunable parts = 2;
    control() {
      callsite Twice[0]() { target Second() { } }
      callsite Twice[1]() { target Second() { } }
      callsite Add() { target Ones() { instantiations < 3; } target Tens() { } }
    }
  }
}
task Twice { instance Second::T(level OUTER) { control() {
  callsite Add[0]() { target Ones() { instantiations < 4; } target Tens() { } }
  callsite Add[1]() { target Tens() { instantiations >= 4; } target Ones() { } }
} } }
task Add { instance Ones::One(level 0) { } instance Tens::Ten(level 0) { } }
"""

SPACE = """
void task Reverse(in int A[N], out int C[N]);
void task<inner> Reverse::Cut(in int A[N], out int C[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) { Reverse(A[i * block; block], C[i * block; block]); }
}
void task<ext> Reverse::Outside(in int A[N], out int C[N]);
"""

SPACE_C = """
#include "sequoia_ext.h"
void Outside(sqArray_t *A, sqArray_t *C) {
  int *space = (int *)sqLocalSpace(Outside), *a = sqElmtSpec1D(Outside, A, 0), *c = sqElmtSpec1D(Outside, C, 0);
  long n = A->numElmts[0];
  for (long i = 0; i < n; i++) space[i] = a[i];
  for (long i = 0; i < n; i++) c[i] = space[n - 1 - i];
}
"""

SPACE_MAP = """#include "MACHINE"
task Reverse : entrypoint(Top) {
  instance Top::Cut(level OUTER) {
    tunable block = 10000;
    control() { loop i(level 0) { spmd { ways = 4; iterblk = 1; } } callsite Reverse() { target Outside() { } } }
  }
  instance Outside::Outside(level 0) external("outside.c") { scratch = BYTES; }
}
"""

VECTADD = """
void task AddVectors(in float A[N], in float B[N], out float C[N]);
void task<inner> AddVectors::Split(in float A[N], in float B[N], out float C[N])
{
  tunable block;
  mapseq (long i = 0 : (N + block - 1) / block) { AddVectors(A[i * block; block], B, C[i * block; block]); }
}
void task<leaf> AddVectors::Leaf(in float A[N], in float B[M], out float C[N])
{
  for (long i = 0; i < N; i++) C[i] = A[i] + B[0];
}
""".replace("in float B[N], out", "in float B[M], out")

VECTADD_MAP = """#include "host"
task AddVectors : entrypoint(Top) {
  instance Top::Split(level 0) {
    tunable block = 10;
    control() { callsite AddVectors() { target Low() TARGET { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""

MACHINES = (("host", 0), ("cell", 2))


class Mapping(harness.Case):
    def test_default_mappings_fill_the_machine(self):
        """Where sizes are known, each processor has a block: of wide arrays with few rows too, and in tasks that the entry calls."""
        examples = os.path.join(harness.ROOT, "examples/sequoia")
        for program, machine, sizes, given, starts in (
                ("matmul", "cell", "M=64,N=4096,P=64", ("A=1", "B=2"), {"ppe -> spe": 8}),
                ("heat", "cell", "M=122,N=770", ("pairs=1", "a=1", "b=1"), {"ppe -> spe": 2 * 8}),
                ("heat", "cluster", "M=300,N=300", ("pairs=1", "a=1", "b=1"), {"front -> node": 2 * 4, "node -> core": 2 * 8}),
                ("heat3d", "cluster", "L=18,M=40,N=40", ("pairs=1", "a=1", "b=1"), {"front -> node": 2 * 4, "node -> core": 2 * 8})):
            with self.subTest(program=program, machine=machine, sizes=sizes):
                given = [word for each in given for word in ("--in", each)]
                done = self.succeeds("run", os.path.join(examples, program, program + ".sq"), "--machine", machine, "--size", sizes, *given, "--stats")
                for which, count in starts.items():
                    self.assertIn(f"  starts {which}: {count}\n", done.out)

    def test_the_loop_with_enough_iterations_is_distributed(self):
        """Three rows of blocks leave processors idle; their columns do not. Runs are counted by the processors on which a trace has them."""
        matmul = os.path.join(harness.ROOT, "examples/sequoia/matmul/matmul.sq")
        for sizes in ("M=3,N=4096,P=64", "M=1,N=100000,P=2", "M=4096,N=3,P=64"):
            self.succeeds("run", matmul, "--machine", "cell", "--size", sizes, "--in", "A=1", "--in", "B=2", "--check", "--trace", "run.json")
            with open(self.path("run.json"), encoding="utf-8") as file:
                events = json.load(file)["traceEvents"]
            self.assertEqual(len({(event["pid"], event["tid"]) for event in events if event.get("cat") == "run"}), 8, sizes)

    def test_a_mapping_of_another_machine(self):
        """It is used where its levels exist, and said; a machine in a file may be nearly the mapping's."""
        folder = os.path.join(harness.ROOT, "examples/sequoia/vectadd")
        command = ("run", os.path.join(folder, "vectadd.sq"), "--map", os.path.join(folder, "cell.map"), "--size", "N=8", "--in", "A=iota", "--in", "B=1")
        for machine, isOther in (("cell", False), ("cluster", True), (os.path.join(harness.ROOT, "machines/cell/machine.yaml"), False)):
            told = self.succeeds(*command, "--machine", machine).err
            self.assertEqual("warning[driver-mapping-of-other-machine]" in told, isOther, told)
        self.assertIn("cell.map:1:10", self.succeeds(*command, "--machine", "cluster").err)
        self.assertEqual(self.strata(*command, "--machine", "cluster", "--werror").status, 1)

    def mapping(self, text, machine, outer, form="braces", program=None):
        path = self.write("used.map", text.replace("MACHINE", machine).replace("OUTER", str(outer)))
        if form == "braces":
            return path
        return self.write("used.xml", self.succeeds("map", program, "--map", path, "--format", form).out)

    def test_pitch_preconditions(self):
        program = self.write("double.sq", PITCH)
        a = np.arange(6 * 8, dtype="f4").reshape(6, 8)
        for form in ("braces", "xml"):
            def run(bound, leaf, machine="host", outer=0, refused=False):
                mapping = self.mapping(PITCH_MAP.replace("BOUND", bound).replace("LEAF", leaf), machine, outer, form, program)
                words = ("run", program, "--map", mapping, "--in", f"A={self.save('a.npy', a)}", "--size", "U=2,V=3", "--in", "p=1")
                if refused:
                    return self.is_refused(*words, code="sequoia-pitch", mentions=refused)
                self.succeeds(*words, "--out", f"C={self.path('c.npy')}", "--check")
                self.assertTrue(np.array_equal(np.load(self.path("c.npy")), 2 * a[:2, :3]))
                return None

            # The entry's array is as it is given; the leaf's is a part of it, in the same memory.
            run("pitch = 6, 8;", "pitch >= 2, 8;")
            run("pitch <= 6, 8; pitch >= 1, 8;", "pitch = 2, 8;")
            run("pitch >= 1, 9;", "", refused=["pitch >= 9", "dimension 1", "one of 8", "used."])
            run("", "pitch <= 2, 7;", refused=["instance 'Low'", "pitch <= 7", "one of 8", ":13" if form == "braces" else "used.xml:"])
            # On cell the leaf's array is a block of its own, with rows at multiples of 16 bytes.
            run("pitch = 6, 8;", "pitch = 2, 4;", "cell", 2)
            run("", "pitch = 2, 8;", "cell", 2, refused=["one of 4"])

    def test_conditions_on_instantiations(self):
        program = self.write("count.sq", COUNT)
        # Ones is selected twice by the first Twice, once for all iterations of the mappar, twice by the next Twice; then the
        # first call of Twice is of Tens, and the second still of Ones, for Tens is selected twice only.
        want = np.array([2 + 100 + 2 + 2 * (10 + 1)] * 6, dtype="i4")
        for machine, outer in MACHINES:
            for form in ("braces", "xml"):
                mapping = self.mapping(COUNT_MAP, machine, outer, form, program)
                if machine == "cell":
                    with open(mapping) as file:
                        text = file.read()
                    text = text.replace("instance Top::R(level 2) {", "instance Top::R(level 2) { data() { array A() { elements <= 64; } }")
                    text = text.replace("<variant>R</variant>", "<variant>R</variant><data><array name='A'><arraysizeprecond type='boundabove'>"
                                        "64</arraysizeprecond></array></data>")
                    mapping = self.write("bounded.map", text)
                for threads in (1, 4):
                    self.succeeds("run", program, "--map", mapping, "--size", "N=6", "--in", "n=3", "--in", "A=zeros", "--out",
                                  f"A={self.path('a.npy')}", "--threads", threads, "--check", "--repeat", 2)
                    self.assertEqual(np.load(self.path("a.npy")).tolist(), want.tolist(), (machine, form))
                # The counts travel in the program.
                self.succeeds("run", program, "--map", mapping, "--emit=svm", "-o", self.path("p.mlir"))
                self.succeeds("run", self.path("p.mlir"), "--size", "N=6", "--in", "n=3", "--in", "A=zeros", "--out",
                              f"A={self.path('a.npy')}")
                self.assertEqual(np.load(self.path("a.npy")).tolist(), want.tolist())

    def test_selections_in_parallel_iterations(self):
        program = self.write("count.sq", COUNT.replace("mapseq (long i = 0 : n) { Twice(A); }",
                                                       "mappar (long i = 0 : n) { Twice(A[i;1]); }"))
        self.is_refused("check", program, "--map", self.mapping(COUNT_MAP, "host", 0), code="sequoia-mapping-parallel-count",
                        mentions=["used.map:8", "count.sq"])

    def test_local_space_of_external_tasks(self):
        program = self.write("reverse.sq", SPACE)
        self.write("outside.c", SPACE_C)
        a = np.arange(25000, dtype="i4")
        want = np.concatenate([a[:10000][::-1], a[10000:20000][::-1], a[20000:][::-1]])
        for machine, outer in MACHINES:
            for form in ("braces", "xml"):
                mapping = self.mapping(SPACE_MAP.replace("BYTES", "40000"), machine, outer, form, program)
                self.succeeds("run", program, "--map", mapping, "--in", f"A={self.save('a.npy', a)}", "--out", f"C={self.path('c.npy')}",
                              "--threads", 4)
                self.assertTrue(np.array_equal(np.load(self.path("c.npy")), want), (machine, form))
        # 80000 bytes of arrays leave less than 200000 of a local store of 256 KiB.
        mapping = self.mapping(SPACE_MAP.replace("BYTES", "200000"), "cell", 2)
        self.is_refused("run", program, "--map", mapping, "--in", f"A={self.save('a.npy', a)}",
                        mentions=["'ls'", "scratch space", "200000"])

    def figures(self, program, mapping, *options):
        data = ("--size", "N=100", "--in", "A=iota", "--size", "M=1", "--in", "B=1")
        self.succeeds("run", program, "--map", mapping, *data, "--out", f"C={self.path('c.npy')}", "--stats", "json:s.json", *options)
        self.assertTrue(np.array_equal(np.load(self.path("c.npy")), np.arange(100, dtype="f4") + 1))
        with open(self.path("s.json")) as file:
            return json.load(file)

    def test_copies_that_are_asked_for_are_made(self):
        program = self.write("vectadd.sq", VECTADD)
        plain = self.figures(program, self.mapping(VECTADD_MAP.replace("TARGET", ""), "host", 0))
        self.assertEqual(plain["moves"], 0)
        for names, moves in (("A", 10), ("B", 10), ("A, C", 20), ("B, A, C", 30)):
            for form in ("braces", "xml"):
                mapping = self.mapping(VECTADD_MAP.replace("TARGET", f": copy({names})"), "host", 0, form, program)
                self.assertEqual(self.figures(program, mapping)["moves"], moves, names)
                self.succeeds("run", program, "--map", mapping, "--emit=svm", "-o", self.path("p.mlir"))
                data = ("--size", "N=100", "--size", "M=1", "--in", "A=iota", "--in", "B=1")
                self.succeeds("run", self.path("p.mlir"), *data, "--stats", "json:again.json")
                with open(self.path("again.json")) as file:
                    self.assertEqual(json.load(file)["moves"], moves)
        self.is_refused("check", program, "--map", self.mapping(VECTADD_MAP.replace("TARGET", ": copy(D)"), "host", 0),
                        code="sequoia-mapping-copy", mentions=["used.map:5", "vectadd.sq"])

    def test_dynamic_calls_stay_calls(self):
        program = self.write("vectadd.sq", VECTADD)
        for target, count in (("", 0), (": dynamic", 1)):
            for form in ("braces", "xml"):
                mapping = self.mapping(VECTADD_MAP.replace("TARGET", target), "host", 0, form, program)
                self.figures(program, mapping)
                text = self.succeeds("run", program, "--map", mapping, "--emit=placed").out
                self.assertEqual(text.count("svm.dynamic"), count)
                # In the code, the call is there and its callee is not to be inlined.
                llvm = self.succeeds("run", program, "--map", mapping, "--emit=llvm").out
                self.assertEqual("noinline" in llvm, count > 0)


if __name__ == "__main__":
    harness.main()
