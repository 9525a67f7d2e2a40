"""What heat.c computes, in NumPy, in the same order: the same bits."""

import numpy as np

ARGUMENTS = ["100"]
TOLERANCE = 0


def data(random):
    return [random.random(random.integers(3, 2000)).astype("f4") * np.float32(100)]


def expected(rod):
    for _ in range(100):
        inner = np.float32(0.25) * rod[:-2] + np.float32(0.5) * rod[1:-1] + np.float32(0.25) * rod[2:]
        rod = np.concatenate([rod[:1], inner, rod[-1:]])
    return rod
