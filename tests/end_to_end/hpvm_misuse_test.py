"""What a program with graphs ends with when its host code breaks a rule: the line of the call, without debug information too, what the rule is,
which graph it is about, and what to change."""

import os
import re
import subprocess

import harness

# Each mistake stands in a line of its own, with its name in a comment at the end.
MISTAKES = """
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void add(int *data, size_t bytes, int k) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  data[__hpvm__getNodeInstanceID_x(__hpvm__getNode())] += k;
  __hpvm__return(1, k + 1);
}
void sum(int *data, size_t bytes, int *all, size_t allBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, all);
  all[0] = 0;
  for (size_t i = 0; i < bytes / sizeof(int); ++i)
    all[0] += data[i];
}
#define GRAPH(name, is_stream) \\
  void name(int *data, size_t bytes, int k) { \\
    __hpvm__hint(CPU_TARGET); \\
    __hpvm__attributes(1, data, 1, data); \\
    void *node = __hpvm__createNodeND(1, add, bytes / sizeof(int)); \\
    __hpvm__bindIn(node, 0, 0, is_stream); __hpvm__bindIn(node, 1, 1, is_stream); __hpvm__bindIn(node, 2, 2, is_stream); \\
    __hpvm__bindOut(node, 0, 0, is_stream); }
GRAPH(once, 0)
GRAPH(many, 1)
void total(int *data, size_t bytes, int *all, size_t allBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, all);
  void *node = __hpvm__createNodeND(0, sum);
  __hpvm__bindIn(node, 0, 0, 0); __hpvm__bindIn(node, 1, 1, 0); __hpvm__bindIn(node, 2, 2, 0); __hpvm__bindIn(node, 3, 3, 0);
}
struct __attribute__((packed)) { int *data; size_t bytes; int k, result; } a;
struct __attribute__((packed)) { int *data; size_t bytes; int *all; size_t allBytes; } t;
static int *data, *all;
static void *launched(void) {
  return __hpvm__launch(0, once, &a); /* launched */
}
static void *streaming(void) {
  return __hpvm__launch(1, many, NULL); /* streaming */
}
int main(int count, char **words) {
  const char *mistake = count > 1 ? words[1] : "";
#define IF(name) if (strcmp(mistake, name) == 0)
  IF("outside") __hpvm__wait(NULL); /* outside */
  __hpvm__init();
  data = calloc(10, sizeof(int)), all = calloc(1, sizeof(int));
  a.data = t.data = data, a.bytes = t.bytes = 10 * sizeof(int), a.k = 3;
  t.all = all, t.allBytes = sizeof(int);
  IF("untracked") launched();
  llvm_hpvm_track_mem(data, 10 * sizeof(int));
  llvm_hpvm_track_mem(all, sizeof(int));
  IF("tracked twice") llvm_hpvm_track_mem(data, 4); /* tracked twice */
  IF("huge") llvm_hpvm_track_mem(data + 1, (size_t)-1); /* huge */
  IF("not tracked") llvm_hpvm_untrack_mem(data + 1); /* not tracked */
  IF("asks for more") llvm_hpvm_request_mem(data, 41); /* asks for more */
  IF("no handle") __hpvm__wait(data); /* no handle */
  IF("null handle") __hpvm__push(NULL, &a); /* null handle */
  IF("initialised twice") __hpvm__init(); /* initialised twice */
  IF("too short") { a.bytes = 44; launched(); }
  IF("null") __hpvm__launch(0, once, NULL); /* null */
  IF("node called") add(data, 40, 3); /* node called */
  void *graph = launched();
  IF("requested early") llvm_hpvm_request_mem(data, 40); /* requested early */
  IF("untracked early") llvm_hpvm_untrack_mem(data); /* untracked early */
  IF("cleaned up early") __hpvm__cleanup(); /* cleaned up early */
  IF("not streaming") __hpvm__pop(graph); /* not streaming */
  __hpvm__wait(graph);
  void *other = launched();
  IF("waited twice") __hpvm__wait(graph); /* waited twice */
  __hpvm__wait(other);
  llvm_hpvm_request_mem(data, 40);
  /* What is only read may be requested, and not untracked. */
  void *reader = __hpvm__launch(0, total, &t); /* reader */
  llvm_hpvm_request_mem(data, 40);
  IF("result early") llvm_hpvm_request_mem(all, 4); /* result early */
  IF("untracked while read") llvm_hpvm_untrack_mem(data); /* untracked while read */
  __hpvm__wait(reader);
  llvm_hpvm_request_mem(all, 4);
  void *stream = streaming();
  IF("popped before") __hpvm__pop(stream); /* popped before */
  __hpvm__push(stream, &a);
  __hpvm__push(stream, &a);
  IF("pushes null") __hpvm__push(stream, NULL); /* pushes null */
  free(__hpvm__pop(stream));
  IF("item early") llvm_hpvm_request_mem(data, 40); /* item early */
  IF("stream left") __hpvm__cleanup(); /* stream left */
  free(__hpvm__pop(stream));
  llvm_hpvm_request_mem(data, 40);
  IF("popped too often") __hpvm__pop(stream); /* popped too often */
  __hpvm__wait(stream);
  IF("pushed late") __hpvm__push(stream, &a); /* pushed late */
  IF("popped late") __hpvm__pop(stream); /* popped late */
  IF("stream waited twice") __hpvm__wait(stream); /* stream waited twice */
  llvm_hpvm_untrack_mem(data);
  llvm_hpvm_untrack_mem(all);
  __hpvm__cleanup();
  printf("%d %d\\n", data[9], all[0]);
  free(data), free(all);
  return 0;
}
"""
# Of each: the line it is told at, the code, and what the message says.
TOLD = {
    "outside": ("outside", "hpvm-not-initialised", "__hpvm__wait is called outside of"),
    "untracked": ("launched", "hpvm-untracked", "argument 'data' of graph 'once'"),
    "tracked twice": ("tracked twice", "hpvm-tracked-twice", "llvm_hpvm_track_mem"),
    "huge": ("huge", "hpvm-no-object", "more than there are"),
    "not tracked": ("not tracked", "hpvm-not-tracked", "llvm_hpvm_untrack_mem"),
    "asks for more": ("asks for more", "hpvm-object-too-short", "41 bytes of an object of 40"),
    "no handle": ("no handle", "hpvm-unknown-launch", "__hpvm__wait is given what is no handle"),
    "null handle": ("null handle", "hpvm-unknown-launch", "__hpvm__push"),
    "initialised twice": ("initialised twice", "hpvm-initialised-twice", "__hpvm__init"),
    "too short": ("launched", "hpvm-object-too-short", "said to have 44 bytes, and 40 are tracked"),
    "null": ("null", "hpvm-no-arguments", "graph 'once' has 3 inputs and 1 output"),
    "node called": ("node called", "hpvm-outside-graph", "node function 'add' is called as a function of C"),
    "requested early": ("requested early", "hpvm-not-waited", "graph 'once' writes, which was launched at {launched} and has not been waited for"),
    "untracked early": ("untracked early", "hpvm-not-waited", "llvm_hpvm_untrack_mem is given an object that graph 'once' writes"),
    "cleaned up early": ("cleaned up early", "hpvm-not-waited", "graph 'once', which was launched at {launched}, has not been waited for"),
    "not streaming": ("not streaming", "hpvm-not-streaming", "graph 'once', whose launch at {launched} is not streaming"),
    "waited twice": ("waited twice", "hpvm-waited-twice", "__hpvm__wait is called twice for one launch"),
    "result early": ("result early", "hpvm-not-waited", "graph 'total' writes, which was launched at {reader}"),
    "untracked while read": ("untracked while read", "hpvm-not-waited", "graph 'total' reads, which was launched at {reader}"),
    "popped before": ("popped before", "runtime-deadlock", "__hpvm__pop waits for a result of graph 'many', launched at {streaming}"),
    "pushes null": ("pushes null", "hpvm-no-arguments", "__hpvm__push is given a null pointer"),
    "item early": ("item early", "hpvm-not-waited", "launched at {streaming} and has items whose results have not been popped"),
    "stream left": ("stream left", "hpvm-not-waited", "graph 'many', which was launched at {streaming}"),
    "popped too often": ("popped too often", "runtime-deadlock", "to which no more items have been pushed"),
    "pushed late": ("pushed late", "hpvm-push-after-wait", "__hpvm__push"),
    "popped late": ("popped late", "hpvm-pop-empty", "__hpvm__pop"),
    "stream waited twice": ("stream waited twice", "hpvm-waited-twice", "__hpvm__wait"),
}

