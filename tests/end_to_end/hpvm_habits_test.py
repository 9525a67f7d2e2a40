"""What programs with graphs from elsewhere do: a leaf called leaf, a target that the build chooses, timers of their own, leaves that return at
several places, barriers between guards, memory that is freed when a result has been popped."""

import os
import re
import subprocess

import harness

# A leaf called leaf, whose arrays may overlap, before or behind other nodes.
NAMES = """
#include <hpvm.h>
#include <stdio.h>
#define NODE(name, number) void name(int *from, size_t fromBytes, int *to, size_t toBytes) { \\
  __hpvm__hint(DEVICE); __hpvm__attributes(2, from, to, 1, to); \\
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode()); \\
  to[i] = from[i] * 10 + number; __hpvm__return(1, toBytes); }
NODE(%s, 1)
NODE(%s, 2)
NODE(%s, 3)
void graph(int *from, size_t fromBytes, int *to, size_t toBytes, size_t n) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, from, to, 1, to);
  void *a = __hpvm__createNodeND(1, %s, n), *b = __hpvm__createNodeND(1, %s, n), *c = __hpvm__createNodeND(1, %s, n);
  __hpvm__bindIn(a, 0, 0, 0); __hpvm__bindIn(a, 1, 1, 0); __hpvm__bindIn(a, 2, 2, 0); __hpvm__bindIn(a, 3, 3, 0);
  __hpvm__bindIn(b, 2, 0, 0); __hpvm__edge(a, b, 1, 0, 1, 0); __hpvm__bindIn(b, 2, 2, 0); __hpvm__bindIn(b, 3, 3, 0);
  __hpvm__bindIn(c, 2, 0, 0); __hpvm__edge(b, c, 1, 0, 1, 0); __hpvm__bindIn(c, 2, 2, 0); __hpvm__bindIn(c, 3, 3, 0);
  __hpvm__bindOut(c, 0, 0, 0);
}
int main(void) {
  int from[5] = {1, 2, 3, 4, 5}, to[5] = {0};
  struct __attribute__((packed)) { int *from; size_t fromBytes; int *to; size_t toBytes, n, result; } given = {from, sizeof from, to, sizeof to, 5, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(from, sizeof from);
  llvm_hpvm_track_mem(to, sizeof to);
  __hpvm__wait(__hpvm__launch(0, graph, &given));
  llvm_hpvm_request_mem(to, sizeof to);
  for (int i = 0; i < 5; ++i) printf("%%d ", to[i]);
  llvm_hpvm_untrack_mem(from);
  llvm_hpvm_untrack_mem(to);
  __hpvm__cleanup();
  return 0;
}
"""

# Timers as benchmark suites declare them, beside hpvm.h.
TIMERS = """
enum hpvm_TimerID { hpvm_TimerID_NONE = 0, hpvm_TimerID_IO, hpvm_TimerID_LAST };
struct hpvm_TimerSet { enum hpvm_TimerID current; double spent[hpvm_TimerID_LAST]; };
static void hpvm_SwitchToTimer(struct hpvm_TimerSet *timers, enum hpvm_TimerID timer) { timers->current = timer; }
#include <hpvm.h>
int main(void) {
  struct hpvm_TimerSet timers = {hpvm_TimerID_NONE, {0}};
  hpvm_SwitchToTimer(&timers, hpvm_TimerID_IO);
  __hpvm__init();
  __hpvm__cleanup();
  return timers.current != hpvm_TimerID_IO;
}
"""

# The first leaf gives its array on from two places, also where it has no instances; the second writes what it gets.
RETURNS = """
#include <hpvm.h>
#include <stdio.h>
void halve(long *p, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  if (p[i] % 2) {
    __hpvm__return(2, p, bytes);
    return;
  }
  p[i] /= 2;
  __hpvm__return(2, p, bytes);
}
void mark(long *p, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  p[0] += 1000;
}
void graph(long *p, size_t bytes, size_t n) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  void *first = __hpvm__createNodeND(1, halve, n), *then = __hpvm__createNodeND(0, mark);
  __hpvm__bindIn(first, 0, 0, 0);
  __hpvm__bindIn(first, 1, 1, 0);
  __hpvm__edge(first, then, 1, 0, 0, 0);
  __hpvm__edge(first, then, 1, 1, 1, 0);
}
int main(void) {
  __hpvm__init();
  for (size_t n = 0; n < 4; ++n) {
    long p[3] = {4, 5, 6};
    struct __attribute__((packed)) { long *p; size_t bytes, n; } given = {p, sizeof p, n};
    llvm_hpvm_track_mem(p, sizeof p);
    __hpvm__wait(__hpvm__launch(0, graph, &given));
    llvm_hpvm_request_mem(p, sizeof p);
    llvm_hpvm_untrack_mem(p);
    printf("%ld %ld %ld\\n", p[0], p[1], p[2]);
  }
  __hpvm__cleanup();
  return 0;
}
"""

