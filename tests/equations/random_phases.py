"""Random loop programs (../differential/pla.py), whose orders, phases and storage phases_test carries out iteration by iteration.

  random_phases.py --test build/tests/phases_test --count 20
  random_phases.py … --seed 17 --count 1       one of them"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parent.parent / "differential"))
import pla


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--test", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.count):
            pathlib.Path(folder, f"random{seed}.pla").write_text(pla.Program(seed).text())
        done = subprocess.run([options.test, "--gtest_filter=Phases.OfRandomPrograms"], env=dict(os.environ, STRATA_RANDOM_LOOPS=folder),
                              capture_output=True, text=True, errors="replace", timeout=3600)
    print(done.stdout[-8000:] + done.stderr[-4000:])
    # Each was looked at, and some of them have parts.
    looked = f"{options.count} loop programs, "
    return done.returncode != 0 or looked not in done.stdout or (options.count > 9 and looked + "0 of them" in done.stdout)


if __name__ == "__main__":
    sys.exit(main())
