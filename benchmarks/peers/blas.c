/* OpenBLAS, loaded when it is first asked for: which of its cores runs is decided as it is loaded. On newer processors
 * of AMD its own choice is Haswell's, which is half as fast as SkylakeX's where there is AVX-512. */
#include "benchmarks/peers/peers.h"

#include <cblas.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
  void* library;
  __typeof__(cblas_sgemm)* sgemm;
  __typeof__(cblas_dgemm)* dgemm;
  char name[128];
} blas;

const char* bench_blas_begin(int threads) {
  if (!blas.library) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library)
      return dlerror();
    blas.sgemm = (__typeof__(blas.sgemm))dlsym(library, "cblas_sgemm");
    blas.dgemm = (__typeof__(blas.dgemm))dlsym(library, "cblas_dgemm");
    char* (*config)(void) = (char* (*)(void))dlsym(library, "openblas_get_config");
    char* (*core)(void) = (char* (*)(void))dlsym(library, "openblas_get_corename");
    if (!blas.sgemm || !blas.dgemm || !config || !core)
      return "libopenblas.so.0 lacks a function";
    char version[32] = "";
    sscanf(config(), "OpenBLAS %31s", version);
    snprintf(blas.name, sizeof blas.name, "OpenBLAS %s, core %s", version, core());
    blas.library = library;
  }
  void (*set)(int) = (void (*)(int))dlsym(blas.library, "openblas_set_num_threads");
  if (set)
    set(threads);
  return NULL;
}

const char* bench_blas_name(void) {
  return blas.name;
}

void bench_blas_sgemm(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k, float beta) {
  blas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)k, b,
             (blasint)n, beta, c, (blasint)n);
}

void bench_blas_sgemm_turned(const float* a, int isTurnedA, const float* b, int isTurnedB, float* c, int64_t m,
                             int64_t n, int64_t k) {
  blas.sgemm(CblasRowMajor, isTurnedA ? CblasTrans : CblasNoTrans, isTurnedB ? CblasTrans : CblasNoTrans, (blasint)m,
             (blasint)n, (blasint)k, 1, a, (blasint)(isTurnedA ? m : k), b, (blasint)(isTurnedB ? k : n), 0, c,
             (blasint)n);
}

void bench_blas_sgemm_part(const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, int64_t m,
                           int64_t n, int64_t k) {
  blas.sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)lda, b,
             (blasint)ldb, 1, c, (blasint)ldc);
}

void bench_blas_dgemm(const double* a, const double* b, double* c, int64_t m, int64_t n, int64_t k, double beta) {
  blas.dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a, (blasint)k, b,
             (blasint)n, beta, c, (blasint)n);
}
