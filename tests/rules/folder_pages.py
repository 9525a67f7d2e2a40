"""Each folder of source has a README.md: by hand what it takes and gives, then, made from the openings of its files, a line for each."""

import os
import re
import sys

import tree

MARK = "<!-- From here on made from the files' openings: python3 tests/rules/folder_pages.py . --write -->"
SIGN = "From here on"
FOLDERS = ("base", "runtime", "compiler")
# Of files with one name the first of these speaks for all.
ENDINGS = (".td", ".h", ".cpp", ".c", ".js", ".cpp.in")


def source_folders():
    """Folders below base/, runtime/ and compiler/ that hold source, with the names of their files."""
    result = {}
    for path in tree.files(*ENDINGS, folders=FOLDERS):
        folder, name = os.path.split(path)
        if folder not in FOLDERS:
            result.setdefault(folder, []).append(name)
    return result


def sentence(text):
    """The first sentence of a text."""
    text = " ".join(text.split("\n\n")[0].split())
    end = re.search(r"[.?!](?= [A-Z`'0-9<]|$)", text)
    return text[:end.end()] if end else text + ("." if text else "")


def opening(path):
    """The first sentence of the comment that a file begins with."""
    comment = re.match(r"/\*(.*?)\*/|(?://[^\n]*\n)+", tree.read(path), re.DOTALL)
    return sentence(re.sub(r"^[/* ]+", "", comment[1] or comment[0], flags=re.MULTILINE)) if comment else ""


def split(name):
    """A file's name without its endings, and these."""
    stem, dot, ending = name.partition(".")
    return stem, dot + ending


def rows(folder, names):
    """(files, sentence) of each group of files that belong together: header, source and test of one name."""
    stems = {split(name)[0] for name in names}
    groups = {}
    for name in names:
        stem, ending = split(name)
        subject = re.sub(r"_(test|fuzz|testing)$", "", stem)
        if subject not in stems:
            subject = stem
        groups.setdefault(subject, []).append((stem != subject, ENDINGS.index(ending), stem[len(subject):] + ending, name))
    for subject in sorted(groups):
        group = sorted(groups[subject])
        files = [f"`{subject}{group[0][2]}`"] + [f"`{ending}`" for _, _, ending, _ in group[1:]]
        yield " ".join(files), opening(os.path.join(folder, group[0][3]))


def by_hand(folder):
    """What stands in a folder's page above the mark; nothing where there is no page."""
    path = os.path.join(folder, "README.md")
    return tree.read(path).split(MARK)[0].rstrip() if os.path.exists(os.path.join(tree.root(), path)) else ""


def paragraph(folder):
    """What the hand-written part says below its title."""
    return "\n".join(by_hand(folder).splitlines()[1:]).strip()


def page(folder, names, folders):
    """The text of a folder's page."""
    lines = [by_hand(folder) or f"# {folder}/", "", MARK, "", "| | |", "|---|---|"]
    inner = [other for other in sorted(folders) if os.path.dirname(other) == folder]
    listed = [(f"[`{os.path.basename(other)}/`]({os.path.basename(other)}/)", sentence(paragraph(other))) for other in inner]
    for files, says in listed + list(rows(folder, names)):
        lines.append(f"| {files} | {says.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def main():
    folders = source_folders()
    breaches = []
    for folder, names in sorted(folders.items()):
        path = os.path.join(folder, "README.md")
        place = os.path.join(tree.root(), path)
        wanted = page(folder, names, folders)
        if "--write" in sys.argv[2:]:
            with open(place, "w", encoding="utf-8") as file:
                file.write(wanted)
        if not paragraph(folder):
            breaches.append(f"{path}:1: says nothing, above the mark, of what the folder takes and gives")
        found = tree.read(path).splitlines() if os.path.exists(place) else []
        if found and found[0] != f"# {folder}/":
            breaches.append(f"{path}:1: has another title than: # {folder}/")
        # A mark that is no longer one, as a formatter leaves it, would make the old table a part of what is written by hand.
        for number, line in enumerate(found):
            if SIGN in line and (line != MARK or number != found.index(line)):
                breaches.append(f"{path}:{number + 1}: is a second mark, or a broken one; it stands once, as: {MARK}")
        lines = wanted.splitlines()
        breaches += [f"{path}:{found.index(line) + 1}: is not what the files say: {line}" for line in found if line not in set(lines)]
        breaches += [f"{path}:1: lacks: {line}" for line in lines if line.startswith("| ") and line not in set(found)]
        if found and not breaches and found != lines:
            breaches.append(f"{path}:1: its lines are in another order")
    tree.report(breaches, __doc__, """Write the first paragraph, two or three sentences below the title, and the rest anew:
        python3 tests/rules/folder_pages.py . --write""")


if __name__ == "__main__":
    main()
