"""The examples of stream programs: built with clang and gcc for pca and for a machine of other names and capacities, with every rule
checked and without, with 1, 2 and 7 workers. Results agree with NumPy's, and have the same bits everywhere. With --brief: by each
compiler on one of the machines, and without 2 workers."""

import importlib.util
import os
import shutil
import subprocess
import sys

import harness
import numpy as np
from harness import ROOT

EXAMPLES = os.path.join(ROOT, "examples", "svm")
spec = importlib.util.spec_from_file_location("svm_examples", os.path.join(EXAMPLES, "check.py"))
examples = importlib.util.module_from_spec(spec)
spec.loader.exec_module(examples)

COMPILERS = [["clang-19"], *([["gcc"]] if shutil.which("gcc") else [])]
MACHINES = ["pca", "tiles"]
MODES = [(mode, workers) for mode in ("plain", "checked") for workers in (1, 2, 7)]


def flags(form):
    build = os.path.dirname(os.path.dirname(harness.options.strata))
    return [f"-I{ROOT}/include", f"-I{build}/include", f"-L{build}/lib", f"-lstrata-{form}", "-lstrata", "-lyaml-cpp", "-lhwloc", "-lstdc++", "-lm", "-lpthread"]


def environment(mode, workers):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("STRATA_")}
    return dict(kept, STRATA_SVM=mode, STRATA_THREADS=str(workers))


class SvmExamples(harness.Case):
    def setUp(self):
        super().setUp()
        self.succeeds("machine", os.path.join(EXAMPLES, "tiles", "tiles.yaml"), "--header", "-o", self.path("tiles.h"))

    def build(self, name, machine="pca", compiler=("clang-19",), form="svm"):
        program = self.path(f"{name}-{machine}-{compiler[0]}-{form}")
        examples.build(name, program, compiler, flags(form), machine, self.folder)
        return program

    def results(self, name, arrays, own):
        """What every program of an example says and computes."""
        module = examples.reference(name)
        for number, compiler in enumerate(COMPILERS, examples.NAMES.index(name)):
            for machine in harness.in_turn(MACHINES, number):
                program = self.build(name, machine, compiler)
                for mode, workers in harness.less([("plain", 7), ("checked", 1), ("checked", 7)], MODES):
                    where = f"{name} by {compiler[0]} on {machine}, {mode}, {workers} workers"
                    env = environment(mode, workers)
                    done = subprocess.run([program], capture_output=True, text=True, env=env, timeout=600)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), where)
                    own.add(done.stdout)
                    yield where, examples.run(program, module, arrays, self.folder, env)

    def check(self, name, seed):
        module = examples.reference(name)
        arrays = module.data(np.random.default_rng(seed))
        wanted = module.expected(*arrays)
        first, own = None, set()
        for where, result in self.results(name, arrays, own):
            self.assertEqual(examples.difference(module, result, wanted), "", where)
            first = result if first is None else first
            self.assertEqual(result.tobytes(), first.tobytes(), where)
        self.assertEqual(len(own), 1, own)
        with open(os.path.join(EXAMPLES, name, "README.md"), encoding="utf-8") as file:
            self.assertIn(own.pop().strip(), file.read(), f"{name}'s README says what it prints")

    def test_other_data(self):
        """More data for each, the smallest among them, at random."""
        for name in examples.NAMES:
            module = examples.reference(name)
            program = self.build(name)
            for seed in range(20, harness.less(24, 32)):
                arrays = module.data(np.random.default_rng(seed))
                result = examples.run(program, module, arrays, self.folder, environment("checked", 1 + seed % 3))
                self.assertEqual(examples.difference(module, result, module.expected(*arrays)), "", f"{name}, seed {seed}")

    def test_linked_in_checked_form(self):
        module = examples.reference("matmul")
        program = self.build("matmul", form="svm-checked")
        arrays = module.data(np.random.default_rng(5))
        result = examples.run(program, module, arrays, self.folder)
        self.assertEqual(examples.difference(module, result, module.expected(*arrays)), "")

    def test_as_the_readme_says(self):
        done = subprocess.run([sys.executable, os.path.join(EXAMPLES, "check.py"), "fft", "heat", "--machine", "tiles", "--seed", "4", "--strata",
                               harness.options.strata], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout.count("agrees")), (0, 2), done)

    def test_wrong_data(self):
        """Data that an example cannot take end it with a message, and leave no result."""
        floats = self.save("floats.npy", np.ones(10, "f4"))
        bad = [("amplifier", ["absent.npy"], "absent.npy"), ("amplifier", [self.save("ints.npy", np.ones(10, "i4"))], "'<f4' are needed"),
               ("amplifier", [self.save("none.npy", np.ones(0, "f4"))], "has no elements"),
               ("amplifier", [self.save("square.npy", np.ones((3, 3), "f4"))], "2 dimensions"),
               ("amplifier", [self.write("text.npy", "no array at all")], "is no .npy file"),
               ("amplifier", [self.write("short.npy", b"\x93NUMPY\1\0\xff\xff{'descr'")], "ends within its header"),
               ("amplifier", [self.save("big.npy", np.zeros(10_000_000, "f4"))], "bytes are needed"),
               ("filter_bank", [floats, self.save("taps.npy", np.ones((4, 31), "f4"))], "4 x 32 are needed"),
               ("fft", [self.save("frames.npy", np.ones((2, 255), "c8"))], "256 are needed"),
               ("matmul", [self.save("a.npy", np.ones((2, 3), "f4")), self.save("b.npy", np.ones((2, 3), "f4"))], "2 rows"),
               ("heat", [self.save("long.npy", np.ones(9000, "f4"))], "local memory")]
        for name, files, message in bad:
            program = self.build(name)
            done = subprocess.run([program, *files, "out.npy"], cwd=self.folder, capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, 1, f"{name} {files}: {done}")
            self.assertIn(message, done.stderr)
            self.assertFalse(os.path.exists(self.path("out.npy")))


for number, example in enumerate(examples.NAMES):
    setattr(SvmExamples, f"test_{example}", lambda self, name=example, seed=number: self.check(name, seed))

if __name__ == "__main__":
    harness.main()
