"""Random machines, and random mappings of the programs of sequoia_generate.py onto them. Every choice has a random number generator of its
own, named by what it is about, so that a program from which steps have been taken is mapped as before where it is the same."""
import random

# How often a mapping asks for what. A run's command line can set them (run with --feature NAME=PROBABILITY).
FEATURES = {"spmd": 0.6, "iterblk": 0.4, "ways_auto": 0.15, "inner": 0.6, "targets": 0.25, "precondition": 0.15, "swp": 0.2, "unroll": 0.2,
            "flat": 0.02, "spaceshare": 0.0, "dynamic": 0.0, "copy": 0.0, "instantiations": 0.0, "blockcyclic": 0.0, "overlay": 0.05,
            "three_levels": 0.0, "virtual": 0.3, "disk": 0.15, "coherent": 0.3}
DEPTHS = [1, 1, 2, 2, 3]  # of instances of one task within each other


class Machine:
    """A machine of our own making: levels (memory, processor class, how many; no processor: virtual) innermost first."""

    def __init__(self, seed, features):
        r = self.random = random.Random(f"machine {seed}")
        chance = lambda name: r.random() < features[name]
        self.name = f"machine{seed}"
        count = r.choice([1, 2, 3, 4, 8])
        coherent = chance("coherent")
        self.levels = [("near", "worker", count)]
        memories = [f"  - name: near\n    count: {count}\n    capacity: {r.choice(['8K', '16K', '64K', '256K'])}\n"
                    f"    alignment: {r.choice([4, 8, 16, 64, 128])}\n    explicit: true"]
        processors = [f"  - name: worker\n    kind: stream\n    count: {count}\n    masters: [chief]\n    local: [near]"]
        ends = ["near", "worker"]
        if chance("virtual"):
            memories.append("  - name: together\n    over: near")
            self.levels.append(("together", None, 1))
        if chance("three_levels"):
            memories.append(f"  - name: middle\n    capacity: {r.choice(['64K', '1M'])}\n    alignment: {r.choice([4, 16, 64])}\n    explicit: true")
            processors.append("  - name: helper\n    kind: control\n    masters: [chief]\n    local: [middle]")
            self.levels.append(("middle", "helper", 1))
            ends += ["middle", "helper"]
        memories.append(f"  - name: main\n    capacity: available\n    alignment: {r.choice([4, 16, 64])}" + ("" if coherent else "\n    explicit: true"))
        processors.append("  - name: chief\n    kind: control\n    masters: [chief]")
        self.levels.append(("main", "chief", 1))
        ends += ["main", "chief"]
        if chance("disk"):
            memories.append("  - name: disk\n    files: true")
            self.levels.append(("disk", "chief", 1))
            ends.append("disk")
        levels = [f"  - level: {n}\n    memory: {memory}" + (f"\n    processor: {processor}" if processor else "")
                  for n, (memory, processor, _) in enumerate(self.levels)]
        self.text = "\n".join([f"machine: {self.name}", "memories:", *memories, "processors:", *processors, "links:",
                               f"  - name: bus\n    ends: [{', '.join(ends)}]", "levels:", *levels]) + "\n"
        self.top = len(self.levels) - 1


class Cell:
    """Machines that ship, in the same terms."""
    name, text, top = "cell", None, 2
    levels = [("ls", "spe", 8), ("stores", None, 1), ("main", "ppe", 1)]


class CellDisk:
    name, text, top = "cell-disk", None, 3
    levels = [*Cell.levels, ("disk", "ppe", 1)]


