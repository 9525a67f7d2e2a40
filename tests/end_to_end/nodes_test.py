"""The example programs on the machines 'cluster' and 'ranks' over several processes (--nodes): the same bits and the same figures as in one, whatever
their number. What cannot be spread is refused; what breaks a rule in another process is told as it is in one, and what is printed there
comes in its order. With --brief: every fourth Sequoia program, and some of the others."""

import json
import os
import re
import signal
import subprocess
import time

import harness
import hbir_programs
import numpy as np
import pla_programs
import programs
from several_processes import ENVIRONMENT, MPIRUN, PICK, require_mpi

EXAMPLES = os.path.join(harness.ROOT, "examples")
VECTADD = os.path.join(EXAMPLES, "sequoia/vectadd/vectadd.sq")

IN_C = {"f.sq": """void task F(in int at[N], inout int y[N]);
void task<inner> F::Cut(in int at[N], inout int y[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) {
    F(at[i * block; block], y[i * block; block]);
  }
}
void task<ext> F::L(in int at[N], inout int y[N]);
""", "f.map": """#include "cluster"
task F: entrypoint(Cut) {
  instance Cut::Cut(level 2) {
    tunable block = 500;
    control(level 2) {
      loop i(level 1) { spmd { fullrange = 0,4; ways = 4; iterblk = 1; } }
      callsite F() { target Leaf() { } }
    }
  }
  instance Leaf::L(level 0) external("f.c") { }
}
""", "f.c": """#include "sequoia_ext.h"
#include <stdlib.h>
void Leaf(sqArray_t *at, sqArray_t *y) {
  for (int i = 0; i < 500; i++) {
    int which = *(int *)sqElmt1D(at, i);
    *(int *)sqElmt1D(y, i) += 7;
    if (which == 2)
      *(volatile int *)8 = 3;
    if (which == 4)
      abort();
  }
}
"""}

MAIN = """#include "vectadd.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long count;
static void* add(void* of) {
  float *a = of, *b = a + count, *c = b + count;
  AddVectors_Split(count, a, b, c);
  return 0;
}
int main(int argc, char** argv) {
  count = atol(argv[1]);
  float* all[3];
  for (long t = 0; t < 3; ++t) {
    all[t] = malloc(3 * count * sizeof(float) + 1);
    for (long i = 0; i < 2 * count; ++i)
      all[t][i] = i % 1000 + t;
  }
  pthread_t other[2];
  for (long t = 0; t < 2; ++t)
    pthread_create(&other[t], 0, add, all[t]);
  add(all[2]);
  for (long t = 0; t < 2; ++t)
    pthread_join(other[t], 0);
  for (long t = 0; t < 3; ++t) {
    double sum = 0;
    for (long i = 0; i < count; ++i)
      sum += all[t][2 * count + i] * (i % 7 + 1);
    printf("%ld: %.0f\\n", t, sum);
  }
  char line[100];
  if (fgets(line, sizeof line, stdin))
    printf("read %s", line);
  return argc > 2 ? atoi(argv[2]) : 0;
}
"""


def bits(got):
    return {name: (array.dtype.str, array.tobytes()) for name, array in got.items()}


def figures(result):
    """What --stats says, without times and what each process takes."""
    return [line for line in result.out.splitlines() if " on cluster: " not in line and " process " not in line]


