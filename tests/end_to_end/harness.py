"""What the end-to-end tests share: running the strata command in a folder of its own, and comparing arrays. Each test file is a
program of its own: python3 FILE --strata build/bin/strata [--machine NAME] [--brief] [unittest's arguments]. With --brief, which is how
tests run by day, what repeats itself on other machines, at other sizes or with other numbers of threads is done once, and each time on
the next one (in_turn); by night all of it is done."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import need_numpy
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
options = argparse.Namespace(strata=os.path.join(ROOT, "build/bin/strata"), machine="host", brief=False)


class Result:
    def __init__(self, command, completed):
        self.command = command
        self.status = completed.returncode
        self.out = completed.stdout.decode(errors="replace")
        self.err = completed.stderr.decode(errors="replace")

    def __str__(self):
        return f"$ {' '.join(self.command)}\nstatus {self.status}\n{self.out}{self.err}"


class Case(unittest.TestCase):
    """A test with a folder of its own, which is the current folder of the commands it runs. LLVM optimises what its first command compiles, and
    does not what later ones compile, which saves most of their time: a program has the same bits either way. `optimise`: it does for all."""

    optimise = False
    commands = 0

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="strata-test-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return self.path(name)

    def save(self, name, array):
        np.save(self.path(name), array)
        return self.path(name)

    def strata(self, *arguments, timeout=300, **environment):
        env = {key: value for key, value in os.environ.items() if not key.startswith("STRATA_")}
        env["STRATA_VERIFY"] = "1"  # the program is verified after every pass
        env["STRATA_TUNED"] = ""  # no mapping of the user's that was found for the same program
        env["STRATA_OPTIMIZATION"] = "3" if self.optimise or self.commands == 0 else "0"
        self.commands += 1
        env.update(environment)
        command = [options.strata, *map(str, arguments)]
        try:
            completed = subprocess.run(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                                       capture_output=True, timeout=timeout)
        except subprocess.TimeoutExpired:
            self.fail(f"no end within {timeout} s: {' '.join(command)}")
        return Result(command, completed)

    def succeeds(self, *arguments, **keywords):
        result = self.strata(*arguments, **keywords)
        self.assertEqual(result.status, 0, f"should succeed:\n{result}")
        return result

    def is_refused(self, *arguments, code=None, mentions=(), errors=1, **keywords):
        """The user's error: status 1, so many errors, each with words to go by, and nothing left behind."""
        before = set(os.listdir(self.folder))
        result = self.strata(*arguments, **keywords)
        self.assertEqual(result.status, 1, f"should end with status 1:\n{result}")
        found = len(re.findall(r"(?:^|: )error(?:\[[^\]]*\])?: ", result.err, re.MULTILINE))
        self.assertEqual(found, errors, f"should report {errors} error(s):\n{result}")
        for text in ([code] if code else []) + ([mentions] if isinstance(mentions, str) else list(mentions)):
            self.assertIn(text, result.err, f"should mention {text!r}:\n{result}")
        for text in ("Assertion", "Stack dump", "PLEASE submit", "Sanitizer", "terminate called"):
            self.assertNotIn(text, result.err, f"should not crash:\n{result}")
        self.assertEqual(set(os.listdir(self.folder)), before, f"should leave no files behind:\n{result}")
        return result


def less(by_day, by_night):
    """What is tried: with --brief the first."""
    return by_day if options.brief else by_night


def unless_brief(is_left_out, test):
    """The test, which --brief leaves out where that is said."""
    def by_night_only(self):
        if options.brief:
            self.skipTest("by night")
        test(self)
    return by_night_only if is_left_out else test


class Argument:
    """A parameter of a task: direction (in, inout, out), element type, name, dimensions as written."""

    NUMPY = {"float": "f4", "double": "f8", "int": "i4", "unsigned": "u4", "unsigned int": "u4", "long": "i8",
             "unsigned long": "u8", "short": "i2", "unsigned short": "u2", "char": "i1", "unsigned char": "u1",
             "complex": "c8", "record": [("key", "<i4"), ("weight", "<f4")]}

    def __init__(self, text):
        match = re.fullmatch(r"\s*(in|inout|out)\s+([\w\s]+?)\s+(\w+)\s*((?:\[[^\]]*\])*)\s*", text)
        if not match:
            raise ValueError(f"not a parameter: {text!r}")
        self.direction, element, self.name, dimensions = match.groups()
        self.dtype = np.dtype(self.NUMPY[element]) if element in self.NUMPY else None
        self.dimensions = re.findall(r"\[([^\]]*)\]", dimensions)


def sanitizer():
    """The sanitizer that the command was built with, "asan" or "tsan", by its folder; else nothing."""
    match = re.search(r"/build/([at]san)/", options.strata)
    return match and match[1]


def thread_counts():
    """With how many threads a program is run, one count after the other; one comes twice."""
    return less((1, 7), (1, 2, 7, 7))


def in_turn(ways, number):
    """In which of several ways the test with this number is done: in all of them, with --brief in one."""
    return [ways[number % len(ways)]] if options.brief else list(ways)


def prototype(path):
    """The name and parameters of the first task whose prototype stands in a Sequoia program: its entry task."""
    with open(path) as file:
        text = re.sub(r"//[^\n]*|/\*[\s\S]*?\*/", "", file.read())
    match = re.search(r"void\s+task\s+(\w+)\s*\(([^)]*)\)\s*;", text)
    if not match:
        raise ValueError(f"no task prototype in {path}")
    return match[1], [Argument(part) for part in match[2].split(",")]


def main():
    """Takes --strata, --machine and --brief (fewer ways to run each program) off the command line and runs unittest on the rest."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--strata", default=options.strata)
    parser.add_argument("--machine", default=options.machine)
    parser.add_argument("--brief", action="store_true")
    known, rest = parser.parse_known_args()
    options.strata = os.path.abspath(known.strata)
    options.machine = known.machine
    options.brief = known.brief
    if not os.access(options.strata, os.X_OK):
        sys.exit(f"there is no strata at {options.strata}; build it with ./dev build")
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)
