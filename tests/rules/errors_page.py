"""docs/errors.md lists every kind of diagnostic with its severity and message, as the source declares them."""

import os
import re
import sys

import tree

INTRODUCTION = """# Errors, warnings and remarks

Every message of `strata` begins with its severity and a code, `error[sequoia-undeclared]: nothing named 'blok' is declared here`. This page
lists the codes by the folder whose code reports them. `{0}`, `{1}`, … stand for names and numbers of the case at hand. What stops a program
while it runs has a code in the same place; [command.md](command.md#when-a-program-fails) lists those.

The page is made from the source text: after a change, `python3 tests/rules/errors_page.py . --write`.
"""

PAGE = "docs/errors.md"
MACRO = re.compile(r'STRATA_DIAGNOSTIC\(\s*\w+,\s*(\w+),\s*"([^"]*)",\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)')


def declared():
    """(folder, code, severity, message) of every kind in the tree."""
    for path in tree.files(".cpp", ".h", folders=("base", "runtime", "compiler")):
        if tree.is_test(path):
            continue
        for severity, code, message in MACRO.findall(tree.without_comments(tree.read(path))):
            parts = re.findall(r'"((?:\\.|[^"\\])*)"', message)
            yield os.path.dirname(path), code, severity, "".join(parts).replace('\\"', '"').replace("\\\\", "\\")


def page(kinds):
    """The text of the page."""
    text, folder = INTRODUCTION, None
    for where, code, severity, message in sorted(kinds):
        if where != folder:
            folder = where
            text += f"\n## {folder}/\n\n| code | | message |\n|---|---|---|\n"
        # GitHub's tables end a cell at a bar.
        text += f"| `{code}` | {severity.lower()} | {message.replace('|', chr(92) + '|')} |\n"
    return text


def main():
    wanted = page(declared())
    path = os.path.join(tree.root(), PAGE)
    if "--write" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
        return
    found = tree.read(PAGE).splitlines() if os.path.exists(path) else []
    lines = wanted.splitlines()
    breaches = [f"{PAGE}:{found.index(line) + 1}: is no longer declared so: {line}" for line in found if line not in set(lines)]
    breaches += [f"{PAGE}:1: lacks: {line}" for line in lines if line not in set(found)]
    if not breaches and found != lines:
        breaches.append(f"{PAGE}:1: its lines are in another order")
    tree.report(breaches, __doc__, "Write the page anew: python3 tests/rules/errors_page.py . --write")


if __name__ == "__main__":
    main()
