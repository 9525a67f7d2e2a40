/* One-sided moves, a stencil and a product of matrices with MPI. */
#include "benchmarks/peers/nodes.h"
#include "benchmarks/peers/peers.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm all;
static int own, count;
static MPI_Win window = MPI_WIN_NULL;
static double handed_out;

const char* bench_nodes_begin(int threads) {
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  MPI_Comm_rank(all, &own);
  MPI_Comm_size(all, &count);
  return bench_blas_begin(threads);
}

const char* bench_nodes_library(void) {
  static char name[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(name, &length);
  /* "Open MPI v4.1.4, package: …" */
  name[strcspn(name, ",\n")] = '\0';
  return name;
}

static double now(void) {
  return MPI_Wtime();
}

/* ---- one-sided moves ---- */

void bench_nodes_window(void* there, int64_t bytes, int64_t is_ours) {
  if (window != MPI_WIN_NULL) {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  const MPI_Aint size = own == 1 ? bytes : 0;
  if (is_ours)
    MPI_Win_create(there, size, 1, MPI_INFO_NULL, all, &window);
  else
    MPI_Win_allocate(size, 1, MPI_INFO_NULL, all, &there, &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
}

double bench_nodes_put(const void* from, int64_t bytes, int64_t times) {
  MPI_Barrier(all);
  const double begin = now();
  for (int64_t i = 0; own == 0 && i < times; ++i) {
    MPI_Put(from, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(1, window);
  }
  const double seconds = now() - begin;
  MPI_Barrier(all);
  return seconds;
}

void bench_nodes_get(void* to, int64_t bytes) {
  MPI_Barrier(all);
  if (own == 0) {
    MPI_Get(to, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, window);
    MPI_Win_flush(1, window);
  }
  MPI_Barrier(all);
}

/* ---- shares of rows ---- */

static int64_t first_of(int rank, int64_t rows) {
  return rank * rows / count;
}

/* Memory for a share that is used again in the next call. */
static float* room(int which, int64_t floats) {
  static float* kept[8];
  static int64_t has[8];
  if (has[which] < floats) {
    free(kept[which]);
    kept[which] = aligned_alloc(64, ((size_t)floats * sizeof(float) + 63) / 64 * 64);
    has[which] = floats;
    if (!kept[which])
      MPI_Abort(MPI_COMM_WORLD, 1);
    memset(kept[which], 0, (size_t)floats * sizeof(float));
  }
  return kept[which];
}

/* Rows of process 0's array to or from the processes that have them. */
static void hand(float* whole, float* share, int64_t rows, int64_t columns, int gathers) {
  int counts[count], firsts[count];
  for (int rank = 0; rank < count; ++rank) {
    firsts[rank] = (int)(first_of(rank, rows) * columns);
    counts[rank] = (int)(first_of(rank + 1, rows) * columns) - firsts[rank];
  }
  if (gathers)
    MPI_Gatherv(share, counts[own], MPI_FLOAT, whole, counts, firsts, MPI_FLOAT, 0, all);
  else
    MPI_Scatterv(whole, counts, firsts, MPI_FLOAT, share, counts[own], MPI_FLOAT, 0, all);
}

double bench_nodes_handed_out(void) {
  return handed_out;
}

/* ---- the stencil ---- */

/* A share's rows have one of each neighbour's before and behind them. */
static void step(float* restrict from, float* restrict to, int64_t rows, int64_t n, int64_t first, int64_t last) {
  const int before = own > 0 ? own - 1 : MPI_PROC_NULL, behind = own + 1 < count ? own + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(from + n, (int)n, MPI_FLOAT, before, 0, from + (rows + 1) * n, (int)n, MPI_FLOAT, behind, 0, all,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(from + rows * n, (int)n, MPI_FLOAT, behind, 0, from, (int)n, MPI_FLOAT, before, 0, all,
               MPI_STATUS_IGNORE);
  for (int64_t i = first; i < last; ++i) {
    const float *above = from + (i - 1) * n, *here = from + i * n, *below = from + (i + 1) * n;
    float* out = to + i * n;
    for (int64_t j = 1; j < n - 1; ++j)
      out[j] = 0.25f * (above[j] + here[j - 1] + here[j + 1] + below[j]);
  }
}

double bench_nodes_heat(float* a, float* b, int64_t m, int64_t n, int64_t pairs) {
  const int64_t rows = first_of(own + 1, m) - first_of(own, m);
  float *u = room(0, (rows + 2) * n), *v = room(1, (rows + 2) * n);
  /* The border stays. */
  const int64_t first = own == 0 ? 2 : 1, last = own + 1 == count ? rows : rows + 1;
  MPI_Barrier(all);
  const double begin = now();
  hand(a, u + n, m, n, 0);
  hand(b, v + n, m, n, 0);
  handed_out = now() - begin;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    step(u, v, rows, n, first, last);
    step(v, u, rows, n, first, last);
  }
  hand(a, u + n, m, n, 1);
  hand(b, v + n, m, n, 1);
  return now() - begin;
}

/* ---- the product ---- */

double bench_nodes_product(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, int64_t depth) {
  const int64_t rows = first_of(own + 1, m) - first_of(own, m), deep = first_of(own + 1, k) - first_of(own, k);
  float *as = room(2, rows * k), *bs = room(3, deep * n), *cs = room(4, rows * n), *panel = room(5, depth * n);
  MPI_Barrier(all);
  const double begin = now();
  hand((float*)a, as, m, k, 0);
  hand((float*)b, bs, k, n, 0);
  hand(c, cs, m, n, 0);
  handed_out = now() - begin;
  for (int has = 0; has < count; ++has) {
    const int64_t from = first_of(has, k), to = first_of(has + 1, k);
    for (int64_t at = from; at < to; at += depth) {
      const int64_t high = at + depth < to ? depth : to - at;
      float* sent = own == has ? bs + (at - from) * n : panel;
      MPI_Bcast(sent, (int)(high * n), MPI_FLOAT, has, all);
      bench_blas_sgemm_part(as + at, k, sent, n, cs, n, rows, n, high);
    }
  }
  hand(c, cs, m, n, 1);
  return now() - begin;
}
