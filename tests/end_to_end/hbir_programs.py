"""The HBIR examples, each in every form that it is written in, with what NumPy says they compute."""

import glob
import os

import numpy as np
from harness import ROOT

EPSILON = 2.0 ** -24  # half a unit in the last place of a float


class Program:
    """One file. `sizes` are values for constants of its data segment; inputs(random, **size) makes what it reads, results(inputs,
    **size) gives by name what it writes and the bound of the error of each element (None: exact)."""

    def __init__(self, name, path, sizes, inputs, results, moved):
        self.name, self.path, self.sizes, self.inputs, self.results = name, path, sizes, inputs, results
        self.form = os.path.splitext(os.path.basename(path))[0][len(name):].strip("_") or "a"
        self.moved = moved[self.form] if isinstance(moved, dict) else moved

    def make(self, size, seed=1):
        return self.inputs(np.random.default_rng(seed), **size)


def floats(random, *shape):
    return (random.random(shape) - 0.5).astype("f4")


def vectadd(random, n):
    return {"A": floats(random, n), "B": floats(random, n)}


def vectadd_results(given, n):
    return {"C": (given["A"] + given["B"], None)}


def matmul(random, m, n, p):
    return {"A": floats(random, m, p), "B": floats(random, p, n)}


def matmul_results(given, m, n, p):
    a, b = given["A"].astype("f8"), given["B"].astype("f8")
    return {"C": (a @ b, (p + 2) * EPSILON * (np.abs(a) @ np.abs(b)))}


def conv2d(random, h, w, u, v):
    return {"A": floats(random, h + u - 1, w + v - 1), "F": floats(random, u, v)}


def conv2d_results(given, h, w, u, v):
    a, f = given["A"].astype("f8"), given["F"].astype("f8")
    windows = np.lib.stride_tricks.sliding_window_view(a, f.shape)
    bound = (f.size + 2) * EPSILON * np.einsum("mnuv,uv->mn", np.abs(windows), np.abs(f))
    return {"C": (np.einsum("mnuv,uv->mn", windows, f), bound)}


def prefix(random, n):
    return {"A": random.integers(-50, 50, n).astype("i4")}


def prefix_results(given, n):
    return {"S": (np.cumsum(given["A"]).astype("i4"), None)}


def total(random, n):
    return {"A": floats(random, n)}


def total_results(given, n):
    a = given["A"].astype("f8")
    return {"total": (np.array([a.sum()]), (n + 2) * EPSILON * np.array([np.abs(a).sum()]))}


def histogram(random, n, bins):
    return {"A": random.integers(0, bins, n).astype("i4")}


def histogram_results(given, n, bins):
    return {"H": (np.bincount(given["A"], minlength=bins).astype("i4"), None)}


def filtering(random, users, items, factors):
    ratings = np.where(random.random((users, items)) < 0.3, random.integers(1, 6, (users, items)), 0).astype("f4")
    return {"R": ratings, "U": floats(random, users, factors), "V": floats(random, items, factors)}


def filtering_results(given, users, items, factors):
    r, u, v = (given[name].astype("f8") for name in "RUV")
    error = np.where(r > 0, r - u @ v.T, 0)
    step = error @ v - 0.1 * (r > 0).sum(1, keepdims=True) * u
    size = np.abs(r) + np.abs(u) @ np.abs(v.T)
    bound = 64 * (items + factors) * EPSILON * (np.abs(u) + 0.05 * (size @ np.abs(v) + items * np.abs(u)))
    return {"Un": (u + 0.05 * step, bound)}


def nbody(random, n):
    bodies = floats(random, n, 4)
    bodies[:, 3] = np.abs(bodies[:, 3])
    return {"P": bodies}


def nbody_results(given, n):
    p = given["P"].astype("f8")
    d = p[None, :, :3] - p[:, None, :3]
    squared = (d * d).sum(2) + 0.01
    pull = p[None, :, 3] / (squared * np.sqrt(squared))
    bound = 16 * (n + 16) * EPSILON * (pull[:, :, None] * np.abs(d)).sum(1) + 1e-6
    return {"G": ((pull[:, :, None] * d).sum(1), bound)}


def groups(random, n):
    return {"A": random.integers(-999, 1000, n).astype("i4")}


