"""Leaves as structured kernels wherever their pointers come from: arguments of a launch, items of a streaming one, memory that another leaf
has allocated; and what happens where two of them overlap. Expected values come from loops in the programs themselves."""

import os
import subprocess

import harness

STREAM = r"""
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
enum { n = 1000 };
void next(float *from, size_t fromBytes, float *to, size_t toBytes, long shift) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  to[i] = from[i] * 2.0f + (float)shift;
  __hpvm__return(2, to, toBytes);
}
void sum(float *data, size_t dataBytes, float *sums, size_t sumsBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, sums);
  float all = 0;
  for (size_t i = 0; i < dataBytes / sizeof(float); ++i)
    all += data[i];
  sums[0] = all;
  __hpvm__return(1, sumsBytes);
}
void pipeline(float *from, size_t fromBytes, float *to, size_t toBytes, float *sums, size_t sumsBytes, long shift) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 2, to, sums);
  void *first = __hpvm__createNodeND(1, next, (size_t)n), *second = __hpvm__createNodeND(0, sum);
  __hpvm__bindIn(first, 0, 0, 1);
  __hpvm__bindIn(first, 1, 1, 1);
  __hpvm__bindIn(first, 2, 2, 1);
  __hpvm__bindIn(first, 3, 3, 1);
  __hpvm__bindIn(first, 6, 4, 1);
  __hpvm__edge(first, second, 1, 0, 0, 1);
  __hpvm__edge(first, second, 1, 1, 1, 1);
  __hpvm__bindIn(second, 4, 2, 1);
  __hpvm__bindIn(second, 5, 3, 1);
  __hpvm__bindOut(second, 0, 0, 1);
}
struct __attribute__((packed)) Arguments { float *from; size_t fromBytes; float *to; size_t toBytes; float *sums; size_t sumsBytes; long shift; size_t out; };
int main(void) {
  __hpvm__init();
  static float memory[6][2 * n], sums[6];
  void *graph = __hpvm__launch(1, pipeline, 0);
  float wanted[6];
  for (int item = 0; item < 6; ++item) {
    float *from = memory[item], *to = memory[item] + n; /* apart, over each other by one, one and the same */
    if (item % 3 == 1)
      to = from + 1;
    if (item % 3 == 2)
      to = from;
    for (int i = 0; i < 2 * n; ++i)
      from[i] = (float)(i % 7 + item);
    wanted[item] = 0;
    float copy[2 * n];
    for (int i = 0; i < 2 * n; ++i)
      copy[i] = from[i];
    for (int i = 0; i < n; ++i)
      copy[to - from + i] = copy[i] * 2.0f + (float)item;
    if (item % 3 == 1) /* one after the other, which is not told: any order is right, so all the same in the end */
      for (int i = 0; i < 2 * n; ++i)
        copy[i] = from[i] = 0;
    for (int i = 0; i < n; ++i)
      wanted[item] += copy[to - from + i];
    struct Arguments given = {from, n * sizeof(float), to, n * sizeof(float), &sums[item], sizeof(float), item % 3 == 1 ? 0 : item};
    if (item % 3 != 2)
      llvm_hpvm_track_mem(to, n * sizeof(float));
    llvm_hpvm_track_mem(from, n * sizeof(float));
    llvm_hpvm_track_mem(&sums[item], sizeof(float));
    __hpvm__push(graph, &given);
    free(__hpvm__pop(graph));
    if (item % 3 != 2)
      llvm_hpvm_untrack_mem(to);
    llvm_hpvm_untrack_mem(from);
    llvm_hpvm_untrack_mem(&sums[item]);
    if (sums[item] != wanted[item])
      printf("item %d: %g, not %g\n", item, sums[item], wanted[item]);
  }
  __hpvm__wait(graph);
  __hpvm__cleanup();
  puts("done");
}
"""

