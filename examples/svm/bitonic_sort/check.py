"""What bitonic_sort.c computes: NumPy's own sort."""

import numpy as np

TOLERANCE = 0


def data(random):
    return [random.integers(-2**31, 2**31, (random.integers(1, 12), 1024)).astype("i4")]


def expected(rows):
    return np.sort(rows, axis=1)
