"""The command beside `run`'s results: stages that it prints, figures, traces, remarks, machines and drawings, and what it says to a
command line that is not understood."""

import json
import os
import re
import xml.etree.ElementTree

import harness
import numpy as np

VECTADD = os.path.join(harness.ROOT, "examples/sequoia/vectadd/vectadd.sq")
DATA = ("--size", "N=1000", "--in", "A=iota", "--in", "B=1")

HALF_WRITTEN = """
void task F(in float a[N], out float b[N]);
void task<leaf> F::L(in float a[N], out float b[N]) { for (long i = 1; i < N; i++) b[i] = a[i]; }
"""

# Its kernel ends in an error, on processing elements.
BROKEN = """!block = memref<?xf32, strided<[1], offset: ?>>
module attributes {svm.machine = "cell", svm.mapping = {main = {
    control = "ppe", arguments = ["main"], blocks = {x = "ls"}, calls = {work = {on = "spe"}}}}} {
  svm.kernel @refuse(%x: !block {svm.access = "readwrite"}) {
    %no = arith.constant false
    svm.check %no, "own-rule", "never"
    svm.return
  }
  func.func @main(%a: !block {svm.name = "A", svm.access = "readwrite"})
      attributes {svm.entry, svm.sizes = ["N"], svm.extents = [affine_map<()[n] -> (n)>]} {
    %c4 = arith.constant 4 : index
    svm.scope "work" disjoint {
      %x = svm.block "x"(%c4) max [4] : !block
      svm.move %a to %x : !block to !block
      svm.run @refuse(%x) : (!block) -> ()
      svm.move %x to %a : !block to !block
    }
    return
  }
}
"""


