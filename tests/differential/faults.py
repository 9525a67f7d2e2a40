"""Random Sequoia programs with a fault planted in them, which --check has to find, and the same programs without it, in which it has to find
nothing. A program has several stages, each a task over an array; one of them has a fault, or none has. Every program runs under the mapping
that is made for it and under one with tunables chosen at random, so that faults that a mapping hides are found under it as well.

  faults.py --strata build/bin/strata --server build/tests/differential_server --seconds 20
  faults.py --strata build/bin/strata --seed 17 --count 1      one program, the seventeenth, with and without its fault
  faults.py … --keep FOLDER                                    where programs that go wrong are left"""

import argparse
import collections
import os
import pathlib
import random
import sys
import tempfile
import time

from sequoia import Server

TYPES = {"int": "random:{0}:0:100", "float": "random:{0}", "long": "random:{0}:0:100", "unsigned": "random:{0}:0:100"}
# What finds a fault: any of these codes.
UNCOVERED = {"check-undefined", "check-mapping-decides"}
MISMATCH = {"sequoia-size-mismatch"}
OVERLAP = {"check-iteration-overlap", "check-other-mapping", "check-overlap", "sequoia-iteration-overlap", "sequoia-iteration-sharing",
           "sequoia-iteration-shares"}
ORDER = {"check-combiner", "check-reduction-parts", "check-other-mapping", "check-mapping-decides"}
SOUND = {"plus": "b = a + b;", "min": "b = a < b ? a : b;", "max": "if (a > b) b = a;", "pair": "b = b + a + 0;"}
UNSOUND = {"minus": "b = a - b;", "mean": "b = (a + b) / 2;", "last": "b = a;", "twice": "b = 2 * a + b;", "less": "b = b - a;"}


