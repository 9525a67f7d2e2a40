"""Random Sequoia programs that use tunables in every way that people do, each run without a mapping on every machine that ships and with sizes of
every kind, and some built as libraries that are called with many sizes. Every program adds a known number to each element of its array, so that an
element that is left out or taken twice shows; NumPy has the expected result.

  tunables.py --strata build/bin/strata --server build/tests/differential_server --seconds 20
  tunables.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  tunables.py … --keep FOLDER                                  where programs that fail are written"""

import argparse
import collections
import concurrent.futures
import ctypes
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy

from sequoia import SHIPPED, Server, code_of

# What has no max may be too large for a local store; that is refused by name.
REFUSED = {"sequoia-does-not-fit", "sequoia-not-bounded", "schedule-does-not-fit"}
PRIMES = [2, 3, 5, 7, 11, 13, 97, 127, 251, 509, 1009, 1021, 1031, 4099, 10007]
HELPERS = ["inline long up(long a, long b) { return (a + b - 1) / b; }", "inline long parts(long a, long b) { return a / b; }"]


class Cut:
    """One way of cutting an array into calls: the tunables to declare, and statements in which CALL[…] is a call with that block. One of a fixed size
    takes no more elements than its tunables say: a library of it takes no larger arrays, and says so when it is called."""

    def __init__(self, tunables, *lines, fixed=False):
        self.tunables, self.lines, self.fixed = tunables.split(), lines, fixed


