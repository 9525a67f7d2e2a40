"""Random loop programs on processor arrays: programs of ../differential/pla.py are written to files, and one process maps, instantiates and
simulates them, each with several distributions, orders, machines, sizes, regions and tiles (programs.cpp), against the interpreter of
equations and the second implementation of instantiation.

  random_programs.py --programs build/tests/array_programs --machine machines/array-4x4/machine.yaml --seconds 60
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
    parser.add_argument("--machine", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="so many programs, however long it takes")
    options = parser.parse_args()
    sys.setrecursionlimit(20000)
    begin, seed, sums, failed = time.monotonic(), options.seed, [0, 0, 0], False
    while seed < options.seed + options.count if options.count else time.monotonic() - begin < options.seconds:
        batch = min(10, options.seed + options.count - seed) if options.count else 10
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for number in range(seed, seed + batch):
                files.append(os.path.join(folder, f"random{number}.pla"))
                pathlib.Path(files[-1]).write_text(pla.Program(number).text())
            words = ["--verbose"] if options.count == 1 else []
            done = subprocess.run([options.programs, "--machine", options.machine, "--seed", str(seed), "--count", "2", "--runs", "6", *words, *files],
                                  capture_output=True, text=True, errors="replace", timeout=1800)
            counted = re.search(r"(\d+) right, (\d+) refused, (\d+) failed", done.stdout)
            if done.returncode or not counted:
                failed = True
                print(f"FAIL from seed {seed} on, status {done.returncode}:\n{done.stdout[-4000:]}{done.stderr[-4000:]}", flush=True)
            elif words:
                print(done.stdout)
            if counted:
                sums = [a + int(b) for a, b in zip(sums, counted.groups())]
        seed += batch
    if sums[0] < sums[1]:  # programs that are refused are not tested
        failed = True
        print("FAIL more were refused than were right")
    print(f"{sums[0]} right, {sums[1]} refused, {sums[2]} failed, of {seed - options.seed} loop programs on an array")
    return failed


if __name__ == "__main__":
    sys.exit(main())
