"""What --check finds by looking further than at the one run: elements of outputs that nobody wrote, results that depend on a tunable,
overlaps and combiners that only another mapping shows, and signed sums that do not fit. Every rule is broken once and nearly broken once."""

import re

import harness
import numpy as np

MAP = """#include "host"
task T: entrypoint(T_I) { instance T_I::I(level 0) { tunable t = %s; control(level 0) { %s callsite T() { target T_L() { } } %s } }
  instance T_L::L(level 0) { } }
"""
CUT = """void task T(in int a[N], {0} int b[N]);
void task<inner> T::I(in int a[N], {0} int b[N])
{{
  tunable t;
  mappar (long i = 0 : {1}) {{ T(a[i * t; {2}], b[i * t; {2}]); }}
}}
void task<leaf> T::L(in int a[N], {0} int b[N])
{{
  for (long i = {3}; i < N; i++) {{ {4} }}
}}
"""
REDUCE = """void task Plus(in float a, inout float b);
void task<leaf> Plus::L(in float a, inout float b) {{ {0} }}
void task T(in float x[N], inout float m);
void task<leaf> T::L(in float x[N], inout float m) {{ for (long i = 0; i < N; i++) {1} }}
void task<inner> T::I(in float x[N], inout float m)
{{
  tunable t;
  mapreduce (long i = 0 : (N + t - 1) / t) {{ T(x[i * t; t], reducearg<m, Plus>); }}
}}
"""

DECIDES = REDUCE.format("b += a;", "m += x[i];") + """void task Above(in float m, out int b[K]);
void task<leaf> Above::L(in float m, out int b[K]) { b[0] = m > 4 ? 1 : 0; }
void task Main(in float x[N], inout float m, out int b[K]);
void task<inner> Main::M(in float x[N], inout float m, out int b[K]) { T(x, m); Above(m, b); }
"""


