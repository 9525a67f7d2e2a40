"""strata estimate: its figures are those of a counted run, its times follow from the machine's description by hand, and what it cannot know it says.
The examples of three notations, on machines with and without stores."""

import json
import os
import re

import harness
import hbir_programs
import pla_programs
import programs
from program import input_options

COUNT = re.compile(r"^  ((?:bytes|moves|runs|starts)(?: [^:]*)?): (\d+)$", re.M)
MACHINES = ["cell", "cluster", "smp-2level", "host"]

# Two workers with stores; nothing is stated but what stands here. No clock.
SLOW = """machine: slow
memories:
  - {name: store, count: 2, capacity: 64K, explicit: true}
  - {name: main, capacity: available, bandwidth: 4, explicit: true}
processors:
  - {name: control, kind: control, masters: [control], moves: 1}
  - {name: worker, kind: stream, count: 2, masters: [control], moves: 4, local: [store]COSTS}
links:
  - {name: wire, ends: [control, worker, main, store]}
levels:
  - {level: 0, memory: store, processor: worker}
  - {level: 1, memory: main, processor: control}
"""
DOUBLE = """void task Double(in int x[N], out int y[N]);
void task<inner> Double::Cut(in int x[N], out int y[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) { Double(x[i * block; block], y[i * block; block]); }
}
void task<leaf> Double::Each(in int x[N], out int y[N]) { for (long i = 0; i < N; i++) y[i] = 2 * x[i]; }
"""
# A clock, and starts that cost so much that few large blocks are best.
CLOCKED = SLOW.replace("COSTS", ", costs: {move_start: 5000}").replace("machine: slow", "machine: slow\nclock: 1GHz")
MAP = """#include "slow.yaml"
task Double: entrypoint(Top) {
  instance Top::Cut(level 1) {
    tunable block = 8;
    control(level 0) { loop i(level 0) { spmd { ways = auto; iterblk = 1; } } callsite Double() { target Leaf() { } } }
  }
  instance Leaf::Each(level 0) { }
}
"""


