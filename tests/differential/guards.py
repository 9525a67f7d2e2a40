"""Random programs of which much would trap if it were executed where the program does not come to it, or if an overflow were taken for
impossible: remainders, divisions and reads under conditions and in loops that are not entered, and arithmetic at the ends of its types beside
indices, in Sequoia; and in the dialect, loops with stages, whose transfers are made ahead of what guards them. Compiled code gives the elements and the errors that the interpreter gives; a crash is a difference.

  guards.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  guards.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  guards.py … --keep FOLDER                                  where programs that fail are written, with the command"""

import collections
import pathlib
import random
import signal
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy as np

import campaign
from sequoia import Server, code_of

INTS = [0, 0, 1, 2, 3, -1, -2, 7, 2**31 - 1, 2**31 - 2, -2**31, -2**31 + 1, 2**30, 65536, 46341]
LONGS = INTS + [2**63 - 1, -2**63, 2**62, 2**32, -2**32, 2**31]
TYPES = {"int": "i4", "long": "i8", "unsigned int": "u4", "short": "i2"}


class Program:
    """One task with one leaf, and what it is called with."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0
        self.sizes = {"N": self.random.choice([0, 1, 2, 5, 16, 33]), "M": self.random.choice([0, 1, 3, 8, 17])}
        self.scalars = {name: (type, self.random.choice(INTS if type == "int" else LONGS))
                        for name, type in (("s", "int"), ("t", "int"), ("h", "long"), ("k", "long"))}
        self.scalars["u"] = ("unsigned int", self.random.choice(INTS) % 2**32)
        self.arrays = {"a": ("int", "N"), "c": ("long", "M")}
        self.outputs = {"y": ("int", "N"), "z": ("long", "M")}
        self.text = self.render()

    def pick(self, *choices):
        return self.random.choice(choices)

    def render(self):
        parameters = [f"in {type} {name}" for name, (type, _) in self.scalars.items()]
        parameters += [f"in {type} {name}[{size}]" for name, (type, size) in self.arrays.items()]
        parameters += [f"inout {type} {name}[{size}]" for name, (type, size) in self.outputs.items()]
        head = f"T({', '.join(parameters)})"
        body = self.statements([*self.scalars, "N", "M"], 0)
        return f"void task {head};\nvoid task<leaf> T::L{head[1:]}\n{{\n{body}}}\n"

    def fresh(self):
        self.count += 1
        return f"v{self.count}"

    def atom(self, names):
        if self.random.random() < 0.3:
            return str(self.pick(0, 1, 2, 3, 5, 2147483647, 65536, 4))
        # Recent names are more interesting.
        return names[-1 - min(self.random.randrange(len(names)), self.random.randrange(len(names)))]

    def sum(self, names, depth=0):
        if depth > 1 or self.random.random() < 0.25:
            return self.atom(names)
        left, right = self.sum(names, depth + 1), self.sum(names, depth + 1)
        return f"({left} {self.pick('+', '-', '*', '+', '-')} {right})"

    def typed(self, names):
        """A sum, sometimes of another type, or a remainder or quotient that may end the program."""
        kind = self.random.random()
        if kind < 0.15:
            return f"({self.sum(names)} {self.pick('%', '/')} {self.atom(names)})"
        if kind < 0.3:
            return f"({self.pick(*TYPES)})({self.sum(names)})"
        return self.sum(names)

    def comparison(self, names):
        return f"{self.sum(names, 1)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.sum(names, 1)}"

    def declaration(self, names, indent):
        name, type = self.fresh(), self.pick("int", "int", "long", "unsigned int", "short")
        text = f"{indent}{type} {name} = {self.typed(names)};\n"
        return text, name

    def store(self, names, indent, index=None):
        array = self.pick(*self.outputs)
        return f"{indent}{array}[{index or self.sum(names, 1)}] {self.pick('=', '+=', '=')} {self.value(names)};\n"

    def value(self, names):
        kind = self.random.random()
        if kind < 0.4:
            array = self.pick(*self.arrays)
            return f"{array}[{self.sum(names, 1)}]"
        return self.typed(names)

    def guarded_access(self, names, indent):
        """An index that conditions keep in range, if nothing overflows."""
        index, base = self.fresh(), self.atom(names)
        array, size = self.random.choice([(n, s) for n, (_, s) in {**self.arrays, **self.outputs}.items()])
        lower = self.pick(f"{index} >= 0", f"{index} >= {base} && {base} >= 0", f"{index} > -1", f"{index} >= {base}")
        upper = self.pick(f"{index} < {size}", f"{index} + 1 <= {size}", f"{index} < {size} && {index} < {self.atom(names)}")
        target = self.pick(*self.outputs)
        access = (f"{array}[{index}] = {self.typed([*names, index])};" if array in self.outputs and self.random.random() < 0.5 else
                  f"if ({target[0].upper() == 'Y' and 'N' or 'M'} > 0) {target}[0] += {array}[{self.pick(index, index, index + ' - 0', index + ' * 1')}];")
        type = self.pick("int", "int", "long")
        return f"{indent}{{ {type} {index} = {base} {self.pick('+', '-', '*')} {self.sum(names, 1)};\n{indent}  if ({lower}) if ({upper}) {access} }}\n"

    def guarded_remainder(self, names, indent, depth):
        """A division by what a condition keeps from being zero, some of it in loops that are not entered."""
        divisor, dividend, name = self.atom(names), self.sum(names, 1), self.fresh()
        holds = self.pick(f"{divisor} != 0", f"{divisor} > 0", f"{divisor} > 0", f"a[0] != 0 && {divisor} > 1")
        if holds.startswith("a") and self.sizes["N"] == 0:
            holds = f"{divisor} > 0"
        inner = f"{indent}  long {name} = {dividend} {self.pick('%', '%', '/')} {divisor};\n" + self.statements([*names, name], depth + 1)
        return f"{indent}if ({holds}) {{\n{inner}{indent}}}\n"

    def lookup(self, names, indent):
        """Where an element is not zero, one that a remainder names: what vectorisers like."""
        x, divisor = self.fresh(), self.pick("N", "M", "k", "s", "t", "u")
        index = f"({self.pick('unsigned long', 'long', 'unsigned int', 'int')})({self.pick('h', 's', 't', 'u', x)}) {self.pick('%', '%', '/')} {divisor}"
        target, source = ("y", "a") if self.random.random() < 0.5 else ("y", "c")
        return (f"{indent}for (long {x} = 0; {x} < N; {x}++)\n{indent}  if (a[{x}] {self.pick('!= 0', '> 2', '== 1')})\n"
                f"{indent}    {target}[{x}] = {source}[{index}]{self.pick('', ' / 2', ' + 1')};\n")

    def loop(self, names, indent, depth):
        variable, type = self.fresh(), self.pick("int", "long", "long")
        kind = self.random.random()
        if kind < 0.5:
            head = f"for ({type} {variable} = 0; {variable} < {self.pick('N', 'M', '3', '2')}; {variable}++)"
        elif kind < 0.75:
            # Few iterations, anywhere.
            start = self.sum(names, 1)
            head = f"for ({type} {variable} = {start}; {variable} < ({start}) + {self.pick('3', '1', '2')}; {variable}++)"
        else:
            return (f"{indent}{{ int {variable} = {self.atom(names)} & 3;\n{indent}while ({variable} > 0) {{\n"
                    f"{self.statements([*names, variable], depth + 1)}{indent}  {variable} -= {self.pick('1', '2', '3')};\n{indent}}} }}\n")
        return f"{indent}{head} {{\n{self.statements([*names, variable], depth + 1)}{indent}}}\n"

    def statements(self, names, depth):
        indent, text, names = "  " * (depth + 1), "", list(names)
        for _ in range(self.random.randrange(1, 4 if depth else 6)):
            kind = self.random.random() if depth < 3 else self.random.random() * 0.55
            if kind < 0.2:
                made, name = self.declaration(names, indent)
                text += made
                names.append(name)
            elif kind < 0.3:
                text += self.store(names, indent)
            elif kind < 0.55:
                text += self.guarded_access(names, indent)
            elif kind < 0.7:
                text += self.guarded_remainder(names, indent, depth)
            elif kind < 0.8:
                text += self.lookup(names, indent)
            elif kind < 0.85:
                text += f"{indent}if ({self.comparison(names)}) {{\n{self.statements(names, depth + 1)}{indent}}}\n"
            else:
                text += self.loop(names, indent, depth)
        return text


# A processor that reads the main memory and has others work on blocks in near ones.
MACHINE = """machine: guarded
memories:
  - {name: near, capacity: 64K, count: 2, explicit: true}
  - {name: main, capacity: available}
