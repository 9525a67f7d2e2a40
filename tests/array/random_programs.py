"""Random loop programs on processor arrays: programs of ../differential/pla.py are written to files, and one process maps, instantiates and
simulates them, each with several distributions, orders, machines, sizes, regions and tiles (programs.cpp), against the interpreter of
equations, the verifier of symbolic configurations and the second implementation of instantiation. Several machines take turns.

  random_programs.py --programs build/tests/array_programs --machine machines/array-4x4/machine.yaml --seconds 60
  random_programs.py … --least 2000            fails where fewer runs are right
  random_programs.py … --seed 17 --count 1     one of them, told of in full"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent / "differential"))
import pla


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--machine", required=True, action="append")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="so many programs, however long it takes")
    parser.add_argument("--least", type=int, default=1, help="so many runs have to be right")
    options = parser.parse_args()
    machines = [word for machine in options.machine for word in ("--machine", machine)]
    sys.setrecursionlimit(20000)
    begin, seed, sums, failed = time.monotonic(), options.seed, [0, 0, 0, 0], False
    while seed < options.seed + options.count if options.count else time.monotonic() - begin < options.seconds:
        batch = 10
        if options.count:
            batch = min(batch, options.seed + options.count - seed)
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for number in range(seed, seed + batch):
                files.append(os.path.join(folder, f"random{number}.pla"))
                pathlib.Path(files[-1]).write_text(pla.Program(number).text())
            words = ["--verbose"] if options.count == 1 else []
            done = subprocess.run([options.programs, *machines, "--seed", str(seed), "--count", "2", "--runs", "30", *words, *files],
                                  capture_output=True, text=True, errors="replace", timeout=1800)
            counted = re.search(r"(\d+) right, (\d+) refused, (\d+) failed, of (\d+) programs", done.stdout)
            if done.returncode or not counted:
                failed = True
                print(f"FAIL from seed {seed} on, status {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}", flush=True)
            elif words:
                print(done.stdout)
            if counted:
                sums = [a + int(b) for a, b in zip(sums, counted.groups())]
        seed += batch
    right, refused, wrong, programs = sums
    if right < refused:  # programs that are refused are not tested
        failed = True
        print("FAIL more were refused than were right")
    if right < options.least:
        failed = True
        print(f"FAIL {right} runs were right, at least {options.least} have to be: give it more time")
    print(f"{programs} loop programs on arrays, {right + refused + wrong} runs: {right} right, {refused} refused, {wrong} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
