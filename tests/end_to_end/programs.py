"""The example programs with what NumPy says they compute. A program's parameters are read from its prototype, so names and
directions are not repeated here: inputs are given by position among what the program reads, results among what it writes."""

import os

import numpy as np
from harness import ROOT, prototype

EPSILON = 2.0 ** -24  # half a unit in the last place of a float


def exact(want):
    """Equal bit for bit."""
    return want, None


def close(want, bound):
    """Within an absolute bound for each element, from the rounding of every operation on the way."""
    return want, bound


class Program:
    """One example. inputs(random, *size) makes the arrays that it reads, as a dictionary by name (a name that is only
    written is left out); results(inputs) gives, by name, what it writes."""

    def __init__(self, name, sizes, inputs, results):
        self.name, self.sizes, self.inputs, self.results = name, sizes, inputs, results
        self.path = os.path.join(ROOT, "examples", "sequoia", name, name + ".sq")

    def exists(self):
        return os.path.exists(self.path)

    def parameters(self):
        return prototype(self.path)[1]

    def make(self, size, seed=1):
        """Inputs by parameter name, in the parameter's type; inout parameters included."""
        return self.inputs(np.random.default_rng(seed), self.parameters(), *size)


def random_array(random, dtype, shape):
    if dtype.kind == "f":
        return (random.random(shape) - 0.5).astype(dtype)
    return random.integers(0, 50, shape).astype(dtype)


def first(parameters, *directions):
    return [p for p in parameters if p.direction in directions]


def vectadd_inputs(random, parameters, n):
    return {p.name: random_array(random, p.dtype, n) for p in first(parameters, "in")}


def vectadd_results(parameters, given):
    a, b = [given[p.name] for p in first(parameters, "in")][:2]
    return {first(parameters, "out", "inout")[0].name: exact(a + b)}


def matmul_inputs(random, parameters, m, n, p):
    a, b = first(parameters, "in")[:2]
    given = {a.name: random_array(random, a.dtype, (m, p)), b.name: random_array(random, b.dtype, (p, n))}
    for c in first(parameters, "inout"):
        given[c.name] = random_array(random, c.dtype, (m, n))
    return given


def matmul_results(parameters, given):
    a, b = [given[p.name].astype("f8") for p in first(parameters, "in")][:2]
    c = first(parameters, "out", "inout")[0]
    start = given[c.name].astype("f8") if c.name in given else np.zeros((a.shape[0], b.shape[1]))
    bound = (a.shape[1] + 2) * EPSILON * (np.abs(a) @ np.abs(b) + np.abs(start))
    return {c.name: close(start + a @ b, bound)}


def conv2d_inputs(random, parameters, m, n, u, v):
    a, h = first(parameters, "in")[:2]
    return {a.name: random_array(random, a.dtype, (m + u - 1, n + v - 1)), h.name: random_array(random, h.dtype, (u, v))}


def conv2d_results(parameters, given):
    a, h = [given[p.name].astype("f8") for p in first(parameters, "in")][:2]
    windows = np.lib.stride_tricks.sliding_window_view(a, h.shape)
    want = np.einsum("mnuv,uv->mn", windows, h)
    bound = (h.size + 2) * EPSILON * np.einsum("mnuv,uv->mn", np.abs(windows), np.abs(h))
    return {first(parameters, "out", "inout")[0].name: close(want, bound)}


def histogram_inputs(random, parameters, n, b):
    data = first(parameters, "in")[0]
    given = {data.name: random.integers(0, b, n).astype(data.dtype)}
    for bins in first(parameters, "inout"):
        given[bins.name] = random.integers(0, 9, b).astype(bins.dtype)
    return given


def histogram_results(parameters, given):
    data = given[first(parameters, "in")[0].name]
    bins = first(parameters, "inout", "out")[0]
    return {bins.name: exact(given[bins.name] + np.bincount(data, minlength=len(given[bins.name])).astype(bins.dtype))}


def sum_inputs(random, parameters, n):
    data = first(parameters, "in")[0]
    given = {data.name: random_array(random, data.dtype, n)}
    for total in first(parameters, "inout"):
        given[total.name] = random_array(random, total.dtype, [1] * len(total.dimensions))
    return given


def sum_results(parameters, given):
    data = given[first(parameters, "in")[0].name]
    total = first(parameters, "inout", "out")[0]
    start = given.get(total.name, np.zeros([1] * len(total.dimensions), total.dtype))
    if total.dtype.kind != "f":
        return {total.name: exact((start + data.sum(dtype="i8")).astype(total.dtype))}
    bound = (data.size + 2) * EPSILON * (np.abs(data).sum(dtype="f8") + np.abs(start.astype("f8")))
    return {total.name: close(start.astype("f8") + data.sum(dtype="f8"), bound)}


# Three sizes each: small, one that no block size divides, and one that fills several blocks.
PROGRAMS = [
    Program("vectadd", [(8,), (10007,), (65536,)], vectadd_inputs, vectadd_results),
    Program("matmul", [(8, 8, 8), (101, 67, 131), (256, 192, 128)], matmul_inputs, matmul_results),
    Program("conv2d", [(8, 8, 3, 3), (101, 67, 5, 3), (128, 256, 5, 5)], conv2d_inputs, conv2d_results),
    Program("histogram", [(64, 8), (10007, 13), (65536, 64)], histogram_inputs, histogram_results),
    Program("sum", [(8,), (10007,), (65536,)], sum_inputs, sum_results),
]


def input_options(case, given):
    """The --in options for arrays by name, saved in the case's folder; scalars are given as numbers."""
    result = []
    for name, array in given.items():
        array = np.asarray(array)
        source = repr(array.item()) if array.ndim == 0 else case.save(f"in-{name}.npy", array)
        result += ["--in", f"{name}={source}"]
    return result


def run(case, program, given, *extra, source=None, label="out"):
    """Runs a program on inputs and gives what it wrote, by name."""
    written = first(program.parameters(), "out", "inout")
    outputs = []
    for p in written:
        outputs += ["--out", f"{p.name}={case.path(f'{label}-{p.name}.npy')}"]
    case.succeeds("run", source or program.path, *input_options(case, given), *outputs, *extra)
    return {p.name: np.load(case.path(f"{label}-{p.name}.npy")) for p in written}


def check(case, program, given, got, what):
    """Compares what was computed with what NumPy says."""
    for name, (want, bound) in program.results(program.parameters(), given).items():
        array = got[name]
        case.assertEqual(array.shape, np.shape(want), f"{what}: shape of {name}")
        if bound is None:
            wrong = array != want
        else:
            wrong = ~(np.abs(array.astype("f8") - want) <= bound)  # a NaN is wrong too
        if np.any(wrong):
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            case.fail(f"{what}: {np.count_nonzero(wrong)} of {np.size(want)} elements of {name} are wrong, the first at "
                      f"{index}: {array[index]!r}, should be {want[index]!r}")
