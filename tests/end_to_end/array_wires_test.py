"""Values on the wires of an array's page are compared with what the trace says that the elements read and what the program gives. The page's script
runs in Node.js, where there is one."""

import collections
import json
import os
import re
import shutil
import subprocess
import unittest

import harness
import numpy as np
from pla_programs import input_options, programs

PROGRAMS = {program.name: program for program in programs()}
EVENT = re.compile(r"  \((\d+), (\d+)\) \w+ \d+: \w+ (.*?)(?: -> (?:.*?))?: (.*) -> .*")

# What a browser has and the script asks for when it starts: things that answer everything with themselves.
BROWSER = """
const any = new Proxy(function () {}, { get: (_, key) => (key === Symbol.toPrimitive ? () => 100 : key === Symbol.iterator ? function* () {} : any),
  apply: () => any, construct: () => any, set: () => true });
const page = require("fs").readFileSync(process.argv[2], "utf8");
const script = page.slice(page.indexOf("const data = "), page.lastIndexOf("</script>")) + process.argv[3];
require("vm").runInNewContext(script, { document: any, window: any, location: { hash: "" }, getComputedStyle: any, matchMedia: any, ResizeObserver: any,
  requestAnimationFrame: any, innerHeight: 900, performance, atob, told: (what) => console.log(JSON.stringify(what)) });
"""

# Every value of every wire: the cycle, the wrapper, the ports, the value and how many hops its sender is away. And how many values were not in the
# wrapper before when they should have been.
VALUES = """
const list = [], key = (r, c, side, index, time) => [r, c, side, index, time].join(), at = new Map();
for (cycle = 0; cycle < cycles; ++cycle)
  for (const way of [...ways.values()].flat())
    for (const word of wordsOn(way)) {
      const found = carried(way.origin, word), value = found && valueText(found.value, found.type);
      if (word.late) continue;
      list.push([cycle, way.r, way.c, ...way.source, ...way.sink, value, found && found.type, way.origin.hops]);
      at.set(key(way.r, way.c, ...way.sink, cycle), value);
    }
const lost = list.filter(([time, r, c, side, index, , , value]) => side !== 4 && isInside(r + step[side][0], c + step[side][1]) &&
  at.get(key(r + step[side][0], c + step[side][1], opposite(side), index, time - hop)) !== value).length;
told({ list, lost, texts: [...ways.values()].flat().map(wireText) });
"""