def groups_results(given, n):
    piece = -(-n // 8)
    pieces = [given["A"][i * piece:(i + 1) * piece] for i in range(8)]
    make = lambda f: (np.array([f(p) for p in pieces], "i4"), None)
    return {"sums": make(np.sum), "highs": make(lambda p: p.max(initial=-2147483647)), "lows": make(lambda p: p.min(initial=2147483647))}


# Three sizes: small (fewer elements than tiles), one that the tiles do not divide, one that they do. The statements of a mapping file that moves what
# there is to other places.
EXAMPLES = {
    "vectadd": ([{"n": 5}, {"n": 10007}, {"n": 65536}], vectadd, vectadd_results,
                "array A = striped over target.g;\narray C = block[7] over target.t.l;\n"),
    "matmul": ([{"m": 3, "n": 2, "p": 5}, {"m": 61, "n": 47, "p": 83}, {"m": 128, "n": 64, "p": 96}], matmul, matmul_results,
               "array A = replicated over target.g;\narray C = chunked over target.g;\n"),
    "matmul_local": ([{"m": 3, "n": 2, "p": 5}, {"m": 61, "n": 47, "p": 83}, {"m": 128, "n": 64, "p": 96}], matmul, matmul_results,
                     "array B = striped over target.t.l;\n"),
    "conv2d": ([{"h": 3, "w": 2, "u": 3, "v": 3}, {"h": 61, "w": 47, "u": 5, "v": 3}, {"h": 128, "w": 64, "u": 5, "v": 5}], conv2d,
               conv2d_results, "array F = chunked over target.g;\narray C = striped over target.g;\n"),
    "prefix": ([{"n": 5}, {"n": 10007}, {"n": 16384}], prefix, prefix_results,
               "array A = striped over target.t.l;\narray sums = block over target.g;\n"),
    "sum": ([{"n": 5}, {"n": 10007}, {"n": 65536}], total, total_results,
            "array A = block over target.g;\narray parts = striped over target.g;\n"),
    "histogram": ([{"n": 5, "bins": 3}, {"n": 10007, "bins": 13}, {"n": 65536, "bins": 64}], histogram, histogram_results,
                  "array H = chunked over target.t.l;\narray counts = striped over target.g;\n"),
    "filtering": ([{"users": 5, "items": 3, "factors": 2}, {"users": 61, "items": 47, "factors": 7},
                   {"users": 128, "items": 64, "factors": 8}], filtering, filtering_results,
                  "array V = chunked over target.g;\narray Un = striped over target.g;\n"),
    "nbody": ([{"n": 5}, {"n": 101}, {"n": 256}], nbody, nbody_results, "array P = striped over target.t.l;\n"),
    "groups": ([{"n": 5}, {"n": 1003}, {"n": 4096}], groups, groups_results,
               {"a": "group adders at (2, 0);\ngroup grid at (0, 0);\n", "b": "group adders at (2, 0);\ngroup extremes at (0, 0);\n",
                "c": "group adders at (2, 0);\ngroup bottom at (0, 0);\narray A = striped over target.t.l;\n"}),
}


def programs():
    """Every file of examples/hbir that stands in EXAMPLES."""
    result = []
    for name, (sizes, inputs, results, moved) in EXAMPLES.items():
        for path in sorted(glob.glob(os.path.join(ROOT, "examples", "hbir", name, "*.hbir"))):
            result.append(Program(name, path, sizes, inputs, results, moved))
    return result


def options_of(case, given, size):
    """--size and --in options, with the arrays saved in the case's folder."""
    options = ["--size", ",".join(f"{name}={value}" for name, value in size.items())]
    for name, array in given.items():
        options += ["--in", f"{name}={case.save(f'in-{name}.npy', array)}"]
    return options


def run(case, program, given, size, *extra, label="out"):
    """Runs a program and gives what it wrote, by name."""
    names = list(program.results(given, **size))
    outputs = [word for name in names for word in ("--out", f"{name}={case.path(f'{label}-{name}.npy')}")]
    case.succeeds("run", program.path, *options_of(case, given, size), *outputs, *extra)
    return {name: np.load(case.path(f"{label}-{name}.npy")) for name in names}


def check(case, program, given, size, got, what):
    """Compares what was computed with what NumPy says."""
    for name, (want, bound) in program.results(given, **size).items():
        array = got[name]
        case.assertEqual(array.shape, np.shape(want), f"{what}: shape of {name}")
        wrong = array != want if bound is None else ~(np.abs(array.astype("f8") - want) <= bound)
        if np.any(wrong):
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            case.fail(f"{what}: {np.count_nonzero(wrong)} of {np.size(want)} elements of {name} are wrong, the first at "
                      f"{index}: {array[index]!r}, should be {np.asarray(want)[index]!r}")
