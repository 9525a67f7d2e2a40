/* Loops in C with OpenMP: the peers of the array programs. Blocks are those of the examples' mappings; edges are cut
 * with a minimum, as there. */
#include "benchmarks/peers/peers.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(WORDS) #WORDS
#define NUMBER(MACRO) TEXT(MACRO)

void bench_peer_threads(int threads) {
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
}

const char* bench_peer_compiler(void) {
  return "clang " NUMBER(__clang_major__) "." NUMBER(__clang_minor__) "." NUMBER(__clang_patchlevel__);
}

const char* bench_peer_openmp(void) {
#if _OPENMP >= 202011
  return "OpenMP 5.1";
#else
  return "OpenMP 5.0 or before";
#endif
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void bench_add(const float* restrict a, const float* restrict b, float* restrict c, int64_t n) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; i++)
    c[i] = a[i] + b[i];
}

void bench_saxpy(float a, const float* restrict x, float* restrict y, int64_t n) {
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; i++)
    y[i] = a * x[i] + y[i];
}

void bench_add_plain(const float* restrict a, const float* restrict b, float* restrict c, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    c[i] = a[i] + b[i];
}

void bench_saxpy_plain(float a, const float* restrict x, float* restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    y[i] = a * x[i] + y[i];
}

void bench_logistic(const float* restrict x, float* restrict y, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const float e = expf(x[i]);
    y[i] = e / (1.0f + e);
  }
}

void bench_matmul(const float* restrict a, const float* restrict b, float* restrict c, int64_t m, int64_t n,
                  int64_t p) {
#pragma omp parallel for collapse(2)
  for (int64_t i0 = 0; i0 < m; i0 += bench_matmul_rows)
    for (int64_t j0 = 0; j0 < n; j0 += bench_matmul_columns) {
      int64_t i1 = least(m, i0 + bench_matmul_rows), j1 = least(n, j0 + bench_matmul_columns);
      for (int64_t k0 = 0; k0 < p; k0 += bench_matmul_depth) {
        int64_t k1 = least(p, k0 + bench_matmul_depth);
        for (int64_t i = i0; i < i1; i++)
          for (int64_t k = k0; k < k1; k++)
            for (int64_t j = j0; j < j1; j++)
              c[i * n + j] += a[i * p + k] * b[k * n + j];
      }
    }
}

void bench_conv2d(const float* restrict a, const float* restrict h, float* restrict c, int64_t m, int64_t n, int64_t u,
                  int64_t v) {
  int64_t pitch = n + v - 1;
#pragma omp parallel for collapse(2)
  for (int64_t i0 = 0; i0 < m; i0 += bench_conv2d_rows)
    for (int64_t j0 = 0; j0 < n; j0 += bench_conv2d_columns) {
      int64_t i1 = least(m, i0 + bench_conv2d_rows), j1 = least(n, j0 + bench_conv2d_columns);
      for (int64_t i = i0; i < i1; i++)
        for (int64_t j = j0; j < j1; j++) {
          float sum = 0;
          for (int64_t k = 0; k < u; k++)
            for (int64_t l = 0; l < v; l++)
              sum += h[k * v + l] * a[(i + k) * pitch + j + l];
          c[i * n + j] = sum;
        }
    }
}

/* Blocks first … end of way `way`: neighbouring blocks, as even as they go. */
static int64_t first_block(int64_t blocks, int64_t ways, int64_t way) {
  return blocks * way / ways;
}

void bench_histogram(const int32_t* restrict data, int64_t n, int32_t* restrict bins, int64_t count) {
  int64_t blocks = (n + bench_histogram_block - 1) / bench_histogram_block;
  int32_t* parts = calloc((size_t)(bench_histogram_ways * count), sizeof *parts);
  if (!parts)
    abort();
#pragma omp parallel for
  for (int64_t way = 0; way < bench_histogram_ways; way++) {
    int32_t* part = parts + way * count;
    int64_t end = first_block(blocks, bench_histogram_ways, way + 1);
    for (int64_t block = first_block(blocks, bench_histogram_ways, way); block < end; block++) {
      int64_t last = least(n, (block + 1) * bench_histogram_block);
      for (int64_t i = block * bench_histogram_block; i < last; i++)
        part[data[i]]++;
    }
  }
  for (int64_t way = 0; way < bench_histogram_ways; way++)
    for (int64_t bin = 0; bin < count; bin++)
      bins[bin] += parts[way * count + bin];
  free(parts);
}

void bench_sum(const float* restrict data, int64_t n, float* restrict total) {
  int64_t blocks = (n + bench_sum_block - 1) / bench_sum_block;
  float parts[bench_sum_ways] = {0};
#pragma omp parallel for
  for (int64_t way = 0; way < bench_sum_ways; way++) {
    int64_t end = first_block(blocks, bench_sum_ways, way + 1);
    for (int64_t block = first_block(blocks, bench_sum_ways, way); block < end; block++) {
      int64_t last = least(n, (block + 1) * bench_sum_block);
      float sum = 0;
      for (int64_t i = block * bench_sum_block; i < last; i++)
        sum += data[i];
      parts[way] += sum;
    }
  }
  for (int64_t way = 0; way < bench_sum_ways; way++)
    *total += parts[way];
}

void bench_double(const float* restrict a, float* restrict b, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    b[i] = 2.0f * a[i];
}

__attribute__((noinline)) static void double_one(const float* a, float* b) {
  b[0] = 2.0f * a[0];
}

void bench_double_calls(const float* a, float* b, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double_one(a + i, b + i);
    /* Keeps the call a call: nothing about it may be assumed. */
    __asm__ volatile("" ::: "memory");
  }
}
