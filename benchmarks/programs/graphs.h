/* The graphs of graphs.c as functions of C, and the code of a cell of a lattice, which its peers share. Memory that a
 * graph is given is tracked first. Called from one thread. */
#ifndef STRATA_BENCHMARKS_GRAPHS_H
#define STRATA_BENCHMARKS_GRAPHS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

void bench_graphs_begin(void);
void bench_graphs_end(void);
void bench_graphs_track(void* memory, size_t bytes);
void bench_graphs_untrack(void* memory);

void bench_graph_empty(void);
/* Pushes that many items through four stages, then pops them. */
void bench_graph_pipeline_begin(void);
void bench_graph_pipeline_item(int64_t count);
void bench_graph_pipeline_end(void);
/* values += 1 */
void bench_graph_increment(float* values, int64_t n);
/* c = a b, for an m by k and a k by n matrix */
void bench_graph_matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k);
void bench_graph_matmul_double(const double* a, const double* b, double* c, int64_t m, int64_t n, int64_t k);
/* result[y][x] = sum of image[y + v][x + u] filter[v][u], of (height - size + 1) by (width - size + 1) */
void bench_graph_convolve(const float* image, const float* filter, float* result, int64_t width, int64_t height,
                          int64_t size);
/* The inner points of a box become means of themselves and their six neighbours. */
void bench_graph_stencil(const float* from, float* to, int32_t nx, int32_t ny, int32_t nz);
/* y = A x for rows of entries: those of row r from starts[r] to starts[r + 1] */
void bench_graph_sparse(const float* values, const int32_t* columns, const int32_t* starts, const float* x, float* y,
                        int64_t rows, int64_t width, int64_t entries);
/* The same for jagged diagonals: entry k of row r, the rows being ordered by length, is at starts[k] + r. */
void bench_graph_jagged(const float* values, const int32_t* columns, const int32_t* starts, const int32_t* lengths,
                        const float* x, float* y, int64_t rows, int64_t width, int64_t entries, int64_t diagonals);
/* A step of a fluid on a lattice with a rim of one cell, nine planes of width times height. */
void bench_graph_lattice(const float* from, float* to, const unsigned char* solid, int32_t width, int32_t height,
                         float rate);

/* One cell takes what flows to it, and lets it collide; a solid one throws everything back. */
static inline void bench_lattice_cell(const float* from, float* to, const unsigned char* solid, int width, int height,
                                      float rate, int x, int y) {
  const int plane = width * height, at = y * width + x;
  const float c = from[at];
  const float e = from[plane + at - 1], s = from[2 * plane + at - width];
  const float w = from[3 * plane + at + 1], n = from[4 * plane + at + width];
  const float se = from[5 * plane + at - width - 1], sw = from[6 * plane + at - width + 1];
  const float nw = from[7 * plane + at + width + 1], ne = from[8 * plane + at + width - 1];
  if (solid[at]) {
    to[at] = c;
    to[plane + at] = w;
    to[2 * plane + at] = n;
    to[3 * plane + at] = e;
    to[4 * plane + at] = s;
    to[5 * plane + at] = nw;
    to[6 * plane + at] = ne;
    to[7 * plane + at] = se;
    to[8 * plane + at] = sw;
    return;
  }
  const float density = c + e + s + w + n + se + sw + nw + ne;
  const float u = (e - w + se + ne - sw - nw) / density, v = (s - n + se + sw - ne - nw) / density;
  const float still = 1 - 1.5f * (u * u + v * v);
  const float axis = density / 9, corner = density / 36, both = u + v, apart = u - v;
  to[at] = c + rate * (4 * axis * still - c);
  to[plane + at] = e + rate * (axis * (still + 3 * u + 4.5f * u * u) - e);
  to[2 * plane + at] = s + rate * (axis * (still + 3 * v + 4.5f * v * v) - s);
  to[3 * plane + at] = w + rate * (axis * (still - 3 * u + 4.5f * u * u) - w);
  to[4 * plane + at] = n + rate * (axis * (still - 3 * v + 4.5f * v * v) - n);
  to[5 * plane + at] = se + rate * (corner * (still + 3 * both + 4.5f * both * both) - se);
  to[6 * plane + at] = sw + rate * (corner * (still - 3 * apart + 4.5f * apart * apart) - sw);
  to[7 * plane + at] = nw + rate * (corner * (still - 3 * both + 4.5f * both * both) - nw);
  to[8 * plane + at] = ne + rate * (corner * (still + 3 * apart + 4.5f * apart * apart) - ne);
}

#ifdef __cplusplus
}
#endif

#endif
