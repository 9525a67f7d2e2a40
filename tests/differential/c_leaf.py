"""Random leaf tasks against Clang: a leaf's body is C, so the same text compiled as a C function has to give the same bytes. The programs
use what C defines only: signed sums are made of narrower numbers, shifts and divisors are kept in range, and real numbers
are cut before they become integers. Every operator, compound assignment, conversion and statement of the language occurs.

    /usr/bin/python3 tests/differential/c_leaf.py --strata build/bin/strata --seconds 60"""

import argparse
import ctypes
import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import need_numpy
import numpy as np

INTEGERS = {"char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2", "int": "i4", "unsigned int": "u4",
            "long": "i8", "unsigned long": "u8", "long long": "i8", "unsigned long long": "u8"}
REALS = {"float": "f4", "double": "f8"}
TYPES = INTEGERS | REALS
LENGTH = 24


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def fresh(self, stem="v"):
        self.names += 1
        return f"{stem}{self.names}"

    def literal(self, kind):
        if kind in REALS:
            return self.pick("0.5", "1.25f", "-3.", ".75", "1e3", "2.5e-1f", "0x1p-2")
        return self.pick("0", "1", "7", "-3", "0x1F", "017", "100u", "5L", "9uLL", "'a'", "'\\n'", "'\\x7f'", "sizeof(int)", "first", "third")

    def atom(self, kind, scope):
        """Something of any number type; the caller converts it."""
        variables = [name for name, other in scope if (other in REALS) <= (kind in REALS)]
        if variables and self.random.random() < 0.75:
            return self.random.choice(variables)
        return self.literal(kind if kind in REALS else "int")

    def narrow(self, kind, scope, depth):
        """A signed integer far from the limits of int."""
        return f"({self.pick('short', 'signed char', 'char')})({self.integer(scope, depth)})"

    def integer(self, scope, depth):
        if depth <= 0:
            return self.atom("int", scope)
        form = self.random.randrange(14)
        a, b = self.integer(scope, depth - 1), self.integer(scope, depth - 1)
        if form == 0:
            return f"({self.narrow('int', scope, depth - 1)} {self.pick('+', '-', '*')} {self.narrow('int', scope, depth - 1)})"
        if form == 1:
            return f"((unsigned long)({a}) {self.pick('+', '-', '*')} ({b}))"
        if form == 2:
            return f"(({self.pick('unsigned', 'unsigned long')})({a}) {self.pick('/', '%')} ((({b}) & 7) + 1u))"
        if form == 3:
            return f"({self.narrow('int', scope, depth - 1)} {self.pick('/', '%')} ((int)(({b}) & 7) + 1))"
        if form == 4:
            return f"(({self.pick('unsigned', 'unsigned long')})({a}) {self.pick('<<', '>>')} (({b}) & 15))"
        if form == 5:
            return f"(({self.pick('int', 'long')})({a}) >> (({b}) & 15))"
        if form == 6:
            return f"(({a}) {self.pick('&', '|', '^')} ({b}))"
        if form == 7:
            return f"(({a}) {self.pick('<', '>', '<=', '>=', '==', '!=')} ({b}))"
        if form == 8:
            return f"(({a}) {self.pick('&&', '||')} ({b}))"
        if form == 9:
            return f"({self.pick('~', '!')}({a}))"
        if form == 10:
            return f"(({a}) ? ({b}) : ({self.integer(scope, depth - 1)}))"
        if form == 11:
            return f"({self.real(scope, depth - 1)} {self.pick('<', '>', '<=', '>=')} {self.real(scope, depth - 1)})"
        if form == 12:
            return f"(int)cut({self.real(scope, depth - 1)})"
        return f"{self.pick('twice', 'pick')}((int)({a}))"

    def real(self, scope, depth):
        if depth <= 0:
            return self.pick(self.atom("double", scope), f"({self.pick('float', 'double')})({self.atom('int', scope)})")
        form = self.random.randrange(6)
        a, b = self.real(scope, depth - 1), self.real(scope, depth - 1)
        if form < 3:
            return f"({a} {self.pick('+', '-', '*')} {b})"
        if form == 3:
            return f"({a} / ({b} * {b} + 1))"
        if form == 4:
            return f"(- {a})"
        return f"({self.integer(scope, 1)} ? {a} : {b})"

    def value(self, kind, scope, depth=2):
        if kind in REALS:
            return self.real(scope, depth)
        return f"({kind})({self.integer(scope, depth)})"

    def assignment(self, scope, targets):
        name, kind = self.random.choice(targets)
        if kind in REALS:
            return self.pick(f"{name} {self.pick('=', '+=', '-=', '*=')} {self.real(scope, 2)};", f"{name} /= 3;", f"{name}++;", f"--{name};")
        if kind in ("int", "long", "long long"):  # their sums could overflow
            return self.pick(f"{name} = {self.value(kind, scope)};", f"{name} {self.pick('&=', '|=', '^=')} ({kind})({self.integer(scope, 2)});",
                             f"{name} {self.pick('/=', '%=')} {self.pick('3', '7L', '5')};", f"{name} >>= {self.integer(scope, 1)} & 7;")
        operand = f"({self.integer(scope, 2)})"
        if kind in ("unsigned int", "unsigned long", "unsigned long long"):
            return self.pick(f"{name} {self.pick('=', '+=', '-=', '*=', '&=', '|=', '^=')} {operand};", f"{name} {self.pick('<<=', '>>=')} {operand} & 7;",
                             f"{name} {self.pick('/=', '%=')} ({operand} & 7) + 1u;", f"{name}--;", f"++{name};")
        return self.pick(f"{name} {self.pick('+=', '-=', '*=')} (signed char){operand};", f"{name} {self.pick('&=', '|=', '^=', '=')} {operand};",
                         f"{name} /= 2.5f;", f"{name}++;", f"--{name};", f"{name} >>= {operand} & 3;")

    def block(self, scope, targets, depth, in_loop):
        """Statements between braces."""
        scope, targets = list(scope), list(targets)
        lines = []
        for _ in range(self.random.randrange(1, 5)):
            lines += self.statement(scope, targets, depth, in_loop)
        return ["{"] + ["  " + line for line in lines] + ["}"]

    def statement(self, scope, targets, depth, in_loop):
        form = self.random.randrange(13) if depth else self.random.randrange(4)
        if form < 2 or not targets:
            kind, name = self.random.choice(list(TYPES)), self.fresh()
            line = f"{self.pick('', '', 'const ')}{kind} {name} = {self.value(kind, scope)};"
            scope.append((name, kind))
            if not line.startswith("const"):
                targets.append((name, kind))
            return [line]
        if form < 5:
            return [self.assignment(scope, targets)]
        if form == 5:
            other = ["else"] + self.block(scope, targets, depth - 1, in_loop) if self.random.random() < 0.5 else []
            return [f"if ({self.integer(scope, 2)})"] + self.block(scope, targets, depth - 1, in_loop) + other
        if form == 6:
            name = self.fresh("i")
            step = self.pick(f"{name}++", f"{name} += 2")
            return [f"for ({self.pick('int', 'long', 'unsigned', 'short')} {name} = 0; {name} < {self.random.randrange(1, 6)}; {step})"] + \
                self.block(scope + [(name, "int")], targets, depth - 1, True)
        if form == 7:
            name = self.fresh("n")
            body = self.block(scope, targets, depth - 1, True)
            head = [f"int {name} = {self.random.randrange(1, 5)};"]
            if self.random.random() < 0.5:
                return head + [f"while ({name}-- > 0)"] + body
            return head + ["do"] + body + [f"while (--{name} > 0);"]
        if form == 8 and in_loop:
            return [f"if ({self.integer(scope, 1)}) {self.pick('break', 'continue')};"]
        if form < 11:
            lines = [f"switch (({self.integer(scope, 1)}) & 7) {{"]
            labels = self.random.sample(["case 0:", "case 1: case 2:", "case third:", "default:", "case 7:"], 3)
            for label in labels:
                lines += [label] + ["  " + line for line in self.block(scope, targets, depth - 1, in_loop)]
                if self.random.random() < 0.6:
                    lines.append("  break;")
            return lines + ["}"]
        name = self.fresh("r")
        position = f"({self.integer(scope, 1)}) & 3"
        lines = [f"struct mixed {name} = {{{self.literal('int')}, {{1, 2}}}}, {name}c;",
                 f"{name}.word.f = {self.real(scope, 1)};" if self.random.random() < 0.5 else f"{name}.word.b[{position}] = {self.integer(scope, 1)};",
                 f"{name}.s[{position}] = {self.integer(scope, 1)};", f"{name}.d = {self.real(scope, 1)};", f"{name}c = {name};",
                 f"{name}c.word.b[{position}] ^= {self.integer(scope, 1)};", f"{name}c.s[{position}] += (signed char)({self.integer(scope, 1)});"]
        scope += [(f"{name}.word.u", "unsigned int"), (f"{name}c.word.h.low", "short"), (f"{name}c.s[2]", "short"), (f"{name}.d", "double"),
                  (f"{name}c.word.b[1]", "unsigned char")]
        return lines

    def program(self):
        """(declarations, arguments, body)"""
        before = """enum { first = 1, second, third = 3 };
union word { float f; unsigned u; unsigned char b[4]; struct { short low, high; } h; };
struct mixed { char c; short s[4]; union word word; double d; };
inline double cut(double a) { if (a != a) return 0; return a > 1000 ? 1000 : a < -1000 ? -1000 : a; }
inline int twice(int a) { return (short)a + (short)a; }
inline int pick(int a) { switch (a & 3) { case 0: return 5; case 1: return twice(a); default: a = 2; } for (int i = 0; i < 4; i++) if (i == a) return i - 9; return a; }
"""
        arguments = [("in", self.random.choice(list(TYPES)), f"a{i}") for i in range(3)]
        arguments += [("inout", self.random.choice(list(TYPES)), f"b{i}") for i in range(3)] + [("inout", "struct mixed", "m")]
        scope = [(f"{name}[i]", kind) for _, kind, name in arguments[:-1]] + [("m[i].word.u", "unsigned int"), ("m[i].s[1]", "short"), ("m[i].d", "double")]
        targets = [(f"{name}[i]", kind) for direction, kind, name in arguments[:-1] if direction == "inout"] + [("m[i].word.h.high", "short"), ("m[i].d", "double")]
        body = ["for (long i = 0; i < N; i++) {"]
        for _ in range(self.random.randrange(3, 8)):
            body += ["  " + line for line in self.statement(scope, targets, 3, True)]
        return before, arguments, body + ["}"]


