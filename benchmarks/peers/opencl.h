/* Kernels of OpenCL on the processor, as PoCL runs them, on memory of the caller. Called from one thread. */
#ifndef STRATA_BENCHMARKS_OPENCL_H
#define STRATA_BENCHMARKS_OPENCL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel is given: memory where `bytes` is not 0, or the value that `data` points to, of `size` bytes. */
struct bench_opencl_argument {
  void* data;
  size_t bytes, size;
};

/* Compiles kernels; null when all is well, else what is wrong. Done once in a process: a second call keeps the first.
 */
const char* bench_opencl_begin(const char* source);
/* "PoCL 3.1" */
const char* bench_opencl_name(void);
/* A kernel with its arguments, for as many items; null where there is none of that name. Given back by _end. */
void* bench_opencl_kernel(const char* name, unsigned count, const struct bench_opencl_argument* arguments,
                          unsigned dimensions, const size_t* extents);
/* Runs it, and waits for it. */
void bench_opencl_run(void* kernel);
void bench_opencl_end(void* kernel);

#ifdef __cplusplus
}
#endif

#endif
