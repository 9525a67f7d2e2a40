"""Random nests of loops in leaves: products, filters, reductions, recurrences and what lies between, their loops in any order, with variables,
choices, functions of the C library and sums at any depth, over a few elements or none; arrays changed in place, in range and out of it; records of
two to five numbers; arrays turned around. Compiled code gives the bits that the interpreter gives (of NaNs, any). Every third program is for a
processor of short registers and a cache so small that its loops go through panels, copied ones where there are rows enough.

  nests.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  nests.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  nests.py … --keep FOLDER                                  where programs that fail are written, with the command"""

import os
import pathlib
import random
import signal
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy as np

import campaign
from sequoia import Server, code_of

TYPES = {"float": "f4", "double": "f8", "int": "i4", "long": "i8", "short": "i2"}
# 4 registers of 4 floats take 64 bytes, of which half the cache holds 8.
SMALL = """machine: small
memories:
  - {name: main, capacity: 1G}
  - {name: cache, capacity: 1K, width: 64, line: 64}
processors:
  - {name: core, kind: core, masters: [core], kernels: [user], vector: 16, local: [cache]}
links:
  - {name: bus, ends: [core, main]}
levels:
  - {level: 0, memory: main, processor: core}
"""
LOOPS = {"i": "A", "j": "B", "k": "C", "l": "D"}


