"""Random HBIR programs whose tiles wait for each other, in every way that people write it: chains, rings, barriers, servers, buffers
between two, workers that are told to stop, in all three forms of the notation. What they compute is known without them; programs in
which one signal is left out must be refused as a deadlock that names a loop, and none may hang: at 1, 2 and 7 threads, with and
without --check, on two machines.

  hbir_waits.py --strata build/bin/strata --seconds 60           as many programs as there is time for
  hbir_waits.py --strata build/bin/strata --seed 17 --count 1    one program, the seventeenth
  hbir_waits.py … --server build/tests/differential_server       the same in less time"""

import pathlib
import random
import shutil
import sys

sys.path.append(str(pathlib.Path(__file__).parent.parent))
import need_numpy
import numpy as np
import run
from sequoia import Server

VARIANTS = ("host", "cell", "check", "interpret")


class Program:
    """`lines` are what every tile does; `expected` what stands in R in the end, None where a deadlock is expected."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.rows, self.columns = self.random.choice([(1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (3, 3), (2, 5), (1, 7), (4, 4)])
        self.count = self.rows * self.columns
        self.names, self.globals, self.arrays, self.start = 0, [], [], []
        self.breaks = self.random.random() < 0.35
        self.left_out = False
        self.phases, self.results = [], []
        kinds = [self.chain, self.ring, self.barrier, self.server, self.buffer, self.workers, self.tree]
        for _ in range(self.random.randint(1, 3)):
            self.phases.append(self.random.choice(kinds)())
        self.breaks = self.left_out
        self.form = random.Random(f"form {seed}").choice(["A", "B", "C", "C nested"])

    # ---- names ----

    def new(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def shared(self, stem, size):
        """An array that all tiles share, of zeros: a variable, or an array of the data segment."""
        name = self.new(stem)
        if self.random.random() < 0.6:
            self.globals.append(f"int {name}[{size}];")
        else:
            self.arrays.append((name, size, self.random.choice(["halves", "one", "tiles"])))
            self.start.append(f"for (int i{name} = 0; i{name} < {size}; i{name}++) {name}[i{name}] = 0;")
        return name

    def single(self, stem):
        name = self.new(stem)
        self.globals.append(f"int {name};")
        return name

    # ---- waiting ----

    def wait(self, array, index, least):
        """Lines that wait until array[index] is at least a number."""
        if self.random.random() < 0.08 and self.breaks and not self.left_out:
            least, self.left_out = least + 1000, True
        element = f"{array}[{index}]" if index is not None else array
        c, k = self.new("c"), self.new("k")
        forms = [
            [f"while ({element} < {least}) {{ }}"],
            [f"for (; {element} < {least}; ) {{ int {c}; {c} = {c} + 1; }}"],
            [f"int {c} = {element};", f"while ({c} < {least}) {{ {c} = {element}; }}"],
            [f"while (true) {{ if ({element} >= {least}) {{ break; }} }}"],
            [f"for (;;) {{ int {c} = {element}; if ({c} >= {least}) break; }}"],
            [f"bool {c} = false;", f"while (!{c}) {{ if ({element} >= {least}) {c} = true; }}"],
            [f"bool {c} = {element} >= {least};", f"while (!{c}) {c} = {element} >= {least};"],
            [f"for (int {c} = {least - 1}; {c} < {least}; {c} = {element}) {{ }}"],
            [f"int {c};", f"while ({element} < {least}) {{ {c} = {c} + 1; }}"],
            [f"while (1) {{ if ({element} < {least}) {{ }} else {{ break; }} }}"],
            [f"int {c}[2];", f"while ({c}[1] == 0) {{ {c}[1] = {element} >= {least}; }}"],
            [f"float {c};", f"while ({c} < {least}) {c} = {element};"],
            [f"int {c} = 1;", f"while ({c} != 0) {{ int {k}[2]; {k}[0] = {element}; {c} = {k}[0] < {least}; }}"],
            [f"while (max({element}, 0) < {least}) {{ if ({element} > {least + 5000}) {{ bsg_finish(); }} }}"],
        ]
        if index is not None:
            forms += [
                [f"int {k} = {index};", f"while ({array}[{k}] < {least}) {{ {k} = {index}; }}"],
                [f"int {c} = -1;", f"while ({c} < 0) {{ for (int {k} = 0; {k} < {self.count}; {k}++) if ({array}[{k}] >= {least} && {k} == {index}) {c} = {k}; }}"],
                [f"int {c}; int {k};", f"while (!{c}) {{ if ({k} == {index} && {array}[{k}] >= {least}) {c} = 1; {k} = {k} + 1; if ({k} == {self.count}) {k} = 0; }}"],
            ]
        return self.random.choice(forms)

    def wait_all(self, array, least):
        s, i, n = self.new("s"), self.new("i"), self.count
        each = f"for (int {i} = 0; {i} < {n}; {i}++)"
        # Only what is chosen is made: making it may leave a signal out.
        return self.random.choice([
            lambda: [f"{each} {{"] + ["  " + line for line in self.wait(array, i, least)] + ["}"],
            lambda: [f"int {s};", f"while ({s} < {n}) {{ {s} = 0; {each} if ({array}[{i}] >= {least}) {s} += 1; }}"],
            lambda: [f"int {s} = 0;", f"while ({s} < {n}) {{ {s} = 0; {each} {s} = {s} + ({array}[{i}] >= {least}); }}"],
            lambda: [f"bool {s};", f"while (!{s}) {{ {s} = true; {each} if ({array}[{i}] < {least}) {{ {s} = false; break; }} }}"],
            lambda: [f"int {i};", f"while ({i} < {n}) {{ if ({array}[{i}] >= {least}) {i} = {i} + 1; }}"],
            lambda: [f"for (int {i} = 0; {i} < {n}; ) {{ if ({array}[{i}] >= {least}) {{ {i}++; }} }}"],
            lambda: [f"int {i} = {n - 1};", f"while (true) {{ if ({i} < 0) break; if ({array}[{i}] >= {least}) {i} = {i} - 1; }}"],
        ])()

    def signal(self, array, index, value, by_all=False, needed=True):
        """A write that others wait for, for each tile's if they do so for all; one of a program is left out where it is to be a deadlock."""
        target = f"{array}[{index}]" if index is not None else array
        line = f"{target} = {value};"
        if self.breaks and needed and not self.left_out and self.random.random() < 0.4:
            self.left_out = True
            return [f"if (id != {self.random.randrange(self.count)}) {line}" if self.random.random() < 0.5 and by_all else f"if (id > 90) {line}"]
        return [self.random.choice([line, line, f"{{ {line} }}", f"if (id >= 0) {line}"])]

    # ---- what tiles do with each other: lines, with the results of every tile in order ----

    def chain(self):
        flag, data, c = self.shared("f", self.count), self.shared("d", self.count), self.random.randint(1, 9)
        lines = ["if (id == 0) {", f"  {data}[0] = {c};", "} else {"]
        lines += ["  " + line for line in self.wait(flag, "id - 1", 1)] + [f"  {data}[id] = {data}[id - 1] * 3 + id;", "}"]
        lines += self.signal(flag, "id", 1) + [f"r = {data}[id];"]
        values = [c]
        for tile in range(1, self.count):
            values.append((values[-1] * 3 + tile + 2 ** 31) % 2 ** 32 - 2 ** 31)
        return lines, values

    def ring(self):
        token, data, rounds = self.shared("t", self.count), self.shared("d", self.count), self.random.randint(1, 3)
        k, n = self.new("k"), self.count
        lines = [f"for (int {k} = 1; {k} <= {rounds}; {k}++) {{", f"  if (id != 0 || {k} > 1) {{"]
        previous = f"(id + {n - 1}) % {n}"
        lines += ["    " + line for line in self.wait_ge(token, previous, f"{k} - (id == 0)")]
        lines += [f"    {data}[id] = {data}[{previous}] + id + {k};", "  } else {", f"    {data}[0] = 7;", "  }"]
        lines += ["  " + line for line in self.signal(token, "id", k)] + ["}"]
        # The element is read again once everybody has passed it on for the last time: only its owner writes it.
        lines += [f"r = {data}[id];"]
        data_values = [0] * n
        for turn in range(1, rounds + 1):
            for tile in range(n):
                data_values[tile] = 7 if tile == 0 and turn == 1 else data_values[tile - 1] + tile + turn
        return lines, data_values

    def wait_ge(self, array, index, least):
        """As wait, for a bound that is an expression."""
        c = self.new("c")
        return self.random.choice([
            [f"while ({array}[{index}] < {least}) {{ }}"],
            [f"while (true) {{ if ({array}[{index}] >= {least}) break; }}"],
            [f"bool {c};", f"while (!{c}) {{ if ({array}[{index}] >= {least}) {c} = true; }}"],
            [f"int {c} = {array}[{index}];", f"while ({c} < {least}) {c} = {array}[{index}];"],
        ])

    def barrier(self):
        flag, data, shift = self.shared("f", self.count), self.shared("d", self.count), self.random.randint(1, self.count)
        lines = [f"{data}[id] = id * id + {shift};"] + self.signal(flag, "id", 1, by_all=True) + self.wait_all(flag, 1)
        lines += [f"r = {data}[(id + {shift}) % {self.count}];"]
        return lines, [((tile + shift) % self.count) ** 2 + shift for tile in range(self.count)]

    def server(self):
        n, who = self.count, self.random.randrange(self.count)
        request, answer = self.shared("q", n), self.shared("a", n)
        served, i = self.new("v"), self.new("i")
        serve = f"{answer}[{i}] = {request}[{i}] * 2 + {i};"
        open_ = f"{request}[{i}] != 0 && {answer}[{i}] == 0"
        loops = [
            [f"while ({served} < {n - 1}) {{", f"  for (int {i} = 0; {i} < {n}; {i}++)", f"    if ({open_}) {{ {serve} {served} += 1; }}", "}"],
            [f"int {i};", f"while ({served} < {n - 1}) {{", f"  if ({open_}) {{ {serve} {served} = {served} + 1; }}",
             f"  {i} = ({i} + 1) % {n};", "}"],
            [f"while (true) {{", f"  if ({served} == {n - 1}) break;", f"  for (int {i} = {n - 1}; {i} >= 0; {i} -= 1) {{",
             f"    if ({open_}) {{ {serve} {served}++; }}", "  }", "}"],
        ]
        lines = [f"if (id == {who}) {{", f"  int {served};"] + ["  " + line for line in self.random.choice(loops)] + [f"  r = {served};", "} else {"]
        lines += ["  " + line for line in self.signal(request, "id", "5 + id") + self.wait(answer, "id", 1)] + [f"  r = {answer}[id];", "}"]
        return lines, [n - 1 if tile == who else (5 + tile) * 2 + tile for tile in range(n)]

    def buffer(self):
        size, items = self.random.randint(1, 3), self.random.randint(1, 8)
        data, head, tail, k, s = self.shared("b", size), self.single("h"), self.single("t"), self.new("k"), self.new("s")
        put = [f"for (int {k} = 0; {k} < {items}; {k}++) {{"]
        put += ["  " + line for line in self.random.choice([[f"while ({k} - {tail} >= {size}) {{ }}"],
                                                            [f"while (true) {{ int {s} = {tail}; if ({k} - {s} < {size}) break; }}"]])]
        put += [f"  {data}[{k} % {size}] = {k} * 11;"] + ["  " + line for line in self.signal(head, None, f"{k} + 1")] + ["}", f"r = {items};"]
        take = [f"int {s};", f"for (int {k} = 0; {k} < {items}; {k}++) {{"]
        take += ["  " + line for line in self.random.choice([[f"while ({head} <= {k}) {{ }}"], [f"for (;;) {{ if ({head} > {k}) break; }}"]])]
        take += [f"  {s} = {s} * 2 + {data}[{k} % {size}];"] + ["  " + line for line in self.signal(tail, None, f"{k} + 1", needed=items > size)] + ["}", f"r = {s};"]
        total = 0
        for item in range(items):
            total = total * 2 + item * 11
        lines = ["if (id == 0) {"] + ["  " + line for line in put] + [f"}} else if (id == {self.count - 1}) {{"] + ["  " + line for line in take]
        return lines + ["}"], [items] + [0] * (self.count - 2) + [total]

    def workers(self):
        n, jobs = self.count, self.random.randint(1, 4)
        job, done, stop, k, i, last = self.shared("j", n), self.shared("e", n), self.single("stop"), self.new("k"), self.new("i"), self.new("l")
        master = [f"for (int {k} = 1; {k} <= {jobs}; {k}++) {{", f"  for (int {i} = 1; {i} < {n}; {i}++) {{"]
        master += ["    " + line for line in self.signal(job, i, k)] + ["  }"]
        master += [f"  for (int {i} = 1; {i} < {n}; {i}++) {{"] + ["    " + line for line in self.wait_ge(done, i, k)] + ["  }", "}"]
        master += self.signal(stop, None, 1) + [f"r = {jobs};"]
        work = f"if ({job}[id] > {last}) {{ {last} = {job}[id]; r = r * 3 + {last} + id; {done}[id] = {last}; }}"
        forms = [[f"while ({stop} == 0) {{ {work} }}"], [f"while (true) {{ if ({stop} != 0) break; {work} }}"],
                 [f"bool {k};", f"while (!{k}) {{ {work} {k} = {stop} == 1; }}"]]
        lines = ["if (id == 0) {"] + ["  " + line for line in master] + ["} else {", f"  int {last};"]
        values = [jobs]
        for tile in range(1, n):
            value = 0
            for turn in range(1, jobs + 1):
                value = value * 3 + turn + tile
            values.append(value)
        return lines + ["  " + line for line in ["r = 0;"] + self.random.choice(forms)] + ["}"], values

    def tree(self):
        """Every tile adds up what its two children have."""
        flag, data, n = self.shared("f", self.count), self.shared("d", self.count), self.count
        child = self.new("i")
        lines = [f"{data}[id] = id + 1;", f"for (int {child} = 2 * id + 1; {child} <= 2 * id + 2; {child}++) {{", f"  if ({child} < {n}) {{"]
        lines += ["    " + line for line in self.wait(flag, child, 1)] + [f"    {data}[id] += {data}[{child}];", "  }", "}"]
        lines += self.signal(flag, "id", 1) + [f"r = {data}[id];"]
        sums = [tile + 1 for tile in range(n)]
        for tile in range(n - 1, 0, -1):
            sums[(tile - 1) // 2] += sums[tile]
        return lines, sums

    # ---- the whole ----

    def segments(self):
        """The segments before the code, and the path of the code block, in one of the three forms of the notation."""
        rows, columns = self.rows, self.columns
        result = f"R : int[{len(self.phases)}][{self.count}]"
        if self.form == "A":
            places = {"halves": "block[2] { target.g[x]; }", "one": "block[1] { target.g[0]; }",
                      "tiles": f"block[{rows}][{columns}] {{ target.t.l[x][y]; striped; }}"}
            arrays = [f"{result} = block[1] {{ target.g[0]; device; }};"] + [f"{name} : int[{size}] = {places[place]};" for name, size, place in self.arrays]
            return ["target { memory g[2] { size 64M; width 8B; }; tile t[4][7] { memory l { size 16K; width 4B; }; }; }",
                    f"config {{ group all[{rows}][{columns}] {{ tile target.t[x][y]; }}; }}"], arrays, "config.all[x][y]"
        groups, path, sizes = {"B": (f"group all at (0:{rows}, 0:{columns});", "t.all", ""),
                               "C": (f"group all(r, c) at (0:{rows}, 0:{columns});", "t.all", "(height, width)"),
                               "C nested": (f"group[i in {rows}] row(p, q) at (i, 0:{columns}) {{ group[j in q] cell at (0, j) }}", "t.row[a].cell[b]", "(height, width)"),
                               }[self.form]
        tiles = "t.all" if self.form != "C nested" else "t.row.cell"
        places = {"halves": "location : target.g, layout : block", "one": "location : g, layout : chunked", "tiles": f"location : {tiles}, layout : striped"}
        arrays = [f"out {result} {{ location : target.g, layout : block }}"]
        arrays += [f"{name} : int[{size}] {{ {places[place]} }}" for name, size, place in self.arrays]
        return ["target { memory g[2] { size : 64M, width : 8 } tile t[4][7] { memory l { size : 16K, width : 4 } } }",
                f"config {{ arrange t{sizes} as {{ {groups} }} }}"], arrays, path

    def render(self):
        before, arrays, path = self.segments()
        text = before + ["data {"] + ["  " + each for each in arrays] + ["}", "code {"]
        text += ["  " + each for each in self.globals + self.start] + [f"  {path} {{", "    int id = tile_id;", "    int r;"]
        for number, (lines, _) in enumerate(self.phases):
            text += ["    {"] + ["      " + line for line in lines] + ["    }", f"    R[{number}][id] = r;", "    r = 0;"]
        return "\n".join(text + ["  }", "}"]) + "\n"

    def expected(self):
        return None if self.left_out else np.array([values for _, values in self.phases], dtype=np.int32)


class Case:
    """One program in one variant."""

    def __init__(self, strata, folder, seed, variant):
        self.strata, self.seed, self.variant = strata, seed, variant
        self.program = Program(seed)
        self.threads = random.Random(f"{seed} {variant}").choice([1, 1, 2, 7])
        self.folder = pathlib.Path(folder) / f"hbir-waits-{seed}-{variant}"
        self.path = self.folder / "program.hbir"

    def command(self, path):
        command = [self.strata, "run", str(path), "--threads", str(self.threads), "--out", f"R={self.folder}/R.npy"]
        machine = ["--machine", "cell" if self.variant == "cell" or self.variant == "check" and self.seed % 3 == 0 else "host"]
        return command + machine + {"check": ["--check"], "interpret": ["--interpret"]}.get(self.variant, [])

    def run(self, path=None):
        """What is wrong, or nothing."""
        self.folder.mkdir(exist_ok=True)
        self.path.write_text(self.program.render())
        (self.folder / "R.npy").unlink(missing_ok=True)
        status, said = Server.execute(self.command(self.path), self.seed % 8 == 0)
        expected = self.program.expected()
        if status < 0:
            wrong = f"it did not end, or crashed ({-status})"
        elif expected is None:
            code = "interpret-deadlock" if self.variant in ("check", "interpret") else "runtime-deadlock"
            wrong = None if status == 1 and f"error[{code}]" in said and "program.hbir:" in said else f"no deadlock: {status}\n{said[-2000:]}"
        elif status:
            wrong = f"it ended with {status}\n{said[-2000:]}"
        else:
            got = np.load(self.folder / "R.npy")
            wrong = None if (got == expected).all() else f"wrong results\n{got}\ninstead of\n{expected}"
        if not wrong:
            shutil.rmtree(self.folder)
        return wrong

    def reduce(self, wrong):
        """Takes out what tiles do as long as the program fails at all."""
        for position in range(len(self.program.phases) - 1, -1, -1):
            taken = self.program.phases.pop(position)
            again = self.program.phases and not self.program.left_out and self.run()
            if again:
                wrong = again
            else:
                self.program.phases.insert(position, taken)
        return self.run() or wrong


if __name__ == "__main__":
    if "--server" in sys.argv:
        at = sys.argv.index("--server")
        Server.path = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    sys.exit(run.main(__doc__, Case, VARIANTS))
