"""What took long: python3 times.py BUILD… prints the slowest tests of the last run in these build folders and the slowest objects of their last
builds; python3 times.py --failed BUILD prints of each test that failed how long it took, and what ran beside it.

Tests are read from BUILD/tests.log, which ./dev makes of what ctest prints; objects from ninja's log."""

import argparse
import os
import re
import sys

MOST = 20


class Test:
    def __init__(self, name, beside):
        self.name, self.beside = name, set(beside)
        self.seconds, self.failed = None, False


def tests_of(folder):
    """The tests of the last run by name. ctest says when each starts and ends, so that those in between ran beside it."""
    found, running = {}, []
    path = os.path.join(folder, "tests.log")
    if not os.path.exists(path):
        return found
    with open(path, errors="replace") as file:
        for line in file:
            if start := re.match(r"\s+Start +\d+: (\S+)", line):
                test = found[start[1]] = Test(start[1], running)
                for name in running:
                    found[name].beside.add(test.name)
                running.append(test.name)
            elif end := re.match(r"\s*\d+/\d+ Test +#\d+: (\S+) [. ]*(\*{3}\S+|\S+).*?([\d.]+) sec", line):
                test = found.get(end[1])
                if test and test.name in running:
                    running.remove(test.name)
                    test.seconds, test.failed = float(end[3]), end[2] != "Passed"
    return found


def objects_of(folder):
    """The seconds that each file took when it was made last, by name."""
    took = {}
    path = os.path.join(folder, ".ninja_log")
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                words = line.rstrip("\n").split("\t")
                if len(words) == 5:
                    took[words[3]] = (int(words[1]) - int(words[0])) / 1000
    return took


def table(title, seconds):
    print(f"{title}: {len(seconds)}, {sum(seconds.values()):.0f} s in all")
    for name, took in sorted(seconds.items(), key=lambda item: -item[1])[:MOST]:
        print(f"  {took:7.1f} s  {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", metavar="BUILD")
    parser.add_argument("--failed", action="store_true", help="of tests that failed")
    options = parser.parse_args()
    for folder in options.builds:
        tests = tests_of(folder)
        if options.failed:
            for test in tests.values():
                if test.failed:
                    print(f"{test.name} failed after {test.seconds:.1f} s; beside it ran {', '.join(sorted(test.beside)) or 'nothing'}")
            continue
        if tests:
            table(f"tests in {folder}", {test.name: test.seconds for test in tests.values() if test.seconds is not None})
        if objects := objects_of(folder):
            table(f"files made in {folder}", objects)


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read has had enough; nothing is left to be flushed at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