processors:
  - {name: core, kind: core, count: 2, masters: [core], moves: 4, local: [near]}
  - {name: head, kind: control, masters: [head]}
links:
  - {name: bus, ends: [core, head, main, near]}
levels:
  - {level: 0, memory: near, processor: core}
  - {level: 1, memory: main, processor: head}
"""

PIPELINED = """// Blocks of four elements, where guards say so, pipelined.
!block = memref<?xi32, strided<[1], offset: ?>>
!idx = memref<?xindex, strided<[1], offset: ?>>
module attributes {svm.machine = "guarded", svm.mapping = {main = {
    control = "head", blocks = {x = "near", y = "near"}, calls = {part = {on = "core"}}, loops = {it = {stages = %(stages)d : i64%(unroll)s}}}}} {
svm.kernel @step(%%x: !block {svm.access = "read"}, %%y: !block {svm.access = "write"}) {
  %%c0 = arith.constant 0 : index
  %%c1 = arith.constant 1 : index
  %%one = arith.constant 1 : i32
  %%n = memref.dim %%x, %%c0 : !block
  scf.for %%i = %%c0 to %%n step %%c1 {
    %%a = memref.load %%x[%%i] : !block
    %%b = arith.addi %%a, %%one : i32
    memref.store %%b, %%y[%%i] : !block
  }
  svm.return
}
func.func @main(%%a: !block {svm.name = "a", svm.access = "read"}, %%f: !idx {svm.name = "f", svm.access = "read"},
                %%y: !block {svm.name = "y", svm.access = "readwrite"}, %%s: index {svm.name = "s"}, %%k: index {svm.name = "k"})
    attributes {svm.entry, svm.sizes = ["N", "M"], svm.extents = [affine_map<()[s0, s1] -> (s0)>, affine_map<()[s0, s1] -> (s1)>,
                affine_map<()[s0, s1] -> (s0)>, affine_map<()[s0, s1] -> ()>, affine_map<()[s0, s1] -> ()>]} {
  %%c0 = arith.constant 0 : index
  %%c4 = arith.constant 4 : index
  %%least = arith.constant -9223372036854775808 : index
  %%m1 = arith.constant -1 : index
  %%n = memref.dim %%a, %%c0 : !block
  %%m = memref.dim %%f, %%c0 : !idx
  %%parts = arith.divui %%n, %%c4 : index
  svm.parallel "it" (%%i) = (%%c0) to (%%parts) {
%(body)s
  }
  return
}
}
"""


class Pipelined:
    """Transfers under a nest of guards: which block is taken depends on loads and divisions that only the guards make possible."""

    def __init__(self, seed):
        self.random, self.count = random.Random(seed), 0
        self.sizes = {"N": self.random.choice([0, 4, 20, 64]), "M": self.random.choice([0, 1, 3, 16])}
        self.scalars = {"s": ("long", self.random.choice(LONGS)), "k": ("long", self.random.choice(LONGS))}
        self.arrays = {"a": ("int", "N"), "f": ("long", "M")}
        self.outputs = {"y": ("int", "N")}
        self.lines, self.values, self.open = [], ["%i", "%s", "%k", "%n", "%m"], 0
        for _ in range(self.random.randrange(1, 5)):
            self.random.choice([self.load, self.division, self.division, self.condition])()
        at = self.let(f"arith.remui {self.one()}, {self.let('arith.maxui %parts, %c1')}")
        begin, to = self.let(f"arith.muli {at}, %c4"), self.let("arith.muli %i, %c4")
        self.lines += ['svm.scope "part" disjoint {', '%x = svm.block "x"(%c4) max [4] : !block', '%z = svm.block "y"(%c4) max [4] : !block',
                       f"%v = memref.subview %a[{begin}] [%c4] [1] : !block to !block", f"%w = memref.subview %y[{to}] [%c4] [1] : !block to !block",
                       "svm.move %v to %x : !block to !block", "svm.run @step(%x, %z) : (!block, !block) -> ()",
                       "svm.move %z to %w : !block to !block", "}"] + ["}"] * self.open
        choice = self.random.choice
        self.text = PIPELINED % {"stages": choice([1, 2, 2, 3, 4]), "unroll": choice(["", "", ", unroll = 2 : i64"]),
                                 "body": "\n".join(["    %c1 = arith.constant 1 : index"] + ["    " + line for line in self.lines])}

    def let(self, expression):
        self.count += 1
        self.lines.append(f"%v{self.count} = {expression} : {'i1' if expression.startswith(('arith.andi', 'arith.ori')) else 'index'}")
        return f"%v{self.count}"

    def one(self):
        return self.values[-1 - min(self.random.randrange(len(self.values)), self.random.randrange(len(self.values)))]

    def guard(self, holds, may_check=True):
        if may_check and self.random.random() < 0.3:
            self.lines.append(f'svm.check {holds}, "guard", "it does not hold"')
        else:
            self.lines.append(f"scf.if {holds} {{")
            self.open += 1

    def condition(self):
        self.guard(self.let(f"arith.cmpi {self.random.choice(['slt', 'ult', 'ne', 'sge'])}, {self.one()}, {self.one()}"), False)

    def load(self):
        at = self.one()
        self.guard(self.let(f"arith.cmpi ult, {at}, %m"))
        self.lines.append(f"%v{self.count + 1} = memref.load %f[{at}] : !idx")
        self.count += 1
        self.values.append(f"%v{self.count}")

    def division(self):
        left, right = self.one(), self.one()
        holds = self.let(f"arith.cmpi ne, {right}, %c0")
        fits = self.let(f"arith.ori {self.let(f'arith.cmpi ne, {left}, %least')}, {self.let(f'arith.cmpi ne, {right}, %m1')}")
        self.guard(self.let(f"arith.andi {holds}, {fits}"))
        self.values.append(self.let(f"arith.{self.random.choice(['remui', 'remsi', 'divui', 'divsi', 'floordivsi', 'ceildivsi'])} {left}, {right}"))


class Case:
    def __init__(self, strata, folder, seed):
        self.seed, self.folder = seed, pathlib.Path(folder)
        self.program = Pipelined(seed) if seed % 4 == 3 else Program(seed)
        self.path = self.folder / f"{seed}.{'mlir' if seed % 4 == 3 else 'sq'}"
        self.path.write_text(self.program.text)
        words = [strata, "run", str(self.path), "--size", ",".join(f"{n}={v}" for n, v in self.program.sizes.items())]
        numbers = np.random.default_rng(seed)
        for name, (type, size) in {**self.program.arrays, **self.program.outputs}.items():
            file = self.folder / f"{seed}-{name}.npy"
            values = numbers.choice([0, 0, 1, 3, -1, 5, 2**31 - 1, -2**31], size=self.program.sizes[size])
            np.save(file, values.astype(TYPES[type]))
            words += ["--in", f"{name}={file}"]
        if isinstance(self.program, Pipelined):
            machine = self.folder / f"{seed}-machine.yaml"
            machine.write_text(MACHINE)
            words += ["--machine", str(machine)]
        for name, (_, value) in self.program.scalars.items():
            words += ["--in", f"{name}={value}"]
        self.words = words

    def result(self, *more):
        """How a run ended, what it complained of, and the elements that it gave."""
        words, files = [*self.words, *more], {}
        for name in self.program.outputs:
            files[name] = self.folder / f"{self.seed}-{name}-out.npy"
            files[name].unlink(missing_ok=True)
            words += ["--out", f"{name}={files[name]}"]
        status, said = Server.execute(words, self.seed % 2 == 0)
        values = {name: np.load(file).tolist() for name, file in files.items()} if status == 0 else {}
        return status, code_of(said), values, said

    def run(self):
        compiled, interpreted = self.result(), self.result("--interpret")
        if compiled[0] < 0 or compiled[0] == 2 or interpreted[0] not in (0, 1):
            return f"compiled ends with {compiled[0]}, interpreted with {interpreted[0]}\n{compiled[3][-1500:]}\n{interpreted[3][-500:]}"
        if compiled[:3] != interpreted[:3]:
            return f"compiled: {compiled[:3]}\ninterpreted: {interpreted[:3]}"
        self.ended = compiled[1]
        return None

    def clean(self):
        for file in self.folder.glob(f"{self.seed}[-.]*"):
            file.unlink()


def errors(cases):
    """How often the programs ended with each error."""
    counts = collections.Counter(case.ended for case in cases)
    return "; " + ", ".join(f"{count} {code or 'without an error'}" for code, count in sorted(counts.items(), key=str))


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    campaign.run("guards", __doc__, Case, errors)
