"""What random Sequoia programs are written with: tasks, their variants and steps as text, and the ways of writing types, expressions, blocks and
nests of iterations. `random` and the counters are those of the program that derives from Writer."""
import random

MASKS = {"char": 63, "unsigned char": 63, "short": 1023, "int": 65535, "unsigned": 65535, "long": 1048575}
INTEGERS = list(MASKS)
REALS = ["float", "double"]
BYTES = {"char": 1, "unsigned char": 1, "short": 2, "int": 4, "unsigned": 4, "long": 8, "float": 4, "double": 8}
RECORDS = {  # without padding, which no two runs need to agree about
    "Pair": ("typedef struct { int x; float y; } Pair;", [(".x", "int"), (".y", "float")]),
    "Word": ("typedef union { unsigned whole; unsigned char bytes[4]; unsigned short halves[2]; } Word;", [(".whole", "unsigned")]),
    "Deep": ("typedef struct { double weight; union { unsigned whole; char bytes[4]; } word; short list[1]; char tag, other; } Deep;",
             [(".weight", "double"), (".word.whole", "unsigned"), (".list[0]", "short"), (".tag", "char"), (".other", "char")]),
    "Both": ("typedef struct { unsigned u; int rest; long v; } Both;", [(".u", "unsigned"), (".rest", "int"), (".v", "long")]),
    "Best": ("typedef struct { int value; unsigned place; } Best;", [(".value", "int"), (".place", "unsigned")]),
}


class Parameter:
    def __init__(self, direction, type, name, dims=()):
        self.direction, self.type, self.name, self.dims = direction, type, name, list(dims)

    def text(self):
        return f"{self.direction} {self.type} {self.name}" + "".join(f"[{d}]" for d in self.dims)


class Step:
    """Some lines of an inner task, and what a mapping names in them: loops (variable, kind), calls (task, whether it is a combiner), local
    arrays, and arrays of which control reads elements. `whole`: the dimensions of what the last task called is given, by its parameters' names,
    where those are whole arrays."""

    def __init__(self, lines, loops=(), calls=(), locals=(), reads=(), whole=None):
        self.lines, self.loops, self.calls = list(lines), list(loops), list(calls)
        self.locals, self.reads, self.whole = list(locals), list(reads), whole or {}


class Variant:
    """`shares`: pairs of a leaf's arrays that can lie at one address. `halves`: of a variant that calls its task on halves, an array that is
    halved in its first dimension. `function`: of an external one, gives its text for a name and some bytes of local space."""

    def __init__(self, name, kind, steps, tunables=(), shares=(), halves=None, function=None):
        self.name, self.kind, self.steps, self.tunables = name, kind, steps, list(tunables)
        self.shares, self.halves, self.function = list(shares), halves, function

    @property
    def reads(self):
        return {name for step in self.steps for name in step.reads}


class Task:
    def __init__(self, name, parameters):
        self.name, self.parameters, self.variants = name, parameters, []

    def signature(self):
        return "(" + ", ".join(p.text() for p in self.parameters) + ")"

    def leaf(self, lines, name="Leaf", shares=()):
        self.variants.append(Variant(name, "leaf", [Step(lines)], shares=shares))

    def inner(self, name, steps, tunables=(), halves=None):
        self.variants.append(Variant(name, "inner", steps, tunables, halves=halves))

    def arrays(self):
        return [p for p in self.parameters if p.dims]


class Writer:
    def __init__(self, seed, records):
        self.records = records  # how often an array holds structs or unions
        self.random = random.Random(seed)
        self.count, self.used_records = 0, set()

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
            return self.record(self.pick("Pair", "Word", "Deep"))
        return self.random.choice(REALS if kind < 0.35 else INTEGERS)

    def record(self, name):
        self.used_records.add(name)
        return name

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
        able = [d for d, size in enumerate(dims) if not size.isdigit()]
        chosen = [d for d in able if self.chance(0.7)] or [self.random.choice(able)]
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