# A group of instances of which the last are beyond the end: they guard what they do, and come to the barrier all the same.
GUARDS = """
#include <hpvm.h>
#include <stdio.h>
void turn(int *in, size_t inBytes, int *shared, size_t sharedBytes, int *out, size_t outBytes, long n) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(3, in, shared, out, 2, shared, out);
  void *self = __hpvm__getNode();
  long local = __hpvm__getNodeInstanceID_x(self), width = __hpvm__getNumNodeInstances_x(self);
  long group = __hpvm__getNodeInstanceID_x(__hpvm__getParentNode(self)), i = group * width + local;
  if (i < n) shared[i] = 3 * in[i];
  __hpvm__barrier();
  if (i < n) BODY
}
void group(int *in, size_t inBytes, int *shared, size_t sharedBytes, int *out, size_t outBytes, long n, size_t width, size_t groups) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(3, in, shared, out, 2, shared, out);
  void *node = __hpvm__createNodeND(1, turn, width);
  __hpvm__bindIn(node, 0, 0, 0); __hpvm__bindIn(node, 1, 1, 0); __hpvm__bindIn(node, 2, 2, 0); __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0); __hpvm__bindIn(node, 5, 5, 0); __hpvm__bindIn(node, 6, 6, 0);
}
void graph(int *in, size_t inBytes, int *shared, size_t sharedBytes, int *out, size_t outBytes, long n, size_t width, size_t groups) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(3, in, shared, out, 2, shared, out);
  void *node = __hpvm__createNodeND(1, group, groups);
  __hpvm__bindIn(node, 0, 0, 0); __hpvm__bindIn(node, 1, 1, 0); __hpvm__bindIn(node, 2, 2, 0); __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0); __hpvm__bindIn(node, 5, 5, 0); __hpvm__bindIn(node, 6, 6, 0); __hpvm__bindIn(node, 7, 7, 0);
  __hpvm__bindIn(node, 8, 8, 0);
}
int main(void) {
  enum { n = 61, width = 8, groups = 8 }; /* the neighbour of the last is beyond the end, where nobody writes */
  static int in[64], shared[64], out[64];
  for (int i = 0; i < 64; ++i) in[i] = i * i % 17;
  struct __attribute__((packed)) { int *in; size_t inBytes; int *shared; size_t sharedBytes; int *out; size_t outBytes; long n; size_t width, groups; }
    given = {in, sizeof in, shared, sizeof shared, out, sizeof out, n, width, groups};
  __hpvm__init();
  llvm_hpvm_track_mem(in, sizeof in); llvm_hpvm_track_mem(shared, sizeof shared); llvm_hpvm_track_mem(out, sizeof out);
  __hpvm__wait(__hpvm__launch(0, graph, &given));
  llvm_hpvm_request_mem(out, sizeof out);
  for (int i = 0; i < n; ++i)
    if (out[i] != (i == n - 1 ? 0 : 3 * in[i / width * width + (i + 1) % width]))
      return printf("%d: %d\\n", i, out[i]), 1;
  llvm_hpvm_untrack_mem(in); llvm_hpvm_untrack_mem(shared); llvm_hpvm_untrack_mem(out);
  __hpvm__cleanup();
  return 0;
}
"""