GROUPS = r"""
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
enum { tile = 16 };
void room(size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  __hpvm__return(2, __hpvm__malloc((long)bytes), bytes);
}
void product(float *a, size_t aBytes, float *b, size_t bBytes, float *c, size_t cBytes, long n, float *as, size_t asBytes, float *bs, size_t bsBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(4, a, b, as, bs, 3, c, as, bs);
  void *node = __hpvm__getNode(), *group = __hpvm__getParentNode(node);
  long x = __hpvm__getNodeInstanceID_x(node), y = __hpvm__getNodeInstanceID_y(node);
  long column = __hpvm__getNodeInstanceID_x(group) * tile + x, row = __hpvm__getNodeInstanceID_y(group) * tile + y;
  float sum = 0;
  for (long k = 0; k < n; k += tile) {
    as[y * tile + x] = a[row * n + k + x];
    bs[y * tile + x] = b[(k + y) * n + column];
    __hpvm__barrier();
    for (long i = 0; i < tile; ++i)
      sum += as[y * tile + i] * bs[i * tile + x];
    __hpvm__barrier();
  }
  c[row * n + column] = sum;
  __hpvm__return(1, n);
}
void group(float *a, size_t aBytes, float *b, size_t bBytes, float *c, size_t cBytes, long n, size_t tileBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 1, c);
  void *first = __hpvm__createNodeND(0, room), *second = __hpvm__createNodeND(0, room);
  void *all = __hpvm__createNodeND(2, product, (size_t)tile, (size_t)tile);
  __hpvm__bindIn(first, 7, 0, 0);
  __hpvm__bindIn(second, 7, 0, 0);
  __hpvm__bindIn(all, 0, 0, 0);
  __hpvm__bindIn(all, 1, 1, 0);
  __hpvm__bindIn(all, 2, 2, 0);
  __hpvm__bindIn(all, 3, 3, 0);
  __hpvm__bindIn(all, 4, 4, 0);
  __hpvm__bindIn(all, 5, 5, 0);
  __hpvm__bindIn(all, 6, 6, 0);
  __hpvm__edge(first, all, 1, 0, 7, 0);
  __hpvm__edge(second, all, 1, 0, 9, 0);
  __hpvm__edge(first, all, 1, 1, 8, 0);
  __hpvm__edge(second, all, 1, 1, 10, 0);
  __hpvm__bindOut(all, 0, 0, 0);
}
void root(float *a, size_t aBytes, float *b, size_t bBytes, float *c, size_t cBytes, long n, size_t tileBytes, size_t groups) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 1, c);
  void *all = __hpvm__createNodeND(2, group, groups, groups);
  __hpvm__bindIn(all, 0, 0, 0);
  __hpvm__bindIn(all, 1, 1, 0);
  __hpvm__bindIn(all, 2, 2, 0);
  __hpvm__bindIn(all, 3, 3, 0);
  __hpvm__bindIn(all, 4, 4, 0);
  __hpvm__bindIn(all, 5, 5, 0);
  __hpvm__bindIn(all, 6, 6, 0);
  __hpvm__bindIn(all, 7, 7, 0);
  __hpvm__bindOut(all, 0, 0, 0);
}
struct __attribute__((packed)) Arguments { float *a; size_t aBytes; float *b; size_t bBytes; float *c; size_t cBytes; long n; size_t tileBytes, groups; long out; };
int main(void) {
  __hpvm__init();
  long n = 64;
  size_t bytes = (size_t)(n * n) * sizeof(float);
  float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
  for (long i = 0; i < n * n; ++i)
    a[i] = (float)(i % 13 - 6), b[i] = (float)(i % 11 - 5), c[i] = -1;
  llvm_hpvm_track_mem(a, bytes), llvm_hpvm_track_mem(b, bytes), llvm_hpvm_track_mem(c, bytes);
  struct Arguments given = {a, bytes, b, bytes, c, bytes, n, tile * tile * sizeof(float), (size_t)n / tile};
  __hpvm__wait(__hpvm__launch(0, root, &given));
  llvm_hpvm_request_mem(c, bytes);
  int wrong = 0;
  for (long i = 0; i < n; ++i)
    for (long j = 0; j < n; ++j) {
      float sum = 0;
      for (long k = 0; k < n; ++k)
        sum += a[i * n + k] * b[k * n + j];
      wrong += sum != c[i * n + j];
    }
  __hpvm__cleanup();
  free(a), free(b), free(c);
  printf("%d wrong\n", wrong);
}
"""

