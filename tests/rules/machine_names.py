"""No code in compiler/ or runtime/ knows a machine by its name; machines are read, named and chosen in base/machine/. (Targets have
names of their own, each in its target.cpp.)"""

import os
import re

import tree

names = {"cell", "host", "pca"}
machines = os.path.join(tree.root(), "machines")
if os.path.isdir(machines):
    names |= {os.path.splitext(name)[0] for name in os.listdir(machines)}
pattern = re.compile(r'"(' + "|".join(map(re.escape, sorted(names))) + r')(\.(xml|yaml|yml|json|machine))?"')
breaches = []
for path in tree.files(".cpp", ".h", ".c", ".td", folders=("compiler", "runtime")):
    if tree.is_test(path) or re.fullmatch(r"compiler/target/\w+/target\.cpp", path):
        continue
    text = tree.without_comments(tree.read(path))
    for match in pattern.finditer(text):
        if re.search(r"#\s*include\s*$", text[: match.start()].rsplit("\n", 1)[-1]):
            continue
        breaches.append(f"{path}:{tree.line_of(text, match.start())}: {match[0]}")
tree.report(breaches, __doc__, """Ask the machine model for the property that matters (a capacity, a kind, an alignment), or let base/machine/
choose the default.""")
