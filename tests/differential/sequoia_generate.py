"""Random Sequoia programs from a seed. A program is a set of tasks of known kinds (elementwise, stencil, reduction, matrix product, sequence,
permutation), each with a leaf and several inner variants that cut its arrays differently, and a main task whose steps call them.

Meaning is always defined, and the same however the arrays are cut: leaves do not use their local indices, blocks of different iterations
do not overlap where they are written, indices that are written through are permutations, integers are masked before they could overflow. So
every mapping of a program gives the same bits, except where floating-point numbers are reduced."""
import random

SIZES = [1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17]
MASKS = {"char": 63, "unsigned char": 63, "short": 1023, "int": 65535, "unsigned": 65535, "long": 1048575}
INTEGERS = list(MASKS)
REALS = ["float", "double"]
RECORD = "Pair"  # struct Pair { int x; float y; }


class Parameter:
    def __init__(self, direction, type, name, dims=()):
        self.direction, self.type, self.name, self.dims = direction, type, name, list(dims)

    def text(self):
        return f"{self.direction} {self.type} {self.name}" + "".join(f"[{d}]" for d in self.dims)


class Step:
    """Some lines of an inner task, and what a mapping names in them: loops (variable, kind) and calls (task, whether it is a combiner)."""

    def __init__(self, lines, loops=(), calls=(), locals=()):
        self.lines, self.loops, self.calls, self.locals = list(lines), list(loops), list(calls), list(locals)


class Variant:
    def __init__(self, name, kind, steps, tunables=(), parameters=None):
        self.name, self.kind, self.steps, self.tunables, self.parameters = name, kind, steps, list(tunables), parameters

    def numbered(self, attribute):
        """(name, number among those of its name, rest) of each loop or call, in order."""
        seen = {}
        for step in self.steps:
            for name, rest in getattr(step, attribute):
                yield name, seen.setdefault(name, 0), rest
                seen[name] += 1


class Task:
    def __init__(self, name, parameters):
        self.name, self.parameters, self.variants, self.reals = name, parameters, [], False

    def signature(self):
        return "(" + ", ".join(p.text() for p in self.parameters) + ")"

    def leaf(self, lines, name="Leaf"):
        self.variants.append(Variant(name, "leaf", [Step(lines)]))

    def inner(self, name, steps, tunables=()):
        self.variants.append(Variant(name, "inner", steps, tunables))

    def arrays(self):
        return [p for p in self.parameters if p.dims]


