"""What --check finds in Sequoia programs that no compiler can: blocks that overlap in one call, in a copy or across iterations, indices that a
scatter repeats, reads of what nobody wrote. Each message names both blocks as the program writes them, the iterations, one element and
what to change. And what is checked without --check: ranges, sizes, preconditions, indices. Every rule is broken once and nearly broken once."""

import harness
import numpy as np

TASKS = """void task Copy(in int x[N], out int y[N]);
void task<leaf> Copy::Leaf(in int x[N], out int y[N]) { for (int i = 0; i < N; i++) y[i] = x[i]; }
void task Add(in int x[N], inout int y[N]);
void task<leaf> Add::Leaf(in int x[N], inout int y[N]) { for (int i = 0; i < N; i++) y[i] += x[i]; }
void task Join(in int x[N], inout int y[N]);
void task<leaf> Join::Leaf(in int x[N], inout int y[N]) { for (int i = 0; i < N; i++) y[i] += x[i]; }
void task Tile(in int x[N][M], inout int y[N][M]);
void task<leaf> Tile::Leaf(in int x[N][M], inout int y[N][M]) { for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) y[i][j] += x[i][j]; }
void task Half(in int x[N], out int y[N]);
void task<leaf> Half::Leaf(in int x[N], out int y[N]) { for (int i = 0; i < N / 2; i++) y[i] = x[i]; }
typedef struct { int low; int high; } pair;
void task Split(in int x[N], out pair y[N]);
void task<leaf> Split::Leaf(in int x[N], out pair y[N]) { for (int i = 0; i < N; i++) { y[i].low = x[i] & 7; y[i].high = x[i] >> 3; } }
void task Begin(in int x[N], out int s);
void task<leaf> Begin::Leaf(in int x[N], out int s) { if (N > 100) s = x[0]; }
"""
ARGUMENTS = "(in int k, in int a[N], in int I[N], inout int b[N], inout int c[N][N])"
MAIN = TASKS + f"void task Main{ARGUMENTS};\nvoid task<inner> Main::Go{ARGUMENTS} {{\n  %s\n}}\n"
LINE = MAIN[:MAIN.index("%s")].count("\n") + 1


