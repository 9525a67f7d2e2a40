"""Every rule of the Sequoia language has a program that breaks it and one that nearly does, in tests/sequoia/rules/, and a line of
docs/sequoia-rules.md, which is generated from them."""

import os
import re
import sys

import tree

PAGE = "docs/sequoia-rules.md"
FOLDER = "tests/sequoia/rules"
# What mapping files state has rules of its own; these are the sources of the language's.
SUBJECTS = [
    ("Characters, numbers, text", r"lexer|preprocess"),
    ("Grammar", r"parse_\w+"),
    ("Names, types, tasks and their arguments", r"check_declarations"),
    ("Expressions", r"check_expressions|check_operators|check_initializers"),
    ("Statements and local variables", r"check_statements"),
    ("What is hardly meant (warnings)", r"check_suspects|check_coverage"),
    ("Array blocks and copy", r"check_blocks"),
    ("Task calls and iterations", r"check_tasks"),
    ("Limits", r"lower_\w+"),
    ("Checked when the program runs", None),
]
# A program cannot provoke these.
ELSEWHERE = {"sequoia-preprocessor-failed": "compiler/sequoia/syntax/preprocess_test.cpp"}


def declared():
    """Subject of each code of the language."""
    codes = {}
    for path in tree.files(".cpp", folders=("compiler/sequoia",)):
        name = os.path.basename(path)[:-4]
        if tree.is_test(path):
            continue
        for subject, pattern in SUBJECTS:
            if pattern and re.fullmatch(pattern, name):
                for match in re.finditer(r'STRATA_DIAGNOSTIC\(\s*\w+,\s*\w+,\s*"([^"]*)"', tree.read(path)):
                    codes[match[1]] = subject
    return codes


def programs():
    """The files of the folder: {code: {"breaks": path, "nearly": path}}."""
    found = {}
    for path in tree.files(".sq", folders=(FOLDER,)):
        code, kind, _ = os.path.basename(path).rsplit(".", 2)
        found.setdefault(code, {})[kind] = path
    return found


def rule(path):
    """The sentence that a file begins with."""
    words = []
    for line in tree.read(path).splitlines():
        if not line.startswith("// ") or re.match(r"// (run|expected) ", line):
            break
        words.append(line[3:])
    return " ".join(words)


def page():
    codes, found = declared(), programs()
    lines = ["# The rules of the Sequoia language", "",
             "Generated from the programs in `tests/sequoia/rules/` by `python3 tests/rules/sequoia_rules.py . --write`. Of each pair the first",
             "program breaks the rule and provokes the diagnostic of that name; the second nearly breaks it, and provokes nothing.",
             "[sequoia-language.md](sequoia-language.md) explains the language, [errors.md](errors.md) lists every diagnostic.", ""]
    for subject, _ in SUBJECTS:
        of_subject = [code for code in sorted(found) if codes.get(code, SUBJECTS[-1][0]) == subject and len(found[code]) == 2]
        if not of_subject:
            continue
        lines += [f"## {subject}", "", "| rule | diagnostic | breaks it | nearly does |", "|---|---|---|---|"]
        for code in of_subject:
            paths = found[code]
            links = " | ".join(f"[{kind}](../{paths[kind]})" for kind in ("breaks", "nearly"))
            lines.append(f"| {rule(paths['breaks']).replace('|', chr(92) + '|')} | `{code}` | {links} |")
        lines.append("")
    return "\n".join(lines)


def main():
    wanted = page()
    if "--write" in sys.argv[2:]:
        with open(os.path.join(tree.root(), PAGE), "w", encoding="utf-8") as file:
            file.write(wanted)
        return
    codes, found = declared(), programs()
    breaches = []
    for code in sorted(set(codes) - set(ELSEWHERE) | set(found)):
        paths = found.get(code, {})
        breaches += [f"{FOLDER}/{code}.{kind}.sq:1: is missing" for kind in ("breaks", "nearly") if kind not in paths]
        if len(paths) == 2 and (not rule(paths["breaks"]) or rule(paths["breaks"]) != rule(paths["nearly"])):
            breaches.append(f"{paths['breaks']}:1: begins with no sentence, or with another one than {paths['nearly']}")
    path = os.path.join(tree.root(), PAGE)
    if (found or os.path.exists(path)) and (tree.read(PAGE) if os.path.exists(path) else "") != wanted:
        breaches.append(f"{PAGE}:1: is not what the programs make it: python3 tests/rules/sequoia_rules.py . --write")
    tree.report(breaches, __doc__, "Write the two programs, with the rule in a sentence of your own as their first line.")


if __name__ == "__main__":
    main()