class OtherMappings(harness.Case):
    def run_cut(self, direction="out", count="(N + t - 1) / t", block="t", first="0", body="b[i] = a[i] + 1;", tunable=3, options=()):
        program = self.write("p.sq", CUT.format(direction, count, block, first, body))
        mapping = self.write("p.map", MAP % (tunable, "loop i(level 0) { spmd { ways = auto; } }", ""))
        given = ["--in", "b=iota"] if direction == "inout" else []
        return self.strata("run", program, "--map", mapping, "--size", "N=10", "--in", "a=iota", *given, "--check", *options, timeout=600)

    def says(self, result, status, *texts):
        self.assertEqual(result.status, status, str(result))
        for text in texts:
            self.assertIn(text, result.err, str(result))
        self.assertNotIn("error of Strata", result.err)
        if not texts:
            self.assertEqual(result.err, "", str(result))

    def test_outputs_that_nobody_writes(self):
        self.says(self.run_cut(count="N / t"), 1, "[check-undefined]", "element [9] of 'b' has no value", "p.sq:2:44")
        self.says(self.run_cut(first="1"), 1, "[check-undefined]", "element [0] of 'b'", "4 of its 10 elements have none")
        self.says(self.run_cut(first="1", direction="inout", body="b[i] = 1;"), 0, "[check-mapping-decides]")

    def test_results_that_depend_on_a_tunable(self):
        self.says(self.run_cut(count="N / t", tunable=5), 0, "warning[check-mapping-decides]", "tunable 't'", "element [8] of 'b' is written with t = 5",
                  "not with t = 4", "p.map:2:", "help: cover every element")
        self.says(self.run_cut(count="N / t", direction="inout", body="b[i] += 100;", tunable=5), 0, "warning[check-mapping-decides]",
                  "element [8] of 'b' is 108 with t = 5, and 8 with t = 4")
        self.says(self.run_cut(body="b[i] = N;", tunable=20), 0, "warning[check-mapping-decides]")
        for tunable in (1, 2, 3, 5, 9, 10, 11, 1024):
            self.says(self.run_cut(tunable=tunable), 0)

    def test_elements_that_no_iteration_takes(self):
        # Before the program runs, where the size and the tunable are known; when it does, under a mapping at least.
        text = CUT.format("inout", "N / t", "t", "0", "b[i] += 100;")
        program = self.write("p.sq", text)
        run = ("--size", "N=10", "--in", "a=iota", "--in", "b=iota")
        for tunable, said in ((3, "9 of the 10 elements of 'a' in dimension 0: t = 3 does not divide 10"), (5, "")):
            mapping = self.write("p.map", MAP % (tunable, "", ""))
            for result in (self.strata("check", program, "--map", mapping, "--size", "N=10"), self.strata("run", program, "--map", mapping, *run)):
                self.assertEqual((result.status, "[sequoia-uncovered]" in result.err), (0, bool(said)), str(result))
                self.assertIn(said, result.err)
            self.says(self.strata("check", program, "--map", mapping), 0)
        # The mapping that is made has a divisor.
        self.says(self.strata("run", program, *run), 0)
        # A size that depends on the data is known to nobody: --check finds what is left out.
        part = text.replace("N / t)", "(N - a[0]) / t)")
        self.assertNotEqual(part, text)
        self.write("p.sq", part)
        mapping = self.write("p.map", MAP % (3, "", ""))
        self.says(self.strata("run", program, "--map", mapping, *run), 0)
        self.says(self.strata("run", program, "--map", mapping, *run, "--check"), 0, "warning[check-mapping-decides]", "element [8] of 'b' is 108 with t = 3")

    def test_the_other_mapping_is_named(self):
        self.says(self.run_cut(options=["--remarks"]), 0, "remark[check-mapping-tried]", "also checked with t = 4")

    def test_the_same_elements_are_not_left_over_twice(self):
        # With t = 8 and with t = 4, the first eight of ten elements are taken.
        self.says(self.run_cut(count="N / t", direction="inout", body="b[i] += 100;", tunable=8), 0, "warning[check-mapping-decides]",
                  "element [8] of 'b' is 8 with t = 8, and 108 with t = 3")

    def run_blocks(self, tunable, *texts):
        text = CUT.format("out", "(N + t - 1) / t", "t", "0", "b[i] = a[i] + 1;")
        for old, new in texts:
            self.assertIn(old, text)
            text = text.replace(old, new)
        program = self.write("p.sq", text)
        mapping = self.write("p.map", MAP % (tunable, "", ""))
        return self.strata("run", program, "--map", mapping, "--size", "N=10", "--in", "a=iota", "--check", "--remarks", timeout=600)

    def test_what_the_program_refuses_is_tried_with_divisors(self):
        exact = ("a[i * t; t], b[i * t; t]", "a[i * t : (i + 1) * t; t], b[i * t : (i + 1) * t; t]")
        self.says(self.run_blocks(10, exact), 0, "remark[check-mapping-tried]", "also checked with t = 5")
        self.says(self.run_blocks(10, exact, ("b[i] = a[i] + 1;", "b[i] = N;")), 0, "warning[check-mapping-decides]",
                  "element [0] of 'b' is 10 with t = 10, and 5 with t = 5")
        self.says(self.run_blocks(20, ("b[i * t; t]", "b[i * t; t + 1]")), 0, "warning[check-other-mapping]", "with t = 5",
                  "has N = 5 elements in dimension 0, and is given 6", "with t = 20, does not show it")
        self.says(self.run_blocks(20, ("b[i * t; t]", "b[i * t : t == 20 ? N : N + 1;]")), 0, "remark[check-mapping-refused]",
                  "under its own mapping only: with t = 4", "block of 'b'")

    def test_overlaps_that_a_mapping_hides(self):
        shown = self.run_cut(block="t + 1", tunable=4)
        self.says(shown, 1, "error[check-iteration-overlap]")
        self.says(self.run_cut(block="t + 1", tunable=20), 0, "warning[check-other-mapping]", "with t = 4, which another mapping may choose",
                  "share element [4] of 'b'", "with t = 20, does not show it")

    def test_iterations_that_a_tunable_counts(self):
        text = """void task V(in int a[N], out int b[N]);
void task W(inout int b[N]);
void task<leaf> W::L(inout int b[N]) { b[0] += 0; }
void task<leaf> V::L(in int a[N], out int b[N]) { for (long i = 0; i < N; i++) b[i] = a[i] + 1; }
void task<inner> V::I(in int a[N], out int b[N])
{
  tunable u, t;
  mappar (long i = 0 : u) { V(a[i * t; t], b[i * t; t]); }
  for (long k = 0; k < 64 / t; k++) { W(b[0; 1]); }
}
void task T(in long n, in int a[N], out int b[N]);
void task<inner> T::I(in long n, in int a[N], out int b[N]) { V(a[0 : n;], b[0 : n;]); }
"""
        program = self.write("p.sq", text)
        # As many as the array takes, where its size is known: the least multiple of the 64 elements of a block that is no less.
        made = self.succeeds("map", program, "--entry", "V", "--size", "N=100000")
        self.assertIn("tunable u = 1563;", made.out, str(made))
        run = lambda entry, size, *given: self.strata("run", program, "--entry", entry, "--size", f"N={size}", "--in", "a=iota", "--out",
                                                      f"b={self.path('b.npy')}", *given, timeout=600)
        self.says(run("V", 100000), 0)
        self.assertTrue(np.array_equal(np.load(self.path("b.npy")), np.arange(100000) + 1))
        # Where only the run tells it, it may be too large for the number that was chosen.
        self.says(run("T", 1000, "--in", "n=1000"), 0)
        self.assertTrue(np.array_equal(np.load(self.path("b.npy")), np.arange(1000) + 1))
        self.says(run("T", 100000, "--in", "n=100000"), 1, "error[sequoia-short-iterations]", "the 1024 iterations of 'i' take 65536 of the 100000 elements of 'b'",
                  "p.sq:8:")

    def test_iterations_of_c_as_many_as_a_tunable_says(self):
        text = """void task V(in int a[N], out int b[N]);
void task<leaf> V::L(in int a[N], out int b[N]) { for (long i = 0; i < N; i++) b[i] = a[i] + 1; }
void task T(in int a[N], out int b[N]);
void task<inner> T::I(in int a[N], out int b[N])
{
  tunable u;
  for (long i = 0; i < u; i++) V(a[i * 64; 64], b[i * 64; 64]);
REST}
void task U(in long n, in int a[N], out int b[N]);
void task<inner> U::I(in long n, in int a[N], out int b[N]) { T(a[0 : n;], b[0 : n;]); }
"""
        for rest, size, said in (("", 65536, None), ("", 70651, "the 1024 iterations of 'i' take 65536 of the 70651 elements of 'b'"),
                                 ("  V(a[u * 64 : N;], b[u * 64 : N;]);\n", 70651, None)):
            program = self.write("p.sq", text.replace("REST", rest))
            run = self.strata("run", program, "--entry", "U", "--size", f"N={size}", "--in", f"n={size}", "--in", "a=iota", "--out", f"b={self.path('b.npy')}", timeout=600)
            if said:
                self.says(run, 1, "error[sequoia-short-iterations]", said, "p.sq:7:")
                continue
            self.says(run, 0)
            self.assertTrue(np.array_equal(np.load(self.path("b.npy")), np.arange(size) + 1))

    def run_levels(self, *more):
        """Without a mapping: this computer has one level for tasks that call themselves, and another machine two."""
        bump = "void task Bump(inout int b[N]);\nvoid task<leaf> Bump::L(inout int b[N]) { for (long i = 0; i < N; i++) b[i]++; }\n"
        text = CUT.format("inout", "(N + t - 1) / t", "t", "0", "b[i] += a[i];")
        self.assertIn("b[i * t; t]); }\n", text)
        program = self.write("p.sq", bump + text.replace("b[i * t; t]); }\n", "b[i * t; t]); }\n" + "".join(more)))
        return self.strata("run", program, "--entry", "T", "--size", "N=10", "--in", "a=iota", "--in", "b=iota", "--check", timeout=600)

    def test_results_that_depend_on_levels(self):
        self.says(self.run_levels(), 0)
        self.says(self.run_levels("  Bump(b);\n"), 0, "warning[check-mapping-decides]", "the result depends on the levels of the machine",
                  "element [0] of 'b' is 1 with the mapping in use, and 2 with the mapping that is made for machine '")

    def run_reduce(self, combine="b += a;", take="m += x[i];", tunable=3, given="0", values="iota", *options):
        program = self.write("p.sq", REDUCE.format(combine, take))
        mapping = self.write("p.map", MAP % (tunable, "loop i(level 0) { spmd { ways = auto; } }", "callsite Plus() { target P() { } }")
                             + "task Plus { instance P::L(level 0) { } }\n")
        return self.strata("run", program, "--map", mapping, "--entry", "T", "--size", "N=20", "--in", f"x={values}", "--in", f"m={given}", "--check",
                           *options, timeout=600)

    def test_combiners(self):
        self.says(self.run_reduce("b = a - b;"), 1, "error[check-combiner]", "'Plus' does not commute", "Plus(b, a) is", "and Plus(a, b) is",
                  "with a = ", "from i = 0 to 2", "p.sq:8:")
        self.says(self.run_reduce("b = (a + b) / 2;"), 1, "error[check-combiner]", "'Plus' does not associate", "Plus(c, Plus(b, a)) is")
        self.says(self.run_reduce("b = a - b;", tunable=20), 0, "warning[check-other-mapping]", "does not commute")
        for combine, take, given in (("b += a;", "m += x[i];", "7"), ("b = a < b ? a : b;", "m = x[i] < m ? x[i] : m;", "50"),
                                     ("b *= a;", "m *= 1 + x[i] / 1000;", "1"), ("b = fmax(a, b);", "m = fmax(m, x[i]);", "-5"),
                                     ("b = a + b + 0 * a;", "m += x[i];", "0")):
            self.says(self.run_reduce(combine, take, given=given), 0)

    def test_tasks_that_do_not_reduce(self):
        self.says(self.run_reduce(take="m = x[i];"), 1, "error[check-reduction-parts]", "'m' is 19 when each iteration goes on", "may not replace it")
        # All iterations in one part, which what the loop is given comes to all the same.
        self.says(self.run_reduce(take="m = x[i];", tunable=20, given="4"), 1, "error[check-reduction-parts]", "'m' is 19 when each iteration goes on", "and 23 when")
        # Sums of parts that differ in their last bits.
        for tunable in (3, 4, 7):
            self.says(self.run_reduce(take="m = x[i] + 1;", tunable=tunable, given="random:3", values="random:1"), 1, "error[check-reduction-parts]")

    def test_what_is_not_finite(self):
        values = np.arange(20, dtype="f4")
        values[7] = np.nan
        self.save("x.npy", values)
        # Which number a NaN leaves depends on the parts, so that the runs may differ, and may not.
        result = self.run_reduce("b = a > b ? a : b;", "m = m > x[i] ? m : x[i];", 3, "25", self.path("x.npy"))
        self.assertEqual(result.status, 0, str(result))
        if result.err:
            self.says(result, 0, "warning[check-order-decides]", "a NaN or an infinity is among what is reduced", "as fmin and fmax do")

    def run_decides(self, values):
        self.save("x.npy", np.array(values, "f4"))
        options = [self.write("p.sq", DECIDES), "--entry", "Main", "--machine", "host", "--size", "K=1"]
        made = self.strata("map", *options, "--size", f"N={len(values)}")
        self.assertEqual(made.status, 0, str(made))
        mapping = self.write("p.map", re.sub(r"tunable t = \d+", "tunable t = 3", made.out))
        return self.strata("run", *options, "--map", mapping, "--in", f"x={self.path('x.npy')}", "--in", "m=0", "--check", timeout=600)

    def test_sizes_that_agree_under_one_mapping_only(self):
        program = """void task Add(in int a[N], inout int b[N]);
void task<leaf> Add::L(in int a[N], inout int b[N]) {{ for (long i = 0; i < N; i++) b[i] += a[i]; }}
void task<inner> Add::I(in int a[N], inout int b[N])
{{
  tunable t;
  mappar (long i = 0 : (N + t - 1) / t) {{ Add(a[i * t; t], {}); }}
}}
"""
        mapping = self.write("p.map", (MAP % (4, "loop i(level 0) { }", "")).replace("T", "Add"))
        run = lambda block: self.strata("run", self.write("p.sq", program.format(block)), "--map", mapping, "--size", "N=20", "--in", "a=iota",
                                        "--in", "b=iota", "--check")
        self.says(run("b[i * 4; 4]"), 0, "warning[check-other-mapping]", "with t = ", "argument 'b' of task 'Add' has N = ", "p.sq:6:",
                  "with t = 4, does not show it")
        self.says(run("b[i * t; t]"), 0)
        self.says(run("b[i * t : min(i * t + t, N);]"), 0)

    def test_what_the_order_decides(self):
        # One behind the other the ones are lost in 1e8, and in a tree some of them meet before.
        self.says(self.run_decides([1e8] + [1] * 18 + [-1e8]), 0, "warning[check-order-decides]", "'b'", "order in which a reduction is rounded")
        # Sums that are exact come to the same in every order, and so does a comparison far from where it turns.
        self.says(self.run_decides([1] * 20), 0)
        self.says(self.run_decides([0.1] * 20 + [1000]), 0)

    def test_shifts_name_their_tunable(self):
        self.says(self.run_cut(body="b[i] = a[i];", count="(N + t - 1) / t + (1 << t) * 0", tunable=40), 1, "error[shift-amount]",
                  "tunable 't' is 40 at", "p.map:2")

    def test_signed_sums_that_do_not_fit(self):
        for body, said in (("b[i] = a[i] + 2147483647;", "1 + 2147483647 does not fit into a signed integer of 32 bits"),
                           ("b[i] = a[i] * -715827883;", "3 * (-715827883)"), ("b[i] = -2147483647 - a[i];", "-2147483647 - 2"), ("b[i] = -(a[i] - 2147483647 - 1);", "0 - (-2147483648)")):
            self.says(self.run_cut(body=body), 1, "error[check-signed-overflow]", said, "p.sq:", "help: compute with a wider type")
        self.says(self.run_cut(body="b[i] = 2147483645 + a[i];"), 1, "error[check-signed-overflow]", "3 + 2147483645 does not fit")
        self.says(self.run_cut(body="b[i] = 2147483637 + a[i] + (N == 10 ? 0 : 4);", tunable=20), 0, "warning[check-other-mapping]",
                  "with t = 4, which another mapping may choose", "does not fit into a signed integer", "with t = 20, does not show it")
        self.says(self.run_cut(body="b[i] = a[i] - 10 + 2147483647;"), 0)
        self.says(self.run_cut(body="b[i] = (unsigned)a[i] + 4294967295u;"), 0)
        self.says(self.run_cut(body="b[i] = (int)(a[i] * 2147483647L);"), 0)

    def test_functions_in_c_that_do_another_thing_each_time(self):
        self.write("count.c", """#include "sequoia_ext.h"
#include <time.h>
void T_L(sqArray_t *a, sqArray_t *b) {
  struct timespec now;
  sqCalcParams();
  int *from = (int *)sqElmt1D(a, 0), *to = (int *)sqElmt1D(b, 0);
  clock_gettime(CLOCK_MONOTONIC, &now);
  for (unsigned i = 0; i < sqParam(T_L, N); i++) to[i] = from[i] + STATE;
}
""".replace("STATE", "(int)now.tv_nsec"))
        text = CUT.format("out", "(N + t - 1) / t", "t", "0", "")
        program = self.write("p.sq", text[:text.index("void task<leaf>")] + "void task<ext> T::L(in int a[N], out int b[N]);\n")
        mapping = self.write("p.map", (MAP % (3, "", "")).replace("T_L::L(level 0)", 'T_L::L(level 0) external("count.c")'))
        run = ("run", program, "--map", mapping, "--size", "N=10", "--in", "a=iota", "--check")
        self.says(self.strata(*run, timeout=600), 1, "error[check-differs-in-c]", "the program calls functions in C", "one that keeps a state")
        self.write("count.c", open(self.path("count.c"), encoding="utf-8").read().replace("(int)now.tv_nsec", "1"))
        self.says(self.strata(*run, timeout=600), 0)


if __name__ == "__main__":
    harness.main()
