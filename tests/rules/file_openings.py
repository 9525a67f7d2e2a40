"""A file begins by saying what it is for."""

import re

import tree

breaches = []
for path in tree.files(".cpp", ".h", ".c", ".td", ".py", ".cmake", "CMakeLists.txt"):
    text = tree.read(path).lstrip()
    opening = '"""' if path.endswith(".py") else "#" if path.endswith((".cmake", "CMakeLists.txt")) else "/"
    first = re.sub(r"^#!.*\n", "", text)
    # A folder's CMakeLists.txt of a few lines says enough by itself.
    short = path.endswith("CMakeLists.txt") and text.count("\n") < 12
    if not first.startswith((opening, "#" if path.endswith(".py") else opening)) and not short:
        breaches.append(f"{path}:1: {first.splitlines()[0] if first else 'an empty file'}")
tree.report(breaches, __doc__, "Begin it with two or three sentences: what it is for, who owns what, which threads may call.")
