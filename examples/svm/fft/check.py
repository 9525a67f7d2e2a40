"""What fft.c computes: NumPy's own transform."""

import numpy as np

TOLERANCE = 1e-4


def data(random):
    frames = random.integers(1, 40)
    return [(random.standard_normal((frames, 256)) + 1j * random.standard_normal((frames, 256))).astype("c8")]


def expected(frames):
    return np.fft.fft(frames).astype("c8")
