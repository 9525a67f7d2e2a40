"""What becomes of the loops of the examples' kernels: kernel_paths.txt has a line for each, and a change of the kernel compiler shows
there. Each line is what --remarks says (kernel-path), on a machine that states no figures, so that it is the same on every computer.

  kernel_paths_test.py --write     writes the lines anew, with build/bin/strata"""

import glob
import os
import re
import subprocess
import sys

import harness
from harness import ROOT, Case

TABLE = os.path.join(ROOT, "tests/end_to_end/kernel_paths.txt")
MACHINE = "smp-2level"
SAID = re.compile(r"^remark\[kernel-path\]: kernel '(.*)': (.*)$", re.M)


def paths(example):
    """(kernel, path) of each kernel of an example, in the order of the program."""
    environment = {**os.environ, "STRATA_REMARKS": "1", "STRATA_OPTIMIZATION": "0"}
    if example.endswith((".c", ".cpp")):
        command = [harness.options.strata, "c++" if example.endswith(".cpp") else "cc", "-O2", example, "-o", os.devnull, f"--machine={MACHINE}"]
    else:
        command = [harness.options.strata, "run", example, "--machine", MACHINE, "--emit=llvm", "--remarks"]
        if example.endswith("external.hbir"):
            command.append(os.path.join(os.path.dirname(example), "escape.c"))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"
    return SAID.findall(done.stderr)


def examples():
    found = []
    for notation, ending in (("sequoia", "sq"), ("hbir", "hbir"), ("pla", "pla"), ("hpvm", "c*")):
        for path in sorted(glob.glob(os.path.join(ROOT, "examples", notation, "*", f"*.{ending}"))):
            name = os.path.basename(os.path.dirname(path))
            # Of an example in several forms the first one; the camera has a makefile of its own.
            if os.path.splitext(os.path.basename(path))[0] == name:
                found.append(path)
    return found


def lines():
    made = []
    for path in examples():
        name = os.path.relpath(path, os.path.join(ROOT, "examples"))
        said = dict.fromkeys(f"{os.path.dirname(name)} {kernel}: {way}" for kernel, way in paths(path))
        made += said
    return made


class KernelPaths(Case):
    def test_are_those_of_the_table(self):
        with open(TABLE, encoding="utf-8") as file:
            wanted = [line.rstrip("\n") for line in file if not line.startswith("#")]
        self.assertEqual(lines(), wanted, "\n  python3 tests/end_to_end/kernel_paths_test.py --write\nwrites the table anew")

    def test_remarks_say_why(self):
        """At the line that is in the way."""
        text = ("void task Odd(in int a[N], out int b[N]);\nvoid task<leaf> Odd::L(in int a[N], out int b[N])\n{\n"
                "  for (long i = 0; i < N; i++)\n    b[i] = 7 / a[i];\n}\n")
        path = self.write("odd.sq", text)
        told = self.succeeds("run", path, "--size", "N=8", "--in", "a=random:1:1:9", "--remarks").err
        self.assertRegex(told, r"kernel-path\]: kernel 'Odd_L': 1 loop left to LLVM")
        self.assertRegex(told, r"5 \|     b\[i\] = 7 / a\[i\];\n\s*\|\s*- left to LLVM: ")

    def test_conditions_that_do_not_change_make_little_code(self):
        """Each of them would double the loop."""
        choices = "".join(f"    if (k > {number})\n      b[i] += a[i] * {number + 1};\n" for number in range(40))
        path = self.write("many.sq", "void task Many(in int a[N], inout int b[N], in int k);\n"
                          f"void task<leaf> Many::L(in int a[N], inout int b[N], in int k)\n{{\n  for (long i = 0; i < N; i++) {{\n{choices}  }}\n}}\n")
        made = self.succeeds("run", path, "--emit=after:svm-tile-loops").out
        self.assertLess(made.count("scf.for"), 100)


if __name__ == "__main__":
    if "--write" in sys.argv:
        with open(TABLE, "w", encoding="utf-8") as file:
            file.write("# What becomes of the loops of the examples' kernels on a machine that states no figures: kernel_paths_test.py.\n")
            file.writelines(line + "\n" for line in lines())
    else:
        harness.main()
