"""Programs with dataflow graphs on machines with memories of their own: which parts of arrays move, that results stay, mapping files, and what
is said where a node stays where its arrays are."""

import os
import re
import resource
import subprocess

import harness
import numpy as np
from harness import ROOT

MATRIX = os.path.join(ROOT, "tests/matrix/graphs.c")
MACHINES = ("cell", "cluster", "smp-2level", "cell-disk")
EXAMPLES = ("matrix_product.cpp", "stencil3d.c", "sparse_product.cpp", "histogram.c", "reduction.c", "lattice_boltzmann.c", "breadth_first.cpp",
            "edges.cpp")

# Accesses that boxes do not hold for, or only with some numbers: what a node gives must not depend on it.
AWKWARD = """
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
#define BEGIN(...) __hpvm__hint(CPU_TARGET); __hpvm__attributes(2, from, at, 1, to); void *self = __hpvm__getNode(); \\
  long x = __hpvm__getNodeInstanceID_x(self), y = __hpvm__getNodeInstanceID_y(self), nx = __hpvm__getNumNodeInstances_x(self)
#define GIVEN int *from, size_t fromBytes, int *at, size_t atBytes, int *to, size_t toBytes, long n
/* A row is shorter than what is reached of it. */
void skewed(GIVEN) { BEGIN(); to[y * nx + x] = from[y * n + 3 * x]; __hpvm__return(1, toBytes); }
/* Rows from behind. */
void turned(GIVEN) { BEGIN(); to[y * nx + x] = from[(8 - y) * n + (nx - 1 - x)]; __hpvm__return(1, toBytes); }
/* Every other element is written. */
void spaced(GIVEN) { BEGIN(); to[2 * (y * nx + x)] = from[y * n + x]; __hpvm__return(1, toBytes); }
/* Some are, and some are read. */
void chosen(GIVEN) { BEGIN(); if (from[y * n + x] % 3 == 0) to[y * nx + x] += from[y * n + x]; __hpvm__return(1, toBytes); }
/* All of an array, through another. */
void sought(GIVEN) { BEGIN(); to[y * nx + x] = from[at[(y * nx + x) % 16]]; __hpvm__return(1, toBytes); }
/* A loop within a guard, over a triangle. */
void summed(GIVEN) { BEGIN(); int sum = 0; for (long k = 0; k <= x; ++k) if (k + y < n) sum += from[y * n + k + 1]; to[y * nx + x] = sum; __hpvm__return(1, toBytes); }
/* One instance along y writes. */
void first(GIVEN) { BEGIN(); if (y == 0) to[x] = from[x] + 1; __hpvm__return(1, toBytes); }
/* Where instances write is told by an array. */
void placed(GIVEN) { BEGIN(); to[at[(y * nx + x) % 16] + 16 * (y * nx + x) / 16] = (int)(x + y); __hpvm__return(1, toBytes); }
#define GRAPH(leaf) void graph_##leaf(GIVEN, long nx, long ny) { __hpvm__hint(CPU_TARGET); __hpvm__attributes(2, from, at, 1, to); \\
  void *node = __hpvm__createNodeND(2, leaf, (size_t)nx, (size_t)ny); __hpvm__bindIn(node, 0, 0, 0); __hpvm__bindIn(node, 1, 1, 0); \\
  __hpvm__bindIn(node, 2, 2, 0); __hpvm__bindIn(node, 3, 3, 0); __hpvm__bindIn(node, 4, 4, 0); __hpvm__bindIn(node, 5, 5, 0); __hpvm__bindIn(node, 6, 6, 0); \\
  __hpvm__bindOut(node, 0, 0, 0); }
#define ALL(DO) DO(skewed) DO(turned) DO(spaced) DO(chosen) DO(sought) DO(summed) DO(first) DO(placed)
ALL(GRAPH)
static int from[4096], at[16], to[4096];
static void before(void) {
  for (int i = 0; i < 4096; ++i) from[i] = i * 7 % 1001, to[i] = -i;
  for (int i = 0; i < 16; ++i) at[i] = (i * 5 + 3) % 16;
  llvm_hpvm_track_mem(from, sizeof from); llvm_hpvm_track_mem(at, sizeof at); llvm_hpvm_track_mem(to, sizeof to);
}
static void behind(const char *name, const long *size) {
  llvm_hpvm_request_mem(to, sizeof to);
  unsigned long sum = 0;
  for (int i = 0; i < 4096; ++i) sum = sum * 31 + (unsigned)to[i];
  printf("%s %ld %ld %ld: %lx\\n", name, size[0], size[1], size[2], sum);
  llvm_hpvm_untrack_mem(from); llvm_hpvm_untrack_mem(at); llvm_hpvm_untrack_mem(to);
}
struct __attribute__((packed)) arguments { int *from; size_t fromBytes; int *at; size_t atBytes; int *to; size_t toBytes; long n, nx, ny; size_t result; };
#define RUN(leaf) for (int i = 0; i < 6; ++i) { const long *s = sizes[i]; before(); \\
  struct arguments arguments = {from, sizeof from, at, sizeof at, to, sizeof to, s[2], s[0], s[1], 0}; \\
  __hpvm__wait(__hpvm__launch(0, graph_##leaf, &arguments)); behind(#leaf, s); }
int main(void) {
  static const long sizes[6][3] = {{16, 9, 100}, {7, 5, 50}, {1, 1, 1}, {0, 3, 8}, {100, 4, 8}, {31, 8, 200}};
  __hpvm__init();
  ALL(RUN)
  __hpvm__cleanup();
}
"""