class Command(harness.Case):
    def test_every_stage_is_printed(self):
        for stage, word in (("ast", "AddVectors"), ("svm", 'svm.stage = "logical"'), ("placed", 'svm.stage = "placed"'),
                            ("scheduled", 'svm.stage = "scheduled"'), ("llvm", "define void"), ("asm", ".text")):
            self.assertIn(word, self.succeeds("run", VECTADD, "--emit", stage).out, stage)

    def test_the_module_after_each_pass(self):
        def after(what):
            return self.succeeds("run", VECTADD, "--machine", "cell", "--emit", "after:" + what).out

        self.assertIn('svm.stage = "logical"', after("fuse-multiply-add"))
        self.assertIn("svm.parallel", after("svm-hoist-copies"))
        self.assertIn("llvm.func", after("reconcile-unrealized-casts"))
        first, last = after("svm-common-subexpressions:1"), after("svm-common-subexpressions")
        self.assertIn('svm.stage = "placed"', first)
        self.assertIn("llvm.call", last)
        for what, mentions in (("svm-hoist-copy", ("--emit after:svm-hoist-copy", "did you mean 'svm-hoist-copies'?", "fuse-multiply-add, svm-")),
                               ("svm-hoist-copies:7", ("'svm-hoist-copies' is run on this program 7 times",))):
            self.is_refused("run", VECTADD, "--machine", "cell", "--emit", "after:" + what, code="error[driver-unknown-pass]", mentions=mentions)
        for what in ("after:", "after::1", "after:svm-canonicalize:", "after:svm-canonicalize:0", "after:svm-canonicalize:x", "before:svm-canonicalize"):
            self.is_refused("run", VECTADD, "--emit", what, code="error[driver-unknown-stage]", mentions="after:PASS")

    def test_the_passes_of_a_compilation_stand_in_the_table(self):
        with open(os.path.join(harness.ROOT, "docs/passes.md")) as file:
            table = set(re.findall(r"^### (.*)$", file.read(), re.MULTILINE))
        kernels = os.path.join(harness.ROOT, "examples/sequoia/conv2d/conv2d.sq")
        replayed = self.path("v.mlir")
        self.succeeds("run", VECTADD, "--emit=svm", "-o", replayed)
        run = set()
        for words in (("run", VECTADD, *DATA), ("run", VECTADD, *DATA, "--machine", "cell", "--stats"),
                      ("run", VECTADD, *DATA, "--machine", "cell", "--trace", "t.json"), ("run", replayed, *DATA),
                      ("run", VECTADD, *DATA, "--machine", "array-4x4"), ("build", kernels, "-o", "k.o")):
            rows = [json.loads(line) for line in self.succeeds(*words, "--time-passes", "--json").err.splitlines() if line.startswith('{"p')]
            run |= {row["pass"] for row in rows if "pass" in row}
        self.assertEqual(run - table, set(), "compiler/ir/passes.def lacks passes that are run")
        # Some are run only where a program holds what they are for; arrays extract equations leaf by leaf, without the pass.
        apart = {"svm-host-library-calls", "arith-expand", "svm-extract-equations"}
        self.assertEqual(table - run - apart, set(), "no such pass is run")
        result = self.is_refused("run", VECTADD, "--emit=after:svm-trace", code="error[driver-unknown-pass]", mentions="it stands with --trace alone")
        self.assertNotIn("did you mean", result.err)

    def test_times_of_passes(self):
        for words in (("run", VECTADD, *DATA), ("check", VECTADD, "--size", "N=100"), ("build", VECTADD, "-o", "v.o")):
            lines = self.succeeds(*words, "--time-passes").err.splitlines()
            self.assertEqual(lines[0].split(), ["seconds", "share"])
            rows = {line.split("%")[1].strip(): float(line.split()[0]) for line in lines[1:]}
            for name in ("reading", "placing", "svm-distribute", "svm-canonicalize", "in all"):
                self.assertIn(name, rows, words)
            self.assertEqual("generating code" in rows, words[0] != "check")
            self.assertGreater(rows["in all"], 0)
            names = [line.split("%")[1].strip() for line in lines[1:] if not line.split("%")[1].startswith("    ")]
            self.assertEqual(len(names), len(set(names)), f"phases have names of their own: {names}")
        # Whoever reads JSON line by line reads these lines too.
        result = self.succeeds("run", VECTADD, *DATA, "--time-passes", "--json")
        parsed = [json.loads(line) for line in result.err.splitlines()]
        self.assertIn("svm-distribute", [each.get("pass") for each in parsed])
        self.assertIn("generating code", [each.get("phase") for each in parsed])

    def test_targets(self):
        self.succeeds("run", VECTADD, *DATA, "--out", "C=C.npy")
        result = self.succeeds("run", VECTADD, *DATA, "--out", "C=D.npy", "--target", "interpreter", "--stats", "--repeat", "2")
        self.assertIn("on host, interpreter: ", result.out)
        self.assertIn("moves: 3", result.out)
        self.assertEqual(open(self.path("C.npy"), "rb").read(), open(self.path("D.npy"), "rb").read())
        # Functions in C are called by it as well, and what a program breaks has its place.
        result = self.succeeds("run", VECTADD, *DATA, "--target", "interpreter", "--stats=json")
        self.assertEqual(json.loads(result.err)["target"], "interpreter")
        text = open(os.path.join(harness.ROOT, "machines/cell/machine.yaml")).read()
        self.write("chooses.yaml", text.replace("machine: cell", "machine: cell\ntarget: interpreter"))
        self.succeeds("run", VECTADD, *DATA, "--machine", "./chooses.yaml", "--out", "C=E.npy")
        self.assertEqual(open(self.path("C.npy"), "rb").read(), open(self.path("E.npy"), "rb").read())
        # Single processors may be of another target, which the machine's own gives kernels to, and not every one can.
        self.write("part.yaml", text.replace("name: spe", "name: spe\n    target: interpreter"))
        result = self.succeeds("run", VECTADD, *DATA, "--machine", "./part.yaml", "--out", "C=P.npy", "--stats", "--check")
        self.assertEqual(open(self.path("C.npy"), "rb").read(), open(self.path("P.npy"), "rb").read())
        self.assertIn("bytes main -> ls: ", result.out)
        self.succeeds("check", VECTADD, "--machine", "./part.yaml", "--size", "N=8")
        self.assertIn("strata_call_part", self.succeeds("run", VECTADD, "--machine", "./part.yaml", "--emit=llvm", "--size", "N=8").out)
        self.assertNotIn("strata_call_part", self.succeeds("run", VECTADD, "--machine", "./part.yaml", "--target", "host",
                                                           "--emit=llvm", "--size", "N=8").out)
        self.write("other.yaml", text.replace("machine: cell", "machine: cell\ntarget: interpreter")
                   .replace("name: spe", "name: spe\n    target: host"))
        self.write("broken.mlir", BROKEN)
        for words, code, place in (
                (("run", VECTADD, "--target", "interpeter"), "target-unknown", "did you mean 'interpreter'?"),
                (("run", VECTADD, *DATA, "--machine", "./other.yaml"), "target-part", "other.yaml:"),
                (("check", VECTADD, "--machine", "./other.yaml", "--size", "N=8"), "target-part", "other.yaml:"),
                (("check", VECTADD, "--machine", "./other.yaml"), "target-part", "other.yaml:"),
                (("build", VECTADD, "--machine", "./part.yaml", "-o", "v.o"), "host-part-object", "'spe' is of target 'interpreter'"),
                (("run", "broken.mlir", "--machine", "./part.yaml", "--size", "N=4"), "own-rule", "broken.mlir:6:"),
                (("run", "broken.mlir", "--machine", "./other.yaml", "--size", "N=4"), "target-part", "other.yaml:"),
                (("check", VECTADD, "--target", "interpeter"), "target-unknown", "did you mean 'interpreter'?"),
                (("map", VECTADD, "--target", "interpreter"), "driver-usage", "--target"),
                (("run", VECTADD, *DATA, "--target", "interpreter", "--trace", "t.json"), "target-no-trace", "--trace"),
                (("run", VECTADD, "--target", "interpreter", "--emit=asm"), "target-no-form", "command line:1:"),
                (("build", VECTADD, "--target", "interpreter", "-o", "v.o"), "build-no-object", "command line:1:")):
            result = self.is_refused(*words)
            self.assertIn(f"error[{code}]", result.err)
            self.assertIn(place, result.err)
        # On a machine whose control reaches no memory directly there is nowhere to put an argument.
        self.is_refused("run", "broken.mlir", "--machine", "pca", "--size", "N=4", code="placement-no-memory", mentions="broken.mlir:")
        # Its texts can be asked of any target but this one.
        self.succeeds("run", VECTADD, "--target", "interpreter", "--emit=scheduled", "--size", "N=8")

    def test_figures_as_json(self):
        self.succeeds("run", VECTADD, *DATA, "--machine", "cell", "--stats", "json:figures.json")
        with open(self.path("figures.json")) as file:
            figures = json.load(file)
        self.assertEqual(figures["sizes"], {"N": 1000})
        self.assertEqual(figures["machine"], "cell")
        self.assertEqual(figures["bytes"], {"main -> ls": 8000, "ls -> main": 4000})
        self.assertGreater(figures["seconds"]["median"], 0)
        self.assertEqual(list(figures["paths"].values()), ["structured"])

    def test_moves_within_one_memory_are_elided(self):
        result = self.succeeds("run", VECTADD, *DATA, "--stats=json")
        figures = json.loads(result.err.splitlines()[-1])
        self.assertEqual(figures["moves"], 0)
        self.assertGreater(figures["moves_elided"], 0)

    def test_a_trace_is_json_and_names_the_kernel(self):
        self.succeeds("run", VECTADD, *DATA, "--machine", "cell", "--trace", "trace.json")
        with open(self.path("trace.json")) as file:
            events = json.load(file)["traceEvents"]
        names = {event["name"] for event in events if event["ph"] == "X"}
        self.assertTrue({"AddVectors#0.A", "AddVectors#0.C"} < names, names)

    def test_repetitions_start_from_the_same_arrays(self):
        source = self.write("count.sq", """
            void task Count(inout int a[N]);
            void task<leaf> Count::L(inout int a[N]) { for (long i = 0; i < N; i++) a[i] += 1; }
        """)
        self.succeeds("run", source, "--size", "N=5", "--in", "a=iota", "--out", "a=a.npy", "--repeat", 3, "--stats")
        self.assertEqual(np.load(self.path("a.npy")).tolist(), [1, 2, 3, 4, 5])

    def test_remarks_say_what_was_decided(self):
        result = self.succeeds("run", VECTADD, *DATA, "--remarks")
        self.assertIn("driver-mapping-made", result.err)
        self.assertIn("no copy: 'AddVectors#0.A'", result.err)
        self.assertEqual(self.succeeds("run", VECTADD, *DATA).err, "")

    def test_the_interpreter_alone(self):
        self.succeeds("run", VECTADD, *DATA, "--interpret", "--out", "C=c.npy")
        self.assertTrue(np.array_equal(np.load(self.path("c.npy")), np.arange(1000, dtype="f4") + 1))

    def test_machines_are_listed_written_and_drawn(self):
        self.assertIn("cell\n", self.succeeds("machine", "--list").out)
        header = self.succeeds("machine", "pca", "--header").out
        self.assertIn("PROC8 = 0x", header)
        self.assertIn("#include <svm.h>", header)
        text = self.succeeds("machine", "cell").out
        again = self.succeeds("machine", self.write("mine.yaml", text)).out
        self.assertEqual(text, again)
        self.assertIn("core", self.succeeds("machine").out)
        self.succeeds("show", "cell", "-o", "cell.svg")
        root = xml.etree.ElementTree.parse(self.path("cell.svg")).getroot()
        self.assertTrue(root.tag.endswith("svg"))

    def test_the_machine_from_the_environment(self):
        result = self.succeeds("run", VECTADD, *DATA, STRATA_MACHINE="cell")
        self.assertIn("on cell", result.out)

    def test_errors_as_json(self):
        result = self.strata("check", self.write("bad.sq", "void task;"), "--json")
        self.assertEqual(result.status, 1)
        first = json.loads(result.err.splitlines()[0])
        self.assertEqual(first["severity"], "error")
        self.assertEqual(first["labels"][0]["line"], 1)

    def test_an_output_that_is_not_written_is_found_by_check(self):
        source = self.write("half.sq", HALF_WRITTEN)
        self.is_refused("run", source, "--size", "N=4", "--in", "a=iota", "--check", code="check-undefined", mentions="element [0]")

    def test_mappings_are_turned_into_the_other_form(self):
        mapping = os.path.join(harness.ROOT, "examples/sequoia/vectadd/cell.map")
        self.succeeds("map", VECTADD, "--map", mapping, "--format", "xml", "-o", "cell.xml")
        root = xml.etree.ElementTree.parse(self.path("cell.xml")).getroot()
        self.assertEqual(root.find("machine").get("filename"), "cell")
        braces = self.succeeds("map", VECTADD, "--map", mapping, "--format", "braces").out
        self.assertEqual(self.succeeds("map", VECTADD, "--map", self.path("cell.xml")).out, braces)
        # The form is told by the file's content, whatever its name.
        os.rename(self.path("cell.xml"), self.path("other.map"))
        self.succeeds("run", VECTADD, *DATA, "--map", self.path("other.map"), "--out", "C=c.npy")
        self.assertTrue(np.array_equal(np.load(self.path("c.npy")), np.arange(1000, dtype="f4") + 1))

    def test_a_template_is_filled_in_and_runs(self):
        for form in ("braces", "xml"):
            text = self.succeeds("map", VECTADD, "--machine", "cell", "--template", "--format", form).out
            self.is_refused("check", VECTADD, "--map", self.write("blank.map", text), code="sequoia-mapping-blank", mentions="blank.map:",
                            errors=12)
            for value in ("AddVectors_Split", "2", "100", "2", "2", "2", "0", "AddVectors_Add", "0", "0", "0", "0"):
                text = text.replace("?", value, 1) if form == "braces" else text[:30] + text[30:].replace("?", value, 1)
            self.succeeds("run", VECTADD, *DATA, "--map", self.write("full.map", text), "--out", "C=c.npy")
            self.assertTrue(np.array_equal(np.load(self.path("c.npy")), np.arange(1000, dtype="f4") + 1))
        self.is_refused("map", VECTADD, "--template", "--map", "x.map", code="driver-usage")
        self.is_refused("map", VECTADD, "--format", "yaml", code="driver-usage")
        hbir = os.path.join(harness.ROOT, "examples/hbir/vectadd/vectadd.hbir")
        self.is_refused("map", hbir, "--template", code="hbir-mapping-form", mentions="command line:1:")
        self.is_refused("map", hbir, "--format", "xml", code="hbir-mapping-form", mentions="command line:1:")
        self.is_refused("run", hbir, "--size", "m=3", code="hbir-size-name", mentions="command line:1:")

    def test_command_lines_that_are_not_understood(self):
        self.is_refused("rum", VECTADD, code="driver-usage", mentions="did you mean 'run'?")
        self.is_refused("run", VECTADD, "--threads", "x", code="driver-usage", mentions="strata run --help")
        self.is_refused("run", VECTADD, "-o", "foo", code="driver-usage", mentions="--emit")
        self.is_refused("run", VECTADD, "--machnie", "cell", code="driver-usage", mentions=["did you mean '--machine'?", "has no option '--machnie'"])
        self.is_refused("map", VECTADD, "--fromat=xml", code="driver-usage", mentions="did you mean '--format'?")
        self.is_refused(code="driver-usage", mentions="strata --help")

    def test_a_size_without_its_option_is_told(self):
        for word, option in (("N=8", "--size N=8"), ("A=iota", "--in A=iota")):
            self.is_refused("run", VECTADD, word, code="driver-usage", mentions=f"did you mean {option}?")

    def test_the_preprocessor_takes_folders_and_macros(self):
        os.makedirs(self.path("parts"))
        self.write("parts/part.h", "enum { base = 40 };\n")
        self.write("p.sq", '#include "part.h"\nvoid task F(out int y);\n'
                           "void task<leaf> F::L(out int y) { y = base + ADDED; }\n")
        for options in (("-I", "parts", "-D", "ADDED=2"), ("-Iparts", "-DADDED=2")):
            self.succeeds("run", "p.sq", *options, "--out", "y=y.npy")
            self.assertEqual(np.load(self.path("y.npy")), 42)
        self.is_refused("check", "p.sq", "-D", "ADDED=2", code="sequoia-preprocessor", mentions="part.h")
        self.is_refused("check", os.path.join(harness.ROOT, "examples/hbir/sum/sum.hbir"), "-DN=2", code="driver-usage",
                        mentions="-I and -D are for Sequoia programs")

    def test_what_is_missing_points_into_the_program(self):
        self.is_refused("run", VECTADD, "--in", "A=iota", "--in", "B=1", code="run-missing-size", mentions="vectadd.sq:")
        self.is_refused("run", VECTADD, "--size", "N=8", "--in", "A=iota", code="run-missing-input", mentions="vectadd.sq:")

    def test_less_than_is_less_in_every_condition(self):
        self.write("s.sq", """
void task T(in int x[N], inout int k);
void task<leaf> T::A(in int x[N], inout int k) { k += 1; }
void task<leaf> T::B(in int x[N], inout int k) { k += 100; }
void task Top(in int x[N], inout int k);
void task<inner> Top::I(in int x[N], inout int k) { T(x, k); }
""")
        for sign, at_four in (("<", 100), ("<=", 1), ("=", 1), (">=", 1), (">", 100)):
            self.write("s.map", '#include "host"\ntask Top: entrypoint(T0) { instance T0::I(level 0) { control(level 0) {\n'
                                f"  callsite T() {{ target TA() {{ x.elements {sign} 0x4; }} target TB() {{ }} }} }} }} }}\n"
                                "task T { instance TA::A(level 0) { } instance TB::B(level 0) { } }\n")
            self.succeeds("run", "s.sq", "--map", "s.map", "--in", "x=iota", "--size", "N=4", "--in", "k=0",
                          "--out", "k=k.npy")
            self.assertEqual(np.load(self.path("k.npy")), at_four, sign)

    def test_options_may_stand_before_the_program(self):
        self.succeeds("run", *DATA, VECTADD)

    def test_help_teaches(self):
        # What help cites is there, be it read in the tree or elsewhere.
        cited = re.search(r"strata run (\S+/examples/sequoia/vectadd/vectadd.sq)", self.succeeds("--help").out)
        self.assertTrue(os.path.exists(cited[1]))
        for folder in ("examples", "docs"):
            os.symlink(os.path.join(harness.ROOT, folder), self.path(folder))
        self.assertIn("strata run examples/sequoia/vectadd/vectadd.sq", self.succeeds("--help").out)
        for command in ("run", "check", "build", "map", "instantiate", "machine", "show", "help", "completion"):
            told = self.succeeds(command, "--help").out
            options, examples = told.split("Examples:\n")
            self.assertLessEqual(max(map(len, options.splitlines())), 120, told)
            lines = re.findall(r"^  strata (.*)$", examples, re.MULTILINE)
            self.assertGreaterEqual(len(lines), 2, told)
            for line in lines:  # they run as they stand
                self.assertTrue(line.startswith(command + " "), line)
                if command != "build" or not harness.sanitizer():  # which is linked into programs of its own only
                    self.succeeds(*line.split())


if __name__ == "__main__":
    harness.main()