# {n}: the size; {map}: mappar or mapseq.
CUTS = [
    Cut("t", "{map} (long i = 0 : {n} / t) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (int i = 0 : {n} / t) {{ CALL[i * t : (i + 1) * t;] }}"),
    Cut("t", "{map} (long i = 0 : {n} / t) {{ CALL[i * t : i * t + t; t] }}"),
    Cut("t", "{map} (long i = 0 : ({n} + t - 1) / t) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : (t - 1 + {n}) / t) {{ CALL[i * t : min((i + 1) * t, {n});] }}"),
    Cut("t", "{map} (long i = 0 : ({n} + (t - 1)) / t) {{ CALL[i * t : min((i + 1) * t, {n}); t] }}"),
    Cut("t", "{map} (long i = 0 : {n} / t + ({n} % t != 0)) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : {n} / t + ({n} % t > 0 ? 1 : 0)) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : {n} % t ? {n} / t + 1 : {n} / t) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : ({n} - 1) / t + 1) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : {n} / t + 1) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : ({n} - t) / t + 1) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : up({n}, t)) {{ CALL[i * t; t] }}"),
    Cut("t", "{map} (long i = 0 : parts({n}, t)) {{ CALL[i * t; t] }}"),
    Cut("t", "long count = {n} / t;", "{map} (long i = 0 : count) {{ CALL[i * t; t] }}"),
    Cut("t", "long padded = {n} + t - 1;", "{map} (long i = 0 : padded / t) {{ CALL[i * t; t] }}"),
    Cut("t", "long count = {n};", "count += t - 1;", "count /= t;", "{map} (long i = 0 : count) {{ CALL[i * t; t] }}"),
    Cut("t", "long count = {n};", "count /= t;", "{map} (long i = 0 : count) {{ CALL[i * t; t] }}"),
    Cut("t", "for (long i = 0; i < {n} / t; i++) {{ CALL[i * t; t] }}"),
    Cut("t", "for (long i = 0; i * t < {n}; i++) {{ CALL[i * t; t] }}"),
    Cut("t", "for (long i = 0; i < {n}; i += t) {{ CALL[i; t] }}"),
    Cut("t", "for (long i = 0; i + t <= {n}; i += t) {{ CALL[i; t] }}"),
    Cut("t", "for (long i = 0; i < {n} - t + 1; i += t) {{ CALL[i : i + t;] }}"),
    Cut("t", "for (long i = 0; i < {n} / t * t; i += t) {{ CALL[i; t] }}"),
    Cut("t", "for (long i = {n} - t; i >= 0; i -= t) {{ CALL[i; t] }}"),
    Cut("t", "for (long i = {n} / t - 1; i >= 0; i--) {{ CALL[i * t; t] }}"),
    Cut("t", "for (long i = 0; (i + 1) * t <= {n}; i++) {{ CALL[i * t; t] }}"),
    Cut("t", "long at = 0;", "while (at + t <= {n}) {{ CALL[at; t] at += t; }}"),
    Cut("t", "long rest = {n};", "while (rest >= t) {{ CALL[{n} - rest; t] rest -= t; }}"),
    Cut("t", "for (long i = 0; i + t <= {n}; i += t) {{ CALL[i; t] }}", "CALL[{n} / t * t : {n};]"),
    Cut("t", "for (long i = 0; i < {n}; i += t) {{ if (i + t > {n}) break; CALL[i; t] }}"),
    Cut("k", "for (long i = 0; (i + 1) << k <= {n}; i++) {{ CALL[i << k : (i + 1) << k;] }}"),
    Cut("t", "long rest = {n};", "while (rest > 0) {{ long taken = min(rest, t); CALL[rest - taken : rest; t] rest -= taken; }}"),
    Cut("t", "{map} (long i = 0 : {n} / t) {{ CALL[i * t; t] }}", "CALL[{n} / t * t : {n};]"),
    Cut("t", "{map} (long i = 0 : ({n} - {n} % t) / t) {{ CALL[i * t; t] }}", "if ({n} % t) CALL[{n} - {n} % t : {n}; t]"),
    Cut("t", "if ({n} % t == 0) {{ mapseq (long i = 0 : {n} / t) {{ CALL[i * t; t] }} }} else {{ mapseq (long i = 0 : {n} / t + 1) {{ CALL[i * t; t] }} }}"),
    Cut("t", "{map} (long i = 0 : (({n} + t - 1) & ~(t - 1)) / t) {{ CALL[i * t; t] }}"),
    Cut("p", "{map} (long i = 0 : p) {{ CALL[i * {n} / p : (i + 1) * {n} / p;] }}"),
    Cut("p", "{map} (long i = 0 : p) {{ CALL[i * ({n} / p); {n} / p] }}"),
    Cut("p", "{map} (long i = 0 : p) {{ CALL[min(i * up({n}, p), {n}) : min((i + 1) * up({n}, p), {n});] }}"),
    Cut("k", "{map} (long i = 0 : {n} >> k) {{ CALL[i << k : (i + 1) << k;] }}"),
    Cut("k", "{map} (long i = 0 : ({n} + (1L << k) - 1) >> k) {{ CALL[i << k : min((i + 1) << k, {n});] }}"),
    Cut("k", "{map} (long i = 0 : {n} / (1L << k)) {{ CALL[i << k : (i + 1) << k;] }}"),
    Cut("t", "{map} (long i = 0 : {n} / (t * t)) {{ CALL[i * t * t; t * t] }}"),
    Cut("t", "{map} (long i = 0 : ({n} + t * t - 1) / (t * t)) {{ CALL[i * t * t; t * t] }}"),
    Cut("a b", "{map} (long i = 0 : {n} / (a * b)) {{ {map2} (long j = 0 : b) {{ CALL[(i * b + j) * a; a] }} }}"),
    Cut("a b", "{map} (long i = 0 : {n} / a / b) {{ {map2} (long j = 0 : b) {{ CALL[(i * b + j) * a; a] }} }}"),
    Cut("a b", "{map} (long i = 0 : {n} / a) {{ {map2} (long j = 0 : a / b) {{ CALL[i * a + j * b; b] }} }}"),
    Cut("a b", "{map} (long i = 0 : ({n} + a - 1) / a) {{ {map2} (long j = 0 : (a + b - 1) / b) {{ CALL[min(i * a + j * b, {n}) : min(min(i * a + j * b + b, (i + 1) * a), {n}); b] }} }}"),
    Cut("t most", "{map} (long i = 0 : ({n} + t - 1) / t) {{ CALL[i * t : min(i * t + t, {n}); most] }}"),
    Cut("t most", "{map} (long i = 0 : {n} / t) {{ CALL[i * t : (i + 1) * t; most] }}"),
    Cut("t most", "{map} (long i = 0 : up({n}, t)) {{ CALL[i * t : min(i * t + t, {n}); most + 1] }}"),
    Cut("t most", "{map} (long i = 0 : up({n}, t)) {{ CALL[i * t : min(i * t + t, {n}); min(t, most)] }}"),
    Cut("p most", "{map} (long i = 0 : p) {{ CALL[i * {n} / p : (i + 1) * {n} / p; most] }}", fixed=True),
    Cut("t", "for (long i = 0; i != {n}; i += t) {{ CALL[i; t] }}"),
    Cut("t", "for (long i = {n}; i != 0; i -= t) {{ CALL[i - t; t] }}"),
    Cut("t", "for (int i = 0; {n} != i; i = t + i) {{ CALL[i : i + t;] }}"),
    Cut("t", "long at = 0;", "while (at != {n}) {{ CALL[at; t] at += t; }}"),
    Cut("t", "long at = {n};", "do {{ at -= t; if (at >= 0) CALL[at; t] }} while (at > 0);"),
    Cut("t", "long rest = {n};", "while (rest != 0) {{ long taken = min(rest, t); CALL[rest - taken : rest; t] rest -= taken; }}"),
    Cut("t", "for (long i = 0; i != {n} / t; i++) {{ CALL[i * t; t] }}"),
    Cut("t", "for (long i = {n} / t; i != 0; --i) {{ CALL[(i - 1) * t; t] }}"),
    Cut("t", "long i, j;", "for (i = 0; i + t <= {n}; i += t) for (j = i; j < i + t; j += t) CALL[j; t]"),
    Cut("a b", "long i, j;", "for (i = 0; i != {n}; i += a) for (j = i; j != i + a; j += b) CALL[j; b]"),
    Cut("a b", "for (long i = 0; i < {n}; i += a) for (long j = i; j < min(i + a, {n}); j += b) CALL[j : min(min(j + b, i + a), {n});]"),
    Cut("t", "for (long i = 0; i < t; i++) {{ CALL[min(i * 8, {n}) : min(i * 8 + 8, {n});] }}", fixed=True),
    Cut("t", "{map} (long i = 0 : t) {{ CALL[min(i * 64, {n}); 64] }}", fixed=True),
    Cut("k", "for (long i = 0; i < (1L << k); i++) {{ CALL[min(i * 64, {n}); 64] }}", fixed=True),
    Cut("k most", "{map} (long i = 0 : ({n} + (1L << k) - 1) >> k) {{ CALL[i << k : min((i + 1) << k, {n}); most] }}"),
    Cut("a b most", "{map} (long i = 0 : {n} / a) {{ {map2} (long j = 0 : a / b) {{ CALL[i * a + j * b : i * a + (j + 1) * b; most] }} }}"),
    Cut("t most", "mapseq (long i = 0 : min(t, {n})) {{ CALL[i : {n} : t; most] }}", fixed=True),
    Cut("t", "mapseq (long i = 0 : min(t, {n})) {{ CALL[i : {n} : t;] }}"),
    Cut("", "CALL[0 : {n} / 2;]", "CALL[{n} / 2 : {n};]"),
]