class Nodes(harness.Case):
    def setUp(self):
        super().setUp()
        require_mpi(self)

    def compare(self, name, run, counts):
        alone = bits(run())
        for count in counts:
            with self.subTest(program=name, nodes=count):
                self.assertEqual(bits(run("--nodes", count)) == alone, True, f"{name}: other bits in {count} processes")

    def test_sequoia(self):
        for number, program in enumerate(programs.PROGRAMS):
            if number % harness.less(4, 1):
                continue
            for machine in harness.in_turn([m for m in ("cluster", "ranks") if m not in program.but_not], number // 4):
                for size in program.sizes[1:2] if harness.options.brief else program.sizes:
                    given = program.make(size)
                    self.compare(f"{program.name} {size} on {machine}", lambda *more: programs.run(self, program, given, "--machine", machine, *more),
                                 (2 + number % 3,) if harness.options.brief else (2, 3, 4))

    def test_hbir(self):
        for number, program in enumerate(hbir_programs.programs()):
            if number % harness.less(4, 1):  # of three forms each
                continue
            size = program.sizes[1]
            given = program.make(size)
            self.compare(f"{program.name} {program.form}", lambda *more: hbir_programs.run(self, program, given, size, "--machine", "cluster", *more),
                         (2 + number % 3,))

    def test_loops(self):
        for number, program in enumerate(pla_programs.programs()):
            if number % harness.less(5, 1):
                continue
            size = program.sizes[1]
            given = program.make(size)
            self.compare(program.name, lambda *more: pla_programs.run(self, program, given, size, "--machine", "cluster", *more), (2 + number % 3,))

    def test_figures_and_repetitions(self):
        """Counted is what happens, wherever; arrays that are added to begin anew each time."""
        matmul = os.path.join(EXAMPLES, "sequoia/matmul/matmul.sq")
        words = ("run", matmul, "--machine", "cluster", "--size", "M=70,N=90,P=130", "--in", "A=random", "--in", "B=random:2", "--in", "C=random:3",
                 "--out", "C=c.npy", "--stats", "--repeat", "3")
        alone = self.succeeds(*words)
        expected = np.load(self.path("c.npy"))
        for more in (("--nodes", "2"), ("--nodes", "4", "--threads", "1"), ("--nodes", "3", "--threads", "3")):
            spread = self.succeeds(*words, *more)
            processes = re.findall(r"peak memory of process (\d): (\d+)", spread.out)
            self.assertEqual([number for number, _ in processes], [str(each) for each in range(int(more[1]))])
            self.assertTrue(all(int(taken) > 1 << 20 for _, taken in processes), processes)
            self.assertEqual(figures(spread), figures(alone))
            self.assertTrue((np.load(self.path("c.npy")) == expected).all())

    def between_nodes(self, *words):
        """Bytes that go from node to node in a run, beside those with which arrays are distributed and gathered."""
        found = dict(re.findall(r"^ +(bytes [^:]+): (\d+)$", self.succeeds(*words, "--stats").out, re.MULTILINE))
        return int(found["bytes across memory"]) - sum(int(found[each]) for each in ("bytes home -> space", "bytes space -> home"))

    def test_what_goes_between_nodes(self):
        """As many bytes as the algorithms have: the panels of the other row and column of nodes, the rows or layers at borders."""
        matmul, heat, heat3d = (os.path.join(EXAMPLES, "sequoia", each) for each in ("matmul", "heat", "heat3d"))
        words = ("run", os.path.join(matmul, "matmul.sq"), "--map", os.path.join(matmul, "cluster-summa.map"), "--size", "M=2048,N=2048,P=768", "--in", "A=iota",
                 "--in", "B=1")
        for more in ((), ("--nodes", "4")):
            self.assertEqual(self.between_nodes(*words, *more), 4 * (2048 * 768 + 768 * 2048))

        def border(total, block):
            """How many rows are read and how many are written by another node than they lie in, where each has eight blocks in a row."""
            share, read, written = -(-total // 4), 0, 0
            for number, first in enumerate(range(1, total - 1, block)):
                last = min(first + block, total - 1)
                read += sum(row // share != number // 8 for row in range(first - 1, last + 1))
                written += sum(row // share != number // 8 for row in range(first, last))
            return read, written

        read, written = border(2050, 64)
        words = ("run", os.path.join(heat, "heat.sq"), "--map", os.path.join(heat, "cluster.map"), "--size", "M=2050,N=66", "--in", "pairs=2", "--in",
                 "a=random:1", "--in", "b=random:1")
        for more in ((), ("--nodes", "4")):
            self.assertEqual(self.between_nodes(*words, *more), 4 * 4 * (read * 66 + written * 64))
        read, written = border(258, 8)
        words = ("run", os.path.join(heat3d, "heat3d.sq"), "--map", os.path.join(heat3d, "cluster.map"), "--size", "L=258,M=34,N=66", "--in", "pairs=2",
                 "--in", "a=random:1", "--in", "b=random:1")
        for more in ((), ("--nodes", "4")):
            self.assertEqual(self.between_nodes(*words, *more), 4 * 4 * (read * 2 * 18 * 66 + written * 32 * 64))

    def test_where_it_lies(self):
        """Where tiles lie in the memory of their own processor, they are worked on there: what is copied are those at the borders."""
        heat = os.path.join(EXAMPLES, "sequoia/heat")
        words = ("run", os.path.join(heat, "heat.sq"), "--map", os.path.join(heat, "ranks.map"), "--size", "M=2050,N=66", "--in", "pairs=2", "--in",
                 "a=random:1", "--in", "b=random:2", "--out", "b=b.npy", "--stats")
        self.succeeds(*words[:2], *words[4:], "--machine", "host")
        expected = np.load(self.path("b.npy"))
        # By tiles: rows of the array that are read and written, and whether one processor has them.
        copied, in_place, share = 0, 0, [row // 257 for row in range(2050)]
        between = {}  # bytes from process to process, of two
        for number, first in enumerate(range(1, 2049, 32)):
            last = min(first + 32, 2049)
            for begin, end, columns, reads in ((first - 1, last + 1, 66, True), (first, last, 64, False)):
                is_own = all(share[row] == number // 8 for row in range(begin, end))
                in_place += is_own * (end - begin) * columns
                copied += (not is_own) * (end - begin) * columns
                for row in range(begin, end):
                    here, there = number // 8 // 4, share[row] // 4
                    if here != there:
                        way = f"{there} -> {here}" if reads else f"{here} -> {there}"
                        between[way] = between.get(way, 0) + 4 * 4 * columns
        for more in ((), ("--nodes", "2"), ("--nodes", "7", "--threads", "2")):
            result = self.succeeds(*words, *more)
            self.assertEqual((np.load(self.path("b.npy")) == expected).all(), True)
            found = {name: int(bytes) for name, bytes in re.findall(r"^ +bytes ([^:]+): (\d+)$", result.out, re.MULTILINE)}
            self.assertEqual(found["in place memory"], 4 * 4 * in_place)
            if more[1:2] == ("2",):  # what is given and written goes from and to files, without another process
                self.assertEqual({way: found.get(f"process {way}", 0) for way in ("0 -> 1", "1 -> 0")}, between)
                self.assertEqual(set(re.findall(r"^ +(\w+) process", result.out, re.MULTILINE)), {"bytes", "copies", "messages", "microseconds"})
            self.assertEqual(found["within memory"] + found["across memory"] - found["home -> space"] - found["space -> home"], 4 * 4 * copied)

    def test_parts_follow_the_arrays(self):
        """By default a processor takes neighbouring iterations, as it has neighbouring elements: little goes between processes."""
        told = self.succeeds("run", VECTADD, "--machine", "ranks", "--nodes", "2", "--size", "N=1000000", "--in", "A=random", "--in", "B=random", "--stats").out
        between = sum(int(bytes) for bytes in re.findall(r"bytes process \d -> \d: (\d+)", told))
        self.assertLess(between, 12000000 // 20, told)
        # Tiles are no larger than a cache, so that most of them lie in one processor's share.
        told = self.succeeds("run", os.path.join(EXAMPLES, "sequoia/heat/heat.sq"), "--machine", "ranks", "--size", "M=2050,N=1030", "--in", "pairs=1", "--in",
                             "a=1", "--in", "b=2", "--stats").out
        found = {name: int(bytes) for name, bytes in re.findall(r"^ +bytes ([^:]+): (\d+)$", told, re.MULTILINE)}
        self.assertGreater(2 * found["in place memory"], found["space -> memory"] + found["memory -> space"], told)

    def test_seeing_all_processes(self):
        """A trace has the rows of all processes, with a message to and from each part that another one runs; figures tell what went between."""
        words = ("run", os.path.join(EXAMPLES, "sequoia/matmul/matmul.sq"), "--machine", "ranks", "--size", "M=300,N=200,P=100", "--in", "A=1", "--in", "B=2", "--in",
                 "C=3", "--threads", "1", "--nodes", "3")
        self.succeeds(*words, "--trace", "run.json", "--timeline", "run.html", "--stats=json:stats.json", "--out", "C=c.npy")
        self.assertEqual((np.load(self.path("c.npy")) == 203).all(), True)
        with open(self.path("run.json")) as file:
            trace = json.load(file)
        runs = [each for each in trace["traceEvents"] if each["ph"] == "X" and each["cat"] == "run" and each["name"] == "Product_Rows"]
        self.assertEqual({each["args"]["process"] for each in runs}, {0, 1, 2})
        for each in runs:  # of eight processors
            self.assertEqual(each["tid"] * 3 // 8, each["args"]["process"])
        ends = {}
        for each in trace["traceEvents"]:
            if each["ph"] in "sf":
                ends.setdefault(each["id"], {})[each["ph"]] = each
        self.assertGreaterEqual(len(ends), 4)
        for both in ends.values():
            # The clocks of processes of one computer are one.
            self.assertLess(both["s"]["ts"], both["f"]["ts"])
        ways = {(each["from"], each["to"]): each for each in trace["processes"]}
        self.assertGreater(ways[0, 1]["messages"], 0)
        self.assertGreater(ways[2, 0]["messages"], 0)
        with open(self.path("stats.json")) as file:
            stats = json.load(file)
        self.assertEqual(set(stats["waits"]), {"0", "1", "2"})
        self.assertEqual({(each["from"], each["to"]) for each in stats["processes"]}, set(ways))
        self.assertFalse([way for way in stats["bytes"] if "process" in way])
        with open(self.path("run.html")) as file:
            page = file.read()
        self.assertIn("rank 7 (process 2)", page)
        self.assertIn("Between processes", page)
        self.succeeds("show", "run.json", "-o", "again.html")

    def peaks(self, result):
        return [int(taken) for _, taken in re.findall(r"peak memory of process (\d): (\d+)", result.out)]

    def test_no_process_holds_an_array(self):
        """Files are read and written by each process for its part, and what is generated is generated there."""
        size = 12000000  # an array takes more than what differs from run to run: code that is read in, buffers of the system's
        words = ("run", VECTADD, "--machine", "cluster", "--stats")
        small = self.peaks(self.succeeds(*words, "--size", "N=100", "--in", "A=iota", "--in", "B=iota", "--nodes", "4"))
        share = 3 * size * 4 // 4
        self.save("a.npy", np.random.default_rng(5).random(size, dtype="f4"))
        for given in (("A=a.npy", "B=a.npy"), ("A=a.npy", "B=random:9")):
            more = ("--size", f"N={size}", "--in", given[0], "--in", given[1], "--out", "C=c.npy")
            self.succeeds(*words, *more)
            whole = np.load(self.path("c.npy")).tobytes()
            os.remove(self.path("c.npy"))
            for count in (2, 4):
                with self.subTest(given=given, count=count):
                    taken = self.peaks(self.succeeds(*words, *more, "--nodes", count))
                    self.assertEqual(np.load(self.path("c.npy")).tobytes() == whole, True)
                    os.remove(self.path("c.npy"))
                    for here, least in zip(taken, small):
                        self.assertLess(here, least + share * 4 // count + (32 << 20))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npy"])

    def test_by_mpi_alone(self):
        """Also between processes of one computer, where the system could copy."""
        words = ("run", os.path.join(EXAMPLES, "sequoia/cg/cg.sq"), "--machine", "cluster", "--in", "steps=2", "--in", "column=random:1:0:3001",
                 "--in", "value=random", "--in", "b=random", "--in", "x=1", "--size", "M=3001", "--out", "x=x.npy", "--stats=json:stats.json")
        self.succeeds(*words)
        expected = np.load(self.path("x.npy")).tobytes()
        for count in (2, 3):
            self.succeeds(*words, "--nodes", count, STRATA_MPI_ONLY="1")
            self.assertEqual(np.load(self.path("x.npy")).tobytes() == expected, True)
        self.assertEqual(sorted(os.listdir(self.folder)), ["stats.json", "x.npy"])
        with open(self.path("stats.json")) as file:
            self.assertEqual(sorted(json.load(file)["peak_memory"]), ["0", "1", "2"])

    def test_files_that_others_do_not_find(self):
        """A failure while process 0 still sends, which waits for who takes it."""
        for name in ("here", "there"):
            os.mkdir(self.path(name))
        self.save("here/a.npy", np.arange(1000, dtype="f4"))
        words = [harness.options.strata, "run", VECTADD, "--machine", "cluster", "--in", "A=a.npy", "--in", "B=2", "--out", "C=c.npy"]
        each = [["-n", "1", "-wdir", self.path(name), *words] for name in ("here", "there")]
        for only, status in (("1", 1), ("0", 0)):  # as on two computers, and on one
            done = subprocess.run([MPIRUN, "--oversubscribe", "-x", "STRATA_MPI_ONLY", *each[0], ":", *each[1]], cwd=self.folder,
                                  env=dict(ENVIRONMENT, STRATA_MPI_ONLY=only), capture_output=True, text=True, timeout=600)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stderr.count("runtime-ranks-data"), status, done.stderr)
            self.assertEqual(sorted(os.listdir(self.path("here"))), ["a.npy"] if status else ["a.npy", "c.npy"])
        self.assertTrue((np.load(self.path("here/c.npy")) == np.arange(1000) + 2).all())

    def test_forms_of_arrays(self):
        matmul = os.path.join(EXAMPLES, "sequoia/matmul/matmul.sq")
        random = np.random.default_rng(6)
        a, b, c = (random.random(shape, dtype="f4") for shape in ((70, 130), (130, 90), (70, 90)))
        self.save("a.npy", a)
        np.save(self.path("columns.npy"), np.asfortranarray(a))
        self.save("b.npy", b)
        self.save("c.npy", c)
        words = ("run", matmul, "--machine", "cluster", "--in", "B=b.npy", "--in", "C=c.npy", "--out", "C=out.npy", "--repeat", "3")
        self.succeeds(*words, "--in", "A=a.npy")
        expected = np.load(self.path("out.npy")).tobytes()
        for name in ("a.npy", "columns.npy"):
            os.remove(self.path("out.npy"))
            self.succeeds(*words, "--in", f"A={name}", "--nodes", "3")
            self.assertEqual(np.load(self.path("out.npy")).tobytes() == expected, True)
        # In place: what is read is replaced when all is done.
        self.succeeds("run", matmul, "--machine", "cluster", "--in", "A=a.npy", "--in", "B=b.npy", "--in", "C=c.npy", "--out", "C=c.npy", "--nodes", "4")
        self.assertEqual(np.load(self.path("c.npy")).tobytes() == expected, True)
        # Through a pipe.
        done = subprocess.run([harness.options.strata, *words[:4], "--in", "A=a.npy", "--in", "B=b.npy", "--in", "C=2", "--out", "C=/dev/stdout", "--nodes", "2"],
                              cwd=self.folder, capture_output=True, timeout=600)
        self.assertEqual((done.returncode, done.stdout.count(b"NUMPY")), (0, 1), done.stderr)

    def test_what_is_printed(self):
        groups = os.path.join(EXAMPLES, "hbir/groups/groups.hbir")
        words = ("run", groups, "--machine", "cluster", "--in", "A=iota")
        lines = [line for line in self.succeeds(*words).out.splitlines() if " on cluster: " not in line]
        spread = [line for line in self.succeeds(*words, "--nodes", "4").out.splitlines() if " on cluster: " not in line]
        self.assertEqual(spread, lines)

    def test_a_failure_in_another_process(self):
        self.write("pick.sq", PICK)
        at = np.arange(4000, dtype="i4") % 100
        at[3500] = 777
        self.save("at.npy", at)
        words = ("run", "pick.sq", "--machine", "cluster", "--in", "at=at.npy", "--in", "x=iota", "--in", "y=1", "--size", "M=100", "--out", "y=y.npy")
        alone = self.is_refused(*words, code="index-out-of-range", mentions="pick.sq:12:21")
        spread = self.is_refused(*words, "--nodes", "4", code="index-out-of-range", mentions="pick.sq:12:21")
        # A process that reads another one's memory as that ends is told of by Open MPI.
        self.assertEqual("".join(re.findall(r"^(?!\[\S+:\d+\] ).*\n", spread.err, re.MULTILINE)), alone.err)
        at[3500] = 77
        self.save("at.npy", at)
        self.succeeds(*words, "--nodes", "4")
        self.assertTrue((np.load(self.path("y.npy")) == 1 + at).all())

    def test_functions_in_c(self):
        for name, text in IN_C.items():
            self.write(name, text)
        words = ("run", "f.sq", "--machine", "cluster", "--map", "f.map", "--in", "at=at.npy", "--in", "y=1", "--out", "y=y.npy", "--nodes", "4")
        for which, code in ((0, None), (2, "runtime-null-pointer"), (4, "runtime-abort")):
            for element in (100, 1700):  # in the first process, and in the last one
                at = np.zeros(2000, "i4")
                at[element] = which
                self.save("at.npy", at)
                with self.subTest(code=code, element=element):
                    if code:
                        self.is_refused(*words, code=code)
                        continue
                    self.succeeds(*words)
                    self.assertTrue((np.load(self.path("y.npy")) == 8).all())
                    os.remove(self.path("y.npy"))

    def test_refusals(self):
        data = ("--size", "N=9", "--in", "A=1", "--in", "B=2")
        self.is_refused("run", VECTADD, "--machine", "host", *data, "--nodes", "2", code="nodes-machine", mentions="process: true")
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, "--nodes", "5", code="nodes-machine", mentions=["machine.yaml", "4 of 'node'"])
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, "--nodes", "0", code="driver-usage", mentions="1 to 65536")
        self.is_refused("run", VECTADD, "--machine", "cluster", "--in", "A=1", "--nodes", "3", code="run-missing-size")
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, "--nodes", "2", "--interpret", code="driver-usage", mentions="one process")
        self.is_refused("run", "nosuch.sq", "--machine", "cluster", "--nodes", "2", code="driver-cannot-read", mentions="strata run nosuch.sq")
        done = subprocess.run([MPIRUN, "--oversubscribe", "-n", "2", harness.options.strata, "run", VECTADD, "--machine", "cluster", *data, "--nodes", "4"],
                              env=ENVIRONMENT, capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr.count("nodes-count")), (1, 1), done.stderr)
        # What is left of a run's environment makes no process one of several.
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, code="nodes-no-mpi", mentions="this one only", OMPI_COMM_WORLD_SIZE="3")
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, "--nodes", "2", "--starter", "nosuch --x", code="nodes-no-mpi", mentions=["'nosuch'", "--starter"])
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, "--nodes", "2", "--starter", "'", code="nodes-no-mpi", mentions="--starter")
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, "--starter", "mpirun", code="driver-usage", mentions="--nodes")
        self.is_refused("run", VECTADD, "--machine", "cluster", *data, "--nodes", "2", code="nodes-no-mpi", mentions="openmpi-bin", PATH="/nowhere")
        wrong = self.write("m.yaml", self.succeeds("machine", "cluster").out.replace("machine: cluster", "machine: m").replace(
            "  - name: front\n    kind: control\n", "  - name: front\n    kind: control\n    process: true\n"))
        self.is_refused("machine", wrong, code="machine-process", mentions="so are")

    @staticmethod
    def has_joined(pid):
        """Whether a process has reserved the addresses that all share, which it does after MPI has begun: mpirun waits for ever for one that
        is killed while it begins."""
        try:
            with open(f"/proc/{pid}/maps") as file:
                return "\n20000000" in file.read()
        except OSError:
            return False

    def processes(self):
        """The processes that work in this test's folder, by their rank; those that have none by -1."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd") != os.path.realpath(self.folder):
                    continue
                with open(f"/proc/{pid}/environ") as file:
                    rank = re.search(r"\bOMPI_COMM_WORLD_RANK=(\d+)", file.read())
                found.setdefault(int(rank[1]) if rank else -1, []).append(int(pid))
            except OSError:  # it has ended meanwhile
                continue
        return found

    def test_processes_that_are_ended(self):
        matmul = os.path.join(EXAMPLES, "sequoia/matmul/matmul.sq")
        words = [harness.options.strata, "run", matmul, "--machine", "cluster", "--size", "M=70,N=90,P=130", "--in", "A=random", "--in", "B=random:2",
                 "--nodes", "2", "--repeat", "1000000", "--out", "C=c.npy"]
        for what, status, says in ((lambda run, ranks: os.kill(ranks[1][0], signal.SIGKILL), 1, "nodes-ended"),
                                   (lambda run, ranks: run.send_signal(signal.SIGTERM), -signal.SIGTERM, ""),
                                   (lambda run, ranks: run.send_signal(signal.SIGINT), -signal.SIGINT, "")):
            with self.subTest(says=says, status=status):
                run = subprocess.Popen(words, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                ranks = {}
                while not all(any(self.has_joined(pid) for pid in ranks.get(rank, [])) for rank in (0, 1)):
                    self.assertIsNone(run.poll(), "it has ended by itself")
                    time.sleep(0.05)
                    ranks = self.processes()
                what(run, ranks)
                told = run.communicate(timeout=600)[1]
                self.assertEqual(run.returncode, status, told)
                self.assertIn(says, told)
                while self.processes():  # which the starter ends
                    time.sleep(0.05)
                self.assertEqual(os.listdir(self.folder), [])

    def started(self, count, *words, **more):
        return subprocess.run([MPIRUN, "--oversubscribe", "-q", "-n", str(count), *words], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=600, **more)

    def test_programs_with_a_main(self):
        """The main runs once, whatever the number of processes; its calls come from several threads."""
        self.write("main.c", MAIN)
        self.write("main.cpp", MAIN.replace("float *a = of", "float *a = (float*)of").replace("= malloc", "= (float*)malloc"))
        built = ("--machine", "cluster", "--interface", "plain")
        for main in ("main.c",) if harness.options.brief else ("main.c", "main.cpp"):
            self.succeeds("build", VECTADD, "--main", main, *built, "-o", "prog")
            for size in ("10007", "0", "3"):
                alone = subprocess.run(["./prog", size, "7"], cwd=self.folder, input="a word\n", capture_output=True, text=True, timeout=600)
                self.assertEqual((alone.returncode, alone.stderr), (7, ""))
                self.assertEqual(alone.stdout.splitlines()[3:], ["read a word"])
                for count in (2, 4):
                    with self.subTest(main=main, size=size, count=count):
                        spread = self.started(count, "./prog", size, input="a word\n")
                        self.assertEqual((spread.returncode, spread.stdout, spread.stderr), (0, alone.stdout, ""))
        spread = self.started(3, "./prog", "50", "7")
        self.assertEqual(spread.returncode, 7, spread.stderr)
        run = self.strata("run", VECTADD, "main.c", *built, "--nodes", "3", "--", "3", "7")
        self.assertEqual((run.status, run.out.splitlines()), (7, alone.stdout.splitlines()[:3]), run.err)
        done = self.started(5, "./prog", "3")
        self.assertEqual((done.returncode, done.stderr.count("[nodes-machine]")), (1, 1), done.stderr)
        self.is_refused("run", VECTADD, "main.c", "--machine", "host", "--interface", "plain", "--nodes", "2", "--", "3", code="nodes-machine")
        self.is_refused("run", VECTADD, "main.c", *built, "--nodes", "5", "--", "3", code="nodes-machine", mentions="4 of 'node'")

    def test_programs_with_a_main_that_fail(self):
        self.write("pick.sq", PICK)
        main = """#include "pick.h"
