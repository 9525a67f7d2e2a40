"""Commands in README.md, docs/ and ./dev --help are real: their jobs exist, and so do the files that they name."""

import glob
import os
import re
import subprocess

import tree

dev_help = subprocess.run(["bash", os.path.join(tree.root(), "dev"), "--help"], capture_output=True, text=True).stdout
jobs = set(re.findall(r"^  ((?:[a-z]+)(?: \| [a-z]+)*)", dev_help, re.MULTILINE))
jobs = {job for line in jobs for job in line.split(" | ")}
grammar = "compiler/driver/command/command_options.cpp"
commands = set(re.findall(r'add_subcommand\(\s*"([a-z+]+)"', tree.read(grammar) if os.path.exists(os.path.join(tree.root(), grammar)) else ""))
documents = ["README.md", *(os.path.relpath(path, tree.root()) for path in glob.glob(os.path.join(tree.root(), "docs/**/*.md"), recursive=True))]
texts = {name: tree.read(name) for name in documents if os.path.exists(os.path.join(tree.root(), name))}
texts["dev"] = dev_help
breaches = []
for name, text in texts.items():
    for number, line in enumerate(text.splitlines(), 1):
        for match in re.finditer(r"\./dev ([a-z][a-z-]*)", line):
            if match[1] not in jobs:
                breaches.append(f"{name}:{number}: ./dev has no job '{match[1]}'")
        for match in re.finditer(r"(?:\$ |`|bin/)strata ([a-z][a-z+]*)", line):
            if match[1] not in commands:
                breaches.append(f"{name}:{number}: strata has no command '{match[1]}'")
        for match in re.finditer(r"(?<![\w/.-])((?:examples|machines|docs|tests|benchmarks|cmake|include)/[\w./-]*\w)", line):
            if not os.path.exists(os.path.join(tree.root(), match[1])):
                breaches.append(f"{name}:{number}: there is no {match[1]}")
tree.report(breaches, __doc__, "Mend the text, or make what it promises.")
