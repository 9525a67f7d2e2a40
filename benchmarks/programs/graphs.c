/* Graphs of one node each, as HPVM programs have them, for the work `hpvm`. strata cc makes a shared library of this
 * file; each function launches a graph and waits for it. The leaves are naive: one element an instance. */
#include "benchmarks/programs/graphs.h"

#include <hpvm.h>

void bench_graphs_begin(void) {
  __hpvm__init();
}
void bench_graphs_end(void) {
  __hpvm__cleanup();
}
void bench_graphs_track(void* memory, size_t bytes) {
  llvm_hpvm_track_mem(memory, bytes);
}
void bench_graphs_untrack(void* memory) {
  llvm_hpvm_untrack_mem(memory);
}

#define LAUNCH(root, arguments) __hpvm__wait(__hpvm__launch(0, (void*)(root), &(arguments)))

/* ---- nothing ---- */

void emptyNode(int x) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__return(1, x);
}
void emptyGraph(int x) {
  __hpvm__hint(CPU_TARGET);
  void* node = __hpvm__createNodeND(0, emptyNode);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void bench_graph_empty(void) {
  struct __attribute__((packed)) {
    int x, result;
  } arguments = {1, 0};
  LAUNCH(emptyGraph, arguments);
}

/* ---- four stages ---- */

void pipeline(int x) {
  __hpvm__hint(CPU_TARGET);
  void* first = __hpvm__createNodeND(0, emptyNode);
  void* second = __hpvm__createNodeND(0, emptyNode);
  void* third = __hpvm__createNodeND(0, emptyNode);
  void* fourth = __hpvm__createNodeND(0, emptyNode);
  __hpvm__bindIn(first, 0, 0, 1);
  __hpvm__edge(first, second, 1, 0, 0, 1);
  __hpvm__edge(second, third, 1, 0, 0, 1);
  __hpvm__edge(third, fourth, 1, 0, 0, 1);
  __hpvm__bindOut(fourth, 0, 0, 1);
}
static void* pushing;
void bench_graph_pipeline_begin(void) {
  pushing = __hpvm__launch(1, (void*)pipeline, 0);
}
void bench_graph_pipeline_item(int64_t count) {
  struct __attribute__((packed)) {
    int x, result;
  } arguments = {1, 0};
  for (int64_t number = 0; number < count; ++number)
    __hpvm__push(pushing, &arguments);
  for (int64_t number = 0; number < count; ++number)
    free(__hpvm__pop(pushing));
}
void bench_graph_pipeline_end(void) {
  __hpvm__wait(pushing);
}

/* ---- an element each ---- */

void increment(float* values, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, values, 1, values);
  values[__hpvm__getNodeInstanceID_x(__hpvm__getNode())] += 1;
  __hpvm__return(1, bytes);
}
void incrementGraph(float* values, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, values, 1, values);
  void* node = __hpvm__createNodeND(1, increment, bytes / sizeof(float));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void bench_graph_increment(float* values, int64_t n) {
  struct __attribute__((packed)) {
    float* values;
    size_t bytes, result;
  } arguments = {values, (size_t)n * sizeof(float), 0};
  LAUNCH(incrementGraph, arguments);
}

/* ---- a matrix product, of floats and of doubles ---- */

#define PRODUCT(T, leaf, graph, function)                                                                              \
  void leaf(T* a, size_t aBytes, T* b, size_t bBytes, T* c, size_t cBytes, long n, long k) {                           \
    __hpvm__hint(CPU_TARGET);                                                                                          \
    __hpvm__attributes(2, a, b, 1, c);                                                                                 \
    void* node = __hpvm__getNode();                                                                                    \
    long x = __hpvm__getNodeInstanceID_x(node), y = __hpvm__getNodeInstanceID_y(node);                                 \
    T sum = 0;                                                                                                         \
    for (long i = 0; i < k; ++i)                                                                                       \
      sum += a[y * k + i] * b[i * n + x];                                                                              \
    c[y * n + x] = sum;                                                                                                \
    __hpvm__return(1, cBytes);                                                                                         \
  }                                                                                                                    \
  void graph(T* a, size_t aBytes, T* b, size_t bBytes, T* c, size_t cBytes, long m, long n, long k) {                  \
    __hpvm__hint(CPU_TARGET);                                                                                          \
    __hpvm__attributes(2, a, b, 1, c);                                                                                 \
    void* node = __hpvm__createNodeND(2, leaf, (size_t)n, (size_t)m);                                                  \
    __hpvm__bindIn(node, 0, 0, 0);                                                                                     \
    __hpvm__bindIn(node, 1, 1, 0);                                                                                     \
    __hpvm__bindIn(node, 2, 2, 0);                                                                                     \
    __hpvm__bindIn(node, 3, 3, 0);                                                                                     \
    __hpvm__bindIn(node, 4, 4, 0);                                                                                     \
    __hpvm__bindIn(node, 5, 5, 0);                                                                                     \
    __hpvm__bindIn(node, 7, 6, 0);                                                                                     \
    __hpvm__bindIn(node, 8, 7, 0);                                                                                     \
    __hpvm__bindOut(node, 0, 0, 0);                                                                                    \
  }                                                                                                                    \
  void function(const T* a, const T* b, T* c, int64_t m, int64_t n, int64_t k) {                                       \
    struct __attribute__((packed)) {                                                                                   \
      const T* a;                                                                                                      \
      size_t aBytes;                                                                                                   \
      const T* b;                                                                                                      \
      size_t bBytes;                                                                                                   \
      T* c;                                                                                                            \
      size_t cBytes;                                                                                                   \
      long m, n, k;                                                                                                    \
      size_t result;                                                                                                   \
    } arguments = {                                                                                                    \
        a, (size_t)(m * k) * sizeof(T), b, (size_t)(k * n) * sizeof(T), c, (size_t)(m * n) * sizeof(T), m, n, k, 0};   \
    LAUNCH(graph, arguments);                                                                                          \
  }