@unittest.skipUnless(shutil.which("node"), "there is no Node.js here")
class Wires(harness.Case):
    def values(self, program, machine, size, *extra, shown=()):
        """What the page says of all wires, the list of the trace, and the program's inputs and results."""
        given, sizes = program.make(size), ",".join(f"{name}={value}" for name, value in size.items())
        outputs = {name: self.path(name + ".npy") for name in program.results(given, **size)}
        self.succeeds("run", program.path, "--machine", machine, "--size", sizes, *input_options(self, given), "--trace", self.path("run.trace"), *extra,
                      *(word for name, path in outputs.items() for word in ("--out", f"{name}={path}")))
        self.succeeds("show", self.path("run.trace"), "-o", self.path("page.html"), *shown)
        with open(self.path("browser.js"), "w") as file:
            file.write(BROWSER)
        done = subprocess.run(["node", self.path("browser.js"), self.path("page.html"), VALUES], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), self.succeeds("show", self.path("run.trace")).out, given, {name: np.load(path) for name, path in outputs.items()}

    def reads(self, text):
        """By element and input register, what instructions read from it, in their order."""
        reads = collections.defaultdict(list)
        for event in filter(None, map(EVENT.match, text.splitlines())):
            for source, value in dict(zip(event[3].split(", "), event[4].split(", "))).items():
                if source.startswith("id"):
                    reads[int(event[1]), int(event[2]), int(source[2:])].append(value)
        return reads

    def compare(self, name, machine, size, *extra):
        told, text, given, results = self.values(PROGRAMS[name], machine, size, *extra)
        arrivals, left, most = collections.defaultdict(list), [], 0
        for cycle, row, column, _, _, side, index, value, kind, hops in told["list"]:
            self.assertIsNotNone(value, (cycle, row, column))
            most = max(most, hops)
            if side == 4:
                arrivals[row, column, index].append((value, kind))
        reads = self.reads(text)
        self.assertEqual(set(arrivals), set(reads))
        for place, expected in reads.items():
            found = arrivals[place]
            self.assertEqual(len(found), len(expected), place)
            for (value, kind), read in zip(found, expected):
                self.assertEqual(np.array(value, "f4" if kind == "float32" else object), np.array(read, "f4" if kind == "float32" else object), place)
        self.assertEqual(told["lost"], 0)
        self.assertEqual(told["list"], sorted(told["list"], key=lambda each: each[0]))
        return told, given, results, most

    def test_what_arrives_is_what_is_read(self):
        hops = []
        with open(os.path.join(harness.ROOT, "machines/array-4x4/machine.yaml")) as file:
            slow = self.write("slow.yaml", file.read().replace("data: {inputs: 4,", "data: {hop: 3, inputs: 4,"))
        for name, machine, size, extra in (
                ("bits", "array-2alu", {"N": 16}, ("--region", "1x3")), ("fir", "array-4x4", {"N": 24, "T": 4}, ()),
                ("systolic", "array-4x4", {"M": 9, "N": 8, "K": 5}, ()), ("shortest", "array-4x4", {"N": 7}, ()),
                ("matmul", "array-4x4", {"M": 4, "N": 4, "K": 4}, ("--distribute", "i,j")), ("sobel", "array-4x4", {"H": 6, "W": 9}, ()),
                ("fir", "array-4x4", {"N": 24, "T": 4}, ("--region", "1x3@0,0")),
                ("systolic", slow, {"M": 9, "N": 8, "K": 5}, ())):
            with self.subTest(name):
                hops.append(self.compare(name, machine, size, *extra)[3])
        self.assertGreater(max(hops), 1)  # over several wrappers

    def test_what_passes_borders_is_what_arrays_hold(self):
        told, given, results, _ = self.compare("systolic", "array-4x4", {"M": 8, "N": 8, "K": 4})
        out = [value for _, _, column, _, _, side, _, value, _, _ in told["list"] if side == 1 and column == 3]
        found = sorted(np.array(out, "f4").tolist())
        self.assertTrue(set(results["c"].ravel().tolist()) <= set(found))
        west = collections.defaultdict(set)
        for _, row, column, side, index, sink, _, value, _, hops in told["list"]:
            if column == 0 and side == 3 and sink == 4 and hops == 0:
                west[row, index].add(float(np.array(value, "f4")))
        for (row, _), values in west.items():
            self.assertEqual(values, set(given["a"][2 * row:2 * row + 2].ravel().tolist()))
        self.assertEqual(len({row for row, _ in west}), 4)

    def test_what_is_said_of_a_wire(self):
        told, *_ = self.compare("bits", "array-2alu", {"N": 16}, "--region", "1x3")
        self.assertIn("wrapper (0, 1): west0 → id0\nfrom od0 of element (0, 0), 1 hop\ncycle", "\n".join(told["texts"]))
        self.assertIn("wrapper (0, 0): west0 → id0\nfrom in in bank west0 of row 0\ncycle", "\n".join(told["texts"]))
        self.assertIn("wrapper (0, 2): od0 → east0, to the border, where no bank is\n", "\n".join(told["texts"]))
        self.assertTrue(any(text.startswith("wrapper (0, 2): od1 → north0, to bank north0 of column 2\n") for text in told["texts"]), told["texts"])

    def test_cycles_that_are_left_out_have_no_values(self):
        told, text, *_ = self.values(PROGRAMS["systolic"], "array-4x4", {"M": 9, "N": 8, "K": 5}, shown=("--cycles", "30..60"))
        known = [each[0] for each in told["list"] if each[7] is not None]
        self.assertTrue(25 < min(known) < 40 and 50 < max(known) <= 64, (min(known), max(known)))
        self.assertLess(len(known), len(told["list"]) / 2)


if __name__ == "__main__":
    harness.main()