ROOM = r"""
#include <hpvm.h>
#include <stdio.h>
enum { n = 500 };
void room(size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  __hpvm__return(2, __hpvm__malloc((long)bytes), bytes);
}
void through(float *from, size_t fromBytes, float *to, size_t toBytes, float *room, size_t roomBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, from, room, 2, to, room);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  room[i] = from[i] * 3.0f;
  to[i] = room[i] + 1.0f;
  __hpvm__return(1, toBytes);
}
void root(float *from, size_t fromBytes, float *to, size_t toBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void *first = __hpvm__createNodeND(0, room), *second = __hpvm__createNodeND(1, through, toBytes / sizeof(float));
  __hpvm__bindIn(first, 1, 0, 0);
  __hpvm__bindIn(second, 0, 0, 0);
  __hpvm__bindIn(second, 1, 1, 0);
  __hpvm__bindIn(second, 2, 2, 0);
  __hpvm__bindIn(second, 3, 3, 0);
  __hpvm__edge(first, second, 1, 0, 4, 0);
  __hpvm__edge(first, second, 1, 1, 5, 0);
  __hpvm__bindOut(second, 0, 0, 0);
}
struct __attribute__((packed)) Arguments { float *from; size_t fromBytes; float *to; size_t toBytes; size_t out; };
int main(void) {
  __hpvm__init();
  static float from[n], to[n];
  for (int i = 0; i < n; ++i)
    from[i] = (float)(i % 19);
  llvm_hpvm_track_mem(from, sizeof from), llvm_hpvm_track_mem(to, sizeof to);
  struct Arguments given = {from, sizeof from, to, sizeof to, 0};
  __hpvm__wait(__hpvm__launch(0, root, &given));
  llvm_hpvm_request_mem(to, sizeof to);
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += to[i] != (float)(i % 19) * 3.0f + 1.0f;
  __hpvm__cleanup();
  printf("%d wrong\n", wrong);
}
"""

TABLES = r"""
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
enum { n = 300 };
static const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
static const struct { short step; unsigned char flag; double scale; } mixed = {3, 1, 0.5};
static const short steps[2][3] = {{1, -2, 3}, {-4, 5}};
const unsigned char bits[256] = {[7] = 3, [200] = 250};
const long empty[4];
void filter(float *from, size_t fromBytes, float *to, size_t toBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  static const double local[3] = {1.5, -2.5, 1e300};
  const float spread[4] = {1, 2, 3, 4};
  float sum = 0;
  for (long k = 0; k < 5; ++k)
    sum += weights[k] * from[i + k];
  for (int r = 0; r < 2; ++r)
    for (int s = 0; s < 3; ++s)
      sum += (float)steps[r][s];
  to[i] = sum + (float)bits[i % 256] + (float)local[i % 2] + spread[i & 3] + (float)empty[i & 3];
  __hpvm__return(1, fromBytes);
}
void root(float *from, size_t fromBytes, float *to, size_t toBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void *all = __hpvm__createNodeND(1, filter, toBytes / sizeof(float));
  __hpvm__bindIn(all, 0, 0, 0);
  __hpvm__bindIn(all, 1, 1, 0);
  __hpvm__bindIn(all, 2, 2, 0);
  __hpvm__bindIn(all, 3, 3, 0);
  __hpvm__bindOut(all, 0, 0, 0);
}
struct __attribute__((packed)) Arguments { float *from; size_t fromBytes; float *to; size_t toBytes; size_t out; };
int main(void) {
  __hpvm__init();
  static float from[n + 4], to[n];
  for (int i = 0; i < n + 4; ++i)
    from[i] = (float)(i * 37 % 101);
  llvm_hpvm_track_mem(from, sizeof from), llvm_hpvm_track_mem(to, sizeof to);
  struct Arguments given = {from, sizeof from, to, sizeof to, 0};
  __hpvm__wait(__hpvm__launch(0, root, &given));
  llvm_hpvm_request_mem(to, sizeof to);
  int wrong = 0;
  const double local[3] = {1.5, -2.5, 1e300};
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < 5; ++k)
      sum += weights[k] * from[i + k];
    for (int r = 0; r < 2; ++r)
      for (int s = 0; s < 3; ++s)
        sum += (float)steps[r][s];
    wrong += to[i] != sum + (float)bits[i % 256] + (float)local[i % 2] + (float)(1 + (i & 3)) + 0.0f;
  }
  __hpvm__cleanup();
  printf("%d wrong, %g\n", wrong, mixed.scale);
}
"""


