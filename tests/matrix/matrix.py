"""The matrix: vector addition, matrix product, stencil and reduction in every notation on every machine. Each cell is run and compared with NumPy;
a cell that should work and does not fails the test, and so does one that works and is listed as a hole, and a table in docs/matrix.md that
is another than this one. --write makes that file anew. --brief takes the larger arrays as listed. A new notation is an entry of NOTATIONS; machines are found."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "end_to_end"))
import harness
import hbir_programs
import numpy as np
import pla_programs
import programs

PAGE = os.path.join(harness.ROOT, "docs/matrix.md")
PROGRAMS = ["vector addition", "matrix product", "stencil", "reduction"]
# For each notation what the programs are called among the end-to-end tests' programs, or why it has none.
NOTATIONS = {
    "Sequoia": {"vector addition": "vectadd", "matrix product": "matmul", "stencil": "conv2d", "reduction": "sum"},
    "HPVM": {"vector addition": "addition", "matrix product": "product", "stencil": "stencil", "reduction": "reduction"},
    "HBIR": {"vector addition": "vectadd", "matrix product": "matmul", "stencil": "conv2d", "reduction": "sum"},
    "SVM C": "places itself",
    "loop equations": {"vector addition": "vectadd", "matrix product": "matmul", "stencil": "jacobi2d", "reduction": "sum"},
}
# Cells that cannot work, and why: (notation, program, machine).
HOLES = {(notation, program, "pca"): "no levels" for notation in ("Sequoia", "HPVM", "HBIR", "loop equations") for program in PROGRAMS}
# Programs in C are linked with object code, and arrays have none; the array of the literature has few registers.
HOLES |= {("HPVM", program, machine): "no object code" for program in PROGRAMS
          for machine in ("array-2alu", "array-4x4", "array-8x8", "array-32x32", "array-256x256", "array-1024x1024")}
HOLES[("loop equations", "stencil", "array-2alu")] = "few registers"
# Arrays that have more elements of the same kind than another one.
LARGER = ("array-8x8", "array-32x32", "array-256x256", "array-1024x1024")
# What a reader is told of each reason.
REASONS = {
    "no levels": "the machine's description has no levels of memory, which is what programs are mapped to; `pca` is a machine for [streams in C](svm.md).",
    "no object code": "graphs in C and C++ are linked with the rest of their program, and a processor array has no code to link. A leaf as loop equations runs there: "
                      "[loops.md](loops.md).",
    "few registers": "an element of this array has too few registers for the program's values; its size is the literature's.",
    "places itself": "a program of [streams in C](svm.md) says itself where its data and kernels are, on the machine whose header it includes. It is compiled by `strata cc`, "
                     "run by the library of streams, and mapped by nobody.",
}


class Cell(harness.Case):
    """Runs one program of a notation on one machine."""

    graphs = {}  # the program that graphs.c becomes, by machine; nothing lies there where it could not be made
    made = tempfile.TemporaryDirectory(prefix="strata-matrix-")

    def runTest(self):
        extra = ("--machine", self.machine, "--werror")
        what = f"{self.program} on {self.machine}"
        if self.notation == "HPVM":
            self.run_graph()
        elif self.notation == "HBIR":
            program = next(p for p in hbir_programs.programs() if p.name == self.program and p.form == "a")
            size = program.sizes[1]
            given = program.make(size)
            hbir_programs.check(self, program, given, size, hbir_programs.run(self, program, given, size, *extra), what)
        elif self.notation == "loop equations":
            program = next(p for p in pla_programs.programs() if p.name == self.program)
            size = program.sizes[1]
            given = program.make(size)
            pla_programs.check(self, program, given, size, pla_programs.run(self, program, given, size, *extra), what)
        else:
            program = next(p for p in programs.PROGRAMS if p.name == self.program)
            given = program.make(program.sizes[1])
            programs.check(self, program, given, programs.run(self, program, given, *extra), what)

    def run_graph(self):
        """A program in C (graphs.c), compiled for the machine. Numbers are small integers, so that sums are exact."""
        if self.machine not in self.graphs:
            self.graphs[self.machine] = os.path.join(self.made.name, self.machine)
            self.succeeds("cc", "-O2", os.path.join(harness.ROOT, "tests/matrix/graphs.c"), "-o", self.graphs[self.machine], "--machine=" + self.machine)
        self.assertTrue(os.path.exists(self.graphs[self.machine]), f"graphs.c is not to be had for {self.machine}")
        numbers = np.random.default_rng(7)
        make = lambda *shape: numbers.integers(-8, 9, shape).astype("f4")
        if self.program == "addition":
            sizes, given = (10007,), [make(10007), make(10007)]
            wanted = given[0] + given[1]
        elif self.program == "product":
            sizes, given = (130, 77, 211), [make(130, 211), make(211, 77)]
            wanted = given[0] @ given[1]
        elif self.program == "stencil":
            sizes, given = (211, 333), [make(211, 333)]
            around = np.pad(given[0], 1)
            wanted = 4 * given[0] + around[1:-1, :-2] + around[1:-1, 2:] + around[:-2, 1:-1] + around[2:, 1:-1]
        else:
            sizes, given = (100003,), [make(100003)]
            wanted = given[0].sum(dtype="f8").astype("f4").reshape(1)
        names = []
        for number, array in enumerate(given):
            names.append(self.path(f"in{number}"))
            array.tofile(names[-1])
        subprocess.run([self.graphs[self.machine], self.program, *map(str, sizes), *names, "out"], cwd=self.folder, check=True, timeout=600)
        np.testing.assert_array_equal(np.fromfile(self.path("out"), dtype="f4").reshape(wanted.shape), wanted)


def works(notation, program, machine):
    """What is wrong with a cell, or nothing."""
    cell = Cell()
    cell.notation, cell.program, cell.machine = notation, program, machine
    result = unittest.TestResult()
    cell.run(result)
    problems = result.failures + result.errors
    return problems[0][1].strip().splitlines()[-1] if problems else None


def machines():
    """The machines that ship, by name."""
    case = harness.Case()
    case.folder = tempfile.gettempdir()
    return case.succeeds("machine", "--list").out.split()


def table(columns):
    """The table as Markdown, and what is wrong."""
    lines = ["| notation | program | " + " | ".join(columns) + " |", "|---|---|" + "---|" * len(columns)]
    wrong = []
    for notation, known in NOTATIONS.items():
        for program in PROGRAMS:
            cells = []
            for machine in columns:
                place = (notation, program, machine)
                hole = HOLES.get(place, known if isinstance(known, str) else None if program in known else "no program")
                is_tried = not isinstance(known, str) and program in known and not (harness.options.brief and machine in LARGER)
                problem = works(notation, known[program], machine) if is_tried else None
                if hole and is_tried and not problem:
                    wrong.append(f"{', '.join(place)}: works, and is listed as a hole ({hole})")
                if problem and not hole:
                    wrong.append(f"{', '.join(place)}: {problem}")
                cells.append(f"hole: {hole}" if hole else "fails" if problem else "ok")
            lines.append(f"| {notation} | {program} | {' | '.join(cells)} |")
    return lines, wrong


def page(lines):
    text = "\n".join(lines)
    return "\n".join(["# Notations and machines", "",
                      "Which notation runs on which machine: four programs in every notation on every machine that ships ([machines.md](machines.md) says what they are). `ok`: the",
                      "program runs there, and its results agree with NumPy's. A *hole* is a place where it cannot run, for a reason that stands below the table.", "", text, "",
                      *(f"- **{reason}**: {about}" for reason, about in REASONS.items() if f"hole: {reason}" in text), "",
                      "A test makes this page, and fails when it is another one: `tests/matrix/matrix.py --write` writes it.", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", default=harness.options.strata, help="the command to test")
    parser.add_argument("--brief", action="store_true", help="run nothing on arrays that only have more elements than another one")
    parser.add_argument("--write", action="store_true", help="write docs/matrix.md")
    options = parser.parse_args()
    harness.options.strata, harness.options.brief = os.path.abspath(options.strata), options.brief
    lines, wrong = table(machines())
    print("\n".join(lines))
    if options.write:
        pathlib.Path(PAGE).write_text(page(lines))
    elif not os.path.exists(PAGE) or pathlib.Path(PAGE).read_text() != page(lines):
        wrong.append("docs/matrix.md is not up to date; write it with tests/matrix/matrix.py --write")
    for text in wrong:
        print("FAIL " + text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
