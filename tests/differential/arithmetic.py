"""Random programs of C's arithmetic against C compiled by Clang, many at a time: all types, operators, conversions, assignments, loops with every
step, switch, nested calls, constants mixed with variables. Clang's sanitizer tells, for each program and each row of inputs, what C leaves
undefined: those programs run alone, and must end in the error that the language has for it; all others give the same bits (of NaNs, any), natively, in the
interpreter and in C. What C calls undefined and the language settles (sums that overflow) is run and not compared.

  arithmetic.py --strata build/bin/strata --server build/tests/differential_server --seconds 30     as many as there is time for
  arithmetic.py … --programs 50000                                                                  so many (a night's)
  arithmetic.py … --keep FOLDER                                                                     where programs that fail are written

The seed of a batch is that of its first program; the programs follow from it and from --batch."""

import argparse
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
import numpy as np

from arithmetic_generate import INTEGERS, REALS, RESULTS, TYPES, Program, cut_name, input_name
from sequoia import Server, code_of

ROWS = 6
NUMPY = {"float": "f4", "double": "f8"} | {kind: ("i" if signed else "u") + str(bits // 8) for kind, (bits, signed, _) in INTEGERS.items()}
ERRORS = {"division-by-zero", "division-overflow", "shift-amount", "index-out-of-range"}
ENDLESS, OVERFLOWS = 200, 1
# What the language refuses where C carries it out: loops whose variable counts past its type (docs/sequoia-language.md), and constant indices that
# no array has, also where they are not reached.
REFUSED = {"loop-bound-overflow", "sequoia-index-range"}



def same_bits(ours, theirs):
    """Equal to the bit, -0.0 and 0.0 apart. Which NaN an operation gives, its sign too, neither C nor IEEE 754 says: any is as good."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    if ours.dtype.kind != "f":
        return np.array_equal(ours, theirs)
    bits = f"u{ours.dtype.itemsize}"
    return bool(np.all((ours.view(bits) == theirs.view(bits)) | (np.isnan(ours) & np.isnan(theirs))))


C_HEAD = """#include <setjmp.h>
#define FUEL 400
static jmp_buf where;
static int fuel, overflows;
void __ubsan_handle_add_overflow_minimal(void) { overflows = 1; }
void __ubsan_handle_sub_overflow_minimal(void) { overflows = 1; }
void __ubsan_handle_mul_overflow_minimal(void) { overflows = 1; }
void __ubsan_handle_negate_overflow_minimal(void) { overflows = 1; }
void __ubsan_handle_divrem_overflow_minimal(void) { longjmp(where, 201); }
void __ubsan_handle_divrem_overflow_minimal_abort(void) { longjmp(where, 201); }
void __ubsan_handle_shift_out_of_bounds_minimal_abort(void) { longjmp(where, 202); }
void __ubsan_handle_out_of_bounds_minimal_abort(void) { longjmp(where, 203); }
"""


def cut_functions():
    text = ""
    for kind, (bits, signed, _) in INTEGERS.items():
        most = f"{(1 << (bits - signed)) - 1}u{'l' * (bits == 64)}"
        least = f"-{(1 << (bits - 1)) - 1}{'l' * (bits == 64)} - 1" if signed else "0"
        limit = f"0x1p{bits - signed}"
        text += f"static {kind} {cut_name(kind)}(double x) {{ if (x != x) return 0; if (x >= {limit}) return {most}; " \
                f"if (x < {'-' + limit if signed else '0'}) return {least}; return ({kind})x; }}\n"
    return text


def run_of(programs):
    """The text of a leaf with these programs."""
    inputs = ", ".join(f"in {kind} {input_name(kind)}[N]" for kind in TYPES)
    signature = f"({inputs}, inout unsigned long o[R][N], inout double f[P][N])"
    lines = [line for program in programs for line, _ in program.before]
    lines += [f"void task T{signature};", f"void task<leaf> T::L{signature} {{"]
    for program in programs:
        lines += ["for (long i = 0; i < N; i++) {", *(line for line, _ in program.body), "}"]
    return "\n".join(lines + ["}"]) + "\n"


def c_of(programs):
    lines = [C_HEAD, cut_functions()]
    lines += [f"static {kind} {input_name(kind)}[{ROWS}];" for kind in TYPES]
    lines += [f"unsigned long o[{len(programs) * RESULTS}][{ROWS}]; double f[{len(programs)}][{ROWS}];"]
    lines += [f"void set_{input_name(kind)}(const {kind} *from) {{ for (int i = 0; i < {ROWS}; i++) {input_name(kind)}[i] = from[i]; }}" for kind in TYPES]
    for position, program in enumerate(programs):
        lines += [c for _, c in program.before]
        lines += [f"static void program{position}(long i) {{", *(c for _, c in program.body), "}"]
    lines += ["static void (*const programs[])(long) = {" + ", ".join(f"program{i}" for i in range(len(programs))) + "};"]
    lines += ["int run(int number, long row) { fuel = overflows = 0; int what = setjmp(where); if (what) return what; programs[number](row); return overflows; }"]
    return "\n".join(lines) + "\n"


def inputs_of(seed):
    """For each type an array of ROWS elements: limits, small numbers, any."""
    choose, arrays = random.Random(seed), {}
    for kind in TYPES:
        values = np.zeros(ROWS, NUMPY[kind])
        for row in range(ROWS):
            if kind in REALS:
                values[row] = choose.choice([0.0, -0.0, -0.5, 1.5, -1.0, 3.75, 1e10, -1e30, 255.5, -129.0, 4294967295.5, choose.uniform(-100, 100), choose.uniform(-1e20, 1e20)])
            else:
                limits = np.iinfo(NUMPY[kind])
                value = choose.choice([0, 1, 2, -1, 5, limits.min, limits.max, limits.min + 1, limits.max - 1, choose.randrange(-100, 100),
                                       choose.randrange(int(limits.min), int(limits.max) + 1)])
                values[row] = min(max(value, int(limits.min)), int(limits.max))
        arrays[kind] = values
    return arrays


class Batch:
    """Some programs in one file; their numbers follow from the seed alone."""

    def __init__(self, options, folder, seed, count):
        self.strata, self.folder, self.seed, self.keep = os.path.abspath(options.strata), folder, seed, options.keep
        self.plain = seed // count % 16 == 1  # C without the sanitizer too
        self.optimise = seed // count % 16 == 0
        self.programs = [Program(seed + number, number, stray=0.06) for number in range(count)]
        self.inputs = inputs_of(seed)
        self.failures, self.compared, self.undefined, self.endless, self.refused = [], 0, 0, 0, 0

    def compile(self, name, chosen, *flags):
        """(status, integers, reals) of C, of the programs and rows that are chosen."""
        path = self.folder / f"{name}{self.seed}.so"
        (self.folder / "p.c").write_text(c_of(self.programs))
        done = subprocess.run(["clang-19", "-w", "-march=native", "-ffp-contract=on", "-fsigned-char", "-std=gnu99", "-shared", "-fPIC", *flags,
                               "-o", str(path), str(self.folder / "p.c")], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"seed {self.seed} is no C:\n{done.stderr[:2000]}")
        library = ctypes.CDLL(str(path))
        path.unlink()
        for kind, values in self.inputs.items():
            getattr(library, f"set_{input_name(kind)}")(values.ctypes.data_as(ctypes.c_void_p))
        status = np.array([[library.run(number, ctypes.c_long(row)) if chosen[number][row] else ENDLESS for row in range(ROWS)] for number in range(len(self.programs))])
        o = np.frombuffer((ctypes.c_ulong * (len(self.programs) * RESULTS * ROWS)).in_dll(library, "o"), "u8").reshape(-1, ROWS).copy()
        f = np.frombuffer((ctypes.c_double * (len(self.programs) * ROWS)).in_dll(library, "f"), "f8").reshape(-1, ROWS).copy()
        return status, o, f

    def execute(self, programs, rows):
        """(status, text of standard error, integers, reals) of these programs with these rows of the inputs."""
        count = len(self.programs)
        path = self.folder / "p.sq"
        path.write_text(run_of(programs))
        words = [self.strata, "run", str(path), "--size", f"R={count * RESULTS},P={count}", "--in", "o=zeros", "--in", "f=zeros",
                 "--out", f"o={self.folder}/o.npy", "--out", f"f={self.folder}/f.npy"]
        for kind, values in self.inputs.items():
            np.save(self.folder / f"{input_name(kind)}.npy", values[rows])
            words += ["--in", f"{input_name(kind)}={self.folder}/{input_name(kind)}.npy"]
        # Native code and the interpreter one after the other: --check would end at the first sum that overflows.
        status, said = Server.execute(words, self.optimise)
        answers = [] if status else [np.load(self.folder / f"{name}.npy") for name in "of"]
        interpreted, told = Server.execute([*words, "--interpret"], self.optimise)
        if bool(status) != bool(interpreted):
            return 2, f"native code ended with {status}, the interpreter with {interpreted}\n{said}{told}", None, None
        if status:
            return status, said, None, None
        if not all(same_bits(native, np.load(self.folder / f"{name}.npy")) for native, name in zip(answers, "of")):
            return 2, "native code and the interpreter differ", None, None
        return status, said, *answers

    def fail(self, program, text):
        lines = [line for line, _ in program.before] + ["// ----"] + [line for line, _ in program.body]
        self.failures.append(f"program {self.seed + program.number} of the batch {self.seed}: {text}\n" + "\n".join(lines))
        if self.keep:
            folder = pathlib.Path(self.keep) / f"arithmetic-{self.seed + program.number}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "p.sq").write_text(run_of([program]))
            for kind, values in self.inputs.items():
                np.save(folder / f"{input_name(kind)}.npy", values)

    def differing(self, program, o, f, wanted, rows):
        """What is wrong with a program's results in these rows."""
        part = slice(program.number * RESULTS, (program.number + 1) * RESULTS)
        ours, theirs = (o[part], f[program.number]), (wanted[0][part], wanted[1][program.number])
        for row in rows:
            a, b = ours[1][row], theirs[1][row]
            if not same_bits(ours[0][:, row], theirs[0][:, row]) or not same_bits(a, b):
                given = ", ".join(f"{input_name(kind)} = {values[row]!r}" for kind, values in self.inputs.items())
                return f"row {row} gives {ours[0][:, row]} {a!r}, and C {theirs[0][:, row]} {b!r}\nwith {given}"
        return None

    def run(self):
        everything = np.ones((len(self.programs), ROWS), bool)
        sanitized, *wanted = self.compile("s", everything, "-O0", "-fsanitize=signed-integer-overflow,shift-exponent,integer-divide-by-zero,array-bounds",
                                          "-fsanitize-minimal-runtime", "-fno-sanitize-recover=shift-exponent,integer-divide-by-zero,array-bounds")
        if self.plain:
            # What the sanitizer saw nothing in means the same without it.
            _, *plain = self.compile("p", sanitized == 0, "-O2")
            for program in self.programs:
                wrong = self.differing(program, *plain, wanted, np.flatnonzero(sanitized[program.number] == 0))
                if wrong:
                    self.fail(program, "C differs with and without the sanitizer: " + wrong)
        good = [program for program in self.programs if np.all(sanitized[program.number] <= OVERFLOWS)]
        self.values(good, sanitized, wanted)
        for program in self.programs:
            hard = np.flatnonzero(sanitized[program.number] > ENDLESS)
            self.endless += int(np.any(sanitized[program.number] == ENDLESS))
            # Each of these is a run of its own: every third tells enough.
            if len(hard) and (self.seed + program.number) % 3 == 0:
                self.undefined += 1
                self.must_fail(program, int(hard[0]), int(sanitized[program.number][hard[0]]))

    def values(self, programs, sanitized, wanted):
        rows = list(range(ROWS))
        status, said, o, f = self.execute(programs, rows)
        if status and len(programs) > 1:
            # One of them ends the run: halves tell which.
            middle = len(programs) // 2
            self.values(programs[:middle], sanitized, wanted)
            self.values(programs[middle:], sanitized, wanted)
            return
        if status:
            if code_of(said) in REFUSED:
                self.refused += 1
            else:
                self.fail(programs[0], f"ended with {status}\n{said[:3000]}")
            return
        for program in programs:
            self.compared += 1
            wrong = self.differing(program, o, f, wanted, np.flatnonzero(sanitized[program.number] == 0))
            if wrong:
                self.fail(program, wrong)

    def must_fail(self, program, row, why):
        status, said, _, _ = self.execute([program], [row])
        if status != 1 or code_of(said) not in ERRORS | REFUSED:
            self.fail(program, f"row {row} is undefined in C ({why}); it ended with {status}\n{said[:2000]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--server", help="build/tests/differential_server; without it a process for each run")
    parser.add_argument("--seed", type=int, default=1, help="the first program")
    parser.add_argument("--programs", type=int, help="so many")
    parser.add_argument("--seconds", type=float, help="so long")
    parser.add_argument("--batch", type=int, default=100, help="so many in a file")
    parser.add_argument("--progress", action="store_true", help="say after each file how many there were")
    parser.add_argument("--keep", help="folder for programs that fail")
    options = parser.parse_args()
    if not options.programs and not options.seconds:
        options.seconds = 30
    Server.path = options.server and os.path.abspath(options.server)
    end = time.monotonic() + (options.seconds or 1e9)
    seed, total = options.seed, {"programs": 0, "compared": 0, "undefined": 0, "endless": 0, "refused": 0}
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end and len(failures) < 5 and not (options.programs and total["programs"] >= options.programs):
            batch = Batch(options, pathlib.Path(folder), seed, options.batch)
            batch.run()
            failures += batch.failures
            for name in ("compared", "undefined", "endless", "refused"):
                total[name] += getattr(batch, name)
            total["programs"] += len(batch.programs)
            seed += len(batch.programs)
            if options.progress:
                print(total, len(failures), flush=True)
    for text in failures[:5]:
        print(f"FAIL {text}\n")
    print(", ".join(f"{value} {name}" for name, value in total.items()) + f", {len(failures)} failed")
    return 1 if failures or not total["compared"] else 0


if __name__ == "__main__":
    sys.exit(main())
