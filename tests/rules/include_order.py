"""Includes point downwards only, in the order of tests/rules/include_order.txt; notations do not include each other, and
neither do targets."""

import os
import re

import tree


def layers():
    """(level, group, pattern) of each folder; folders of one group may include each other."""
    result = []
    for level, line in enumerate(l for l in tree.read("tests/rules/include_order.txt").splitlines() if l and l[0] != "#"):
        for group, part in enumerate(line.split("|")):
            for pattern in part.split():
                result.append((level, group, pattern))
    return result


def place(path, order):
    """(level, group) of a file, with the folder in the group where a star stood for it; None where it is not listed."""
    for level, group, pattern in order:
        match = re.match(re.escape(pattern).replace(r"\*", "([^/]+)") + "/", path)
        if match:
            return level, (group, *match.groups())
    return None


order = layers()
breaches = []
for path in tree.files(".h", ".cpp", ".c", ".td", folders=("base", "runtime", "compiler")):
    if tree.is_test(path):
        continue
    here = place(path, order)
    if here is None:
        breaches.append(f"{path}:1: its folder is not in tests/rules/include_order.txt")
        continue
    text = tree.read(path)
    for match in re.finditer(r'^\s*(?:#\s*)?include\s+["<]([^">]+)[">]', tree.without_comments(text), re.MULTILINE):
        included = match[1]
        beside = os.path.normpath(os.path.join(os.path.dirname(path), included))
        if not included.startswith(("base/", "runtime/", "compiler/", "include/")):
            if os.path.exists(os.path.join(tree.root(), beside)) and beside.startswith(("base/", "runtime/", "compiler/")):
                included = beside
            else:
                continue
        there = place(included, order)
        if there is None:
            continue
        if there[0] < here[0] or (there[0] == here[0] and there[1] != here[1]):
            breaches.append(f"{path}:{tree.line_of(text, match.start(1))}: includes {included}")
tree.report(breaches, __doc__, """What both need belongs in a folder below both; what the lower one needs of the upper one is handed to it.""")
