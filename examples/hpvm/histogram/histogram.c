/* How often each value of a byte occurs: one instance an element, which counts with an atomic addition. Argument: the
 * elements. */
#include <hpvm.h>
#include <stdio.h>
#include <stdlib.h>

enum { bins = 256 };

void count(unsigned char* data, size_t dataBytes, int* counts, size_t countBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, data, counts, 1, counts);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  __hpvm__atomic_add(&counts[data[i]], 1);
  __hpvm__return(1, countBytes);
}

void graph(unsigned char* data, size_t dataBytes, int* counts, size_t countBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(2, data, counts, 1, counts);
  void* node = __hpvm__createNodeND(1, count, dataBytes);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(int argc, char** argv) {
  size_t n = argc > 1 ? (size_t)atol(argv[1]) : 100000;
  unsigned char* data = malloc(n + 1);
  static int counts[bins];
  for (size_t i = 0; i < n; i++)
    data[i] = (unsigned char)(i * i >> 3);
  struct __attribute__((packed)) {
    unsigned char* data;
    size_t dataBytes;
    int* counts;
    size_t countBytes, result;
  } arguments = {data, n, counts, sizeof counts, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, n);
  llvm_hpvm_track_mem(counts, sizeof counts);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_request_mem(counts, sizeof counts);
  llvm_hpvm_untrack_mem(data);
  llvm_hpvm_untrack_mem(counts);
  __hpvm__cleanup();
  /* Taken away one by one, nothing is left. */
  int most = 0, wrong = 0;
  for (int i = 1; i < bins; i++)
    most = counts[i] > counts[most] ? i : most;
  printf("%zu elements: %d occurs most often, %d times\n", n, most, counts[most]);
  for (size_t i = 0; i < n; i++)
    counts[data[i]]--;
  for (int i = 0; i < bins; i++)
    wrong += counts[i] != 0;
  if (wrong)
    fprintf(stderr, "%d counts are wrong\n", wrong);
  free(data);
  return wrong ? 1 : 0;
}