MIXED = np.dtype({"names": ["c", "s", "word", "d"], "formats": ["i1", ("<i2", (4,)), [("bits", "<u4")], "<f8"], "offsets": [0, 2, 12, 16], "itemsize": 24})


def same(ours, theirs):
    """Equal bytes, -0.0 and 0.0 apart, but for which NaN it is: C leaves that open."""
    if ours.dtype.names:
        return all(same(ours[name], theirs[name]) for name in ours.dtype.names)
    if ours.dtype.kind == "f":
        bits = f"u{ours.dtype.itemsize}"
        return bool(np.all((np.ascontiguousarray(ours).view(bits) == np.ascontiguousarray(theirs).view(bits)) | (np.isnan(ours) & np.isnan(theirs))))
    return ours.tobytes() == theirs.tobytes()


def attempt(strata, folder, seed):
    """None when both agree, "late" when C itself does not end, else what differs."""
    before, arguments, body = Writer(seed).program()
    signature = ", ".join(f"{direction} {kind} {name}[N]" for direction, kind, name in arguments)
    text = f"{before}void task T({signature});\nvoid task<leaf> T::L({signature})\n{{\n" + "".join(f"  {line}\n" for line in body) + "}\n"
    with open(os.path.join(folder, "p.sq"), "w") as file:
        file.write(text)
    parameters = ", ".join(f"{'const ' if direction == 'in' else ''}{kind} *restrict {name}" for direction, kind, name in arguments)
    with open(os.path.join(folder, "p.c"), "w") as file:
        file.write(before.replace("inline", "static inline") + f"void T(long N, {parameters})\n{{\n" + "".join(f"  {line}\n" for line in body) + "}\n")
    compiled = subprocess.run(["clang-19", "-w", "-O1", "-march=native", "-ffp-contract=on", "-fsigned-char", "-shared", "-fPIC", "-o", "p.so", "p.c"],
                              cwd=folder, capture_output=True, text=True)
    if compiled.returncode:
        return f"is no C:\n{compiled.stderr[:2000]}"
    numbers = np.random.default_rng(seed)
    given, command = {}, [strata, "run", "p.sq"]
    for direction, kind, name in arguments:
        if kind == "struct mixed":
            array = np.zeros(LENGTH, MIXED)
            array["s"] = numbers.integers(-99, 99, (LENGTH, 4))
            array["word"]["bits"] = numbers.integers(0, 1 << 31, LENGTH)
            array["d"] = numbers.integers(-9, 9, LENGTH)
        elif kind in REALS:
            array = (numbers.integers(-40, 40, LENGTH) / 8).astype(REALS[kind])
        else:
            limits = np.iinfo(INTEGERS[kind])
            array = numbers.integers(limits.min, limits.max, LENGTH, dtype=INTEGERS[kind], endpoint=True)
        given[name] = array
        np.save(os.path.join(folder, name + ".npy"), array)
        command += ["--in", f"{name}={name}.npy"] + (["--out", f"{name}={name}.out.npy"] if direction == "inout" else [])
    # In a process of its own: a program may find an error of Clang's, too.
    wanted = {name: array.copy() for name, array in given.items()}
    ctypes.CDLL(os.path.join(folder, "p.so")).T(ctypes.c_long(LENGTH), *(wanted[name].ctypes.data_as(ctypes.c_void_p) for _, _, name in arguments))
    def differing(words):
        """What a run of strata does other than C."""
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
        if done.returncode:
            return done.stderr, f"ends with status {done.returncode}:\n{done.stderr[:2000]}"
        for direction, kind, name in arguments:
            if direction == "inout":
                ours = np.load(os.path.join(folder, name + ".out.npy"))
                if not same(ours, wanted[name]):
                    return done.stderr, f"'{name}' differs:\n{ours}\nand Clang's:\n{wanted[name]}"
        return done.stderr, None

    said, problem = differing([*command, "--check"])
    if "check-signed-overflow" not in said:
        return problem
    # The sum is the program's own error there, and its values are C's all the same, where both run without the check.
    for words in (command, [*command, "--interpret"]):
        _, problem = differing(words)
        if problem:
            return f"{words[-1]}: {problem}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=10**9, help="so many programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder for programs that differ")
    options = parser.parse_args()
    strata = os.path.abspath(options.strata)
    end, programs, failures = time.monotonic() + options.seconds, 0, 0
    while time.monotonic() < end and programs < options.count and failures < 5:
        seed = options.seed + programs
        with tempfile.TemporaryDirectory() as folder:
            problem = attempt(strata, folder, seed)
            if problem:
                failures += 1
                print(f"seed {seed} {problem}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    subprocess.run(["cp", "-r", folder, os.path.join(options.keep, str(seed))], check=True)
        programs += 1
    print(f"{programs} programs, {failures} failed")
    sys.exit(1 if failures or not programs else 0)


if __name__ == "__main__":
    main()
