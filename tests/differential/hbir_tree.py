"""HBIR code as trees that can be written and executed: `text` is the program's, `eval` and `run` are what it means, said a second time
in Python. Ints are computed in 64 bits and stored in 32; floats are NumPy's, and a product in a sum is rounded with it."""

import math
from fractions import Fraction

import numpy as np

STEPS = 300_000
RANGES = {"int": np.int32, "float": np.float32, "bool": np.bool_}


class Undefined(Exception):
    """The program's meaning is left open, or it takes too long: it is no test."""


class Break(Exception):
    pass


class Finish(Exception):
    pass


def wrapped(value, bits):
    half = 1 << (bits - 1)
    return ((value + half) & (2 * half - 1)) - half


def rounded(value):
    """The float nearest to a fraction: through a double that is no tie where the fraction is none."""
    double = float(value)
    if np.float64(double).view(np.uint64) & np.uint64(0x1FFFFFFF) == np.uint64(0x10000000) and Fraction(double) != value:
        double = math.nextafter(double, math.inf if value > Fraction(double) else -math.inf)
    return np.float32(double)


def fused(a, b, c):
    if not all(math.isfinite(float(each)) for each in (a, b, c)):
        return np.float32(a) * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return np.float32(float(a) * float(b) + float(c))
    if abs(exact) < Fraction(2) ** -120:
        raise Undefined("a denormal sum")
    if abs(exact) >= Fraction(2) ** 127:
        raise Undefined("a large sum")
    return rounded(exact)


def convert(value, source, target):
    if source == target:
        return value
    if target == "bool":
        return bool(value != 0)
    if target == "int":
        if source == "bool":
            return int(value)
        if math.isnan(value):
            return 0
        return int(min(max(float(value), -2.0 ** 31), 2.0 ** 31 - 1))
    return np.float32(int(value)) if source == "bool" or abs(value) < 1 << 53 else rounded(Fraction(value))


def stored(value, source, target):
    value = convert(value, source, target)
    return wrapped(value, 32) if target == "int" else value


class Elements:
    """An array of the data segment: reading what nobody has written has no meaning."""

    def __init__(self, values, written):
        self.values, self.written = values, written

    def __getitem__(self, at):
        if not self.written[at]:
            raise Undefined("reads what nobody has written")
        return self.values[at]

    def __setitem__(self, at, value):
        self.values[at], self.written[at] = value, True


class Expression:
    """`type` is int, float or bool; `level` how tightly the text binds; `product` the factors of a float product, and its sign."""

    def __init__(self, type, text, level, meaning, product=None):
        self.type, self.text, self.level, self.eval, self.product, self.constant = type, text, level, meaning, product, False

    def within(self, level):
        return self.text if self.level >= level else f"({self.text})"

    def as_type(self, type):
        return self.eval if type == self.type else lambda env: convert(self.eval(env), self.type, type)


def literal(value):
    if isinstance(value, bool):
        return Expression("bool", "true" if value else "false", 13, lambda env: value)
    if isinstance(value, int):
        return constant(str(value), 13 if value >= 0 else 12, value)
    single = np.float32(float(value))
    text = repr(float(value))
    return Expression("float", text, 13 if text[0] != "-" else 12, lambda env: single)


def named(text, value):
    return constant(text, 13, value)


def constant(text, level, value):
    result = Expression("int", text, level, lambda env: value)
    result.constant = True
    return result


def variable(name, type):
    return Expression(type, name, 13, lambda env: env.variables[name])


def index_variable(text, key):
    return Expression("int", text, 13, lambda env: env.indices[key])


def element(name, type, indices):
    def meaning(env):
        value = env.array(name)[tuple(each.eval(env) for each in indices)]
        return value if type == "float" else int(value) if type == "int" else bool(value)
    return Expression(type, name + "".join(f"[{each.text}]" for each in indices), 13, meaning)


LEVELS = {"||": 2, "&&": 3, "|": 4, "^": 5, "&": 6, "==": 7, "!=": 7, "<": 8, "<=": 8, ">": 8, ">=": 8, "<<": 9, ">>": 9,
          "+": 10, "-": 10, "*": 11, "/": 11, "%": 11}


def quotient(a, b):
    result = abs(a) // abs(b)
    return result if (a < 0) == (b < 0) else -result


def whole(op, a, b):
    """What an operator makes of two ints of 64 bits."""
    if op in "/%" and b == 0 or op in ("<<", ">>") and not 0 <= b < 64 or op in "/%" and a == -1 << 63 and b == -1:
        raise Undefined(op)
    result = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: quotient(a, b), "%": lambda: a - b * quotient(a, b),
              "&": lambda: a & b, "|": lambda: a | b, "^": lambda: a ^ b, "<<": lambda: a << b, ">>": lambda: a >> b}[op]()
    return wrapped(result, 64)