GUARDS = r"""
#include <hpvm.h>
#include <stdio.h>
enum { most = 6 };
void inner(double *to, size_t toBytes, long distance) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 1, to);
  void *node = __hpvm__getNode();
  long x = __hpvm__getNodeInstanceID_x(node), y = __hpvm__getNodeInstanceID_y(node), nx = __hpvm__getNumNodeInstances_x(node);
  if (x < nx - 2) /* nobody, where there are two or fewer */
    to[y * nx + x] = (double)(x + 10 * y + distance);
  __hpvm__return(1, distance);
}
void root(double *to, size_t toBytes, long distance, long nx, long ny) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 1, to);
  void *all = __hpvm__createNodeND(2, inner, (size_t)nx, (size_t)ny);
  __hpvm__bindIn(all, 0, 0, 0);
  __hpvm__bindIn(all, 1, 1, 0);
  __hpvm__bindIn(all, 2, 2, 0);
  __hpvm__bindOut(all, 0, 0, 0);
}
struct __attribute__((packed)) Arguments { double *to; size_t toBytes; long distance, nx, ny, out; };
int main(void) {
  __hpvm__init();
  int wrong = 0;
  for (long nx = 1; nx <= most; ++nx)
    for (long ny = 1; ny <= most; ++ny) {
      double to[most * most];
      for (int i = 0; i < most * most; ++i)
        to[i] = -1;
      size_t bytes = (size_t)(nx * ny) * sizeof *to;
      llvm_hpvm_track_mem(to, bytes);
      struct Arguments given = {to, bytes, 3, nx, ny, 0};
      __hpvm__wait(__hpvm__launch(0, root, &given));
      llvm_hpvm_request_mem(to, bytes);
      llvm_hpvm_untrack_mem(to);
      for (long i = 0; i < most * most; ++i) {
        long x = i % nx, y = i / nx;
        wrong += to[i] != (i < nx * ny && x < nx - 2 ? (double)(x + 10 * y + 3) : -1);
      }
    }
  __hpvm__cleanup();
  printf("%d wrong\n", wrong);
}
"""

COPIES = r"""
#include <hpvm.h>
#include <stdio.h>
#include <string.h>
void copyAll(int *to, size_t toBytes, int *from, size_t fromBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  memcpy(to, from, fromBytes);
  __hpvm__return(1, toBytes);
}
void graph(int *to, size_t toBytes, int *from, size_t fromBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void *node = __hpvm__createNodeND(0, copyAll);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
int main(void) {
  int a[4] = {1,2,3,4}, b[4] = {0};
  struct __attribute__((packed)) { int *to; size_t tb; int *from; size_t fb; size_t r; } x = {b, sizeof b, a, sizeof a, 0};
  __hpvm__init(); llvm_hpvm_track_mem(a, sizeof a); llvm_hpvm_track_mem(b, sizeof b);
  __hpvm__wait(__hpvm__launch(0, graph, &x));
  llvm_hpvm_request_mem(b, sizeof b);
  printf("%d %d %d %d\n", b[0], b[1], b[2], b[3]);
  __hpvm__cleanup();
}
"""

