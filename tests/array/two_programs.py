"""The example of two programs on one array, as its page says: both programs are mapped, main.c is compiled and linked as C with
archives that need neither LLVM nor isl, and it finds its results right. What it prints is what the page says it does.

  two_programs.py --strata build/bin/strata --cc cc --libraries build/lib"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples/array/two-programs"


def run(folder, *words):
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
    if done.returncode != 0:
        sys.exit(f"$ {' '.join(map(str, words))}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--libraries", required=True)
    options = parser.parse_args()
    page = (EXAMPLE / "README.md").read_text()
    # The words of the page's link command, so that it cannot go out of date.
    libraries = re.findall(r"(?<=\s)-l\S+", page)
    machine = ROOT / "machines/array-4x4/machine.yaml"
    with tempfile.TemporaryDirectory() as folder:
        for program in ("fir", "matvec"):
            run(folder, options.strata, "map", ROOT / f"examples/pla/{program}/{program}.pla", "--machine", "array-4x4", "-o", f"{program}.sym")
        run(folder, options.cc, "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", ROOT / "include", EXAMPLE / "main.c",
            "-L", options.libraries, *libraries, "-o", "two-programs")
        printed = run(folder, "./two-programs", machine, "fir.sym", "matvec.sym")
        needed = run(folder, "ldd", "two-programs") + run(folder, "nm", "-C", "two-programs")
    foreign = sorted(set(re.findall(r"lib(?:LLVM|MLIR|isl)\S*|\b(?:llvm|mlir)::\w+|\bisl_\w+", needed)))
    if foreign:
        sys.exit(f"the example needs {', '.join(foreign[:10])}")
    said = "".join(line[4:] + "\n" for line in page.split("It prints")[1].splitlines() if line.startswith("    "))
    if printed != said:
        sys.exit(f"the example prints\n{printed}and its page says that it prints\n{said}")


if __name__ == "__main__":
    main()
