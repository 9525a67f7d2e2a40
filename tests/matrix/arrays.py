"""Every loop program on every machine with a processor array: run, compared with NumPy, and a table of cycles and intervals in docs/array-programs.md.
A program that does not fit has there what it lacks. A table that is another than the page's fails; --write makes the page anew. --brief
runs nothing on the larger arrays."""

import argparse
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "end_to_end"))
import harness
import pla_programs
from matrix import LARGER, machines

PAGE = os.path.join(harness.ROOT, "docs/array-programs.md")
BEGIN = """# Loop programs on processor arrays

Every program of `examples/pla` on the arrays that ship, at the sizes named: the results are NumPy's. A cell has the cycles from the start of the controller to the
last result, on how many elements, and the *initiation interval*: how many cycles after each other the iterations of an element begin. Behind a stroke stands a
number that is proved to be at most the least possible, where that is smaller. What does not fit says what it lacks. The arrays of 256 x 256 and 1024 x 1024 elements
do at these sizes what that of 32 x 32 does, and are left out; [matrix.md](matrix.md) has them. A test makes this table:
`tests/matrix/arrays.py --write` writes it. [processor-arrays.md](processor-arrays.md) explains the words.
"""


class Cell(harness.Case):
    """One program on one machine; `words` is what the table has of it."""

    def runTest(self):
        program, size = self.program, self.program.sizes[1]
        given = program.make(size)
        report = self.path("stats.json")
        wanted = program.results(given, **size)
        outputs = [word for name in wanted for word in ("--out", f"{name}={self.path(f'out-{name}.npy')}")]
        stated = ("--size", f"N={size['N']}") if program.name == "bits" else ()
        result = self.strata("run", program.path, *pla_programs.input_options(self, given), *stated, *outputs, "--machine", self.machine,
                             f"--stats=json:{report}")
        if result.status == 1:
            self.words = self.lack(result)
            return
        self.assertEqual(result.status, 0, str(result))
        got = {name: pla_programs.np.load(self.path(f"out-{name}.npy")) for name in wanted}
        pla_programs.check(self, program, given, size, got, f"{program.name} on {self.machine}")
        with open(report) as file:
            told = json.load(file)["array"]
        interval, bound = told["interval"], told["interval lower bound"]
        self.words = f"{told['cycles']} on {told['rows']} x {told['columns']}, {interval}{f'/{bound}' if bound < interval else ''}"

    def lack(self, result):
        """The error without the program's name."""
        error = re.search(r"^error\[(array-[\w-]+)\]: (.*)$", result.err, re.MULTILINE)
        self.assertTrue(error, str(result))
        text = re.sub(rf"^'{self.program.name}' ", "", error[2])
        return re.sub(r"'(\w+)'", r"`\1`", text)


def written():
    """The cells of the page, by program and machine."""
    rows = [line.strip("| \n").split(" | ") for line in pathlib.Path(PAGE).read_text().splitlines() if line.startswith("| ")]
    return {(row[0], machine): cell for row in rows[1:] for machine, cell in zip(rows[0][2:], row[2:])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", default=harness.options.strata, help="the command to test")
    parser.add_argument("--brief", action="store_true", help="take what the page says of arrays that only have more elements than another one")
    parser.add_argument("--write", action="store_true", help="write docs/array-programs.md")
    options = parser.parse_args()
    harness.options.strata = os.path.abspath(options.strata)
    # At these sizes the largest arrays are as that of 32 x 32 elements: matrix.py and end_to_end/array_test.py run programs on them.
    arrays = [name for name in machines() if name.startswith("array-") and name not in ("array-256x256", "array-1024x1024")]
    taken = written() if options.brief else {}
    lines, wrong = ["| program | sizes | " + " | ".join(arrays) + " |", "|---|---|" + "---|" * len(arrays)], []
    for program in pla_programs.programs():
        cells = []
        for machine in arrays:
            if machine in LARGER and (program.name, machine) in taken:
                cells.append(taken[program.name, machine])
                continue
            cell = Cell()
            cell.program, cell.machine, cell.words = program, machine, "fails"
            result = harness.unittest.TestResult()
            cell.run(result)
            wrong += [text for _, text in result.failures + result.errors]
            cells.append(cell.words)
        lines.append(f"| {program.name} | {', '.join(f'{name} = {value}' for name, value in program.sizes[1].items())} | {' | '.join(cells)} |")
    text = "\n".join([BEGIN, *lines, ""])
    print(text)
    if options.write:
        pathlib.Path(PAGE).write_text(text)
    elif not os.path.exists(PAGE) or pathlib.Path(PAGE).read_text() != text:
        wrong.append("docs/array-programs.md is not up to date; write it with tests/matrix/arrays.py --write")
    for problem in wrong:
        print("FAIL " + problem)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
