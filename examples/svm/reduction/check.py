"""What reduction.c computes, in NumPy: sum, least and greatest."""

import numpy as np

TOLERANCE = 0


def data(random):
    return [random.integers(-2**31, 2**31, random.integers(1, 50000)).astype("i4")]


def expected(numbers):
    return np.array([numbers.sum(dtype="i8"), numbers.min(), numbers.max()], "i8")
