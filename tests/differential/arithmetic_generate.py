"""Random programs of C's arithmetic, as trees with two texts: that of a leaf task, and that of a C function. They differ where C has no meaning
and the language has one: C's text calls cut_TYPE where a real number becomes an integer. Loops of C count their iterations, so that what does not
end is told. A program reads one element of an input array of each type and gives integers and a real number."""

import random

# (bits, has a sign, rank); reals have no rank.
INTEGERS = {"char": (8, True, 0), "signed char": (8, True, 0), "unsigned char": (8, False, 0), "short": (16, True, 0), "unsigned short": (16, False, 0),
            "int": (32, True, 1), "unsigned int": (32, False, 1), "long": (64, True, 2), "unsigned long": (64, False, 2),
            "long long": (64, True, 3), "unsigned long long": (64, False, 3)}
REALS = ("float", "double")
TYPES = [*INTEGERS, *REALS]
RESULTS = 2  # integers that a program gives
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")


def input_name(kind):
    return "a_" + kind.replace(" ", "_")


def cut_name(kind):
    return "cut_" + kind.replace(" ", "_")


def promoted(kind):
    return "int" if kind in INTEGERS and INTEGERS[kind][2] < 1 else kind


def common(a, b):
    for real in ("double", "float"):
        if real in (a, b):
            return real
    a, b = promoted(a), promoted(b)
    if INTEGERS[a][1] == INTEGERS[b][1]:
        return a if INTEGERS[a][2] >= INTEGERS[b][2] else b
    signed, unsigned = (a, b) if INTEGERS[a][1] else (b, a)
    if INTEGERS[unsigned][2] >= INTEGERS[signed][2]:
        return unsigned
    return signed if INTEGERS[signed][0] > INTEGERS[unsigned][0] else "unsigned " + signed


class Expression:
    """Its type, and its text in each language."""

    def __init__(self, kind, text, c=None):
        self.kind, self.text, self.c = kind, text, text if c is None else c

    def to(self, kind):
        """What C's text needs so that the conversion to a type means what the language says; nothing is written in a leaf."""
        if kind in INTEGERS and self.kind in REALS:
            return Expression(kind, self.text, f"{cut_name(kind)}({self.c})")
        return self

    def cast(self, kind):
        inner = self.to(kind)
        return Expression(kind, f"(({kind}){self.text})", f"(({kind}){inner.c})")