# A function that a leaf, its host and another file call, which every object has a copy of.
SHARED = """
#include <hpvm.h>
#include <cstdio>
__attribute__((noinline)) inline long mixed(long a, long b) { return a % 7 * 100 + b; }
template <typename T> __attribute__((noinline)) T least(T a, T b) { return a < b ? a : b; }
long outside(long a);
void leaf(long *p, size_t bytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  long *scratch = (long *)__hpvm__malloc(sizeof(long));
  *scratch = mixed(p[i], least<long>(i, 2));
  p[i] = *scratch;
  if (p[i] == -1) std::printf("never\\n"); /* which keeps the leaf as it is compiled */
}
void graph(long *p, size_t bytes, size_t n) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  void *node = __hpvm__createNodeND(1, leaf, n);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
}
int main() {
  long p[4] = {10, 11, 12, 13};
  struct __attribute__((packed)) { long *p; size_t bytes, n; } given = {p, sizeof p, 4};
  __hpvm__init();
  llvm_hpvm_track_mem(p, sizeof p);
  __hpvm__wait(__hpvm__launch(0, graph, &given));
  llvm_hpvm_request_mem(p, sizeof p);
  llvm_hpvm_untrack_mem(p);
  __hpvm__cleanup();
  std::printf("%ld %ld %ld %ld, %ld %ld\\n", p[0], p[1], p[2], p[3], mixed(20, least<long>(5, 4)), outside(20));
}
"""
OUTSIDE = """
__attribute__((noinline)) inline long mixed(long a, long b) { return a % 7 * 100 + b; }
long outside(long a) { return mixed(a, 3); }
"""

# The timers of hpvm.h, and hints.
TIMED = """
#include <hpvm.h>
#include <hpvm_timers.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static int total(const int *data, long n) {
  int sum = 0;
  __hpvm__isNonZeroLoop(n);
  for (long i = 0; i < n; ++i) sum += data[i];
  return sum;
}
void add(int *data, size_t bytes, int *sum, size_t sumBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, data, sum, 1, sum);
  __hpvm__isNonZeroLoop(1, 3);
  *sum = total(data, bytes / sizeof(int));
  __hpvm__return(1, sumBytes);
}
void graph(int *data, size_t bytes, int *sum, size_t sumBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, data, sum, 1, sum);
  void *node = __hpvm__createNodeND(0, add);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
int main(void) {
  int data[] = {1, 2, 3}, sum = total(data, 1);
  struct __attribute__((packed)) { int *data; size_t bytes; int *sum; size_t sumBytes, result; } arguments = {data, sizeof data, &sum, sizeof sum, 0};
  void *timers = llvm_hpvm_initializeTimerSet();
  struct hpvm_TimerSet own;
  hpvm_InitializeTimerSet(&own);
  __hpvm__init();
  llvm_hpvm_switchToTimer(&timers, hpvm_TimerID_MEM_TRACK);
  llvm_hpvm_track_mem(data, sizeof data);
  llvm_hpvm_track_mem(&sum, sizeof sum);
  llvm_hpvm_switchToTimer(&timers, hpvm_TimerID_COMPUTE);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_switchToTimer(&timers, hpvm_TimerID_NONE);
  __hpvm__cleanup();
  printf("sum %d\\n", sum);
  llvm_hpvm_printTimerSet(&timers, "phases");
  hpvm_SwitchToTimer(&own, hpvm_TimerID_IO);
  struct timespec while_ = {0, 20000000};
  nanosleep(&while_, NULL);
  hpvm_PrintTimerSet(&own);
  hpvm_DestroyTimerSet(&own);
  free(timers);
  return 0;
}
"""

# A stage that has no part in what is popped takes longer than the one that has.
STAGES = r"""
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
void quick(int *a, size_t aBytes, int k) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, a, 1, a);
  a[0] = k;
  __hpvm__return(1, k);
}
void slow(int *b, size_t bBytes, int k) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, b, 1, b);
  unsigned s = k;
  for (long i = 0; i < 100000000; ++i) s = s * 1664525u + (s >> 3) + 1013904223u;
  b[0] = k + (s == 12345u);
  __hpvm__return(1, bBytes);
}
void root(int *a, size_t aBytes, int *b, size_t bBytes, int k) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 2, a, b);
  void *q = __hpvm__createNodeND(0, quick), *s = __hpvm__createNodeND(0, slow);
  __hpvm__bindIn(q, 0, 0, 1); __hpvm__bindIn(q, 1, 1, 1); __hpvm__bindIn(q, 4, 2, 1);
  __hpvm__bindIn(s, 2, 0, 1); __hpvm__bindIn(s, 3, 1, 1); __hpvm__bindIn(s, 4, 2, 1);
  __hpvm__bindOut(q, 0, 0, 1);
}
int main(void) {
  struct __attribute__((packed)) { int *a; size_t aBytes; int *b; size_t bBytes; int k; } item;
  __hpvm__init();
  void *graph = __hpvm__launch(1, root, NULL);
  for (int round = 1; round < 4; ++round) {
    int *a = calloc(1, sizeof(int)), *b = calloc(1, sizeof(int));
    llvm_hpvm_track_mem(a, sizeof *a);
    llvm_hpvm_track_mem(b, sizeof *b);
    item.a = a, item.aBytes = sizeof *a, item.b = b, item.bBytes = sizeof *b, item.k = round;
    __hpvm__push(graph, &item);
    int *popped = __hpvm__pop(graph);
    llvm_hpvm_request_mem(b, sizeof *b);
    printf("%d %d %d\n", *popped, a[0], b[0]);
    free(popped);
    llvm_hpvm_untrack_mem(a);
    llvm_hpvm_untrack_mem(b);
    free(a);
    free(b);
  }
  __hpvm__wait(graph);
  __hpvm__cleanup();
}
"""