class Program:
    def __init__(self, seed, records=0.1):
        self.records = records
        self.random = random.Random(seed)
        self.seed = seed
        self.tasks, self.count, self.usesRecord, self.reorders = [], 0, False, False
        self.helpers = set()  # types that have an inline function
        self.sizes = {name: self.random.choice(SIZES) for name in "NMK"}
        if self.chance(0.05):
            self.sizes[self.random.choice("NM")] = 0
        self.permutation = None
        self.main = Task("Main", [])
        self.main_steps()
        self.tasks.append(self.main)

    # ---- small things ----
    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, stem):
        self.count += 1
        return f"{stem}{self.count}"

    def type(self, records=True):
        kind = self.random.random()
        if records and kind < self.records:
            self.usesRecord = True
            return RECORD
        return self.random.choice(REALS if kind < 0.35 else INTEGERS)

    def expression(self, type, values):
        """A C expression over values of the type, in range of it."""
        a, b = self.random.choice(values), self.random.choice(values)
        if type in REALS:
            f = "f" if type == "float" else ""
            return self.pick(f"{a} * 0.5{f} + {b}", f"fmin({a}, {b}) + 0.25{f}", f"fabs({a} - {b})", f"sqrt(fabs({a})) * 0.5{f}",
                             f"{a} * 0.25{f} + {b} * 0.5{f}", f"{a} > {b} ? {a} - 1.0{f} : {b} * 0.5{f}")
        m = MASKS[type]
        return self.pick(f"({a} * {self.random.randint(1, 9)} + {b}) & {m}", f"({a} ^ ({b} >> 1)) & {m}", f"({a} - {b}) & {m}",
                         f"({a} | {b}) & {m}", f"({a} > {b} ? {a} : {b} + 1) & {m}", f"(({a} & 255) * ({b} & 255)) & {m}",
                         f"({a} / {self.random.randint(1, 5)} + {b} % {self.random.randint(1, 7)}) & {m}")

    def convert(self, value, source, target):
        """A value of one type as one of another that stays in range."""
        if source == target:
            return value
        if source in REALS and target in INTEGERS:
            return f"(({target})({value} * 50.0))"
        return f"(({target})({value} & {MASKS[target]}))" if source in INTEGERS and target in INTEGERS else f"(({target}){value})"

    # ---- blocks of one dimension: [begin, begin + at most length) of `size` elements ----
    def range(self, begin, length, size):
        """Any style of writing it. `length` is an expression over tunables and sizes."""
        end = f"({begin} + {length} < {size} ? {begin} + {length} : {size})"
        if begin == "0" and length == size:
            return self.pick(f"[0;{size}]", "[0;]", f"[0:{size};]", f"[0:{size}:1;{size}]")
        return self.pick(*[f"[{begin};{length}]"] * 3, f"[{begin}:{end};]", f"[{begin}:{end};{length}]", f"[{begin}:{end}:1;{length}]",
                         f"[{begin}:{end}:1;]")

    def cuts(self, dims, forced=None, only=None):
        """Cuts some dimensions into blocks. Gives the loops as (variable, bound), and for each dimension its range as a function of
        what the size is called and of a factor and overlap: an array of factor * size + overlap elements is cut alike."""
        loops, ranges, tunables = [], [], []
        chosen = [d for d in range(len(dims)) if self.chance(0.7)] or [self.random.randrange(len(dims))]
        chosen = chosen[:only]
        strides = self.chance(0.15)
        for d, size in enumerate(dims):
            if d not in chosen:
                ranges.append(lambda factor=1, extra=0, size=size: self.range("0", self.scaled(size, factor, extra),
                                                                                    self.scaled(size, factor, extra)))
                continue
            variable, tunable = "ijk"[len(loops)], f"b{d}"
            tunables.append(tunable)
            if strides and forced is None:
                loops.append((variable, f"{tunable} < {size} ? {tunable} : {size}"))
                most = f"({size} + {tunable} - 1) / {tunable}"
                ranges.append(lambda factor=1, extra=0, v=variable, t=tunable, s=size, most=most: self.pick(f"[{v}:{s}:{t};]", f"[{v}:{s}:{t};{most}]"))
            else:
                loops.append((variable, f"({size} + {tunable} - 1) / {tunable}"))
                ranges.append(lambda factor=1, extra=0, v=variable, t=tunable, s=size: self.range(
                    self.times(factor, f"{v} * {t}"), self.scaled(t, factor, extra), self.scaled(s, factor, extra)))
        return loops, ranges, tunables

    @staticmethod
    def times(factor, text):
        return text if factor == 1 else f"{factor} * {text}"

    @staticmethod
    def scaled(size, factor, extra):
        text = size if factor == 1 else f"{factor} * {size}"
        return f"{text} + {extra}" if extra else text

    def nest(self, loops, kinds, call):
        """The statement that runs a call in a nest of loops: of Sequoia's, or of C's."""
        if not loops:
            return [call], []
        if self.chance(0.1) and "mapreduce" not in kinds:  # in C's loops, control is where the task's is
            lines = [f"for (long {v} = 0; {v} < ({end}); {v}++)" for v, end in loops]
            return lines + ["  " + call], []
        type = lambda: self.pick("int", "long", "unsigned int")
        kinds = list(kinds)
        if len(set(kinds)) == 1 and kinds[0] != "mapreduce" and self.chance(0.4):
            ranges = ", ".join(f"{type()} {v} = 0 : {end}" for v, end in loops)
            lines = [f"{kinds[0]} ({ranges}) {{ {call} }}"]
        else:
            lines = [f"{kind} ({type()} {v} = 0 : {end}) {{" for kind, (v, end) in zip(kinds, loops)] + [call, "}" * len(loops)]
        return lines, [(v, kind) for kind, (v, _) in zip(kinds, loops)]

    def guarded(self, lines):
        """Sometimes within a statement of C that executes it once."""
        if self.chance(0.12):
            begin, end = self.pick(("if (2 > 1) {", "}"), ("for (int once = 0; once < 1; once++) {", "}"), ("do {", "} while (0);"),
                                   ("switch (1) { case 1: {", "} }"))
            return [begin] + lines + [end]
        return lines

    # ---- tasks ----
    def elementwise(self):
        rank = self.pick(1, 1, 1, 2, 2, 3)
        dims = ["N", "M", "K"][:rank]
        target = self.type()
        direction = self.pick("out", "inout", "inout")
        sources = [(f"a{n}", target if target == RECORD else self.pick(target, target, self.type(False))) for n in range(self.random.randint(1, 2))]
        parameters = [Parameter("in", type, name, dims) for name, type in sources]
        scalar = target in INTEGERS and self.chance(0.4)
        if scalar:
            parameters.append(Parameter("in", "int", "s"))
        parameters.append(Parameter(direction, target, "c", dims))
        self.random.shuffle(parameters)
        task = Task(self.name("Each"), parameters)
        at = "".join(f"[i{d}]" for d in range(rank))

        def value(field, type):
            given = [f"{name}{at}{field}" if target == RECORD else self.convert(f"{name}{at}", t, type) for name, t in sources]
            return given + ([f"c{at}{field}"] if direction == "inout" else []) + (["s"] if scalar else [])
        if target == RECORD:
            body = [f"c{at}.x = {self.expression('int', value('.x', 'int'))};", f"c{at}.y = {self.expression('float', value('.y', 'float'))};"]
        else:
            expression = self.expression(target, value("", target))
            body = [f"c{at} = {expression};"]
            if rank == 1 and self.chance(0.25):  # by way of an array of its own, and an inline function
                self.helpers.add(target)
                self.leaf_over(task, dims, [f"t[i0] = {expression};"], name="Staging")
                lines = task.variants[-1].steps[0].lines
                lines.insert(0, f"{target} t[N];")
                lines.append(f"for (int i = 0; i < N; i++) c[i] = same_{target.replace(' ', '_')}(t[i]);")
        self.leaf_over(task, dims, body)
        for number in range(self.random.randint(1, 2)):
            self.elementwise_inner(task, dims, f"Cut{number}")
        if self.chance(0.3):
            self.elementwise_staged(task, dims)
        if rank == 1 and self.chance(0.4):
            self.elementwise_indexed(task)
        return task

    def leaf_over(self, task, dims, body, name="Leaf"):
        loops = [f"for (int i{d} = 0; i{d} < {size}; i{d}++)" for d, size in enumerate(dims)]
        if self.chance(0.2):
            last = len(dims) - 1
            loops[-1] = f"{{ int i{last} = 0; while (i{last} < {dims[-1]})"
            body = body + [f"i{last}++;", "}"]
        if self.chance(0.2):
            if "while" not in loops[0]:
                loops[0] = f"for (int i0 = {dims[0]} - 1; i0 >= 0; i0--)"
        task.leaf(loops + ["{"] + body + ["}"], name)

    def call(self, task, ranges, arguments=None):
        """A call with the same block of every array, or with what `arguments` says for a parameter."""
        given = []
        for p in task.parameters:
            if arguments and p.name in arguments:
                given.append(arguments[p.name])
            elif p.dims:
                given.append(p.name + "".join(r() for r in ranges))
            else:
                given.append(p.name)
        return f"{task.name}({', '.join(given)});"

    def elementwise_inner(self, task, dims, name):
        loops, ranges, tunables = self.cuts(dims)
        kinds = [self.pick("mappar", "mappar", "mapseq") for _ in loops]
        if self.chance(0.12):  # two halves of the first dimension
            rest = "".join("[0;]" for _ in dims[1:])
            half = lambda r: self.call(task, [], {p.name: p.name + r() + rest for p in task.arrays()})
            step = Step([half(lambda: self.pick("[0:N/2;]", "[0:N/2;N]")), half(lambda: self.pick("[N/2:N;]", "[N/2;]", "[N/2:N:1;N]"))],
                        calls=[(task.name, False)] * 2)
            return task.inner(name, [step])
        lines, named = self.nest(loops, kinds, self.call(task, ranges))
        task.inner(name, [Step(self.guarded(lines), named, [(task.name, False)])], tunables)

    def elementwise_staged(self, task, dims):
        whole = "".join(f"[{d}]" for d in dims)
        lines, replaced, after = [], {}, []
        for p in task.arrays():
            if self.chance(0.5):
                local = "t" + p.name
                replaced[p.name] = local
                lines.append(f"{p.type} {local}{whole};")
                if p.direction != "out":
                    lines.append(f"copy({local}, {p.name});" if self.chance(0.5) else
                                 f"copy({local}{''.join(self.range('0', d, d) for d in dims)}, {p.name}{''.join(self.range('0', d, d) for d in dims)});")
                if p.direction != "in":
                    after.append(f"copy({p.name}, {local});")
        call = self.call(task, [lambda d=d: self.range("0", d, d) for d in dims], replaced)
        task.inner("Staged", [Step(lines + [call] + after, calls=[(task.name, False)], locals=list(replaced.values()))])

    def elementwise_indexed(self, task):
        perm = self.permuting()
        block = lambda: self.range("i * b0", "b0", "N")
        arguments = {}
        for p in task.arrays():
            arguments[p.name] = f"{p.name}[P{block()}]"
        lines, named = self.nest([("i", "(N + b0 - 1) / b0")], [self.pick("mappar", "mappar", "mapseq")], self.call(task, [], arguments))
        begin = ["int P[N];", f"{perm.name}({self.random.randint(0, 9)}, N, P);"]
        if self.chance(0.3):  # all of it by one gather and one scatter
            lines, named = [self.call(task, [], {p.name: f"{p.name}[P]" for p in task.arrays()})], []
            return task.inner("Indexed", [Step(begin + lines, named, [(perm.name, False), (task.name, False)], ["P"])])
        task.inner("Indexed", [Step(begin + lines, named, [(perm.name, False), (task.name, False)], ["P"])], ["b0"])

    def permuting(self):
        if not self.permutation:
            task = Task("Permute", [Parameter("in", "int", "k"), Parameter("in", "long", "all"), Parameter("out", "int", "P", ["N"])])
            task.leaf([f"for (int i = 0; i < N; i++) P[i] = k % 2 ? (int)(all - 1 - i) : (int)((i + k) % all);"])
            self.permutation = task
            self.tasks.append(task)
        return self.permutation

    def stencil(self):
        """c[i] from a[f * i], …, a[f * i + e]: size expressions."""
        type = self.type(False)
        factor, extra = self.pick((1, 2), (1, 1), (2, 1), (3, 2))
        two = self.chance(0.4)
        dims = ["N", "M"] if two else ["N"]
        arrays = [self.scaled(d, factor, extra) for d in dims]
        task = Task(self.name("Near"), [Parameter("in", type, "a", arrays), Parameter("out", type, "c", dims)])
        at = lambda e: "".join(f"[{self.times(factor, f'i{d}')} + {e}]" for d in range(len(dims)))
        here = "".join(f"[i{d}]" for d in range(len(dims)))
        self.leaf_over(task, dims, [f"c{here} = {self.expression(type, ['a' + at(0), 'a' + at(extra)])};"])
        for number in range(self.random.randint(1, 2)):
            loops, ranges, tunables = self.cuts(dims, forced=True)
            arguments = {"a": "a" + "".join(r(factor, extra) for r in ranges), "c": "c" + "".join(r() for r in ranges)}
            lines, named = self.nest(loops, [self.pick("mappar", "mappar", "mapseq") for _ in loops], self.call(task, [], arguments))
            task.inner(f"Cut{number}", [Step(self.guarded(lines), named, [(task.name, False)])], tunables)
        return task

    def combiner(self, type, operation, dims):
        name = f"Join{operation}{type.replace(' ', '')}{len(dims)}"
        for task in self.tasks:
            if task.name == name:
                return task
        task = Task(name, [Parameter("in", type, "x", dims), Parameter("inout", type, "y", dims)])
        at = "".join(f"[i{d}]" for d in range(len(dims)))
        self.leaf_over(task, dims, [self.fold(type, operation, f"y{at}", f"x{at}")]) if dims else task.leaf([self.fold(type, operation, "y", "x")])
        if dims:
            lines, named = self.nest([("i", "(B + t - 1) / t")], [self.pick("mappar", "mapseq")],
                                     f"{name}(x[i * t;t], y[i * t;t]);")
            task.inner("Cut", [Step(lines, named, [(name, False)])], ["t"])
        self.tasks.append(task)
        return task

    @staticmethod
    def fold(type, operation, into, value):
        return {"Sum": f"{into} += {value};", "Most": f"{into} = {value} > {into} ? {value} : {into};",
                "Least": f"{into} = {value} < {into} ? {value} : {into};", "Or": f"{into} |= {value};", "Xor": f"{into} ^= {value};"}[operation]

    def reduction(self):
        """Folds an array into several results: arrays of B elements and scalars."""
        source = self.pick("int", "unsigned", "float", "double", "long")
        dims = ["N", "M"] if self.chance(0.35) else ["N"]
        results = []
        for number in range(self.random.randint(1, 2)):
            type = source if self.chance(0.6) else self.pick("unsigned", "long", "int")
            if source in REALS and type not in REALS:
                type = source
            operations = ["Sum", "Most", "Least"] + ([] if type in REALS else ["Or", "Xor"])
            operation = self.random.choice(operations)
            if type in ("int", "short") and operation == "Sum":
                type = "long"
            if type in REALS and operation == "Sum":
                self.reorders = True
            results.append((f"r{number}", type, operation, ["B"] if self.chance(0.6) else []))
        task = Task(self.name("Fold"), [Parameter("in", source, "a", dims)] + [Parameter("inout", t, n, d) for n, t, _, d in results])
        at = "".join(f"[i{d}]" for d in range(len(dims)))
        body = []
        for name, type, operation, shape in results:
            value = f"a{at}" if type == source else f"({type})a{at}"
            if shape:
                index = f"(long)a{at} % B" if source not in REALS else f"(long)(a{at} * 100.0) % B"
                into = f"{name}[{index}]"
                body.append(f"if (B > 0 && a{at} >= 0) {{ {self.fold(type, operation, into, value)} }}")
            else:
                body.append(self.fold(type, operation, name, value))
        self.leaf_over(task, dims, body)
        for number in range(self.random.randint(1, 2)):
            loops, ranges, tunables = self.cuts(dims)
            reduces = self.chance(0.67)
            if reduces and len(loops) > 1:  # one range only, so the other dimension is whole
                loops, ranges, tunables = self.cuts(dims, only=1)
            kinds = ["mapreduce" if reduces else "mapseq"] * len(loops)
            arguments, calls = {}, [(task.name, False)]
            for name, type, operation, shape in results:
                if kinds and kinds[0] == "mapreduce":
                    join = self.combiner(type, operation, shape)
                    whole = name + (self.range("0", "B", "B").replace(":1;", ":1;") if shape and self.chance(0.3) else "")
                    arguments[name] = f"reducearg<{whole}, {join.name}>"
                    calls.append((join.name, True))
                else:
                    arguments[name] = name
            lines, named = self.nest(loops, kinds, self.call(task, ranges, arguments))
            if not named and kinds and kinds[0] == "mapreduce":
                continue
            task.inner(f"Cut{number}", [Step(lines, named, calls)], tunables)
        return task

    def product(self):
        type = self.pick("int", "unsigned", "float", "double")
        self.reorders |= type in REALS
        result = "unsigned" if type == "int" else type
        task = Task(self.name("Product"), [Parameter("in", type, "A", ["N", "K"]), Parameter("in", type, "B", ["K", "M"]),
                                           Parameter("inout", result, "C", ["N", "M"])])
        mask = (lambda e: f"({e} & 255)") if type in INTEGERS else (lambda e: e)
        self.leaf_over(task, ["N", "M", "K"], [f"C[i0][i1] += {mask('A[i0][i2]')} * {mask('B[i2][i1]')};"])
        cut = lambda v, t, s: self.range(f"{v} * {t}", t, s)
        for number in range(self.random.randint(1, 2)):
            block = f"C{cut('i', 'bn', 'N')}{cut('j', 'bm', 'M')}"
            calls, kinds = [(task.name, False)], [self.pick("mappar", "mapseq"), self.pick("mappar", "mapseq"), "mapseq"]
            if self.chance(0.6):
                join = self.product_join(result)
                block = f"reducearg<C[i * bn;bn][j * bm;bm], {join.name}>"
                kinds[2] = "mapreduce"
                calls.append((join.name, True))
            call = f"{task.name}(A{cut('i', 'bn', 'N')}{cut('k', 'bk', 'K')}, B{cut('k', 'bk', 'K')}{cut('j', 'bm', 'M')}, {block});"
            loops = [(v, f"({s} + {t} - 1) / {t}") for v, t, s in (("i", "bn", "N"), ("j", "bm", "M"), ("k", "bk", "K"))]
            lines, named = self.nest(loops, kinds, call)
            task.inner(f"Cut{number}", [Step(lines, named, calls)], ["bn", "bm", "bk"])
        return task

    def product_join(self, type):
        for task in self.tasks:
            if task.name == "JoinTiles" + type:
                return task
        task = Task("JoinTiles" + type, [Parameter("in", type, "x", ["N", "M"]), Parameter("inout", type, "y", ["N", "M"])])
        self.leaf_over(task, ["N", "M"], ["y[i0][i1] += x[i0][i1];"])
        self.tasks.append(task)
        return task

    def sequence(self):
        """A state that goes through an array in order."""
        type = self.pick("int", "long", "unsigned")
        m = MASKS[type]
        direction = self.pick("in", "inout")
        task = Task(self.name("Walk"), [Parameter(direction, type, "a", ["N"]), Parameter("inout", type, "s")])
        body = [f"s = (s * 5 + a[i0]) & {m};"] + ([f"a[i0] = (a[i0] ^ s) & {m};"] if direction == "inout" else [])
        task.leaf(["for (int i0 = 0; i0 < N; i0++) {"] + body + ["}"])
        for number in range(self.random.randint(1, 2)):
            block = self.range("i * b0", "b0", "N")
            lines, named = self.nest([("i", "(N + b0 - 1) / b0")], ["mapseq"], f"{task.name}(a{block}, s);")
            task.inner(f"Cut{number}", [Step(lines, named, [(task.name, False)])], ["b0"])
        return task

    # ---- the main task ----
    def main_steps(self):
        self.data = []  # parameters of the main task that are arrays
        makers = [self.elementwise] * 5 + [self.stencil] * 2 + [self.reduction] * 3 + [self.product, self.sequence]
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
        used, given = [], []
        sizes = sorted({s for p in task.parameters for d in p.dims for s in "NMKB" if s in d})
        simple = all(d in "NMK" for p in task.arrays() for d in p.dims)
        partial = {s: self.pick((None, None), (None, None), ("1", f"{s} / 2"), (f"{s} / 2", s), ("0", "3")) for s in sizes} if simple else {}
        if partial and self.chance(0.6):
            partial = {}
        written = [p for p in task.arrays() if p.direction != "in"]
        for p in sorted(task.parameters, key=lambda p: p.direction == "in"):  # what is written first: others stay away from it
            if not p.dims:
                if p.direction == "in":
                    given.append((p, self.pick("p", "3", "p")) if p.type == "int" else (p, "N"))
                else:
                    scalar = self.array("inout", p.type, [], used)
                    used.append(scalar)
                    given.append((p, scalar.name))
                continue
            dims = [rename.get(d, d) for d in p.dims]
            array = self.array(p.direction, p.type, dims, used)
            if p.direction != "in":
                used.append(array)
            block = ""
            if any(partial.get(d, (None,))[0] for d in p.dims):
                block = "".join(self.range(*partial[d], d) if partial[d][0] else self.range("0", d, d) for d in p.dims)
            given.append((p, array.name + block))
        given = [next(text for q, text in given if q is p) for p in task.parameters]
        call = f"{task.name}({', '.join(given)});"
        if self.chance(0.15):
            return Step([f"mapseq (int n = 0 : {self.pick('1', '2')}) {{ {call} }}"], [("n", "mapseq")], [(task.name, False)])
        return Step(self.guarded([call]), calls=[(task.name, False)])

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
        if self.usesRecord:
            yield f"typedef struct {{ int x; float y; }} {RECORD};"
        for type in sorted(self.helpers):
            yield f"inline {type} same_{type.replace(' ', '_')}({type} x) {{ return x; }}"
        for task in self.tasks:
            yield f"void task {task.name}{task.signature()};"
        for task in self.tasks:
            for variant in task.variants:
                yield f"void task<{variant.kind}> {task.name}::{variant.name}{task.signature()}"
                yield "{"
                if variant.tunables:
                    yield f"  tunable {', '.join(variant.tunables)};"
                for step in variant.steps:
                    yield from ("  " + line for line in step.lines)
                yield "}"
