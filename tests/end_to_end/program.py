"""A Sequoia example and how it is run and compared with what NumPy says: the class Program and what goes with it. The
programs themselves are in programs.py and suite.py. A program's parameters are read from its prototype, so names and directions
are not repeated there."""

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
    written is left out); results(inputs) gives, by name, what it writes. `but_not` names machines on which it cannot run."""

    def __init__(self, name, sizes, inputs, results, but_not=()):
        self.name, self.sizes, self.inputs, self.results, self.but_not = name, sizes, inputs, results, but_not
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
        form = "complex:" if p.dtype.kind == "c" else ""
        outputs += ["--out", f"{p.name}={form}{case.path(f'{label}-{p.name}.npy')}"]
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
            exactly = array.astype("c16" if array.dtype.kind == "c" else "f8")
            wrong = ~(np.abs(exactly - want) <= bound)  # a NaN is wrong too
        if np.any(wrong):
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            case.fail(f"{what}: {np.count_nonzero(wrong)} of {np.size(want)} elements of {name} are wrong, the first at "
                      f"{index}: {array[index]!r}, should be {want[index]!r}")
