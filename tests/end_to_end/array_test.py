"""Every loop program on processor arrays, compared with NumPy: on several regions, with several tiles and distributions, from the
program and from the file with its symbolic configuration. Every wrong option is refused with a code. With --brief: one size of each."""

import json
import os
import re

import harness
import numpy as np
from pla_programs import check, input_options, programs, run

FIR = next(program for program in programs() if program.name == "fir")


class Arrays(harness.Case):
    def configuration(self, *options, machine="array-4x4", program=FIR):
        name = self.path(f"{program.name}.sym")
        self.succeeds("map", program.path, "--machine", machine, "-o", name, *options)
        return name

    def test_a_symbolic_configuration_is_instantiated_and_run(self):
        for form in ("text", "binary"):
            name = self.configuration("--format", form)
            with open(name, "rb") as file:
                content = file.read()
            self.assertEqual(b"\0" in content, form == "binary")
            concrete = self.succeeds("instantiate", name, "--machine", "array-4x4", "--size", "N=64,T=4", "--region", "1x4").out
            self.assertIn("banks", concrete)
            self.succeeds("instantiate", name, "--size", "N=64,T=4", "--region", "1x4", "-o", self.path("fir.config"))
            with open(self.path("fir.config")) as file:
                self.assertEqual(file.read(), concrete)
            size = {"N": 64, "T": 4}
            given = FIR.make(size)
            check(self, FIR, given, size, run(self, FIR, given, size, source=name), "from a file")
            check(self, FIR, given, size, run(self, FIR, given, size, "--machine", "array-8x8", source=name), "on another array")

    def test_pages(self):
        name = self.configuration()
        for words in (("instantiate", name, "--size", "N=64,T=4", "--region", "1x4", "-o", self.path("made.html")),
                      ("run", name, "--size", "N=64,T=4", "--in", "x=iota", "--in", "h=1", "--timeline", self.path("ran.html"))):
            self.succeeds(*words)
            with open(words[-1]) as file:
                page = file.read()
            self.assertIn("</html>", page)
            self.assertIn("fir on array-4x4, 1 x 4 elements", page)

    def test_a_program_shows_its_concrete_configuration(self):
        text = self.succeeds("run", FIR.path, "--machine", "array-4x4", "--size", "N=64,T=4", "--emit=config").out
        self.assertIn("banks", text)
        self.is_refused("run", FIR.path, "--machine", "array-4x4", "--emit=config", "--size", "N=64", code="array-size", mentions="'T'")

    def test_figures(self):
        words = ("run", FIR.path, "--machine", "array-4x4", "--size", "N=64,T=4", "--in", "x=iota", "--in", "h=1")
        figures = json.loads(self.succeeds(*words, "--stats=json").err)["array"]
        self.assertGreaterEqual(figures["interval"], figures["interval lower bound"])
        self.assertGreater(figures["cycles"], 64 * 4 // 16)
        self.assertGreater(figures["configuration bytes"], figures["symbolic bytes"] // 100)
        for share in figures["utilisation"].values():
            self.assertTrue(0 <= share <= 1)
        self.assertTrue(any(figures[f"words out {side}"] for side in ("north", "east", "south", "west")))
        text = self.succeeds(*words, "--stats").out
        self.assertRegex(text, r"array utilisation of \w+: \d+\.\d %")
        again = json.loads(self.succeeds(*words, "--stats=json", "--repeat", "2").err)["array"]
        self.assertEqual(again["cycles"], figures["cycles"])

    def test_banks_that_are_smaller_than_arrays(self):
        with open(os.path.join(harness.ROOT, "machines/array-4x4/machine.yaml")) as file:
            text = file.read()
        product = next(program for program in programs() if program.name == "systolic")
        size = {"M": 12, "N": 8, "K": 20}
        given = product.make(size)
        figures = {}
        for capacity in ("64K", "160", "16"):
            machine = self.write(f"with{capacity}.yaml", text.replace("capacity: 64K", f"capacity: {capacity}"))
            words = ("run", product.path, "--machine", machine, *input_options(self, given), "--out", f"c={self.path('c.npy')}", "--stats=json")
            figures[capacity] = json.loads(self.succeeds(*words).err)["array"]
            check(self, product, given, size, {"c": np.load(self.path("c.npy"))}, f"banks of {capacity}")
        large = figures["64K"]
        for each in figures.values():
            self.assertEqual(each["cycles"], large["cycles"])
            self.assertEqual(each["cycles with transfers"], sum(each[name] for name in ("cycles", "cycles filling", "cycles waiting for blocks", "cycles emptying")))
        self.assertEqual(large["cycles waiting for blocks"], 0)
        self.assertGreater(figures["160"]["blocks transferred"], large["blocks transferred"])
        self.assertLess(figures["160"]["cycles filling"], large["cycles filling"])
        self.assertGreater(figures["16"]["cycles waiting for blocks"], 0)
        symbolic = self.path("systolic.sym")
        self.succeeds("map", product.path, "--machine", self.path("with160.yaml"), "-o", symbolic)
        self.assertRegex(self.succeeds("instantiate", symbolic, "--machine", self.path("with160.yaml"), "--size", "M=12,N=8,K=20").out,
                         r"a block of \d+ x \d+ for each \w+")

    def test_regions_and_tiles(self):
        size = {"N": 48, "T": 6}
        given = FIR.make(size)
        for options in (("--region", "1x1"), ("--region", "1x3"), ("--distribute", "i", "--tile", "i=20"), ("--corner", "south-east"),
                        ("--least-tile", "i=4"), ("--distribute", "-,k"), ("--distribute", "i,k")):
            result = self.strata("run", FIR.path, "--machine", "array-4x4", *input_options(self, given), "--out", f"y={self.path('out-y.npy')}",
                                 *options)
            if result.status == 0:
                check(self, FIR, given, size, {"y": np.load(self.path("out-y.npy"))}, str(options))
            else:
                self.assertRegex(result.err, r"error\[array-", str(result))

    def test_what_is_known_of_intervals_above_their_bounds_is_said(self):
        remark, note = r"remark\[array-interval\]: iterations of '%s' begin (\d+) cycles after each other; that less than (\d+) is impossible", r"note: with its values copied, [^\n]* proved"
        for name, is_above in (("iir", True), ("bits", False)):
            program = os.path.join(harness.ROOT, f"examples/pla/{name}/{name}.pla")
            told = self.succeeds("map", program, "--machine", "array-2alu", "--remarks", "-o", self.path("p.sym")).err
            found = re.search(remark % name, told)
            self.assertEqual(bool(found), is_above, told)
            if found:
                self.assertGreater(int(found[1]), int(found[2]))
                self.assertRegex(told, note)

    def test_loops_are_skewed_where_elements_would_wait_in_a_circle(self):
        seidel = next(program for program in programs() if program.name == "seidel")
        size = {"N": 8, "T": 3}
        given = seidel.make(size)
        words = ("run", seidel.path, "--machine", "array-8x8", *input_options(self, given), "--out", f"b={self.path('b.npy')}",
                 "--distribute", "-,i", "--region", "1x8", "--remarks")
        result = self.succeeds(*words)
        self.assertIn("remark[array-skewed]: loop 'i' of 'seidel' counts from t on", result.out + result.err)
        check(self, seidel, given, size, {"b": np.load(self.path("b.npy"))}, "skewed")
        # Who says how is not overruled, and two elements a tile are enough.
        self.is_refused(*words, "--skew", "t=i", code="array-instantiation", mentions="circle")
        result = self.succeeds(*words[:-2], "1x4", "--remarks")
        self.assertNotIn("array-skewed", result.out + result.err)

    def test_loops_are_chosen_by_their_cycles(self):
        """With the sizes of the estimate it is what a run takes, and no other choice that was mapped takes half as long."""
        for name, sizes, chosen in (("matmul", "MNK", 2), ("syrk", "NK", 2), ("fir", "NT", 1)):
            program = next(each for each in programs() if each.name == name)
            size = dict.fromkeys(sizes, 16)
            given = program.make(size)
            words = ("run", program.path, "--machine", "array-4x4", *input_options(self, given), "--size", ",".join(f"{key}=16" for key in size),
                     "--stats=json")
            said = self.succeeds(*words, "--remarks").err
            remark = re.search(rf"remark\[array-distributed\]: '{name}' is distributed with (.*): (\d+) cycles, estimated for sizes of 16(;.*)", said)
            self.assertEqual(remark[1].count("'") // 2, chosen, remark[0])
            self.assertGreater(2 * min(int(cycles) for cycles in re.findall(r": (\d+)", remark[3])), int(remark[2]))
            figures = json.loads(re.search(r"^\{.*\}$", said, re.MULTILINE)[0])["array"]
            self.assertAlmostEqual(int(remark[2]) / figures["cycles with transfers"], 1, delta=0.05)
        # As many loops as the region has directions.
        for region, rows, columns in (("4x4", 4, 4), ("1x4", 1, 4), ("4x1", 4, 1)):
            result = json.loads(self.succeeds("run", FIR.path, "--machine", "array-4x4", "--size", "N=16,T=16", "--in", "x=iota", "--in", "h=1",
                                              "--region", region, "--stats=json").err)["array"]
            self.assertEqual((result["rows"], result["columns"]), (rows, columns))

    def test_the_largest_arrays(self):
        """A program on more elements than the smaller arrays have, along one dimension and along two."""
        product = next(program for program in programs() if program.name == "systolic")
        for machine, program, size, region in (("array-256x256", FIR, {"N": 400, "T": 3}, "1x200"), ("array-1024x1024", FIR, {"N": 1500, "T": 2}, "1x1000"),
                                               ("array-256x256", product, {"M": 40, "N": 36, "K": 3}, "40x36"),
                                               ("array-1024x1024", product, {"M": 66, "N": 50, "K": 2}, "66x40")):
            with self.subTest(f"{program.name} on {machine}"):
                given = program.make(size)
                check(self, program, given, size, run(self, program, given, size, "--machine", machine, "--region", region), machine)

    def test_wrong_options(self):
        words = ("run", FIR.path, "--machine", "array-4x4", "--size", "N=64,T=4", "--in", "x=iota", "--in", "h=1")
        for options, code, mentions in (
                (("--distribute", "i,nonsense"), "array-loop", "'nonsense'"), (("--distribute", "i,i"), "array-loop-twice", "'i'"),
                (("--distribute", "i,j,k"), "array-option", "-,j"), (("--order", "i"), "array-order-loops", ""),
                (("--order", "i,,k"), "array-option", "commas"), (("--skew", "i"), "array-option", "j=2*i"),
                (("--least-tile", "i=0"), "array-option", "i=8"), (("--tile", "i=4,i=5"), "array-option-twice", "'i'"),
                (("--tile", "l=4"), "array-tile-loop", "its loops are"), (("--region", "4"), "array-option", "4x2"),
                (("--region", "0x1"), "array-option", "4x2"), (("--region", "5x5"), "array-instantiation", "4 x 4"),
                (("--corner", "middle"), "driver-usage", "--corner")):
            with self.subTest(options):
                self.is_refused(*words, *options, code=code, mentions=mentions)

    def test_wrong_files(self):
        name = self.configuration()
        sized = ("--size", "N=64,T=4")
        self.is_refused("run", name, "--machine", "array-2alu", *sized, "--in", "x=1", "--in", "h=1", code="array-other-machine", mentions="'array-4x4'")
        self.is_refused("run", name, "--machine", "cell", *sized, "--in", "x=1", "--in", "h=1", code="array-none")
        self.is_refused("instantiate", name, "--size", "N=64", code="symbolic-size", mentions="'T'")
        self.is_refused("instantiate", name, *sized, "--size", "Q=1", code="symbolic-unknown-size", mentions="'Q'")
        self.is_refused("instantiate", name, "--size", "NN=64,T=4", code="symbolic-unknown-size", mentions="did you mean 'N'?")
        self.is_refused("instantiate", name, "--size", "Q=64,T=4", code="symbolic-unknown-size", mentions="there are: N, T")
        self.is_refused("instantiate", name, code="symbolic-size", mentions=["command line:1:", "--size N=…,T=…"])
        self.is_refused("run", name, *sized, "--in", "x=1", code="run-missing-input", mentions=["command line:1:", "'h'"])
        self.is_refused("instantiate", FIR.path, *sized, code="symbolic-expected")
        self.is_refused("instantiate", self.path("absent.sym"), *sized, code="symbolic-cannot-read")
        self.is_refused("run", name, *sized, "--check", "--in", "x=1", "--in", "h=1", code="symbolic-option", mentions="--check")
        self.is_refused("run", self.write("bad.sym", "nonsense"), *sized, code="symbolic-file")
        with open(name) as file:
            text = file.read()
        registers = re.sub(r"\bfd\d+", "fd99", re.sub(r"\brd\d+", "rd99", text))
        if registers != text:
            self.is_refused("run", self.write("large.sym", registers), *sized, "--in", "x=1", "--in", "h=1", code="array-configuration")

    def test_what_an_array_does_not_do(self):
        vectadd = os.path.join(harness.ROOT, "examples/sequoia/vectadd/vectadd.sq")
        self.succeeds("run", vectadd, "--machine", "array-4x4", "--size", "N=64", "--in", "A=iota", "--in", "B=1")
        self.is_refused("run", vectadd, "--machine", "array-4x4", "--size", "N=64", "--in", "A=iota", "--in", "B=1", "--region", "2x2",
                        code="driver-array-options")
        self.is_refused("run", FIR.path, "--size", "N=64,T=4", "--in", "x=iota", "--in", "h=1", "--region", "2x2", code="driver-array-options")
        self.is_refused("run", FIR.path, "--target", "array", "--size", "N=64,T=4", "--in", "x=iota", "--in", "h=1", code="array-none")
        self.is_refused("build", FIR.path, "--machine", "array-4x4", "-o", self.path("fir.so"), code="error")
        self.is_refused("map", FIR.path, "--machine", "array-4x4", "--format", "braces", code="driver-no-target-form")
        self.is_refused("run", vectadd, "--machine", "array-4x4", "--size", "N=64", "--emit=config", code="array-kernels")

    def changed(self, machine, **fields):
        """A machine with other numbers of something."""
        with open(os.path.join(harness.ROOT, f"machines/{machine}/machine.yaml")) as file:
            text = file.read()
        for name, value in fields.items():
            text, changed = re.subn(rf"\b{name}: \w+", f"{name}: {value}", text)
            self.assertTrue(changed, name)
        return self.write("changed.yaml", text)

    def test_a_schedule_with_fewer_registers_is_found(self):
        """Two units would have more values alive at once than there are registers: one after the other they have not."""
        program = self.write("wide.pla", """parameter N >= 1;
input x: int32[N];
output y: int32[N];
for i where 0 <= i < N { y[i] = ((x[i] * 3 + 5) * (x[i] * 5 + 7)) + ((x[i] * 7 + 9) * (x[i] * 11 + 1)); }
""")
        x = np.arange(9, dtype="i4")
        given = ("--in", f"x={self.save('x.npy', x)}")
        self.succeeds("run", program, *given, "--machine", self.changed("array-2alu", general=3), "--out", "y=y.npy")
        self.assertEqual(np.load(self.path("y.npy")).tolist(), ((x * 3 + 5) * (x * 5 + 7) + (x * 7 + 9) * (x * 11 + 1)).tolist())
        self.is_refused("run", program, *given, "--machine", self.changed("array-2alu", general=2), code="array-registers",
                        mentions=("general registers; an element of the array has 2", "wide.pla:4:"))

    def test_the_bound_of_an_interval_holds_for_other_mappings(self):
        """With one destination an instruction, a copy lies in the recurrence here; a schedule that copies elsewhere might do without."""
        program = self.write("prefix.pla", """parameter N >= 1;
input x: int32[N];
output y: int32[N];
variable v: int32;
for i where 0 <= i < N {
  v[i] = x[i] if i == 0;
  v[i] = v[i - 1] + x[i] if i > 0;
  y[i] = v[i];
}
""")
        for destinations in (1, 2):
            text = self.succeeds("map", program, "--machine", self.changed("array-4x4", destinations=destinations)).out
            self.assertRegex(text, r"lower bound 1\b", destinations)

    def test_values_that_have_no_result(self):
        text = "parameter N >= 1;\ninput a, b: int32[N];\noutput c: int32[N];\nfor i where 0 <= i < N { c[i] = a[i] / b[i]; }\n"
        self.is_refused("run", self.write("wrong.pla", text), "--machine", "array-4x4", "--size", "N=4", "--in", "a=1", "--in", "b=0",
                        code="array-value", mentions="cycle")


def test_of(program, size):
    def test(self):
        given = program.make(size)
        check(self, program, given, size, run(self, program, given, size, "--machine", "array-4x4"), f"{program.name} {size}")
    return test


# One size of each program is run on every array by tests/matrix/arrays.py.
for index, each in enumerate(programs()):
    for number in (0, 2):
        if each.name != "floyd":
            setattr(Arrays, f"test_{each.name}_{number}", harness.unless_brief(number != index % 2 * 2, test_of(each, each.sizes[number])))

if __name__ == "__main__":
    harness.main()
