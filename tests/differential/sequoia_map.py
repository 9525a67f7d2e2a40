"""Random mappings of the programs of sequoia_generate.py onto the machines of sequoia_machine.py. Every choice has a random number generator of
its own, named by what it is about, so that a program from which steps have been taken is mapped as before where it is the same."""
import collections
import random

from sequoia_machine import Span

# How often a mapping asks for what. A run's command line can set them (run with --feature NAME=PROBABILITY).
FEATURES = {"spmd": 0.6, "iterblk": 0.4, "range": 0.2, "ways_auto": 0.15, "inner": 0.6, "targets": 0.25, "precondition": 0.15, "pitch": 0.03, "exact": 0.2,
            "swp": 0.2, "unroll": 0.2, "flat": 0.002, "flat_exact": 0.4, "spaceshare": 0.4, "dynamic": 0.08, "copy": 0.12, "instantiations": 0.3,
            "blockcyclic": 0.6, "overlay": 0.03, "elsewhere": 0.15, "recursion": 0.7, "external": 0.5, "one_block": 0.3, "virtual_control": 0.3, "xml": 0.06,
            "three_levels": 0.4, "virtual": 0.35, "front": 0.12, "disk": 0.12, "coherent": 0.3}
DEPTHS = [1, 1, 2, 2, 3]  # of instances of one task within each other
RELATIONS = ["<", "<=", "=", ">=", ">"]


