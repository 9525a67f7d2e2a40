"""Gathers and scatters of mapped programs in the dialect, with the command: on a disk and between memories, the figures and traces they
leave, and what is the same when the program is emitted and run again. And streams whose mapping names a memory or FIFOs."""

import json
import os

import harness
import numpy as np

PROGRAMS = os.path.join(harness.ROOT, "tests/conformance/programs")
SIZES = ("--size", "N=40,M=3,K=600")
INDICES = (np.arange(600) * 11 % 40).astype("i4")
A = np.arange(120, dtype="f4").reshape(40, 3)


class Gathers(harness.Case):
    def program(self, machine, mapping):
        """The program of gather_dealt.mlir, mapped to another machine."""
        with open(os.path.join(PROGRAMS, "gather_dealt.mlir")) as file:
            text = file.read()
        begin, end = text.index("module attributes"), text.index("svm.kernel")
        head = f'module attributes {{svm.machine = "{machine}", svm.mapping = {{windows = {{{mapping}}}}}}} {{\n'
        return self.write("p.mlir", text[:begin] + head + text[end:])

    def run_program(self, program, *words):
        self.save("i.npy", INDICES)
        self.save("a.npy", A)
        self.save("b.npy", -np.ones((40, 3), "f4"))
        result = self.succeeds("run", program, *SIZES, "--in", "A=a.npy", "--in", "I=i.npy", "--in", "B=b.npy", "--out", "B=out.npy", *words)
        np.testing.assert_array_equal(np.load(self.path("out.npy")), A + 1)
        return result

    MAPPINGS = (
        ("cell-disk", 'control = "ppe", arguments = ["disk", "disk", "disk"], '
         'blocks = {a = "main", i = "disk", b = "disk", far = "disk", near = "main"}', ("main -> disk", 7200 + 7200), ("disk -> disk", 2400 + 480 + 480)),
        ("cluster", 'control = "front", arguments = ["home", "home", "home"], '
         'blocks = {a = "space", i = "space", b = "space", far = "space", near = "home"}', ("space -> space", 7200), ("home -> space", 7200 + 2400 + 960)),
        ("cell", 'control = "ppe", arguments = ["main", "main", "main"], '
         'blocks = {a = "main", i = "ls", b = "main", far = "ls", near = "ls"}, calls = {work = {on = "spe"}}',
         ("main -> ls", 7200 + 2400), ("ls -> main", 7200)),
    )

    def test_every_kind_of_memory(self):
        for machine, mapping, first, last in self.MAPPINGS:
            for threads in harness.thread_counts():
                with self.subTest(machine=machine, threads=threads):
                    program = self.program(machine, mapping)
                    result = self.run_program(program, "--threads", threads, "--stats")
                    # The gather and the scatter are one move each, of 600 rows of 12 bytes.
                    for way, bytes in (first, last):
                        self.assertIn(f"bytes {way}: {bytes}\n", result.out)
                    emitted = self.succeeds("run", program, "--emit=svm")
                    again = self.run_program(self.write("again.mlir", emitted.out), "--threads", threads, "--stats")
                    self.assertEqual(result.out.splitlines()[1:], again.out.splitlines()[1:])

    def test_traces_show_one_move(self):
        for machine, mapping, first, _ in self.MAPPINGS:
            with self.subTest(machine=machine):
                self.run_program(self.program(machine, mapping), "--trace", "trace.json")
                with open(self.path("trace.json")) as file:
                    events = json.load(file)["traceEvents"]
                moves = [event["args"] for event in events if event["ph"] == "X" and "way" in event.get("args", {})]
                self.assertTrue(any(move["way"] == first[0] and move["bytes"] == 7200 for move in moves), moves)
                if machine == "cell":
                    self.assertEqual({move["links"] for move in moves if move["way"] == "main -> ls"}, {"ring"})

    def test_an_index_out_of_range_in_a_memory_of_its_own(self):
        self.save("i.npy", np.where(np.arange(600) == 599, 40, INDICES).astype("i4"))
        self.save("a.npy", A)
        self.save("b.npy", A)
        for machine, mapping, *_ in self.MAPPINGS:
            with self.subTest(machine=machine):
                self.is_refused("run", self.program(machine, mapping), *SIZES, "--in", "A=a.npy", "--in", "I=i.npy", "--in", "B=b.npy",
                                code="index-out-of-range",
                                mentions=["index 40, number 599 of 'i', is outside dimension 0 of 'a', which has 40 elements", "p.mlir:"])

    def test_indices_out_of_reach(self):
        program = self.program("cell", 'control = "ppe", blocks = {far = "main"}, arguments = ["main", "ls", "main"]')
        self.is_refused("run", program, "--emit=scheduled", *SIZES, code="placement-entry-memory")


