"""What the rules share: walking the source tree and reporting. A rule is a program, python3 RULE.py ROOT, that prints every breach with
what to do about it and ends with status 1 when there are any; its docstring is the rule."""

import os
import re
import sys

FOLDERS = ("base", "runtime", "compiler", "include", "tests", "benchmarks")


def root():
    return os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "../.."))


def files(*endings, folders=FOLDERS):
    """Paths from the root, sorted, of the files with one of the endings."""
    for folder in folders:
        for where, inner, names in os.walk(os.path.join(root(), folder)):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            for name in sorted(names):
                if name.endswith(endings):
                    yield os.path.relpath(os.path.join(where, name), root())


def read(path):
    with open(os.path.join(root(), path), encoding="utf-8", errors="replace") as file:
        return file.read()


def is_test(path):
    return path.startswith("tests/") or re.search(r"_(test|fuzz)\.cpp$|_testing\.(h|cpp)$", path) is not None


def without_comments(text):
    """The text with comments blanked, lines kept; string literals stay as they are."""
    def blank(match):
        return match[0] if match[0][0] in "\"'" else re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', blank, text, flags=re.DOTALL)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def report(breaches, rule, remedy):
    """Prints the breaches, each a path:line: text, and ends the program."""
    for breach in breaches:
        print(breach)
    if breaches:
        print(f"\n{len(breaches)} breach(es) of a rule of this tree: {' '.join(rule.split())}\n{' '.join(remedy.split())}")
        sys.exit(1)
    print("kept")
