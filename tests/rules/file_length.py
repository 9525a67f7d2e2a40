"""A file of more than 700 lines holds more than one subject, and becomes two files."""

import tree

breaches = []
for path in tree.files(".cpp", ".h", ".c", ".td", ".py"):
    lines = tree.read(path).count("\n")
    if lines > 700:
        breaches.append(f"{path}:1: {lines} lines")
tree.report(breaches, __doc__, "Find the second subject in it and give it a file with a name of its own.")