class Program:
    """One program: `before` holds its functions, `body` its statements, each as lines of (leaf, C)."""

    def __init__(self, seed, number, stray):
        self.random = random.Random(seed)
        self.number, self.names = number, 0
        self.stray = stray  # how often a divisor, a shift or an index may be anything
        self.functions, self.before = [], []
        self.array = None
        for _ in range(self.random.choice((0, 0, 0, 1))):
            self.function()
        self.scope = [(f"{input_name(kind)}[i]", kind) for kind in self.random.sample(TYPES, 5)]
        self.targets = []
        self.body = []
        self.array = None
        if self.chance(0.3):
            self.array = (self.fresh("t"), self.pick(*TYPES))
            line = f"{self.array[1]} {self.array[0]}[16] = {{1, 2, 3, 5, 8}};"
            self.body.append((line, line))
        for _ in range(self.random.randrange(1, 5)):
            self.body += self.statement(2, False)
        for result in range(RESULTS):
            self.body += [self.assign(f"o[{number * RESULTS + result}][i]", "unsigned long", self.expression(1))]
        self.body += [self.assign(f"f[{number}][i]", "double", self.expression(1))]

    # ---- words ----

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def fresh(self, stem):
        self.names += 1
        return f"{stem}{self.number}_{self.names}"

    def literal(self):
        if self.chance(0.25):
            text = self.pick("0.5", "-3.0", "1.25f", "1e10", "-2.5e9f", "0x1p-3", "300.0f", "-1.0", "1e30", "4294967296.0", "-0.75", "9.3e18", "127.9f")
            return Expression("float" if text.endswith("f") and "x" not in text else "double", text if text[0] != "-" else f"({text})")
        if self.chance(0.3):
            kind, text = self.pick(("int", "2147483647"), ("int", "(-2147483647 - 1)"), ("unsigned int", "4294967295u"), ("unsigned int", "0x80000000"),
                                   ("long", "0x7fffffffffffffff"), ("long", "(-0x7fffffffffffffff - 1)"), ("unsigned long", "0xffffffffffffffff"),
                                   ("unsigned long", "0x8000000000000000"), ("int", "0x7fffffff"), ("int", "65535"), ("int", "'\\xff'"),
                                   ("long", "2147483648"), ("unsigned long long", "1uLL"), ("long long", "4294967296LL"))
            return Expression(kind, text)
        value = self.pick(0, 1, 2, 3, 5, 7, 10, 31, 32, 63, 100, 127, 128, 255, 256, 1000)
        suffix, kind = self.pick(("", "int"), ("", "int"), ("", "int"), ("u", "unsigned int"), ("L", "long"), ("uL", "unsigned long"), ("LL", "long long"))
        return Expression(kind, f"({-value}{suffix})" if self.chance(0.3) else f"{value}{suffix}")

    def element(self, depth):
        """An element of the program's array; rarely one that there may not be."""
        name, kind = self.array
        loops = [variable for variable, other in self.scope if variable.startswith("i") and other in INTEGERS]
        if loops and self.chance(3 * self.stray):
            index = Expression("int", self.random.choice(loops))
        else:
            index = self.integer(depth)
            if not self.chance(self.stray):
                index = Expression("long", f"({index.text} & 15)", f"({index.c} & 15)")
        return Expression(kind, f"{name}[{index.text}]", f"{name}[{index.c}]")

    def atom(self):
        if self.array and self.chance(0.15):
            return self.element(0)
        if self.scope and self.chance(0.7):
            name, kind = self.random.choice(self.scope)
            return Expression(kind, name)
        return self.literal()

    def integer(self, depth):
        made = self.expression(depth)
        return made if made.kind in INTEGERS else made.cast(self.pick(*INTEGERS))

    def divisor(self, depth):
        made = self.integer(depth)
        if self.chance(self.stray):
            return made
        if self.chance(0.3):
            return Expression("int", self.pick("1", "2", "3", "7", "(-1)", "(-3)", "16", "1000"))
        return Expression(promoted(made.kind), f"({made.text} | 1)", f"({made.c} | 1)")

    def amount(self, depth):
        made = self.integer(depth)
        if self.chance(self.stray):
            return made
        if self.chance(0.3):
            return Expression("int", self.pick("0", "1", "5", "7", "15", "31"))
        return Expression(promoted(made.kind), f"({made.text} & {15})", f"({made.c} & {15})")

    # ---- expressions ----

    def binary(self, op, a, b, kind):
        return Expression(kind, f"({a.text} {op} {b.text})", f"({a.c} {op} {b.c})")

    def expression(self, depth):
        if depth <= 0 or self.chance(0.12):
            return self.atom()
        form = self.random.randrange(16)
        if form < 5:
            a, b = self.expression(depth - 1), self.expression(depth - 1)
            return self.binary(self.pick("+", "-", "*"), a, b, common(a.kind, b.kind))
        if form == 5:
            a = self.expression(depth - 1)
            if a.kind in REALS:
                b = self.expression(depth - 1)
                return self.binary("/", a, b if b.kind in REALS else b.cast("double"), common(a.kind, b.kind if b.kind in REALS else "double"))
            b = self.divisor(depth - 1)
            return self.binary(self.pick("/", "%"), a, b, common(a.kind, b.kind))
        if form == 6:
            a = self.integer(depth - 1)
            return self.binary(self.pick("<<", ">>"), a, self.amount(depth - 1), promoted(a.kind))
        if form == 7:
            a, b = self.integer(depth - 1), self.integer(depth - 1)
            return self.binary(self.pick("&", "|", "^"), a, b, common(a.kind, b.kind))
        if form == 8:
            a, b = self.expression(depth - 1), self.expression(depth - 1)
            return self.binary(self.pick(*COMPARISONS), a, b, "int")
        if form == 9:
            a, b = self.expression(depth - 1), self.expression(depth - 1)
            return self.binary(self.pick("&&", "||"), a, b, "int")
        if form == 10:
            a, b = self.expression(depth - 1), self.expression(depth - 1)
            test = self.expression(depth - 1)
            return Expression(common(a.kind, b.kind), f"({test.text} ? {a.text} : {b.text})", f"({test.c} ? {a.c} : {b.c})")
        if form == 11:
            op = self.pick("-", "!", "~", "+")
            a = self.integer(depth - 1) if op == "~" else self.expression(depth - 1)
            return Expression("int" if op == "!" else promoted(a.kind), f"({op} {a.text})", f"({op} {a.c})")
        if form == 12 and self.functions:
            name, kind, parameters = self.random.choice(self.functions)
            given = [self.expression(depth - 1) for _ in parameters]
            made = [value.to(parameter) for value, parameter in zip(given, parameters)]
            return Expression(kind, f"{name}({', '.join(v.text for v in given)})", f"{name}({', '.join(v.c for v in made)})")
        return self.expression(depth - 1).cast(self.pick(*TYPES))

    # ---- statements: lists of (leaf, C) ----

    def assign(self, name, kind, value, op="="):
        """name op= value; C's text of a compound assignment is written out where a real number becomes an integer."""
        if op == "=" or not (kind in INTEGERS and value.kind in REALS):
            return f"{name} {op} {value.text};", f"{name} {op} {value.to(kind).c};"
        return f"{name} {op} {value.text};", f"{name} = {cut_name(kind)}({name} {op[:-1]} ({value.c}));"

    def effect(self):
        if self.array and self.chance(0.2):
            place, value, op = self.element(1), self.expression(1), self.pick("=", "=", "+=", "-=", "*=")
            if place.kind in INTEGERS and value.kind in REALS:
                op = "="  # the index is written once
            return [(f"{place.text} {op} {value.text};", f"{place.c} {op} {value.to(place.kind).c};")]
        name, kind = self.random.choice(self.targets)
        form = self.random.randrange(6)
        if form == 0:
            line = self.pick(f"{name}++;", f"++{name};", f"{name}--;", f"--{name};")
            return [(line, line)]
        if form == 1:
            return [self.assign(name, kind, self.expression(2))]
        if kind in REALS:
            op = self.pick("+=", "-=", "*=", "/=")
            return [self.assign(name, kind, self.expression(2), op)]
        if form == 2:
            return [self.assign(name, kind, self.divisor(1), self.pick("/=", "%="))]
        if form == 3:
            return [self.assign(name, kind, self.amount(1), self.pick("<<=", ">>="))]
        if form == 4:
            return [self.assign(name, kind, self.integer(2), self.pick("&=", "|=", "^="))]
        op = self.pick("+=", "-=", "*=")
        return [self.assign(name, kind, self.expression(2), op)]

    def block(self, depth, in_loop):
        scope, targets = list(self.scope), list(self.targets)
        lines = []
        for _ in range(self.random.randrange(1, 3)):
            lines += self.statement(depth, in_loop)
        self.scope, self.targets = scope, targets
        return [("{", "{"), *lines, ("}", "}")]

    def value_near(self, kind):
        """A number near 0 or a limit of a type."""
        bits, signed, _ = INTEGERS[kind]
        least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        return self.pick(0, 0, least, most, most) + self.random.randrange(-12, 13)

    def constant(self, value):
        """The literal of a number."""
        if value <= -(1 << 63) or value >= 1 << 64:
            value = 9
        literal = str(value) if value >= 0 else f"({value})"
        if value >= 1 << 63:
            return Expression("unsigned long", literal + "u")
        return Expression("int" if abs(value) < 1 << 31 else "long", literal)

    def near(self, kind):
        """A value near 0 or a limit of a type, or a variable."""
        if self.chance(0.7):
            return self.constant(self.value_near(kind))
        name, other = self.random.choice(self.scope)
        made = Expression(other, name)
        made = made if other in INTEGERS else made.cast("int")
        if self.chance(0.7):
            return Expression(promoted(made.kind), f"({made.text} & 15)", f"({made.c} & 15)")
        return made

    def loop(self, depth):
        """A for loop over a variable of any type, with any step, towards any bound."""
        kind, name = self.pick(*INTEGERS), self.fresh("i")
        step = self.pick(1, 1, 1, 2, 3, 7, 100)
        up = self.chance(0.5)
        if self.chance(0.8):
            # A few steps from one to the other, perhaps over the end of the type, where other types than the variable's may go on.
            first = self.value_near(kind)
            last = first + (1 if up else -1) * step * self.random.randrange(0, 9) + self.random.randrange(-3, 4)
            start, bound = self.constant(first), self.constant(last)
            if self.chance(0.5):
                start = start.cast(self.pick(*INTEGERS))
            if self.chance(0.3):
                name_of, other = self.random.choice(self.scope)
                if other in INTEGERS:
                    bound = Expression(common(bound.kind, other), f"({bound.text} + ({name_of} & 3))")
        else:
            start, bound = self.near(kind), self.near(self.pick(kind, kind, "int", *INTEGERS))
        steps = [f"{name} {'+=' if up else '-='} {step}", f"{name} = {name} {'+' if up else '-'} {step}"]
        if step == 1:
            steps += [f"{name}{'++' if up else '--'}", f"{'++' if up else '--'}{name}"] * 2
        test = self.pick(*(("<", "<=", "<", "!=") if up else (">", ">=", ">", "!="))) if self.chance(0.95) else self.pick(*COMPARISONS[:4])
        outer = list(self.scope), list(self.targets)
        declared = self.chance(0.7)
        head = [] if declared else [(f"{kind} {name};", f"{kind} {name};")]
        first = f"{kind} {name} = " if declared else f"{name} = "
        self.scope.append((name, kind))
        step = self.pick(*steps)
        text, c = (f"for ({first}{a}; {name} {test} {b}; {step})" for a, b in ((start.text, bound.text), (start.c, bound.c)))
        body = self.block(depth - 1, True)
        body = [("{", "{ if (++fuel > FUEL) longjmp(where, 200);"), *body[1:]]
        self.scope, self.targets = outer
        if not declared:
            self.scope.append((name, kind))
            if self.chance(0.3):
                self.targets.append((name, kind))
        return head + [(text, c)] + body

    def statement(self, depth, in_loop):
        form = self.random.randrange(12) if depth > 0 else self.random.randrange(6)
        if form < 3 or not self.targets:
            kind, name, value = self.pick(*TYPES), self.fresh("v"), self.expression(3)
            const = self.chance(0.35)
            self.scope.append((name, kind))
            if not const:
                self.targets.append((name, kind))
            return [(f"{'const ' if const else ''}{kind} {name} = {value.text};", f"{kind} {name} = {value.to(kind).c};")]
        if form < 6:
            return self.effect()
        if form == 6:
            test = self.expression(2)
            lines = [(f"if ({test.text})", f"if ({test.c})"), *self.block(depth - 1, in_loop)]
            if self.chance(0.5):
                lines += [("else", "else"), *self.block(depth - 1, in_loop)]
            return lines
        if form in (7, 8, 9):
            return self.loop(depth)
        if form == 10:
            kind, name = self.pick(*INTEGERS), self.fresh("n")
            start = self.near(self.pick(kind, "char")) if self.chance(0.3) else self.constant(self.random.randrange(-3, 13))
            declare = (f"{kind} {name} = {start.text};", f"{kind} {name} = {start.c};")
            body = self.block(depth - 1, True)
            body = [("{", "{ if (++fuel > FUEL) longjmp(where, 200);"), *body[1:]]
            test = self.pick(f"{name}-- > 0", f"--{name} > 0", f"{name}++ < 0", f"{name}--", f"{name} /= 2", f"(({name} >>= 1) & 31) != 0")
            if self.chance(0.5):
                return [declare, (f"while ({test})", f"while ({test})"), *body]
            return [declare, ("do", "do"), *body, (f"while ({test});", f"while ({test});")]
        if in_loop and self.chance(0.4):
            test = self.expression(1)
            word = self.pick("break", "continue")
            return [(f"if ({test.text}) {word};", f"if ({test.c}) {word};")]
        chosen = self.integer(1)
        lines = [(f"switch ({chosen.text}) {{", f"switch ({chosen.c}) {{")]
        labels = ["case 0:", "case 1: case 2:", "case -1:", "default:", "case 127:", "case 65535:"]
        labels = self.random.sample(labels, 3)
        falls = 0.4
        if self.chance(0.2):  # so many that they are looked for among others
            labels = list(dict.fromkeys(labels + [f"case {number}:" for number in self.random.sample(range(-9, 20), 12) if number not in (-1, 0, 1, 2)]))
            self.random.shuffle(labels)
            depth, falls = 1, self.pick(0, 0, 0.2)
        for label in labels:
            lines += [(label, label), *self.block(depth - 1, in_loop)]
            if not self.chance(falls):
                lines.append(("break;", "break;"))
        return lines + [("}", "}")]

    def function(self):
        kind, name = self.pick(*TYPES), self.fresh("g")
        parameters = [self.pick(*TYPES) for _ in range(self.random.randrange(1, 3))]
        names = [self.fresh("p") for _ in parameters]
        self.scope, self.targets = list(zip(names, parameters)), list(zip(names, parameters))
        lines = self.statement(1, False) if self.chance(0.7) else []
        if self.chance(0.4):
            test, value = self.expression(1), self.expression(1)
            lines += [(f"if ({test.text}) return {value.text};", f"if ({test.c}) return {value.to(kind).c};")]
        value = self.expression(2)
        lines += [(f"return {value.text};", f"return {value.to(kind).c};")]
        head = f"{kind} {name}({', '.join(f'{k} {n}' for k, n in zip(parameters, names))})"
        self.before += [(f"inline {head} {{", f"static {head} {{"), *lines, ("}", "}")]
        self.functions.append((name, kind, parameters))
