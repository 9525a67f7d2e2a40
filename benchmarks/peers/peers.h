/* The peers: what a careful programmer would write without Strata, compiled with clang -O3 -march=native -fopenmp.
 * Arrays do not overlap unless a comment says so. Called from one thread; each uses as many threads as
 * bench_peer_threads said last, or as many as it names. */
#ifndef STRATA_BENCHMARKS_PEERS_H
#define STRATA_BENCHMARKS_PEERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Block sizes and ways of splitting, as the host.map of each example states them; strata-bench compares them with that
 * file. */
enum {
  bench_matmul_rows = 128,
  bench_matmul_columns = 256,
  bench_matmul_depth = 256,
  bench_conv2d_rows = 256,
  bench_conv2d_columns = 512,
  bench_histogram_block = 131072,
  bench_histogram_ways = 16,
  bench_sum_block = 131072,
  bench_sum_ways = 16,
  bench_sgemv_rows = 32,
  bench_sgemv_columns = 4096,
  bench_fft3d_rows = 1,
  bench_fft3d_columns = 64,
  bench_gravity_pulled = 512,
  bench_gravity_pulling = 2048,
  bench_hmmer_batch = 16
};

void bench_peer_threads(int threads);
const char* bench_peer_compiler(void);
const char* bench_peer_openmp(void);
const char* bench_peer_boost(void);
const char* bench_peer_tbb(void);

/* c = a + b */
void bench_add(const float* a, const float* b, float* c, int64_t n);
/* y = a * x + y */
void bench_saxpy(float a, const float* x, float* y, int64_t n);
/* The same without OpenMP, whose entry costs more than a small loop. */
void bench_add_plain(const float* a, const float* b, float* c, int64_t n);
void bench_saxpy_plain(float a, const float* x, float* y, int64_t n);
/* y[i] = e^x[i] / (1 + e^x[i]) */
void bench_logistic(const float* x, float* y, int64_t n);
/* C += A B, for an m by p matrix A and a p by n matrix B, in blocks, i-k-j within a block */
void bench_matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t p);
/* OpenBLAS, with that many threads; null, or why it is not there. Then its version and core, and c = a b + beta c, for
 * an m by k and a k by n matrix. */
const char* bench_blas_begin(int threads);
const char* bench_blas_name(void);
void bench_blas_sgemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, float beta);
/* c = a b, with those that are turned stored by columns */
void bench_blas_sgemm_turned(const float* a, int isTurnedA, const float* b, int isTurnedB, float* c, int64_t m,
                             int64_t n, int64_t k);
/* c += a b for parts of matrices whose rows are `lda`, `ldb` and `ldc` elements apart */
void bench_blas_sgemm_part(const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, int64_t m,
                           int64_t n, int64_t k);
void bench_blas_dgemm(const double* a, const double* b, double* c, int64_t m, int64_t n, int64_t k, double beta);
/* c[i][j] = sum of h[u][v] * a[i+u][j+v], in blocks of c */
void bench_conv2d(const float* a, const float* h, float* c, int64_t m, int64_t n, int64_t u, int64_t v);
/* bins[data[i]] += 1, blocks distributed to a fixed number of parts with bins of their own */
void bench_histogram(const int32_t* data, int64_t n, int32_t* bins, int64_t count);
/* total += data, split likewise, each block summed from left to right */
void bench_sum(const float* data, int64_t n, float* total);
/* c = a + b on files of n floats, read and written in order; ends the program when the disk fails */
void bench_disk_sum(int a, int b, int c, int64_t n);
/* y += A x, for an m by n matrix, with 16 partial sums along a row */
void bench_sgemv(const float* a, const float* x, float* y, int64_t m, int64_t n);
/* The Fourier transform of l by m by n complex numbers along all dimensions. The scratch has room for two such arrays
 * and as many roots as the longest dimension has elements. */
void bench_fft3d(const float* a, float* b, float* scratch, int64_t l, int64_t m, int64_t n);
/* a += the accelerations of n bodies by p; rows of x, y, z and mass, and of accelerations */
void bench_gravity(const float* at, const float* from, float soft, float* a, int64_t n, int64_t p);
/* Scores of `count` sequences of up to `longest` residues against a profile: see examples/sequoia/hmmer */
void bench_hmmer(const int8_t* residues, const int32_t* length, const int32_t* match, const int32_t* insert,
                 const int32_t* step, int32_t* score, int64_t count, int64_t longest, int64_t nodes);
/* b = 2 a, as a loop, and through a function that is not inlined */
void bench_double(const float* a, float* b, int64_t n);
void bench_double_calls(const float* a, float* b, int64_t n);

/* Bytes per second of STREAM's triad on arrays far larger than any cache, best of several. */
double bench_triad_bandwidth(void);
/* Fused multiply-adds in registers, as floating-point operations per second, best of several. */
double bench_fma_peak(void);

/* Chains of `stages` kernels (2 or 3), each on a thread of its own, over rings of `capacity` floats: the first reads
 * `in`, the last writes `out`, one between doubles and adds one. A side that finds no room or no element tries again
 * some times, then yields. */
void bench_ring(const float* in, float* out, int64_t n, int32_t stages, int64_t capacity);
/* One thread fills such a ring and empties it, until n floats are through. n is a multiple of the capacity. */
void bench_ring_alone(const float* in, float* out, int64_t n, int64_t capacity);
/* So many times, one of two threads on one core gives way to the other. */
void bench_thread_switches(int64_t n);
/* The chain through nodes of a oneTBB flow graph, with at most `threads` threads. */
void bench_flow(const float* in, float* out, int64_t n, int32_t stages, int32_t threads);

/* The loops of the graphs in programs/graphs.h. */
void bench_loops_increment(float* values, int64_t n);
void bench_loops_matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k);
void bench_loops_convolve(const float* image, const float* filter, float* result, int64_t width, int64_t height,
                          int64_t size);
void bench_loops_stencil(const float* from, float* to, int32_t nx, int32_t ny, int32_t nz);
void bench_loops_sparse(const float* values, const int32_t* columns, const int32_t* starts, const float* x, float* y,
                        int64_t rows);
void bench_loops_jagged(const float* values, const int32_t* columns, const int32_t* starts, const int32_t* lengths,
                        const float* x, float* y, int64_t rows);
void bench_loops_lattice(const float* from, float* to, const unsigned char* solid, int32_t width, int32_t height,
                         float rate);

#ifdef __cplusplus
}
#endif

#endif