# Products of a row of a sparse matrix with a vector, as people write them: what follows `row i:` is the body of a leaf and of a loop.
SPARSE_ROWS = {
    "ints": "double sum = 0; for (int k = starts[i]; k < starts[i + 1]; ++k) sum += values[k] * x[columns[k]]; y[i] = sum;",
    "bounds": "int first = starts[i], last = starts[i + 1]; double sum = 0; for (int k = first; k < last; k++) sum += values[k] * x[columns[k]]; y[i] = sum;",
    "unsigned": "const unsigned *s = (const unsigned *)starts; unsigned r = (unsigned)i; double sum = 0; for (unsigned k = s[r]; k < s[r + 1]; ++k) sum += values[k] * x[columns[k]]; y[r] = sum;",
    "sizes": "size_t k = (size_t)starts[i], e = (size_t)starts[i + 1]; double sum = 0; while (k < e) { sum += values[k] * x[columns[k]]; ++k; } y[i] = sum;",
    "inPlace": "y[i] = 0; for (long k = starts[i]; k < starts[i + 1]; ++k) y[i] += values[k] * x[columns[k]];",
    "counted": "int n = starts[i + 1] - starts[i]; double sum = 0; for (int k = 0; k < n; ++k) sum += values[starts[i] + k] * x[columns[starts[i] + k]]; y[i] = sum;",
    "walking": "const double *v = values + starts[i], *e = values + starts[i + 1]; const int *c = columns + starts[i]; double sum = 0; while (v != e) sum += *v++ * x[*c++]; y[i] = sum;",
    "before": "const double *v = values + starts[i], *e = values + starts[i + 1]; const int *c = columns + starts[i]; double sum = 0; for (; v < e; ++v, ++c) sum += *v * x[*c]; y[i] = sum;",
    "downwards": "const int *c = columns + starts[i + 1]; const double *v = values + starts[i + 1]; double sum = 0; while (c > columns + starts[i]) sum += *--v * x[*--c]; y[i] = sum;",
    "offsets": "const int *row = starts + i; const double *v = &values[row[0]]; const int *c = &columns[*row]; double sum = 0; for (int k = 0; k < row[1] - row[0]; ++k) sum += v[k] * x[c[k]]; y[i] = sum;",
    "bytes": "const char *at = (const char *)columns + sizeof(int) * (size_t)starts[i]; double sum = 0; for (int k = starts[i]; k < starts[i + 1]; ++k, at += sizeof(int)) sum += values[k] * x[*(const int *)at]; y[i] = sum;",
    "entries": "double sum = 0; for (int k = starts[i]; k < starts[i + 1]; ++k) sum += entries[k].value * x[entries[k].column]; y[i] = sum;",
    "entryWalks": "double sum = 0; for (struct entry *e = entries + starts[i]; e < entries + starts[i + 1]; ++e) sum += e->value * x[e->column]; y[i] = sum;",
    "copied": "double sum = 0; for (int k = starts[i]; k < starts[i + 1]; ++k) { struct entry e = entries[k]; sum += e.value * x[e.column]; } y[i] = sum;",
    "ended": "double sum = 0; for (const int *c = columns + 16 * (i % 8); *c < 60 && c < columns + 150; c += 2) sum += x[*c]; y[i] = sum;",
    "searched": "int k = starts[i]; while (k < starts[i + 1] && columns[k] != 7) ++k; y[i] = k < starts[i + 1] ? values[k] : -1;",
    "aligned": "const double *p = columns[i] & 1 ? values + 1 : values; y[i] = *p;",
    "duff": "int s = 0, k = (columns[starts[i]] & 7) + 1; switch (k & 3) { case 0: do { s += 1; case 3: s += 2; case 2: s += 3; case 1: s += 4; } while ((k -= 4) > 0); } y[i] = s;",
    "products": "unsigned long a = columns[i], b = columns[i + 1], c = i; " + 12 * "a = a * b + a * c + b * a * a; " + "y[i] = a < 100 ? values[a] : -1;",
}
SPARSE = r"""
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { n = 100 };
struct entry { int column; PACKED value; };
#define ARRAYS int *starts, size_t startBytes, int *columns, size_t columnBytes, double *values, size_t valueBytes, struct entry *entries, size_t entryBytes, double *x, size_t xBytes, double *y, size_t yBytes
#define EACH starts, startBytes, columns, columnBytes, values, valueBytes, entries, entryBytes, x, xBytes, y, yBytes
struct __attribute__((packed)) Arguments { int *starts; size_t startBytes; int *columns; size_t columnBytes; double *values; size_t valueBytes; struct entry *entries; size_t entryBytes; double *x; size_t xBytes; double *y; size_t yBytes; size_t out; };
"""


