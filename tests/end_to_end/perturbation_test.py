"""Perturbation: the examples on machines/cell with every name, capacity, count and width changed. Nothing may know a machine by its name
or count on its figures; the results stay right. Figures of the hardware that code is made for - lines, pages, caches, vectors - change no
bit of them. With --brief: each example on one of the changed machines."""

import json
import os
import re

import harness
import hbir_programs
from programs import PROGRAMS, check, input_options, run

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
    optimise = True  # code is compared

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

    def test_figures_of_the_hardware_count(self):
        """Code follows them: lanes, what is asked for ahead, where loops begin, which stores go together, and blocks that fit a cache."""
        def described(name, figures):
            file = self.write(f"{name}.yaml", with_hardware(DESK, "main", "core", figures))
            self.assertEqual(self.succeeds("machine", self.write("again.yaml", self.succeeds("machine", file).out)).out, self.succeeds("machine", file).out)
            return file
        def emitted(program, stage, file):
            at = next(each for each in PROGRAMS if each.name == program)
            return self.succeeds("run", at.path, *input_options(self, at.make(at.sizes[1])), "--machine", file, f"--emit={stage}", "-o", "-").out
        tiny, narrow, wide = [described(name, figures) for name, figures in HARDWARE.items()]
        for file, lanes in ((tiny, None), (narrow, 4), (wide, 64)):
            found = set(re.findall(r"@llvm\.masked\.store\.v(\d+)f32", emitted("conv2d", "llvm", file)))
            self.assertEqual(found, {str(lanes)} if lanes else set())
        for file, exponent in ((tiny, 3), (narrow, 5), (wide, 10)):
            self.assertIn(f".p2align\t{exponent}", emitted("conv2d", "asm", file))
        self.assertNotIn(".p2align\t10", emitted("conv2d", "asm", narrow))
        one = self.write("one.yaml", with_hardware(DESK, "main", "core", {**HARDWARE["narrow"], "stores": 1}))
        pairs = self.write("pairs.sq", PAIRS)
        def stored(file):
            return self.succeeds("run", pairs, "--size", "N=100", "--in", "x=random", "--machine", file, "--emit=llvm", "-o", "-").out
        self.assertLess(*(stored(file).count("store <2 x float>") for file in (narrow, one)))
        matmul = next(each for each in PROGRAMS if each.name == "matmul")
        self.assertEqual(len({self.succeeds("map", matmul.path, "--machine", file).out for file in (tiny, narrow, wide)}), 3)

    def test_figures_that_no_hardware_has(self):
        at = PROGRAMS[0]
        for field, value in (("vector", 0), ("vector", -16), ("vector", 24), ("vector", "4K"), ("stores", 0), ("memory_latency", 10 ** 12), ("line", 48), ("page", 0),
                             ("large_page", "1K")):
            figures = {**HARDWARE["narrow"], field: value}
            file = self.write("desk.yaml", with_hardware(DESK, "main", "core", figures))
            with open(file) as text:
                line = next(number for number, words in enumerate(text, 1) if words.strip() == f"{field}: {value}")
            self.is_refused("run", at.path, "--machine", file, "--size", "N=8", code="machine-bad-value" if value == -16 else "machine-figure",
                            mentions=f"desk.yaml:{line}:", errors=2 if field == "line" else 1)

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


for number, program in enumerate(PROGRAMS):
    changed = {f"{count}x{capacity}": test_of(program, count, capacity, width) for count, capacity, width in ((1, "16K", 64), (3, "40K", 32), (17, "1M", 8))}
    changed |= {machine.replace("-", "_"): tree_test_of(program, machine) for machine in TREES if machine not in program.but_not}
    for at, (name, test) in enumerate(changed.items()):
        setattr(Perturbation, f"test_{program.name}_{name}", harness.unless_brief(at != number % len(changed), test))

