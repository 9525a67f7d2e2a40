/* The loops of the leaves of programs/graphs.c, written out with OpenMP. */
#include "benchmarks/programs/graphs.h"

#include "benchmarks/peers/peers.h"

void bench_loops_increment(float* values, int64_t n) {
#pragma omp parallel for
  for (int64_t i = 0; i < n; ++i)
    values[i] += 1;
}

void bench_loops_matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
#pragma omp parallel for
  for (int64_t y = 0; y < m; ++y)
    for (int64_t x = 0; x < n; ++x) {
      float sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += a[y * k + i] * b[i * n + x];
      c[y * n + x] = sum;
    }
}

void bench_loops_convolve(const float* image, const float* filter, float* result, int64_t width, int64_t height,
                          int64_t size) {
  const int64_t columns = width - size + 1, rows = height - size + 1;
#pragma omp parallel for
  for (int64_t y = 0; y < rows; ++y)
    for (int64_t x = 0; x < columns; ++x) {
      float sum = 0;
      for (int64_t v = 0; v < size; ++v)
        for (int64_t u = 0; u < size; ++u)
          sum += image[(y + v) * width + x + u] * filter[v * size + u];
      result[y * columns + x] = sum;
    }
}

void bench_loops_stencil(const float* from, float* to, int32_t nx, int32_t ny, int32_t nz) {
#pragma omp parallel for
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x) {
        int at = (z * ny + y) * nx + x;
        to[at] = 0.4f * from[at] + 0.1f * (from[at - 1] + from[at + 1] + from[at - nx] + from[at + nx] +
                                           from[at - nx * ny] + from[at + nx * ny]);
      }
}

void bench_loops_sparse(const float* values, const int32_t* columns, const int32_t* starts, const float* x, float* y,
                        int64_t rows) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k)
      sum += values[k] * x[columns[k]];
    y[row] = sum;
  }
}

void bench_loops_jagged(const float* values, const int32_t* columns, const int32_t* starts, const int32_t* lengths,
                        const float* x, float* y, int64_t rows) {
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (int k = 0; k < lengths[row]; ++k) {
      int at = starts[k] + (int)row;
      sum += values[at] * x[columns[at]];
    }
    y[row] = sum;
  }
}

void bench_loops_lattice(const float* from, float* to, const unsigned char* solid, int32_t width, int32_t height,
                         float rate) {
#pragma omp parallel for
  for (int y = 1; y < height - 1; ++y)
    for (int x = 1; x < width - 1; ++x)
      bench_lattice_cell(from, to, solid, width, height, rate, x, y);
}