class MachineTest(harness.Case):
    def build(self, source, machine, *words, name="program", **environment):
        return self.succeeds("cc", "-O2", source, "-o", name, "--machine=" + machine, *words, **environment)

    def output(self, *words, status=0, **environment):
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=600, env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout if status == 0 else done.stderr


class Results(MachineTest):
    def test_examples(self):
        for number, example in enumerate(EXAMPLES, 1):
            source = os.path.join(ROOT, "examples/hpvm", example.split(".")[0], example)
            self.succeeds("c++" if example.endswith("pp") else "cc", "-O2", "-c", source, "-o", "example.o")
            for machine in harness.in_turn(MACHINES, number):
                if example == "edges.cpp" and machine == "cell-disk":  # its main memory is divided among all that is there
                    self.assertIn("hpvm-machine-streaming", self.strata("c++", "example.o", "-o", "example", "-lm", "--machine=" + machine).err)
                    continue
                self.succeeds("c++", "example.o", "-o", "example", "-lm", "--machine=" + machine)
                self.output("./example")

    def test_awkward_accesses(self):
        source = self.write("awkward.c", AWKWARD)
        self.build(source, "host")
        wanted = self.output("./program")
        self.assertEqual(len(wanted.splitlines()), 48)
        for machine in MACHINES:
            self.build(source, machine)
            for threads in ("1", "7"):
                self.assertEqual(self.output("./program", STRATA_THREADS=threads), wanted, machine)

    def test_ir(self):
        source = os.path.join(ROOT, "tests/hpvm/ir/scale.ll")
        self.assertEqual(self.strata("run", source, "--machine", "cell", "--", "5").out, self.strata("run", source, "--", "5").out)
        self.assertIn("remark", self.strata("run", os.path.join(ROOT, "tests/hpvm/ir/stages.ll"), "--remarks", "--", "5").err)
        self.is_refused("check", source, "--map", self.write("m.map", "nodes: [{node: none}]"), code="hpvm-map-node")


class Moves(MachineTest):
    def product(self, m, n, depth):
        given = [np.arange(m * depth, dtype="f4") % 7, np.arange(depth * n, dtype="f4") % 5]
        words = ["--entry", "graph_1"]
        for name, array in zip("ab", given):
            self.save(name + ".npy", array)
            words += ["--in", f"{name}={name}.npy", "--in", f"{name}Bytes={array.nbytes}"]
        self.save("c.npy", np.zeros(m * n, "f4"))
        words += ["--in", "c=c.npy", "--out", "c=out.npy", "--in", f"cBytes={4 * m * n}", "--in", f"n={n}", "--in", f"depth={depth}", "--in", f"m={m}",
                  "--in", "arg9=0"]
        return words, given[0].reshape(m, depth) @ given[1].reshape(depth, n)

    def test_footprints_move(self):
        """Blocks of 32 rows and 16 columns: their rows, their columns, and themselves on the way back; nothing else."""
        mapping = self.write("m.map", "machine: cell\nnodes:\n  - node: multiply\n    processor: spe\n    block: [16, 32]\n")
        self.succeeds("cc", "-O2", MATRIX, "-o", "program", "--map=" + mapping, "--graphs=program.mlir")
        m, n, depth = 100, 50, 33
        words, wanted = self.product(m, n, depth)
        rows = [min(32, m - y) for y in range(0, m, 32)]
        columns = [min(16, n - x) for x in range(0, n, 16)]
        moved = 4 * sum(row * depth + depth * column for row in rows for column in columns)
        said = self.succeeds("run", "program.mlir", *words, "--stats").out
        self.assertIn(f"bytes main -> ls: {moved}\n", said)
        self.assertIn(f"bytes ls -> main: {4 * m * n}\n", said)
        np.testing.assert_array_equal(np.load(self.path("out.npy")).reshape(m, n), wanted)
        self.succeeds("run", "program.mlir", *words, "--check")

    def test_all_machines_agree_with_the_interpreter(self):
        words, wanted = self.product(37, 45, 29)
        for machine in MACHINES:
            self.build(MATRIX, machine, "--graphs=program.mlir")
            self.succeeds("run", "program.mlir", *words, "--check")
            np.testing.assert_array_equal(np.load(self.path("out.npy")).reshape(37, 45), wanted)
        # Tiles may be as large as their share of a memory; what is checked of their elements takes memory for those that are used.
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, 1 << 20)

    def test_variables_and_tables_of_leaves(self):
        """A leaf with an array of its own and tables beside it, written out: the interpreter sees what each instance has for itself."""
        lattice = os.path.join(ROOT, "examples/hpvm/lattice_boltzmann/lattice_boltzmann.c")
        random = np.random.default_rng(9)
        words = ["--entry", "graph_0", "--in", "width=16", "--in", "height=8", "--in", "rate=0.6", "--out", "to=out.npy"]
        for name, array in (("from", random.random(9 * 128)), ("to", np.zeros(9 * 128)), ("solid", (random.random(128) < 0.1).astype("i1"))):
            self.save(name + ".npy", array)
            words += ["--in", f"{name}={name}.npy", "--in", f"{name}Bytes={array.nbytes}"]
        results = set()
        for machine in MACHINES:
            self.build(lattice, machine, "--graphs=program.mlir", "-lm")
            self.succeeds("run", "program.mlir", *words, "--check")
            results.add(np.load(self.path("out.npy")).tobytes())
        self.assertEqual(len(results), 1)
        self.assertTrue(np.load(self.path("out.npy")).all())

    def test_larger_than_a_memory(self):
        with open(os.path.join(ROOT, "machines/cell-disk/machine.yaml")) as file:
            self.write("small.yaml", file.read().replace("capacity: 256M", "capacity: 64K").replace("cell-disk", "small"))
        self.build(MATRIX, "./small.yaml")
        for name in ("a", "b"):
            np.zeros(20000, "f4").tofile(self.path(name))
        self.output("./program", "addition", "2000", "a", "b", "c")
        said = self.output("./program", "addition", "20000", "a", "b", "c", status=1)
        self.assertRegex(said, r"error: 'a' has 20000 elements, and memory 'main' of machine 'small' has room for 2\d\d\d of them \[hpvm-object-size\]")


