"""The rules of the Sequoia language, each with a program that breaks it and one that nearly does, in tests/sequoia/rules/. CODE.breaks.sq
provokes the diagnostic CODE at the line and column that its comment '// expected CODE LINE:COLUMN' states; CODE.nearly.sq provokes nothing.
A comment '// run OPTIONS' says that the program has to run for that; else it is checked only. CODE.….map beside one is its mapping."""

import argparse
import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules")
# The code of a run that failed stands at the end of its message.
MESSAGE = re.compile(r"^(?:error|warning)\[([\w-]+)\]: .*?(?: \[([\w-]+)\])?\n +--> \S+?:(\d+):(\d+)", re.MULTILINE)


def command(path, text):
    """The arguments of the command that is to provoke, or not to provoke, the diagnostic."""
    run = re.search(r"^// run (.*)$", text, re.MULTILINE)
    mapping = path[:-3] + ".map"
    return (["run", path, *run[1].split()] if run else ["check", path]) + (["--map", mapping] if os.path.exists(mapping) else [])


def problem(strata, path):
    """What is wrong with one file, or nothing."""
    code, kind, _ = os.path.basename(path).rsplit(".", 2)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    done = subprocess.run([strata, *command(path, text)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)
    found = [(failed or kind_of, f"{line}:{column}") for kind_of, failed, line, column in MESSAGE.findall(done.stderr)]
    if kind == "nearly":
        clean = done.returncode == 0 and not re.search(r"^(error|warning)", done.stderr, re.MULTILINE)
        return None if clean else f"is to provoke nothing:\n{done.stderr}"
    expected = re.search(r"^// expected ([\w-]+) (\d+:\d+)$", text, re.MULTILINE)
    if not expected or expected[1] != code:
        return f"states no '// expected {code} LINE:COLUMN'"
    return None if expected.groups() in found else f"is to provoke {code} at {expected[2]}:\n{done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strata", required=True)
    options = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.sq")))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [(path, what) for path, what in zip(paths, pool.map(lambda path: problem(options.strata, path), paths)) if what]
    for path, what in wrong:
        print(f"{os.path.relpath(path)} {what}")
    print(f"{len(paths)} programs, {len(wrong)} wrong")
    sys.exit(1 if wrong or not paths else 0)


if __name__ == "__main__":
    main()
