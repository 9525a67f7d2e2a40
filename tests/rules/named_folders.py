"""What pages say of the tree's folders is so: docs/architecture.md and the READMEs of base/, runtime/ and compiler/ name every folder
there, and no page names a file or folder of theirs that does not exist."""

import glob
import os
import re

import tree

PARTS = ("base", "runtime", "compiler")
ARCHITECTURE = "docs/architecture.md"


def top_folders(part):
    """The folders of a part that hold files, the outermost ones: compiler/mapping, compiler/target/host."""
    for where, inner, names in os.walk(os.path.join(tree.root(), part)):
        path = os.path.relpath(where, tree.root())
        inner[:] = sorted(name for name in inner if name != "__pycache__")
        if path != part and names:
            inner[:] = []
            yield path


def exists(path):
    return os.path.exists(os.path.join(tree.root(), path))


def names(path):
    """(line, text) of all that stands between backquotes in a page."""
    text = tree.read(path)
    for match in re.finditer(r"`([^`\n]+)`", text):
        yield tree.line_of(text, match.start()), match[1]


breaches = []
for path in tree.files(".md", folders=("docs", *PARTS)):
    for line, name in names(path):
        # Capitals stand for a name to be chosen.
        if re.fullmatch(r"(base|runtime|compiler)/[a-z_0-9/.]*", name) and not exists(name.rstrip("/")):
            breaches.append(f"{path}:{line}: there is no {name}")
for part in PARTS:
    for page, prefix in ((ARCHITECTURE, part + "/"), (part + "/README.md", "")):
        if not exists(part):
            continue
        said = {name for _, name in names(page)} if exists(page) else set()
        for folder in top_folders(part):
            if prefix + os.path.relpath(folder, part) + "/" not in said:
                breaches.append(f"{page}:1: does not name `{prefix}{os.path.relpath(folder, part)}/`")
        if not prefix and exists(page):
            # A phase is named as it is called in every notation that has it.
            breaches += [f"{page}:{line}: there is no {name} in {part}/" for line, name in names(page)
                         if re.fullmatch(r"[a-z_0-9/]+/", name) and not exists(name)
                         and not glob.glob(os.path.join(glob.escape(tree.root()), part, "**", name), recursive=True)]
tree.report(breaches, __doc__, "Name each folder in a line that says what it is for; take out what does not exist.")
