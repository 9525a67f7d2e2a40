"""Perturbation: the examples on machines/cell with every name, capacity, count and width changed. Nothing may know a machine by its name
or count on its figures; the results stay right."""

import os
import re

import harness
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
    pass


def test_of(program, count, capacity, width):
    def test(self):
        machine = self.write("gadget.yaml", perturbed(count, capacity, width))
        given = program.make(program.sizes[1])
        got = run(self, program, given, "--machine", machine)
        check(self, program, given, got, f"{program.name} on {count} stores of {capacity}, {width} bytes wide")
    return test


for program in PROGRAMS:
    for count, capacity, width in ((1, "16K", 64), (3, "40K", 32), (17, "1M", 8)):
        setattr(Perturbation, f"test_{program.name}_{count}x{capacity}", test_of(program, count, capacity, width))

if __name__ == "__main__":
    harness.main()
