"""Random loop programs of every number type: recurrences in one to six dimensions with distances in any direction, guards with remainders, bounds and alternatives,
values used far from where they are defined, also in the opposite direction, variables of fewer dimensions, reductions. What an evaluator in Python says (each instance on demand, by the equation that its
guards choose), the host (in parts of a few iterations each) and the interpreter have to say, to the last bit; one machine more at random.

  pla.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  pla.py --strata build/bin/strata --seed 17 --count 1    one of them
  pla.py … --keep FOLDER                                  where programs that fail are written"""

import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy as np

ITERATORS = ("i", "j", "k", "l", "m", "n")
MACHINES = ("cell", "cell-disk", "smp-2level", "cluster")


class Integers:
    """Arithmetic of C's integers that wraps around: narrow ones are computed as int and cut where they are assigned."""

    def __init__(self, name):
        self.name, self.dtype = name, np.dtype(name)
        self.bits = 8 * self.dtype.itemsize
        self.is_signed = self.dtype.kind == "i"

    @staticmethod
    def cut(value, bits, is_signed):
        value %= 1 << bits
        return value - (1 << bits) if is_signed and value >> (bits - 1) else value

    def assigned(self, value):
        return self.cut(value, self.bits, self.is_signed)

    def computed(self, value):
        return self.cut(value, self.bits, self.is_signed) if self.bits >= 32 else self.cut(value, 32, True)

    def number(self, pick):
        return pick.randint(-9, 9) if self.is_signed else pick.randint(0, 9)

    def data(self, pick, count):
        return [pick.randint(-50 if self.is_signed else 0, 50) for _ in range(count)]

    def apply(self, op, a, b):
        return self.computed({"+": a + b, "-": a - b, "*": a * b}[op])

    def literal(self, value):
        return value


class Floats:
    """Each operation rounded by itself. Products would soon be infinite, and what comes of that need not be a number."""

    def __init__(self, name):
        self.name, self.dtype = name, np.dtype({"float": "f4", "double": "f8"}[name])
        self.half = {"float": "0.5f", "double": "0.5"}[name]

    def assigned(self, value):
        return self.dtype.type(value)

    def number(self, pick):
        return pick.randint(-9, 9)

    def data(self, pick, count):
        return [pick.randint(-400, 400) / 7 for _ in range(count)]

    def apply(self, op, a, b):
        a, b = self.dtype.type(a), self.dtype.type(b)
        return a + b if op == "+" else a - b if op == "-" else self.dtype.type(a * self.dtype.type(0.5)) - b

    def literal(self, value):
        return self.dtype.type(value)


KINDS = [Integers("int32")] * 4 + [Integers(name) for name in ("int8", "int16", "int64", "uint8", "uint16", "uint32", "uint64")] + [Floats("float"), Floats("double")]


