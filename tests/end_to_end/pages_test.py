"""Programs on the pages for users are typed as they stand there and do what the page says."""

import os
import re
import subprocess
import sys

import harness
import numpy as np


def blocks(page, *words):
    """The indented blocks of a page, without their indent, that hold some words."""
    with open(os.path.join(harness.ROOT, "docs", page)) as file:
        found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", file.read(), re.MULTILINE)
    found = [re.sub(r"^    ", "", block, flags=re.MULTILINE).strip("\n") + "\n" for block in found]
    return [block for block in found if all(word in block for word in words)]


class Pages(harness.Case):
    def commands_of(self, page):
        """The lines `strata …` of a page, as words."""
        return [line.split()[1:] for block in blocks(page) for line in block.splitlines() if re.match(r"strata (?!cc|c\+\+)", line)]

    def test_a_library_is_called_from_python(self):
        program = os.path.join(harness.ROOT, "examples/sequoia/vectadd/vectadd.sq")
        self.succeeds("build", program, "--interface", "plain", "-o", "vectadd.so")
        [add], [errors] = blocks("python.md", "print(c[999])", "import ctypes"), blocks("python.md", "strataSetErrorHandler")
        script = self.write("add.py", add + errors + "\nassert add(a, b)[3] == 5\ntry:\n    library.AddVectors_Split(-1, a, b, c)\n"
                            "    assert said\n    print(said.pop())\n    library.AddVectors_Split(1000, a, b, a[:1000])\n    print(said.pop())\n"
                            "    add(a.astype(float), b)\nexcept ctypes.ArgumentError:\n    print('argument')\n")
        result = subprocess.run([sys.executable, script], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], blocks("python.md", "$ python3 add.py")[0].splitlines()[1], result.stdout)
        self.assertIn("entry-negative-size", lines[1])
        self.assertIn("overlap", lines[2])
        self.assertEqual(lines[3], "argument")

    def test_each_notation_has_an_example_that_runs(self):
        commands = self.commands_of("choosing.md")
        self.assertEqual(len(commands), 3)
        for words in commands:
            words = [os.path.join(harness.ROOT, word) if word.startswith("examples/") else word for word in words]
            self.succeeds(*words)
            name = words[words.index("--out") + 1].split("=")[1]
            self.assertTrue(np.isfinite(np.load(self.path(name))).all())


if __name__ == "__main__":
    harness.main()
