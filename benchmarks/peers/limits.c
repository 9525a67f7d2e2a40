/* What this computer can do at most, measured: the bandwidth of its memory by STREAM's triad, and multiply-adds in
 * registers. Figures are put beside these. */
#include "benchmarks/peers/peers.h"

#include <omp.h>
#include <stdlib.h>

enum { triad_elements = 1 << 25, tries = 7 };

double bench_triad_bandwidth(void) {
  size_t bytes = sizeof(float) * triad_elements;
  float *a = aligned_alloc(4096, bytes), *b = aligned_alloc(4096, bytes), *c = aligned_alloc(4096, bytes);
  double best = 0;
  if (a && b && c) {
#pragma omp parallel for
    for (int64_t i = 0; i < triad_elements; i++)
      a[i] = 0, b[i] = 1, c[i] = 2;
    for (int attempt = 0; attempt < tries; attempt++) {
      double begin = omp_get_wtime();
#pragma omp parallel for simd
      for (int64_t i = 0; i < triad_elements; i++)
        a[i] = b[i] + 3.0f * c[i];
      double rate = 3.0 * (double)bytes / (omp_get_wtime() - begin);
      if (rate > best && a[attempt] == 7.0f)
        best = rate;
    }
  }
  free(a), free(b), free(c);
  return best;
}

#ifdef __AVX512F__
enum { lanes = 16, chains = 12 };
#elif defined(__AVX__)
enum { lanes = 8, chains = 12 };
#else
enum { lanes = 4, chains = 12 };
#endif
typedef float vector __attribute__((vector_size(4 * lanes)));

/* Chains enough to hide the latency of an operation, few enough for the registers of every machine. */
static double multiply_add(int64_t rounds, vector factor) {
  vector sum[chains];
  for (int chain = 0; chain < chains; chain++)
    sum[chain] = factor + (float)chain;
  double begin = omp_get_wtime();
  for (int64_t round = 0; round < rounds; round++)
#pragma clang loop unroll(full)
    for (int chain = 0; chain < chains; chain++)
      sum[chain] = sum[chain] * factor + factor;
  double seconds = omp_get_wtime() - begin;
  vector all = sum[0];
  for (int chain = 1; chain < chains; chain++)
    all += sum[chain];
  __asm__ volatile("" ::"m"(all));
  return 2.0 * lanes * chains * (double)rounds / seconds;
}

double bench_fma_peak(void) {
  double best = 0;
  for (int attempt = 0; attempt < tries; attempt++) {
    double sum = 0;
#pragma omp parallel reduction(+ : sum)
    {
      vector factor = {0.5f};
      /* Its value is not known to the compiler. */
      __asm__ volatile("" : "+m"(factor));
      sum += multiply_add(4000000, factor);
    }
    best = sum > best ? sum : best;
  }
  return best;
}
