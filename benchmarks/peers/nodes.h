/* The peers of programs over several processes: what an MPI programmer would write. Every process calls each function
 * with the same numbers. Arrays are dense and process 0's, null in the others: it hands out their shares and gathers
 * the result, as a program of Strata does. A function gives the seconds from a barrier to the end in process 0. */
#ifndef STRATA_BENCHMARKS_PEERS_NODES_H
#define STRATA_BENCHMARKS_PEERS_NODES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once, before all others; MPI has begun. `threads` are the product's. Null, or why it cannot be. */
const char* bench_nodes_begin(int threads);
/* "Open MPI v4.1.4" */
const char* bench_nodes_library(void);

/* Opens a window of process 1's memory at `there`, or of memory that MPI allocates where `is_ours` is 0; what was
 * open before is closed. */
void bench_nodes_window(void* there, int64_t bytes, int64_t is_ours);
/* Process 0 puts `bytes` bytes there and waits for them, so many times. */
double bench_nodes_put(const void* from, int64_t bytes, int64_t times);
/* What lies there now. */
void bench_nodes_get(void* to, int64_t bytes);

/* 2 * pairs steps of examples/sequoia/heat on m by n plates; rows are split evenly */
double bench_nodes_heat(float* a, float* b, int64_t m, int64_t n, int64_t pairs);
/* C += A B, for an m by k and a k by n matrix: SUMMA. Rows of all three are split evenly, and panels of `depth` rows of
 * B are sent to all. */
double bench_nodes_product(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, int64_t depth);
/* The same by ScaLAPACK's psgemm, in blocks of `block` by `block`, handed out and gathered by its own functions. */
double bench_nodes_scalapack(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, int64_t block);

/* Of the seconds of the last call, those before the first step: all that was handed out. */
double bench_nodes_handed_out(void);

#ifdef __cplusplus
}
#endif

#endif
