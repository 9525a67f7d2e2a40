"""The example programs with what NumPy says they compute: the first ones here, the suite in suite.py. Inputs are given by
position among what the program reads, results among what it writes."""

import numpy as np
from program import EPSILON, Program, check, close, exact, first, input_options, random_array, run
from suite import SUITE

__all__ = ["PROGRAMS", "check", "first", "input_options", "run"]


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
    h, a = first(parameters, "in")[:2]
    return {a.name: random_array(random, a.dtype, (m + u - 1, n + v - 1)), h.name: random_array(random, h.dtype, (u, v))}


def conv2d_results(parameters, given):
    h, a = [given[p.name].astype("f8") for p in first(parameters, "in")][:2]
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
    *SUITE,
]