def sparse(value):
    """All of them, with a type for the values of entries."""
    text, calls = SPARSE.replace("PACKED", value), ""
    for name, body in SPARSE_ROWS.items():
        hint = "  __hpvm__hint(CPU_TARGET);\n  __hpvm__attributes(5, starts, columns, values, entries, x, 1, y);\n"
        binds = "".join(f"  __hpvm__bindIn(node, {number}, {number}, 0);\n" for number in range(12))
        text += (f"static inline __attribute__((always_inline)) void body_{name}(ARRAYS, long i) {{ {body} }}\n"
                 f"void leaf_{name}(ARRAYS) {{\n{hint}  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());\n  body_{name}(EACH, i);\n  __hpvm__return(1, yBytes);\n}}\n"
                 f"void graph_{name}(ARRAYS) {{\n{hint}  void *node = __hpvm__createNodeND(1, leaf_{name}, yBytes / sizeof(double));\n{binds}  __hpvm__bindOut(node, 0, 0, 0);\n}}\n"
                 f"void loops_{name}(ARRAYS) {{\n  for (long i = 0; i < n; ++i)\n    body_{name}(EACH, i);\n}}\n")
        calls += f"  TRY({name})\n"
    return text + r"""
#define TRY(name) { \
    static double y[n], wanted[n]; \
    struct Arguments given = {starts, sizeof starts, columns, bytes, values, 2 * bytes, entries, bytes / 4 * sizeof *entries, x, sizeof x, y, sizeof y, 0}; \
    llvm_hpvm_track_mem(y, sizeof y); \
    __hpvm__wait(__hpvm__launch(0, graph_##name, &given)); \
    llvm_hpvm_request_mem(y, sizeof y), llvm_hpvm_untrack_mem(y); \
    loops_##name(starts, sizeof starts, columns, bytes, values, 2 * bytes, entries, bytes / 4 * sizeof *entries, x, sizeof x, wanted, sizeof wanted); \
    if (memcmp(y, wanted, sizeof y)) printf("%s is wrong\n", #name); \
  }
int main(void) {
  static int starts[n + 1], columns[20 * n];
  static double values[20 * n], x[n];
  static struct entry entries[20 * n];
  for (int i = 0; i < n; ++i) {
    x[i] = 1 / (1.0 + i);
    starts[i + 1] = starts[i] + i * 7 % 20;
    for (int k = starts[i]; k < starts[i + 1]; ++k) {
      columns[k] = (i * 31 + k * 7) % n, values[k] = i + 1.0 / (k + 1);
      entries[k].column = columns[k], entries[k].value = i + 1.0f / (k + 1);
    }
  }
  size_t bytes = (size_t)starts[n] * sizeof(int);
  __hpvm__init();
  llvm_hpvm_track_mem(starts, sizeof starts), llvm_hpvm_track_mem(columns, sizeof columns), llvm_hpvm_track_mem(values, sizeof values);
  llvm_hpvm_track_mem(entries, sizeof entries), llvm_hpvm_track_mem(x, sizeof x);
""" + calls + r"""  __hpvm__cleanup();
  puts("done");
}
"""