class Program:
    """A task with one leaf: inputs with two elements more than loops need, and outputs with as many."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        pick = self.random.choice
        self.sizes = {name: pick([0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 19, 33, 40]) for name in "ABCD"}
        self.type = pick(["float", "float", "float", "double", "int", "long", "short"])
        self.count = 0
        shapes = [["A"], ["B"], ["A", "B"], ["B", "A"], ["A", "C"], ["C", "B"], ["A", "B", "C"], ["C", "D"], ["D"]]
        self.inputs = {f"in{n}": pick(shapes) for n in range(self.random.randrange(1, 4))}
        self.outputs = {f"out{n}": pick(shapes[:-2]) for n in range(self.random.randrange(1, 3))}
        isProduct = self.random.random() < 0.25
        if isProduct:
            self.inputs |= {"left": pick([["A", "C"], ["C", "A"]]), "right": pick([["C", "B"], ["C", "B"], ["B", "C"]])}
            self.outputs["product"] = ["A", "B"]
            if self.random.random() < 0.5: # rows and columns enough for copies of panels
                self.sizes |= {"A": pick([24, 29, 33, 40]), "B": pick([17, 19, 33, 40])}
        turned = self.random.random() < 0.15
        if turned:
            self.inputs["flat"] = ["A", "B"]
            self.outputs["turned"] = ["B", "A"]
            self.sizes |= {"A": pick([3, 16, 17, 19, 33, 40]), "B": pick([7, 16, 18, 33, 40])}
        parameters = [f"in {self.type} {name}" + "".join(f"[{size} + 2]" for size in shape) for name, shape in self.inputs.items()]
        parameters += [f"inout {self.type} {name}" + "".join(f"[{size}]" for size in shape) for name, shape in self.outputs.items()]
        inPlace = ""
        if self.random.random() < 0.35:
            self.outputs |= {"line": ["A"], "square": ["A", "B"]}
            parameters += [f"inout {self.type} line[A]", f"inout {self.type} square[A][B]"]
            inPlace = "".join(self.random.choice([self.line, self.halves, self.triangle])() for _ in range(self.random.randrange(1, 3)))
        self.fields, record = {}, ""
        if self.random.random() < 0.3:
            kinds = [self.type] * 4 + self.random.choice([[], [], list(TYPES)])
            self.fields = {name: self.random.choice(kinds) for name in "abcde"[:self.random.choice([2, 2, 2, 3, 3, 4, 4, 5])]}
            record = "typedef struct { " + " ".join(f"{kind} {name};" for name, kind in self.fields.items()) + " } record;\n"
            parameters += ["in record fixed[A + 2]", "inout record points[A]", "inout record others[A]", "inout record plane[B][A]"]
            inPlace += "".join(self.points() for _ in range(self.random.randrange(1, 3)))
        if inPlace:
            parameters += ["in long p"]
            self.step = self.random.choice([-1, 0, 1, 2, 3, 3, 5, 7, self.sizes["A"] // 2, self.sizes["A"] // 2, self.sizes["A"] // 3])
        # Sizes that no other array has alone.
        parameters += [f"in {self.type} only{size}[{size}]" for size in "ABCD"]
        head = f"T({', '.join(parameters)})"
        body = (self.product() if isProduct else "") + "".join(self.nest() for _ in range(self.random.randrange(0 if isProduct else 1, 3)))
        body += inPlace + ("".join(self.turn() for _ in range(self.random.randrange(1, 3))) if turned else "")
        self.text = record + f"void task {head};\nvoid task<leaf> T::L{head[1:]}\n{{\n{body}}}\n"

    def line(self):
        """A line that is changed where it is read, at places beside or within those of other iterations, mostly in range."""
        pick = self.random.choice
        far = pick(["p", "p", "p - 1", "p + 1", "1"])
        step = pick(["p", "A / p", "p / 2", "A % p", "(A / 2 / p)"])
        low, high, places = pick([("0", "p", ["k", f"k * ({step})"]),
                                  ("0", "2", ["k", f"k * ({step}) + 1"]), ("0", "p", ["k", f"k + {far}"]), ("0", f"A - {far}", ["k", f"k + {far}"]), (far, "A", ["k", "p", f"k - {far}"]),
                                  ("p + 1", "A", ["k", far]), ("0", "p", ["k", far]), ("0", "A / 2", ["2 * k", "2 * k + 1", "k"]),
                                  ("-p", "A", ["k", "k + p"])])
        place = lambda: pick([places[0], *places])
        return (f"  for (long k = {low}; k < {high}; k++)\n"
                f"    line[{place()}] {pick(['=', '+=', '-='])} line[{place()}] {pick('+-*')} {pick(['line[' + place() + ']', '2'])};\n")

    def halves(self):
        """Butterflies: halves of stretches of a line, each of one with its like of the other."""
        pick = self.random.choice
        far, end = pick(["p", "p", "p - 1", "p + 1"]), pick(["base + 2 * p < A"] * 4 + ["base < A"])
        return (f"  for (long base = 0; {end}; base += p < 1 ? 1 : 2 * p)\n    for (long k = 0; k < p; k++) {{\n"
                f"      {self.type} low = line[base + k], high = line[base + {far} + k];\n"
                f"      line[base + k] = low + high;\n      line[base + {far} + k] = low - high;\n    }}\n")

    def triangle(self):
        """What elimination does: rows and columns behind the t-th change by what stands in it."""
        pick = self.random.choice
        smaller = "(A < B ? A : B)"
        first, last = pick(["t + 1", "t + 1", "0", "t"]), pick([smaller, "t", smaller])
        return (f"  for (long t = 0; t < {smaller}; t++)\n    for (long i = {first}; i < {last}; i++)\n"
                f"      for (long j = {pick(['t + 1', 't + 1', '0', 't'])}; j < {pick(['B', 'B', 't'])}; j++)\n"
                f"        square[i][j] {pick(['=', '-='])} {pick(['square[i][t]', 'line[i]', '2'])} * {pick(['square[t][j]', 'square[t][j]', 'line[t]'])};\n")

    def points(self):
        """A loop or two over records, which are read and written by their fields or whole, at places that are mostly in range."""
        pick, chance = self.random.choice, self.random.random
        isPlane = chance() < 0.4
        low, high, beside = pick([("0", "A", ""), ("0", "A", ""), ("0", "A", ""), ("0", "A - p", " + p"), ("0", "p", " * p"), ("1", "A", " - 1")])
        place = lambda array: f"plane[j][k{pick(['', beside])}]" if array == "plane" else f"{array}[k{pick(['', beside])}]"
        arrays = ["points", "others"] + (["plane"] * 3 if isPlane else [])
        own = lambda: pick(["r", place(pick(["fixed", *arrays]))])
        isWhole = lambda kind: kind[0] in "ils" # int, long, short

        def value(kind, depth=0):
            fitting = [name for name, other in self.fields.items() if isWhole(other) == isWhole(kind)]
            if depth > 1 or chance() < 0.4:
                return f"{own()}.{pick(fitting)}" if chance() < 0.9 else "2"
            left, right = value(kind, depth + 1), value(kind, depth + 1)
            return f"({left} {pick('+-*')} {right})" if chance() < 0.85 else f"({left} < {right} ? {left} : {right})"

        def statement():
            if chance() < 0.3:
                return f"{pick(['r', place(pick(arrays))])} = {own()};"
            name, kind = pick(list(self.fields.items()))
            text = f"{pick(['r', place(pick(arrays)), place(pick(arrays))])}.{name} {pick(['=', '=', '+=', '-='])} {value(kind)};"
            return f"if ({value(kind)} {pick('<>')} {value(kind)}) {text}" if chance() < 0.2 else text

        loops = [f"for (long k = {low}; k < {high}; k++)"] + (["for (long j = 0; j < B; j++)"] if isPlane else [])
        if chance() < 0.5:
            loops.reverse()
        inside = "".join(f"      {statement()}\n" for _ in range(self.random.randrange(1, 5)))
        return "  " + " ".join(loops) + f" {{\n      record r = {place(pick(['fixed', *arrays]))};\n{inside}  }}\n"

    def turn(self):
        """Rows of one array against columns of another."""
        pick = self.random.choice
        loops = ["for (long i = 0; i < A; i++)", "for (long j = 0; j < B; j++)"]
        self.random.shuffle(loops)
        here = lambda: pick(["flat[i][j]", "flat[i][j]", "flat[i + 1][j]", "flat[i + 2][j + 1]", "onlyA[i]", "onlyB[j]", "3"])
        value = pick([here(), f"{here()} {pick('+-*')} {here()}", f"({here()} < {here()} ? {here()} : {here()})"])
        condition = pick(["", "", f"if ({here()} < {here()}) "])
        return f"  {' '.join(loops)}\n    {condition}turned[j][i] {pick(['=', '=', '+='])} {value};\n"

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def product(self):
        """Three loops in any order around one statement, which may have terms, factors and a condition more."""
        pick, chance, loops = self.random.choice, self.random.random, self.random.sample("ijk", 3)
        around = "".join(f"{'  ' * (n + 1)}for (long {name} = 0; {name} < {LOOPS[name]}; {name}++)\n" for n, name in enumerate(loops))
        value = f"{self.place({'left': self.inputs['left']}, loops, chance() < 0.3)} * {self.place({'right': self.inputs['right']}, loops, chance() < 0.3)}"
        if chance() < 0.3:
            value += f" {pick('+-*')} {self.value(loops, [])}"
        if chance() < 0.2:
            value = f"{self.value(loops, [])} < {self.value(loops, [])} ? {value} : {self.value(loops, [])}"
        return f"{around}        product[i][j] {pick(['+=', '+=', '-='])} {value};\n"

    def nest(self):
        loops = self.random.sample(list(LOOPS), self.random.randrange(2, 5))
        return self.loop(loops, [], [])

    def loop(self, loops, around, variables):
        """One loop, with statements before and behind the next one sometimes."""
        indent = "  " * (len(around) + 1)
        name, rest = loops[0], loops[1:]
        size = LOOPS[name]
        low, high = "0", size
        if around and self.random.random() < 0.08:
            other = self.random.choice(around)
            low, high = self.random.choice([(other, size), ("0", f"{other} + 1 < {size} ? {other} + 1 : {size}"), ("1", size)])
        around = [*around, name]
        variables = list(variables)
        text = ""
        plain = self.random.random() < 0.5 and rest
        if not plain:
            for _ in range(self.random.randrange(0, 2)):
                variable = self.fresh()
                text += f"{indent}  {self.type} {variable} = {self.value(around, variables) if self.random.random() < 0.5 else '0'};\n"
                variables.append(variable)
        if rest:
            text += self.loop(rest, around, variables)
        if not plain:
            for _ in range(self.random.randrange(0 if rest else 1, 3)):
                text += self.statement(around, variables, indent + "  ")
        return f"{indent}for (long {name} = {low}; {name} < ({high}); {name}++) {{\n{text}{indent}}}\n"

    def place(self, arrays, around, offset):
        """An element of an array of which loops around have the sizes."""
        pick = self.random.choice
        fitting = [name for name, shape in arrays.items() if all(any(LOOPS[loop] == size for loop in around) for size in shape)]
        if not fitting:
            return None
        name = pick(fitting)
        indices = []
        for size in arrays[name]:
            loop = next(loop for loop in around if LOOPS[loop] == size)
            if offset:
                indices.append(pick([loop, loop, f"{loop} + 1", f"{loop} + 2", f"1 + {loop}"]))
            else:
                indices.append(pick([loop] * 12 + [f"{size} - 1 - {loop}", f"({loop} * 1)"]))
        return name + "".join(f"[{index}]" for index in indices)

    def value(self, around, variables, depth=0):
        pick, chance = self.random.choice, self.random.random()
        if depth > 1 or chance < 0.45:
            read = self.place(self.inputs, around, True)
            if read and self.random.random() < 0.7:
                return read
            if variables and self.random.random() < 0.6:
                return pick(variables)
            own = self.place(self.outputs, around, False)
            if own and self.random.random() < 0.2:
                return own
            return pick(["1", "2", f"only{LOOPS[around[-1]]}[{around[-1]}]", "3"])
        left, right = self.value(around, variables, depth + 1), self.value(around, variables, depth + 1)
        if chance < 0.9:
            return f"({left} {pick(['+', '*', '*', '-'])} {right})"
        if self.type in ("float", "double") and chance < 0.94:
            return f"{pick(['sqrt', 'exp', 'exp', 'log', 'sin', 'cos', 'tanh'])}({left})"
        return f"({left} < {right} ? {left} : {right})"

    def statement(self, around, variables, indent):
        pick, chance = self.random.choice, self.random.random()
        target = self.place(self.outputs, around, False)
        if variables and (chance < 0.4 or not target):
            target = pick(variables)
        if not target:
            return ""
        value = self.value(around, variables)
        text = f"{target} {pick(['+=', '+=', '=', '-='])} {value};"
        if chance > 0.85:
            text = f"if ({self.value(around, variables)} {pick(['<', '>', '=='])} {value}) {text}"
        return f"{indent}{text}\n"


def bits(array):
    """Bytes in which -0.0 and 0.0 are apart, and all NaNs alike: which one an operation gives, its sign too, IEEE 754 leaves open. Of records those
    of each field."""
    if array.dtype.names:
        return [bits(array[name]) for name in array.dtype.names]
    return np.where(array != array, np.asarray(np.nan, array.dtype), array).tobytes() if array.dtype.kind == "f" else array.tobytes()


class Case:
    def __init__(self, strata, folder, seed):
        self.seed, self.folder = seed, pathlib.Path(folder)
        self.program = Program(seed)
        self.path = self.folder / f"{seed}.sq"
        self.path.write_text(self.program.text)
        sizes = self.program.sizes
        words = [strata, "run", str(self.path), "--size", ",".join(f"{n}={v}" for n, v in sizes.items())]
        numbers = np.random.default_rng(seed)
        shapes = {name: [sizes[each] + 2 for each in shape] for name, shape in self.program.inputs.items()}
        shapes |= {name: [sizes[each] for each in shape] for name, shape in self.program.outputs.items()}
        shapes |= {f"only{size}": [sizes[size]] for size in "ABCD"}
        self.outputs = list(self.program.outputs)
        if self.program.fields:
            records = np.dtype([(name, TYPES[kind]) for name, kind in self.program.fields.items()], align=True)
            for name, shape in {"fixed": [sizes["A"] + 2], "points": [sizes["A"]], "others": [sizes["A"]], "plane": [sizes["B"], sizes["A"]]}.items():
                array = np.zeros(shape, records)
                for field in records.names:
                    values = numbers.integers(-8, 9, size=shape)
                    array[field] = values / 8 if records[field].kind == "f" else values
                np.save(self.folder / f"{seed}-{name}.npy", array)
                words += ["--in", f"{name}={self.folder / f'{seed}-{name}.npy'}"]
            self.outputs += ["points", "others", "plane"]
        for name, shape in shapes.items():
            file = self.folder / f"{seed}-{name}.npy"
            values = numbers.integers(-8, 9, size=shape)
            type = TYPES[self.program.type]
            np.save(file, (values / 8 if type[0] == "f" else values).astype(type))
            words += ["--in", f"{name}={file}"]
        if hasattr(self.program, "step"):
            words += ["--in", f"p={self.program.step}"]
        if seed % 3 == 0:
            machine = self.folder / "small.yaml"
            machine.write_text(SMALL)
            words += ["--machine", str(machine)]
        self.words = words

    def result(self, *more):
        words, files = [*self.words, *more], {}
        for name in self.outputs:
            files[name] = self.folder / f"{self.seed}-{name}-out.npy"
            files[name].unlink(missing_ok=True)
            words += ["--out", f"{name}={files[name]}"]
        status, said = Server.execute(words, self.seed % 2 == 0)
        values = {name: bits(np.load(file)) for name, file in files.items()} if status == 0 else {}
        return status, code_of(said), values, said

    def run(self):
        compiled, interpreted = self.result(), self.result("--interpret")
        if compiled[0] < 0 or compiled[0] == 2 or interpreted[0] not in (0, 1):
            return f"compiled ends with {compiled[0]}, interpreted with {interpreted[0]}\n{compiled[3][-1500:]}\n{interpreted[3][-500:]}"
        if compiled[:2] != interpreted[:2]:
            return f"compiled: {compiled[:2]}\ninterpreted: {interpreted[:2]}"
        different = [name for name in compiled[2] if compiled[2][name] != interpreted[2][name]]
        return f"{', '.join(different)} of other bits than the interpreter's" if different else None

    def clean(self):
        for file in self.folder.glob(f"{self.seed}[-.]*"):
            file.unlink()


if __name__ == "__main__":
    os.environ["STRATA_VERIFY"] = "1"  # which loops are independent is decided a second time
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    campaign.run("nests", __doc__, Case)