class Program:
    """Variables v0, v1, … over the whole box, each by two or three equations whose guards exclude each other."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        pick = self.pick
        self.rank = pick.choice((1, 1, 1, *(2,) * 12, *(3,) * 4, 4, 5, 6))
        self.kind = pick.choice(KINDS)
        self.names = ITERATORS[:self.rank]
        self.extents = [pick.randint(1, 7 if self.rank < 3 else 4 if self.rank < 4 else 2) for _ in self.names]
        self.parameters = [f"N{number}" for number in range(self.rank)]
        self.inputs = [self.input(number) for number in range(pick.randint(1, 3))]
        # One direction of time, along which all distances go.
        self.time = [pick.choice((-2, -1, 1, 2, 3)) for _ in self.names]
        self.variables = []
        count = pick.randint(1, 4 if self.rank < 4 else 2 if self.rank < 6 else 1)
        for number in range(count):
            is_flat = number < count - 1 and pick.random() < 0.35
            self.variables.append(self.flat(number) if is_flat else self.variable(number))
        self.reduced = pick.randrange(self.rank) if pick.random() < 0.4 else None
        self.values = {}

    def input(self, number):
        """Axes that it is indexed by, in any order."""
        axes = self.pick.sample(range(self.rank), self.pick.randint(1, self.rank))
        shape = [self.extents[axis] for axis in axes]
        data = np.array(self.kind.data(self.pick, int(np.prod(shape))), self.kind.dtype).reshape(shape)
        return {"name": f"x{number}", "axes": axes, "data": data}

    def distance(self):
        """Forward in time."""
        while True:
            found = [self.pick.choice((-2, -1, -1, 0, 0, 0, 1, 1, 2)) for _ in self.names]
            if sum(step * unit for step, unit in zip(found, self.time)) > 0:
                return found

    def condition(self):
        """Text, and what it says of a point."""
        pick, axis = self.pick, self.pick.randrange(self.rank)
        name = self.names[axis]
        kind = pick.randrange(6)
        if kind >= 4:  # a bound and a remainder, perhaps of different iterators, joined either way and perhaps the opposite of that
            bound, modulus = pick.randint(0, 5), pick.randint(2, 4)
            rest, other, joint = pick.randrange(modulus), pick.randrange(self.rank), pick.choice(("and", "or"))
            ahead, opposite = pick.random() < 0.5, pick.random() < 0.5
            text = f"{name} {'>=' if ahead else '<'} {bound} {joint} {self.names[other]} mod {modulus} == {rest}"

            def holds(at):
                bounded, divided = (at[axis] >= bound) == ahead, at[other] % modulus == rest
                return (bounded and divided if joint == "and" else bounded or divided) != opposite
            return f"not ({text})" if opposite else text, holds
        if kind == 0:
            modulus, rest = pick.choice(((2, 0), (2, 1), (3, 1), (3, 2)))
            equal = pick.random() < 0.5
            return f"{name} mod {modulus} {'==' if equal else '!='} {rest}", lambda at: (at[axis] % modulus == rest) == equal
        if kind == 1:
            bound = pick.randint(0, 4)
            return f"{name} < {bound} or {name} > {bound + 1}", lambda at: at[axis] < bound or at[axis] > bound + 1
        if kind == 2 and self.rank > 1:
            other = pick.choice([each for each in range(self.rank) if each != axis])
            shift = pick.randint(-1, 2)
            return f"{name} <= {self.names[other]} + {shift}", lambda at: at[axis] <= at[other] + shift
        bound = pick.randint(0, 4)
        return f"{name} != {bound}", lambda at: at[axis] != bound

    def term(self, distances, variables):
        """One factor of an expression: text, and its value at a point."""
        pick = self.pick
        what = pick.random()
        if what < 0.45 and distances:
            step = pick.choice(distances)
            index = ", ".join(f"{name} {'-' if d >= 0 else '+'} {abs(d)}" for name, d in zip(self.names, step))
            return f"{self.current}[{index}]", lambda at, own=self.current: self.value(own, tuple(a - d for a, d in zip(at, step)))
        if what < 0.65 and variables:
            other = pick.choice(variables)
            places = ["here"] * self.rank
            if pick.random() < 0.35:  # far away: the first along some axes, or from the other end
                places = pick.choices(("first", "here", "opposite"), (2, 3, 1), k=self.rank)
            index = [{"first": "0", "here": name, "opposite": f"{parameter} - 1 - {name}"}[place]
                     for name, parameter, place in zip(self.names, self.parameters, places)]

            def there(at):
                return tuple({"first": 0, "here": a, "opposite": extent - 1 - a}[place] for a, extent, place in zip(at, self.extents, places))
            return other["name"] + self.index(other, index), lambda at: self.value(other["name"], there(at))
        if what < 0.9:
            given = pick.choice(self.inputs)
            index = ", ".join(self.names[axis] for axis in given["axes"])
            return f"{given['name']}[{index}]", lambda at: self.item(given["data"][tuple(at[axis] for axis in given["axes"])])
        number = self.kind.number(pick)
        return f"({number})", lambda at: self.kind.literal(number)

    def item(self, value):
        return int(value) if isinstance(self.kind, Integers) else value

    def expression(self, distances, variables):
        text, value = self.term(distances, variables)
        for _ in range(self.pick.randint(0, 2)):
            more, next_value = self.term(distances, variables)
            op = self.pick.choice(("+", "-", "*", "max", "min", "?"))
            old = value
            if op in "+-*":
                text = f"({text} * {self.kind.half} - {more})" if op == "*" and isinstance(self.kind, Floats) else f"({text} {op} {more})"
                value = lambda at, a=old, b=next_value, op=op: self.kind.apply(op, a(at), b(at))
            elif op == "?":
                text = f"({text} > {more} ? {text} : 7)"
                value = lambda at, a=old, b=next_value: a(at) if a(at) > b(at) else self.kind.literal(7)
            else:
                text = f"{op}({text}, {more})"
                value = lambda at, a=old, b=next_value, op=max if op == "max" else min: op(a(at), b(at))
        return text, value

    def index(self, variable, of):
        """Its own axes of a full index, as text."""
        own = [of[axis] for axis in variable["axes"]]
        return f"[{', '.join(own)}]" if own else ""

    def flat(self, number):
        """A variable of some axes alone, defined at one end of the others."""
        self.current = f"v{number}"
        axes = sorted(self.pick.sample(range(self.rank), self.pick.randrange(self.rank)))
        ends = {axis: self.pick.random() < 0.5 for axis in range(self.rank) if axis not in axes}
        home = {axis: self.extents[axis] - 1 if is_last else 0 for axis, is_last in ends.items()}
        guard = " and ".join(f"{self.names[axis]} == {self.parameters[axis] + ' - 1' if is_last else '0'}" for axis, is_last in ends.items())
        text, value = self.expression([], list(self.variables))
        return {"name": self.current, "axes": axes, "home": home, "equations": [(guard, lambda at: True, text, value)]}

    def variable(self, number):
        self.current = f"v{number}"
        distances = [self.distance() for _ in range(self.pick.randint(0, 2))]
        before = list(self.variables)
        inside, tests = [], []
        for axis, name in enumerate(self.names):
            low = max([0] + [d[axis] for d in distances])
            high = max([0] + [-d[axis] for d in distances])
            inside.append(f"{name} >= {low} and {name} < {self.parameters[axis]} - {high}")
            tests.append(lambda at, axis=axis, low=low, high=high: low <= at[axis] < self.extents[axis] - high)
        text, holds = " and ".join(inside), lambda at: all(test(at) for test in tests)
        extra, also = self.condition()
        equations = [(f"{text} and ({extra})", lambda at: holds(at) and also(at), *self.expression(distances, before)),
                     (f"{text} and not ({extra})", lambda at: holds(at) and not also(at), *self.expression(distances, before)),
                     (f"not ({text})", lambda at: not holds(at), *self.expression([], before))]
        return {"name": self.current, "axes": list(range(self.rank)), "home": {}, "equations": equations}

    def value(self, name, at):
        variable = next(each for each in self.variables if each["name"] == name)
        at = tuple(variable["home"].get(axis, a) for axis, a in enumerate(at))
        if (name, at) not in self.values:
            self.values[name, at] = self.kind.assigned(next(value(at) for _, holds, _, value in variable["equations"] if holds(at)))
        return self.values[name, at]

    def text(self):
        last = self.variables[-1]["name"]
        lines = [f"parameter {', '.join(self.parameters)} >= 1;"]
        for given in self.inputs:
            lines.append(f"input {given['name']}: {self.kind.name}[{', '.join(self.parameters[axis] for axis in given['axes'])}];")
        whole = ", ".join(self.parameters)
        lines += [f"input like: {self.kind.name}[{whole}];", f"output y: {self.kind.name}[{whole}];", f"variable {', '.join(v['name'] for v in self.variables)}: {self.kind.name};"]
        kept = [axis for axis in range(self.rank) if axis != self.reduced]
        if self.reduced is not None:
            lines.append(f"output s: {self.kind.name}[{', '.join(self.parameters[axis] for axis in kept) or '1'}];")
        lines.append(f"for {', '.join(self.names)} where " + " and ".join(f"0 <= {n} < {p}" for n, p in zip(self.names, self.parameters)) + " {")
        every = ", ".join(self.names)
        for variable in self.variables:
            lines += [f"  {variable['name']}{self.index(variable, self.names)} = {value} if {guard};" for guard, _, value, _ in variable["equations"]]
        lines.append(f"  y[{every}] = {last}[{every}] + like[{every}];")
        if self.reduced is not None:
            index = ", ".join(self.names[axis] for axis in kept) or "0"
            lines.append(f"  s[{index}] = sum[{self.names[self.reduced]}]({last}[{every}]);")
        return "\n".join(lines) + "\n}\n"

    def results(self):
        last = self.variables[-1]["name"]
        y = np.zeros(self.extents, self.kind.dtype)
        for at in np.ndindex(*self.extents):
            y[at] = self.value(last, at)
        wanted = {"y": y}
        if self.reduced is not None:
            # One after the other, as the values of a sum are taken.
            lines = np.moveaxis(y, self.reduced, -1)
            sums = np.zeros(lines.shape[:-1], self.kind.dtype)
            for at in np.ndindex(*sums.shape):
                total = self.item(lines[at][0])
                for value in lines[at][1:]:
                    total = self.kind.assigned(self.kind.apply("+", total, self.item(value)))
                sums[at] = total
            wanted["s"] = np.atleast_1d(sums)
        return wanted


def run(strata, seed, folder):
    """What is wrong with a program; nothing where all is well."""
    program = Program(seed)
    with open(os.path.join(folder, "program.pla"), "w") as file:
        file.write(program.text())
    words = []
    for given in program.inputs:
        np.save(os.path.join(folder, given["name"] + ".npy"), given["data"])
        words += ["--in", f"{given['name']}={given['name']}.npy"]
    np.save(os.path.join(folder, "like.npy"), np.zeros(program.extents, program.kind.dtype))
    words += ["--in", "like=like.npy"]
    try:
        wanted = program.results()
    except RecursionError:
        return None
    # Several processors take a few iterations each at a time; now and then as many as it is by default, which here is all of them.
    with open(os.path.join(folder, "blocks.yaml"), "w") as file:
        file.write(f"nodes: [{{node: program, block: [{program.pick.choice((1, 1, 2, 3, 5))}]}}]\n")
    mapping = ["--map", "blocks.yaml", "--threads", str(program.pick.choice((1, 2, 7)))] if seed % 5 else []
    for machine, more in (("host", mapping), (program.pick.choice(MACHINES), [])):
        command = [strata, "run", "program.pla", *words, "--machine", machine, "--check", *more]
        for name in wanted:
            command += ["--out", f"{name}={name}.npy"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
        if done.returncode:
            return f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        for name, array in wanted.items():
            got = np.load(os.path.join(folder, name + ".npy"))
            if not np.array_equal(got, array):
                return f"{' '.join(command)}: {name} is\n{got}\nand not\n{array}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="so many, however long it takes")
    parser.add_argument("--keep", help="a folder for programs that fail")
    options = parser.parse_args()
    sys.setrecursionlimit(20000)
    strata, begin, tried, failed = os.path.abspath(options.strata), time.monotonic(), 0, 0
    while tried < options.count if options.count else time.monotonic() - begin < options.seconds:
        seed = options.seed + tried
        with tempfile.TemporaryDirectory() as folder:
            wrong = run(strata, seed, folder)
            if wrong:
                failed += 1
                print(f"FAIL seed {seed}: {wrong[:2000]}", flush=True)
                if options.keep:
                    shutil.copytree(folder, os.path.join(options.keep, f"pla-{seed}"), dirs_exist_ok=True)
        tried += 1
    print(f"{tried} loop programs, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
