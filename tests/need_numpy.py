"""For test programs that need NumPy: imported before it, ends the program with one line and status 2 where the interpreter has none."""

import sys

try:
    import numpy
except ImportError:
    print(f"{sys.executable} has no NumPy, which this test needs: /usr/bin/python3 with the package python3-numpy has it", file=sys.stderr)
    sys.exit(2)
