"""A notation is known by name to its own folders and to compiler/notation/registry/ alone: the command, the passes, the targets and the
runtime that all share name no notation, none of its files' endings and none of its functions."""

import os
import re

import tree

SHARED = ("compiler/driver", "compiler/target", "compiler/mapping", "compiler/transform", "compiler/kernel", "compiler/interpret", "compiler/clang",
          "compiler/ir", "runtime/core", "runtime/host")
names, endings = {"sequoia", "hbir"}, {".sq", ".hbir"}
above = os.path.join(tree.root(), "compiler")
for name in sorted(os.listdir(above)) if os.path.isdir(above) else []:
    path = os.path.join("compiler", name, "notation.cpp")
    if name != "notation" and os.path.isfile(os.path.join(tree.root(), path)):
        names.add(name)
        endings |= set(re.findall(r'\.ending = "([^"]+)"', tree.read(path)))
# A short name may be a part of words that have nothing to do with it.
patterns = [name if len(name) > 3 else r"(?<![a-z])" + name + r"(?![a-z])" for name in sorted(names)]
named = re.compile("(?i:" + "|".join(patterns) + r")|\bsq[A-Z]\w*|" + "|".join(re.escape(ending) + r"\b" for ending in sorted(endings)))
breaches = []
for path in tree.files(".cpp", ".h", ".c", ".td", ".in", ".js", folders=SHARED):
    if tree.is_test(path):
        continue
    text = tree.without_comments(tree.read(path))
    for match in named.finditer(text):
        breaches.append(f"{path}:{tree.line_of(text, match.start())}: {match[0]}")
tree.report(breaches, __doc__, """Ask for what is needed through compiler/notation/: what a notation has to say of itself that others have not belongs into
its description.""")
