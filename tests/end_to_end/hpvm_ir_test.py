"""Programs in HPVM IR: run, checked, built, and compiled among other files; what is no IR, or breaks a rule, and where."""

import json
import os
import subprocess

import harness
from harness import ROOT

FOLDER = os.path.join(ROOT, "tests/hpvm/ir")
SCALE, STAGES = os.path.join(FOLDER, "scale.ll"), os.path.join(FOLDER, "stages.ll")
HELPER = """
#include <stdio.h>
extern int printed;
int printed = 1;
"""


class HpvmIrTest(harness.Case):
    def text(self, path=SCALE):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def output(self, program, *arguments):
        return subprocess.run([self.path(program), *arguments], capture_output=True, text=True, timeout=600)

    def refused(self, text, code, line, *said):
        """The text is refused with this code at this line."""
        self.write("bad.ll", text)
        result = self.strata("check", "bad.ll")
        self.assertEqual(result.status, 1, result.out + result.err)
        self.assertIn(f"[{code}]", result.err)
        if line:
            self.assertIn(f"bad.ll:{line}:", result.err)
        for words in said:
            self.assertIn(words, result.err)

    def line_of(self, text, part):
        return 1 + next(number for number, line in enumerate(text.split("\n")) if part in line)

    def test_run_check_and_build(self):
        for path, printed in ((SCALE, "2 5 8\n"), (STAGES, "0 22: 66\n")):
            self.assertEqual(self.succeeds("check", path).err, "")
            ran = self.succeeds("run", path)
            self.assertEqual((ran.out, ran.err), (printed, ""))
            self.succeeds("build", path, "-o", "program")
            self.assertEqual(self.output("program").stdout, printed)
        ran = self.strata("run", SCALE, "--", "a", "b")
        self.assertEqual((ran.status, ran.out), (2, "2 5 8\n"))

    def test_among_other_files(self):
        self.write("scale.ll", self.text())
        self.write("helper.c", HELPER)
        self.succeeds("cc", "-O2", "-c", "scale.ll")
        self.succeeds("cc", "scale.o", "-o", "one")
        self.succeeds("cc", "scale.ll", "helper.c", "-O1", "-o", "two")
        for program in ("one", "two"):
            self.assertEqual(self.output(program).stdout, "2 5 8\n")
        # Bitcode of LLVM's own tools has no place for the attributes, which stand in quotes then.
        self.write("quoted.ll", self.text().replace("* in out %data", "* \"in\" \"out\" %data"))
        subprocess.run(["llvm-as-19", self.path("quoted.ll"), "-o", self.path("scale.bc")], check=True, timeout=600)
        self.assertEqual(self.succeeds("run", "scale.bc").out, "2 5 8\n")

    def test_other_ir_is_clangs(self):
        self.write("plain.ll", "define i32 @main() {\n  ret i32 0\n}\n")
        self.succeeds("cc", "plain.ll", "-o", "plain", "-Wno-override-module")
        self.assertEqual(self.output("plain").returncode, 0)
        self.refused("define i32 @main() {\n  ret i32 0\n}\n", "hpvm-ir-graphs", None)

    def test_rules_have_the_lines_of_the_text(self):
        text = self.text()
        bind = "  call void @llvm.hpvm.bind.input(i8* %node, i32 1, i32 1, i1 false)\n"
        self.refused(text.replace(bind, ""), "hpvm-input-missing", self.line_of(text, "@llvm.hpvm.createNode1D(i8* bitcast"), "input 'bytes' of node 'scale'")
        self.refused(text.replace("getNodeInstanceID.x", "getNodeInstanceID.z"), "hpvm-dimension", self.line_of(text, "getNodeInstanceID.x(i8* %node)"), "dimension 2")
        self.refused(text.replace("float* in out %data, i64 %bytes) {", "float* %data, i64 %bytes) {"), "hpvm-attributes", None, "'data'")

    def test_what_is_no_hpvm_ir(self):
        text = self.text()
        self.refused(text.replace("llvm.hpvm.getNode()", "llvm.hpvm.getBall()"), "hpvm-ir-intrinsic", self.line_of(text, "@llvm.hpvm.getNode()"), "llvm.hpvm.getBall")
        self.refused(text.replace("i64 @llvm.hpvm.getNodeInstanceID.x(i8*", "i32 @llvm.hpvm.getNodeInstanceID.x(i8*").replace("sitofp i64 %x", "sitofp i32 %x")
                     .replace("float* %data, i64 %x", "float* %data, i32 %x"), "hpvm-ir-arguments", self.line_of(text, "getNodeInstanceID.x(i8* %node)"))
        self.refused(text.replace("fmul float %old, 2.0", "fmul float %old 2.0"), "hpvm-ir-text", self.line_of(text, "fmul float"))
        self.refused(text.replace("%old = load", "%at = load"), "hpvm-ir-text", self.line_of(text, "%old = load"))
        self.refused("llvm.hpvm.", "hpvm-ir-text", 1)
        self.refused(text.replace("to i8*), i64 %n)", "to i8*), i64 %n, i64 %n)"), "hpvm-ir-invalid", None, "incompatible signature")
        with open(self.path("damaged.bc"), "wb") as file:
            file.write(b"BC\xc0\xde" + b"llvm.hpvm." * 10)
        result = self.strata("check", "damaged.bc")
        self.assertEqual(result.status, 1)
        self.assertIn("[hpvm-ir-bitcode]", result.err)
        self.assertIn("[hpvm-ir-file]", self.strata("check", "none.ll").err)

    def test_without_a_place_for_files(self):
        result = self.strata("run", SCALE, TMPDIR="/nowhere/at/all")
        self.assertEqual(result.status, 1, result)
        self.assertIn("[hpvm-ir-start]", result.err)

    def test_figures_of_nodes(self):
        result = self.succeeds("run", STAGES, "--stats")
        self.assertRegex(result.err, r"^root: 1 launch, 1 item, [0-9.]+ [mu]s\n  double: 1 run, 12 instances, .*\n  number: 1 run, 12 instances, ")
        self.succeeds("run", SCALE, "--stats=json:figures.json")
        with open(self.path("figures.json")) as file:
            graph, = json.load(file)["graphs"]
        self.assertEqual([(node["node"], node["runs"], node["instances"]) for node in graph["nodes"]], [("scale", 1, 3)])
        self.is_refused("run", SCALE, "--stats=json:figures.svg", code="driver-output-suffix")

    def test_options_of_other_programs(self):
        for option in (["--check"], ["--size", "N=3"], ["--trace", "t.json"], ["--interpret"]):
            result = self.strata("run", SCALE, *option)
            self.assertEqual(result.status, 1)
            self.assertIn("is for programs of notations", result.err)
        self.assertIn("behind -- are for strata run", self.strata("check", SCALE, "--", "x").err)


if __name__ == "__main__":
    harness.main()
