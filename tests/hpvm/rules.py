"""The rules of HPVM programs, each with a program that breaks it and one that nearly does, in tests/hpvm/rules/. NAME.c breaks one:
its comment '// expected CODE LINE' or '// expected CODE LINE:COLUMN' states the error of the link and its place, or '// runs expected TEXT'
what it prints as it ends with status 1. NAME.nearly.c compiles, links and ends with status 0, and nothing is said. '// options …' are
options of the compiler, -O1 where there are none. The same for .cpp. Every code that compiler/hpvm/ declares has such a program, but those
of HPVM IR (hpvm-ir-…), which are in tests/end_to_end/hpvm_ir_test.py."""

import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "rules")
COMPILER = os.path.join(os.path.dirname(os.path.dirname(HERE)), "compiler", "hpvm")
MESSAGE = re.compile(r"^(?:error|warning)\[([\w-]+)\]: .*\n +--> (\S+?):(\d+):(\d+)", re.MULTILINE)
CRASH = re.compile(r"Assertion|Stack dump|PLEASE submit|Sanitizer|terminate called|Segmentation fault")
AT_ONCE = 2


def codes():
    """The codes of errors that compiler/hpvm/ declares."""
    found = set()
    for path in glob.glob(os.path.join(COMPILER, "*", "*.cpp")):
        with open(path, encoding="utf-8") as file:
            found.update(re.findall(r'STRATA_DIAGNOSTIC\(\w+,\s*Error,\s*"(hpvm-(?!ir-)[\w-]+)"', file.read()))
    return found


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=600)
    return done.returncode, done.stdout + done.stderr


def problem(strata, path, more=()):
    """What is wrong with one file, or nothing. `more`: options of the compiler beside the file's."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = os.path.basename(path)
    if not re.match(r"// [A-Z].*\.\n", text):
        return "does not begin with the rule, as a sentence in a comment"
    is_nearly = ".nearly." in name
    expected = re.search(r"^// expected (hpvm-[\w-]+) (\d+(?::\d+)?)$", text, re.MULTILINE)
    runs = re.search(r"^// runs expected (.+)$", text, re.MULTILINE)
    if is_nearly and (expected or runs):
        return "expects a message, and is to provoke none"
    if not is_nearly and bool(expected) == bool(runs):
        return "is to have one line '// expected CODE LINE' or '// runs expected TEXT'"
    options = re.search(r"^// options (.+)$", text, re.MULTILINE)
    compiler = "cc" if name.endswith(".c") else "c++"
    with tempfile.TemporaryDirectory(prefix="strata-hpvm-") as folder:
        status, said = run([strata, compiler, *(options[1].split() if options else ["-O1"]), *more, path, "-o", "program"], folder)
        if CRASH.search(said):
            return f"crashes the compiler:\n{said}"
        if expected:
            found = [code for code, at, line, column in MESSAGE.findall(said)
                     if os.path.basename(at) == name and expected[2] in (line, f"{line}:{column}")]
            fine = status == 1 and expected[1] in found and not os.path.exists(os.path.join(folder, "program"))
            return None if fine else f"is to provoke {expected[1]} at {expected[2]}; status {status}:\n{said}"
        if status or said:
            return f"is to compile and link without a message; status {status}:\n{said}"
        status, said = run([os.path.join(folder, "program")], folder)
        if CRASH.search(said):
            return f"crashes:\n{said}"
        if runs:
            return None if status == 1 and runs[1] in said else f"is to end with {runs[1]!r} and status 1; status {status}:\n{said}"
        return f"is to end well; status {status}:\n{said}" if status or said else None


def attempt(strata, path):
    try:
        return problem(strata, path)
    except subprocess.TimeoutExpired as late:
        return f"does not end within {late.timeout:g} s: {' '.join(late.cmd)}"


def gaps(paths):
    """Halves of pairs that are missing, and codes without a pair."""
    halves = collections.defaultdict(list)
    provoked = set()
    for path in paths:
        pair, _, kind = os.path.basename(path).partition(".")
        halves[pair].append(kind)
        with open(path, encoding="utf-8") as file:
            provoked.update(re.findall(r"^// expected (\S+)", file.read(), re.MULTILINE))
    for pair, kinds in sorted(halves.items()):
        if sorted(kinds) not in (["c", "nearly.c"], ["cpp", "nearly.cpp"]):
            yield f"{pair} is to be two programs, {pair}.c and {pair}.nearly.c or both in C++, and is {', '.join(kinds)}"
    # What mapping files and machines have to do with is tested in end_to_end/hpvm_machines_test.py.
    for code in sorted(code for code in codes() - provoked if not code.startswith(("hpvm-map-", "hpvm-machine-"))):
        yield f"{code} is an error of compiler/hpvm/, and no program provokes it"
    for code in sorted(provoked - codes()):
        yield f"{code} is expected, and is no error of compiler/hpvm/"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--strata", required=True)
    parser.add_argument("pairs", nargs="*", help="only these, by name")
    options = parser.parse_args()
    strata = os.path.abspath(options.strata)
    paths = sorted(glob.glob(os.path.join(FOLDER, "*.c")) + glob.glob(os.path.join(FOLDER, "*.cpp")))
    wrong = [] if options.pairs else list(gaps(paths))
    chosen = [path for path in paths if not options.pairs or os.path.basename(path).partition(".")[0] in options.pairs]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = pool.map(lambda path: attempt(strata, path), chosen)
        wrong += [f"{os.path.relpath(path)} {what}" for path, what in zip(chosen, results) if what]
    print(*wrong, f"{len(chosen)} programs, {len(wrong)} wrong", sep="\n")
    sys.exit(1 if wrong or not chosen else 0)


if __name__ == "__main__":
    main()
