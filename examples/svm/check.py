"""Compiles examples, runs them on random data and on their own, and compares the results with those of NAME/check.py:

    python3 check.py [NAME…] [--cc gcc] [--machine tiles] [--seed 7] [--strata …/bin/strata]

They are compiled by `strata cc`, or by a compiler of your choice when pkg-config finds strata-svm."""

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = sorted(name for name in os.listdir(HERE) if os.path.exists(os.path.join(HERE, name, "check.py")))


def reference(name):
    """The module NAME/check.py: data(random) gives arrays, expected(*arrays) the result, which is to be equal, or near for a TOLERANCE of
    the greatest element; ARGUMENTS stand behind the files."""
    spec = importlib.util.spec_from_file_location(f"check_{name}", os.path.join(HERE, name, "check.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(name, program, compiler, flags, machine="pca", headers=None):
    """Compiles an example. For another machine `headers` is a folder that has its header."""
    command = [*compiler, "-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", os.path.join(HERE, name, name + ".c"), "-o", program]
    if machine != "pca":
        command += [f'-DEXAMPLE_MACHINE="{machine}/machine.h"', f"-I{HERE}", f"-I{headers}"]
    subprocess.run([*command, *flags, "-lm"], check=True)


def run(program, module, arrays, folder, environment=None, timeout=300):
    """The result of a program for some arrays."""
    files = []
    for number, array in enumerate(arrays):
        files.append(os.path.join(folder, f"in{number}.npy"))
        np.save(files[-1], array)
    files.append(os.path.join(folder, "out.npy"))
    subprocess.run([program, *files, *getattr(module, "ARGUMENTS", [])], check=True, stdout=subprocess.DEVNULL, env=environment, timeout=timeout)
    return np.load(files[-1])


def difference(module, result, wanted):
    """A text that says how a result differs from what is wanted; empty when it does not."""
    if result.shape != wanted.shape or result.dtype != wanted.dtype:
        return f"{result.dtype}{result.shape} instead of {wanted.dtype}{wanted.shape}"
    if module.TOLERANCE == 0:
        places = np.flatnonzero(result.ravel() != wanted.ravel())
    else:
        allowed = module.TOLERANCE * max(1, np.abs(wanted).max())
        places = np.flatnonzero(~(np.abs(result - wanted).ravel() <= allowed))
    if not len(places):
        return ""
    first = np.unravel_index(places[0], result.shape)
    return f"{len(places)} of {result.size} elements differ; element {first} is {result[first]} instead of {wanted[first]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", default=NAMES)
    parser.add_argument("--cc", help="a compiler other than strata cc")
    parser.add_argument("--strata", default="strata")
    parser.add_argument("--machine", default="pca", choices=["pca", "tiles"])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    compiler, flags = [options.strata, "cc"], []
    if options.cc:
        compiler = options.cc.split()
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "strata-svm"], check=True, capture_output=True, text=True).stdout.split()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.machine != "pca":
            description = os.path.join(HERE, options.machine, options.machine + ".yaml")
            subprocess.run([options.strata, "machine", description, "--header", "-o", os.path.join(folder, options.machine + ".h")], check=True)
        for name in options.names:
            program, module = os.path.join(folder, name), reference(name)
            build(name, program, compiler, flags, options.machine, folder)
            said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
            arrays = module.data(np.random.default_rng(options.seed))
            wrong = difference(module, run(program, module, arrays, folder), module.expected(*arrays))
            failures += wrong != ""
            print(f"{name}: {wrong or 'agrees'}; on its own: {said.strip()}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
