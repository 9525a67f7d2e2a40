"""Traces of runs on processor arrays: written with a run, listed and drawn by strata show, for any cycles; and what is said of damaged files and
wrong options."""

import json
import os
import random
import re

import harness
import numpy as np
from pla_programs import input_options, programs

PROGRAMS = {program.name: program for program in programs()}
FIR = PROGRAMS["fir"]
SIZE = {"N": 24, "T": 4}
DATA = re.compile(r"const data = (.*);\n")
EVENT = re.compile(r"  \((\d+), (\d+)\) (\w+) (\d+): (.*): (.*) -> (.*)")


class Traces(harness.Case):
    def trace(self, *extra, program=FIR, size=SIZE, machine="array-4x4", name="run.trace"):
        self.succeeds("run", program.path, "--machine", machine, *input_options(self, program.make(size)), "--trace", self.path(name), *extra)
        return self.path(name)

    def listed(self, *words):
        """The events of a list by cycle."""
        cycles, now = {}, None
        for line in self.succeeds("show", *words).out.splitlines():
            if line.startswith("cycle "):
                now = cycles[int(line.split()[1])] = []
            elif line.startswith("  "):
                self.assertRegex(line, EVENT)
                now.append(line)
        return cycles

    def drawn(self, *words):
        """The data of a page, and its text."""
        self.succeeds("show", *words, "-o", self.path("page.html"))
        with open(self.path("page.html")) as file:
            page = file.read()
        self.assertIn("</html>", page)
        return json.loads(DATA.search(page)[1]), page

    def test_a_list_has_every_instruction(self):
        figures = json.loads(self.succeeds("run", FIR.path, "--machine", "array-4x4", *input_options(self, FIR.make(SIZE)),
                                           "--trace", self.path("run.trace"), "--stats=json").err)["array"]
        name = self.path("run.trace")
        cycles = self.listed(name)
        self.assertEqual(sum(map(len, cycles.values())), figures["operations"])
        self.assertEqual(list(cycles), sorted(cycles))
        self.assertLess(max(cycles), figures["cycles"])
        text = self.succeeds("show", name).out
        self.assertTrue(text.startswith("fir on array-4x4, 1 x 4 elements, an iteration every"), text[:100])
        self.assertTrue(text.endswith(f"end: {figures['cycles']} cycles, {figures['operations']} instructions\n"), text[-100:])
        self.succeeds("show", name, "-o", self.path("run.txt"))
        with open(self.path("run.txt")) as file:
            self.assertEqual(file.read(), text)
        # Within each instruction's figures: a product is that of its operands.
        for line in text.splitlines():
            event = EVENT.match(line)
            if event and event[5].startswith("mul "):
                left, right = map(float, event[6].split(", "))
                self.assertAlmostEqual(left * right, float(event[7]), delta=1e-5 * abs(left * right) + 1e-30)

    def test_the_same_run_has_the_same_trace(self):
        contents = []
        self.succeeds("map", FIR.path, "--machine", "array-4x4", "-o", self.path("fir.sym"))
        given = input_options(self, FIR.make(SIZE))
        for number, words in enumerate(([FIR.path, "--machine", "array-4x4"], [self.path("fir.sym")], [self.path("fir.sym"), "--repeat", "3"],
                                        [FIR.path, "--machine", "array-4x4", "--repeat", "2", "--stats"])):
            name = self.path(f"{number}.trace")
            self.succeeds("run", *words, *given, "--trace", name)
            with open(name, "rb") as file:
                contents.append(file.read())
        self.assertEqual(len(set(contents)), 1)
        self.assertTrue(contents[0].startswith(b"\xa7ST\x01"))

    def test_some_cycles(self):
        name = self.trace()
        everything = self.listed(name)
        for option, first, last in (("3..9", 3, 9), ("..5", 0, 5), ("20..", 20, 1 << 62), ("7", 7, 7), ("100000..", 100000, 1 << 62)):
            expected = {cycle: lines for cycle, lines in everything.items() if first <= cycle <= last}
            self.assertEqual(self.listed(name, "--cycles", option), expected, option)

    def test_pages(self):
        name = self.trace("--timeline", self.path("ran.html"))
        data, page = self.drawn(name)
        self.assertIn("fir on array-4x4, 1 x 4 elements", page)
        self.assertNotIn("left out", page)
        with open(self.path("ran.html")) as file:
            self.assertEqual(file.read(), page)  # what the run draws itself
        some, page = self.drawn(name, "--cycles", "10..19")
        self.assertEqual(some["opens"][0], 10)
        self.assertIn("those of cycles 10 to 19", page)
        self.assertIn("the others are left out", page)
        self.assertLess(sum(len(each[3]) for each in some["values"]), sum(len(each[3]) for each in data["values"]))
        for part in ("nodes", "instructions", "classes", "patterns"):
            self.assertEqual(some[part], data[part])

    def test_large_arrays(self):
        program, size = PROGRAMS["systolic"], {"M": 64, "N": 64, "K": 24}
        name = self.trace(program=program, size=size, machine="array-32x32")
        data, page = self.drawn(name)
        self.assertEqual((data["rows"], data["columns"]), (32, 32))
        events = int(re.search(r"\d+ cycles, (\d+) instructions", self.succeeds("show", name, "--cycles", "0..").out)[1])
        self.assertGreater(events, 200_000)
        self.assertIn("the others are left out", page)
        self.assertLess(os.path.getsize(name), 20 * events)
        self.assertLess(len(page), 5_000_000)
        middle = max(self.listed(name, "--cycles", "50..60"))
        later, _ = self.drawn(name, "--cycles", f"{middle}..")
        self.assertEqual(later["opens"][0], middle)

    def test_several_runs(self):
        matmul = os.path.join(harness.ROOT, "examples/sequoia/matmul/matmul.sq")
        name = self.path("runs.trace")
        self.succeeds("run", matmul, "--machine", "array-4x4", "--size", "M=8,N=8,P=8", "--in", "A=random", "--in", "B=random:2", "--trace", name)
        heads = re.findall(r"^run (\d+) of (\d+): ", self.succeeds("show", name).out, re.MULTILINE)
        if not heads:
            return  # the whole product is one run
        self.assertEqual([int(number) for number, _ in heads], list(range(1, int(heads[0][1]) + 1)))
        self.assertIn("--run shows another", self.drawn(name)[1])
        self.assertIn("It is run 2 of", self.drawn(name, "--run", "2")[1])
        self.assertEqual(len(re.findall(r"^end: ", self.succeeds("show", name, "--run", "2").out, re.MULTILINE)), 1)

    def test_wrong_options(self):
        name = self.trace()
        given = input_options(self, FIR.make(SIZE))
        words = ("run", FIR.path, *given)
        self.is_refused(*words, "--machine", "array-4x4", "--trace", self.path("x.json"), code="target-no-trace", mentions=".trace")
        self.is_refused(*words, "--trace", self.path("x.trace"), code="target-no-trace", mentions=".json")
        self.is_refused(*words, "--machine", "array-4x4", "--trace", self.path("x.txt"), code="driver-output-suffix", mentions=".trace")
        for option in ("1..0", "a..b", "..", "-3..4", "1..2..3", "5..x", "99999999999999999999.."):
            self.is_refused("show", name, f"--cycles={option}", code="show-cycles")
        self.is_refused("show", name, "--run", "2", code="show-run", mentions="which has 1")
        self.is_refused("show", name, "--size", "N=1", code="driver-not-a-program")
        self.is_refused("show", "cell", "--cycles", "1..2", code="driver-not-a-program", mentions="--cycles")
        self.is_refused("show", name, "-o", self.path("x.json"), code="driver-output-suffix", mentions=".txt")
        self.is_refused("show", name, "-o", self.path("x.svg"), code="driver-output-suffix", mentions=".html")
        self.is_refused("show", name, "-o", name, code="driver-output")
        self.is_refused("show", self.path("absent.trace"), code="show-array-trace-cannot-read")
        self.is_refused("show", name, "-o", "/dev/full", code="driver-cannot-write")
        self.is_refused(*words, "--machine", "array-4x4", "--trace", self.path("absent/x.trace"), code="driver-cannot-write")

    def test_what_runs_on_the_core_leaves_no_trace(self):
        histogram = os.path.join(harness.ROOT, "examples/sequoia/histogram/histogram.sq")
        values = self.save("values.npy", np.arange(64, dtype="i4") % 8)
        for option in ("--trace", self.path("x.trace")), ("--timeline", self.path("x.html")):
            self.is_refused("run", histogram, "--size", "N=64,B=8", "--in", f"data={values}", "--machine", "array-4x4", *option,
                            code="array-nothing-recorded", mentions="--remarks")

    def test_a_run_that_fails_leaves_what_happened(self):
        text = "parameter N >= 1;\ninput a, b: int32[N];\noutput c: int32[N];\nfor i where 0 <= i < N { c[i] = a[i] / b[i]; }\n"
        divisors = self.save("b.npy", np.array([3, 2, 1, 5, 1, 0, 2, 2], dtype="i4"))
        words = ("run", self.write("wrong.pla", text), "--machine", "array-4x4", "--size", "N=8", "--in", "a=iota", "--in", f"b={divisors}")
        self.assertIn("--trace FILE.trace keeps", self.is_refused(*words, code="array-value").err)
        self.is_refused(*words, "--trace", self.path("x.trace"), "--repeat", "2", code="array-value", mentions="without --repeat")
        name, page = self.path("x.trace"), self.path("ran.html")
        result = self.strata(*words, "--trace", name, "--timeline", page, "--out", f"c={self.path('c.npy')}")
        self.assertEqual(result.status, 1)
        self.assertEqual(result.err.count("error["), 1, result.err)
        cycle, row, column, why = re.search(r"array-value\]: cycle (\d+), element \((\d), (\d)\), (.*)", result.err).groups()
        self.assertIn("a division by zero (of 5, 0)", why)
        self.assertFalse(os.path.exists(self.path("c.npy")))
        # The command that the message names shows it.
        shown = re.search(r"what happened until then is in (\S+) and (\S+): strata show (\S+) --cycles (\d+)\.\.(\d+)\n", result.err)
        self.assertEqual(shown.groups()[:3], (name, page, name))
        self.assertEqual(shown[5], cycle)
        listed = self.succeeds("show", name, "--cycles", f"{shown[4]}..{shown[5]}").out
        self.assertTrue(listed.endswith(f"\nfailed: cycle {cycle}, element ({row}, {column}), {why}\n"), listed)
        whole = self.succeeds("show", name).out
        self.assertRegex(whole, rf"\nend: {int(cycle) + 1} cycles, \d+ instructions\nfailed: cycle {cycle}, ")
        events = self.listed(name)
        self.assertEqual(max(events), int(cycle))
        # What the run would have done without that, and no more.
        self.save("b.npy", np.array([3, 2, 1, 5, 1, 1, 2, 2], dtype="i4"))
        self.succeeds(*words, "--trace", self.path("good.trace"))
        good = self.listed(self.path("good.trace"))
        for time, lines in events.items():
            self.assertEqual(lines, good[time] if time < int(cycle) else good[time][:len(lines)])
        data, text = self.drawn(name)
        self.assertEqual(data["failed"], [int(cycle), int(row), int(column)])
        self.assertEqual(data["cycles"], int(cycle) + 1)
        self.assertIn("The run failed: cycle", text)
        with open(page) as file:
            self.assertEqual(file.read(), text)
        self.succeeds("map", self.path("wrong.pla"), "--machine", "array-4x4", "-o", self.path("wrong.sym"))
        self.save("b.npy", np.array([3, 2, 1, 5, 1, 0, 2, 2], dtype="i4"))
        again = self.strata("run", self.path("wrong.sym"), *words[4:], "--trace", self.path("y.trace"))
        self.assertEqual(again.status, 1)
        with open(name, "rb") as one, open(self.path("y.trace"), "rb") as other:
            sound = one.read()
            self.assertEqual(other.read(), sound)
        for at in range(0, len(sound), 7):  # one that is not complete is none
            self.is_refused("show", self.write("bad.trace", sound[:at]), code="show-array-trace")
        os.makedirs(self.path("folder.trace"))  # nothing can be put in its place
        refused = self.strata(*words, "--trace", self.path("folder.trace"))
        self.assertIn("array-value", refused.err)
        self.assertIn("driver-cannot-write", refused.err)
        self.assertNotIn("strata show", refused.err)

    def test_a_simulator_that_finds_an_error_leaves_what_happened(self):
        """A configuration whose schedule was damaged: a value is read in a cycle in which it is not there."""
        symbolic = self.path("fir.sym")
        self.succeeds("map", FIR.path, "--machine", "array-4x4", "-o", symbolic)
        with open(symbolic) as file:
            text = file.read()
        given = input_options(self, FIR.make(SIZE))
        found = 0
        for line in re.findall(r"^instruction .* offset \d+ latency .*$", text, re.MULTILINE):
            late = re.sub(r"offset (\d+)", lambda match: f"offset {int(match[1]) + 1}", line)
            name = self.path("bad.trace")
            result = self.strata("run", self.write("bad.sym", text.replace(line, late, 1)), *given, "--trace", name)
            if "error[array-internal]" not in result.err:
                continue
            found += 1
            message = re.search(r"error\[array-internal\]: (cycle (\d+), .*)", result.err)
            self.assertIn(f"help: what happened until then is in {name}: strata show {name} --cycles ", result.err)
            self.assertTrue(self.succeeds("show", name).out.endswith(f"failed: {message[1]}\n"))
            self.assertIn("failed", self.drawn(name)[0])
        self.assertGreater(found, 0)

    def test_damaged_files(self):
        name = self.trace(size={"N": 4, "T": 2})
        with open(name, "rb") as file:
            sound = file.read()
        chance = random.Random(1)
        for number in range(40):
            at, damaged = chance.randrange(len(sound)), bytearray(sound)
            damaged[at] ^= 1 << chance.randrange(8)
            self.is_refused("show", self.write("bad.trace", bytes(damaged)), code="show-array-trace")
            self.is_refused("show", self.write("bad.trace", sound[:at]), *(("-o", self.path("x.html")) if number % 2 else ()), code="show-array-trace")
        self.is_refused("show", self.write("bad.trace", b"nonsense"), code="show-array-trace", mentions="does not begin")
        self.is_refused("show", self.write("bad.trace", b""), code="show-array-trace")
        self.is_refused("show", self.write("bad.trace", sound[:3] + b"\x02" + sound[4:]), code="show-array-trace", mentions="version 1")


if __name__ == "__main__":
    harness.main()
