"""The loop programs of examples/pla/, each with what NumPy says it computes. Results are exact: NumPy adds in the program's order, in the
program's types."""

import os

import numpy as np
from harness import ROOT


class Program:
    """inputs(random, **size) makes arrays and scalars by name, results(inputs, **size) gives the outputs by name."""

    def __init__(self, name, sizes, inputs, results):
        self.name, self.sizes, self.inputs, self.results = name, sizes, inputs, results
        self.path = os.path.join(ROOT, f"examples/pla/{name}/{name}.pla")

    def make(self, size, seed=1):
        return self.inputs(np.random.default_rng(seed), **size)


def floats(random, *shape, dtype="f4"):
    return (random.random(shape) - 0.5).astype(dtype)


def doubles(random, *shape):
    return floats(random, *shape, dtype="f8")


def summed(terms, axis=-1):
    """One after the other, in the terms' own type."""
    return np.add.accumulate(terms, axis=axis).take(-1, axis=axis)


def bits(given, N):
    return {"bits": ((given["in"] >> np.minimum(np.arange(N), 31)) & 1).astype("i4")}


def fir(given, N, T):
    x, h = given["x"], given["h"]
    y = h[0] * x
    for k in range(1, T):
        y[k:] = y[k:] + h[k] * x[:N - k]
    return {"y": y}


def pipeline(given, N, T):
    x, h = given["x"], given["h"]
    y = h[0] * x
    for k in range(1, T):
        late = np.zeros_like(x)
        late[k:] = x[:max(N - k, 0)]
        y = y + h[k] * late
    return {"y": y}


def matmul(given, M, N, K):
    c = given["a"][:, :1] * given["b"][:1]
    for k in range(1, K):
        c = c + given["a"][:, k:k + 1] * given["b"][k:k + 1]
    return {"c": c}


def conv(given, F, H, W, C, R, S):
    """sum over c of (sum over r of (sum over s))."""
    image, taps = given["image"], given["filter"]
    result = None
    for c in range(C):
        rows = None
        for r in range(R):
            columns = None
            for s in range(S):
                term = taps[:, c, r, s, None, None] * image[None, c, r:r + H, s:s + W]
                columns = term if columns is None else columns + term
            rows = columns if rows is None else rows + columns
        result = rows if result is None else result + rows
    return {"result": result}


def jacobi(given, N, T):
    u = given["a"]
    for _ in range(T):
        v = u.copy()
        v[1:-1] = (u[:-2] + u[1:-1] + u[2:]) * np.float32(0.25)
        u = v
    return {"b": u}


def jacobi2d(given, M, N, T):
    u = given["a"]
    for _ in range(T):
        v = u.copy()
        v[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + u[1:-1, 1:-1]) * np.float32(0.2)
        u = v
    return {"b": u}


def seidel(given, N, T):
    u = given["a"].copy()
    for _ in range(T):
        for i in range(1, N - 1):
            u[i] = (u[i - 1] + u[i] + u[i + 1]) * np.float32(0.25)
    return {"b": u}


def atax(given, M, N):
    p = summed(given["a"] * given["x"])
    return {"y": summed(given["a"] * p[:, None], axis=0)}


def gesummv(given, N):
    return {"y": given["alpha"] * summed(given["a"] * given["x"]) + given["beta"] * summed(given["b"] * given["x"])}


def mvt(given, N):
    return {"z1": given["x1"] + summed(given["a"] * given["y1"]), "z2": given["x2"] + summed(given["a"].T * given["y2"])}


def trisolve(given, N):
    x = np.zeros(N)
    for i in range(N):
        s = given["b"][i]
        for j in range(i):
            s = s - given["l"][i, j] * x[j]
        x[i] = s / given["l"][i, i]
    return {"x": x}


def lu(given, N):
    f = given["a"].copy()
    for k in range(N):
        f[k + 1:, k] = f[k + 1:, k] / f[k, k]
        f[k + 1:, k + 1:] = f[k + 1:, k + 1:] - f[k + 1:, k:k + 1] * f[k, k + 1:]
    return {"f": f}


