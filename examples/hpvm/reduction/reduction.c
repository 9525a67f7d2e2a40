/* The sum of integers in groups: each group adds its elements up in a tree, with a barrier between two levels, and one
 * instance adds the group's sum to that of all. A group is an instance of an internal node, its members are a leaf's.
 * Argument: the elements. */
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>

enum { members = 64 };

void member(int* data, size_t dataBytes, int* scratch, size_t scratchBytes, int* sum, size_t sumBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(3, data, scratch, sum, 2, scratch, sum);
  void* node = __hpvm__getNode();
  long i = __hpvm__getNodeInstanceID_x(node), group = __hpvm__getNodeInstanceID_x(__hpvm__getParentNode(node));
  long at = group * members + i, n = (long)(dataBytes / sizeof(int));
  int* own = scratch + group * members;
  own[i] = at < n ? data[at] : 0;
  __hpvm__barrier();
  for (long half = members / 2; half > 0; half /= 2) {
    if (i < half)
      own[i] += own[i + half];
    __hpvm__barrier();
  }
  if (i == 0)
    __hpvm__atomic_add(sum, own[0]);
  __hpvm__return(1, sumBytes);
}

void group(int* data, size_t dataBytes, int* scratch, size_t scratchBytes, int* sum, size_t sumBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(3, data, scratch, sum, 2, scratch, sum);
  void* node = __hpvm__createNodeND(1, member, (size_t)members);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

void graph(int* data, size_t dataBytes, int* scratch, size_t scratchBytes, int* sum, size_t sumBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(3, data, scratch, sum, 2, scratch, sum);
  void* node = __hpvm__createNodeND(1, group, scratchBytes / sizeof(int) / members);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindIn(node, 4, 4, 0);
  __hpvm__bindIn(node, 5, 5, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(int argc, char** argv) {
  size_t n = argc > 1 ? (size_t)atol(argv[1]) : 10000, groups = (n + members - 1) / members;
  int* data = malloc(n * sizeof(int));
  int* scratch = malloc(groups * members * sizeof(int));
  int sum = 0;
  for (size_t i = 0; i < n; i++)
    data[i] = (int)(i % 1000);
  struct __attribute__((packed)) {
    int* data;
    size_t dataBytes;
    int* scratch;
    size_t scratchBytes;
    int* sum;
    size_t sumBytes, result;
  } arguments = {data, n * sizeof(int), scratch, groups * members * sizeof(int), &sum, sizeof sum, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, arguments.dataBytes);
  llvm_hpvm_track_mem(scratch, arguments.scratchBytes);
  llvm_hpvm_track_mem(&sum, sizeof sum);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_request_mem(&sum, sizeof sum);
  __hpvm__cleanup();
  /* Whole thousands, and what is left. */
  long rest = (long)(n % 1000), wanted = (long)(n / 1000) * 499500 + rest * (rest - 1) / 2;
  printf("%zu elements in %zu groups: %d\n", n, groups, sum);
  if (sum != wanted)
    fprintf(stderr, "it should be %ld\n", wanted);
  free(data);
  free(scratch);
  return sum == wanted ? 0 : 1;
}
