/* The programs of the matrix as dataflow graphs: graphs PROGRAM SIZES… INPUTS… OUTPUT, where files hold the elements of
 * float arrays. */
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void add(float* a, size_t aBytes, float* b, size_t bBytes, float* c, size_t cBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 1, c);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  c[i] = a[i] + b[i];
  __hpvm__return(1, cBytes);
}

void addition(float* a, size_t aBytes, float* b, size_t bBytes, float* c, size_t cBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 1, c);
  void* node = __hpvm__createNodeND(1, add, cBytes / sizeof(float));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

void multiply(float* a, size_t aBytes, float* b, size_t bBytes, float* c, size_t cBytes, long n, long depth) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 1, c);
  void* self = __hpvm__getNode();
  long x = __hpvm__getNodeInstanceID_x(self), y = __hpvm__getNodeInstanceID_y(self);
  float sum = 0;
  for (long k = 0; k < depth; ++k)
    sum += a[y * depth + k] * b[k * n + x];
  c[y * n + x] = sum;
  __hpvm__return(1, cBytes);
}

void product(float* a, size_t aBytes, float* b, size_t bBytes, float* c, size_t cBytes, long n, long depth, long m) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, a, b, 1, c);
  void* node = __hpvm__createNodeND(2, multiply, (size_t)n, (size_t)m);
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

/* Five points; what lies outside of the array is zero. */
void smooth(float* from, size_t fromBytes, float* to, size_t toBytes, int nx, int ny) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void* self = __hpvm__getNode();
  int x = __hpvm__getNodeInstanceID_x(self), y = __hpvm__getNodeInstanceID_y(self);
  float sum = 4 * from[y * nx + x];
  if (x > 0)
    sum += from[y * nx + x - 1];
  if (x < nx - 1)
    sum += from[y * nx + x + 1];
  if (y > 0)
    sum += from[(y - 1) * nx + x];
  if (y < ny - 1)
    sum += from[(y + 1) * nx + x];
  to[y * nx + x] = sum;
  __hpvm__return(1, toBytes);
}

void stencil(float* from, size_t fromBytes, float* to, size_t toBytes, int nx, int ny) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, to);
  void* node = __hpvm__createNodeND(2, smooth, (size_t)nx, (size_t)ny);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

void addPart(float* from, size_t fromBytes, float* part, size_t partBytes, long n, long each) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, from, 1, part);
  long p = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  float sum = 0;
  for (long i = 0; i < each; ++i)
    if (p * each + i < n)
      sum += from[p * each + i];
  part[p] = sum;
  __hpvm__return(1, partBytes);
}

void addAll(float* part, size_t partBytes, float* sum, size_t sumBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, part, 1, sum);
  long count = partBytes / sizeof(float);
  float all = 0;
  for (long p = 0; p < count; ++p)
    all += part[p];
  sum[__hpvm__getNodeInstanceID_x(__hpvm__getNode())] = all;
  __hpvm__return(1, sumBytes);
}

void reduction(float* from, size_t fromBytes, float* part, size_t partBytes, float* sum, size_t sumBytes, long n,
               long each) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, from, part, 2, part, sum);
  void* parts = __hpvm__createNodeND(1, addPart, partBytes / sizeof(float));
  void* all = __hpvm__createNodeND(1, addAll, (size_t)1);
  __hpvm__bindIn(parts, 0, 0, 0);
  __hpvm__bindIn(parts, 1, 1, 0);
  __hpvm__bindIn(parts, 2, 2, 0);
  __hpvm__bindIn(parts, 3, 3, 0);
  __hpvm__bindIn(parts, 6, 4, 0);
  __hpvm__bindIn(parts, 7, 5, 0);
  __hpvm__bindIn(all, 2, 0, 0);
  __hpvm__edge(parts, all, 1, 0, 1, 0); /* the parts are there before they are added up */
  __hpvm__bindIn(all, 4, 2, 0);
  __hpvm__bindIn(all, 5, 3, 0);
  __hpvm__bindOut(all, 0, 0, 0);
}

static float* array(long elements) {
  float* made = calloc(elements ? elements : 1, sizeof(float));
  llvm_hpvm_track_mem(made, elements * sizeof(float));
  return made;
}

static float* load(const char* name, long elements) {
  float* made = array(elements);
  FILE* file = fopen(name, "rb");
  if (!file || fread(made, sizeof(float), elements, file) != (size_t)elements)
    exit(2);
  fclose(file);
  return made;
}

static void save(const char* name, float* elements, long count) {
  llvm_hpvm_request_mem(elements, count * sizeof(float));
  FILE* file = fopen(name, "wb");
  if (!file || fwrite(elements, sizeof(float), count, file) != (size_t)count)
    exit(2);
  fclose(file);
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  __hpvm__init();
  if (!strcmp(what, "addition")) {
    long n = atol(words[2]);
    struct __attribute__((packed)) {
      float* a;
      size_t aBytes;
      float* b;
      size_t bBytes;
      float* c;
      size_t cBytes, result;
    } arguments = {load(words[3], n), n * 4, load(words[4], n), n * 4, array(n), n * 4, 0};
    __hpvm__wait(__hpvm__launch(0, addition, &arguments));
    save(words[5], arguments.c, n);
  } else if (!strcmp(what, "product")) {
    long m = atol(words[2]), n = atol(words[3]), depth = atol(words[4]);
    struct __attribute__((packed)) {
      float* a;
      size_t aBytes;
      float* b;
      size_t bBytes;
      float* c;
      size_t cBytes;
      long n, depth, m;
      size_t result;
    } arguments = {load(words[5], m * depth),
                   m * depth * 4,
                   load(words[6], depth * n),
                   depth * n * 4,
                   array(m * n),
                   m * n * 4,
                   n,
                   depth,
                   m,
                   0};
    __hpvm__wait(__hpvm__launch(0, product, &arguments));
    save(words[7], arguments.c, m * n);
  } else if (!strcmp(what, "stencil")) {
    int ny = atoi(words[2]), nx = atoi(words[3]);
    long n = (long)nx * ny;
    struct __attribute__((packed)) {
      float* from;
      size_t fromBytes;
      float* to;
      size_t toBytes;
      int nx, ny;
      size_t result;
    } arguments = {load(words[4], n), n * 4, array(n), n * 4, nx, ny, 0};
    __hpvm__wait(__hpvm__launch(0, stencil, &arguments));
    save(words[5], arguments.to, n);
  } else if (!strcmp(what, "reduction")) {
    long n = atol(words[2]), each = 100, parts = (n + each - 1) / each;
    struct __attribute__((packed)) {
      float* from;
      size_t fromBytes;
      float* part;
      size_t partBytes;
      float* sum;
      size_t sumBytes;
      long n, each;
      size_t result;
    } arguments = {load(words[3], n), n * 4, array(parts), parts * 4, array(1), 4, n, each, 0};
    __hpvm__wait(__hpvm__launch(0, reduction, &arguments));
    save(words[4], arguments.sum, 1);
  }
  __hpvm__cleanup();
  return 0;
}