# A barrier that some instances do not come to, seen as LLVM code and as loops.
BARRIER = """
#include <hpvm.h>
%s
void turn(int *p, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  %s
  p[i] += 1;
}
void graph(int *p, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, p, 1, p);
  void *node = __hpvm__createNodeND(1, turn, 10);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
}
int main(void) {
  static int p[10];
  struct __attribute__((packed)) { int *p; size_t bytes; } given = {p, sizeof p};
  __hpvm__init();
  llvm_hpvm_track_mem(p, sizeof p);
  __hpvm__wait(__hpvm__launch(0, graph, &given));
  llvm_hpvm_untrack_mem(p);
  __hpvm__cleanup();
  return 0;
}
"""

# Threads that use handles wrongly at the same time end the program with a message, or each alone gets what it asks for.
THREADS = """
#include <hpvm.h>
#include <pthread.h>
#include <stdlib.h>
void same(int k) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__return(1, k);
}
void graph(int k) {
  __hpvm__hint(hpvm::CPU_TARGET);
  void *node = __hpvm__createNodeND(0, same);
  __hpvm__bindIn(node, 0, 0, 1);
  __hpvm__bindOut(node, 0, 0, 1);
}
static void *many(void *) {
  for (int i = 0; i < 1500; ++i) {
    void *launched = __hpvm__launch(1, (void *)graph, nullptr);
    __hpvm__push(launched, &i);
    int *result = (int *)__hpvm__pop(launched);
    if (*result != i) abort();
    free(result);
    __hpvm__wait(launched);
  }
  return nullptr;
}
int main() {
  __hpvm__init();
  pthread_t threads[3];
  for (pthread_t &each : threads) pthread_create(&each, nullptr, many, nullptr);
  for (pthread_t &each : threads) pthread_join(each, nullptr);
  __hpvm__cleanup();
}
"""


