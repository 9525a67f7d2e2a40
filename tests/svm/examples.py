"""Runs the examples of stream programs as a sanitizer build has made them, header and library alike: on their own, and on --data sets of
random data, in some modes and by some numbers of workers. A program has to end with status 0 and without a word on standard error;
what it prints is what its README says, and what it computes agrees with NumPy.

    python3 examples.py build/asan/tests/svm [--modes plain,checked] [--workers 1,2,7] [--data 3]"""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import need_numpy
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLES = os.path.join(ROOT, "examples", "svm")
spec = importlib.util.spec_from_file_location("svm_examples", os.path.join(EXAMPLES, "check.py"))
examples = importlib.util.module_from_spec(spec)
spec.loader.exec_module(examples)


def perform(program, arguments, mode, workers):
    """What the program prints, and what is wrong with how it ended."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("STRATA_")}
    env = dict(kept, STRATA_SVM=mode, STRATA_THREADS=str(workers))
    done = subprocess.run([program, *arguments], capture_output=True, text=True, errors="replace", env=env, timeout=300)
    return done.stdout, "" if (done.returncode, done.stderr) == (0, "") else f"status {done.returncode}\n{done.stderr}"


def complaints(name, program, ways, data):
    """What is wrong with an example, each with how it was run."""
    with open(os.path.join(EXAMPLES, name, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    for mode, workers in ways:
        said, wrong = perform(program, [], mode, workers)
        if not wrong and said.strip() not in readme:
            wrong = f"it prints {said.strip()!r}, and its README does not say so"
        if wrong:
            yield f"{name}, {mode}, {workers} workers: {wrong}"
    module = examples.reference(name)
    for seed in range(data):
        arrays = module.data(np.random.default_rng(seed))
        for mode, workers in ways:
            with tempfile.TemporaryDirectory() as folder:
                files = [os.path.join(folder, f"in{i}.npy") for i in range(len(arrays))]
                for path, array in zip(files, arrays):
                    np.save(path, array)
                out = os.path.join(folder, "out.npy")
                _, wrong = perform(program, [*files, out, *getattr(module, "ARGUMENTS", [])], mode, workers)
                wrong = wrong or examples.difference(module, np.load(out), module.expected(*arrays))
            if wrong:
                yield f"{name}, data {seed}, {mode}, {workers} workers: {wrong}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the programs example_NAME are")
    parser.add_argument("--data", type=int, default=0)
    parser.add_argument("--modes", default="plain")
    parser.add_argument("--workers", default="2")
    options = parser.parse_args()
    ways = [(mode, int(workers)) for workers in options.workers.split(",") for mode in options.modes.split(",")]
    found = [text for name in examples.NAMES for text in complaints(name, os.path.join(options.folder, f"example_{name}"), ways, options.data)]
    print("\n".join(found) or f"{len(examples.NAMES)} examples: all agree")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
