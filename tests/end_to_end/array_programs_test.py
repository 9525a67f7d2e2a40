"""Several loop programs at once on regions of one processor array, and regions at given places: results are those of each program's lone run and
NumPy's, places overlap nowhere, and what cannot be is refused with a code."""

import json
import re

import harness
import numpy as np
from pla_programs import check, input_options, programs, run

PROGRAMS = {program.name: program for program in programs()}
FIR = PROGRAMS["fir"]


class Places(harness.Case):
    """One program with a place for its region."""

    def test_results_are_the_same_everywhere(self):
        size = {"N": 48, "T": 6}
        given = FIR.make(size)
        for region in ("1x4@0,0", "1x4@3,0", "1x3@0,0", "1x1@0,0"):
            check(self, FIR, given, size, run(self, FIR, given, size, "--machine", "array-4x4", "--region", region), region)

    def test_a_place_says_which_borders_there_are(self):
        size = {"N": 64, "T": 4}
        words = ("run", FIR.path, "--machine", "array-4x4", *input_options(self, FIR.make(size)))
        self.is_refused(*words, "--region", "1x4@1,0", code="error[array-borders]", mentions=("northern", "row 1, column 0"))
        self.is_refused(*words, "--region", "1x4@3,1", code="error[array-placement]", mentions="4 x 4")
        self.is_refused(*words, "--region", "1x4@3", code="error[array-option]", mentions="4x2@2,0")
        self.is_refused(*words, "--region", "1x4@", code="error[array-option]")

    def test_without_a_place_it_is_said_what_is_assumed(self):
        size = {"N": 64, "T": 4}
        words = ("run", FIR.path, "--machine", "array-4x4", *input_options(self, FIR.make(size)), "--stats=json", "--remarks")
        assumed = self.succeeds(*words, "--region", "1x3")
        self.assertEqual(assumed.err.count("remark[array-borders-assumed]"), 1, str(assumed))
        figures = json.loads(next(line for line in assumed.err.splitlines() if line.startswith("{")))["array"]
        self.assertEqual((figures["rows"], figures["columns"], figures["borders assumed"]), (1, 3, 1))
        placed = self.succeeds(*words, "--region", "1x3@0,0")
        self.assertNotIn("array-borders-assumed", placed.err)
        figures = json.loads(next(line for line in placed.err.splitlines() if line.startswith("{")))["array"]
        self.assertEqual((figures["row"], figures["column"], figures["borders assumed"]), (0, 0, 0))

    def test_instantiation_and_files_know_places(self):
        name = self.path("fir.sym")
        self.succeeds("map", FIR.path, "--machine", "array-4x4", "-o", name)
        sized = ("--size", "N=64,T=4")
        self.assertIn("banks", self.succeeds("instantiate", name, *sized, "--region", "1x4@3,0").out)
        self.assertIn("remark[array-borders-assumed]", self.succeeds("instantiate", name, *sized, "--region", "1x3", "--remarks").err)
        self.is_refused("instantiate", name, *sized, "--region", "1x4@1,0", code="error[array-borders]")
        self.is_refused("run", name, *sized, "--in", "x=1", "--in", "h=1", "--region", "1x4@2,0", code="error[array-borders]")
        self.assertIn("remark[array-borders-assumed]",
                      self.succeeds("run", name, *sized, "--in", "x=1", "--in", "h=1", "--region", "1x3", "--remarks").err)