# What cores and memories may be like, from the least that is possible to more than there is.
HARDWARE = {
    "tiny": {"vector": 4, "vector_registers": 1, "vector_latency": 1, "operations": 1, "stores": 64, "memory_latency": 1, "line": 8, "page": "1K", "large_page": "2K",
             "near": "8K", "far": "32K"},
    "narrow": {"vector": 16, "vector_registers": 16, "vector_latency": 2, "operations": 2, "stores": 4, "memory_latency": 210, "line": 32, "page": "16K",
               "large_page": "64K", "near": "16K", "far": "96K"},
    "wide": {"vector": 256, "vector_registers": 1024, "vector_latency": 1024, "operations": 64, "stores": 1, "memory_latency": 100000, "line": 1024, "page": "1M",
             "large_page": "256M", "near": "1M", "far": "64M"},
}
# A loop that stays one: its sums are ordered.
PAIRS = """void task F(in float x[N], out float y[N][2]);
void task<leaf> F::L(in float x[N], out float y[N][2])
{
  float sum = 0;
  for (long i = 0; i < N; i++) {
    sum += x[i];
    y[i][0] = sum;
    y[i][1] = sum * x[i];
  }
}
"""
DESK = """machine: desk
memories:
  - name: main
    capacity: available
processors:
  - name: core
    kind: core
    count: 2
    masters: [core]
links:
  - name: wire
    ends: [core, main]
levels:
  - level: 0
    memory: main
    processor: core
"""


def with_hardware(text, memory, processor, figures):
    """A machine's description in which a processor and a memory state figures, and the processor has two caches."""
    text = re.sub(rf"(- name: {memory}\n)", rf"\1    page: {figures['page']}\n    large_page: {figures['large_page']}\n", text)
    caches = "".join(f"  - name: {name}\n    capacity: {figures[name]}\n    line: {figures['line']}\n" for name in ("near", "far"))
    text = re.sub(r"(?m)^memories:\n", r"\g<0>" + caches, text)
    own = "".join(f"    {name}: {figures[name]}\n" for name in ("vector", "vector_registers", "vector_latency", "operations", "stores", "memory_latency"))
    before, name, after = text.partition(f"  - name: {processor}\n")
    here, *others = re.split(r"(?m)^(?=  - name:|\w)", after, maxsplit=1)
    here = re.sub(r"local: \[", "local: [far, near, ", here) if "local:" in here else here.rstrip("\n") + "\n    local: [far, near]\n"
    return before + name + own + here + "".join(others)


def bits(arrays):
    return {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}


def hardware_test_of(number, program):
    def test(self):
        """On stores of a size, and on coherent memory by one mapping: the same bits. Where a mapping is made for each machine: right."""
        given = program.make(program.sizes[1])
        gadget = perturbed(3, "40K", 32)
        self.write("desk.yaml", DESK)
        mapping = self.path("desk.map")
        self.succeeds("map", program.path, *input_options(self, given), "--machine", self.path("desk.yaml"), "-o", mapping)
        expected = [bits(run(self, program, given, "--machine", self.write("gadget.yaml", gadget))),
                    bits(run(self, program, given, "--machine", self.path("desk.yaml"), "--map", mapping))]
        for name, figures in harness.in_turn(list(HARDWARE.items()), number):
            file = self.write(f"{name}-gadget.yaml", with_hardware(gadget, "depot", "porter", figures))
            desk = self.write(f"{name}-desk.yaml", with_hardware(DESK, "main", "core", figures))
            got = [bits(run(self, program, given, "--machine", file)), bits(run(self, program, given, "--machine", desk, "--map", mapping))]
            self.assertEqual(got, expected, f"{program.name} with {name} hardware")
            check(self, program, given, run(self, program, given, "--machine", desk), f"{program.name} mapped for {name} hardware")
    return test


for number, program in enumerate(PROGRAMS):
    setattr(Perturbation, f"test_{program.name}_hardware", hardware_test_of(number, program))


def hbir_hardware_test_of(number, program):
    def test(self):
        size = program.sizes[1]
        given = program.make(size)
        def results(file):
            return bits(hbir_programs.run(self, program, given, size, "--machine", file))
        expected = results(self.write("desk.yaml", DESK))
        for name, figures in harness.in_turn(list(HARDWARE.items()), number):
            self.assertEqual(results(self.write(f"{name}.yaml", with_hardware(DESK, "main", "core", figures))), expected, f"{program.path} with {name} hardware")
    return test


for number, program in enumerate(hbir_programs.programs()):
    setattr(Perturbation, f"test_hbir_{program.name}_{program.form}_hardware", hbir_hardware_test_of(number, program))


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
