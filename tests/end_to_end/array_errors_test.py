"""What a processor array has too little of: for each resource the least number with which a program runs, and one less, which is refused
with how much is needed, how much there is, where in the program, and what would help."""

import os
import re

import harness

FAR = """// A value is used two iterations later.
program far;
parameter N >= 4;
input x: float[N];
output y: float[N];
variable late: float;
for i where 0 <= i < N {
  late[i] = x[i]               if i < 2;
  late[i] = late[i - 2] + x[i] if i >= 2;
  y[i] = late[i];
}
"""
CHOICE = """// Two choices, of which one needs the other.
program choice;
parameter N >= 1;
input x, z: int32[N];
output y: int32[N];
variable near: bool;
for i where 0 <= i < N {
  near[i] = x[i] < z[i];
  y[i] = near[i] ? (x[i] * 3 < z[i] ? x[i] : 5) : (near[i] ? 7 : z[i]);
}
"""
TABLE = """// Rows and columns: elements of a that are no borders.
program table;
parameter N >= 1;
input a: float[N, N];
output b: float[N, N];
for i, j where 0 <= i < N and 0 <= j < N { b[i, j] = a[i, j] * 2; }
"""
DEEP = """// Four loops.
program deep;
parameter N >= 1;
input a: float[N, N, N, N];
output b: float[N, N, N, N];
for i, j, k, l where 0 <= i < N and 0 <= j < N and 0 <= k < N and 0 <= l < N { b[i, j, k, l] = a[i, j, k, l] * 2; }
"""
DOUBLES = FAR.replace("float", "double")
with open(os.path.join(harness.ROOT, "examples/pla/pipeline/pipeline.pla")) as opened:
    PIPELINE = opened.read()
LINE = ("--distribute", "-,i")
# By resource: the program, sizes and options; the field of the machine as a pattern with one number; the least number that fits; the code;
# what is said where there is one less; the lines of the program that are shown.
RESOURCES = {
    "columns": (FAR, {"N": 16}, (*LINE, "--region", "1x3"), r"columns: (\d+)", 3, "array-instantiation", ["a region of 1 x 3 elements, the array has 4 x 2"], []),
    "instructions": (FAR, {"N": 16}, LINE, r"instructions: (\d+)", 3, "array-instantiation",
                     ["the program of unit ", "which computes 'late'", "takes 3 instructions, the unit's memory holds 2"], [8]),
    "feedback registers": (FAR, {"N": 16}, LINE, r"feedback: (\d+)", 1, "array-registers",
                           ["'far' needs 1 feedback registers; an element of the array has 0", "for 'late' at distance (2)"], [8]),
    "depth of feedback": (FAR, {"N": 16}, (*LINE, "--region", "1x2"), r"feedback_depth: (\d+)", 2, "array-instantiation",
                          ["feedback register fd0 holds 2 values of 'late' with tiles of 8, the array's hold 1"], [8]),
    "general registers": (CHOICE, {"N": 4}, LINE, r"general: (\d+)", 2, "array-registers",
                          ["'choice' needs 2 general registers; an element of the array has 1", "for '"], [9]),
    "flags": (CHOICE, {"N": 4}, LINE, r"flags: (\d+)", 2, "array-registers", ["'choice' needs 2 flags; an element of the array has 1", "for 'near'"], [8]),
    "input registers": (CHOICE, {"N": 4}, LINE, r"input: (\d+)", 6, "array-registers",
                        ["'choice' needs 6 input registers, one for each channel and input; an element of the array has 5", "for input 'x'"], [8]),
    "output registers": (FAR, {"N": 16}, LINE, r"output: (\d+)", 2, "array-registers",
                         ["'far' needs 2 output registers, one for each channel and output; an element of the array has 1", "for output 'y'"], [10]),
    "ports": (FAR, {"N": 16}, LINE, r"data: \{inputs: (\d+), outputs: \1", 1, "array-routes",
              ["the channels of 'far' between neighbours find no routes: 1 channel to the east, the wrapper has 0 ports there"], []),
    "signals": (PIPELINE, {"N": 9, "T": 5}, ("--region", "3x2"), r"signals: (\d+), dimensions", 4, "array-instantiation",
                ["the programs need 4 control signals, the controller makes 3"], []),
    "control registers": (FAR, {"N": 16}, LINE, r"control: (\d+)\}", 1, "array-instantiation",
                          ["the programs need 1 control signals, an element has control registers for 0"], []),
    "counters": (DEEP, {"N": 3}, ("--distribute", "-,i", "--region", "1x1"), r"signals: \d+, dimensions: (\d+)", 4, "array-instantiation",
                 ["a tile has 4 loops, the controller counts 3"], []),
    "counters of banks": (DEEP, {"N": 3}, ("--distribute", "-,i", "--region", "1x1"), r"capacity: 64K, dimensions: (\d+)", 4, "array-instantiation",
                          ["is accessed in 4 loops of a tile; address generators at the", "border count 3"], []),
    "banks": (TABLE, {"N": 4}, ("--distribute", "i,j", "--region", "2x2"), r"banks: (\d+)", 1, "array-instantiation", ["no free way between a border and register"], []),
    "capacity": (DOUBLES, {"N": 16}, LINE, r"capacity: (\d+K)", 16, "array-instantiation",
                 ["takes 16 bytes of a bank at the", "border, which holds 15"], []),
    "word": (FAR, {"N": 16}, LINE, r"word: (\d+)", 4, "array-word", ["'late' is of float32, 4 bytes; registers of the array hold 2"], [8]),
}


class ArrayErrors(harness.Case):
    def machine(self, pattern, number):
        with open(os.path.join(harness.ROOT, "machines/array-4x4/machine.yaml")) as file:
            text = file.read()
        text, found = re.subn(pattern, lambda match: match[0].replace(match[1], str(number)), text)
        self.assertTrue(found, pattern)
        return self.write("changed.yaml", text)

    def words(self, source, size, options, machine):
        names = re.sub(r"\[[^]]*\]|: *\w+", "", re.search(r"input (.*);", source)[1]).split(", ")
        inputs = [word for name in names for word in ("--in", f"{name}=iota")]
        sizes = ",".join(f"{name}={value}" for name, value in size.items())
        return ("run", self.write("program.pla", source), "--machine", machine, "--size", sizes, *inputs, *options)

    def expect(self, source, size, options, pattern, least, code, mentions, lines, fewer=None):
        fewer = least - 1 if fewer is None else fewer
        self.succeeds(*self.words(source, size, options, self.machine(pattern, least)))
        said = self.is_refused(*self.words(source, size, options, self.machine(pattern, fewer)), code=code, mentions=["= help: ", *mentions])
        for line in lines:
            self.assertRegex(said.err, rf"(?m)^ *{line} \| ", f"line {line} should be shown")


def test_of(resource):
    def test(self):
        self.expect(*RESOURCES[resource], fewer=2 if resource == "word" else None)
    return test


for each in RESOURCES:
    setattr(ArrayErrors, "test_" + each.replace(" ", "_"), test_of(each))

if __name__ == "__main__":
    harness.main()
