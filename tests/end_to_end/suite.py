"""What NumPy says of the examples that work on vectors, sparse matrices, transforms, bodies, profiles and keys. Bounds come from
the rounding of every operation on the way: half a unit in the last place for each, of the largest value that it may have."""

import numpy as np
from program import EPSILON, Program, close, exact, random_array

SPARSE_WIDTH = 8  # elements of a row of the sparse matrix
HMMER_STEPS = 9   # kinds of transitions of a profile: see hmmer.sq


def floats(random, *shape):
    return random_array(random, np.dtype("f4"), shape)


def complexes(random, *shape):
    return (floats(random, *shape) + 1j * floats(random, *shape)).astype("c8")


def scale_inputs(random, parameters, n):
    return {"factor": np.float32(1.7), "x": floats(random, n)}


def scale_results(parameters, given):
    return {"y": exact(given["factor"] * given["x"])}


def saxpy_inputs(random, parameters, n):
    return {"a": np.float32(-0.3), "X": floats(random, n), "Y": floats(random, n)}


def saxpy_results(parameters, given):
    a, x, y = [given[name].astype("f8") for name in ("a", "X", "Y")]
    # One rounding: the product is exact in double, and the sum is rounded to double and then to float.
    return {"Y": close(a * x + y, EPSILON * 1.0001 * np.abs(a * x + y) + 1e-45)}


def conv1d_inputs(random, parameters, n, u):
    return {"signal": floats(random, n + u - 1), "taps": floats(random, u)}


def conv1d_results(parameters, given):
    a, h = given["signal"].astype("f8"), given["taps"].astype("f8")
    want = np.correlate(a, h, "valid")
    return {"filtered": close(want, (h.size + 2) * EPSILON * np.correlate(np.abs(a), np.abs(h), "valid"))}


def sgemv_inputs(random, parameters, m, n):
    return {"A": floats(random, m, n), "x": floats(random, n), "y": floats(random, m)}


def sgemv_results(parameters, given):
    a, x, y = [given[name].astype("f8") for name in ("A", "x", "y")]
    return {"y": close(y + a @ x, (a.shape[1] + 20) * EPSILON * (np.abs(a) @ np.abs(x) + np.abs(y)))}


def gravity_inputs(random, parameters, n, p):
    at, pulling = random.random((4, n)).astype("f4"), random.random((4, p)).astype("f4")
    return {"at": at, "from": pulling, "soft": np.float32(0.05), "a": floats(random, 3, n)}


def gravity_results(parameters, given):
    at, pulling, soft, a = [given[name].astype("f8") for name in ("at", "from", "soft", "a")]
    apart = pulling[:3, None, :] - at[:3, :, None]
    square = (apart * apart).sum(axis=0) + soft * soft
    pull = apart * (pulling[3] / (square * np.sqrt(square)))
    # A dozen roundings of each pull, and those of the sum.
    bound = (pulling.shape[1] + 16) * EPSILON * (np.abs(pull).sum(axis=2) + np.abs(a))
    return {"a": close(a + pull.sum(axis=2), bound)}


def cg_inputs(random, parameters, m):
    places = np.array([0, 1, -1, 97, -97, 1234, -1234, 0])
    column = (np.arange(m)[:, None] + places) % m
    value = np.tile(np.array([7, -1, -1, -1, -1, -1, -1, 0]), (m, 1))
    return {"steps": 40, "column": column.astype("i4").ravel(), "value": value.astype("f4").ravel(), "b": random.random(m, dtype="f4"),
            "x": random.random(m, dtype="f4")}


def cg_results(parameters, given):
    """What Jacobi's method finds in more steps: the diagonal is larger than all that is beside it in a row."""
    column, value = given["column"].reshape(-1, 8), given["value"].astype("f8").reshape(-1, 8)
    b, x = given["b"].astype("f8"), np.zeros(len(given["b"]))
    for _ in range(300):
        x = (b - (value[:, 1:] * x[column[:, 1:]]).sum(1)) / value[:, 0]
    return {"x": close(x, 2e-5 * np.abs(x).max())}


def heat_inputs(random, parameters, m, n):
    plate = random.random((m, n), dtype="f4")
    return {"pairs": 3, "a": plate, "b": plate}


def heat_results(parameters, given):
    plates = [given["a"].copy()]
    for _ in range(6):
        u, new = plates[-1], plates[-1].copy()
        new[1:-1, 1:-1] = np.float32(0.25) * (((u[:-2, 1:-1] + u[1:-1, :-2]) + u[1:-1, 2:]) + u[2:, 1:-1])
        plates.append(new)
    return {"a": exact(plates[6]), "b": exact(plates[5])}


def heat3d_inputs(random, parameters, l, m, n):
    body = random.random((l, m, n), dtype="f4")
    return {"pairs": 3, "a": body, "b": body}


def heat3d_results(parameters, given):
    bodies = [given["a"].copy()]
    for _ in range(6):
        u, new = bodies[-1], bodies[-1].copy()
        beside = u[:-2, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] + u[1:-1, 2:, 1:-1] + u[2:, 1:-1, 1:-1]
        new[1:-1, 1:-1, 1:-1] = np.float32(0.25) * u[1:-1, 1:-1, 1:-1] + np.float32(0.125) * beside
        bodies.append(new)
    return {"a": exact(bodies[6]), "b": exact(bodies[5])}


def spmv_inputs(random, parameters, m, n):
    count = random.integers(0, SPARSE_WIDTH + 1, m)
    filled = np.arange(SPARSE_WIDTH) < count[:, None]
    column = np.where(filled, random.integers(0, n, (m, SPARSE_WIDTH)), 0)
    value = np.where(filled, random.random((m, SPARSE_WIDTH)) - 0.5, 0)
    return {"column": column.astype("i4").ravel(), "value": value.astype("f4").ravel(), "x": floats(random, n)}


