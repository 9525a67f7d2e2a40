/* A vector sum over files: plain reads and writes of a few MiB, one after another, as cp would do them. */
#define _GNU_SOURCE
#include "benchmarks/peers/peers.h"

#include <stdlib.h>
#include <unistd.h>

enum { piece = 1 << 20 }; /* floats */

static int transfer(int file, char* memory, long bytes, long at, int writes) {
  while (bytes > 0) {
    const long done = writes ? pwrite(file, memory, (size_t)bytes, at) : pread(file, memory, (size_t)bytes, at);
    if (done <= 0)
      return 0;
    memory += done;
    at += done;
    bytes -= done;
  }
  return 1;
}

void bench_disk_sum(int a, int b, int c, int64_t n) {
  static float *x, *y;
  if (!x) {
    x = aligned_alloc(4096, piece * sizeof(float));
    y = aligned_alloc(4096, piece * sizeof(float));
  }
  if (!x || !y)
    abort();
  for (int64_t i = 0; i < n; i += piece) {
    const int64_t count = n - i < piece ? n - i : piece;
    const long bytes = (long)(count * (int64_t)sizeof(float)), at = (long)(i * (int64_t)sizeof(float));
    if (!transfer(a, (char*)x, bytes, at, 0) || !transfer(b, (char*)y, bytes, at, 0))
      abort();
    for (int64_t k = 0; k < count; ++k)
      x[k] += y[k];
    if (!transfer(c, (char*)x, bytes, at, 1))
      abort();
  }
}