def real(op, a, b):
    with np.errstate(all="ignore"):
        return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[op]()


COMPARISONS = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
               ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def arithmetic(op, left, right, product_left, product_right):
    """The meaning of a float operator; a product beside a sum is rounded with it, the left one first."""
    if op in "+-" and (product_left or product_right):
        def sum_of(env):
            a, b = left(env), right(env)
            sign, x, y = product_left or product_right
            x, y = x(env), y(env)
            negative = (sign < 0) != (op == "-" and not product_left)
            return fused(-x if negative else x, y, a if not product_left else b if op == "+" else -b)
        return sum_of
    return lambda env: real(op, left(env), right(env))


def binary(op, a, b):
    level = LEVELS[op]
    text = f"{a.within(level)} {op} {b.within(level + 1)}"
    if op in ("&&", "||"):
        left, right = a.as_type("bool"), b.as_type("bool")
        meaning = (lambda env: left(env) and right(env)) if op == "&&" else (lambda env: left(env) or right(env))
        return Expression("bool", text, level, meaning)
    kind = "float" if "float" in (a.type, b.type) else "int"
    if op in ("==", "!=") and a.type == b.type == "bool":
        kind = "bool"
    left, right = a.as_type(kind), b.as_type(kind)
    if op in COMPARISONS:
        compare = COMPARISONS[op]
        return Expression("bool", text, level, lambda env: bool(compare(left(env), right(env))))
    if kind == "int":
        return Expression("int", text, level, lambda env: whole(op, left(env), right(env)))
    factors = (1, left, right) if op == "*" else None
    return Expression("float", text, level, arithmetic(op, left, right, a.product, b.product), factors)


def unary(op, a):
    text = op + (f"({a.text})" if a.text.startswith(op) else a.within(12))
    if op == "!":
        given = a.as_type("bool")
        return Expression("bool", text, 12, lambda env: not given(env))
    kind = "int" if a.type == "bool" else a.type
    given = a.as_type(kind)
    if op == "~":
        return Expression("int", text, 12, lambda env: ~given(env))
    if kind == "float":
        product = (-1, *a.product[1:]) if a.product and a.product[0] == 1 else None
        return Expression("float", text, 12, lambda env: -given(env), product)
    return Expression("int", text, 12, lambda env: wrapped(-given(env), 64))


def conditional(which, a, b):
    kind = a.type if a.type == b.type else "float" if "float" in (a.type, b.type) else "int"
    test, yes, no = which.as_type("bool"), a.as_type(kind), b.as_type(kind)
    return Expression(kind, f"{which.within(2)} ? {a.within(1)} : {b.within(1)}", 1, lambda env: yes(env) if test(env) else no(env))


def extreme(name, a, b, is_float):
    if is_float and a == 0 and b == 0 and math.copysign(1, a) != math.copysign(1, b):
        raise Undefined("an extreme of two zeros")
    if is_float and (math.isnan(a) or math.isnan(b)):
        return b if math.isnan(a) else a
    return min(a, b) if name == "min" else max(a, b)


def call(name, *operands):
    kind = "float" if name not in ("abs", "min", "max") or any(each.type == "float" for each in operands) else "int"
    given = [each.as_type(kind) for each in operands]

    def meaning(env):
        values = [each(env) for each in given]
        with np.errstate(all="ignore"):
            if name in ("min", "max"):
                return extreme(name, *values, kind == "float")
            if name in ("abs", "fabs"):
                return np.abs(values[0]) if kind == "float" else wrapped(abs(values[0]), 64)
            return np.sqrt(values[0]) if name == "sqrt" else np.floor(values[0])
    return Expression(kind, f"{name}({', '.join(each.text for each in operands)})", 13, meaning)


# ---- statements ----

class Statement:
    """`lists` are the bodies that statements can be taken out of."""
    lists = ()

    def run(self, env):
        raise NotImplementedError

    def render(self, indent):
        raise NotImplementedError


class Simple(Statement):
    def __init__(self, text, meaning):
        self.text, self.meaning = text, meaning

    def run(self, env):
        self.meaning(env)

    def render(self, indent):
        yield f"{indent}{self.text};"


class Barrier(Statement):
    """Waiting for all tiles; the evaluator stops there and goes on when all have come."""

    def __init__(self, lines):
        self.lines = lines

    def render(self, indent):
        yield from (indent + line for line in self.lines)


def execute(statements, env):
    for each in statements:
        env.step()
        each.run(env)