def syrk(given, N, K):
    whole = given["beta"] * given["c"] + given["alpha"] * summed(given["a"][:, None, :] * given["a"][None, :, :])
    return {"d": np.where(np.tri(N, dtype=bool), whole, given["c"])}


def floyd(given, N):
    d = given["w"].copy()
    for k in range(N):
        d = np.minimum(d, d[:, k:k + 1] + d[k:k + 1])
    return {"d": d}


def align(given, M, N):
    h = np.zeros((M + 1, N + 1), "i4")
    h[0] = -2 * np.arange(N + 1)
    h[:, 0] = -2 * np.arange(M + 1)
    for i in range(1, M + 1):
        for j in range(1, N + 1):
            same = 3 if given["a"][i - 1] == given["b"][j - 1] else -1
            h[i, j] = max(h[i - 1, j - 1] + same, max(h[i - 1, j], h[i, j - 1]) - 2)
    return {"score": h[-1:, -1]}


def iir(given, N):
    f = np.float32
    a1, a2, b0, x = f(given["a1"]), f(given["a2"]), f(given["b0"]), given["x"]
    v = np.zeros(N, "f4")
    for i in range(N):
        v[i] = b0 * x[i]
        if i > 0:
            v[i] = v[i] + a1 * v[i - 1]
        if i > 1:
            v[i] = v[i] + a2 * v[i - 2]
    return {"y": v}


def sobel(given, H, W):
    p = given["p"].astype("i4")
    up, down, left, right = p[:-2], p[2:], p[:, :-2], p[:, 2:]
    g = right[:-2] + 2 * right[1:-1] + right[2:] - left[:-2] - 2 * left[1:-1] - left[2:]
    v = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:] - up[:, :-2] - 2 * up[:, 1:-1] - up[:, 2:]
    e = np.zeros((H, W), "u1")
    e[1:-1, 1:-1] = np.minimum(np.abs(g) + np.abs(v), 255)
    return {"e": e}