class Estimate(harness.Case):
    def estimate(self, *arguments):
        return json.loads(self.succeeds("estimate", *arguments, "--stats=json").out)

    def compare(self, program, machine, arguments, data):
        """The same counts as those of a run, except of what only a run can see: which bytes stay in an instance, and how many elements of one
        run a merge takes before those of the other."""
        told = self.succeeds("run", program, "--machine", machine, *arguments, *data, "--stats").out
        counted = {name: int(count) for name, count in COUNT.findall(told)}
        estimated = self.estimate(program, "--machine", machine, *arguments, *data)
        only_seen = ("across", "within", "place", "local", "remote")
        for name in {**counted, **estimated["counters"]}:
            if not any(word in name.split() for word in only_seen) and os.path.basename(program) != "sort.sq":
                self.assertEqual(estimated["counters"].get(name, 0), counted.get(name, 0), f"{program} on {machine}: {name}")
        self.assertGreater(estimated["cycles"], 0)
        if machine == "cell":  # main memory carries 8 bytes a cycle, and both ways are its work
            through_main = sum(count * name.count("main") for name, count in estimated["counters"].items() if name.startswith("bytes "))
            self.assertGreaterEqual(estimated["cycles"], through_main / 8, program)
        for processors in estimated["processors"].values():
            whole = processors["used"] * estimated["cycles"] * (1 + 1e-9)
            self.assertLessEqual(processors["computing"], whole, f"{program} on {machine}: {estimated}")
            self.assertLessEqual(processors["used"], processors["count"])
        for carrier in estimated["carriers"].values():
            self.assertLessEqual(carrier["busy"], carrier["count"] * estimated["cycles"] * (1 + 1e-9), f"{program} on {machine}: {estimated}")

    def test_sequoia_examples(self):
        for number, program in enumerate(programs.PROGRAMS):
            for machine in harness.in_turn([m for m in MACHINES if m not in program.but_not], number):
                self.compare(program.path, machine, [], input_options(self, program.make(program.sizes[1])))

    def test_loop_programs(self):
        for number, program in enumerate(pla_programs.programs()):
            for machine in harness.in_turn(["smp-2level", "cell"], number):
                given = program.make(program.sizes[-1])
                sizes = ["--size", f"N={program.sizes[-1]['N']}"] if program.name == "bits" else []
                self.compare(program.path, machine, sizes, pla_programs.input_options(self, given))

    def test_hbir_examples(self):
        for number, program in enumerate(hbir_programs.programs()):
            for machine in harness.in_turn(["host", "smp-2level"], number):
                size = program.sizes[0]
                self.compare(program.path, machine, [], hbir_programs.options_of(self, program.make(size), size))

    def slow(self, text):
        return self.write("double.sq", DOUBLE), "--machine", self.write("slow.yaml", text)

    def test_what_is_told(self):
        """60,000 numbers go both ways through main memory, at 4 bytes a cycle; the workers' own time is hidden behind that."""
        program = self.slow(SLOW.replace("COSTS", ""))
        told = self.succeeds("estimate", *program, "--size", "N=60000").out
        cycles = int(re.match(r"Double_Cut on slow: (\d+) cycles, estimated\n", told)[1])
        self.assertTrue(120000 <= cycles < 132000, told)
        self.assertRegex(told, r"\n  worker: 2 of 2, computing \d+%, waiting \d+%, starting 0%\n  main: busy (9\d|100)%\n")
        self.assertIn("\n  bytes main -> store: 240000\n", told)
        self.succeeds("estimate", *program, "--size", "N=60000", "--stats=json:figures.json")
        with open(self.path("figures.json"), encoding="utf-8") as file:
            self.assertEqual(round(json.load(file)["cycles"]), cycles)

    def test_a_timeline(self):
        """What would happen when, by processor; the page holds every run and move."""
        program = self.slow(SLOW.replace("COSTS", ""))
        told = self.succeeds("estimate", *program, "--size", "N=60000", "--timeline", "would.html").out
        with open(self.path("would.html"), encoding="utf-8") as file:
            page = file.read()
        for text in ("Double_Cut on slow, estimated", "worker 0", "worker 1", "Double_Each", "moves 1"):
            self.assertIn(text, page)
        self.assertRegex(told, r"^Double_Cut on slow: ")
        wrong = self.strata("estimate", *program, "--size", "N=60000", "--timeline", "would.json")
        self.assertEqual(wrong.status, 1)
        self.assertIn("a timeline is a page", wrong.err)

    def test_costs_of_the_machine_count(self):
        plain = self.estimate(*self.slow(SLOW.replace("COSTS", "")), "--size", "N=100000")["processors"]["worker"]
        for cost, part in (("multiply: 100", "computing"), ("store: 50", "computing"), ("Double_Each: 1000000", "computing"),
                           ("kernel_start: 900", "starting"), ("move_start: 900", "starting")):
            dear = self.estimate(*self.slow(SLOW.replace("COSTS", f", costs: {{{cost}}}")), "--size", "N=100000")["processors"]["worker"]
            self.assertGreater(dear[part], plain[part], cost)
        # A name that no estimate asks for is told where it is nearly one; of kernels of other programs nothing is said.
        for cost, said in (("mulitply: 3", "did you mean 'multiply'?"), ("kernel_strat: 3", "did you mean 'kernel_start'?"), ("Product_Rows: 3", None)):
            told = self.strata("estimate", *self.slow(SLOW.replace("COSTS", f", costs: {{{cost}}}")), "--size", "N=1000")
            self.assertEqual(told.status, 0, str(told))
            self.assertEqual("warning[estimate-unknown-cost]" in told.err, said is not None, str(told))
            self.assertIn(said or "", told.err)
        # A narrower vector takes more operations.
        narrow = self.estimate(*self.slow(SLOW.replace("COSTS", ", vector: 16")), "--size", "N=100000")["processors"]["worker"]
        self.assertGreater(narrow["computing"], 2 * plain["computing"])

    def test_data_that_decides_is_said(self):
        result = self.strata("estimate", os.path.join(harness.ROOT, "examples/sequoia/sort/sort.sq"), "--machine", "cell", "--size", "N=5000")
        self.assertEqual(result.status, 0, str(result))
        self.assertRegex(result.err, r"warning\[estimate-assumed\]: how often the loop iterates depends on data; 8 times is assumed\n *--> .*sort.sq:\d+")
        result = self.strata("estimate", os.path.join(harness.ROOT, "examples/sequoia/fft3d/fft3d.sq"), "--machine", "smp-2level", "--size", "L=64,M=64,N=64")
        self.assertEqual(result.status, 0, str(result))
        self.assertRegex(result.err, r"8 times is assumed\n *--> .*fft3d.sq:70:7")

    def test_what_has_no_estimate(self):
        program, *slow = self.slow(SLOW.replace("COSTS", ""))
        for code, arguments in (("run-missing-size", (program, *slow)),
                                ("estimate-not-placed", (program, "--size", "N=9", "--machine", self.write("i.yaml", "target: interpreter\n" +
                                                                                                           SLOW.replace("COSTS", "")))),
                                ("estimate-array", (os.path.join(harness.ROOT, "examples/pla/fir/fir.pla"), "--size", "N=9,T=3", "--machine", "array-4x4")),
                                ("machine-not-found", (program, "--size", "N=9", "--machine", "nowhere"))):
            result = self.strata("estimate", *arguments)
            self.assertEqual(result.status, 1, str(result))
            self.assertIn(f"error[{code}]", result.err)
            self.assertEqual(result.out, "")

    def test_a_task_that_calls_itself_for_ever(self):
        self.write("slow.yaml", SLOW.replace("COSTS", ""))
        program = self.write("p.mlir", """#v = strided<[1], offset: ?>
module attributes {svm.stage = "logical"} {
  func.func @f(%a: memref<?xf32, #v> {svm.name = "a", svm.access = "readwrite"}) attributes {svm.entry, svm.extents = [affine_map<()[s0] -> (s0)>], svm.sizes = ["N"]} {
    call @f(%a) : (memref<?xf32, #v>) -> ()
    return
  }
}
""")
        result = self.strata("estimate", program, "--machine", self.path("slow.yaml"), "--size", "N=8")
        self.assertEqual(result.status, 1, str(result))
        self.assertIn("error[estimate-too-deep]", result.err)

    def test_tuning_by_estimates(self):
        """Of a machine that is described. The best is what the costs say; a run here gives the same bits, and is not asked for its time."""
        self.write("slow.yaml", CLOCKED)
        program = self.write("double.sq", DOUBLE)
        tuned = self.path("tuned")
        told = self.strata("tune", program, "--machine", self.path("slow.yaml"), "--map", self.write("slow.map", MAP), "--size", "N=60000", "--trials", "60",
                           "-o", self.path("best.map"), STRATA_TUNED=tuned)
        self.assertEqual(told.status, 0, str(told))
        self.assertRegex(told.out, r"\d+\.\d\d times as fast\n")
        self.assertIn("times are estimates from the machine's description; results are the same in a run on this computer\n", told.out)
        with open(self.path("best.map"), encoding="utf-8") as file:
            block = int(re.search(r"block = (\d+);", file.read())[1])
        self.assertGreater(block, 2000)
        before, after = (self.estimate(program, "--map", self.path(name), "--size", "N=60000", "--machine", self.path("slow.yaml"))["cycles"]
                         for name in ("slow.map", "best.map"))
        self.assertLess(after, before / 10)

        # With data that it does not take, nothing is compared, and that is said.
        told = self.strata("tune", os.path.join(harness.ROOT, "examples/sequoia/histogram/histogram.sq"), "--machine", "cell", "--size", "N=1000000,B=64", "--trials", "8",
                           STRATA_TUNED="")
        self.assertEqual(told.status, 0, str(told))
        self.assertRegex(told.out, r"results were not compared: .*index")


if __name__ == "__main__":
    harness.main()