class Stage:
    """A task over a part of x. `declare` and `call` are its text, `tunables` those of its instance, `codes` what finds its fault."""

    def __init__(self, number, pick, faulty, size, isMapped):
        self.number, self.pick, self.faulty, self.size, self.isMapped = number, pick, faulty, size, isMapped
        self.type = pick.choice(list(TYPES))
        self.tunables, self.combiner, self.codes = {"t": pick.randint(1, size + 2)}, None, set()
        kinds = ["map", "map", "leaf", "reduce", "count", "local", "grid"]
        self.kind = pick.choice(kinds)
        getattr(self, self.kind)()

    @property
    def name(self):
        return f"S{self.number}"

    def fault(self, codes, right, wrong):
        """One of two texts; the wrong one only in the stage that has the fault."""
        if self.faulty and not self.codes and wrong:
            self.codes = set(codes)
            return wrong if isinstance(wrong, str) else self.pick.choice(wrong)
        if self.faulty and not self.codes:
            raise ValueError("no fault here")
        return right

    def written(self):
        return self.pick.choice(["out", "inout"])

    def two(self, array, direction, leaf, loops, block):
        """An inner variant over blocks, and a leaf."""
        self.argument = f"{direction} {self.type} {array}[N]"
        signature = f"(in {self.type} x[N], {self.argument})"
        self.text = [f"void task {self.name}{signature};",
                     f"void task<inner> {self.name}::I{signature} {{", "  tunable t;",
                     f"  mappar (long i = 0 : {loops}) {{ {self.name}(x[i * t; {block[0]}], {array}[i * t; {block[1]}]); }}", "}",
                     f"void task<leaf> {self.name}::L{signature} {{", *leaf, "}"]

    def map(self):
        direction, which = self.written(), self.pick.randrange(4)
        loops = self.fault(UNCOVERED, "(N + t - 1) / t", "N / t" if which == 0 else None) if which == 0 or not self.faulty else "(N + t - 1) / t"
        given, size = "t", "t"
        if which == 1 and self.faulty and self.pick.random() < 0.5:
            given = size = self.fault(OVERLAP, "t", "t + 1")
        elif which == 1 and self.faulty:
            # A single block reaches to the end of its array, however large it is: nothing is wrong with it.
            isShown = self.isMapped and self.tunables["t"] < self.size
            size = self.fault(MISMATCH, "t", "t + 1" if isShown else None)
        bound = "i < N"
        if which == 2 and self.faulty and direction == "out":
            bound = self.fault(UNCOVERED, "i < N", "i < N - 1")
        assign = "y[i] = x[i] + 1;" if direction == "out" else "y[i] = y[i] + x[i];"
        if self.faulty and not self.codes:
            assign = self.fault({"check-mapping-decides"}, assign, f"y[i] = x[i] + N;")
        self.two("y", direction, [f"  for (long i = 0; {bound}; i++) {assign}"], loops, (given, size))

    def leaf(self):
        what = self.pick.randrange(2) if self.faulty else -1
        step = self.fault(UNCOVERED, "i++", "i += 2") if what == 0 and self.size > 1 else "i++"
        first = "0"
        if self.faulty and not self.codes:
            first = self.fault({"check-undefined"}, "0", "1")
        self.two("y", "out", [f"  for (long i = {first}; i < N; {step}) y[i] = 2 * x[i];"], "(N + t - 1) / t", ("t", "t"))

    def local(self):
        start = self.fault({"interpret-undefined-read", "sequoia-uninitialized"}, "s = 2;", ["", "if (x[i] == 1000) s = 2;"])
        self.two("y", "out", [f"  for (long i = 0; i < N; i++) {{ {self.type} s; {start} y[i] = x[i] + s; }}"], "(N + t - 1) / t", ("t", "t"))

    def count(self):
        """Sums of signed integers that leave their type, or do not."""
        self.type = "int"
        # With numbers of 0 to 99, each of the first leaves int in one step, and none of the second.
        big = ["(x[i] + 100) * 30000000", "2147483647 * (100 + x[i])", "-2147483647 - (x[i] + 2)", "(x[i] + 1) + 2147483647", "2147483647 + (x[i] + 1)",
               "add(x[i], 2147483647 - x[i] + 1)", "-(x[i] - x[i] - 2147483647 - 1)", "x[i] * x[i] - (-2147483647 - 1)"]
        small = ["(x[i] + 100) * 3", "20000000 * x[i]", "-2147483548 - x[i]", "x[i] + 2147483548", "2147483548 + x[i]", "add(x[i], 2147483647 - x[i])",
                 "-(x[i] - 2147483647)", "2147483600u + x[i] * x[i]"]
        number = self.pick.choice(small)
        if self.faulty:
            number = self.fault({"check-signed-overflow"}, number, big)
        statement = self.pick.choice([f"y[i] = {number};", f"int v = 0; v += {number}; y[i] = v;", f"{{ int v = {number}; y[i] = v--; }}"])
        self.two("y", "out", [f"  for (long i = 0; i < N; i++) {{ {statement} }}"], "(N + t - 1) / t", ("t", "t"))
        self.text.insert(0, f"inline int add{self.number}(int a, int b) {{ return a + b; }}")
        self.text = [line.replace("add(", f"add{self.number}(") for line in self.text]

    def grid(self):
        """Blocks of a matrix, whose rows and columns are cut."""
        self.argument = f"inout {self.type} y[N][N]"
        signature = f"(in {self.type} x[N], {self.argument})"
        self.tunables["u"] = self.pick.randint(1, self.size + 2)
        rows = self.fault({"check-mapping-decides"}, "(N + t - 1) / t", "N / t")
        self.text = [f"void task {self.name}G(inout {self.type} y[M][N]);",
                     f"void task<leaf> {self.name}G::L(inout {self.type} y[M][N]) {{",
                     "  for (long i = 0; i < M; i++) for (long j = 0; j < N; j++) y[i][j] = y[i][j] + 3;", "}",
                     f"void task {self.name}{signature};", f"void task<inner> {self.name}::I{signature} {{", "  tunable t, u;",
                     f"  mappar (long i = 0 : {rows}, long j = 0 : (N + u - 1) / u) {{ {self.name}G(y[i * t; t][j * u; u]); }}", "}"]
        self.callee = f"{self.name}G"

    def reduce(self):
        array = self.pick.random() < 0.5
        name = self.pick.choice(list(SOUND)) if not self.faulty else "plus"
        take = {"plus": "s = s + x[i];", "pair": "s = s + x[i];", "min": "s = x[i] < s ? x[i] : s;", "max": "if (x[i] > s) s = x[i];"}[name]
        if self.faulty and self.pick.random() < 0.3:
            take = self.fault(ORDER, take, "s = x[i] + 1;")
        if self.faulty and not self.codes:
            wrong = self.pick.choice(list(UNSOUND))
            body = self.fault(ORDER, SOUND[name], UNSOUND[wrong])
        else:
            body = SOUND[name]
        # Parts show themselves where there are several, and not all zeros.
        self.tunables["t"] = self.pick.randint(1, max(1, self.size // 4))
        dims, at = ("[3]", "[j]") if array else ("", "")
        self.argument = f"inout {self.type} y{dims}"
        signature = f"(in {self.type} x[N], {self.argument})"
        each = "for (long j = 0; j < 3; j++) " if array else ""
        self.text = [f"void task {self.name}C(in {self.type} a{dims}, inout {self.type} b{dims});",
                     f"void task<leaf> {self.name}C::L(in {self.type} a{dims}, inout {self.type} b{dims}) {{ {each}{{ "
                     + body.replace("a", "a" + at).replace("b", "b" + at) + " } }",
                     f"void task {self.name}{signature};",
                     f"void task<inner> {self.name}::I{signature} {{ tunable t;",
                     f"  mapreduce (long i = 0 : (N + t - 1) / t) {{ {self.name}(x[i * t; t], reducearg<y, {self.name}C>); }} }}",
                     f"void task<leaf> {self.name}::L{signature} {{",
                     f"  for (long i = 0; i < N; i++) {each}{{ " + take.replace("s", "y" + at) + " }", "}"]
        self.combiner = f"{self.name}C"

    def mapping(self):
        """The task's instances, in a mapping file."""
        called = getattr(self, "callee", self.name)
        loops = "".join(f" loop {name}(level 0) {{ spmd {{ ways = {self.pick.choice(['auto', '1', '2'])}; }} }}" for name in
                        (["i", "j"] if self.kind == "grid" else ["i"]))
        sites = f" callsite {called}() {{ target {called}_L() {{ }} }}"
        sites += f" callsite {self.combiner}() {{ target {self.combiner}_L() {{ }} }}" if self.combiner else ""
        values = "".join(f" tunable {name} = {value};" for name, value in self.tunables.items())
        leaf = "" if self.kind == "grid" else f" instance {self.name}_L::L(level 0) {{ }}"
        lines = [f"task {self.name} {{ instance {self.name}_I::I(level 0) {{{values} control(level 0) {{{loops}{sites} }} }}{leaf} }}"]
        for other in {called, self.combiner} - {self.name, None}:
            lines.append(f"task {other} {{ instance {other}_L::L(level 0) {{ }} }}")
        return lines


class Program:
    """Stages over arrays of N elements. `fault`: one of them has one."""

    def __init__(self, seed, fault, isMapped):
        pick = random.Random(seed)
        self.isMapped = isMapped
        self.size = pick.choice([5, 7, 8, 12, 13, 24, 30, 37])
        count = pick.randint(1, 3)
        bad = pick.randrange(count)
        self.stages = []
        for number in range(count):
            # The sound program is the same but for the fault: each stage has numbers of its own.
            self.stages.append(self.stage(f"{seed}:{number}", number, fault and number == bad))

    def stage(self, seed, number, faulty):
        pick = random.Random(seed)
        # What is picked for the fault comes behind what both programs have in common only by kind, which is enough.
        return Stage(number, pick, faulty, self.size, self.isMapped)

    @property
    def codes(self):
        return set().union(*(stage.codes for stage in self.stages))

    def render(self):
        signature = ", ".join(f"in {s.type} x{s.number}[N], " + s.argument.replace(" y", f" y{s.number}") for s in self.stages)
        calls = " ".join(f"{s.name}(x{s.number}, y{s.number});" for s in self.stages)
        lines = [line for stage in self.stages for line in stage.text]
        return lines + [f"void task Main({signature});", f"void task<inner> Main::I({signature}) {{ {calls} }}"]

    def mapping(self):
        sites = "".join(f" callsite {s.name}() {{ target {s.name}_I() {{ }} }}" for s in self.stages)
        lines = ['#include "host"', f"task Main: entrypoint(Main_I) {{ instance Main_I::I(level 0) {{ control(level 0) {{{sites} }} }} }}"]
        return lines + [line for stage in self.stages for line in stage.mapping()]


def codes_in(text):
    return {part.split("]")[0] for word in ("error[", "warning[") for part in text.split(word)[1:]}


def wrong(strata, folder, seed, fault, isMapped):
    """What --check says that it should not, or does not say; and whether the program has a fault at all."""
    try:
        program = Program(seed, fault, isMapped)
    except ValueError:
        return None, False
    path = pathlib.Path(folder) / "program.sq"
    path.write_text("\n".join(program.render()) + "\n")
    words = [strata, "run", str(path), "--entry", "Main", "--size", f"N={program.size}", "--check"]
    for stage in program.stages:
        words += ["--in", f"x{stage.number}={TYPES[stage.type].format(seed + stage.number)}"]
        if "inout" in stage.argument:
            words += ["--in", f"y{stage.number}={'zeros' if stage.kind == 'reduce' else TYPES[stage.type].format(seed)}"]
    if isMapped:
        mapping = pathlib.Path(folder) / "program.map"
        mapping.write_text("\n".join(program.mapping()) + "\n")
        words += ["--map", str(mapping)]
    status, said = Server.execute(words, optimise=False)
    found = codes_in(said)
    if status not in (0, 1) or "error of Strata" in said or "check-differs" in found:
        return f"it ended with {status}, and blames Strata\n{said}", True
    if not fault and (status or found):
        return f"nothing is wrong with it, and {', '.join(sorted(found)) or status} is said\n{said}", True
    if fault and not found & program.codes:
        return f"it has a fault ({', '.join(sorted(program.codes))}), and {', '.join(sorted(found)) or 'nothing'} is said\n{said}", True
    return None, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", required=True)
    parser.add_argument("--server")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=10**9)
    parser.add_argument("--keep", help="a folder for the programs that go wrong")
    options = parser.parse_args()
    Server.path = options.server
    end, runs, bad = time.monotonic() + options.seconds, collections.Counter(), 0
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.seed, options.seed + options.count):
            if time.monotonic() > end:
                break
            for fault, isMapped in ((True, False), (True, True), (False, False), (False, True)):
                what, ran = wrong(options.strata, scratch, seed, fault, isMapped)
                runs["with a fault" if fault else "sound"] += ran
                if not what:
                    continue
                bad += 1
                name = f"{seed}-{'fault' if fault else 'sound'}-{'mapped' if isMapped else 'default'}"
                print(f"program {seed}, {'with a fault' if fault else 'sound'}, {'random' if isMapped else 'default'} mapping: {what}", flush=True)
                if options.keep:
                    kept = pathlib.Path(options.keep) / name
                    kept.mkdir(parents=True, exist_ok=True)
                    for file in pathlib.Path(scratch).iterdir():
                        (kept / file.name).write_bytes(file.read_bytes())
            if bad >= 10:
                break
    print(f"{runs['with a fault']} runs with a fault, {runs['sound']} without, {bad} wrong")
    sys.exit(1 if bad or not runs else 0)


if __name__ == "__main__":
    main()
