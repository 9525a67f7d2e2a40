"""What amplifier.c computes, in NumPy: every sample times 2.5, exactly."""

import numpy as np

ARGUMENTS = ["2.5"]
TOLERANCE = 0


def data(random):
    return [random.standard_normal(random.integers(1, 30000)).astype("f4")]


def expected(signal):
    return signal * np.float32(2.5)