def programs():
    square = [{"N": 1}, {"N": 5}, {"N": 23}]
    return [
        Program("vectadd", [{"N": 0}, {"N": 1}, {"N": 1003}], lambda r, N: {"a": floats(r, N), "b": floats(r, N)},
                lambda given, N: {"c": given["a"] + given["b"]}),
        Program("sum", [{"N": 1}, {"N": 2}, {"N": 1001}], lambda r, N: {"x": doubles(r, N)},
                lambda given, N: {"s": summed(given["x"]).reshape(1)}),
        Program("bits", [{"N": 1}, {"N": 16}, {"N": 40}], lambda r, N: {"in": 0x5A3C96}, bits),
        Program("fir", [{"N": 1, "T": 1}, {"N": 7, "T": 7}, {"N": 200, "T": 9}],
                lambda r, N, T: {"x": floats(r, N), "h": floats(r, T)}, fir),
        Program("matmul", [{"M": 1, "N": 1, "K": 1}, {"M": 7, "N": 5, "K": 9}, {"M": 33, "N": 40, "K": 21}],
                lambda r, M, N, K: {"a": floats(r, M, K), "b": floats(r, K, N)}, matmul),
        Program("systolic", [{"M": 1, "N": 1, "K": 1}, {"M": 7, "N": 5, "K": 9}, {"M": 23, "N": 20, "K": 21}],
                lambda r, M, N, K: {"a": floats(r, M, K), "b": floats(r, K, N)}, matmul),
        Program("pipeline", [{"N": 1, "T": 1}, {"N": 7, "T": 9}, {"N": 200, "T": 9}],
                lambda r, N, T: {"x": floats(r, N), "h": floats(r, T)}, pipeline),
        Program("conv", [dict(zip("FHWCRS", (1,) * 6)), dict(zip("FHWCRS", (2, 5, 4, 3, 2, 3))), dict(zip("FHWCRS", (3, 9, 8, 2, 3, 3)))],
                lambda r, F, H, W, C, R, S: {"image": floats(r, C, H + R - 1, W + S - 1), "filter": floats(r, F, C, R, S)}, conv),
        Program("matvec", [{"M": 1, "N": 1}, {"M": 6, "N": 11}, {"M": 40, "N": 31}],
                lambda r, M, N: {"a": doubles(r, M, N), "x": doubles(r, N)}, lambda given, M, N: {"y": summed(given["a"] * given["x"])}),
        Program("jacobi", [{"N": 2, "T": 1}, {"N": 9, "T": 4}, {"N": 60, "T": 13}], lambda r, N, T: {"a": floats(r, N), "T": T}, jacobi),
        Program("jacobi2d", [{"M": 2, "N": 2, "T": 1}, {"M": 6, "N": 9, "T": 3}, {"M": 20, "N": 17, "T": 5}],
                lambda r, M, N, T: {"a": floats(r, M, N), "T": T}, jacobi2d),
        Program("seidel", [{"N": 2, "T": 1}, {"N": 9, "T": 4}, {"N": 60, "T": 13}], lambda r, N, T: {"a": floats(r, N), "T": T}, seidel),
        Program("atax", [{"M": 1, "N": 1}, {"M": 6, "N": 11}, {"M": 30, "N": 21}],
                lambda r, M, N: {"a": doubles(r, M, N), "x": doubles(r, N)}, atax),
        Program("gesummv", square, lambda r, N: {"alpha": 1.5, "beta": -0.75, "a": doubles(r, N, N), "b": doubles(r, N, N), "x": doubles(r, N)},
                gesummv),
        Program("mvt", square, lambda r, N: {"a": doubles(r, N, N), **{name: doubles(r, N) for name in ("x1", "x2", "y1", "y2")}}, mvt),
        Program("trisolve", square, lambda r, N: {"l": doubles(r, N, N) + 2 * np.eye(N), "b": doubles(r, N)}, trisolve),
        Program("lu", square, lambda r, N: {"a": doubles(r, N, N) + 4 * np.eye(N)}, lu),
        Program("syrk", [{"N": 1, "K": 1}, {"N": 6, "K": 4}, {"N": 21, "K": 13}],
                lambda r, N, K: {"alpha": 1.5, "beta": 0.5, "a": doubles(r, N, K), "c": doubles(r, N, N)}, syrk),
        Program("floyd", square, lambda r, N: {"w": (r.integers(1, 100, (N, N)) * (1 - np.eye(N, dtype="i4"))).astype("i4")}, floyd),
        Program("shortest", square, lambda r, N: {"w": (r.integers(1, 100, (N, N)) * (1 - np.eye(N, dtype="i4"))).astype("i4")}, floyd),
        Program("align", [{"M": 1, "N": 1}, {"M": 8, "N": 5}, {"M": 30, "N": 41}],
                lambda r, M, N: {"a": r.integers(0, 4, M).astype("i1"), "b": r.integers(0, 4, N).astype("i1")}, align),
        Program("iir", square, lambda r, N: {"a1": 0.5, "a2": -0.25, "b0": 1.25, "x": floats(r, N)}, iir),
        Program("sobel", [{"H": 3, "W": 3}, {"H": 5, "W": 9}, {"H": 30, "W": 23}], lambda r, H, W: {"p": r.integers(0, 256, (H, W)).astype("u1")},
                sobel)]


def input_options(case, given):
    words = []
    for name, value in given.items():
        words += ["--in", f"{name}={case.save(f'{name}.npy', value) if isinstance(value, np.ndarray) else value}"]
    return words


def run(case, program, given, size, *extra, source=None):
    """What the program computes, by output; each has been written to out-NAME.npy."""
    wanted = program.results(given, **size)
    # Sizes that no array settles: of the array of bits, whose extent is its program's alone.
    stated = ["--size", f"N={size['N']}"] if program.name == "bits" else []
    outputs = [word for name in wanted for word in ("--out", f"{name}={case.path(f'out-{name}.npy')}")]
    case.succeeds("run", source or program.path, *input_options(case, given), *stated, *outputs, *extra)
    return {name: np.load(case.path(f"out-{name}.npy")) for name in wanted}


def check(case, program, given, size, got, what):
    for name, wanted in program.results(given, **size).items():
        case.assertEqual((got[name].dtype, got[name].shape), (wanted.dtype, wanted.shape), f"{what}: {name}")
        case.assertTrue(np.array_equal(got[name], wanted), f"{what}: {name} differs from NumPy's in {np.argwhere(got[name] != wanted)[:3]}")