class Mapping:
    def __init__(self, program, machine, key, features):
        self.program, self.machine, self.key, self.features = program, machine, key, features
        self.instances, self.count = {}, 0
        self.depth = random.Random(f"{key} depth").choice(DEPTHS)
        self.real = [n for n, (_, processor, _) in enumerate(machine.levels) if processor]
        self.tasks = {task.name: task for task in program.tasks}
        self.entry = self.instance(program.main, program.main.variants[0], machine.top, 0, "Main", {})

    def chance(self, r, name):
        return r.random() < self.features[name]

    def instance(self, task, variant, level, depth, path, taken):
        """`taken`: by level, among how many of its processors the loops around have been dealt already."""
        r = random.Random(f"{self.key}:{path}")
        name = f"{task.name}_{variant.name}_{self.count}"
        self.count += 1
        body = []
        for tunable in variant.tunables:
            body.append(f"tunable {tunable} = {r.choice([1, 2, 2, 3, 4, 5, 8, 16])};")
        data = []
        for p in task.arrays():
            if self.chance(r, "precondition"):
                data.append(f"array {p.name}() {{ elements < {', '.join(['1000'] * len(p.dims))}; }}")
        if data:
            body.append(f"data(level {level}) {{ {' '.join(data)} }}")
        if variant.kind == "inner":
            body += [f"control(level {level}) {{"] + self.control(task, variant, level, depth, path, taken, r) + ["}"]
        overlay = ": unique overlay " if self.chance(r, "overlay") else ""
        self.instances.setdefault(task.name, []).append(
            [f"instance {name}::{variant.name}(level {level}) {overlay}{{"] + ["  " + line for line in body] + ["}"])
        return name

    def control(self, task, variant, level, depth, path, around, r):
        lines, loops, calls, step = [], {}, {}, 0
        total = {"loops": self.totals(variant.steps, "loops"), "calls": self.totals(variant.steps, "calls")}
        for step in variant.steps:
            inside, taken = level, dict(around)
            for variable, kind in step.loops:
                number = loops[variable] = loops.get(variable, -1) + 1
                inside = r.choice([n for n in self.real if n <= inside])
                label = variable + (f"[{number}]" if total["loops"][variable] > 1 else "")
                lines.append(self.loop(label, kind, inside, taken, r))
            for position, (callee, combines) in enumerate(step.calls):
                number = calls[callee] = calls.get(callee, -1) + 1
                label = callee + (f"[{number}]" if total["calls"][callee] > 1 else "")
                # A call in a nest of loops is controlled where the innermost loop is.
                last = position == len(step.calls) - 1 or combines or step.calls[position + 1][1]
                at = inside if last else level
                lines.append(self.callsite(label, self.tasks[callee], combines, at, task, depth, f"{path}/{callee}{number}", taken, r))
        return ["  " + line for line in lines]

    @staticmethod
    def totals(steps, attribute):
        total = {}
        for step in steps:
            for name, _ in getattr(step, attribute):
                total[name] = total.get(name, 0) + 1
        return total

    def loop(self, label, kind, level, taken, r):
        inner = []
        count = self.machine.levels[level][2] // taken.get(level, 1)
        if kind != "mapseq" and self.chance(r, "spmd"):
            parts = [f"fullrange = 0,{self.machine.levels[level][2]};"] if r.random() < 0.5 else []
            ways = r.randint(1, max(count, 1))
            automatic = level not in taken and self.chance(r, "ways_auto")
            taken[level] = count if automatic else taken.get(level, 1) * ways
            parts.append("ways = auto;" if automatic else f"ways = {ways};")
            if self.chance(r, "iterblk"):
                parts.append(f"iterblk = {r.choice([1, 1, 2, 3])};")
            inner.append(f"spmd {{ {' '.join(parts)} }}")
        if kind != "mapseq" and self.chance(r, "swp"):
            inner.append(f"swp = {r.choice([1, 2, 2, 3])};")
        if self.chance(r, "unroll"):
            inner.append(f"unroll = {r.choice([1, 2, 3, 4])};")
        flat = " : flat" if self.chance(r, "flat") else ""
        return f"loop {label}(level {level}){flat} {{ {' '.join(inner)} }}"

    def callsite(self, label, callee, combines, level, caller, depth, path, taken, r):
        targets = []
        arrays = [p for p in caller.arrays()]
        several = arrays and not combines and self.chance(r, "targets")
        last = r.randint(1, 2) if several else 0
        for number in range(last + 1):
            inner = [v for v in callee.variants if v.kind == "inner"]
            leaves = [v for v in callee.variants if v.kind != "inner"]
            goes_in = inner and depth < self.depth and self.chance(r, "inner")
            variant = r.choice(inner if goes_in else leaves)
            at = r.choice([n for n in self.real if n <= level]) if goes_in else 0
            name = self.instance(callee, variant, at, depth + 1, f"{path}.{number}", taken)
            marks = []
            if self.chance(r, "dynamic"):
                marks.append("dynamic")
            if self.chance(r, "copy") and callee.arrays():
                marks.append(f"copy({r.choice(callee.arrays()).name})")
            conditions = ""
            if number < last:  # the last one takes what is left
                p = r.choice(arrays)
                conditions = f"{p.name}.elements {r.choice('<>=')} {', '.join(str(r.randint(0, 8)) for _ in p.dims)};"
                if self.chance(r, "instantiations"):
                    conditions = f"instantiations < {r.randint(1, 4)};"
            targets.append(f"target {name}(){' : ' + ' '.join(marks) if marks else ''} {{ {conditions} }}")
        return f"callsite {label}() {{ {' '.join(targets)} }}"

    def render(self):
        yield f'#include "{self.machine.name}"'
        for task, instances in self.instances.items():
            yield f"task {task}{f': entrypoint({self.entry})' if task == 'Main' else ''} {{"
            for lines in instances:
                yield from ("  " + line for line in lines)
            yield "}"