class Several(harness.Case):
    """Several programs, with + between them."""

    def part(self, program, size, name, *options, seed=1, source=None):
        """The words of one part, whose files are its own, and what its outputs have to be."""
        given = program.make(size, seed)
        words = [source or program.path]
        for key, value in given.items():
            words += ["--in", f"{key}={self.save(f'{name}-{key}.npy', value) if isinstance(value, np.ndarray) else value}"]
        words += ["--size", f"N={size['N']}"] if program.name == "bits" else []
        wanted = program.results(given, **size)
        for key in wanted:
            words += ["--out", f"{key}={self.path(f'{name}-{key}.npy')}"]
        return [*words, *options], (name, wanted)

    def together(self, *parts, options=("--machine", "array-4x4"), **keywords):
        """Runs the parts at once and compares with NumPy."""
        words = ["run"]
        for number, (part, _) in enumerate(parts):
            words += (["+"] if number else []) + part
        result = self.succeeds(*words, *options, **keywords)
        for _, (name, wanted) in parts:
            for key, array in wanted.items():
                got = np.load(self.path(f"{name}-{key}.npy"))
                self.assertEqual((got.dtype, got.shape), (array.dtype, array.shape), name)
                self.assertTrue(np.array_equal(got, array), f"{name}: {key} differs from NumPy's")
        return result

    def figures(self, result):
        return json.loads(next(line for line in result.err.splitlines() if line.startswith("{")))

    def symbolic(self, program, *options, name=None):
        path = self.path(name or f"{program.name}.sym")
        self.succeeds("map", program.path, "--machine", "array-4x4", "-o", path, *options)
        return path

    def test_programs_at_given_places(self):
        parts = [self.part(FIR, {"N": 48, "T": 6}, "a", "--region", "1x4@0,0", "--corner", "north-west"),
                 self.part(PROGRAMS["matvec"], {"M": 6, "N": 11}, "b", "--region", "1x4@3,0", "--corner", "south-east")]
        result = self.together(*parts, options=("--machine", "array-4x4", "--stats=json"))
        figures = self.figures(result)
        self.assertEqual([(each["array"]["row"], each["array"]["column"]) for each in figures["programs"]], [(0, 0), (3, 0)])
        cycles = [each["array"]["cycles"] for each in figures["programs"]]
        self.assertEqual(figures["array"]["cycles"], max(cycles))
        self.assertEqual(figures["array"]["elements"], 16)
        self.assertEqual(figures["array"]["elements taken"], 8)
        for name, share in figures["array"]["utilisation"].items():
            count = {"alu": 2, "mul": 2, "div": 1, "dpu": 2}[name]
            operations = sum(each["array"][f"operations of {name}"] for each in figures["programs"])
            self.assertAlmostEqual(share, operations / (max(cycles) * 16 * count), delta=0.0006)
        # Each takes the cycles and has the bits of its lone run.
        for (words, (name, wanted)), each in zip(parts, figures["programs"]):
            before = {key: np.load(self.path(f"{name}-{key}.npy")) for key in wanted}
            lone = self.figures(self.succeeds("run", *words, "--machine", "array-4x4", "--stats=json"))
            self.assertEqual(lone["array"]["cycles"], each["array"]["cycles"])
            self.assertEqual(lone["array"]["words in north"], each["array"]["words in north"])
            for key, array in before.items():
                self.assertEqual(np.load(self.path(f"{name}-{key}.npy")).tobytes(), array.tobytes())

    def test_places_are_found(self):
        for machine, parts in (
                ("array-4x4", [("fir", {"N": 48, "T": 6}), ("vectadd", {"N": 100})]),
                ("array-4x4", [("vectadd", {"N": 100}), ("vectadd", {"N": 30}), ("bits", {"N": 16}), ("sum", {"N": 20})]),
                ("array-8x8", [("systolic", {"M": 9, "N": 8, "K": 7}), ("fir", {"N": 48, "T": 6}), ("vectadd", {"N": 30})]),
                ("array-8x8", [("jacobi", {"N": 30, "T": 5}), ("matvec", {"M": 6, "N": 11})])):
            with self.subTest(machine=machine, parts=parts):
                words = [self.part(PROGRAMS[name], size, f"p{number}", seed=number) for number, (name, size) in enumerate(parts)]
                figures = self.figures(self.together(*words, options=("--machine", machine, "--stats=json")))
                taken = set()
                for each in figures["programs"]:
                    array = each["array"]
                    here = {(array["row"] + row, array["column"] + column) for row in range(array["rows"]) for column in range(array["columns"])}
                    self.assertFalse(taken & here, figures)
                    taken |= here
                rows = 4 if machine == "array-4x4" else 8
                self.assertTrue(all(row < rows and column < rows for row, column in taken))
                self.assertEqual(figures["array"]["cycles"], max(each["array"]["cycles"] for each in figures["programs"]))

    def test_given_places_come_first(self):
        figures = self.figures(self.together(self.part(PROGRAMS["vectadd"], {"N": 100}, "a", "--region", "1x4"),
                                             self.part(PROGRAMS["vectadd"], {"N": 100}, "b", "--region", "1x4@0,0", seed=2),
                                             options=("--machine", "array-4x4", "--stats=json")))
        self.assertEqual([each["array"]["row"] for each in figures["programs"]], [3, 0])

    def test_files_of_both_forms(self):
        for number, forms in enumerate((("text", "binary"), ("binary", "text"))):
            fir = self.symbolic(FIR, "--format", forms[0], name=f"fir{number}.sym")
            matvec = self.symbolic(PROGRAMS["matvec"], "--format", forms[1], name=f"matvec{number}.sym")
            sizes = {"N": 48, "T": 6}, {"M": 6, "N": 11}
            self.together(self.part(FIR, sizes[0], "a", source=fir), self.part(PROGRAMS["matvec"], sizes[1], "b", source=matvec), options=())
            self.together(self.part(FIR, sizes[0], "a", source=fir), self.part(PROGRAMS["matvec"], sizes[1], "b"), options=())
            self.together(self.part(FIR, sizes[0], "a", source=fir), self.part(PROGRAMS["matvec"], sizes[1], "b", source=matvec),
                          options=("--machine", "array-8x8"))

    def test_options_of_one_and_of_all(self):
        fir = self.part(FIR, {"N": 48, "T": 6}, "a", "--distribute", "i", "--tile", "i=20", "--machine", "array-4x4", "--stats")
        result = self.together(fir, self.part(PROGRAMS["sum"], {"N": 20}, "b", "--region", "1x1"), options=("--repeat", "2"))
        headings = [line for line in result.out.splitlines() if line.startswith("== ")]
        self.assertEqual(headings, [f"== {FIR.path}", f"== {PROGRAMS['sum'].path}", "== array-4x4"])
        self.assertEqual(len(re.findall(r"least of 2", result.out)), 2)
        self.assertRegex(result.out, r"\n2 programs at once: \d+ cycles\n")
        self.assertEqual(result.out.count("array element cycles"), 3)
        self.assertRegex(result.out, r"sum_of on array-4x4, array, 1 x 1 elements at row \d, column \d: ")
        fir[0].remove("--stats")
        self.together(fir, self.part(PROGRAMS["sum"], {"N": 20}, "b"), options=("--stats=json:figures.json",))
        with open(self.path("figures.json")) as file:
            self.assertEqual(len(json.load(file)["programs"]), 2)

    def test_one_program_twice(self):
        self.together(*(self.part(FIR, {"N": 20 + 5 * number, "T": 3}, f"p{number}", seed=number) for number in range(3)),
                      options=("--machine", "array-8x8"))
        # Alone it takes elements in both directions, whose data need all borders.
        self.together(*(self.part(PROGRAMS["matmul"], {"M": 9, "N": 8, "K": 7}, f"q{number}", seed=number) for number in range(2)),
                      options=("--machine", "array-8x8"))

    def test_one_machine_by_two_values_is_refused(self):
        first, second = (self.part(FIR, {"N": 20, "T": 3}, name)[0] for name in "ab")
        self.is_refused("run", *first, "--machine", "array-4x4", "+", *second, "--machine", "array-8x8", code="error[driver-programs-differ]",
                        mentions=("--machine", "'array-8x8'", "first given here"))
        self.succeeds("run", *first, "--machine", "array-4x4", "+", *second, "--machine", "array-4x4")

    def test_files_for_two_machines(self):
        first = self.symbolic(FIR)
        other = self.path("other.sym")
        self.succeeds("map", FIR.path, "--machine", "array-8x8", "-o", other)
        words = ("--size", "N=20,T=3", "--in", "x=1", "--in", "h=1")
        self.is_refused("run", first, *words, "+", other, *words, code="error[array-programs-machine]", mentions=("'array-4x4'", "--machine"))
        self.succeeds("run", first, *words, "+", other, *words, "--machine", "array-8x8")

    def test_places_that_cannot_be(self):
        first, second = (self.part(PROGRAMS["vectadd"], {"N": 100}, name)[0] for name in "ab")

        def refused(one, other, code, *mentions):
            self.is_refused("run", *first, *one, "+", *second, *other, "--machine", "array-4x4", code=f"error[{code}]", mentions=mentions)

        refused(["--region", "1x3@0,0"], ["--region", "1x3@0,1"], "array-occupied", "row 0, column 1", "row 0, column 0")
        refused(["--region", "1x3@0,0"], ["--region", "1x3@4,0"], "array-placement", "4 x 4")
        refused(["--region", "1x3@0,0"], ["--region", "1x4@1,0"], "array-borders", "northern", "row 1")
        refused(["--region", "1x3", "--corner", "south-east"], ["--corner", "south-east"], "array-occupied", "south-east")
        refused(["--region", "1x5"], [], "array-placement", "4 x 4")
        # Both need a northern and a western border.
        self.is_refused("run", *self.part(PROGRAMS["systolic"], {"M": 9, "N": 8, "K": 7}, "p0")[0], "+",
                        *self.part(PROGRAMS["align"], {"M": 8, "N": 5}, "p1")[0], "--distribute", "i,j", "--machine", "array-8x8", code="error[array-borders]", mentions="'align'")
        four = [word for number in range(4) for word in [*self.part(PROGRAMS["vectadd"], {"N": 9}, f"p{number}")[0], "+"]]
        self.is_refused("run", *four, *self.part(PROGRAMS["vectadd"], {"N": 9}, "p4")[0], "--machine", "array-8x8",
                        code="error[array-programs-controllers]", mentions="5 programs")

    def test_what_is_no_loop_program(self):
        first = self.part(FIR, {"N": 20, "T": 3}, "a")[0]
        matmul = f"{harness.ROOT}/examples/sequoia/matmul/matmul.sq"
        refused = self.is_refused("run", *first, "+", matmul, "--size", "M=4,N=4,P=4", "--in", "A=1", "--in", "B=1", "--machine", "array-4x4",
                                  code="error[array-programs-kind]", mentions=matmul)
        column = " ".join(refused.command).index(matmul) + 1
        self.assertIn(f"command line:1:{column} ", refused.err)
        self.is_refused("run", *first, "+", *first[:1], "--size", "N=4,T=2", "--in", "x=1", "--in", "h=1", "--machine", "cell", code="error[array-none]")

    def test_wrong_command_lines(self):
        first, second = (self.part(FIR, {"N": 20, "T": 3}, name)[0] for name in "ab")
        machine = ("--machine", "array-4x4")
        self.is_refused("run", *first, *machine, "+", code="error[driver-programs-empty]", mentions="behind")
        self.is_refused("run", "+", *first, *machine, code="error[driver-programs-empty]", mentions="before")
        self.is_refused("run", *first, "+", "+", *second, *machine, code="error[driver-programs-empty]")
        self.is_refused("run", *first, "+", *machine, code="error[driver-usage]", mentions="PROGRAM")
        self.is_refused("run", *first, "+", *second, "--regoin", "1x1", *machine, code="error[driver-usage]", mentions="--region")
        self.is_refused("run", *first, "+", *second, *machine, "--", "word", code="error[driver-usage]", mentions="--")
        for option in (("--timeline", "t.html"), ("--check",), ("--interpret",), ("--emit=config",), ("--trace", "t.json"), ("--map", "m.map")):
            with self.subTest(option):
                self.is_refused("run", *first, *option, "+", *second, *machine, code="error[driver-programs-option]", mentions=option[0].split("=")[0])
        self.is_refused("run", *first, "stray.c", "+", *second, *machine, code="error[driver-programs-option]", mentions="stray.c")

    def test_one_file_for_two_outputs(self):
        first, second = (self.part(FIR, {"N": 20, "T": 3}, name)[0] for name in "ab")
        same = [word.replace("b-y.npy", "a-y.npy") for word in second]
        self.is_refused("run", *first, "+", *same, "--machine", "array-4x4", code="error[driver-same-output]", mentions="here first")
        self.is_refused("run", *first, *first[-2:], "+", *second, "--machine", "array-4x4", code="error[data-repeated]")
        name = self.symbolic(FIR)
        self.is_refused("run", name, *[word.replace("a-y.npy", "other.npy") for word in first[1:]], "+", FIR.path, *second[1:-2], "--out", f"y={name}",
                        "--machine", "array-4x4", code="error[driver-output-", errors=1)

    def test_values_that_have_no_result(self):
        text = "parameter N >= 1;\ninput a, b: int32[N];\noutput c: int32[N];\nfor i where 0 <= i < N { c[i] = a[i] / b[i]; }\n"
        wrong = [self.write("wrong.pla", text), "--size", "N=4", "--in", "a=1", "--in", "b=0"]
        self.is_refused("run", *wrong, "+", *self.part(FIR, {"N": 20, "T": 3}, "a")[0], "--machine", "array-4x4", code="error[array-value]",
                        mentions=("'wrong'", "cycle"))


if __name__ == "__main__":
    harness.main()
