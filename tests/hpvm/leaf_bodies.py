"""Random bodies of leaves, in C as people write them: indices of all kinds, loops with bounds that are constants, arguments or data, choices,
early exits, pointers that walk, local arrays, arithmetic of all types. A body is a function of its arguments and of the instance's
indices; it reads inputs where it likes and writes elements of its own, so that all orders of the instances give the same."""

import idioms

INTEGERS = ["int", "int", "long", "unsigned", "short", "unsigned char", "unsigned long"]
FLOATS = ["float", "float", "float", "double"]


class Body:
    """A function `NAME(ARGUMENTS, long x, long y, long z, long nx, long ny, long nz)`."""

    def __init__(self, name, pick):
        self.name, self.pick = name, pick
        self.lines, self.indent, self.names, self.loops = [], 1, 0, 0
        # Arrays: (name, element type, how it is indexed); scalars: (name, type).
        self.out = [("o%d" % n, pick.choice(FLOATS + INTEGERS), pick.choice(["own", "own", "own", "double", "placed"]))
                    for n in range(pick.randrange(1, 3))]
        self.ins = [("a%d" % n, pick.choice(FLOATS + FLOATS + INTEGERS)) for n in range(pick.randrange(1, 4))]
        self.scalars = [("s%d" % n, pick.choice(["int", "int", "long", "float", "unsigned"])) for n in range(pick.randrange(0, 3))]
        self.readsOut = [pick.random() < 0.3 for _ in self.out]
        self.variables = []  # (name, type, may be assigned)
        self.helper = ""
        self.make()

    # ---- pieces ----

    def fresh(self, letter):
        self.names += 1
        return f"{letter}{self.names}"

    def line(self, text):
        self.lines.append("  " * self.indent + text)

    def wide(self):
        """Elements of an input along each dimension: three more than instances."""
        return "(nx + 3)", "(ny + 3)", "(nz + 3)"

    def known(self, types):
        return [name for name, type, _ in self.variables if type in types] + [name for name, type in self.scalars if type in types]

    def integer(self, depth=0):
        pick = self.pick
        kind = pick.random()
        names = self.known(set(INTEGERS))
        if depth > 2 or kind < 0.25:
            return pick.choice(names) if names and pick.random() < 0.7 else str(pick.choice([0, 1, 2, 3, 5, -1, 7, 100]))
        if kind < 0.4:
            return pick.choice(["(int)x", "x", "(int)y", "(unsigned)x", "z", "(int)(x + y)", "(int)nx", "ny"])
        a, b = self.integer(depth + 1), self.integer(depth + 1)
        if kind < 0.75:  # without overflow: as unsigned, or of small numbers
            operator = pick.choice(["+", "-", "*", "^", "&", "|"])
            return f"(int)((unsigned)({a}) {operator} (unsigned)({b}))" if pick.random() < 0.5 else f"((({a}) & 1023) {operator} (({b}) & 255))"
        if kind < 0.82:
            return f"((unsigned)({a}) {pick.choice(['<<', '>>'])} (({b}) & 15))"
        if kind < 0.87:
            return f"(({a}) {pick.choice(['/', '%'])} ((({b}) & 7) + 1))"
        if kind < 0.93:
            return f"({self.condition(depth + 1)} ? {a} : {b})"
        array = [name for name, type in self.ins if type in INTEGERS]
        if not array or pick.random() < 0.5:
            kinds, isReal = (idioms.KINDS, False) if pick.random() < 0.85 else (("f32", "f64"), True)
            a, b = (self.real(depth + 1), self.real(depth + 1)) if isReal else (a, b)
            return f"(int)({idioms.some(pick, kinds, a, b, self.integer(depth + 2), isReal=False)})"
        return f"{pick.choice(array)}[{self.place()}]"

    def real(self, depth=0):
        pick = self.pick
        kind = pick.random()
        names = self.known({"float", "double"})
        if depth > 3 or kind < 0.2:
            return pick.choice(names) if names and pick.random() < 0.8 else pick.choice(["1.0f", "0.5f", "2.0", "-3.25f", "0.1f"])
        if kind < 0.45:
            array = [name for name, type in self.ins if type in ("float", "double")]
            if array:
                return f"{pick.choice(array)}[{self.place()}]"
        a, b = self.real(depth + 1), self.real(depth + 1)
        if kind < 0.85:
            return f"({a} {pick.choice(['+', '-', '*', '+', '*', '/'])} {b})"
        if kind < 0.9:
            return f"(float)({self.integer(depth + 1)})"
        if kind < 0.95:
            return f"({self.condition(depth + 1)} ? {a} : {b})"
        if pick.random() < 0.6:
            return idioms.some(pick, ("f32", "f32", "f64"), a, b, self.integer(depth + 2), isReal=True)
        return pick.choice([f"sqrtf(fabsf({a}))", f"fabsf({a})", f"floorf({a})", f"sqrt({b})"])

    def condition(self, depth=0):
        pick = self.pick
        if pick.random() < 0.35:
            return pick.choice(["x < nx - 2", "(int)x + 1 < (int)nx", "y > 0", "x > 1 && y < ny - 1", "((x + y) & 1)", "x % 3 == 1", "z + 1 >= nz",
                                "(unsigned)x < 5u", "x != 0 || y == 0"])
        if pick.random() < 0.5:
            return f"{self.integer(depth + 1)} {pick.choice(['<', '>', '<=', '!=', '=='])} {self.integer(depth + 1)}"
        return f"{self.real(depth + 1)} {pick.choice(['<', '>', '<=', '>='])} {self.real(depth + 1)}"

    def place(self):
        """An index into an input, in range."""
        pick = self.pick
        wx, wy, wz = self.wide()
        dx, dy, dz = (pick.randrange(3) for _ in range(3))
        kind = pick.random()
        loops = [name for name, type, assigned in self.variables if not assigned]
        if kind < 0.35:
            return f"((z + {dz}) * {wy} + y + {dy}) * {wx} + x + {dx}"
        if kind < 0.45:
            return f"(((int)z + {dz}) * (int){wy} + (int)y + {dy}) * (int){wx} + (int)x + {dx}"
        if kind < 0.5:
            return f"((size_t)(z + {dz}) * {wy} + (y + {dy})) * {wx} + (size_t)x"
        if kind < 0.65 and loops:  # loops stay below 8
            return f"({pick.choice(loops)} + z) * {wx} + x" if pick.random() < 0.5 else f"(int)(x + {pick.choice(loops)})"
        if kind < 0.75:
            return f"(unsigned)({self.integer(2)}) % (unsigned)total"
        if kind < 0.9:
            return f"at[{pick.choice(['own', 'x', '(int)x', 'nx - 1 - x'])}]"
        return pick.choice(["0", "x", "(int)x", "own", "nx - 1 - x", "total - 1"])

    # ---- statements ----

    def block(self, depth):
        before = len(self.variables)
        self.indent += 1
        for _ in range(self.pick.randrange(1, 4)):
            self.statement(depth)
        self.indent -= 1
        del self.variables[before:]

    def declare(self):
        if self.pick.random() < 0.6:
            type = self.pick.choice(["float", "float", "double"])
            text, name = self.real(), self.fresh("f")
        else:
            type = self.pick.choice(["int", "long", "unsigned"])
            text, name = self.integer(), self.fresh("i")
        self.line(f"{type} {name} = {text};")
        self.variables.append((name, type, True))

    def assign(self):
        names = [(name, type) for name, type, assigned in self.variables if assigned]
        if not names:
            return self.declare()
        name, type = self.pick.choice(names)
        if type in ("float", "double"):
            self.line(f"{name} {self.pick.choice(['=', '+=', '+=', '*=', '-='])} {self.real()};")
        elif self.pick.random() < 0.7:
            self.line(f"{name} = ({type})((unsigned){name} {self.pick.choice(['+', '-', '^', '*'])} (unsigned)({self.integer()}));")
        else:
            self.line(f"{name} = {self.integer()};")

    def statement(self, depth):
        pick = self.pick
        kind = pick.random()
        if depth >= 3 or kind < 0.3:
            return self.assign()
        if kind < 0.45:
            return self.declare()
        if kind < 0.62:
            self.line(f"if ({self.condition()}) {{")
            self.block(depth + 1)
            if pick.random() < 0.5:
                self.line("} else {")
                self.block(depth + 1)
            return self.line("}")
        if kind < 0.82:
            return self.loop(depth)
        if kind < 0.87:
            self.line(f"switch ((int)({self.integer()}) & 3) {{")
            for case in range(pick.randrange(1, 4)):
                self.line(f"case {case}:")
                self.block(depth + 1)
                if pick.random() < 0.7:
                    self.line("  break;")
            self.line("default:;")
            return self.line("}")
        if kind < 0.92:
            return self.localArray(depth)
        if kind < 0.96:
            return self.walk()
        return self.assign()

    def loop(self, depth):
        pick = self.pick
        self.loops += 1
        if self.loops > 4:
            return self.assign()
        name, type = self.fresh("k"), pick.choice(["int", "int", "long", "unsigned"])
        count = pick.choice(["3", "5", "7", f"((int)({self.integer(2)}) & 7)", "(int)(x & 3)", f"(int)(at[{pick.choice(['own', '0'])}] & 7)", "limit"])
        form = pick.random()
        if form < 0.6:
            self.line(f"for ({type} {name} = 0; {name} < ({type})({count}); {pick.choice(['++' + name, name + '++', name + ' += 1'])}) {{")
        elif form < 0.75 and type != "unsigned":
            self.line(f"for ({type} {name} = ({type})({count}) - 1; {name} >= 0; --{name}) {{")
        elif form < 0.85:
            self.line(f"for ({type} {name} = 0; {name} < ({type})({count}); {name} += 2) {{")
        else:
            guard = self.fresh("g")
            self.line(f"int {guard} = 0;")
            self.line(f"while ({self.condition()}) {{")
            self.indent += 1
            self.line(f"if (++{guard} > 6) break;")
            self.indent -= 1
            self.block(depth + 1)
            return self.line("}")
        self.variables.append((name, type, False))
        before = len(self.lines)
        self.block(depth + 1)
        if pick.random() < 0.25:
            self.lines.insert(before, "  " * (self.indent + 1) + f"if ({self.condition()}) {pick.choice(['break', 'continue'])};")
        self.variables.pop()
        self.line("}")

    def localArray(self, depth):
        pick = self.pick
        name, size, k = self.fresh("t"), pick.choice([3, 4, 8, 9, 13]), self.fresh("k")
        self.line(f"float {name}[{size}];")
        if pick.random() < 0.3:  # by a counter
            count = self.fresh("n")
            self.line(f"int {count} = 0;")
            self.line(f"for (int {k} = {size}; {k} > 0; --{k}) {name}[{count}++] = {self.real(2)} * (float){k};")
        else:
            self.line(f"for (int {k} = 0; {k} < {size}; ++{k}) {name}[{k}] = {self.real(2)} + (float){k};")
        form, j = pick.random(), self.fresh("k")
        if form < 0.25:
            self.line(f"for (int {k} = 0; {k} < {pick.randint(1, size)}; ++{k})")
            self.line(f"  for (int {j} = {k} + 1; {j} < {size}; ++{j})")
            self.line(f"    if ({name}[{j}] < {name}[{k}]) {{ float swapped = {name}[{k}]; {name}[{k}] = {name}[{j}]; {name}[{j}] = swapped; }}")
        elif form < 0.4:
            self.line(f"if ({self.condition()}) for (int {k} = 1; {k} < {size}; {k} += {pick.randint(1, 3)}) {name}[{k}] -= {name}[{k} - 1];")
        elif form < 0.5:
            self.line(f"for (int {k} = 0; {k} < {size}; ++{k}) {{ if ({name}[{k}] > {self.real(3)}) {pick.choice(['break', 'continue'])}; {name}[{size - 1} - {k}] += 1; }}")
        value = self.fresh("f")
        index = f"(unsigned)({self.integer(2)}) % {size}u" if pick.random() < 0.4 else str(pick.randrange(size))
        self.line(f"float {value} = {name}[{index}] + {name}[{size - 1}];")
        self.variables.append((value, "float", True))

    def walk(self):
        arrays = [(name, type) for name, type in self.ins if type in ("float", "double")]
        if not arrays:
            return self.assign()
        array, type = self.pick.choice(arrays)
        pointer, end, value = self.fresh("p"), self.fresh("e"), self.fresh("f")
        self.line(f"{type} {value} = 0;")
        self.line(f"for (const {type} *{pointer} = {array} + x, *{end} = {pointer} + {self.pick.choice(['3', 'limit', '(x & 3)'])}; {pointer} != {end}; ++{pointer})")
        self.line(f"  {value} += *{pointer};")
        self.variables.append((value, type, True))

    def store(self, number):
        name, type, how = self.out[number]
        place = {"own": self.pick.choice(["own", "(z * ny + y) * nx + x", "((int)z * (int)ny + (int)y) * (int)nx + (int)x"]), "double": "2 * own + 1",
                 "placed": "at[own]"}[how]
        value = self.real() if type in ("float", "double") else self.integer()
        operator = self.pick.choice(["=", "+="]) if self.readsOut[number] and type in ("float", "double") else "="
        self.line(f"{name}[{place}] {operator} ({type})({value});")

    def make(self):
        pick = self.pick
        self.line("const long own = (z * ny + y) * nx + x, total = (nx + 3) * (ny + 3) * (nz + 3);")
        self.line("(void)own; (void)total;")
        for _ in range(pick.randrange(1, 6)):
            self.statement(0)
        if pick.random() < 0.3:
            self.line(f"if ({self.condition()}) return;")
        for number in range(len(self.out)):
            if pick.random() < 0.3:
                self.line(f"if ({self.condition()})")
                self.indent += 1
                self.store(number)
                self.indent -= 1
            else:
                self.store(number)

    # ---- text ----

    def parameters(self):
        """Of the body and of the node: each array with its size, then the scalars."""
        arrays = [(name, type) for name, type, _ in self.out] + self.ins + [("at", "int")]
        return arrays, self.scalars + [("limit", "int")]

    def text(self):
        arrays, scalars = self.parameters()
        given = ", ".join([f"{type} *{name}" for name, type in arrays] + [f"{type} {name}" for name, type in scalars])
        return f"{self.helper}static inline void {self.name}({given}, long x, long y, long z, long nx, long ny, long nz) {{\n" + "\n".join(self.lines) + "\n}\n"