def braces(body, indent):
    for each in body:
        yield from each.render(indent + "  ")
    yield indent + "}"


class If(Statement):
    def __init__(self, condition, yes, no):
        self.condition, self.yes, self.no = condition, yes, no
        self.lists = (yes,) if no is None else (yes, no)
        self.test = condition.as_type("bool")

    def run(self, env):
        if self.test(env):
            execute(self.yes, env)
        elif self.no is not None:
            execute(self.no, env)

    def render(self, indent):
        yield f"{indent}if ({self.condition.text}) {{"
        if self.no is None:
            yield from braces(self.yes, indent)
            return
        yield from list(braces(self.yes, indent))[:-1]
        if len(self.no) == 1 and isinstance(self.no[0], If):
            chained = list(self.no[0].render(indent))
            yield f"{indent}}} else {chained[0].strip()}"
            yield from chained[1:]
        else:
            yield indent + "} else {"
            yield from braces(self.no, indent)


class Loop(Statement):
    """while, or for where there is a first or a next statement (which take the place of nothing when they are None)."""

    def __init__(self, first, condition, next, body, is_for):
        self.first, self.condition, self.next, self.body, self.is_for = first, condition, next, body, is_for
        self.lists = (body,)
        self.test = condition.as_type("bool")

    def run(self, env):
        if self.first:
            self.first.run(env)
        try:
            while self.test(env):
                env.step()
                execute(self.body, env)
                if self.next:
                    self.next.run(env)
        except Break:
            pass

    def render(self, indent):
        if self.is_for:
            first, next = self.first.text if self.first else "", self.next.text if self.next else ""
            yield f"{indent}for ({first}; {self.condition.text}; {next}) {{"
        else:
            yield f"{indent}while ({self.condition.text}) {{"
        yield from braces(self.body, indent)


class Range(Statement):
    def __init__(self, name, lower, upper, body):
        self.name, self.lower, self.upper, self.body = name, lower, upper, body
        self.lists = (body,)

    def run(self, env):
        try:
            for value in range(self.lower.eval(env), self.upper.eval(env)):
                env.step()
                env.variables[self.name] = wrapped(value, 32)
                execute(self.body, env)
        except Break:
            pass

    def render(self, indent):
        yield f"{indent}for {self.name} in [{self.lower.text} : {self.upper.text}] {{"
        yield from braces(self.body, indent)


class Compound(Statement):
    def __init__(self, body):
        self.body, self.lists = body, (body,)

    def run(self, env):
        execute(self.body, env)

    def render(self, indent):
        yield indent + "{"
        yield from braces(self.body, indent)


def jump(text, kind):
    def meaning(env):
        raise kind()
    return Simple(text, meaning)


def declare(type, name, extents, value):
    def meaning(env):
        if extents:
            env.variables[name] = np.zeros(extents, RANGES[type])
        else:
            zero = {"int": 0, "float": np.float32(0), "bool": False}[type]
            env.variables[name] = zero if value is None else stored(value.eval(env), value.type, type)
    text = f"{type} {name}" + "".join(f"[{extent}]" for extent in extents) + (f" = {value.text}" if value else "")
    return Simple(text, meaning)


def assign(name, type, indices, op, value):
    """name[indices] op= value; `op` None assigns the value, "++" adds one."""
    def meaning(env):
        at = tuple(each.eval(env) for each in indices)
        if indices:
            store = env.array(name)
        before = element(name, type, indices) if indices else variable(name, type)
        result = value if op is None else binary("+" if op == "++" else op, before, value)
        new = stored(result.eval(env), result.type, type)
        if indices:
            store[at] = new
        else:
            env.variables[name] = new
    target = name + "".join(f"[{each.text}]" for each in indices)
    return Simple(target + ("++" if op == "++" else f" {op or ''}= {value.text}"), meaning)


def printf(pieces):
    """Pieces are text, or a conversion and the value that it prints."""
    def meaning(env):
        text = ""
        for piece in pieces:
            if isinstance(piece, str):
                text += piece
                continue
            conversion, value = piece
            number = value.eval(env)
            if value.type == "float":
                if not math.isfinite(number):
                    raise Undefined("prints what is no number")
                text += conversion % float(number)
            else:
                number = int(number) if value.type == "bool" else wrapped(int(number), 32)
                text += (conversion.replace("u", "d") % (number & 0xFFFFFFFF)) if conversion[-1] in "ux" else conversion % number
        env.printed.append(text)
    form = "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces).replace("\n", "\\n")
    arguments = "".join(", " + piece[1].text for piece in pieces if not isinstance(piece, str))
    return Simple(f'printf("{form}"{arguments})', meaning)