class HpvmMisuse(harness.Case):
    def ended(self, program, *words, threads="2"):
        return subprocess.run([self.path(program), *words], capture_output=True, text=True, timeout=600, env={**os.environ, "STRATA_THREADS": threads})

    def test_mistakes_of_the_host_have_places(self):
        self.write("wrong.c", MISTAKES)
        places = {name: f"wrong.c:{number}:" for number, line in enumerate(MISTAKES.split("\n"), 1) for name in re.findall(r"/\* ([\w ]+) \*/$", line)}
        for options in (["-O2"], ["-O0"], ["-O1", "-fPIE"]):
            self.succeeds("cc", *options, "wrong.c", "-o", "wrong")
            done = self.ended("wrong")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "12 60\n", ""))
            for mistake, (place, code, text) in TOLD.items():
                said = self.ended("wrong", mistake).stderr
                first, *rest = said.split("\n")
                self.assertRegex(first, "^" + re.escape(places[place]) + r"\d+: error: .* \[" + code + r"\]$", (options, mistake, said))
                for part in re.split(r"\{\w+\}", text):
                    self.assertIn(part, first, mistake)
                for name in re.findall(r"\{(\w+)\}", text):
                    self.assertIn(" at " + places[name], first, mistake)
                self.assertRegex(rest[0], "^  help: ", mistake)

    def test_barriers_that_not_all_instances_reach(self):
        for start, body, how in (("", "if (p[i] > 5 || i == 3) __hpvm__barrier();", "1 of 10"),
                                 ("", "if (i < 4) __hpvm__barrier();", "4 of 10"),
                                 ("", "for (long k = 0; k < i; ++k) __hpvm__barrier();", "9 of 10"),
                                 ("int printf(const char *, ...);", 'if (i < 0) printf("-"); if (i < 4) __hpvm__barrier();', "4 of 10")):
            self.write("turn.c", BARRIER % (start, body))
            self.succeeds("cc", "-O2", "turn.c", "-o", "turn")
            for threads in ("1", "2", "5"):
                done = self.ended("turn", threads=threads)
                self.assertEqual(done.returncode, 1, body)
                self.assertRegex(done.stderr, rf"^turn\.c:8:\d+: error: {how} instances of node 'turn' wait at this barrier.*\[runtime-barrier\]\n"
                                              "  help: all instances must reach a barrier", body)

    def test_launches_of_many_threads(self):
        self.succeeds("c++", "-O1", self.write("threads.cpp", THREADS), "-o", "threads")
        done = self.ended("threads")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    harness.main()
