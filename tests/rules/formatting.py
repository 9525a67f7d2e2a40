"""C++ files are as clang-format-19 leaves them, by the .clang-format of the tree."""

import re
import subprocess

import tree

paths = list(tree.files(".cpp", ".h", ".c"))
breaches = []
for begin in range(0, len(paths), 50):
    completed = subprocess.run(["clang-format-19", "--dry-run", "--Werror", *paths[begin:begin + 50]], cwd=tree.root(), capture_output=True, text=True)
    seen = set()
    for match in re.finditer(r"^(\S+?):(\d+):\d+: error: ", completed.stderr, re.MULTILINE):
        if match[1] not in seen:
            seen.add(match[1])
            breaches.append(f"{match[1]}:{match[2]}: is not formatted")
tree.report(breaches, __doc__, "Run ./dev format.")
