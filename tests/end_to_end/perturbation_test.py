"""Perturbation: the examples on machines/cell with every name, capacity, count and width changed. Nothing may know a machine by its name
or count on its figures; the results stay right."""

import json
import os
import re

import harness
import hbir_programs
from programs import PROGRAMS, check, run

RENAMED = {"cell": "gadget", "ls": "shelf", "stores": "shelves", "main": "depot", "ppe": "clerk", "spe": "porter", "ring": "corridor"}


def perturbed(count, capacity, width):
    """The machine's description with other names, local stores of another number, size and width."""
    with open(os.path.join(harness.ROOT, "machines/cell/machine.yaml")) as file:
        text = re.sub(r"(?m)\s*#.*$", "", file.read())
    text = re.sub(r"(?m)^about:.*$", "about: a test", text)
    text = re.sub(r"[A-Za-z_]\w*", lambda word: RENAMED.get(word[0], word[0]), text)
    text = re.sub(r"count: 8\b", f"count: {count}", text)
    text = re.sub(r"capacity: 256K\b", f"capacity: {capacity}", text)
    text = re.sub(r"\b(width|alignment): 16\b", lambda match: f"{match[1]}: {width}", text)
    return text


class Perturbation(harness.Case):
    def test_nothing_is_as_it_was(self):
        with open(os.path.join(harness.ROOT, "machines/cell/machine.yaml")) as file:
            before = re.sub(r"(?m)\s*#.*$|^about:.*$", "", file.read())
        after = perturbed(3, "40K", 32)
        def names(text):
            return set(re.findall(r"(?:machine|name): (\w+)", text))
        self.assertEqual(names(after) & names(before), set())
        self.assertEqual(len(names(after)), len(names(before)))
        for figure in ("count: 8", "capacity: 256K", "width: 16", "alignment: 16"):
            self.assertRegex(before, rf"\b{figure}\b", "the machine has changed: change what is perturbed")
            self.assertNotRegex(after, rf"\b{figure}\b")

    def test_figures_of_the_machine_count(self):
        """Stores of other sizes take other blocks: the mapping is made for the machine that is given."""
        program = PROGRAMS[0]
        given = program.make(program.sizes[1])
        moves = set()
        for capacity in ("2K", "16K", "256K"):
            machine = self.write("gadget.yaml", perturbed(3, capacity, 32))
            run(self, program, given, "--machine", machine, "--stats", "json:" + self.path("figures.json"))
            with open(self.path("figures.json")) as file:
                figures = json.load(file)
            self.assertEqual(set(figures["bytes"]), {"depot -> shelf", "shelf -> depot"})
            moves.add(figures["moves"])
        self.assertGreater(len(moves), 1, "the capacity makes no difference")


def test_of(program, count, capacity, width):
    def test(self):
        machine = self.write("gadget.yaml", perturbed(count, capacity, width))
        given = program.make(program.sizes[1])
        got = run(self, program, given, "--machine", machine)
        check(self, program, given, got, f"{program.name} on {count} stores of {capacity}, {width} bytes wide")
    return test


# Machines of several levels: other numbers of everything, and stores of other sizes.
TREES = {
    "smp-2level": (("count: 2", "count: 3"), ("capacity: 32K", "capacity: 20K"), ("capacity: 1M", "capacity: 300K")),
    "cluster": (("count: 8", "count: 6"), ("count: 4\n    capacity: 1G", "count: 3\n    capacity: 4M"), ("kind: control\n    count: 4", "kind: control\n    count: 3"),
                ("capacity: 512K", "capacity: 24K"), ("alignment: 32", "alignment: 128")),
}


def renamed(machine):
    """A machine's description with every name turned round and other figures."""
    with open(os.path.join(harness.ROOT, f"machines/{machine}/machine.yaml")) as file:
        text = re.sub(r"(?m)\s*#.*$", "", file.read())
    text = re.sub(r"(?m)^about:.*$", "about: a test", text)
    names = set(re.findall(r"(?:machine|name): ([\w-]+)", text))
    text = re.sub(r"(?<!kind: )(?<=[ \[])[\w-]+(?=[\],\n])", lambda word: "n-" + word[0][::-1] if word[0] in names else word[0], text)
    for before, after in TREES[machine]:
        assert before in text, f"{machine} has changed: change what is perturbed"
        text = text.replace(before, after)
    return text


def tree_test_of(program, machine):
    def test(self):
        file = self.write("tree.yaml", renamed(machine))
        given = program.make(program.sizes[1])
        check(self, program, given, run(self, program, given, "--machine", file), f"{program.name} on {machine}, perturbed")
    return test


for program in PROGRAMS:
    for machine in [machine for machine in TREES if machine not in program.but_not]:
        setattr(Perturbation, f"test_{program.name}_{machine.replace('-', '_')}", tree_test_of(program, machine))

for program in PROGRAMS:
    for count, capacity, width in ((1, "16K", 64), (3, "40K", 32), (17, "1M", 8)):
        setattr(Perturbation, f"test_{program.name}_{count}x{capacity}", test_of(program, count, capacity, width))



def hbir_test_of(program):
    def test(self):
        machine = self.write("gadget.yaml", perturbed(3, "40K", 32))
        size = program.sizes[1]
        given = program.make(size)
        got = hbir_programs.run(self, program, given, size, "--machine", machine)
        hbir_programs.check(self, program, given, size, got, f"{program.path} on a machine with other names")
    return test


for program in hbir_programs.programs():
    setattr(Perturbation, f"test_hbir_{program.name}_{program.form}", hbir_test_of(program))

if __name__ == "__main__":
    harness.main()