class Program:
    """A chain of tasks: each but the last, a leaf, cuts its array in one way, the first of them maybe a matrix."""

    def __init__(self, seed):
        r = self.random = random.Random(seed)
        self.rank = 2 if r.random() < 0.2 else 1
        self.levels = r.choice([1, 1, 1, 2, 2, 3])
        self.added, self.cuts = r.randint(1, 5), []
        self.itself = self.rank == 1 and r.random() < 0.25  # one task, which calls itself
        lines = [h for h in HELPERS]
        dims = ["H", "N"][2 - self.rank:]
        parameter = "inout int x" + "".join(f"[{d}]" for d in dims)
        names = ["Main"] + [f"T{level}" for level in range(1, self.levels)] + ["Leaf"]
        if self.itself:
            names = ["Main", "Main"]
        passes = not self.itself and r.random() < 0.2  # a block's size as a scalar too
        signatures = {name: f"({parameter}{', in long given' if passes and name != 'Main' else ''})" for name in names}
        for name in dict.fromkeys(names):
            lines.append(f"void task {name}{signatures[name]};")
        for name, callee in zip(names, names[1:]):
            lines += self.inner(name, signatures[name], callee, dims, passes, name != "Main" and passes)
        lines += self.leaf(names[-1], signatures[names[-1]], dims)
        self.text = "\n".join(lines) + "\n"

    def inner(self, name, signature, callee, dims, passes, isGiven):
        r, tunables, statements = self.random, [], []
        isFixed = any(cut.fixed for cut in self.cuts)  # one within another makes a million calls
        cut = r.choice([cut for cut in CUTS if not (isFixed and cut.fixed)])
        self.cuts.append(cut)
        rows = "" if self.rank == 1 else "[0 : H;]"
        body = []
        names = {t: f"{t}" for t in cut.tunables}
        for line in cut.lines:
            text = line.format(n="N", map=r.choice(["mappar", "mapseq"]), map2="mapseq")
            while "CALL" in text:
                at = text.index("CALL")
                end = text.index("]", at)
                scalar = f", {(cut.tunables + ['1'])[0]}" if passes else ""
                text = text[:at] + f"{callee}(x{rows}{text[at + 4:end + 1]}{scalar});" + text[end + 1:]
            body.append(text)
        tunables += list(names)
        if self.rank == 2 and len(body) == 1 and body[0].startswith("map") and r.random() < 0.7:
            form = r.choice(["H / h", "(H + h - 1) / h"])
            body = [f"mapseq (long row = 0 : {form}) {{ {body[0].replace('[0 : H;]', '[row * h; h]')} }}"]
            tunables.append("h")
        if isGiven and r.random() < 0.5:  # what came as a number is used again, as a divisor
            body = ["if (given > 0 && N % given == 0) { " + f"mapseq (long g = 0 : N / given) {{ {callee}(x{rows}[g * given : (g + 1) * given;]"
                    + (", given" if passes else "") + "); } } else { " + " ".join(body) + " }"]
        declared = [f"  tunable {', '.join(tunables)};"] if tunables else []
        return [f"void task<inner> {name}::{name}Cut{signature} {{"] + declared + ["  " + s for s in body] + statements + ["}"]

    def leaf(self, name, signature, dims):
        r = self.random
        extents = "".join(f"[{v}]" for v in "ji"[2 - self.rank:])
        loops = "for (long j = 0; j < H; j++) " if self.rank == 2 else ""
        if r.random() < 0.15:
            inside = f"for (long b = 0; b < N / u; b++) for (long c = 0; c < u; c++) {{ long i = b * u + c; x{extents} += {self.added}; }}"
            return [f"void task<leaf> {name}::L{signature} {{ tunable u; {loops}{inside} }}"]
        return [f"void task<leaf> {name}::L{signature} {{ {loops}for (long i = 0; i < N; i++) x{extents} += {self.added}; }}"]

    def size(self, most=5000):
        r = self.random
        kind = r.random()
        if kind < 0.1:
            return r.choice([0, 1, 2, 3])
        if kind < 0.4:
            return r.choice(PRIMES)
        if kind < 0.5:
            return 1 << r.randint(0, 13)
        return r.randint(1, most) if kind < 0.9 else r.randint(1, 60000)

    def shape(self):
        return [self.random.choice([0, 1, 2, 7, 16, 31]), min(self.size(800), 3000)] if self.rank == 2 else [self.size()]