class Mapping:
    """`used` counts what the mapping asks for; `files` are those of external functions, by name."""

    def __init__(self, program, machine, key, features):
        self.program, self.machine, self.key, self.features = program, machine, key, features
        self.instances, self.count, self.used, self.files = {}, 0, collections.Counter(), {}
        r = self.random = random.Random(f"{key} depth")
        self.depth = r.choice(DEPTHS) + (machine.top > 2)
        self.exact = r.random() < features["exact"]
        self.tasks = {task.name: task for task in program.tasks}
        known = {p.name: p.dims for p in program.main.arrays()}
        self.entry = self.instance(program.main, program.main.variants[0], machine.top, machine.top, 0, "Main", Span(machine), False, known)

    def chance(self, r, name):
        """Whether to ask for something."""
        if r.random() >= self.features[name]:
            return False
        self.used[name] += 1
        return True

    def inner_level(self, r, most, span):
        """A level for control, at most this one. Virtual ones are rare, and not for several processors at once."""
        real = [n for n in range(most + 1) if self.machine.levels[n].processor]
        virtual = [n for n in range(most + 1) if not self.machine.levels[n].processor and span.can_make(n)]
        if virtual and r.random() < self.features["virtual_control"] * 0.5:
            self.used["virtual_control"] += 1
            return r.choice(virtual)
        return r.choice(real)

    def instance(self, task, variant, level, most, depth, path, span, parallel, known):
        """The name of an instance. `most`: the outermost level that its arrays can be at. `span`: the processors that its control stands for.
        `parallel`: whether it is called by iterations that have no order. `known`: the dimensions of its arrays, where they are."""
        r = random.Random(f"{self.key}:{path}")
        name = f"{task.name}_{variant.name}_{self.count}"
        self.count += 1
        span = span.enter(self.machine.controller(level))
        body = [f"tunable {tunable} = {r.choice([1, 2, 2, 3, 4, 5, 8, 16])};" for tunable in variant.tunables]
        known = known if self.exact and not variant.halves else {}  # what calls itself on halves is given less
        levels = self.data(task, variant, level, most, span, known, r, body)
        if variant.kind == "inner":
            body += self.control(task, variant, level, {*levels.values(), level}, depth, path, span, parallel, known, name, r)
        overlay = ": unique overlay " if self.chance(r, "overlay") else ""
        external = ""
        if variant.kind == "ext":
            scratch = r.choice([0, 8, 100, 1000])
            if scratch:
                self.used["scratch"] += 1
                body.append(f"scratch = {scratch};")
            self.files[f"{name}.c"] = variant.function(name, scratch)
            external = f'external("{name}.c") '
        self.instances.setdefault(task.name, []).append(
            [f"instance {name}::{variant.name}(level {level}) {overlay}{external}{{"] + ["  " + line for line in body] + ["}"])
        return name

    # ---- arrays ----
    def data(self, task, variant, level, most, span, known, r, body):
        """Says where arrays are and what is asked of them. Gives the level of each array, local ones too."""
        arrays = {p.name: p.dims for p in task.arrays()}
        locals = [name for step in variant.steps for name in step.locals]
        levels, lines = {name: min(level, most) for name in [*arrays, *locals]}, []
        for name in levels:
            said = []
            if variant.kind == "inner" and name not in variant.reads and self.chance(r, "elsewhere"):
                # An entry point's arrays are in a memory that the calling program reaches, or distributed from there.
                able = [n for n in range(most + 1) if span.can_make(n) and not (name in arrays and task is self.program.main and self.machine.levels[n].store)]
                levels[name] = r.choice(able or [min(level, most)])
            at = self.machine.levels[levels[name]]
            dims = arrays.get(name)
            if at.joined and dims and self.chance(r, "blockcyclic"):
                said.append(self.layout(at, len(dims), r))
            if dims and known:
                said.append(f"elements = {', '.join(str(self.program.extent(d)) for d in known[name])};")
            elif dims and self.chance(r, "precondition"):
                relation, bound = r.choice([("<", "2000"), ("<=", "2000"), (">=", "0")])
                said.append(f"elements {relation} {', '.join([bound] * len(dims))};")
            if dims and self.chance(r, "pitch"):
                said.append(f"pitch <= {', '.join(['3000'] * len(dims))};")
            if said or levels[name] != level:
                lines.append(f"array {name}(level {levels[name]}) {{ {' '.join(said)} }}")
        shares = ""
        if variant.shares and self.machine.levels[0].store and self.chance(r, "spaceshare"):
            shares = f": spaceshare({', '.join(r.choice(variant.shares))}) "
        if lines or shares:
            body.append(f"data(level {level}) {shares}{{ {' '.join(lines)} }}")
        return levels

    @staticmethod
    def layout(level, rank, r):
        grid, left = [1] * rank, level.joined
        for dimension in r.sample(range(rank), rank):
            grid[dimension] = r.randint(1, left)
            left //= grid[dimension]
        size = f" blocksize = {', '.join(str(r.randint(1, 6)) for _ in range(rank))};" if r.random() < 0.7 else ""
        return f"blockcyclic {{ grid = {', '.join(map(str, grid))};{size} }}"

    # ---- loops and calls ----
    def control(self, task, variant, level, levels, depth, path, span, parallel, known, name, r):
        """`levels`: those of its arrays."""
        outermost = min(levels)
        lines, loops, calls, inner = [], {}, {}, []
        total = {"loops": self.totals(variant.steps, "loops"), "calls": self.totals(variant.steps, "calls")}
        for step in variant.steps:
            inside, around, unordered = level, span, parallel
            for variable, kind in step.loops:
                number = loops[variable] = loops.get(variable, -1) + 1
                inside = self.inner_level(r, inside, around)
                inner.append(inside)
                label = variable + (f"[{number}]" if total["loops"][variable] > 1 else "")
                # The parts of a reduction are made beside what is reduced, by those who run the code around.
                dealt = kind == "mappar" or (kind == "mapreduce" and all(around.can_make(n) for n in levels))
                text, around = self.loop(label, kind, inside, around, dealt, bool(known), r)
                unordered |= kind != "mapseq"
                lines.append(text)
            for position, (callee, combines) in enumerate(step.calls):
                number = calls[callee] = calls.get(callee, -1) + 1
                label = callee + (f"[{number}]" if total["calls"][callee] > 1 else "")
                # A call in a nest of loops is controlled where the innermost loop is.
                last = position == len(step.calls) - 1 or combines or step.calls[position + 1][1]
                at, where = (inside, around) if last else (level, span)
                lines.append(self.callsite(label, self.tasks[callee], combines, at, min(at, outermost), task, depth, f"{path}/{callee}{number}",
                                           where, parallel, parallel or combines or (unordered and last), step.whole if last and not combines else {},
                                           variant, name, r))
        if inner and len(set(inner)) == 1 and inner[0] != level and self.chance(r, "one_block"):
            lines = [line.replace(f"(level {inner[0]})", "()", 1) if line.startswith("loop ") else line for line in lines]
            return [f"control(level {inner[0]}) {{"] + ["  " + line for line in lines] + ["}"]
        return [f"control(level {level}) {{"] + ["  " + line for line in lines] + ["}"]

    @staticmethod
    def totals(steps, attribute):
        total = {}
        for step in steps:
            for name, _ in getattr(step, attribute):
                total[name] = total.get(name, 0) + 1
        return total

    def loop(self, label, kind, level, span, dealt, known, r):
        """The text, and the processors that an iteration has. `dealt`: whether it can be distributed to processors. `known`: whether its
        bounds are."""
        inner, ways, processor, among = [], 1, self.machine.controller(level), None
        if dealt and self.chance(r, "spmd"):
            width = span.width_of(processor)
            store = self.machine.levels[0].store
            parts = [f"fullrange = 0,{self.machine.count[processor]};"] if r.random() < 0.5 else []
            ways = r.randint(1, width if store else 9)
            if not store:
                parts = [f"fullrange = 0,{r.randint(ways, 9)};"]
            if store and width > 1 and self.chance(r, "range"):  # some of the processors
                first = r.randrange(width)
                last = r.randint(first + 1, width)
                among, ways = last - first, r.randint(1, last - first)
                parts = [f"fullrange = {first},{last};", f"ways = {ways};"]
            elif self.chance(r, "ways_auto"):
                ways = width
                parts.append("ways = auto;")
            else:
                parts.append(f"ways = {ways};")
            if self.chance(r, "iterblk"):
                parts.append(f"iterblk = {r.choice([1, 1, 2, 3])};")
            inner.append(f"spmd {{ {' '.join(parts)} }}")
        if kind != "mapseq" and self.chance(r, "swp"):
            inner.append(f"swp = {r.choice([1, 2, 2, 3])};")
        if self.chance(r, "unroll"):
            inner.append(f"unroll = {r.choice([1, 2, 3, 4])};")
        flat = ""
        if ways == 1 and self.chance(r, "flat_exact" if known else "flat"):
            flat = " : flat"
        return f"loop {label}(level {level}){flat} {{ {' '.join(inner)} }}", span.enter(processor, ways, among)

    def callsite(self, label, callee, combines, level, most, caller, depth, path, span, counts, parallel, known, variant, own, r):
        """`counts`: selections here have no order. `parallel`: the callee's have none."""
        targets, arrays = [], caller.arrays()
        site = (level, most, depth, span, parallel, combines, known)
        if variant.halves and self.chance(r, "recursion"):
            p = variant.halves
            bound = ", ".join([str(r.randint(1, 4))] + ["100000"] * (len(p.dims) - 1))
            leaf = self.target(callee, [v for v in callee.variants if v.kind == "leaf"], site, f"{path}.0", r)
            return f"callsite {label}() {{ target {leaf} {{ {p.name}.elements <= {bound}; }} target {own}() {{ }} }}"
        several = not combines and (arrays or not counts) and self.chance(r, "targets")
        last = r.randint(1, 2) if several else 0
        for number in range(last + 1):
            inner = [v for v in callee.variants if v.kind == "inner"]
            leaves = [v for v in callee.variants if v.kind != "inner"]
            goes_in = inner and depth < self.depth and self.chance(r, "inner")
            chosen = r.choice([v for v in (inner if goes_in else leaves) if v.kind != "ext" or self.chance(r, "external")] or leaves[:1])
            target = self.target(callee, [chosen], site, f"{path}.{number}", r)
            conditions = ""
            if number < last:  # the last one takes what is left
                # Selections by an instance that calls itself may have no order.
                counted = not counts and not chosen.halves and (not arrays or r.random() < self.features["instantiations"])
                if counted:
                    self.used["instantiations"] += 1
                    relation = r.choice(RELATIONS)
                    conditions = f"instantiations {relation} {max(r.randint(0, 4), int(relation == '<'))};"  # fewer than 0 is none
                if arrays and (not counted or r.random() < 0.3):
                    p = r.choice(arrays)
                    relation = r.choice(RELATIONS)
                    least = int(relation == "<")
                    conditions += f" {p.name}.elements {relation} {', '.join(str(r.randint(least, 8)) for _ in p.dims)};"
            targets.append(f"target {target} {{ {conditions} }}")
        return f"callsite {label}() {{ {' '.join(targets)} }}"

    def target(self, callee, variants, site, path, r):
        """An instance of one of these variants, with its marks."""
        level, most, depth, span, parallel, combines, known = site
        variant = r.choice(variants)
        at = self.inner_level(r, level, span) if variant.kind == "inner" else 0
        name = self.instance(callee, variant, at, most if variant.kind == "inner" else 0, depth + 1, path, span, parallel, known)
        marks = ["dynamic"] if self.chance(r, "dynamic") else []
        if callee.arrays() and not combines and self.chance(r, "copy"):
            marks.append(f"copy({r.choice(callee.arrays()).name})")
        return f"{name}(){' : ' + ' '.join(marks) if marks else ''}"

    def render(self):
        yield f'#include "{self.machine.name}"'
        for task, instances in self.instances.items():
            yield f"task {task}{f': entrypoint({self.entry})' if task == 'Main' else ''} {{"
            for lines in instances:
                yield from ("  " + line for line in lines)
            yield "}"
