"""Random Sequoia programs from a seed: tasks of several kinds (sequoia_tasks.py, sequoia_reductions.py), each with a leaf and several inner
variants that cut its arrays differently, and a main task whose steps call them.

Meaning is always defined, and the same however the arrays are cut: leaves do not use their local indices, blocks of different iterations
do not overlap where they are written, indices that are written through are permutations, integers are masked before they could overflow. So
every mapping of a program gives the same bits, except where floating-point numbers are reduced."""
from sequoia_reductions import Reductions
from sequoia_text import INTEGERS, RECORDS, Parameter, Step, Task

SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 17, 24, 33]
MOST = {"N": 33, "M": 17, "K": 9}  # so that three dimensions fit into most local stores


class Program(Reductions):
    def __init__(self, seed, records=0.12):
        super().__init__(seed, records)
        self.seed = seed
        self.sizes = {name: self.random.choice([size for size in SIZES if size <= most]) for name, most in MOST.items()}
        if self.chance(0.05):
            self.sizes[self.random.choice("NM")] = 0
        self.main = Task("Main", [])
        self.main_steps()
        self.tasks.append(self.main)

    def extent(self, dimension):
        """The number that a dimension of one of the main task's arrays is."""
        for name, value in self.sizes.items():
            dimension = dimension.replace(name, str(value))
        return eval(dimension)

    @property
    def is_external(self):
        return any(variant.kind == "ext" for task in self.tasks for variant in task.variants)

    # ---- the main task ----
    def main_steps(self):
        self.data = []  # parameters of the main task that are arrays
        makers = [self.elementwise] * 6 + [self.stencil] * 2 + [self.reduction] * 4 + [self.product, self.sequence, self.lookup]
        steps, made = [], []
        for _ in range(self.pick(1, 1, 2, 3)):
            if made and self.chance(0.35):
                task = self.random.choice(made)
            else:
                task = self.random.choice(makers)()
                self.tasks.append(task)
                made.append(task)
            steps.append(self.main_step(task))
            if self.chance(0.3):
                steps += self.main_copy()
        order = {"in": 0, "inout": 1, "out": 2}
        self.data.sort(key=lambda p: order[p.direction])
        self.main.parameters = [Parameter("in", "int", "p")] + self.data
        if not any(set("NMK") & set(d) for p in self.data for d in p.dims if len(d) == 1):
            self.main.parameters.append(Parameter("in", "char", "unit", ["N"]))
        self.settle_sizes()
        self.main.inner("Go", steps)

    def settle_sizes(self):
        """Every size stands alone in some dimension, and only those that do are sizes."""
        alone = {d for p in self.main.parameters for d in p.dims}
        for size in "NMK":
            mentioned = any(size in d for p in self.main.parameters for d in p.dims) or size == "N"
            if mentioned and size not in alone:
                self.main.parameters.append(Parameter("in", "char", "unit" + size, [size]))
            elif not mentioned:
                del self.sizes[size]

    def array(self, direction, type, dims, avoid):
        """One of the main task's arrays of this form, or a new one."""
        for p in self.data:
            if p.type == type and p.dims == dims and p not in avoid and (direction == "in" or p.direction == "inout") and self.chance(0.7):
                return p
        written = direction != "in"
        p = Parameter("inout" if written else "in", type, self.name("v"), dims)
        self.data.append(p)
        return p

    def main_step(self, task):
        """A call on whole arrays, or on one block of each that is alike in all."""
        rename = {"B": self.pick("M", "N", "2")}
        used, given, before, calls, locals, reads, whole = [], [], [], [], [], [], {}
        sizes = sorted({s for p in task.parameters for d in p.dims for s in "NMKB" if s in d})
        simple = all(d in "NMK" for p in task.arrays() for d in p.dims)
        simple = simple and not any(p.name == "I" for p in task.parameters)
        partial = {s: self.pick((None, None), (None, None), ("1", f"{s} / 2"), (f"{s} / 2", s), ("0", "3")) for s in sizes} if simple else {}
        if partial and self.chance(0.6):
            partial = {}
        written = [p for p in task.arrays() if p.direction != "in"]
        for p in sorted(task.parameters, key=lambda p: p.direction == "in"):  # what is written first: others stay away from it
            if not p.dims:
                if p.direction == "in":
                    given.append((p, self.scalar(reads) if p.type == "int" else "N"))
                else:
                    scalar = self.array("inout", p.type, [], used)
                    used.append(scalar)
                    given.append((p, scalar.name))
                continue
            dims = whole[p.name] = [d.replace("B", rename["B"]) for d in p.dims]
            if p.name == "I":
                table = next(q.dims[0] for q in task.arrays() if q is not p)
                is_permutation = "B" in p.dims[0]
                filler = self.permuting() if is_permutation else self.places(p.type)
                local = self.name("Q")
                before += [f"{p.type} {local}[{dims[0]}];", f"{filler.name}({self.random.randint(0, 9)}, {dims[0] if is_permutation else table}, {local});"]
                calls.append((filler.name, False))
                locals.append(local)
                given.append((p, local))
                continue
            array = self.array(p.direction, p.type, dims, used)
            if p.direction != "in":
                used.append(array)
            block = ""
            if any(partial.get(d, (None,))[0] for d in p.dims):
                whole = {}
                block = "".join(self.range(*partial[d], d) if partial[d][0] else self.range("0", d, d) for d in p.dims)
            given.append((p, array.name + block))
        given = [next(text for q, text in given if q is p) for p in task.parameters]
        call = f"{task.name}({', '.join(given)});"
        calls.append((task.name, False))
        lines, loops = [call], []
        if any(p.name == "I" for p in task.parameters) and task.name.startswith("Lookup"):
            lines = ["if (M > 0) {", call, "}"]
        elif not reads and self.chance(0.15):
            lines, loops = [f"mapseq (int n = 0 : {self.pick('1', '2')}) {{ {call} }}"], [("n", "mapseq")]
        elif self.chance(0.12) and (element := self.element(reads)):  # control that depends on data
            lines = self.pick([f"for (int n = 0; n < {element}; n++)", call], [f"if ({element} > 1) {{ {call} }} else {{ {call} }}"])
            if "else" in lines[0]:
                calls.append((task.name, False))
        else:
            lines = self.guarded(lines)
        return Step(before + lines, loops, calls, locals, reads, whole if len(whole) == len(task.arrays()) else {})

    def element(self, reads):
        """A small number that control reads from an array; nothing when there is none of integers."""
        arrays = [p for p in self.data if p.type in INTEGERS and p.dims and all(d in ("N", "M", "K") for d in p.dims)]
        if not arrays:
            return None
        p = self.random.choice(arrays)
        reads.append(p.name)
        last = "".join(f"[{d} - 1]" if self.chance(0.3) else "[0]" for d in p.dims)
        return f"({' && '.join(f'{d} > 0' for d in p.dims)} ? {p.name}{last} & 3 : 1)"

    def scalar(self, reads):
        element = self.element(reads) if self.chance(0.2) else None
        return element or self.pick("p", "3", "p")

    def main_copy(self):
        """A copy between two arrays of one form, or within one."""
        targets = [p for p in self.data if p.direction == "inout" and p.dims]
        if not targets:
            return []
        to = self.random.choice(targets)
        others = [p for p in self.data if p.type == to.type and p.dims == to.dims and p is not to]
        size = to.dims[0]
        rest = "".join("[0;]" for _ in to.dims[1:])
        if not others or self.chance(0.3):
            forms = [(f"[0:{size} / 2;]", f"[({size} + 1) / 2:{size};]")]
            a, b = self.random.choice(forms)
            return [Step([f"copy({to.name}{a}{rest}, {to.name}{b}{rest});"])] if size in "NMK" else []
        source = self.random.choice(others)
        if len(to.dims) == 1 and size == "N" and self.chance(0.4):
            perm = self.permuting()
            local = self.name("Q")
            a, b = self.pick((f"{to.name}[{local}]", source.name), (to.name, f"{source.name}[{local}]"),
                             (f"{to.name}[{local}]", f"{source.name}[{local}]"))
            return [Step([f"int {local}[N];", f"{perm.name}({self.random.randint(0, 9)}, N, {local});", f"copy({a}, {b});"],
                         calls=[(perm.name, False)], locals=[local])]
        blocks = "".join(self.range("0", d, d) for d in to.dims) if all(d in "NMK" for d in to.dims) and self.chance(0.5) else ""
        return [Step([f"copy({to.name}{blocks}, {source.name});"])]

    # ---- text ----
    def render(self):
        for record in sorted(self.used_records):
            yield RECORDS[record][0]
        for type in sorted(self.helpers):
            yield f"inline {type} same_{type.replace(' ', '_')}({type} x) {{ return x; }}"
        for task in self.tasks:
            yield f"void task {task.name}{task.signature()};"
        for task in self.tasks:
            for variant in task.variants:
                if variant.kind == "ext":
                    yield f"void task<ext> {task.name}::{variant.name}{task.signature()};"
                    continue
                yield f"void task<{variant.kind}> {task.name}::{variant.name}{task.signature()}"
                yield "{"
                if variant.tunables:
                    yield f"  tunable {', '.join(variant.tunables)};"
                for step in variant.steps:
                    yield from ("  " + line for line in step.lines)
                yield "}"
