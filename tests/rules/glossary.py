"""The glossary, docs/glossary.md, is in the order of its terms, has each once, and none that the tree does not use. Every row has the term, what
it is, an example, and the word that is used for it elsewhere."""

import os
import re

import tree

PAGE = "docs/glossary.md"


def prose(path):
    """The words of a file, one space between two, so that a term may go over the end of a line of a comment."""
    return " ".join(re.sub(r"\n[ \t]*(?://+|\*|#)", " ", tree.read(path)).lower().split())


def terms():
    """Each row of the page's table as (line, cells)."""
    for number, line in enumerate(tree.read(PAGE).splitlines(), 1):
        if line.startswith("|") and not line.startswith(("| term |", "|---")):
            yield number, [cell.strip() for cell in line.strip("|").split(" | ")]


breaches = []
if not os.path.exists(os.path.join(tree.root(), PAGE)):
    tree.report([f"{PAGE}:1: is missing"], __doc__, "Write it.")
used = [prose(path) for path in tree.files(".h", ".cpp", ".c", ".td", ".def", ".md", folders=(*tree.FOLDERS, "docs", "machines")) if path != PAGE]
before = ""
for line, cells in terms():
    term = cells[0].lower()
    if len(cells) != 4 or not all(cells):
        breaches.append(f"{PAGE}:{line}: '{cells[0]}' has {len(cells)} cells, some of them empty, instead of 4")
    if term == before:
        breaches.append(f"{PAGE}:{line}: '{term}' stands there twice")
    elif term < before:
        breaches.append(f"{PAGE}:{line}: '{term}' stands behind '{before}'")
    word = re.compile(rf"\b{re.escape(term)}s?\b")
    if not any(word.search(text) for text in used):
        breaches.append(f"{PAGE}:{line}: '{term}' is used nowhere")
    before = term
tree.report(breaches, __doc__, "Sort the rows, join those of one term, and take out a term that nothing uses any more.")
