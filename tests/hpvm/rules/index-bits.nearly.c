// A node that keeps an index in 32 bits has less than 2^30 instances in a dimension.
#include <hpvm.h>
void mark(char* data, size_t bytes, long n) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  int x = (int)__hpvm__getNodeInstanceID_x(__hpvm__getNode());
  if (x < 8)
    data[x + 1] = 1;
  __hpvm__return(1, bytes);
}
void graph(char* data, size_t bytes, long n) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void* node = __hpvm__createNodeND(1, mark, (size_t)n);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}
int main(void) {
  char data[16] = {0};
  struct __attribute__((packed)) {
    char* data;
    size_t bytes;
    long n;
    size_t result;
  } arguments = {data, sizeof data, (1L << 20) - 1, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  __hpvm__wait(__hpvm__launch(0, graph, &arguments));
  llvm_hpvm_untrack_mem(data);
  __hpvm__cleanup();
  return 0;
}