PRODUCT(float, product, productGraph, bench_graph_matmul)
PRODUCT(double, productOfDoubles, graphOfDoubles, bench_graph_matmul_double)

/* ---- a convolution whose size is known as it runs ---- */

void convolve(float* image, size_t imageBytes, float* filter, size_t filterBytes, float* result, size_t resultBytes,
              long width, long size) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, image, filter, 1, result);
  void* node = __hpvm__getNode();
  long x = __hpvm__getNodeInstanceID_x(node), y = __hpvm__getNodeInstanceID_y(node);
  float sum = 0;
  for (long v = 0; v < size; ++v)
    for (long u = 0; u < size; ++u)
      sum += image[(y + v) * width + x + u] * filter[v * size + u];
  result[y * __hpvm__getNumNodeInstances_x(node) + x] = sum;
  __hpvm__return(1, resultBytes);
}
void convolveGraph(float* image, size_t imageBytes, float* filter, size_t filterBytes, float* result,
                   size_t resultBytes, long width, long size, long columns, long rows) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, image, filter, 1, result);
  void* node = __hpvm__createNodeND(2, convolve, (size_t)columns, (size_t)rows);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindIn(node, 7, 7, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void bench_graph_convolve(const float* image, const float* filter, float* result, int64_t width, int64_t height,
                          int64_t size) {
  const int64_t columns = width - size + 1, rows = height - size + 1;
  struct __attribute__((packed)) {
    const float* image;
    size_t imageBytes;
    const float* filter;
    size_t filterBytes;
    float* result;
    size_t resultBytes;
    long width, size, columns, rows;
    size_t bytes;
  } arguments = {image,   (size_t)(width * height) * 4,
                 filter,  (size_t)(size * size) * 4,
                 result,  (size_t)(columns * rows) * 4,
                 width,   size,
                 columns, rows,
                 0};
  LAUNCH(convolveGraph, arguments);
}

/* ---- a stencil of seven points ---- */

void point(float* from, size_t fromBytes, float* to, size_t toBytes, int nx, int ny, int nz) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void* node = __hpvm__getNode();
  int x = (int)__hpvm__getNodeInstanceID_x(node) + 1;
  int y = (int)__hpvm__getNodeInstanceID_y(node) + 1;
  int z = (int)__hpvm__getNodeInstanceID_z(node) + 1;
  if (x < nx - 1 && y < ny - 1 && z < nz - 1) {
    int at = (z * ny + y) * nx + x;
    to[at] = 0.4f * from[at] + 0.1f * (from[at - 1] + from[at + 1] + from[at - nx] + from[at + nx] +
                                       from[at - nx * ny] + from[at + nx * ny]);
  }
  __hpvm__return(1, toBytes);
}
void stencilGraph(float* from, size_t fromBytes, float* to, size_t toBytes, int nx, int ny, int nz) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void* node = __hpvm__createNodeND(3, point, (size_t)nx, (size_t)ny, (size_t)nz);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void bench_graph_stencil(const float* from, float* to, int32_t nx, int32_t ny, int32_t nz) {
  const size_t bytes = (size_t)nx * (size_t)ny * (size_t)nz * 4;
  struct __attribute__((packed)) {
    const float* from;
    size_t fromBytes;
    float* to;
    size_t toBytes;
    int nx, ny, nz;
    size_t result;
  } arguments = {from, bytes, to, bytes, nx, ny, nz, 0};
  LAUNCH(stencilGraph, arguments);
}

/* ---- sparse matrices by rows ---- */

