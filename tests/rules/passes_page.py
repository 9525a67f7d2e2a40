"""docs/passes.md lists every pass that a compilation runs, as compiler/ir/passes.def defines them: names and descriptions stand there and
in no pass, and each pass of this tree has a test that runs it."""

import os
import re
import sys

import tree

INTRODUCTION = """# Passes

Every pass that a compilation runs, in the order of its first run. `strata-opt --help` shows those of this tree, and `strata-opt --NAME file.mlir` runs one
on a module of a stage that it takes; it refuses modules of other stages. `strata run PROGRAM --emit=after:NAME` shows a program as a pass leaves it. What a pass
leaves holds behind it. The order is kept by the driver's `pipeline.cpp` and, for what this computer alone needs, by
the host target's `lower.cpp`; [architecture.md](architecture.md#the-pipeline-in-order) tells it as a story.

The page is made from `compiler/ir/passes.def`: after a change, `python3 tests/rules/passes_page.py . --write`.
"""

PAGE, DEFINITIONS, FIGURES = "docs/passes.md", "compiler/ir/passes.def", "base/machine/figures.h"
TEXT = r'((?:"(?:\\.|[^"\\])*"\s*)+)'
ENTRY = re.compile(rf'^(?:(SVM|HOST|MLIR)_PASS\(\s*(\w+),\s*(?:(\w+),\s*)?"([\w-]+)",\s*([\w|\s]+?),\s*{TEXT},\s*{TEXT},\s*{TEXT},\s*{TEXT}\)'
                   rf'|FIGURE_OPTION\(\s*(\w+),\s*\w+,\s*"([\w-]+)",\s*(\w+),\s*{TEXT}\)|// ---- (.*) ----$)', re.MULTILINE)
SPACES = {"svm": "ir", "host": "target/host"}


class Pass:
    def __init__(self, owner, identifier, space, name, stages, *texts):
        self.owner, self.identifier, self.name = owner, identifier, name
        self.space = "host" if owner == "HOST" else space
        self.stages = [each.strip().lower() for each in stages.split("|")]
        self.does, self.takes, self.leaves, self.place = (text_of(each) for each in texts)
        self.options = []  # (name, field of machine::Figures, meaning)


def text_of(literals):
    parts = re.findall(r'"((?:\\.|[^"\\])*)"', literals)
    return "".join(parts).replace('\\"', '"').replace("\\\\", "\\")


def defined():
    """(heading, passes) of each part of the table, in order."""
    path = os.path.join(tree.root(), DEFINITIONS)
    parts = []
    for match in ENTRY.finditer(tree.read(DEFINITIONS) if os.path.exists(path) else ""):
        if match[14]:
            parts.append((match[14], []))
        elif match[10]:
            found = [each for _, passes in parts for each in passes if each.identifier == match[10]]
            found[0].options.append((match[11], match[12], text_of(match[13])))
        else:
            if not parts:
                parts.append(("all", []))
            parts[-1][1].append(Pass(*match.groups()[:9]))
    return parts


def usual(figure):
    """The value of a figure where no machine states it."""
    match = re.search(rf"\buint64_t {figure} = (\d+)(?: << (\d+))?;", tree.read(FIGURES))
    return int(match[1]) << int(match[2] or 0)


def page(parts):
    """The text of the page."""
    text = INTRODUCTION
    sentence = lambda words: words[0].upper() + words[1:] + "."
    for heading, passes in parts:
        text += f"\n## {sentence(heading)[:-1]}\n"
        for each in passes:
            folder = SPACES.get(each.space, each.space)
            where = f"`compiler/{folder}/`" if each.owner != "MLIR" else "MLIR's own"
            text += f"\n### {each.name}\n\n{sentence(each.does)}\n\n| | |\n|---|---|\n"
            rows = [("stages", ", ".join(each.stages)), ("takes", each.takes), ("leaves", each.leaves), ("stands", each.place)]
            rows += [("option", f"`{name}`, {usual(figure)} without a machine: {meaning}") for name, figure, meaning in each.options]
            for key, value in rows + [("from", where)]:
                text += f"| {key} | {value.replace('|', chr(92) + '|')} |\n"
    return text


def is_tested(each, runs, tests):
    """Whether a RUN line, or a test in C++, runs a pass."""
    return any(re.search(rf"--{re.escape(each.name)}(?![\w-])", line) for line in runs) or \
        any(f"create{each.identifier}Pass" in text for text in tests)


def main():
    parts = defined()
    wanted = page(parts)
    path = os.path.join(tree.root(), PAGE)
    if "--write" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
        return
    found = tree.read(PAGE).splitlines() if os.path.exists(path) else []
    lines = wanted.splitlines()
    breaches = [f"{PAGE}:{number}: is no longer defined so: {line}" for number, line in enumerate(found, 1) if line not in set(lines)]
    breaches += [f"{PAGE}:1: lacks: {line}" for line in lines if line not in set(found)]
    if not breaches and found != lines:
        breaches.append(f"{PAGE}:1: its lines are in another order")
    sources = [(name, tree.read(name)) for name in tree.files(".cpp", ".h", folders=("compiler",))]
    for name, text in sources:
        for match in re.finditer(r"\bget(Argument|Description)\(\) const", text) if name != "compiler/ir/passes.h" else ():
            breaches.append(f"{name}:{tree.line_of(text, match.start())}: get{match[1]}() of a pass")
    runs = [line for name in tree.files(".mlir", folders=("tests",)) for line in tree.read(name).splitlines() if "RUN:" in line]
    tests = [text for name, text in sources if name.endswith("_test.cpp")]
    breaches += [f"{DEFINITIONS}:1: no test runs {each.name}" for _, passes in parts for each in passes
                 if each.owner != "MLIR" and not is_tested(each, runs, tests)]
    tree.report(breaches, __doc__, """Write the page anew: python3 tests/rules/passes_page.py . --write. Give a pass its definition with
svm::makePass (compiler/ir/passes.h), and a file in tests/transform/.""")


if __name__ == "__main__":
    main()