PIPES = """
machine: pipes
memories:
  - {name: main, capacity: available}
processors:
  - {name: core, kind: core, count: 4, masters: [core]}
fifos:
  - {name: FIFO, count: 8, capacity: 1K, width: 4, writers: [core], readers: [core]}
links:
  - {name: bus, ends: [core, main]}
levels:
  - {level: 0, memory: main, processor: core}
"""


class Streams(harness.Case):
    def setUp(self):
        super().setUp()
        self.machine = ("--machine", self.write("pipes.yaml", PIPES))

    def program(self, streams, capacity=16):
        with open(os.path.join(PROGRAMS, "stream.mlir")) as file:
            text = file.read()
        text = text.replace("arith.constant 16 : index", f"arith.constant {capacity} : index")
        mapping = f'main = {{control = "core", streams = {streams}}}'
        begin = text.index("svm.kernel @produce")
        return self.write("p.mlir", text[:begin] + f'module attributes {{svm.machine = "pipes", svm.mapping = {{{mapping}}}}} {{\n' + text[begin:] + "}\n")

    def test_traces_name_the_stream_that_is_waited_for(self):
        self.succeeds("run", self.program('{q = {fifo = "FIFO"}}'), *self.machine, "--size", "N=1000", "--in", "A=iota",
                      "--threads", "1", "--trace", "trace.json")
        with open(self.path("trace.json")) as file:
            waits = {event["name"] for event in json.load(file)["traceEvents"] if event.get("cat") == "wait"}
        self.assertTrue(waits & {"wait for room in q", "wait for an element of q"}, waits)

    def test_go_through_a_fifo(self):
        program = self.program('{q = {fifo = "FIFO"}}')
        placed = self.succeeds("run", program, *self.machine, "--emit=placed")
        self.assertRegex(placed.out, r'svm\.stream "q" ?\(%\w+\) through @FIFO')
        again = self.succeeds("run", program, *self.machine, "--size", "N=200", "--in", "A=iota", "--out", "B=b.npy")
        np.testing.assert_array_equal(np.load(self.path("b.npy")), np.arange(200, dtype="f4"), str(again))

    def test_what_a_mapping_has_wrong(self):
        for streams, capacity, code, words in (
            ('{r = {fifo = "FIFO"}}', 16, "placement-unknown-label", "stream 'r'"),
            ('{q = {fifo = "FIFOS"}}', 16, "placement-unknown-fifo", "did you mean 'FIFO'?"),
            ('{q = {in = "FIFO"}}', 16, "placement-unknown-memory", "memory 'FIFO'"),
            ('{q = {in = "main", fifo = "FIFO"}}', 16, "placement-stream-places", "memory 'main'"),
            ('{q = {fifo = "FIFO"}}', 257, "placed-fifo-capacity", "stream 'q' wants 1028 for its 257 elements"),
        ):
            with self.subTest(streams=streams, capacity=capacity):
                self.is_refused("run", self.program(streams, capacity), *self.machine, "--size", "N=200", "--in", "A=iota", code=code, mentions=words)
        self.succeeds("run", self.program('{q = {fifo = "FIFO"}}', 256), *self.machine, "--size", "N=200", "--in", "A=iota")

    def test_a_mapping_that_is_none(self):
        self.is_refused("run", self.program('{q = "FIFO"}'), *self.machine, "--size", "N=200", "--in", "A=iota", mentions="streams / q")


if __name__ == "__main__":
    harness.main()
