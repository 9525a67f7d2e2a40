"""Random HBIR programs, in all forms, on every machine: results and what is printed have to be what an evaluator in Python says, to the
last bit, with any number of threads, through the interpreter, and with mapping files that place them otherwise.

  hbir.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  hbir.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  hbir.py … --keep FOLDER                                  where programs that fail are written, as small as they could be made"""

import pathlib
import random
import shutil
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy as np
import run
from hbir_generate import Program
from hbir_tree import Undefined

VARIANTS = ("host", "cell", "check", "mapped")


class Case:
    """One program in one variant."""

    def __init__(self, strata, folder, seed, variant):
        self.strata, self.seed, self.variant = strata, seed, variant
        self.program, self.random = Program(seed), random.Random(seed)
        self.threads = self.random.choice([1, 3])
        self.machine = {"host": "host", "cell": "cell", "check": self.random.choice(["host", "host", "cell"]),
                        "mapped": self.random.choice(["host", "cell"])}[variant]
        self.folder = pathlib.Path(folder) / f"hbir-{seed}-{variant}"
        self.path = self.folder / "program.hbir"
        places = self.program.places
        self.corners = {top.name: tuple(begin for begin, _ in top.box) for top in places.tops}
        self.copies = any(array.role == "copies" for array in self.program.arrays)  # which is the first tile's may not change
        if variant == "mapped" and not self.copies:
            places.random = self.random
            self.corners = places.moved()
        self.homes = {array.name: self.home(array) for array in self.program.arrays if array.role != "copies" and self.random.random() < 0.6}

    def home(self, array):
        pieces, place = self.program.places.home()
        layouts = ["block", "chunked", "striped", "strided"] + (["replicated"] if array.role == "in" else [])
        numbers = "".join(f"[{each}]" for each in pieces or [])
        return f"array {array.name} = {self.random.choice(layouts)}{numbers} over {place};"

    def mapping(self):
        lines = [f"group {top.name} at ({', '.join(str(a + b) for a, b in zip(self.corners[top.name], top.first))});"
                 for top in self.program.places.tops if not self.copies]
        return "\n".join(lines + [self.homes[array.name] for array in self.program.arrays if array.name in self.homes]) + "\n"

    def command(self, path):
        command = [self.strata, "run", str(path), "--machine", self.machine, "--threads", str(self.threads)]
        for array in self.program.arrays:
            if array.direction == "in":
                command += ["--in", f"{array.name}={self.folder}/{array.name}.npy"]
            elif array.direction == "out":
                command += ["--out", f"{array.name}={self.folder}/{array.name}.out.npy"]
        if self.variant == "mapped":
            command += ["--map", f"{self.folder}/moved.map"]
        return command + (["--check"] if self.variant == "check" else [])

    def run(self, path=None):
        """What is wrong, or nothing."""
        try:
            self.program.evaluate()
        except Undefined:
            return None
        self.folder.mkdir(exist_ok=True)
        self.path.write_text(self.program.render())
        (self.folder / "moved.map").write_text(self.mapping())
        for name, array in self.program.inputs().items():
            np.save(self.folder / f"{name}.npy", array)
        for each in self.folder.glob("*.out.npy"):
            each.unlink()
        try:
            done = subprocess.run(self.command(self.path), capture_output=True, text=True, errors="replace", timeout=600)
        except subprocess.TimeoutExpired:
            return "it has not ended after 60 seconds"
        wrong = f"it ended with {done.returncode}\n{done.stderr[-2000:]}" if done.returncode else self.compare(done.stdout)
        if not wrong:
            shutil.rmtree(self.folder)
        return wrong

    def compare(self, printed):
        for name, made in self.program.results(self.corners).items():
            expected, got = made.values, np.load(self.folder / f"{name}.out.npy")
            if got.dtype != expected.dtype or got.shape != expected.shape:
                return f"array {name} is {got.dtype} {got.shape}, not {expected.dtype} {expected.shape}"
            same = got == expected
            if expected.dtype.kind == "f":
                # Which NaN it is, is the machine's business.
                same = (got.view("u4") == expected.view("u4")) | (np.isnan(got) & np.isnan(expected))
            same |= ~made.written
            if not same.all():
                at = tuple(int(each) for each in np.argwhere(~same)[0])
                return f"wrong elements\narray {name}{list(at)} is {got[at]}, not {expected[at]}"
        expected = self.program.printed(self.corners)
        printed = printed[:max(printed.rfind(f"program on {self.machine}:"), 0)]  # what the command says follows
        if printed != expected:
            return f"wrong text\n{printed!r}\ninstead of\n{expected!r}"
        return None

    def reduce(self, wrong):
        """Takes statements, blocks and arrays out as long as the program fails in the same way."""
        def kind(text):
            return text.split("[")[0] + text.split("[")[1].split("]")[0] if "error[" in (text or "") else (text or "").split("\n")[0]
        wanted, end, smaller = kind(wrong), time.monotonic() + run.REDUCTION_SECONDS, True
        while smaller and time.monotonic() < end:
            smaller = False
            for body in self.program.bodies():
                for position in range(len(body) - 1, -1, -1):
                    if time.monotonic() > end:
                        break
                    taken = body.pop(position)
                    again = self.run_again()
                    if again and kind(again) == wanted:
                        smaller, wrong = True, again
                    else:
                        body.insert(position, taken)
        return self.run_again() or wrong

    def run_again(self):
        try:
            return self.run()
        except (KeyError, IndexError, AttributeError):
            return None  # what was taken out is needed


if __name__ == "__main__":
    sys.exit(run.main(__doc__, Case, VARIANTS))
