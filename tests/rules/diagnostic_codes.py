"""Every diagnostic kind has a code of its own, in kebab case, and a test that provokes it and names the code; its name is one of a
kind in its folder, whose files may be compiled as one; what programs of streams end with is listed in docs/svm.md."""

import os
import re

import tree

declared = {}
named = {}
breaches = []
for path in tree.files(".cpp", ".h", folders=("base", "runtime", "compiler")):
    if tree.is_test(path):
        continue
    text = tree.without_comments(tree.read(path))
    for match in re.finditer(r'^[ \t]*STRATA_DIAGNOSTIC\(\s*(\w+),\s*\w+,\s*"([^"]*)"', text, re.MULTILINE):
        place = f"{path}:{tree.line_of(text, match.start())}"
        name, code = match.groups()
        there = named.setdefault((os.path.dirname(path), name), place)
        if there != place:
            breaches.append(f"{place}: the name {name} is declared at {there} too")
        if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)+", code):
            breaches.append(f"{place}: the code '{code}' is not in kebab case beginning with its subject")
        if code in declared:
            breaches.append(f"{place}: the code '{code}' is declared at {declared[code]} too")
        declared.setdefault(code, place)

tests = "\n".join(
    tree.read(path) for path in tree.files(".cpp", ".h", ".py", ".mlir", ".test", ".sq", ".map", ".c", ".yaml", ".xml", folders=("base", "runtime", "compiler", "tests"))
    if tree.is_test(path))
# Words of letters, digits and hyphens that tests have.
tested = set(re.findall(r"[a-z0-9-]+", tests))
for code, place in declared.items():
    if code not in tested:
        breaches.append(f"{place}: no test names '{code}'")
# Programs of streams end with codes of their own.
for path in tree.files(".cpp", folders=("runtime/svm",)):
    if tree.is_test(path):
        continue
    text, page = tree.without_comments(tree.read(path)), tree.read("docs/svm.md")
    for match in re.finditer(r'"(svm-[a-z0-9-]+)"', text):
        place, code = f"{path}:{tree.line_of(text, match.start())}", match[1]
        rule = re.fullmatch(r"svm-[ab]\d", code)
        if not rule and f"`{code}`" not in page:
            breaches.append(f"{place}: docs/svm.md does not list '{code}'")
        if code not in declared and code not in tested:
            breaches.append(f"{place}: no test names '{code}'")
        declared.setdefault(code, place)
tree.report(breaches, __doc__, """Write a test with an input that a user could give, and expect that code: in a _test.cpp beside the source, or under tests/.""")
