"""Every rule of dataflow graphs has a program that breaks it and one that nearly does, in tests/hpvm/rules/, and a line of docs/hpvm-rules.md, which is
generated from them."""

import os
import re
import sys

import tree

PAGE = "docs/hpvm-rules.md"
FOLDER = "tests/hpvm/rules"


def programs():
    """The pairs of the folder: {name: {"breaks": path, "nearly": path}}."""
    found = {}
    for ending in (".c", ".cpp"):
        for path in tree.files(ending, folders=(FOLDER,)):
            name, _, kind = os.path.basename(path).partition(".")
            found.setdefault(name, {})["nearly" if kind.startswith("nearly") else "breaks"] = path
    return found


def rule(path):
    """The sentence that a file begins with, and what its first program is told: (sentence, diagnostic, whether as it runs)."""
    text = tree.read(path)
    words = []
    for line in text.splitlines():
        if not line.startswith("// ") or re.match(r"// (runs )?expected ", line):
            break
        words.append(line[3:])
    told = re.search(r"^// (runs )?expected ([\w-]+)", text, re.MULTILINE)
    return " ".join(words), told[2] if told else "", bool(told and told[1])


def page():
    rows = {False: [], True: []}
    for name, paths in sorted(programs().items()):
        if len(paths) == 2:
            sentence, code, runs = rule(paths["breaks"])
            links = " | ".join(f"[{kind}](../{paths[kind]})" for kind in ("breaks", "nearly"))
            rows[runs].append((code, f"| {sentence.replace('|', chr(92) + '|')} | `{code}` | {links} |"))
    lines = ["# The rules of dataflow graphs", "",
             "Generated from the programs in `tests/hpvm/rules/` by `python3 tests/rules/hpvm_rules.py . --write`. Of each pair the first program breaks the",
             "rule and provokes the diagnostic of that name; the second nearly breaks it, and provokes nothing. [hpvm.md](hpvm.md) explains graphs,",
             "[errors.md](errors.md) lists every diagnostic.", ""]
    for runs, title in ((False, "Told when a program is linked"), (True, "Checked when the program runs")):
        lines += [f"## {title}", "", "| rule | diagnostic | breaks it | nearly does |", "|---|---|---|---|"]
        lines += [row for _, row in sorted(rows[runs])] + [""]
    return "\n".join(lines)


def main():
    wanted, path = page(), os.path.join(tree.root(), PAGE)
    if "--write" in sys.argv[2:]:
        with open(path, "w", encoding="utf-8") as file:
            file.write(wanted)
        return
    breaches, found = [], programs()
    for name, paths in sorted(found.items()):
        if len(paths) != 2:
            breaches.append(f"{next(iter(paths.values()))}:1: is one of a pair, whose other program is missing")
        elif not rule(paths["breaks"])[0] or rule(paths["breaks"])[0] != rule(paths["nearly"])[0]:
            breaches.append(f"{paths['breaks']}:1: begins with no sentence, or with another one than {paths['nearly']}")
    if (found or os.path.exists(path)) and (tree.read(PAGE) if os.path.exists(path) else "") != wanted:
        breaches.append(f"{PAGE}:1: is not what the programs make it: python3 tests/rules/hpvm_rules.py . --write")
    tree.report(breaches, __doc__, "Write the two programs, with the rule in a sentence of your own as their first line.")


if __name__ == "__main__":
    main()
