"""What beamformer.c computes, in NumPy, in the same order: the same bits."""

import numpy as np

TOLERANCE = 0


def data(random):
    return [random.standard_normal((random.integers(16, 9000), 4)).astype("f4")]


def expected(samples):
    samples = samples * np.float32([1, 1.25, 0.75, 1])
    m = len(samples) - 15
    beams = []
    for delays in ((0, 0, 0, 0), (0, 3, 6, 9), (9, 6, 3, 0)):
        a, b, c, d = (samples[delay:delay + m, sensor] for sensor, delay in enumerate(delays))
        beams.append(((a + b) + (c + d)) * np.float32(0.25))
    return np.array(beams)
