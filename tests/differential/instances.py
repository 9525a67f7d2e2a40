"""Random programs whose instances run at the same time, with flags, streams and fences between them, against what they give by construction.

  instances.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  instances.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  instances.py … --keep FOLDER                                  where programs that fail are written, with the command

A program runs on this computer, or on a machine with memories near its processors, with a random number of threads; NumPy says what it gives
(instances_generate.py). Some also run through the interpreter, or with --check. In some one thing is wrong, which they have to end with; or an
attribute says what nobody has proved, which must not be believed."""

import pathlib
import random
import signal
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy as np

import campaign
from instances_generate import Program
from instances_text import FAULTS, Text
from sequoia import Server, code_of

MACHINE = """machine: {name}
memories:
  - {{name: near, capacity: 64K, count: {count}}}
  - {{name: main, capacity: 1G}}
processors:
  - {{name: core, kind: core, count: {cores}, masters: [core]{moves}{local}}}
links:
  - {{name: bus, ends: [core, main, near]}}
levels:
  - {{level: 0, memory: near, processor: core}}
  - {{level: 1, memory: main, processor: core}}
"""


class Case:
    def __init__(self, strata, folder, seed):
        self.strata, self.folder, self.seed = strata, pathlib.Path(folder), seed
        self.random = random.Random(seed * 7919 + 1)
        self.program = Program(seed)
        self.machine = self.random.choice([None, "pair", "pair", "pair"])
        # In every fourth program something is wrong, or said that nobody has proved.
        self.fault = self.random.choice([*FAULTS, *["attribute"] * len(FAULTS)]) if seed % 4 == 1 else None

    def write(self):
        """What the program needs, and the command."""
        self.path = self.folder / f"{self.seed}.mlir"
        text = Text(self.program, self.machine, self.fault)
        self.path.write_text("\n".join(text.lines()) + "\n")
        self.wanted = FAULTS[self.fault] if text.planted else {"dialect-error"} if text.is_refused else None
        words = [self.strata, "run", str(self.path), "--threads", str(self.random.choice([1, 2, 2, 3, 4])), "--in", "z=0"]
        if self.machine:
            file = self.folder / f"{self.seed}-machine.yaml"
            cores = self.random.choice([2, 2, 3, 4])
            count = self.random.choice([1, 1, cores])
            file.write_text(MACHINE.format(name=self.machine, cores=cores, count=count,
                                           moves=self.random.choice(["", ", moves: 2", ", moves: 4"]),
                                           local=", local: [near]" if count > 1 else ""))
            words += ["--machine", str(file)]
        self.values = self.program.start_values(self.seed)
        self.expected = self.program.expected(self.values)
        for name, value in {**self.values, "F": np.zeros_like(self.expected["F"])}.items():
            np.save(self.folder / f"{self.seed}-{name}.npy", value)
            words += ["--in", f"{name}={self.folder}/{self.seed}-{name}.npy"]
        self.words = words

    def run(self):
        self.write()
        ways = [[]]
        if self.seed % 4 == 0:
            ways.append(["--interpret"] if self.seed % 8 else ["--check"])
        for way in ways:
            wrong = self.compare(way)
            if wrong:
                self.words += way
                return wrong
        return self.grows() if self.seed % 16 == 2 else None

    def grows(self):
        """Whether code takes space on the stack elsewhere than at its beginning: a loop that waits for long would use it up."""
        file = self.folder / f"{self.seed}.ll"
        status, said = Server.execute([*self.words, "--emit=llvm", "-o", str(file)], False)
        if status:
            return f"with --emit=llvm it ended with {status}\n{said[-2000:]}"
        function, is_entry = "", True
        for line in file.read_text().splitlines():
            if line.startswith("define "):
                function, is_entry = line, True
            elif line and not line[0].isspace() and line.split()[0].endswith(":"):
                is_entry = line.startswith("entry:")
            elif " = alloca " in line and not is_entry:
                return f"space on the stack is taken within {function}:\n{line}"
        return None

    def compare(self, way):
        files = {name: self.folder / f"{self.seed}-{name}-out.npy" for name in self.expected}
        words = [*self.words, *way]
        for name, file in files.items():
            file.unlink(missing_ok=True)
            words += ["--out", f"{name}={file}"]
        status, said = Server.execute(words, self.seed % 3 == 0)
        if self.wanted:
            return None if status == 1 and code_of(said) in self.wanted else f"it ended with {status}, and not one of {self.wanted}\n{said[-2000:]}"
        if self.fault == "attribute" and status == 1 and code_of(said) == "dialect-error":
            return None
        if status:
            return f"it ended with {status}\n{said[-2000:]}"
        for name, file in files.items():
            given = np.load(file)
            if not np.array_equal(given, self.expected[name]):
                return f"{name} is\n{given}\nand not\n{self.expected[name]}"
        return None

    def clean(self):
        for file in self.folder.glob(f"{self.seed}[-.]*"):
            file.unlink()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    campaign.run("instances", __doc__, Case)
