"""Programs whose threads call entry points at the same time: of one library, and of libraries that were built for different machines,
with one runtime between them. Every result is compared with what plain C says; a call that is refused disturbs no other."""

import os
import subprocess

import harness
from harness import ROOT

SEQUOIA = os.path.join(ROOT, "examples/sequoia")

CALLERS = r"""
#include "matmul.h"
#include "vectadd.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local jmp_buf back;
static _Thread_local int refused;
static void jump(const char *code, const char *message) {
  (void)message;
  refused += strcmp(code, "sequoia-size-mismatch") == 0;
  longjmp(back, 1);
}

static float *numbers(sqArray_t *array, long count, long seed) {
  float *at = array->ptr;
  for (long i = 0; i < count; ++i) at[i] = (float)((i * 7 + seed) % 31 - 15);
  return at;
}

/* Adds vectors of another length and other numbers each time. */
static void *add(void *argument) {
  const long number = *(long *)argument, rounds = ((long *)argument)[1];
  long wrong = 0;
  for (long round = 0; round < rounds; ++round) {
    const long n = 1 + (round * 37 + number * 11) % 900;
    sqArray_t *a = sqAllocArray1D(4, n), *b = sqAllocArray1D(4, n), *c = sqAllocArray1D(4, n);
    const float *x = numbers(a, n, round + number), *y = numbers(b, n, 3 * round), *z = c->ptr;
    AddVectors_Split(a, b, c);
    for (long i = 0; i < n; ++i) wrong += z[i] != x[i] + y[i];
    sqFreeArray(a), sqFreeArray(b), sqFreeArray(c);
  }
  return (void *)wrong;
}

/* The same with calls between that are refused, which the handler leaves by a jump. */
static void *add_and_fail(void *argument) {
  long wrong = 0, rounds = ((long *)argument)[1], one[] = {*(long *)argument, 1};
  sqArray_t *a = sqAllocArray1D(4, 50), *c = sqAllocArray1D(4, 49);
  for (volatile long round = 0; round < rounds; ++round) {
    if (!setjmp(back)) AddVectors_Split(a, a, c), ++wrong;
    wrong += (long)add(one);
  }
  sqFreeArray(a), sqFreeArray(c);
  return (void *)(wrong + (refused != rounds));
}

static void *multiply(void *argument) {
  const long rounds = ((long *)argument)[1];
  long wrong = 0;
  for (long round = 0; round < rounds; ++round) {
    const long m = 1 + round % 23, n = 1 + round % 17, k = 1 + round % 29;
    sqArray_t *a = sqAllocArray2D(4, m, k), *b = sqAllocArray2D(4, k, n), *c = sqAllocArray2D(4, m, n);
    const float *x = numbers(a, m * k, round), *y = numbers(b, k * n, 5 * round), *z = memset(c->ptr, 0, 4 * m * n);
    Product_Outer(c, a, b);
    for (long i = 0; i < m; ++i)
      for (long j = 0; j < n; ++j) {
        float sum = 0;
        for (long l = 0; l < k; ++l) sum += x[i * k + l] * y[l * n + j];
        wrong += z[i * n + j] != sum; /* whole numbers: exact in any order */
      }
    sqFreeArray(a), sqFreeArray(b), sqFreeArray(c);
  }
  return (void *)wrong;
}

int main(int count, char **arguments) {
  void *(*work[])(void *) = {add, multiply, add, add_and_fail};
  long given[4][2], wrong = 0;
  pthread_t threads[4];
  (void)count;
  sqSetErrorHandler(jump);
  for (long i = 0; i < 4; ++i) {
    given[i][0] = i, given[i][1] = atol(arguments[1]);
    if (pthread_create(&threads[i], 0, work[i], given[i])) return 2;
  }
  for (long i = 0; i < 4; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    wrong += (long)result;
  }
  printf("%ld wrong\n", wrong);
  return 0;
}
"""

NESTED = """
void task Scale(in float A[N], out float B[N]);
void task<inner> Scale::Parts(in float A[N], out float B[N])
{
  tunable block;
  mappar (long i = 0 : (N + block - 1) / block) { Scale(A[block*i;block], B[block*i;block]); }
}
void task<ext> Scale::E(in float A[N], out float B[N]);
"""

NESTED_MAP = """#include "cell"
task Scale: entrypoint(Top) {
  instance Top::Parts(level 2) {
    tunable block = 32;
    control(level 2) { loop i(level 0) { } callsite Scale() { target Low() { } } }
  }
  instance Low::E(level 0) external("scale.c") { }
}
"""

NESTED_C = r"""
#include "scale.h"
#include <pthread.h>
#include <stdio.h>

static void *scale(void *argument) {
  long wrong = 0;
  for (long round = 0; round < 20; ++round) {
    const long n = 1 + (round * 53) % 700;
    sqArray_t *a = sqAllocArray1D(4, n), *b = sqAllocArray1D(4, n);
    float *x = a->ptr, *y = b->ptr;
    for (long i = 0; i < n; ++i) x[i] = (float)(i + round + (argument != 0));
    Top(a, b);
    for (long i = 0; i < n; ++i) wrong += y[i] != 2 * x[i];
    sqFreeArray(a), sqFreeArray(b);
  }
  return (void *)wrong;
}

int main(void) {
  pthread_t other;
  void *wrong;
  if (pthread_create(&other, 0, scale, &other)) return 2;
  const long own = (long)scale(0);
  pthread_join(other, &wrong);
  printf("%ld wrong\n", own + (long)wrong);
  return 0;
}
"""


class Callers(harness.Case):

    def archive(self, program, mapping, name):
        self.succeeds("build", os.path.join(SEQUOIA, program, program + ".sq"), "--map", os.path.join(SEQUOIA, program, mapping + ".map"), "-o", name)

    def link(self, *archives):
        runtime = os.path.join(os.path.dirname(os.path.dirname(harness.options.strata)), "lib/libstrata.a")
        subprocess.run(["clang-19", "-O1", "-Wall", "-Wextra", "-Werror", "main.c", "-I" + os.path.join(ROOT, "include"), *archives, runtime,
                        "-lstdc++", "-lm", "-lpthread", "-o", "app"], cwd=self.folder, check=True)

    def test_two_libraries_for_different_machines_and_one_of_them_twice(self):
        self.archive("vectadd", "cell", "vectadd.a")
        self.archive("matmul", "cluster", "matmul.a")
        self.write("main.c", CALLERS)
        self.link("vectadd.a", "matmul.a")
        done = subprocess.run([self.path("app"), "3000"], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0 wrong\n", ""))

    def test_a_task_in_c_that_calls_another_library(self):
        """From parts that run at once; the two libraries are for different machines."""
        self.archive("vectadd", "cell-disk", "vectadd.a")
        self.write("scale.sq", NESTED)
        self.write("scale.map", NESTED_MAP)
        self.write("scale.c", '#include "vectadd.h"\n#include "sequoia_ext.h"\nvoid Low(sqArray_t *A, sqArray_t *B) { AddVectors_Split(A, A, B); }\n')
        self.succeeds("build", "scale.sq", "--map", "scale.map", "-o", "scale.a")
        self.write("main.c", NESTED_C)
        self.link("scale.a", "vectadd.a")
        done = subprocess.run([self.path("app")], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0 wrong\n", ""))


if __name__ == "__main__":
    harness.main()