int main(int argc, char** argv) {
  static int at[4000];
  static float x[100], y[4000];
  at[argc > 1 ? 3500 : 0] = argc > 1 ? 777 : 7;
  Pick_Cut(4000, 100, at, x, y);
  return 0;
}
"""
        self.write("main.c", main)
        self.succeeds("build", "pick.sq", "--main", "main.c", "--machine", "cluster", "--interface", "plain", "-o", "pick")
        self.assertEqual(self.started(4, "./pick").returncode, 0)
        alone = subprocess.run(["./pick", "wrong"], cwd=self.folder, capture_output=True, text=True, timeout=600)
        spread = self.started(4, "./pick", "wrong")
        self.assertEqual((alone.returncode, spread.returncode), (1, 1))
        self.assertIn("pick.sq:12:21: error: ", alone.stderr)
        self.assertIn(alone.stderr, spread.stderr)
        # Another program: one of the two is not the one that leads.
        self.write("main.c", main.replace("777", "778"))
        self.succeeds("build", "pick.sq", "--main", "main.c", "--machine", "cluster", "--interface", "plain", "-o", "other")
        mixed = self.started(1, "./pick", ":", "-n", "1", "./other")
        self.assertEqual((mixed.returncode, mixed.stderr.count("[nodes-other-program]")), (1, 1), mixed.stderr)
        while self.processes():
            time.sleep(0.05)

    def test_addresses_that_are_not_to_be_had(self):
        limited = ["bash", "-c", "ulimit -v 20000000; exec \"$@\"", "bash", harness.options.strata, "run", VECTADD, "--machine", "cluster", "--size", "N=9",
                   "--in", "A=1", "--in", "B=2", "--nodes", "2"]
        done = subprocess.run(limited, cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("nodes-cannot-join", done.stderr)

    def test_started_by_mpirun(self):
        done = subprocess.run([MPIRUN, "--oversubscribe", "-n", "3", harness.options.strata, "run", VECTADD, "--machine", "cluster", "--size", "N=5000",
                               "--in", "A=iota", "--in", "B=1", "--out", "C=c.npy"], cwd=self.folder, env=ENVIRONMENT, capture_output=True, text=True,
                              timeout=600)
        self.assertEqual((done.returncode, done.stdout.count(" on cluster: ")), (0, 1), done.stderr)
        self.assertTrue((np.load(self.path("c.npy")) == np.arange(5000) + 1).all())


if __name__ == "__main__":
    harness.main()
