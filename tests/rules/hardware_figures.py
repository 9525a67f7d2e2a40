"""Passes hold no figures of hardware: lines, pages, caches, widths of vectors and what follows from them are asked of the machine
(base/machine/figures.h). A number that looks like one and is none stands in tests/rules/hardware_figures.txt, with the reason."""

import os
import re

import tree

FOLDERS = ("compiler/kernel", "compiler/transform", "compiler/mapping", "compiler/target", "compiler/clang", "compiler/equations/dialect")
MAPPERS = re.compile(r"(^|/)(tune|settle|default_mapping|template_mapping|fit)\.(cpp|h)$")  # what makes mappings in front ends

# A constant that is a power of two from 16 on, or shifted: sizes are. Numbers of bits of types are calls' arguments, not constants.
CONSTANT = re.compile(r"\bconstexpr\b[^;={]*?(\w+)\s*[={]\s*([^;]*);")
SIZE = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
SHIFT = re.compile(r"<<\s*\d+")
# The same without a name.
BARE = re.compile(r"(?:\b\d+\)?|\(1\))\s*<<\s*(?:10|12|16|20|21)\b|[*/%]\s*(?:16|32|64|128|256|512|1024|4096)\b(?!\s*\*)|"
                  r"\b(?:1024|2048|4096|8192|16384|32768|65536|1048576|2097152)\b|\balignas\(\d+\)|&\s*~?(?:15|31|63|127|4095)\b")


def is_size(value):
    return SHIFT.search(value) or any(int(n) >= 16 and int(n) & (int(n) - 1) == 0 for n in SIZE.findall(value))


def found():
    """What looks like a figure: (path, line, what stands in the list for it)."""
    for path in tree.files(".cpp", ".h", folders=("compiler",)):
        if tree.is_test(path) or not (path.startswith(FOLDERS) or MAPPERS.search(path)):
            continue
        text = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda match: '"' + " " * (len(match[0]) - 2) + '"', tree.without_comments(tree.read(path)))
        named = []
        for match in CONSTANT.finditer(text):
            # One declaration may name several.
            for name, value in re.findall(r"(\w+)\s*(?:=|\{)\s*([^,;]*)", text[match.start(1):match.end()]):
                if is_size(value):
                    yield path, tree.line_of(text, match.start()), name
            named.append(match.span())
        for match in BARE.finditer(text):
            if not any(begin <= match.start() < end for begin, end in named):
                yield path, tree.line_of(text, match.start()), " ".join(match[0].split())


reviewed = {}
breaches = []
LIST = "tests/rules/hardware_figures.txt"
if os.path.exists(os.path.join(tree.root(), LIST)):
    for number, line in enumerate(tree.read(LIST).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry = re.fullmatch(r"(\S+) (\S[^:]*): (\S.*)", line)
        if entry:
            reviewed[(entry[1], entry[2])] = number
        else:
            breaches.append(f"{LIST}:{number}: is not 'FILE NUMBER: reason'")
used = set()
for path, line, what in found():
    key = (os.path.basename(path), what)  # by the file's name: a file may move to another folder
    used.add(key)
    if key not in reviewed:
        breaches.append(f"{path}:{line}: {what}")
breaches += [f"{LIST}:{number}: {' '.join(key)} is nowhere" for key, number in reviewed.items() if key not in used]
tree.report(breaches, __doc__, f"""Take the figure from machine::Figures, with a threshold's formula there; what has nothing to do with
hardware goes into {LIST} with the reason.""")
