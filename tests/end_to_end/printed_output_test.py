"""What the pages print is what the commands print: every command of a README or a page under docs/ that is followed by its output is run, in
a folder with the files that the page speaks of, and the two are compared, but for times and what stands for lines left out (…). --write puts
what is printed now into the pages."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import harness

ROOT = pathlib.Path(harness.ROOT)
# Pages, and the folder whose files their commands use; none: they begin at the root of the tree.
PAGES = [(ROOT / "README.md", None), (ROOT / "docs/command.md", None), (ROOT / "docs/dialect.md", None), (ROOT / "docs/sequoia-mapping.md", None),
         (ROOT / "docs/sequoia-guide.md", ROOT / "docs/poly"), (ROOT / "docs/checking.md", ROOT / "docs/blur"),
         (ROOT / "docs/machines.md", ROOT / "docs/scale"), (ROOT / "docs/first-program.md", ROOT / "docs/scale"),
         *((page, page.parent) for page in sorted(ROOT.glob("examples/sequoia/*/README.md")))]
# The computer that the pages were printed on, for hwloc: default mappings follow its caches.
COMPUTER = "numa:1(memory=17179869184) l3:1(size=33554432) core:2 l2:1(size=2097152) l1d:1(size=32768) pu:1"
# Commands that are run: the others build things, draw pictures or depend on the processor.
RUN = re.compile(r"(build/bin/|\./)?(strata (run|map|check|machine)|cat|sed|for|/usr/bin/python3) ?")
# Their output is compared.
COMPARED = re.compile(r"(build/bin/)?strata (run|map|check|machine)|cat |for |sed ")
# Files that a page takes from another one.
BEFORE = {"docs/command.md": "cp docs/scale/scale.sq . && strata run scale.sq --size N=1000000 --in factor=3 --in x=iota --out y=y.npy",
          "docs/dialect.md": "cp docs/scale/scale.sq . && strata map scale.sq --machine cell --size N=1000000 -o cell.map"}
TIME = re.compile(r"\b\d+(\.\d+)? (ns|us|ms|s)\b|\"(seconds|threads)\":(\{[^}]*\}|\d+)")
TILES = re.compile(r"tiles \d+x\d+")


class Command:
    """Lines [first, last) of a page: a command, and what it is said to print."""

    def __init__(self, first, text):
        self.first, self.text, self.output = first, text, []


def commands(lines):
    found, current = [], None
    for number, line in enumerate(lines):
        if line.startswith("    $ "):
            current = Command(number, line[6:])
            found.append(current)
        elif current and (line.startswith("    ") or (not line and number + 1 < len(lines) and lines[number + 1].startswith("    ")
                                                      and not lines[number + 1].startswith("    $ ") and current.output)):
            current.output.append(line[4:])
        else:
            current = None
    return found


def agree(said, printed):
    """Whether lines are the same but for times, numbers of threads, sizes of tiles, which are the processor's, and lines left out."""
    said, printed = [[TILES.sub("tiles", TIME.sub("TIME", line.rstrip())) for line in lines] for lines in (said, printed)]
    while said and not said[-1]:
        said.pop()
    if "…" not in " ".join(said):
        return said == printed
    pattern = "\n".join(re.escape(line).replace("…", ".*") for line in said)
    return re.fullmatch(pattern, "\n".join(printed), re.DOTALL) is not None


def check(page, folder, write):
    """Runs a page's commands one after another; what differs."""
    lines = page.read_text().split("\n")
    wrong, changes = [], []
    with tempfile.TemporaryDirectory(prefix="strata-test-") as place:
        where = pathlib.Path(place)
        for source in (folder or ROOT).iterdir():
            if folder and source.is_file():
                shutil.copy(source, where)
            elif not folder and source.name in ("examples", "docs"):
                (where / source.name).symlink_to(source)
        environment = {**os.environ, "PATH": f"{where}/build/bin:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        environment.pop("STRATA_MACHINE", None)
        environment["HWLOC_SYNTHETIC"] = COMPUTER
        (where / "build/bin").mkdir(parents=True)
        (where / "build/bin/strata").symlink_to(os.path.abspath(harness.options.strata))
        given = BEFORE.get(str(page.relative_to(ROOT)))
        for command in ([Command(0, given)] if given else []) + commands(lines):
            if command.text != given and not RUN.match(command.text) or not (command.output or re.search(r" -o | > |save\(|--out ", command.text)):
                continue
            result = subprocess.run(command.text, shell=True, cwd=where, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                    timeout=300, executable="/bin/bash")
            printed = result.stdout.rstrip("\n").split("\n") if result.stdout else []
            if command.output and COMPARED.match(command.text) and not agree(command.output, printed):
                wrong.append(f"{page.relative_to(ROOT)}:{command.first + 1}: '{command.text}' prints\n" + "\n".join(printed) + "\nand the page says\n" +
                             "\n".join(command.output))
                changes.append((command, printed))
    if write:
        for command, printed in reversed(changes):
            said = list(command.output)
            for position, line in enumerate(printed):
                same = [old for old in said if TIME.sub("TIME", old) == TIME.sub("TIME", line)]
                if same:  # times stay, where all else does
                    said.remove(same[0])
                    printed[position] = same[0]
            lines[command.first + 1:command.first + 1 + len(command.output)] = [("    " + line).rstrip() for line in printed]
        page.write_text("\n".join(lines))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", default=harness.options.strata, help="the command to test")
    parser.add_argument("--write", action="store_true", help="change the pages")
    options = parser.parse_args()
    harness.options.strata = options.strata
    wrong = [text for page, folder in PAGES for text in check(page, folder, options.write)]
    for text in wrong:
        print("FAIL " + text)
    if wrong and not options.write:
        print("tests/end_to_end/printed_output_test.py --write puts what is printed into the pages")
    return 1 if wrong and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
