"""Replay: a program written out in the dialect (--emit=svm) and run from there gives the same bytes, moves and kernel runs as the
program itself. Also: the default mapping written out by `strata map` and given back changes nothing. With --brief each of the two for every other
program on host, and for the others elsewhere."""

import json

import harness
from programs import PROGRAMS, input_options, run


class Replay(harness.Case):
    def compare(self, program, first, second):
        for name in first:
            self.assertEqual(first[name].tobytes(), second[name].tobytes(), f"{program.name}: {name} differs")


def on_host_or_elsewhere(number, test):
    """With --brief even numbers are done on host only, odd ones on other machines."""
    def chosen(self):
        if harness.options.brief and (number % 2 == 0) != (harness.options.machine == "host"):
            self.skipTest("by night, or on another machine")
        test(self)
    return chosen


def replay_of(program):
    def test(self):
        if harness.options.machine in program.but_not:
            self.skipTest(f"{program.name} is not for {harness.options.machine}")
        machine = ("--machine", harness.options.machine)
        given = program.make(program.sizes[1])
        direct = run(self, program, given, *machine, "--stats", f"json:{self.path('direct.json')}", label="direct")
        self.succeeds("run", program.path, *input_options(self, given), "--emit=svm", "-o", self.path("p.mlir"), *machine)
        again = run(self, program, given, *machine, "--stats", f"json:{self.path('again.json')}", source=self.path("p.mlir"),
                    label="replayed")
        self.compare(program, direct, again)
        figures = []
        for name in ("direct.json", "again.json"):
            with open(self.path(name)) as file:
                figures.append(json.load(file))
        for key in ("sizes", "bytes", "moves", "moves_elided", "moves_hoisted", "runs", "paths"):
            self.assertEqual(figures[0][key], figures[1][key], f"{program.name}: {key} differ")
    return test


def default_mapping_of(program):
    def test(self):
        if harness.options.machine in program.but_not:
            self.skipTest(f"{program.name} is not for {harness.options.machine}")
        machine = ("--machine", harness.options.machine)
        given = program.make(program.sizes[1])
        direct = run(self, program, given, *machine, label="direct")
        self.succeeds("map", program.path, *input_options(self, given), *machine, "-o", self.path("p.map"))
        mapped = run(self, program, given, *machine, "--map", self.path("p.map"), label="mapped")
        self.compare(program, direct, mapped)
    return test


for number, program in enumerate(PROGRAMS):
    setattr(Replay, f"test_replay_{program.name}", on_host_or_elsewhere(number, replay_of(program)))
    setattr(Replay, f"test_default_mapping_{program.name}", on_host_or_elsewhere(number + 1, default_mapping_of(program)))

if __name__ == "__main__":
    harness.main()
