"""What runs a program is known by name to its own folder and to compiler/target/registry/ alone: no other code includes a target's
headers or uses its namespace, so that a target can be added without a change elsewhere."""

import os
import re

import tree

folders = {"host", "interpreter"}
above = os.path.join(tree.root(), "compiler/target")
if os.path.isdir(above):
    folders |= {name for name in os.listdir(above) if os.path.isdir(os.path.join(above, name))}
folders -= {"registry"}
included = re.compile(r'#\s*include\s+"compiler/target/(' + "|".join(sorted(folders)) + ")/")
breaches = []
for path in tree.files(".cpp", ".h", folders=("compiler", "runtime")):
    if tree.is_test(path) or path.startswith("compiler/target/"):
        continue
    text = tree.without_comments(tree.read(path))
    for match in list(included.finditer(text)) + list(re.finditer(r"\bhost::\w+", text)):
        breaches.append(f"{path}:{tree.line_of(text, match.start())}: {match[0].split()[-1]}")
tree.report(breaches, __doc__, """Ask for what is needed through compiler/target/target.h; what a target has to say that others have not belongs into that
interface.""")
