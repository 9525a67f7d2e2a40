"""Random changes of the LLVM IR of all examples, of the programs of the rules that nearly break one, and of programs in HPVM IR, each taken
through the front end for graphs on one of five machines, many in one process (mutate_graphs): python3 mutate_ir.py --tool build/tests/mutate_graphs
--runs 20000. What fails is kept in the folder given with --keep."""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "end_to_end"))
import hpvm_raised_test


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--clang", default="clang-19")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    sources = sorted(glob.glob(os.path.join(ROOT, "examples/hpvm/*/*.c*")) + glob.glob(os.path.join(ROOT, "tests/hpvm/rules/*.nearly.c*"))
                     + [os.path.join(ROOT, "tests/matrix/graphs.c")])
    with tempfile.TemporaryDirectory() as folder:
        for name in ("STREAM", "GROUPS", "TABLES"):
            sources.append(os.path.join(folder, name.lower() + ".c"))
            with open(sources[-1], "w", encoding="utf-8") as file:
                file.write(getattr(hpvm_raised_test, name))
        files = sorted(glob.glob(os.path.join(ROOT, "tests/hpvm/ir/*.ll")))
        for number, source in enumerate(sources):
            files.append(os.path.join(folder, f"{number}.ll"))
            subprocess.run([options.clang, "-w", "-O2", "-Xclang", "-disable-llvm-passes", "-gline-tables-only", "-S", "-emit-llvm", "-I",
                            os.path.join(ROOT, "include"), source, "-o", files[-1]], check=True)
        keep = ["--keep", os.path.abspath(options.keep)] if options.keep else []
        return subprocess.run([options.tool, "--runs", str(options.runs), "--seed", str(options.seed), *keep, *files]).returncode


if __name__ == "__main__":
    sys.exit(main())
