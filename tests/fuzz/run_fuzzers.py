"""Runs every libFuzzer program of a folder for a share of the time given, two at a time: python3 run_fuzzers.py FOLDER ROOT --seconds 60.

Each keeps its corpus beside it from run to run. The first seeds are the files that tests/fuzz/seeds.txt names for it. Ends with
status 1 when one fails, and shows the input that did it."""

import argparse
import glob
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def seeds(root, name):
    """Files named for a fuzzer in seeds.txt, whose lines are: FUZZER PATTERN…"""
    files = []
    with open(os.path.join(root, "tests/fuzz/seeds.txt")) as table:
        for line in table:
            words = line.split("#")[0].split()
            if words and words[0] == name:
                for pattern in words[1:]:
                    files += glob.glob(os.path.join(root, pattern), recursive=True)
    return sorted(files)


def fuzz(root, program, seconds):
    name = os.path.basename(program)
    folder = os.path.join(os.path.dirname(program), "corpus", name)
    os.makedirs(folder, exist_ok=True)
    for index, file in enumerate(seeds(root, name)):
        if os.path.isfile(file):
            shutil.copyfile(file, os.path.join(folder, f"seed-{index}"))
    prefix = os.path.join(os.path.dirname(program), name + "-")
    completed = subprocess.run(
        [program, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1",
         f"-artifact_prefix={prefix}", folder],
        cwd=os.path.dirname(program), capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    runs = [line.split()[-1] for line in completed.stderr.splitlines() if line.startswith("stat::number_of_executed_units")]
    return name, completed.returncode, runs[0] if runs else "?", completed.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("root")
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    programs = sorted(p for p in glob.glob(os.path.join(os.path.abspath(options.folder), "*_fuzz")) if os.access(p, os.X_OK))
    if not programs:
        sys.exit(f"there are no fuzzers in {options.folder}")
    workers = max(1, min(os.cpu_count() or 1, len(programs)))
    seconds = max(1, options.seconds * workers // len(programs))
    print(f"fuzzing {', '.join(os.path.basename(p) for p in programs)}: {seconds} s each", flush=True)
    failed = False
    with ThreadPoolExecutor(workers) as pool:
        for name, status, runs, log in pool.map(lambda p: fuzz(options.root, p, seconds), programs):
            print(f"  {name}: {runs} inputs, {'no failure' if status == 0 else 'FAILED'}", flush=True)
            if status != 0:
                failed = True
                print(log[-6000:])
    sys.exit(1 if failed else 0)


main()
