"""What mapping files say about loops, carried out: software pipelining, unrolling, flattening, and loops distributed to processors over
several loops of a nest. Whatever they say, results keep every bit."""

import itertools
import json

import harness
import numpy as np
from harness import Case

ADD = """
void task Add(out float C[N], in float A[N], in float B[N]);
void task<inner> Add::Inner(out float C[N], in float A[N], in float B[N]) {
  tunable T;
  mappar (long i = 0 : (N + T - 1) / T) { Add(C[i*T;T], A[i*T;T], B[i*T;T]); }
}
void task<leaf> Add::Leaf(out float C[N], in float A[N], in float B[N]) {
  for (long i = 0; i < N; i++) C[i] = A[i] + B[i];
}
"""
ADD_MAP = """#include "cell"
task Add: entrypoint(Top) {
  instance Top::Inner(level 2) {
    tunable T = %d;
    control(level %d) { loop i() %s { %s } callsite Add() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""
DEAL = "spmd { fullrange = 0,8; ways = 8; iterblk = %d; } "

CONVOLUTION = """
void task Smooth(in float H[U][V], in float A[M+U-1][N+V-1], out float C[M][N]);
void task<inner> Smooth::Inner(in float H[U][V], in float A[M+U-1][N+V-1], out float C[M][N]) {
  tunable S, T;
  mappar (long i = 0 : (M+S-1)/S) { mappar (long j = 0 : (N+T-1)/T) { Smooth(H, A[i*S;S+U-1][j*T;T+V-1], C[i*S;S][j*T;T]); } }
}
void task<leaf> Smooth::Leaf(in float H[U][V], in float A[M+U-1][N+V-1], out float C[M][N]) {
  for (long m = 0; m < M; m++) for (long n = 0; n < N; n++) {
    float s = 0;
    for (long u = 0; u < U; u++) for (long v = 0; v < V; v++) s += H[u][v] * A[m+u][n+v];
    C[m][n] = s;
  }
}
"""
CONVOLUTION_MAP = """#include "cell"
task Smooth: entrypoint(Top) {
  instance Top::Inner(level 2) {
    tunable S = 8; tunable T = 64;
    data(level 2) { array H() { elements = 3, 3; } }
    control(level 0) { loop i() { %s } loop j() { %s } callsite Smooth() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""

TOTAL = """
void task Total(in float S[N], in float W[N], inout float t);
void task Plus(in float a, inout float b);
void task<leaf> Plus::Leaf(in float a, inout float b) { b += a; }
void task<leaf> Total::Leaf(in float S[N], in float W[N], inout float t) { for (long i = 0; i < N; i++) t += S[i] * W[i]; }
void task<inner> Total::Inner(in float S[N], in float W[N], inout float t) {
  tunable T;
  mapreduce (long i = 0 : (N + T - 1) / T) { Total(S[i*T;T], W[i*T;T], reducearg<t, Plus>); }
}
"""
TOTAL_MAP = """#include "cell"
task Total: entrypoint(Top) {
  instance Top::Inner(level 2) { tunable T = 100; control() { loop i(level 0) { %s } callsite Total() { target Low() { } } } }
  instance Low::Leaf(level 0) { }
}
task Plus { instance Sum::Leaf(level 0) { } }
"""

SCALE = """
void task Scale(in float A[N], out float B[N]);
void task<inner> Scale::Halves(in float A[N], out float B[N]) {
  tunable P;
  mappar (long p = 0 : P) { Scale(A[p*N/P : (p+1)*N/P;], B[p*N/P : (p+1)*N/P;]); }
}
void task<leaf> Scale::Leaf(in float A[N], out float B[N]) { for (long i = 0; i < N; i++) B[i] = 3 * A[i]; }
"""
SCALE_MAP = """#include "cell"
task Scale: entrypoint(Top) {
  instance Top::Halves(level 2) {
    tunable P = 5;
    data(level 2) { array A() { elements <= 4001; } }
    control(level 0) { loop p() %s { %s } callsite Scale() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""

NEST = """
void task Scale(in float A[N], out float B[N]);
void task<inner> Scale::Parts(in float A[N], out float B[N]) {
  tunable P, Q;
  mappar (long p = 0 : P) { mappar (long q = 0 : Q) { Scale(A[p*Q+q;1], B[p*Q+q;1]); } }
}
void task<leaf> Scale::Leaf(in float A[N], out float B[N]) { for (long i = 0; i < N; i++) B[i] = 3 * A[i]; }
"""
NEST_MAP = """#include "cell"
task Scale: entrypoint(Top) {
  instance Top::Parts(level 2) {
    tunable P = 200; tunable Q = 200;
    control(level 0) { loop p() %s { } loop q() %s { } callsite Scale() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""

THREADS = (1, 2, 7)


class Loops(Case):
    def run_map(self, program, mapping, inputs, output, threads=2, **sizes):
        self.write("p.sq", program)
        self.write("m.map", mapping)
        command = ["run", "p.sq", "--map", "m.map", "--threads", threads, "--stats=json:stats.json"]
        for name, array in inputs.items():
            command += ["--in", f"{name}={self.save(name + '.npy', array)}"]
        if sizes:
            command += ["--size", ",".join(f"{name}={value}" for name, value in sizes.items())]
        self.succeeds(*command, "--out", f"{output}=out.npy")
        with open(self.path("stats.json")) as file:
            return np.load(self.path("out.npy")), json.load(file)

    def same_bits(self, program, mappings, inputs, output, threads=THREADS, same=("runs",), **sizes):
        expected, figures = self.run_map(program, mappings[0], inputs, output, **sizes)
        for mapping in mappings[1:]:
            for count in threads:
                with self.subTest(mapping=mapping, threads=count):
                    result, other = self.run_map(program, mapping, inputs, output, count, **sizes)
                    self.assertEqual(result.tobytes(), expected.tobytes())
                    for key in same:
                        self.assertEqual(other[key], figures[key])
        return expected

    def test_vector_addition_pipelined_at_its_edges(self):
        for n in harness.less((0, 65, 1000), (0, 1, 63, 64, 65, 1000, 4099)):
            a, b = np.random.default_rng(n).random((2, n), np.float32)
            maps = [ADD_MAP % (64, 0, "", DEAL % 1)] + [ADD_MAP % (64, 0, "", DEAL % block + f"swp = {stages};")
                                                        for block, stages in ((1, 2), (1, 3), (3, 2))]
            # The transfers are the same, only at other times.
            expected = self.same_bits(ADD, maps, {"A": a, "B": b}, "C", same=("runs", "moves", "bytes"))
            np.testing.assert_array_equal(expected, a + b)

    def test_blocks_that_engines_move(self):
        # Larger than what is moved at once.
        n = 200_003
        a, b = np.random.default_rng(1).random((2, n), np.float32)
        maps = [ADD_MAP % (10000, 0, "", DEAL % 1), ADD_MAP % (10000, 0, "", DEAL % 1 + "swp = 2;"),
                ADD_MAP % (10000, 0, "", "swp = 2;")]
        np.testing.assert_array_equal(self.same_bits(ADD, maps, {"A": a, "B": b}, "C"), a + b)

    def test_convolution_pipelined_inside_and_outside(self):
        random = np.random.default_rng(2)
        h = random.random((3, 3), np.float32)
        for m, n in harness.less(((0, 5), (33, 200)), ((0, 5), (1, 1), (7, 64), (33, 200), (100, 131))):
            a = random.random((m + 2, n + 2), np.float32)
            maps = [CONVOLUTION_MAP % (i, j) for i, j in ((DEAL % 1, ""), (DEAL % 1, "swp = 2;"), (DEAL % 1 + "swp = 2;", "swp = 3;"),
                                                          ("swp = 2;", DEAL % 1 + "swp = 2; unroll = 2;"))]
            self.same_bits(CONVOLUTION, maps, {"A": a, "H": h}, "C", threads=(1, 7))

    def test_reductions_pipelined_and_unrolled(self):
        for n in (1, 100, 1234, 20_001):
            s, w = np.random.default_rng(n).random((2, n), np.float32)
            maps = [TOTAL_MAP % (DEAL % 1 + more) for more in ("", "swp = 2;", "unroll = 3;", "swp = 3; unroll = 2;")]
            self.same_bits(TOTAL, maps, {"S": s, "W": w, "t": np.float32(1)}, "t", threads=(1, 7))

    def test_unrolled_and_flat(self):
        n = 4000
        a = np.random.default_rng(3).random(n, np.float32)
        maps = [SCALE_MAP % flat_and_more for flat_and_more in (("", ""), ("", "unroll = 2;"), ("", "unroll = 9;"), (": flat", ""),
                                                                (": flat", "swp = 2;"), ("", "swp = 2; unroll = 3;"))]
        self.same_bits(SCALE, maps, {"A": a}, "B")

    def test_no_loop_remains(self):
        self.write("p.sq", SCALE)
        for flat, loops in (("", 1), (": flat", 0)):
            self.write("m.map", SCALE_MAP % (flat, ""))
            text = self.succeeds("run", "p.sq", "--map", "m.map", "--emit=scheduled").out
            function = text[text.index("func.func @Top"):text.index("svm.kernel")]
            self.assertEqual(function.count("scf.for"), loops, function)
            self.assertEqual(function.count("svm.run"), 1 if loops else 5)

    def test_what_cannot_be_flat_is_an_error_in_the_mapping(self):
        self.write("p.sq", ADD)
        for loop, why in ((("", "unroll = 2;"), None), ((": flat", ""), "its bounds are not constants after mapping"),
                          ((": flat", DEAL % 1), "its iterations are distributed over processors")):
            self.write("m.map", ADD_MAP % (64, 0, *loop))
            run = self.strata("run", "p.sq", "--map", "m.map", "--size", "N=1000", "--emit=placed")
            if not why:
                self.assertEqual(run.status, 0, run)
                continue
            self.assertEqual(run.status, 1, run)
            change = "leave out 'spmd'" if "distributed" in why else "bound it by constants"
            for part in ("mapping-flatten", "loop 'i' cannot be flattened: " + why, "m.map:5:", "p.sq:5:", "the loop", change):
                self.assertIn(part, run.err)
            # What a mapping asks for in vain is found without a run too, where sizes are known.
            checked = self.strata("check", "p.sq", "--map", "m.map", "--size", "N=1000")
            self.assertEqual((checked.status, checked.err), (1, run.err), checked)
            self.succeeds("check", "p.sq", "--map", "m.map")
        self.write("p.sq", SCALE)
        self.write("m.map", (SCALE_MAP % (": flat", "")).replace("P = 5", "P = 100000"))
        run = self.strata("run", "p.sq", "--map", "m.map", "--emit=placed")
        self.assertIn("its iterations would be 100000 copies", run.err)
        # Each of two loops could be flat, but not both.
        self.write("p.sq", NEST)
        self.write("m.map", NEST_MAP % (": flat", ""))
        self.succeeds("run", "p.sq", "--map", "m.map", "--size", "N=4000", "--emit=scheduled")
        self.write("m.map", NEST_MAP % (": flat", ": flat"))
        run = self.strata("run", "p.sq", "--map", "m.map", "--size", "N=4000", "--emit=scheduled")
        self.assertIn("loop 'p' cannot be flattened: its iterations would be 200 copies", run.err)

    def test_stages_count_in_the_capacity(self):
        self.write("p.sq", ADD)
        for block, stages, fits in ((16384, 1, True), (16384, 2, False), (10000, 2, True)):
            self.write("m.map", ADD_MAP % (block, 0, "", DEAL % 1 + f"swp = {stages};"))
            run = self.strata("run", "p.sq", "--map", "m.map", "--size", "N=100000", "--emit=scheduled")
            self.assertEqual(run.status, 0 if fits else 1, run)
            if not fits:
                for part in ("schedule-does-not-fit", "2 buffers of block 'Add#0.A' take 2 times 65536 bytes", "'T' of instance 'Top'",
                             "pipelined (swp)"):
                    self.assertIn(part, run.err)

    def test_remarks_say_what_was_pipelined_and_what_not(self):
        self.write("p.sq", ADD)
        self.write("m.map", ADD_MAP % (64, 0, "", DEAL % 1 + "swp = 2;"))
        text = self.succeeds("run", "p.sq", "--map", "m.map", "--size", "N=1000", "--emit=scheduled", "--remarks").err
        self.assertIn("loop 'i' is pipelined: 2 buffers of 'Add#0.C', 'Add#0.A', 'Add#0.B'", text)
        self.write("m.map", ADD_MAP % (64, 2, "", "swp = 2;"))
        text = self.succeeds("run", "p.sq", "--map", "m.map", "--size", "N=1000", "--emit=scheduled", "--remarks").err
        self.assertIn("loop 'i' is pipelined: 2 buffers of 'Add#0.C', 'Add#0.A', 'Add#0.B'", text)
        self.write("m.map", ADD_MAP % (64, 0, "", DEAL % 1 + "swp = 99;"))
        text = self.succeeds("run", "p.sq", "--map", "m.map", "--size", "N=1000", "--emit=scheduled", "--remarks").err
        self.assertIn("loop 'i' has 16 stages rather than 99", text)

    def test_pushed_and_pulled(self):
        n = 1000
        a, b = np.random.default_rng(4).random((2, n), np.float32)
        pushed, push = self.run_map(ADD, ADD_MAP % (64, 2, "", ""), {"A": a, "B": b}, "C")
        pulled, pull = self.run_map(ADD, ADD_MAP % (64, 0, "", DEAL % 1), {"A": a, "B": b}, "C")
        self.assertEqual(pushed.tobytes(), pulled.tobytes())
        self.assertEqual(push["runs"], {"Low": 16})
        self.assertEqual(pull["runs"], {"Low": 16})
        self.assertEqual(push["starts"], {"ppe -> spe": 16}, "one for each leaf")
        self.assertEqual(pull["starts"], {"ppe -> spe": 8}, "one for each processor")

    def test_pushed_and_pipelined(self):
        # The processor that executes the loop has the blocks moved while another one works; it starts it as often as before.
        for n in harness.less((0, 65, 1000), (0, 1, 64, 65, 1000, 4099)):
            a, b = np.random.default_rng(n).random((2, n), np.float32)
            maps = [ADD_MAP % (64, 2, "", more) for more in ("", "swp = 2;", "swp = 5;", "swp = 3; unroll = 2;")]
            expected = self.same_bits(ADD, maps, {"A": a, "B": b}, "C", same=("runs", "moves", "bytes"))
            np.testing.assert_array_equal(expected, a + b)
        n = 200_003
        a, b = np.random.default_rng(1).random((2, n), np.float32)
        maps = [ADD_MAP % (10000, 2, "", more) for more in ("", "swp = 2;")]
        np.testing.assert_array_equal(self.same_bits(ADD, maps, {"A": a, "B": b}, "C", same=("runs", "moves", "bytes", "starts")), a + b)
        h, a = np.random.default_rng(2).random((3, 3), np.float32), np.random.default_rng(3).random((35, 202), np.float32)
        maps = [CONVOLUTION_MAP.replace("control(level 0)", f"control(level {level})") % loops
                for level, loops in ((2, ("", "")), (2, ("swp = 2;", "swp = 2;")), (2, ("", "swp = 4;")), (0, ("swp = 2;", "swp = 2;")))]
        self.same_bits(CONVOLUTION, maps, {"A": a, "H": h}, "C")
        mixed = CONVOLUTION_MAP.replace("loop i()", "loop i(level 2)") % ("swp = 2;", "swp = 2; " + DEAL % 1)
        self.same_bits(CONVOLUTION, [maps[0], mixed], {"A": a, "H": h}, "C")
        for n in (0, 1, 100, 1234):
            s, w = np.random.default_rng(n).random((2, n), np.float32)
            maps = [TOTAL_MAP.replace("loop i(level 0)", "loop i(level 2)") % more for more in ("", "swp = 2;", "swp = 3; unroll = 2;")]
            self.same_bits(TOTAL, maps, {"S": s, "W": w, "t": np.float32(1)}, "t", threads=(1, 7))

    def test_pushed_and_pipelined_within_each_of_several_processors(self):
        # Every node pushes to a core of its own.
        program = ADD.replace("tunable T;", "tunable T, Q;").replace(
            "mappar (long i = 0 : (N + T - 1) / T) { Add(C[i*T;T], A[i*T;T], B[i*T;T]); }",
            "mappar (long p = 0 : (N + T*Q - 1) / (T*Q)) { mappar (long i = p*Q : min((p+1)*Q, (N + T - 1) / T)) "
            "{ Add(C[i*T;T], A[i*T;T], B[i*T;T]); } }")
        mapping = """#include "cluster"
task Add: entrypoint(Top) {
  instance Top::Inner(level 2) {
    tunable T = 1000; tunable Q = 5;
    control(level 1) { loop p() { spmd { fullrange = 0,4; ways = 4; iterblk = 1; } } loop i() { %s } callsite Add() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""
        a, b = np.random.default_rng(8).random((2, 50_123), np.float32)
        self.same_bits(program, [mapping % more for more in ("", "swp = 2;", "swp = 3;")], {"A": a, "B": b}, "C",
                       same=("runs", "moves", "bytes", "starts"))
        self.write("m.map", mapping % "swp = 2;")
        text = self.succeeds("run", "p.sq", "--map", "m.map", "--size", "N=50123", "--emit=scheduled", "--remarks").err
        self.assertIn("loop 'i' is pipelined: 2 buffers of", text)

    def test_a_store_that_the_pushing_processor_cannot_fill(self):
        machine = """machine: far
clock: 3200MHz
memories:
  - {name: ls, count: 8, capacity: 256K, alignment: 16, latency: 6, bandwidth: 16, explicit: true}
  - {name: main, capacity: available, latency: 200, bandwidth: 8, explicit: true}
  - {name: shelf, capacity: available, latency: 200, bandwidth: 8, explicit: true}
processors:
  - {name: ppe, kind: control, count: %d, masters: [ppe]}
  - {name: spe, kind: stream, count: 8, masters: [ppe], moves: 16, local: [ls]}
  - {name: clerk, kind: control, masters: [clerk]}
links:
  - {name: ring, ends: [ppe, spe, main, ls], count: 4, latency: 50, bandwidth: 96}
  - {name: away, ends: [%s], count: 4, latency: 50, bandwidth: 96}
levels:
  - {level: 0, memory: ls, processor: spe}
  - {level: 1, memory: main, processor: ppe}
  - {level: 2, memory: shelf, processor: clerk}
"""
        mapping = (ADD_MAP % (64, 1, "", "swp = 2;")).replace('"cell"', '"far.yaml"')
        self.write("p.sq", ADD)
        a, b = np.random.default_rng(4).random((2, 1000), np.float32)
        for ends, count, why in (("clerk, spe, shelf, ls, main", 1, None),
                                 ("clerk, spe, shelf", 1, "cannot move what 'Add#0.C' is filled from or emptied to")):
            self.write("far.yaml", machine % (count, ends))
            self.write("m.map", mapping)
            said = self.succeeds("run", "p.sq", "--map", "m.map", "--size", "N=1000", "--emit=scheduled", "--remarks").err
            self.assertIn("loop 'i' is pipelined: 2 buffers" if not why else "loop 'i' is not pipelined: the processor that executes the loop " + why, said)
            result, _ = self.run_map(ADD, mapping, {"A": a, "B": b}, "C")
            np.testing.assert_array_equal(result, a + b)

    def test_buffers_of_a_pushed_loop_count_in_the_capacity(self):
        self.write("p.sq", ADD)
        for block, stages, fits in ((16384, 1, True), (16384, 2, False), (10000, 2, True)):
            self.write("m.map", ADD_MAP % (block, 2, "", f"swp = {stages};"))
            run = self.strata("run", "p.sq", "--map", "m.map", "--size", "N=100000", "--emit=scheduled")
            self.assertEqual(run.status, 0 if fits else 1, run)
            if not fits:
                self.assertIn("2 buffers of block 'Add#0.A' take 2 times 65536 bytes", run.err)

    def traced(self, mapping):
        """Of an addition in twenty pieces: names of the trace's rows by their number, its spans, and those of them that move elements."""
        self.write("p.sq", ADD)
        self.write("m.map", mapping)
        self.succeeds("run", "p.sq", "--map", "m.map", "--size", "N=200000", "--in", "A=iota", "--in", "B=2", "--trace", "t.json")
        with open(self.path("t.json")) as file:
            events = json.load(file)["traceEvents"]
        rows = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
        spans = [event for event in events if event["ph"] == "X"]
        moves = [event for event in spans if event["cat"] == "move" and event["args"]["bytes"]]
        self.assertEqual(len(moves), 60)
        return rows, spans, moves

    def test_a_trace_shows_who_moves_the_blocks_of_a_pushed_loop(self):
        rows, spans, moves = self.traced(ADD_MAP % (10000, 2, "", "swp = 2;"))
        self.assertEqual({rows[event["pid"]] for event in moves}, {"caller moves"})
        self.assertEqual({rows[event["pid"]] for event in spans if event["cat"] == "run" and event["name"] == "Low"}, {"spe"})

    def test_a_trace_shows_moves_on_rows_of_their_own(self):
        rows, spans, moves = self.traced(ADD_MAP % (10000, 0, "", DEAL % 1 + "swp = 2;"))
        self.assertEqual({rows[event["pid"]] for event in moves}, {"spe moves"})
        self.assertEqual({(event["name"], event["args"]["way"], event["args"]["bytes"]) for event in moves},
                         {("Add#0.A", "main -> ls", 40000), ("Add#0.B", "main -> ls", 40000), ("Add#0.C", "ls -> main", 40000)})
        self.assertEqual(sum(event["cat"] == "run" and event["name"] == "Low" for event in spans), 20)
        waits = {event["name"] for event in spans if event["cat"] == "wait"}
        self.assertLessEqual({"wait for spe", "wait for Add#0.A", "wait for Add#0.C"}, waits)
        # A row shows one move at a time.
        byRow = sorted(moves, key=lambda event: (event["tid"], event["ts"]))
        for first, second in itertools.pairwise(byRow):
            if first["tid"] == second["tid"]:
                self.assertLessEqual(first["ts"] + first["dur"], second["ts"] + 0.002)

    def test_two_loops_share_the_processors(self):
        random = np.random.default_rng(5)
        h, a = random.random((3, 3), np.float32), random.random((66, 514), np.float32)
        two = "spmd { fullrange = 0,8; ways = 2; iterblk = 1; } "
        maps = [CONVOLUTION_MAP % ("", "")] + [CONVOLUTION_MAP % (two + more, f"spmd {{ ways = {ways}; iterblk = 1; }} " + more)
                                               for ways, more in ((4, ""), ("auto", ""), (4, "swp = 2;"))]
        self.same_bits(CONVOLUTION, maps, {"A": a, "H": h}, "C")
        self.write("p.sq", CONVOLUTION)
        self.write("m.map", maps[1])
        self.succeeds("run", "p.sq", "--map", "m.map", "--size", "M=64,N=512", "--in", "A=iota", "--in", f"H={self.save('H.npy', h)}",
                      "--trace", "t.json")
        with open(self.path("t.json")) as file:
            events = json.load(file)["traceEvents"]
        runs = {event["tid"] for event in events if event["ph"] == "X" and event["cat"] == "run"}
        self.assertEqual(runs, set(range(8)), "eight processors, each with a store of its own")

    def test_some_of_the_processors_take_part(self):
        random = np.random.default_rng(6)
        h, a = random.random((3, 3), np.float32), random.random((66, 514), np.float32)
        cases = [("fullrange = 5,8; ways = 3;", "", {5, 6, 7}), ("fullrange = 7,8; ways = 1;", "", {7}),
                 ("fullrange = 2,6; ways = 2;", "spmd { ways = auto; }", {2, 3, 4, 5}), ("fullrange = 0,4; ways = 2;", "", {0, 2}),
                 ("fullrange = 4,8; ways = 2;", "spmd { ways = 2; } swp = 2;", {4, 5, 6, 7})]
        maps = [CONVOLUTION_MAP % (f"spmd {{ {outer} iterblk = 1; }} ", inner) for outer, inner, _ in cases]
        self.same_bits(CONVOLUTION, [CONVOLUTION_MAP % ("", ""), *maps], {"A": a, "H": h}, "C")
        for mapping, (outer, _, processors) in zip(maps, cases):
            self.write("m.map", mapping)
            self.succeeds("run", "p.sq", "--map", "m.map", "--size", "M=64,N=512", "--in", "A=iota", "--in", f"H={self.save('H.npy', h)}",
                          "--trace", "t.json")
            with open(self.path("t.json")) as file:
                events = json.load(file)["traceEvents"]
            runs = {event["tid"] for event in events if event["ph"] == "X" and event["cat"] == "run"}
            self.assertEqual(runs, processors, outer)

    def test_a_range_within_a_range_changes_nothing(self):
        self.write("p.sq", CONVOLUTION)
        self.write("m.map", CONVOLUTION_MAP % ("spmd { fullrange = 2,6; ways = 2; }", "spmd { fullrange = 0,2; ways = 2; }"))
        said = self.succeeds("check", "p.sq", "--map", "m.map", "--remarks").err
        self.assertIn("a range of processors changes nothing: loop 'i' around this one says which take part", said)
        self.assertIn("m.map:6:", said)

    def test_pipelined_at_two_interfaces(self):
        # Between disk and memory, and between memory and local stores, in a tree of instances.
        mapping = """#include "cell-disk"
task Smooth: entrypoint(Top) {
  instance Top::Inner(level 3) {
    tunable S = 40; tunable T = 300;
    data(level 3) { array H() { elements = 3, 3; } }
    control(level 3) { loop i() { %s } loop j() { %s } callsite Smooth() { target Mid() { } } }
  }
  instance Mid::Inner(level 2) {
    tunable S = 8; tunable T = 64;
    data(level 2) { array H() { elements = 3, 3; } }
    control(level 0) { loop i() { spmd { fullrange = 0,8; ways = 8; iterblk = 1; } %s } loop j() { %s } callsite Smooth() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""
        random = np.random.default_rng(7)
        h, a = random.random((3, 3), np.float32), random.random((103, 702), np.float32)
        maps = [mapping % loops for loops in (("", "", "", ""), ("", "swp = 2;", "", ""), ("", "swp = 2;", "", "swp = 2;"),
                                              ("swp = 2;", "swp = 3;", "swp = 2;", "swp = 3; unroll = 2;"))]
        self.same_bits(CONVOLUTION, maps, {"A": a, "H": h}, "C", threads=(1, 7))
        self.write("m.map", maps[2])
        text = self.succeeds("run", "p.sq", "--map", "m.map", "--size", "M=101,N=700", "--emit=scheduled").out
        self.assertEqual(text.count("svm.buffers = 2"), 8, "two buffers of two blocks at each interface")

    def test_loops_that_want_more_processors_than_there_are(self):
        self.write("p.sq", CONVOLUTION)
        for outer, inner, why in (("fullrange = 0,8; ways = 4;", "ways = 4;", "4 ways in each of the 4 parts of the loops around it are more than"),
                                  ("fullrange = 0,4; ways = 2;", "fullrange = 0,8; ways = 4;", "more than the 4 processors"),
                                  ("fullrange = 0,9; ways = 2;", "ways = 2;", "processors 0 to 9 are not among the 8 of level 0"),
                                  ("fullrange = 0,8; ways = 9;", "", "9 ways are more than the 8 processors")):
            self.write("m.map", CONVOLUTION_MAP % (f"spmd {{ {outer} }}", f"spmd {{ {inner} }}" if inner else ""))
            run = self.strata("run", "p.sq", "--map", "m.map", "--size", "M=64,N=512", "--emit=placed")
            self.assertEqual(run.status, 1, run)
            for part in ("sequoia-mapping-spmd", why, "m.map:6:", "p.sq:5:"):
                self.assertIn(part, run.err)

    def test_inner_loops_of_different_lengths_keep_their_stores_apart(self):
        # Iteration i of the outer loop has i iterations inside; eight parts, of which some have nothing to do.
        program = """
void task Rows(in float A[N][N], out float B[N][N]);
void task<inner> Rows::Triangle(in float A[N][N], out float B[N][N]) {
  tunable S;
  mappar (long i = 0 : N) { mappar (long j = 0 : (i + S) / S) { Rows(A[i*1;1][j*S;S], B[i*1;1][j*S;S]); } }
}
void task<leaf> Rows::Leaf(in float A[M][N], out float B[M][N]) {
  for (long m = 0; m < M; m++) for (long n = 0; n < N; n++) B[m][n] = 2 * A[m][n];
}
""".replace("A[N][N]", "A[M][N]").replace("B[N][N]", "B[M][N]").replace("i = 0 : N)", "i = 0 : M)")
        mapping = """#include "cell"
task Rows: entrypoint(Top) {
  instance Top::Triangle(level 2) {
    tunable S = 4;
    control(level 0) { loop i() { spmd { fullrange = 0,8; ways = 2; iterblk = 1; } }
                       loop j() { spmd { ways = 4; iterblk = 1; } } callsite Rows() { target Low() { } } }
  }
  instance Low::Leaf(level 0) { }
}
"""
        a = np.random.default_rng(6).random((16, 16), np.float32)
        for _ in range(5):
            result, _figures = self.run_map(program, mapping, {"A": a}, "B", threads=7)
            written = np.array([[j < (i + 4) // 4 * 4 for j in range(16)] for i in range(16)])
            np.testing.assert_array_equal(result[written], 2 * a[written])


if __name__ == "__main__":
    harness.main()
