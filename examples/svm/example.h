/* What the examples share, for control code only: arrays in NumPy's .npy files, numbers to try a program with, and
 * places in memories. machine.h is the header of the machine: `strata machine pca --header -o machine.h`, or one that
 * gives the nodes of another machine these names (tiles/machine.h). */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#ifndef EXAMPLE_MACHINE
#define EXAMPLE_MACHINE <svm/pca.h>
#endif
#include EXAMPLE_MACHINE

#include <svm.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The address of a byte of a memory, whatever its addresses count; the byte is a multiple of 64 unless they count bytes
 * or words. */
#define ADDRESS(memory, bytes) ((int)((bytes) / memory##_UNIT))

/* At most three dimensions, elements one after another in C's order. */
typedef struct {
  void* data;
  int dimensions;
  long shape[3];
  long count;
} Array;

static inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  exit(1);
}

static inline long roundedUp(long number, long multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

/* Ends the program unless so many bytes fit. */
static inline void needBytes(const char* memory, long bytes, long capacity) {
  if (bytes > capacity)
    fail("%ld bytes are needed in %s, which has %ld: use less data", bytes, memory, capacity);
}

static inline void* allocate(long bytes) {
  void* data = calloc(1, (size_t)bytes + 1);
  if (!data)
    fail("no memory for %ld bytes", bytes);
  return data;
}

static inline Array newArray(int elementBytes, int dimensions, long first, long second) {
  Array array = {NULL, dimensions, {first, second, 1}, dimensions == 1 ? first : first * second};
  array.data = allocate(array.count * elementBytes);
  return array;
}

/* The value behind a key of a .npy header. */
static inline const char* npyField(const char* path, const char* header, const char* key) {
  const char* at = strstr(header, key);
  if (!at)
    fail("%s: its header has no %s", path, key);
  for (at += strlen(key); *at == ' ' || *at == ':'; at++) {
  }
  return at;
}

/* Reads a .npy file with elements of one type, such as "<f4", and so many dimensions; ends the program when it has
 * others, or no elements. The caller frees its data. */
static inline Array readArray(const char* path, const char* type, int elementBytes, int dimensions) {
  FILE* file = fopen(path, "rb");
  if (!file)
    fail("%s: cannot be opened", path);
  unsigned char start[12];
  if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0)
    fail("%s: is no .npy file", path);
  long length = start[8] + 256L * start[9];
  if (start[6] > 1) {
    if (fread(start + 10, 1, 2, file) != 2)
      fail("%s: ends within its header", path);
    length += 65536L * start[10] + 16777216L * start[11];
  }
  char* header = (char*)allocate(length);
  if (fread(header, 1, (size_t)length, file) != (size_t)length)
    fail("%s: ends within its header", path);
  const char* described = npyField(path, header, "'descr'");
  if (strncmp(described + 1, type, strlen(type)) != 0 || described[1 + strlen(type)] != *described)
    fail("%s: its elements are %.8s; '%s' are needed", path, described, type);
  if (strncmp(npyField(path, header, "'fortran_order'"), "False", 5) != 0)
    fail("%s: is in Fortran's order", path);
  Array array = {NULL, 0, {1, 1, 1}, 1};
  const char* at = npyField(path, header, "'shape'") + 1;
  while (*at != ')' && *at) {
    char* end;
    const long extent = strtol(at, &end, 10);
    if (end == at || array.dimensions == 3 || extent < 1 || extent > (1L << 30) / array.count)
      fail("%s: has no elements, too many, or more than three dimensions", path);
    array.shape[array.dimensions++] = extent;
    array.count *= extent;
    for (at = end; *at == ',' || *at == ' '; at++) {
    }
  }
  if (array.dimensions != dimensions)
    fail("%s: has %d dimensions; %d are needed", path, array.dimensions, dimensions);
  array.data = allocate(array.count * elementBytes);
  if (fread(array.data, (size_t)elementBytes, (size_t)array.count, file) != (size_t)array.count)
    fail("%s: ends before its last element", path);
  free(header);
  fclose(file);
  return array;
}

static inline void writeArray(const char* path, const char* type, int elementBytes, Array array) {
  char header[119];
  int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (int i = 0; i < array.dimensions; i++)
    used += snprintf(header + used, sizeof header - (size_t)used, "%ld,%s", array.shape[i],
                     i + 1 < array.dimensions ? " " : "");
  used += snprintf(header + used, sizeof header - (size_t)used, "), }");
  memset(header + used, ' ', sizeof header - (size_t)used);
  header[117] = '\n';
  FILE* file = fopen(path, "wb");
  if (!file || fwrite("\x93NUMPY\1\0\x76\0", 1, 10, file) != 10 || fwrite(header, 1, 118, file) != 118 ||
      fwrite(array.data, (size_t)elementBytes, (size_t)array.count, file) != (size_t)array.count || fclose(file) != 0)
    fail("%s: cannot be written", path);
}

/* The next of a sequence of numbers, each below 65536. */
static inline unsigned nextNumber(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 16;
}

#endif
