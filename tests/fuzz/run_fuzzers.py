"""Runs every libFuzzer program of a folder, two at a time: python3 run_fuzzers.py FOLDER ROOT tries as many inputs of each as
tests/fuzz/seeds.txt says, the same ones everywhere; with --seconds 60 for a share of that time, other ones each time, and each keeps its corpus
beside it from run to run. With --only NAME this one. The first inputs are the files that seeds.txt names. Ends with status 1 when one fails, and
shows the input that did it."""

import argparse
import glob
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor


def seeds(root, name):
    """How many inputs seeds.txt says for a fuzzer, and the files that it names, whose lines are: FUZZER COUNT PATTERN…"""
    count, files = 0, []
    with open(os.path.join(root, "tests/fuzz/seeds.txt")) as table:
        for line in table:
            words = line.split("#")[0].split()
            if words and words[0] == name:
                count = int(words[1])
                for pattern in words[2:]:
                    files += glob.glob(os.path.join(root, pattern), recursive=True)
    if not count:
        sys.exit(f"tests/fuzz/seeds.txt says of {name} not how many inputs it tries by day")
    return count, sorted(files)


def fuzz(root, program, seconds):
    name = os.path.basename(program)
    count, files = seeds(root, name)
    folder = os.path.join(os.path.dirname(program), "corpus" if seconds else "corpus-by-day", name)
    if not seconds:
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    for index, file in enumerate(files):
        if os.path.isfile(file):
            shutil.copyfile(file, os.path.join(folder, f"seed-{index}"))
    prefix = os.path.join(os.path.dirname(program), name + "-")
    completed = subprocess.run(
        [program, *([f"-max_total_time={seconds}"] if seconds else [f"-runs={count}", "-seed=1"]), "-timeout=100", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1",
         f"-artifact_prefix={prefix}", folder],
        cwd=os.path.dirname(program), capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    runs = [line.split()[-1] for line in completed.stderr.splitlines() if line.startswith("stat::number_of_executed_units")]
    return name, completed.returncode, runs[0] if runs else "?", completed.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("root")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("--only", default="*_fuzz")
    options = parser.parse_args()
    programs = sorted(p for p in glob.glob(os.path.join(os.path.abspath(options.folder), options.only)) if os.access(p, os.X_OK))
    if not programs:
        sys.exit(f"there are no fuzzers in {options.folder}")
    workers = max(1, min(os.cpu_count() or 1, len(programs)))
    seconds = max(1, options.seconds * workers // len(programs)) if options.seconds else None
    print(f"fuzzing {', '.join(os.path.basename(p) for p in programs)}{f': {seconds} s each' if seconds else ''}", flush=True)
    failed = False
    with ThreadPoolExecutor(workers) as pool:
        for name, status, runs, log in pool.map(lambda p: fuzz(options.root, p, seconds), programs):
            print(f"  {name}: {runs} inputs, {'no failure' if status == 0 else 'FAILED'}", flush=True)
            if status != 0:
                failed = True
                print(log[-6000:])
    sys.exit(1 if failed else 0)


main()