class Case:
    def __init__(self, strata, keep, seed, library):
        self.strata, self.seed = strata, seed
        self.program = Program(seed)
        self.library = library and not any(cut.fixed for cut in self.program.cuts)
        self.folder = pathlib.Path(keep) / str(seed)
        self.refused, self.runs = collections.Counter(), 0

    def run(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        source = self.folder / "program.sq"
        source.write_text(self.program.text)
        wrong = self.called(source) if self.library else self.executed(source)
        if not wrong:
            for file in self.folder.iterdir():
                file.unlink()
            self.folder.rmdir()
        return wrong

    def data(self, shape):
        return numpy.random.default_rng(self.seed).integers(-1000, 1000, shape).astype(numpy.int32)

    def executed(self, source):
        for machine in SHIPPED:
            shape = self.program.shape()
            before = self.data(shape)
            numpy.save(self.folder / "in.npy", before)
            command = [self.strata, "run", str(source), "--entry", "Main", "--machine", machine, "--in", f"x={self.folder}/in.npy",
                       "--out", f"x={self.folder}/out.npy", "--threads", str(1 + self.seed % 3)]
            if self.program.random.random() < 0.15:
                command.append("--check")
            status, said = Server.execute(command, False)
            self.runs += 1
            if status == 1 and code_of(said) in REFUSED:
                self.refused[code_of(said)] += 1
                continue
            if status:
                return f"{' '.join(command)}\n  (shape {shape}) ended with {status}\n{said[-2500:]}"
            after = numpy.load(self.folder / "out.npy")
            if not numpy.array_equal(after, before + self.program.added):
                return f"{' '.join(command)}\n  (shape {shape}) {numpy.count_nonzero(after != before + self.program.added)} elements are wrong"
        return None

    def called(self, source):
        """Through a library, in a process of its own."""
        machine = SHIPPED[self.seed % len(SHIPPED)]
        library = self.folder / f"lib{self.seed}.so"
        command = [self.strata, "build", str(source), "--entry", "Main", "--machine", machine, "-o", str(library)]
        status, said = Server.execute(command, False)
        if status == 1 and code_of(said) in REFUSED:
            self.refused[code_of(said)] += 1
            return None
        if status:
            return f"{' '.join(command)}\n  ended with {status}\n{said[-2500:]}"
        shapes = [self.program.shape() for _ in range(40)]
        call = [sys.executable, __file__, "--call", str(library), str(self.program.added), *("x".join(map(str, shape)) for shape in shapes)]
        done = subprocess.run(call, capture_output=True, text=True, timeout=600)
        answers = done.stdout.split("\n")[:-1]
        self.runs += len(answers)
        for shape, answer in zip(shapes, answers):
            if answer in ("sequoia-precondition", "runtime-store-full"):  # where a store bounds what a library takes
                self.refused[answer] += 1
            elif answer != "fine":
                return f"{' '.join(command)}\n  (shape {shape}) {answer}"
        if done.returncode or len(answers) < len(shapes):
            return f"{' '.join(command)}\n{' '.join(call)}\n  (shape {shapes[len(answers)]}) ended with {done.returncode}\n{done.stderr[-2500:]}"
        return None


class Array(ctypes.Structure):
    """sqArray_t of include/sequoia.h"""

    _fields_ = [("numDims", ctypes.c_uint), ("contigDim", ctypes.c_int), ("offset", ctypes.c_ulong * 9), ("pitch", ctypes.c_ulong * 9),
                ("numElmts", ctypes.c_ulong * 9), ("elmtSize", ctypes.c_ulong), ("ptr", ctypes.c_void_p)]


def call(path, added, shapes):
    """Calls a library's entry point with an array of each shape; prints a line for each: 'fine', or what was wrong."""
    library = ctypes.CDLL(path)
    header = pathlib.Path(path).with_suffix(".h").read_text()
    entry = getattr(library, next(line for line in header.split("\n") if line.startswith("void ")).split("(")[0].split()[1])
    entry.restype = None
    said = []
    handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)(lambda code, message: said.append((code.decode(), message.decode())))
    library.sqSetErrorHandler(handler)
    for shape in shapes:
        before = numpy.arange(int(numpy.prod(shape)), dtype=numpy.int32).reshape(shape)
        after = before.copy()
        array = Array(numDims=len(shape), contigDim=len(shape) - 1, elmtSize=4, ptr=after.ctypes.data)
        for d, extent in enumerate(shape):
            array.pitch[d] = array.numElmts[d] = extent
        said.clear()
        entry(ctypes.byref(array))
        wrong = numpy.count_nonzero(after != before + added)
        print(said[0][0] if said else f"{wrong} elements are wrong" if wrong else "fine", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True, help="the command to test")
    parser.add_argument("--server", help="differential_server, which runs commands in less time")
    parser.add_argument("--seed", type=int, default=1, help="the first program")
    parser.add_argument("--count", type=int, help="so many programs")
    parser.add_argument("--seconds", type=float, help="so long")
    parser.add_argument("--libraries", type=int, default=8, help="one program in so many is built as a library; 0: none")
    parser.add_argument("--keep", default=os.path.join(tempfile.gettempdir(), "strata-differential-tunables"), help="folder for programs that fail")
    parser.add_argument("--failures", type=int, default=5, help="stop after so many")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="processes at a time")
    options = parser.parse_args()
    if options.count is None and options.seconds is None:
        options.count = 100
    Server.path = options.server and os.path.abspath(options.server)
    strata, end = os.path.abspath(options.strata), time.monotonic() + (options.seconds or 1e9)
    programs, runs, failures, refused, waiting, seed = 0, 0, 0, collections.Counter(), set(), options.seed
    with concurrent.futures.ThreadPoolExecutor(options.workers) as pool:
        while True:
            more = (options.count is None or seed < options.seed + options.count) and time.monotonic() < end and failures < options.failures
            if more and len(waiting) < 2 * options.workers:
                case = Case(strata, options.keep, seed, options.libraries and seed % options.libraries == 0)
                waiting.add(pool.submit(lambda case=case: (case, case.run())))
                seed += 1
                continue
            if not waiting:
                break
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                case, wrong = future.result()
                programs, runs, refused = programs + 1, runs + case.runs, refused + case.refused
                if wrong:
                    failures += 1
                    print(f"FAIL program {case.seed}: {wrong}", flush=True)
    said = "".join(f", {count} refused by {code}" for code, count in sorted(refused.items()))
    print(f"{programs} programs from {options.seed} on, {runs} runs{said}, {failures} failed")
    return 1 if failures or not programs else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--call"]:
        call(sys.argv[2], int(sys.argv[3]), [list(map(int, shape.split("x"))) for shape in sys.argv[4:]])
    else:
        sys.exit(main())
