"""Random graphs as programs in C: written by svm_graphs, compiled by strata cc (and gcc), on two machines, checked and not, with 1, 2 and 7
workers; they print what the sequential interpretation has found. Of each there is one in which two streams share storage by accident,
which checked mode has to tell. python3 programs.py SVM_GRAPHS STRATA [--seed N] [--count N]"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ["main.c", "kernels.c", "entities.c"]


def machine(strata, folder, seed):
    """Writes the header of one of two machines: of the second, addresses count bytes."""
    with open(os.path.join(HERE, "field.yaml"), encoding="utf-8") as file:
        text = file.read()
    if seed % 2:
        text = text.replace("machine: field", "machine: meadow").replace("unit: 4", "unit: 1")
    path = os.path.join(folder, "machine.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([strata, "machine", path, "--header", "-o", os.path.join(folder, "machine.h")], check=True, timeout=600)


def build(strata, folder, seed):
    """A work function's variables have to fit its stack of 60 KiB, and without optimisation those of each block have room of their own."""
    level = ["-O0", "-O1", "-O2", "-O3"][seed % 4]
    command = [strata, "cc", "-std=c11", level, "-Wframe-larger-than=50000", "-Wall", "-Wextra", "-Werror", "-I.", *FILES, "-o", "program"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    if level == "-O0" and "frame-larger-than" in done.stderr:
        command[3] = "-O1"
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{folder}: {done.stderr}")


def run(folder, mode, workers):
    kept = {key: value for key, value in os.environ.items() if not key.startswith("STRATA_")}
    return subprocess.run([os.path.join(folder, "program")], cwd=folder, capture_output=True, text=True, timeout=600,
                          env=dict(kept, STRATA_SVM=mode, STRATA_THREADS=str(workers)))


def check(graphs, strata, folder, seed):
    """What is wrong with the programs of a seed, or nothing; and whether there was one with streams that share."""
    subprocess.run([graphs, "--write", folder, "--seed", str(seed)], check=True, timeout=600)
    machine(strata, folder, seed)
    build(strata, folder, seed)
    with open(os.path.join(folder, "expected"), encoding="utf-8") as file:
        expected = file.read()
    for mode, workers in (("plain", 1), ("plain", 2), ("plain", 7), ("checked", 1), ("checked", 7)):
        done = run(folder, mode, workers)
        if (done.returncode, done.stdout, done.stderr) != (0, expected, ""):
            return f"seed {seed}, {mode}, {workers} workers: status {done.returncode}\n{done.stderr}{done.stdout}instead of\n{expected}", False
    # One in which two streams share.
    written = subprocess.run([graphs, "--shared", folder, "--seed", str(seed)], check=False, timeout=600).returncode
    if written == 3:
        return "", False
    build(strata, folder, seed)
    for workers in (1, 7):
        done = run(folder, "checked", workers)
        if done.returncode != 1 or "[svm-unaliased]" not in done.stderr:
            return f"seed {seed}, streams that share: status {done.returncode}\n{done.stderr}", True
    return "", True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graphs")
    parser.add_argument("strata")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5)
    options = parser.parse_args()
    options.graphs, options.strata = os.path.abspath(options.graphs), os.path.abspath(options.strata)
    shared = 0
    for seed in range(options.seed, options.seed + options.count):
        folder = tempfile.mkdtemp(prefix="svm-program-")
        wrong, shares = check(options.graphs, options.strata, folder, seed)
        shared += shares
        if wrong:
            sys.exit(f"{wrong}\nthe program is in {folder}")
        shutil.rmtree(folder)
    print(f"{options.count} programs: all print what they should; {shared} in which streams share: all are refused")


if __name__ == "__main__":
    main()