void rowOfSparse(float* values, size_t valueBytes, int* columns, size_t columnBytes, int* starts, size_t startBytes,
                 float* x, size_t xBytes, float* y, size_t yBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(4, values, columns, starts, x, 1, y);
  long row = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  float sum = 0;
  for (int k = starts[row]; k < starts[row + 1]; ++k)
    sum += values[k] * x[columns[k]];
  y[row] = sum;
  __hpvm__return(1, yBytes);
}
void sparseGraph(float* values, size_t valueBytes, int* columns, size_t columnBytes, int* starts, size_t startBytes,
                 float* x, size_t xBytes, float* y, size_t yBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(4, values, columns, starts, x, 1, y);
  void* node = __hpvm__createNodeND(1, rowOfSparse, yBytes / sizeof(float));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindIn(node, 7, 7, 0);
  __hpvm__bindIn(node, 8, 8, 0);
  __hpvm__bindIn(node, 9, 9, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void bench_graph_sparse(const float* values, const int32_t* columns, const int32_t* starts, const float* x, float* y,
                        int64_t rows, int64_t width, int64_t entries) {
  struct __attribute__((packed)) {
    const float* values;
    size_t valueBytes;
    const int32_t* columns;
    size_t columnBytes;
    const int32_t* starts;
    size_t startBytes;
    const float* x;
    size_t xBytes;
    float* y;
    size_t yBytes, result;
  } arguments = {values, (size_t)entries * 4, columns, (size_t)entries * 4, starts, (size_t)(rows + 1) * 4,
                 x,      (size_t)width * 4,   y,       (size_t)rows * 4,    0};
  LAUNCH(sparseGraph, arguments);
}

/* ---- sparse matrices by jagged diagonals ---- */

void rowOfJagged(float* values, size_t valueBytes, int* columns, size_t columnBytes, int* starts, size_t startBytes,
                 int* lengths, size_t lengthBytes, float* x, size_t xBytes, float* y, size_t yBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(5, values, columns, starts, lengths, x, 1, y);
  int row = (int)__hpvm__getNodeInstanceID_x(__hpvm__getNode());
  float sum = 0;
  for (int k = 0; k < lengths[row]; ++k) {
    int at = starts[k] + row;
    sum += values[at] * x[columns[at]];
  }
  y[row] = sum;
  __hpvm__return(1, yBytes);
}
void jaggedGraph(float* values, size_t valueBytes, int* columns, size_t columnBytes, int* starts, size_t startBytes,
                 int* lengths, size_t lengthBytes, float* x, size_t xBytes, float* y, size_t yBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(5, values, columns, starts, lengths, x, 1, y);
  void* node = __hpvm__createNodeND(1, rowOfJagged, yBytes / sizeof(float));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindIn(node, 7, 7, 0);
  __hpvm__bindIn(node, 8, 8, 0);
  __hpvm__bindIn(node, 9, 9, 0);
  __hpvm__bindIn(node, 10, 10, 0);
  __hpvm__bindIn(node, 11, 11, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void bench_graph_jagged(const float* values, const int32_t* columns, const int32_t* starts, const int32_t* lengths,
                        const float* x, float* y, int64_t rows, int64_t width, int64_t entries, int64_t diagonals) {
  struct __attribute__((packed)) {
    const float* values;
    size_t valueBytes;
    const int32_t* columns;
    size_t columnBytes;
    const int32_t* starts;
    size_t startBytes;
    const int32_t* lengths;
    size_t lengthBytes;
    const float* x;
    size_t xBytes;
    float* y;
    size_t yBytes, result;
  } arguments = {values,  (size_t)entries * 4, columns, (size_t)entries * 4, starts, (size_t)(diagonals + 1) * 4,
                 lengths, (size_t)rows * 4,    x,       (size_t)width * 4,   y,      (size_t)rows * 4,
                 0};
  LAUNCH(jaggedGraph, arguments);
}

/* ---- a step of a fluid on a lattice (D2Q9) with a rim ---- */

void cell(float* from, size_t fromBytes, float* to, size_t toBytes, unsigned char* solid, size_t solidBytes, int width,
          int height, float rate) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, from, solid, 1, to);
  void* node = __hpvm__getNode();
  int x = (int)__hpvm__getNodeInstanceID_x(node) + 1;
  int y = (int)__hpvm__getNodeInstanceID_y(node) + 1;
  bench_lattice_cell(from, to, solid, width, height, rate, x, y);
  __hpvm__return(1, toBytes);
}
void latticeGraph(float* from, size_t fromBytes, float* to, size_t toBytes, unsigned char* solid, size_t solidBytes,
                  int width, int height, float rate) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, from, solid, 1, to);
  void* node = __hpvm__createNodeND(2, cell, (size_t)(width - 2), (size_t)(height - 2));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindIn(node, 6, 6, 0);
  __hpvm__bindIn(node, 7, 7, 0);
  __hpvm__bindIn(node, 8, 8, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
void bench_graph_lattice(const float* from, float* to, const unsigned char* solid, int32_t width, int32_t height,
                         float rate) {
  const size_t cells = (size_t)width * (size_t)height;
  struct __attribute__((packed)) {
    const float* from;
    size_t fromBytes;
    float* to;
    size_t toBytes;
    const unsigned char* solid;
    size_t solidBytes;
    int width, height;
    float rate;
    size_t result;
  } arguments = {from, cells * 36, to, cells * 36, solid, cells, width, height, rate, 0};
  LAUNCH(latticeGraph, arguments);
}
