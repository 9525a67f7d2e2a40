"""Command lines that are not understood: what every command says of a word too many, of an option's value, and of names and data that the
program does not have. Each message shows the word."""

import os

import harness
import numpy as np

EXAMPLES = os.path.join(harness.ROOT, "examples")
VECTADD = os.path.join(EXAMPLES, "sequoia/vectadd/vectadd.sq")
CONV2D = os.path.join(EXAMPLES, "sequoia/conv2d/conv2d.sq")
FIR = os.path.join(EXAMPLES, "pla/fir/fir.pla")
HBIR = os.path.join(EXAMPLES, "hbir/vectadd/vectadd.hbir")

TWO = """
void task F(in float a[N], out float b[N]);
void task<leaf> F::L(in float a[N], out float b[N]) { for (long i = 0; i < N; i++) b[i] = a[i]; }
void task G(in double c[M], out double d[M]);
void task<leaf> G::L(in double c[M], out double d[M]) { for (long i = 0; i < M; i++) d[i] = c[i]; }
"""


class Usage(harness.Case):
    def refused_words(self, word, *arguments, **keywords):
        self.refused_at(word, *arguments, **keywords)
        return self.strata(*arguments).err

    def named(self, name):
        """An empty file, by a name as it is typed."""
        self.write(name, "")
        return name

    def refused_at(self, word, *arguments, code="driver-usage", mentions=()):
        """Refused, with carets under the word."""
        result = self.is_refused(*arguments, code=code, mentions=mentions)
        lines = result.err.split("\n")
        for line, carets in zip(lines, lines[1:]):
            if "^" in carets:
                begin = carets.index("^")
                self.assertEqual(line[begin:begin + carets.count("^")], word, str(result))
                return
        self.fail(f"shows no word:\n{result}")

    # ---- words ----
    def test_stray_words_are_no_files_of_c(self):
        for words, stray, mentions in (
                (("--size", "N", "=", "8", "--in", "A=iota"), "=", "one word, without blanks"),
                (("--size", "N=8", "--in", "A", "=", "iota"), "=", "one word, without blanks"),
                (("--size", "N=8", "A=iota"), "A=iota", "did you mean --in A=iota?"),
                (("N=8", "--in", "A=iota"), "N=8", "did you mean --size N=8?"),
                (("foo", "--size", "N=8"), "foo", "no C or C++ file"),
                (("…", "--timeline", "run.html"), "…", "no C or C++ file"),
                (("a.npy", "--size", "N=8"), "a.npy", "did you mean --in NAME=a.npy?"),
                (("cell.map",), "cell.map", "did you mean --map cell.map?"),
                (("cell.yaml",), "cell.yaml", "did you mean --machine cell.yaml?"),
                ((CONV2D,), CONV2D, "one program"),
                (("foo.txt", "--check"), "foo.txt", "no C or C++ file")):
            self.refused_at(stray, "run", VECTADD, *words, mentions=mentions)
        self.refused_at("=", "check", HBIR, "--in", "A", "=", "1")
        # One that is not there is Clang's to tell.
        self.is_refused("run", VECTADD, "absent.c", mentions="absent.c")

    def test_words_that_are_too_many(self):
        self.refused_at("b", "machine", "cell", "b", mentions="one word more than strata machine takes")
        self.refused_at("-s", "run", VECTADD, "-s", "N=8", mentions="strata run has no option '-s'")
        self.refused_at("-x", "show", "cell", "-x", mentions="no option '-x'")
        self.refused_at("--fast", "--fast", "run", mentions="before its command")
        self.refused_at("cell", "machine", "--list", "cell", mentions=["NAME and --list do not go together", "and this"])

    def test_values_that_an_option_does_not_take(self):
        self.refused_at("many", "run", VECTADD, "--repeat", "many", mentions="a whole number in the range 1 to 1000000")
        self.refused_at("0", "run", VECTADD, "--threads=0", mentions="--threads takes")
        self.refused_at("tcsh", "completion", "tcsh", mentions="SHELL takes bash, zsh or fish, and not 'tcsh'")
        self.refused_at("alwais", "run", VECTADD, "--color", "alwais", mentions="did you mean 'always'?")
        self.refused_at("plan", "build", VECTADD, "-o", "x.so", "--interface", "plan", mentions="did you mean 'plain'?")
        self.refused_at("--machine", "run", VECTADD, "--machine", "cell", "--machine", "host", mentions=["given twice", "first given here"])
        self.refused_at("--map=b.map", "check", VECTADD, "--map=a.map", "--map=b.map", mentions="given twice")
        self.refused_at("--machine", "run", VECTADD, "--machine", mentions="--machine takes NAME|FILE, and nothing stands behind it")
        self.refused_at("--check=5", "run", VECTADD, "--check=5", mentions="--check takes no value")
        self.refused_at("--map", "map", VECTADD, "--template", "--map", "x.map", mentions=["--map and --template do not go together", "and this"])

    def test_values_that_say_nothing(self):
        for command, option in (("run", "--machine"), ("run", "--map"), ("check", "--entry"), ("run", "--trace"), ("run", "--target"), ("show", "--machine")):
            self.refused_at(option, command, VECTADD, option, "", mentions=f"{option} takes ")
        self.refused_at("json:", "run", VECTADD, "--stats", "json:", mentions="takes nothing, json or json:FILE")
        self.refused_at("xml2", "run", VECTADD, "--stats", "xml2", mentions="takes nothing, json or json:FILE")

    def test_what_is_asked_for_in_vain(self):
        """Options that mean nothing for the program at hand."""
        self.refused_at("text", "map", VECTADD, "--format", "text", code="driver-other-mapping-form", mentions="braces or xml")
        self.refused_at("i,j", "map", VECTADD, "--distribute", "i,j", code="driver-array-options")
        self.refused_at("nosuch", "show", FIR, "--machine", "nosuch", code="machine-not-found")
        self.refused_at("nosuch", "show", HBIR, "--machine", "nosuch", code="machine-not-found")
        self.refused_at("nosuch", "show", FIR, "--entry", "nosuch", code="pla-entry")
        self.refused_at("nosuch", "show", HBIR, "--entry", "nosuch", code="hbir-entry")
        self.refused_at("--cycles", "show", VECTADD, "--cycles", "1..2", code="driver-not-a-program")
        self.refused_at("--map", "show", "cell", "--map", "x.map", code="driver-not-a-program")
        extra = self.refused_words("extra.c", "check", VECTADD, self.named("extra.c"), code="driver-no-functions")
        self.assertIn("named in the mapping file", extra)
        self.assertNotIn("HBIR", extra)

    def test_what_is_missing_is_shown_by_an_example(self):
        self.refused_at("build", "build", VECTADD, mentions=["strata build needs -o", "for example: strata build", "-o vectadd.so"])
        for command in ("run", "check", "build", "map", "show", "instantiate", "completion"):
            self.refused_at(command, command, mentions=f"strata {command} --help")

    def test_options_that_do_not_go_together_are_shown(self):
        main = self.write("main.c", "int main(void) { return 0; }")
        self.refused_at("--in", "run", VECTADD, main, "--in", "A=iota", mentions="goes without a main")
        self.refused_at("-o", "run", VECTADD, "-o", "x.txt", mentions="--emit")
        self.refused_at("-DN=2", "check", HBIR, "-DN=2")
        self.refused_at("--timeline", "run", VECTADD, "--interpret", "--timeline", "x.html")

    def test_files_are_shown_on_the_command_line(self):
        self.refused_at("absent.sq", "run", "absent.sq", code="driver-cannot-read")
        self.refused_at("absent.map", "run", VECTADD, "--map", "absent.map", code="driver-cannot-read-mapping")
        self.refused_at("x.txt", "check", self.named("x.txt"), code="driver-unknown-notation")
        self.refused_at("absent.o", "show", "absent.o", code="show-no-file")
        self.refused_at("absent", "machine", "absent", code="machine-not-found")
        self.refused_at("absent", "show", "absent", code="machine-not-found")
        self.refused_at("absent/x.map", "map", VECTADD, "-o", "absent/x.map", code="driver-cannot-write")
        self.refused_at("absent/x.so", "build", VECTADD, "-o", "absent/x.so", code="build-cannot-write")
        self.refused_at("x.txt", "build", VECTADD, "-o", "x.txt", code="build-unknown-output")
        self.refused_at("x.sym", "check", self.named("x.sym"), code="driver-unknown-notation", mentions="strata instantiate x.sym")
        for command in ("map", "tune", "estimate"):
            self.refused_at("x.ll", command, self.named("x.ll"), code="driver-unknown-notation", mentions="by strata run, check and build")
        self.refused_at("x.sym", "show", "x.sym", code="show-unknown-thing", mentions="strata instantiate x.sym")

    # ---- names ----
    def test_names_that_a_program_does_not_have(self):
        """Every command looks at the names that it is given, whether it makes use of the values or not."""
        for program, size, near, data in ((CONV2D, "H=512", None, "kernl=1"), (FIR, "NN=64", "N", "xx=iota"), (VECTADD, "n=8", "N", "AA=1")):
            hint = f"did you mean '{near}'?" if near else "there are: "
            dialect = self.path("p.mlir")
            self.succeeds("run", program, "--emit", "svm", "-o", dialect)
            for command in (("check", program), ("build", program, "-o", "x.so"), ("map", program, "--machine", "array-4x4"), ("show", program),
                            ("map", program, "--machine", "cell"), ("run", program, "--emit=ast"), ("run", program, "--emit=svm"),
                            ("run", program), ("check", dialect), ("build", dialect, "-o", "x.so"), ("check", program, "--machine", "cell")):
                with self.subTest(command=command):
                    self.refused_at(size, *command, "--size", size, code="run-unknown-size", mentions=hint)
                    if command[0] != "show":
                        self.refused_at(data, *command, "--in", data, code="run-unknown-argument")
            os.remove(dialect)
        for command in ("check", "map", "show", "run"):
            self.refused_at("m=3", command, HBIR, "--size", "m=3", code="hbir-size-name")
        for command in ("check", "map", "run"):
            self.refused_at("AA=1", command, HBIR, "--in", "AA=1", code="run-unknown-argument", mentions="did you mean 'A'?")

    def test_a_size_is_no_argument(self):
        self.refused_at("N=8", "check", VECTADD, "--in", "N=8", code="run-unknown-argument", mentions="'N' is a size: --size N=…")
        self.refused_at("A=8", "check", VECTADD, "--size", "A=8", code="run-unknown-size", mentions="'A' is an argument: --in A=8")

    def test_a_library_has_the_names_of_all_its_entry_points(self):
        two = self.write("two.sq", TWO)
        self.succeeds("build", two, "-o", "two.so", "--size", "N=8,M=9", "--in", "c=1")
        for file in ("two.so", "two.h"):
            os.remove(self.path(file))
        self.refused_at("K=8", "build", two, "-o", "two.so", "--size", "K=8", code="run-unknown-size", mentions=["entry points 'F", "N, M"])
        self.refused_at("M=8", "build", two, "-o", "two.so", "--entry", "F", "--size", "M=8", code="run-unknown-size", mentions="entry point 'F")
        self.refused_at("c=f.npy", "build", two, "-o", "two.so", "--in", f"c={self.short('f.npy', np.zeros(3, 'f4'))}", code="data-element-type")

    # ---- data ----
    def short(self, name, array):
        self.save(name, array)
        return name

    def test_files_that_do_not_fit_the_arguments(self):
        self.short("double.npy", np.zeros(8))
        self.short("table.npy", np.zeros((2, 4), "f4"))
        self.short("seven.npy", np.zeros(7, "f4"))
        self.short("eight.npy", np.zeros(8, "f4"))
        for command in (("check",), ("map", "--machine", "cell"), ("build", "-o", "x.so"), ("run", "--emit=ast"), ("run", "--emit=llvm"), ("run",)):
            for name, code in (("double", "data-element-type"), ("table", "data-shape")):
                self.refused_at(f"A={name}.npy", command[0], VECTADD, *command[1:], "--in", f"A={name}.npy", code=code)
            self.refused_at("A=seven.npy", command[0], VECTADD, *command[1:], "--size", "N=8", "--in", "A=seven.npy", code="run-size-conflict",
                            mentions=["8 by --size and 7", "N=8", "stated here"])
            self.refused_at("B=eight.npy", command[0], VECTADD, *command[1:], "--in", "A=seven.npy", "--in", "B=eight.npy", code="run-size-conflict")
        self.succeeds("check", VECTADD, "--in", "A=seven.npy", "--in", "B=1")
        for program, argument in ((FIR, "x"), (HBIR, "A")):
            for command in (("check",), ("build", "-o", "x.so"), ("run", "--emit=svm"), ("run",)):
                for name, code in (("double", "data-element-type"), ("table", "data-shape")):
                    self.refused_at(f"{argument}={name}.npy", command[0], program, *command[1:], "--in", f"{argument}={name}.npy", code=code)

    def test_sizes_that_leave_an_array_less_than_nothing(self):
        program = self.write("inside.sq", "void task F(in float a[N], out float b[M], out float c[N - M]);\n"
                                          "void task<leaf> F::L(in float a[N], out float b[M], out float c[N - M])\n"
                                          "{ for (long i = 0; i < N - M; i++) c[i] = a[i]; for (long i = 0; i < M; i++) b[i] = a[0]; }\n")
        for command in ("check", "run"):
            self.refused_at("c" if command == "check" else "c", command, program, "--size", "N=3,M=5", *(("--in", "a=1") if command == "run" else ()),
                            code="run-negative-extent", mentions=["N is 3 by --size", "M is 5 by --size"])


if __name__ == "__main__":
    harness.main()