def spmv_results(parameters, given):
    value = given["value"].astype("f8").reshape(-1, SPARSE_WIDTH)
    operand = given["x"].astype("f8")[given["column"].reshape(-1, SPARSE_WIDTH)]
    bound = (SPARSE_WIDTH + 2) * EPSILON * np.abs(value * operand).sum(axis=1)
    return {"y": close((value * operand).sum(axis=1), bound)}


def scatter_inputs(random, parameters, n):
    x = np.zeros(n, [("key", "<i4"), ("weight", "<f4")])
    x["key"], x["weight"] = random.integers(0, 1000, n), random.random(n)
    return {"x": x, "to": random.permutation(n).astype("i4")}


def scatter_results(parameters, given):
    want = np.zeros_like(given["x"])
    want[given["to"]] = given["x"]
    return {"y": exact(want)}


def sort_inputs(random, parameters, n):
    return {"keys": random.integers(-n, n, n).astype("i4")}


def sort_results(parameters, given):
    return {"keys": exact(np.sort(given["keys"]))}


def transform_bound(want, count):
    """Each round of butterflies, and each term of an odd factor, adds an error of a few units to every element, relative to
    the whole."""
    power = count & -count
    rounds = power.bit_length() + count // power
    return 4 * rounds * EPSILON * np.sqrt((np.abs(want) ** 2).mean() * want.size)


def fft_inputs(random, parameters, n):
    return {"x": complexes(random, n)}


def fft_results(parameters, given):
    want = np.fft.fft(given["x"].astype("c16"))
    return {"X": close(want, transform_bound(want, want.size))}


def fft3d_inputs(random, parameters, *shape):
    return {"a": complexes(random, *shape)}


def fft3d_results(parameters, given):
    want = np.fft.fftn(given["a"].astype("c16"))
    return {"b": close(want, sum(transform_bound(want, extent) for extent in want.shape))}


def hmmer_inputs(random, parameters, s, t, k):
    def scores(rows, low, high):
        return random.integers(low, high, (rows, k)).astype("i4")
    return {"residues": random.integers(0, 20, (s, t)).astype("i1"), "length": random.integers(1, t + 1, s).astype("i4"),
            "match": scores(20, -400, 500), "insert": scores(20, -100, 100), "step": scores(HMMER_STEPS, -900, 0)}


def hmmer_results(parameters, given):
    """The same recurrence for all sequences at once, a node at a time."""
    residues, length, match, insert, step = [given[name].astype("i8") for name in ("residues", "length", "match", "insert", "step")]
    never = -10 ** 8
    count, nodes = residues.shape[0], match.shape[1]
    matched, inserted, deleted = [np.full((count, nodes), never) for _ in range(3)]
    best = np.full(count, never)
    for t in range(residues.shape[1]):
        was_matched, was_inserted, was_deleted = matched.copy(), inserted.copy(), deleted.copy()
        for k in range(1, nodes):
            before = np.maximum.reduce([was_matched[:, k - 1] + step[0, k - 1], was_inserted[:, k - 1] + step[3, k - 1],
                                        was_deleted[:, k - 1] + step[5, k - 1], np.full(count, step[7, k])])
            matched[:, k] = before + match[residues[:, t], k]
            inserted[:, k] = (np.maximum(was_matched[:, k] + step[1, k], was_inserted[:, k] + step[4, k])
                              + insert[residues[:, t], k])
            deleted[:, k] = np.maximum(matched[:, k - 1] + step[2, k - 1], deleted[:, k - 1] + step[6, k - 1])
        ends = (matched[:, 1:] + step[8, 1:]).max(axis=1, initial=never)
        best = np.where(t < length, np.maximum(best, ends), best)
    return {"score": exact(best.astype("i4"))}


# Three sizes each: small, one that no block size divides, and one that fills several blocks.
SUITE = [
    Program("scale", [(8,), (10007,), (65536,)], scale_inputs, scale_results),
    Program("saxpy", [(8,), (10007,), (65536,)], saxpy_inputs, saxpy_results),
    Program("conv1d", [(8, 3), (10007, 7), (65536, 16)], conv1d_inputs, conv1d_results),
    Program("sgemv", [(8, 8), (101, 1031), (512, 2048)], sgemv_inputs, sgemv_results),
    Program("spmv", [(8, 8), (10007, 999), (32768, 65536)], spmv_inputs, spmv_results),
    Program("cg", [(8,), (4099,), (10007,)], cg_inputs, cg_results),
    Program("heat", [(3, 5), (101, 67), (258, 300)], heat_inputs, heat_results),
    Program("heat3d", [(3, 4, 5), (23, 17, 67), (34, 50, 130)], heat3d_inputs, heat3d_results),
    Program("scatter", [(8,), (10007,), (65536,)], scatter_inputs, scatter_results),
    Program("sort", [(8,), (10007,), (65536,)], sort_inputs, sort_results),
    Program("fft", [(8,), (1216,), (65536,)], fft_inputs, fft_results),
    Program("fft3d", [(4, 4, 4), (16, 12, 22), (32, 64, 32)], fft3d_inputs, fft3d_results),
    Program("gravity", [(8, 8), (101, 307), (1024, 1024)], gravity_inputs, gravity_results),
    Program("hmmer", [(2, 5, 4), (37, 61, 23), (64, 100, 120)], hmmer_inputs, hmmer_results),
]