class HpvmHabits(harness.Case):
    def printed(self, text, *options, compiler="cc"):
        ending = ".cpp" if compiler == "c++" else ".c"
        told = self.succeeds(compiler, self.write("program" + ending, text), "-o", "program", *options, STRATA_REMARKS="1").err
        done = subprocess.run([self.path("program")], capture_output=True, text=True, timeout=600, env={**os.environ, "STRATA_THREADS": "2"})
        self.assertEqual(done.returncode, 0, (options, done.stdout, done.stderr))
        return done.stdout, told

    def test_leaves_have_any_name(self):
        for names in (("leaf", "aa", "cc"), ("aa", "leaf", "cc"), ("cc", "aa", "leaf")):
            for level in ("-O0", "-O2"):
                self.assertEqual(self.printed(NAMES % (*names, *names), level)[0], "1123 2123 3123 4123 5123 ", names)

    def test_the_build_chooses_a_target(self):
        for options in ((), ("-DDEVICE=CPU_TARGET",), ("-DDEVICE=GPU_TARGET",)):
            self.assertEqual(self.printed(NAMES % (2 * ("one", "two", "three")), *options)[0], "1123 2123 3123 4123 5123 ", options)

    def test_functions_that_leaves_and_others_call(self):
        self.write("outside.cpp", OUTSIDE)
        for level in ("-O0", "-O2"):
            for optimization in ("0", "3"):
                self.succeeds("c++", level, self.write("shared.cpp", SHARED), "outside.cpp", "-o", "shared", STRATA_OPTIMIZATION=optimization)
                done = subprocess.run([self.path("shared")], capture_output=True, text=True, timeout=600)
                self.assertEqual(done.stdout, "300 401 502 602, 604 603\n", (level, optimization, done))

    def test_timers_of_the_programs_own(self):
        self.printed(TIMERS)

    def test_timers_and_hints(self):
        printed = self.printed(TIMED, "-O2")[0].splitlines()
        self.assertEqual([re.sub(r"\d+\.\d+", "T", line) for line in printed],
                         ["sum 6", "phases: compute           T s", "phases: track             T s", "input and output  T s"])
        self.assertGreaterEqual(float(printed[-1].split()[-2]), 0.02)

    def test_several_returns_give_the_same_on(self):
        for level in ("-O0", "-O1", "-O2"):
            self.assertEqual(self.printed(RETURNS, level)[0], "1004 5 6\n1002 5 6\n1002 5 6\n1002 5 3\n", level)

    def test_an_item_that_was_popped_has_ended_in_every_stage(self):
        self.assertEqual(self.printed(STAGES, "-O1")[0], "1 1 1\n2 2 2\n3 3 3\n")

    def test_barriers_between_guards(self):
        neighbour = "out[i] = shared[group * width + (local + 1) % width];"
        for body in (neighbour, "{ " + neighbour + " } else { in += 0; }", "if (in[i] >= 0) " + neighbour):
            for level in ("-O1", "-O2"):
                _, told = self.printed(GUARDS.replace("BODY", body), level)
                self.assertNotIn("barrier", told, body)
                # What guards both sides is computed again, rather than kept in bits, which have no form for lanes.
                self.assertNotIn("whole bytes", told, body)


if __name__ == "__main__":
    harness.main()
