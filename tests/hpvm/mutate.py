"""Random changes of programs with dataflow graphs, as slips of the pen make them: what is compiled and linked either works, is refused by
Clang, or breaks a rule. Nothing else may be said, and nothing may crash or hang. What fails is kept.

    python3 tests/hpvm/mutate.py --strata build/bin/strata [--seconds 60] [--seed 1] [--keep FOLDER]"""

import argparse
import glob
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Words of programs that Strata has got wrong; its rules for graphs and for objects have codes of their own.
OUR_FAULT = re.compile(r"error of Strata|Stack dump|Assertion|UNREACHABLE|PLEASE submit|error\[(?!hpvm-|link-(?!unread))")


def changed(lines, pick):
    """One change of a program: a line that is lost, doubled or in another place, or another number, flag or name in it."""
    calls = [number for number, line in enumerate(lines) if "__hpvm__" in line or "call" in line and "llvm.hpvm" in line]
    at = pick.choice(calls) if calls and pick.random() < 0.7 else pick.randrange(len(lines))
    kind = pick.randrange(6)
    if kind == 0:
        return lines[:at] + lines[at + 1:]
    if kind == 1:
        return lines[:at] + [lines[at]] + lines[at:]
    result = list(lines)
    if kind == 2:
        other = pick.randrange(len(lines))
        result[at], result[other] = lines[other], lines[at]
    elif kind == 3:
        result[at] = re.sub(r"\d+", lambda match: str(pick.choice([0, 1, 2, 3, -1, 7, 1000000])), lines[at], count=1)
    elif kind == 4:
        result[at] = lines[at].replace(", 0)", ", 1)")
    else:
        names = re.findall(r"\b[a-z]\w*\b", " ".join(lines))
        result[at] = re.sub(r"\b[a-z]\w*\b", lambda match: pick.choice(names) if pick.random() < 0.3 else match[0], lines[at])
    return result


def trialOfIr(strata, file, program):
    """The same for HPVM IR, whose faults of grammar are told by Strata too."""
    try:
        linked = subprocess.run([strata, "build", file, "-o", program], capture_output=True, text=True, errors="replace", timeout=300)
        if OUR_FAULT.search(linked.stderr) or linked.returncode not in (0, 1):
            return f"status {linked.returncode}\n{linked.stderr}"
        if linked.returncode == 0:
            subprocess.run([program], capture_output=True, timeout=600)
    except subprocess.TimeoutExpired as late:
        return f"no end: {' '.join(late.cmd)}"
    return None


def trial(strata, text, ending, pick, folder):
    """What is wrong with how a program was dealt with; nothing where all is well."""
    file, program = os.path.join(folder, "program" + ending), os.path.join(folder, "program")
    with open(file, "w") as out:
        out.write(text)
    if ending == ".ll":
        return trialOfIr(strata, file, program)
    command = [strata, "c++" if ending == ".cpp" else "cc", pick.choice(["-O0", "-O1", "-O2"]), "-w", "-ferror-limit=1", file, "-o", program, "-lm"]
    try:
        linked = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300)
        if OUR_FAULT.search(linked.stderr) or linked.returncode not in (0, 1):
            return f"status {linked.returncode}\n{linked.stderr}"
        if linked.returncode == 0:  # a program that is wrong may do anything but wait for ever
            subprocess.run([program], capture_output=True, timeout=600)
    except subprocess.TimeoutExpired as late:
        return f"no end: {' '.join(late.cmd)}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=10**9, help="so many programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="")
    options = parser.parse_args()
    files = sorted(glob.glob(os.path.join(ROOT, "tests/hpvm/rules/*.nearly.c*")) + [
        path for path in glob.glob(os.path.join(ROOT, "examples/hpvm/*/*.c*"))
        if not os.path.exists(os.path.join(os.path.dirname(path), "Makefile"))])  # which are parts of a program
    files += 20 * sorted(glob.glob(os.path.join(ROOT, "tests/hpvm/ir/*.ll")))
    pick, end, count, failures = random.Random(options.seed), time.time() + options.seconds, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        while time.time() < end and count < options.count:
            path = pick.choice(files)
            with open(path) as file:
                lines = file.read().split("\n")
            for _ in range(pick.choice([1, 1, 1, 2, 3])):
                lines = changed(lines, pick)
            ending = os.path.splitext(path)[1]
            count += 1
            if wrong := trial(options.strata, "\n".join(lines), ending, pick, folder):
                failures += 1
                print(f"seed {options.seed}, program {count}, from {os.path.relpath(path, ROOT)}: {wrong}", flush=True)
                if options.keep:
                    os.makedirs(options.keep, exist_ok=True)
                    shutil.copy(os.path.join(folder, "program" + ending), os.path.join(options.keep, f"hpvm-{options.seed}-{count}{ending}"))
    print(f"{count} programs, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