class Mappings(MachineTest):
    def refused(self, text, code, mentions, machine=None):
        mapping = self.write("m.map", text)
        result = self.strata("cc", "-O2", MATRIX, "-o", "program", "--map=" + mapping, *(["--machine=" + machine] if machine else []))
        self.assertNotEqual(result.status, 0)
        self.assertIn(f"error[{code}]", result.err)
        self.assertIn(mentions, result.err)
        return result.err

    def test_where_the_arrays_are(self):
        mapping = self.write("m.map", "machine: cell\nnodes:\n  - {node: multiply, processor: ppe}\n  - {node: smooth, processor: spe}\n")
        self.succeeds("cc", "-O2", MATRIX, "-o", "program", "--map=" + mapping, "--graphs=program.mlir")
        with open(self.path("program.mlir")) as file:
            text = file.read()
        self.assertNotRegex(text, r'svm\.parallel "multiply\.\d+@ls"')
        self.assertRegex(text, r'svm\.parallel "smooth\.\d+@ls"')

    def test_environment(self):
        mapping = self.write("m.map", "nodes: [{node: multiply, processor: core, block: [4, 4]}]")
        self.succeeds("cc", "-O2", MATRIX, "-o", "program", STRATA_MAP=mapping, STRATA_MACHINE="cluster", STRATA_GRAPHS=self.path("g.mlir"))
        self.assertTrue(os.path.exists(self.path("g.mlir")))

    def test_what_is_wrong(self):
        self.assertIn("m.map:2:12", self.refused("nodes:\n  - {node: multiple}\n", "hpvm-map-node", "'multiple', which no graph has"))
        self.refused("machine: cell\nnodes: [{node: multiply, processor: gpu}]", "hpvm-map-processor", "there are: 'spe', 'ppe'")
        self.refused("machine: cell\nnodes: [{node: multiply, block: [4, 4, 4]}]", "hpvm-map-block", "3 dimension(s) to node 'multiply', which has 2")
        self.refused("nodes: [{node: multiply}, {node: multiply}]", "map-node-twice", "mapped twice")
        self.refused("nodes: [{node: multiply, blocks: [4]}]", "machine-unknown-field", "blocks")
        self.refused("nodes: [{node: multiply, block: [0]}]", "machine-bad-value", "from 1 to 999999999")
        self.refused("nodes: [", "machine-bad-yaml", "")
        self.refused("machine: nowhere", "machine-not-found", "nowhere")
        self.refused("machine: cell", "hpvm-map-machine", "for machine 'cell', and this is 'cluster'", machine="cluster")
        result = self.strata("cc", MATRIX, "-o", "program", "--map=none.map")
        self.assertIn("hpvm-map-unreadable", result.err)
        result = self.strata("cc", MATRIX, "-o", "program", "--graphs=" + self.path("no/folder/g.mlir"))
        self.assertIn("link-not-written", result.err)

    def test_what_cannot_move(self):
        source = self.write("awkward.c", AWKWARD)
        said = self.build(source, "cell", STRATA_REMARKS="1").err
        self.assertEqual(re.findall(r"remark\[hpvm-not-moved\]: node '(\w+)'", said), ["placed"])
        self.assertIn("awkward.c:23:", said)
        mapping = self.write("m.map", "machine: cell\nnodes: [{node: placed, processor: spe}]")
        result = self.strata("cc", source, "-o", "program", "--map=" + mapping)
        self.assertIn("error[hpvm-map-refused]: the mapping has node 'placed' run on 'spe'", result.err)


if __name__ == "__main__":
    harness.main()
