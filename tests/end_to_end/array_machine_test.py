"""A parameter changed in the description of a processor array changes what is made for it: its configuration, or the cycles that it takes.
The results stay. Each parameter has a program for which it matters; what there is too little of is in array_errors_test.py."""

import os
import re

import harness
import numpy as np

MANY = """// Four sums of products: more operations than units, and values that are used twice.
program many;
parameter N >= 1;
input x, z: int32[N];
output y: int32[N];
variable a, b: int32;
for i where 0 <= i < N {
  a[i] = x[i] * z[i] + x[i];
  b[i] = x[i] * 3 + z[i] * 5;
  y[i] = a[i] / (b[i] * b[i] + 7) + (a[i] < b[i] ? x[i] : z[i]);
}
"""
PASSED = """// A value that goes from element to element, and one that goes three elements on.
program passed;
parameter N >= 4;
input x: int32[N];
output y: int32[N];
variable total: int32;
for i where 0 <= i < N {
  total[i] = x[i]              if i == 0;
  total[i] = total[i - 1] + x[i] if i >= 1;
  y[i] = total[i];
}
"""
TABLE = """// Rows and columns.
program table;
parameter N >= 1;
input x: int32[N, N];
output y: int32[N, N];
for i, j where 0 <= i < N and 0 <= j < N { y[i, j] = x[i, j] * 2; }
"""
PROGRAMS = {"many": (MANY, "N=16", ("x", "z"), ("--distribute", "-,i", "--region", "1x4")),
            "passed": (PASSED, "N=16", ("x",), ("--distribute", "-,i")),
            "long": (PASSED, "N=2000", ("x",), ("--distribute", "-,i")),
            "table": (TABLE, "N=8", ("x",), ("--distribute", "i,j"))}
# By parameter: the program, what stands in the description of array-4x4, and what stands there instead.
PARAMETERS = {
    "columns": ("passed", "columns: 4", "columns: 3"),
    "rows": ("table", "rows: 4", "rows: 3"),
    "units": ("many", "name: mul\n          count: 2", "name: mul\n          count: 1"),
    "latency": ("many", "mul: 2,", "mul: 5,"),
    "interval_of_an_operation": ("many", "div: {latency: 8, interval: 8}", "div: {latency: 8, interval: 16}"),
    "operations_of_a_unit": ("many", "muladd: 3", "muladd: 3, add: 1"),
    "general_registers": ("many", "general: 16", "general: 3"),
    "destinations": ("many", "destinations: 2", "destinations: 1"),
    "targets_of_branches": ("passed", "targets: 2", "targets: 4"),
    "ways_of_data": ("passed", "data: {inputs: 4, outputs: 4, adjacent: all}", "data: {inputs: 4, outputs: 4, adjacent: all, hop: 3}"),
    "ways_of_signals": ("passed", "control: {inputs: 16, outputs: 16, adjacent: all}", "control: {inputs: 16, outputs: 16, adjacent: all, hop: 20}"),
    "corners": ("passed", "corners: [north-west, north-east, south-east, south-west]", "corners: [south-east]"),
    "capacity_of_banks": ("long", "capacity: 64K", "capacity: 1K"),
    "bus": ("long", "latency: 20\n    bandwidth: 8", "latency: 200\n    bandwidth: 1"),
}


class ArrayMachine(harness.Case):
    def made(self, program, text):
        """The configuration, the figures of a run, and its result."""
        source, sizes, inputs, options = PROGRAMS[program]
        self.write("p.pla", source)
        self.write("m.yaml", text)
        words = ("p.pla", "--machine", "./m.yaml", "--size", sizes, *options)
        given = [word for number, name in enumerate(inputs) for word in ("--in", f"{name}=random:{number + 1}")]
        configuration = self.succeeds("run", *words, "--emit=config").out
        run = self.succeeds("run", *words, *given, "--out", "y=y.npy", "--stats")
        figures = [line for line in run.out.splitlines()[1:] if "seconds" not in line]
        return configuration, figures, np.load(self.path("y.npy"))


def test_of(parameter):
    def test(self):
        program, before, after = PARAMETERS[parameter]
        with open(os.path.join(harness.ROOT, "machines/array-4x4/machine.yaml"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn(before, text)
        configuration, figures, result = self.made(program, text)
        other, otherFigures, otherResult = self.made(program, text.replace(before, after))
        np.testing.assert_array_equal(otherResult, result)
        self.assertTrue(other != configuration or otherFigures != figures, "nothing that is made depends on it")
    return test


for each in PARAMETERS:
    setattr(ArrayMachine, "test_" + each, test_of(each))

if __name__ == "__main__":
    harness.main()
