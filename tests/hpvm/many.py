"""Random programs one after another, or some at a time, for so long or so many: what random_graphs.py and random_leaves.py share."""

import argparse
import os
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor


def options(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, help="so many, however long it takes")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--sanitize", help="sanitizers for all code of the program, as a compiler with sanitizers needs it: address,undefined")
    parser.add_argument("--keep", help="a folder for programs that fail")
    return parser.parse_args()


def batches(given):
    """Seeds, as many at a time as there are jobs."""
    seed = given.seed
    end = float("inf") if given.count is None else seed + given.count
    while seed < end:
        batch = range(seed, int(min(seed + given.jobs, end)))
        yield batch
        seed = batch.stop


def try_many(given, run, what):
    """Calls run(strata, clang, seed, folder, options of the compiler), which tells what is wrong with one program. An exit status."""
    strata = os.path.abspath(given.strata)
    sanitize = [f"-fsanitize={given.sanitize}"] if given.sanitize else []
    begin, tried, failed = time.monotonic(), 0, 0

    def attempt(seed):
        with tempfile.TemporaryDirectory() as folder:
            wrong = run(strata, given.clang, seed, folder, sanitize)
            if wrong:
                print(f"FAIL seed {seed}: {wrong[:3000]}", flush=True)
                if given.keep:
                    shutil.copytree(folder, os.path.join(given.keep, str(seed)), dirs_exist_ok=True)
        return bool(wrong)

    with ThreadPoolExecutor(given.jobs) as pool:
        for batch in batches(given):
            if given.count is None and time.monotonic() - begin >= given.seconds:
                break
            results = list(pool.map(attempt, batch))
            tried += len(results)
            failed += sum(results)
    print(f"{tried} programs of {what}, {failed} failed")
    return failed != 0
