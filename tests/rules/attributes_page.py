"""docs/dialect.md lists every attribute of the dialect with what it stands on, what it holds, its stages and its meaning, as
compiler/ir/attributes.def defines them."""

import os
import re
import sys

import tree

PAGE, DEFINITIONS = "docs/dialect.md", "compiler/ir/attributes.def"
BEGIN, END = "<!-- attributes: made by tests/rules/attributes_page.py -->", "<!-- end of attributes -->"
TEXT = r'((?:"(?:\\.|[^"\\])*"\s*)+)'
ENTRY = re.compile(rf'SVM_ATTRIBUTE\(\s*(\w+),\s*"([\w.]+)",\s*(\w+),\s*([\w|\s]+?),\s*([\w|\s]+?),\s*{TEXT},\s*{TEXT}\)')
PLACES = {"FunctionArgument": "argument", "KernelArgument": "kernel's argument", "For": "`scf.for`", "If": "`scf.if`",
          "Sum": "sum, difference, product", **{name: f"`svm.{name.lower()}`" for name in
                                                ("Kernel", "Run", "Move", "Wait", "Block", "Stream", "Scope", "Parallel", "Instances", "Check", "Span")}}


def text_of(literals):
    parts = re.findall(r'"((?:\\.|[^"\\])*)"', literals)
    return "".join(parts).replace('\\"', '"').replace("\\\\", "\\")


def defined():
    """(name, value, places, stages, meaning, example) of every attribute, in order."""
    path = os.path.join(tree.root(), DEFINITIONS)
    text = tree.without_comments(tree.read(DEFINITIONS)) if os.path.exists(path) else ""
    for _, name, value, places, stages, meaning, example in ENTRY.findall(text):
        split = lambda names: [each.strip() for each in names.split("|")]
        yield name, value, split(places), split(stages), text_of(meaning), text_of(example)


def table():
    lines = [BEGIN, "", "| attribute | on | at stages | meaning | example |", "|---|---|---|---|---|"]
    bar = lambda text: text.replace("|", "\\|")  # GitHub's tables end a cell at a bar
    for name, _, places, stages, meaning, example in defined():
        on = ["argument" if each == "FunctionArgument" and "KernelArgument" in places else PLACES.get(each, each.lower())
              for each in places if not (each == "KernelArgument" and "FunctionArgument" in places)]
        lines.append(f"| `{name}` | {', '.join(on)} | {', '.join(stages).lower()} | {bar(meaning)} | `{bar(example)}` |")
    return lines + ["", END]


def main():
    wanted = table()
    path = os.path.join(tree.root(), PAGE)
    lines = tree.read(PAGE).splitlines() if os.path.exists(path) else []
    begin, end = (lines.index(mark) if mark in lines else -1 for mark in (BEGIN, END))
    if "--write" in sys.argv[2:] and 0 <= begin < end:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines[:begin] + wanted + lines[end + 1:]) + "\n")
        return
    found = lines[begin:end + 1] if 0 <= begin < end else []
    breaches = [f"{PAGE}:{begin + found.index(line) + 1}: is no longer defined so: {line}" for line in found if line not in set(wanted)]
    breaches += [f"{PAGE}:{max(begin, 0) + 1}: lacks: {line}" for line in wanted if line.startswith("| `") and line not in set(found)]
    if not breaches and found and found != wanted:
        breaches.append(f"{PAGE}:{begin + 1}: its lines are in another order")
    tree.report(breaches, __doc__, "Write the table anew: python3 tests/rules/attributes_page.py . --write")


if __name__ == "__main__":
    main()
