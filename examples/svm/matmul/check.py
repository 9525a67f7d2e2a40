"""What matmul.c computes, in NumPy with 64-bit numbers."""

TOLERANCE = 1e-4


def data(random):
    height, depth, width = random.integers(1, 200, 3)
    return [random.standard_normal((height, depth)).astype("f4"), random.standard_normal((depth, width)).astype("f4")]


def expected(a, b):
    return (a.astype("f8") @ b.astype("f8")).astype("f4")
