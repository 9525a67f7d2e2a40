"""The loop that random programs with a command of their own share: one case for each seed, as long or as many as asked for."""

import argparse
import os
import pathlib
import sys
import tempfile
import time

from sequoia import Server


def run(name, description, make_case, tell=lambda cases: ""):
    """Runs make_case(strata, folder, seed).run() for each seed, which says what is wrong, or nothing. A case that is right is cleaned; of one that is
    not, `words` is the command to repeat. tell(cases that were right) is the end of the last line. Exits with 1 if one failed, or none ran."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True, help="the command to test")
    parser.add_argument("--server", help="differential_server, which saves most of the time")
    parser.add_argument("--seconds", type=float, default=1e9, help="so long")
    parser.add_argument("--seed", type=int, default=0, help="the first program")
    parser.add_argument("--count", type=int, default=10**9, help="so many programs")
    parser.add_argument("--keep", help="folder for programs that fail")
    options = parser.parse_args()
    strata = os.path.realpath(options.strata)
    Server.path = options.server
    folder = options.keep or tempfile.mkdtemp()
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    end, failed, right = time.monotonic() + options.seconds, 0, []
    for seed in range(options.seed, options.seed + options.count):
        if time.monotonic() > end:
            break
        case = make_case(strata, folder, seed)
        if wrong := case.run():
            failed += 1
            print(f"{name}, program {seed}: {wrong}\n  {' '.join(case.words)}\n", flush=True)
        else:
            case.clean()
            right.append(case)
    tried = failed + len(right)
    print(f"{name}: {tried} programs, {failed} failed{tell(right)}")
    sys.exit(1 if failed or not tried else 0)
