"""Includes point downwards only, in the order of tests/rules/include_order.txt, among the folders of a notation too; notations do not
include each other, and neither do targets."""

import os
import re

import tree


def orders():
    """Of each order its folder ("" for the tree's) and (level, group, pattern) of each folder in it; folders of one group may
    include each other."""
    result = {"": []}
    inside = ""
    for level, line in enumerate(l for l in tree.read("tests/rules/include_order.txt").splitlines() if l and l[0] != "#"):
        if line.endswith(":"):
            inside = line[:-1] + "/"
            result[inside] = []
            continue
        if line[0] != " ":
            inside = ""
        for group, part in enumerate(line.split("|")):
            for pattern in part.split():
                result[inside].append((level, group, inside + pattern))
    return result


def place(path, order):
    """(level, group) of a file, with the folder in the group where a star stood for it; None where it is not listed."""
    for level, group, pattern in order:
        match = re.match(re.escape(pattern).replace(r"\*", "([^/]+)") + "/", path)
        if match:
            return level, (group, *match.groups())
    return None


def forbidden(path, included):
    """Whether one of the orders keeps a file from including another."""
    for inside, order in ORDERS.items():
        if path.startswith(inside) and included.startswith(inside):
            here, there = place(path, order), place(included, order)
            if here and there and (there[0] < here[0] or (there[0] == here[0] and there[1] != here[1])):
                return True
    return False


def unlisted(path):
    """Whether an order leaves out the file's folder; what stands in a notation's folder itself is about all of it."""
    return any(path.startswith(inside) and place(path, order) is None and (not inside or "/" in path[len(inside):])
               for inside, order in ORDERS.items())


ORDERS = orders()
breaches = []
for path in tree.files(".h", ".cpp", ".c", ".td", folders=("base", "runtime", "compiler")):
    if tree.is_test(path):
        continue
    if unlisted(path):
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
        if forbidden(path, included):
            breaches.append(f"{path}:{tree.line_of(text, match.start(1))}: includes {included}")
tree.report(breaches, __doc__, """What both need belongs in a folder below both; what the lower one needs of the upper one is handed to it.""")