class RaisedTest(harness.Case):
    def program(self, text, *options):
        """Its remarks, once it has been built."""
        self.write("program.c", text)
        return self.succeeds("cc", "-O2", "-ffp-contract=off", "program.c", "-o", "program", *options, STRATA_REMARKS="1").err

    def prints(self, wanted):
        for threads in ("1", "2", "7"):
            done = subprocess.run([self.path("program")], capture_output=True, text=True, timeout=600, check=False,
                                  env={**os.environ, "STRATA_THREADS": threads})
            self.assertEqual(done.stdout, wanted, done.stderr)

    def test_items_of_a_streaming_launch(self):
        self.assertNotIn("hpvm-not-raised", self.program(STREAM))
        self.prints("done\n")

    def test_memory_that_another_leaf_allocates(self):
        remarks = self.program(GROUPS)
        self.assertEqual(remarks.count("hpvm-not-raised"), 1, remarks)  # the leaf that allocates
        self.prints("0 wrong\n")
        for machine in ("cell", "smp-2level", "cluster", "cell-disk"):
            self.program(GROUPS, "--machine=" + machine)
            self.prints("0 wrong\n")

    def test_memory_of_another_leaf_on_machines(self):
        for machine in ("host", "cell", "smp-2level", "cluster"):
            self.assertEqual(self.program(ROOM, "--machine=" + machine).count("hpvm-not-raised"), 1)  # the leaf that allocates
            self.prints("0 wrong\n")
        # There its address is one of a memory of fixed size, whose blocks the compiler has to know.
        self.assertIn("'room' travels on an edge, and memory 'main' is managed explicitly", self.program(ROOM, "--machine=cell-disk"))
        self.prints("0 wrong\n")

    def test_barriers_and_tables(self):
        table = "enum { tile = 16 };\nstatic const float ones[4] = {1, 1, 1, 1};"
        remarks = self.program(GROUPS.replace("enum { tile = 16 };", table).replace("bs[i * tile + x];", "bs[i * tile + x] * ones[i & 3];"))
        self.assertEqual(remarks.count("hpvm-not-raised"), 1, remarks)
        self.prints("0 wrong\n")

    def test_guards_that_let_nobody_through(self):
        for machine in ("host", "cell", "cell-disk", "cluster"):
            self.program(GUARDS, "--machine=" + machine)
            self.prints("0 wrong\n")

    def test_arrays_that_are_only_copied(self):
        """Nothing but the array tells what its elements are."""
        for machine in ("host", "cell"):
            self.assertNotIn("hpvm-not-raised", self.program(COPIES, "--machine=" + machine))
            self.prints("1 2 3 4\n")
            self.program(COPIES.replace("memcpy(to, from, fromBytes)", "memset(to, 0, toBytes - 8)").replace("b[4] = {0}", "b[4] = {5, 6, 7, 8}"),
                         "--machine=" + machine)
            self.prints("0 0 7 8\n")

    def test_constant_tables(self):
        self.assertNotIn("hpvm-not-raised", self.program(TABLES))
        self.prints("0 wrong, 0.5\n")
        for machine in ("cell", "cell-disk"):
            self.assertNotIn("hpvm-not-moved", self.program(TABLES, "--machine=" + machine))
            self.prints("0 wrong, 0.5\n")

    def test_sparse_rows(self):
        for value in ("float", "double"):
            self.assertNotIn("hpvm-not-raised", self.program(sparse(value)))
            self.prints("done\n")

    def test_remarks_have_lines(self):
        """Also where what is refused was moved, and has lost its line."""
        program = sparse("float").replace(SPARSE_ROWS["sizes"], "float sum = 0;\nfor (int k = 0; k < 5; ++k)\n  sum += *(float *)((char *)x + 3 * starts[0])\n* (float)k;\ny[i] = sum;")
        self.assertRegex(self.program(program), r"node 'leaf_sizes' runs instance by instance, as LLVM code: it has an address that is no multiple.*\n *--> program.c:\d+:\d+\n.*\n.*starts\[0\]")


if __name__ == "__main__":
    harness.main()