class SequoiaChecks(harness.Case):
    def run_checked(self, statements, *options, k=4, indices="iota", size=8, check=True):
        return self.strata("run", self.write("p.sq", MAIN % statements), "--entry", "Main", "--size", f"N={size}", "--in", f"k={k}", "--in", "a=iota",
                           "--in", f"I={indices}", "--in", "b=iota", "--in", "c=zeros", *(["--check"] if check else []), *options, timeout=600)

    def finds(self, statements, code, *mentions, **keywords):
        result = self.run_checked(statements, **keywords)
        self.assertEqual(result.status, 1, str(result))
        for text in (f"[{code}]", f"{LINE} |", *mentions):
            self.assertIn(text, result.err, str(result))

    def is_fine(self, statements, **keywords):
        result = self.run_checked(statements, **keywords)
        self.assertEqual((result.status, result.err), (0, ""), str(result))

    def indices(self, *values):
        return self.save("indices.npy", np.array(values, dtype="i4"))

    # ---- blocks of one call ----
    def test_blocks_of_one_call(self):
        self.finds("Add(b[0;4], b[k;4]);", "check-overlap", "'b[0;4]' and 'b[k;4]' are used at once", "element [3] of 'b'",
                   "the second one writes it", "read here", "help: use blocks that share no element", k=3)
        self.is_fine("Add(b[0;4], b[k;4]);", k=4)

    def test_two_outputs_of_one_call(self):
        self.finds("Copy(b[0;4], b[4 - k;4]);", "check-overlap", "element [3] of 'b'", k=1)
        self.is_fine("Add(b[k:8:2;], b[1 - k:8:2;]);", k=0)
        self.finds("Add(b[k:8:2;], b[0:8:2;]);", "check-overlap", "'b[k:8:2;]'", "element [0] of 'b'", k=0)

    def test_inputs_of_one_call_may_overlap(self):
        self.is_fine("Add(a[k;4], b[0;4]); Tile(c[0;2][0;], c[2;2][0;]);")

    def test_parts_of_a_matrix(self):
        self.finds("Tile(c[0;2][k;3], c[1;2][3;3]);", "check-overlap", "element [1, 3] of 'c'", k=2)
        self.is_fine("Tile(c[0;2][k;3], c[1;2][3;3]);", k=0)

    # ---- across iterations ----
    def test_two_iterations_write(self):
        self.finds("mappar (int i = 0 : 3) { Copy(a[i*2;3], b[i*2;3]); }", "check-iteration-overlap",
                   "'b[i*2;3]' with i = 0 and 'b[i*2;3]' with i = 1 share element [2] of 'b'", "both write it", "written here with i = 1",
                   "help: give each iteration elements of its own")
        self.is_fine("mappar (int i = 0 : 3) { Copy(a[i*2;2], b[i*2;2]); }")

    def test_one_reads_what_another_writes(self):
        self.finds("mappar (int i = 0 : k) { Copy(b[i+1;1], b[i;1]); }", "check-iteration-overlap", "'b[i+1;1]' with i = 0",
                   "'b[i;1]' with i = 1", "element [1] of 'b'", "the second one writes it")
        self.is_fine("mappar (int i = 0 : k) { Copy(b[i+4;1], b[i;1]); }")

    def test_a_nest_of_loops(self):
        self.finds("mappar (int i = 0 : 4, int j = 0 : 2) { Tile(c[i;1][j*4;4], c[i;1][j*k + 4;4]); }", "check-iteration-overlap",
                   "'c[i;1][j*k + 4;4]' with i = 0, j = 0", "'c[i;1][j*4;4]' with i = 0, j = 1", "element [0, 4] of 'c'", k=0)
        self.finds("mappar (int i = 0 : 4, int j = 0 : 2) { Tile(c[i;1][j*k;4], c[i;1][j*4;4]); }", "check-overlap", "with i = 0, j = 0",
                   "element [0, 0] of 'c'")
        self.finds("mappar (int i = 0 : 4) { mappar (int j = 0 : 2) { Copy(a[0;4], b[i*k + j*4;4]); } }", "check-iteration-overlap",
                   "with i = 0, j = 0", "with i = 1, j = 0", "element [0] of 'b'", k=0)
        self.is_fine("mappar (int i = 0 : 1) { mappar (int j = 0 : 2) { Copy(a[0;4], b[i*k + j*4;4]); } }", k=0)

    def test_sequential_loops_have_an_order(self):
        self.is_fine("mapseq (int i = 0 : 3) { Copy(a[i*2;3], b[i*2;3]); }")
        self.is_fine("mappar (int i = 0 : 2) { mapseq (int j = 0 : 3) { Copy(a[0;4], b[i*4;4]); } }")
        self.is_fine("mapseq (int j = 0 : 3) { mappar (int i = 0 : 2) { Copy(a[0;4], b[i*4;4]); } }")
        self.finds("mapseq (int j = 0 : 3) { mappar (int i = 0 : 2) { Copy(a[0;4], b[i*j;4]); } }", "check-iteration-overlap", "j = 0, i = 0",
                   "j = 0, i = 1")

    def test_an_element_that_control_reads(self):
        self.finds("mappar (int i = 0 : 4) { Copy(a[b[i];1], b[i+1;1]); }", "check-iteration-overlap", "with i = 0", "with i = 1", "[1] of 'b'")
        self.is_fine("mappar (int i = 0 : 4) { Copy(a[b[i];1], b[i+4;1]); }")

    def test_reductions(self):
        self.is_fine("mapreduce (int i = 0 : 4) { Add(a[i*2;2], reducearg<b[0;2], Join>); }")
        self.finds("mapreduce (int i = 0 : 4) { Add(b[i*2;2], reducearg<b[k;2], Join>); }", "check-iteration-overlap", "'b[k;2]'", "'b[i*2;2]'",
                   "element [4] of 'b'", "through the reduction only")
        self.finds("mappar (int i = 0 : 2) { mapreduce (int j = 0 : 4) { Add(a[j*2;2], reducearg<b[i*k;2], Join>); } }", "check-iteration-overlap",
                   "'b[i*k;2]' with i = 0 and 'b[i*k;2]' with i = 1", "element [1] of 'b'", k=1)
        self.is_fine("mappar (int i = 0 : 2) { mapreduce (int j = 0 : 4) { Add(a[j*2;2], reducearg<b[i*k;2], Join>); } }", k=2)
        self.is_fine("mappar (int i = 0 : 2) { mapreduce (int j = 0 : k) { Add(a[j*2;2], reducearg<b[i*k;2], Join>); } }", k=0)

    # ---- indexed blocks ----
    def test_repeated_indices_of_a_call(self):
        twice = self.indices(0, 1, 2, 2, 4, 5, 6, 7)
        self.finds("Copy(a, b[I]);", "check-repeated-index", "'b[I]' writes element [2] of 'b' more than once",
                   "places 2 and 3 of its indices are the same", "help:", indices=twice)
        self.finds("Add(a[0;3], b[I[1;3]]);", "check-repeated-index", "'b[I[1;3]]'", "places 1 and 2 of its indices", indices=twice)
        self.is_fine("Add(a[0;3], b[I[3;3]]);", indices=twice)
        self.is_fine("Copy(a[I], b);", indices=twice)

    def test_repeated_indices_of_a_copy(self):
        twice = self.indices(7, 6, 5, 4, 3, 2, 1, 7)
        self.finds("copy(b[I], a);", "check-repeated-index", "'b[I]'", "element [7] of 'b'", indices=twice)
        self.is_fine("copy(b, a[I]);", indices=twice)
        self.is_fine("copy(b[I[1;7]], a[I[0;7]]);", indices=twice)

    def test_indices_across_iterations(self):
        again = self.indices(0, 1, 2, 3, 3, 5, 6, 7)
        self.finds("mappar (int i = 0 : 2) { Copy(a[i*4;4], b[I[i*4;4]]); }", "check-iteration-overlap", "'b[I[i*4;4]]' with i = 1", "[3] of 'b'",
                   indices=again)
        self.is_fine("mappar (int i = 0 : 2) { Copy(a[i*4;4], b[I[i*4;4]]); }")

    def test_an_indexed_block_beside_another(self):
        self.finds("Add(b[0;4], b[I[4 - k;4]]);", "check-overlap", "'b[0;4]'", "'b[I[4 - k;4]]'", "element [3] of 'b'", k=1)
        self.is_fine("Add(b[0;4], b[I[4 - k;4]]);", k=0)

    # ---- copies ----
    def test_copies_that_overlap(self):
        self.finds("copy(b[0;4], b[k;4]);", "check-overlap", "'b[k;4]' and 'b[0;4]'", "element [3] of 'b'", "help:", k=3)
        self.finds("copy(b[0;4], b[k;4]);", "check-overlap", "element [0] of 'b'", k=0)
        self.is_fine("copy(b[0;4], b[k;4]);", k=4)
        self.finds("copy(b[I[0;4]], b[k;4]);", "check-overlap", "'b[I[0;4]]'", "'b[k;4]'", k=3)
        self.is_fine("copy(b[I[0;4]], b[k;4]);", k=4)

    # ---- reads of what nobody wrote ----
    def test_a_local_array(self):
        result = self.run_checked("int t[N]; Copy(t[0;4], b[0;4]);")
        self.assertEqual(result.status, 1)
        for text in ("[interpret-undefined-read]", "element [0] of 'x'", "nothing has written it", "in this call of"):
            self.assertIn(text, result.err)
        self.is_fine("int t[N]; copy(t[0;4], a[0;4]); Copy(t[0;4], b[0;4]);")

    def test_an_output_that_is_not_written(self):
        result = self.run_checked("int t[N]; Half(a, b); Copy(b[4;4], t[0;4]);")
        self.assertEqual(result.status, 1)
        for text in ("[interpret-undefined-read]", "element [0] of 'x'"):
            self.assertIn(text, result.err)
        self.is_fine("int t[N]; Half(a[0;], t); Copy(t[0;4], b[0;4]);")

    def test_an_element_that_control_reads_too_early(self):
        self.finds("int t[N]; Half(a, t); copy(b[t[5];1], a[0;1]);", "interpret-undefined-read", "element [5] of 't'")
        self.is_fine("int t[N]; Half(a, t); copy(b[t[3];1], a[0;1]);")

    def test_a_copy_of_what_nobody_wrote(self):
        self.finds("int t[N]; copy(b[0;4], t[0;4]);", "interpret-undefined-read", "element [0] of 't'", "help: write it first")
        self.finds("int t[N]; copy(t[1;7], a[1;7]); copy(b, t);", "interpret-undefined-read", "element [0] of 't'")
        self.finds("int t[N]; copy(t[0;4], a[0;4]); copy(b[0:8:2;], t[0:8:2;]);", "interpret-undefined-read", "element [4] of 't'")
        self.is_fine("int t[N]; copy(t[0;4], a[0;4]); copy(b[0;4], t[0;4]);")

    def test_scalars(self):
        self.finds("int s; Begin(a, s); copy(b[s;1], a[0;1]);", "interpret-undefined-read", "'s'")
        self.finds("int s; if (k > 4) s = 1; copy(b[s;1], a[0;1]);", "interpret-undefined-read")
        self.is_fine("int s; if (k > 4) s = 1; copy(b[s;1], a[0;1]);", k=5)

    def test_parts_of_elements(self):
        self.is_fine("pair p[N]; Split(a, p);")

    # ---- where the loops of callers are ----
    def test_names_are_those_of_the_task_itself(self):
        inner = TASKS + """void task Rows(inout int x[N]);
void task<inner> Rows::Cut(inout int x[N]) { tunable t; mappar (int m = 0 : 2) { Add(x[0;2], x[m + t;2]); } }
void task Main(in int k, inout int b[N]);
void task<inner> Main::Go(in int k, inout int b[N]) { mapseq (int i = 0 : 2) { Rows(b[i*4;4]); } }
"""
        mapping = """#include "host"
task Main : entrypoint(M) { instance M::Go(level 0) { control(level 0) { callsite Rows() { target R() { } } } } }
task Rows { instance R::Cut(level 0) { tunable t = 1; control(level 0) { callsite Add() { target A() { } } } } }
task Add { instance A::Leaf(level 0) { } }
"""
        result = self.strata("run", self.write("p.sq", inner), "--map", self.write("m.map", mapping), "--size", "N=8", "--in", "k=1", "--in", "b=iota",
                             "--check")
        self.assertEqual(result.status, 1, str(result))
        for text in ("'x[0;2]' with m = 0", "'x[m + t;2]' with m = 0", "element [1] of 'x'", "in this call of 'R'"):
            self.assertIn(text, result.err, str(result))

    # ---- checked always ----
    def test_checked_always(self):
        for check in (False, True):
            find = lambda *words, **keywords: self.finds(*words, check=check, **keywords)
            fine = lambda *words, **keywords: self.is_fine(*words, check=check, **keywords)
            find("Copy(a[0:k;], b[0:k;]);", "sequoia-block-range", "the end 9 lies beyond the array's 8 elements", k=9)
            find("Copy(a[k;2], b[0;0]);", "sequoia-block-range", "the start -1 is negative", k=-1)
            find("Copy(a[0:8:k;], b[0:8:k;]);", "sequoia-block-range", "the stride 0 is less than 1", k=0)
            fine("Copy(a[0:8:k;], b[0:8:k;]);", k=3)
            find("Copy(a[0:k;4], b[0:k;4]);", "sequoia-block-count", "5", k=5)
            fine("Copy(a[0:k;4], b[0:k;4]);", k=4)
            find("Copy(a[0:k;], b[0:4;]);", "sequoia-size-mismatch", k=3)
            fine("Copy(a[0:k;], b[0:4;]);", k=4)
            find("copy(b[0:k;], a[0:4;]);", "sequoia-copy-count", k=3)
            fine("copy(b[0:k;], a[0:4;]);", k=4)
            find("copy(b, a[I]);", "index-out-of-range", "index 8 of 'a'", indices=self.indices(0, 1, 2, 8, 4, 5, 6, 7))
            find("copy(b[I], a);", "index-out-of-range", "index -1 of 'b'", indices=self.indices(0, 1, 2, -1, 4, 5, 6, 7))
            fine("copy(b[I], a);", indices=self.indices(0, 1, 2, 3, 7, 6, 5, 4))
            find("Copy(a[I[0;2]], b[0;2]);", "index-out-of-range", indices=self.indices(0, 100, 2, 3, 4, 5, 6, 7))

    def test_preconditions_and_leaves(self):
        program = TASKS + """void task Main(in int k, in int a[N], inout int b[N]);
void task<inner> Main::Go(in int k, in int a[N], inout int b[N]) { Shift(k, a, b); }
void task Shift(in int k, in int x[N], inout int y[N]);
void task<leaf> Shift::Leaf(in int k, in int x[N], inout int y[N]) { for (int i = 0; i < N - 1; i++) y[i] = x[i + k]; }
"""
        mapping = """#include "host"
task Main : entrypoint(M) { instance M::Go(level 0) { control(level 0) { callsite Shift() { target S() { } } } } }
task Shift { instance S::Leaf(level 0) { data(level 0) { array x() { elements <= 8; } } } }
"""
        files = ["--map", self.write("m.map", mapping), "--in", "a=iota", "--in", "b=iota"]

        def run(size, k, *options):
            return self.strata("run", self.write("p.sq", program), *files, "--size", f"N={size}", "--in", f"k={k}", *options)
        for options in ((), ("--check",)):
            for size, k, code in ((8, 1, None), (9, 1, "sequoia-precondition"), (8, 2, "index-out-of-range"), (8, -1, "index-out-of-range")):
                result = run(size, k, *options)
                self.assertEqual(result.status, 1 if code else 0, str(result))
                self.assertIn(code or "", result.err, str(result))

    def test_reduced_numbers(self):
        program = """
void task Count(in float x[N], inout float s, out float root, out int whole, in float times);
void task Sum(in float x[N], inout float s);
void task<leaf> Sum::L(in float x[N], inout float s) { for (long i = 0; i < N; i++) s += x[i]; }
void task Plus(in float a, inout float b);
void task<leaf> Plus::L(in float a, inout float b) { b += a; }
void task<inner> Count::I(in float x[N], inout float s, out float root, out int whole, in float times)
{
  tunable t;
  mapreduce (long i = 0 : (N + t - 1) / t) { Sum(x[i*t;t], reducearg<s, Plus>); }
  root = sqrt(s);
  whole = (int)(s * times);
}
"""
        self.write("p.sq", program)
        values = np.random.default_rng(3).random(100_003, np.float32)
        self.save("x.npy", values)
        for machine in ("host", "cell", "cluster"):
            run = ("run", "p.sq", "--machine", machine, "--in", "x=x.npy", "--in", "s=0", "--check", "--out", "s=s.npy")
            # The sum's integer part is the same in every order; its thousandths are not.
            self.assertEqual(self.succeeds(*run, "--in", "times=0.001").err, "")
            self.assertAlmostEqual(float(np.load(self.path("s.npy"))) / values.sum(dtype="f8"), 1, places=4)
            said = self.succeeds(*run, "--in", "times=1000", "--remarks").err
            self.assertIn("depends on the order in which a reduction is rounded", said)
            self.assertIn("p.sq:12:11", said)


if __name__ == "__main__":
    harness.main()
