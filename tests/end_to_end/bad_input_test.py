"""Wrong commands, programs and data: each ends with status 1 and one error that helps, and leaves no file behind."""

import os
import struct
import subprocess

import harness
import numpy as np
from programs import PROGRAMS, first

VECTADD = next(p for p in PROGRAMS if p.name == "vectadd")


class BadInput(harness.Case):
    def setUp(self):
        super().setUp()
        read, written = first(VECTADD.parameters(), "in"), first(VECTADD.parameters(), "out", "inout")
        self.a, self.b, self.c = read[0].name, read[1].name, written[0].name
        self.n = read[0].dimensions[0]

    def refuse(self, a="iota", b="iota", *extra, size=8, out=None, **keywords):
        sizes = ["--size", f"{self.n}={size}"] if size is not None else []
        return self.is_refused("run", VECTADD.path, *sizes, "--in", f"{self.a}={a}", "--in", f"{self.b}={b}",
                               "--out", f"{self.c}={out or self.path('c.npy')}", *extra, **keywords)

    # ---- the command ----
    def test_no_such_program(self):
        self.is_refused("run", "absent.sq", code="driver-cannot-read", mentions="absent.sq")

    def test_no_such_machine(self):
        self.refuse("iota", "iota", "--machine", "absent", mentions="absent")

    def test_no_such_mapping(self):
        self.refuse("iota", "iota", "--map", "absent.map", code="driver-cannot-read-mapping", mentions="absent.map")

    def test_no_such_entry(self):
        """Whatever knows the entry points: the program, a mapping, or what they were made into."""
        shown = ["--> command line:1:", "VectAdx\n", "^^^^^^^\n"]
        self.refuse("iota", "iota", "--entry", "VectAdx", code="sequoia-entry-unknown", mentions=[*shown, "its tasks are 'AddVectors'"])
        self.is_refused("map", VECTADD.path, "--template", "--entry=VectAdx", code="sequoia-entry-unknown", mentions=shown)
        self.succeeds("map", VECTADD.path, "-o", "made.map")
        self.refuse("iota", "iota", "--map", "made.map", "--entry", "VectAdx", code="sequoia-mapping-entry",
                    mentions=[*shown, "made.map:", "an entry point"])
        self.refuse("iota", "iota", "--map", "made.map", "--entry=Vect", code="sequoia-mapping-entry", mentions="'Vect'")
        self.succeeds("run", VECTADD.path, "--emit", "svm", "-o", "made.mlir")
        self.is_refused("run", "made.mlir", "--entry", "VectAdx", code="driver-unknown-entry", mentions=shown)

    def test_no_such_argument(self):
        self.refuse("iota", "iota", "--in", "nosuch=1", code="run-unknown-argument", mentions="nosuch")

    def test_no_such_size(self):
        self.refuse("iota", "iota", "--size", "NOSUCH=3", code="run-unknown-size", mentions="NOSUCH")

    def test_unknown_job_and_option(self):
        for command in (["rum"], ["run", VECTADD.path, "--frobnicate"]):
            result = self.strata(*command)
            self.assertEqual(result.status, 1, str(result))
            self.assertTrue(result.err.strip(), str(result))

    def test_threads(self):
        for threads in ("0", "-1", "x", "99999999999999999999"):
            result = self.strata("run", VECTADD.path, "--threads", threads)
            self.assertEqual(result.status, 1, str(result))
        self.is_refused("run", VECTADD.path, "--threads", "513", code="driver-usage", mentions="range 1 to 512")
        self.assertIn("threads to use, 1 to 512;", self.succeeds("run", "--help").out)

    def test_threads_are_as_many_as_the_runtime_takes(self):
        self.succeeds("run", VECTADD.path, "--size", f"{self.n}=8", "--in", f"{self.a}=iota", "--in", f"{self.b}=iota",
                      "--threads", "512")

    def test_unknown_notation(self):
        self.is_refused("run", self.write("program.txt", "x"), code="driver-unknown-notation", mentions=".sq")

    def test_unknown_stage(self):
        self.is_refused("run", VECTADD.path, "--emit=sv", code="driver-unknown-stage", mentions="svm")

    def test_stage_to_an_absent_folder(self):
        self.is_refused("run", VECTADD.path, "--emit=svm", "-o", self.path("absent/p.mlir"), code="driver-cannot-write",
                        mentions="absent/p.mlir")

    def test_stage_to_a_full_disk(self):
        self.is_refused("run", VECTADD.path, "--emit=svm", "-o", "/dev/full", code="driver-cannot-write", mentions="No space left")

    def test_input_that_is_only_written_and_output_that_is_only_read(self):
        self.refuse("iota", "iota", "--out", f"{self.a}={self.path('a.npy')}", code="run-not-an-output")

    def test_options_one_line_each(self):
        commands = [["run"], ["check"], ["map"], ["show"], ["run", VECTADD.path, "--repeat", "0"], ["run", VECTADD.path, "--stats=xml"],
                    ["run", VECTADD.path, "--color", "blue"], ["machine", "--absent"], ["machine", "a", "b"], []]
        for command in commands:
            with self.subTest(command=command):
                result = self.strata(*command)
                self.assertEqual(result.status, 1, str(result))
                self.assertIn("error[driver-usage]", result.err.split("\n")[0], str(result))
                self.assertIn("--help", result.err, str(result))

    def test_views_that_a_notation_does_not_have(self):
        for stage in ("groups", "layout"):
            self.is_refused("run", VECTADD.path, "--emit", stage, code="driver-no-view", mentions=stage)
        self.is_refused("show", self.write("p.mlir", "module {}"), code="driver-no-view", mentions="pictures")
        self.is_refused("machine", VECTADD.path, code="driver-no-view")

    def test_functions_for_a_program_that_calls_none(self):
        self.is_refused("check", VECTADD.path, self.write("f.c", ""), code="driver-no-functions", mentions="f.c")

    def test_a_machine_shown_as_a_program(self):
        self.is_refused("show", "cell", "--size", "N=8", code="driver-not-a-program")

    def test_another_entry_of_an_hbir_program(self):
        path = os.path.join(harness.ROOT, "examples/hbir/vectadd/vectadd.hbir")
        self.is_refused("run", path, "--entry", "VectAdd", "--in", "A=iota", "--in", "B=iota", code="hbir-entry", mentions=["'vectadd'", "--> command line:1:"])

    # ---- machines and mappings ----
    def test_machine_names(self):
        for name in ("absent", "./absent.yaml", self.folder, "/dev/null", ""):
            for job in ("machine", "show"):
                with self.subTest(name=name, job=job):
                    result = self.strata(job, name)
                    self.assertEqual(result.status, 0 if name == "" else 1, str(result))
                    self.assertEqual(result.err.count("error["), 0 if name == "" else 1, str(result))

    def test_machine_that_is_no_text(self):
        for content in (bytes(range(256)), b"", b"[" * 100000, b"{a: &a [*a]}", b"machine: " + b"1" * 100000):
            with self.subTest(content=content[:20]):
                result = self.strata("machine", self.write("m.yaml", content))
                self.assertEqual(result.status, 1, str(result)[:2000])
                self.assertIn("error[", result.err)

    def test_machine_without_levels(self):
        machine = self.write("flat.yaml", "machine: flat\nmemories:\n  - {name: main, capacity: available}\nprocessors:\n"
                             "  - {name: cpu, kind: control, masters: [cpu]}\nlinks:\n  - {name: bus, ends: [cpu, main]}\n")
        self.refuse("iota", "iota", "--machine", machine, code="sequoia-machine-levels", mentions="flat")

    def test_machine_to_a_full_disk(self):
        for job in (["machine"], ["machine", "--list"], ["show", "cell"], ["map", VECTADD.path, "--machine", "cell"]):
            with self.subTest(job=job):
                self.is_refused(*job, "-o", "/dev/full", code="driver-cannot-write")

    def test_mapping_of_a_program_in_the_dialect(self):
        self.is_refused("map", self.write("p.mlir", "module {}\n"), code="driver-no-mapping-form")

    # ---- sizes ----
    def test_size_beyond_all_memory(self):
        self.refuse(size=1 << 62, code="run-size-too-large")

    def test_size_not_known(self):
        self.refuse(size=None, code="run-missing-size", mentions=self.n)

    def test_malformed_sizes(self):
        for size in ("", "-1", "1.5", "x", "9223372036854775808"):
            with self.subTest(size=size):
                self.refuse(size=size)

    def test_size_given_twice(self):
        self.refuse("iota", "iota", "--size", f"{self.n}=9")

    def test_size_beyond_memory(self):
        self.refuse(size=1 << 50, mentions="memory")

    # ---- data ----
    def test_missing_file(self):
        self.refuse("absent.npy", mentions="absent.npy")

    def test_input_missing(self):
        self.is_refused("run", VECTADD.path, "--size", f"{self.n}=8", "--in", f"{self.a}=iota", code="run-missing-input", mentions=self.b)

    def test_not_npy(self):
        self.refuse(self.write("a.npy", "1,2,3\n"), mentions="not a .npy file")

    def test_truncated(self):
        name = self.save("a.npy", np.zeros(8, "f4"))
        os.truncate(name, os.path.getsize(name) - 1)
        self.refuse(name, mentions="a.npy")

    def test_wrong_element_type(self):
        self.refuse(self.save("a.npy", np.zeros(8, "f8")), mentions=("float64", "float32"))

    def test_wrong_rank(self):
        self.refuse(self.save("a.npy", np.zeros((8, 1), "f4")), mentions="a.npy")

    def test_sizes_that_disagree(self):
        self.refuse(self.save("a.npy", np.zeros(8, "f4")), self.save("b.npy", np.zeros(9, "f4")), size=None,
                    code="run-size-conflict", mentions=("8", "9"))

    def test_malformed_generators(self):
        for text in ("", "random:x", "random:1:2"):
            with self.subTest(text=text):
                self.refuse(text)

    def test_index_out_of_range(self):
        histogram = next(p for p in PROGRAMS if p.name == "histogram")
        data, bins = histogram.parameters()
        for value in (8, -1, 1 << 30):
            values = np.zeros(100, data.dtype)
            values[77] = value
            with self.subTest(value=value):
                self.is_refused("run", histogram.path, "--in", f"{data.name}={self.save('data.npy', values)}",
                                "--in", f"{bins.name}={self.save('bins.npy', np.zeros(8, bins.dtype))}",
                                "--out", f"{bins.name}={self.path('out.npy')}", mentions=str(value))

    # ---- results ----
    def test_folder_of_the_result_missing(self):
        self.refuse(out=self.path("absent/c.npy"), mentions="absent")

    def test_result_is_a_folder(self):
        self.refuse(out=self.folder)

    def test_disk_full(self):
        self.refuse(out="/dev/full", mentions="No space left")

    def test_file_size_limit_leaves_nothing(self):
        if harness.sanitizer() == "tsan":
            self.skipTest("the thread sanitizer makes a larger file for itself as the program starts")
        script = 'ulimit -f 8; exec "$0" "$@"'
        before = set(os.listdir(self.folder))
        completed = subprocess.run(
            ["bash", "-c", script, harness.options.strata, "run", VECTADD.path, "--size", f"{self.n}=100000",
             "--in", f"{self.a}=iota", "--in", f"{self.b}=iota", "--out", f"{self.c}={self.path('c.npy')}"],
            cwd=self.folder, capture_output=True, timeout=300)
        self.assertEqual(completed.returncode, 1, completed.stderr.decode())
        self.assertIn(b"File too large", completed.stderr)
        self.assertEqual(set(os.listdir(self.folder)), before)

    def test_memory_limits(self):
        def run(kilobytes, *words):
            return subprocess.run(["bash", "-c", f'ulimit -v {kilobytes}; exec "$0" "$@"', harness.options.strata, *words],
                                  cwd=self.folder, capture_output=True, timeout=300)

        def cannot_load(completed):
            """The system ends it before it begins, or the loader or the C library does, or a sanitizer, which wants room of its own."""
            silent = completed.returncode < 0 and not completed.stderr
            who = any(name in completed.stderr for name in (b"Sanitizer", b"Fatal glibc error"))
            return completed.returncode == 127 or who or (silent and harness.sanitizer())

        # The least with which the command can be loaded; from there on small steps first.
        low, loads = 0, 420000
        while loads - low > 250:
            middle = (low + loads) // 2
            if run(middle, "--version").returncode:  # also what the system ends because its segments have no room
                low = middle
            else:
                loads = middle
        limits = [*range(loads, loads + 24000, 1500), *range(loads + 24000, 420000, 10000)]
        for kilobytes in limits:
            completed = run(kilobytes, "run", VECTADD.path, "--size", f"{self.n}=100000", "--machine", "cell",
                            "--in", f"{self.a}=iota", "--in", f"{self.b}=iota", "--threads", "7")
            err = completed.stderr.decode()
            if cannot_load(completed):
                continue
            with self.subTest(kilobytes=kilobytes):
                self.assertIn(completed.returncode, (0, 1), err)
                self.assertEqual(err.count("error["), completed.returncode, err)

    # ---- programs ----
    def program(self, text, arguments=(), **keywords):
        return self.is_refused("run", self.write("p.sq", text), *arguments, **keywords)

    def test_empty_program(self):
        for text in ("", "\n\n", "// nothing\n"):
            self.program(text, code="sequoia-no-task", mentions="the program has no task")

    def test_programs_in_c(self):
        for name in ("p.c", "p.cpp", "p.cc"):
            self.is_refused("run", self.write(name, "int main(void) { return 0; }\n"), code="driver-unknown-notation", mentions="strata cc")

    def test_extents_that_no_size_has(self):
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 9223372036854775807), }".ljust(117) + "\n"
        self.write("zero.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        text = "void task T(in float a[M][N], out float b[M][N]);\nvoid task<leaf> T::L(in float a[M][N], out float b[M][N])\n{\n}\n"
        self.program(text, arguments=("--in", "a=zero.npy"), code="run-size-too-large", mentions="9223372036854775807")

    def test_binary_program(self):
        result = self.strata("check", self.write("p.sq", bytes(range(256)) * 16))
        self.assertEqual(result.status, 1, str(result))

    def test_unfinished_program(self):
        with open(VECTADD.path) as file:
            text = file.read()
        for share in (0.3, 0.6, 0.9):
            result = self.strata("check", self.write("p.sq", text[: int(len(text) * share)]))
            self.assertIn(result.status, (0, 1), str(result))

    def test_deeply_nested_program(self):
        body = "(" * 100000 + "1" + ")" * 100000
        result = self.strata("check", self.write("p.sq", f"void task T(out int x);\nvoid task<leaf> T::Leaf(out int x) {{ x = {body}; }}\n"))
        self.assertEqual(result.status, 1, str(result)[:2000])

    def test_malformed_dialect(self):
        self.is_refused("run", self.write("p.mlir", "module { svm.nonsense }\n"), mentions="p.mlir")


if __name__ == "__main__":
    harness.main()
