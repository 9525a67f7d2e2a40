// In __hpvm__attributes there are two lists.

#include <hpvm.h>

void add(int* data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 1, data);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  data[i] += (int)i;
  __hpvm__return(1, bytes);
}

void root(int* data, size_t bytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void* node = __hpvm__createNodeND(1, add, bytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(void) {
  int data[3] = {1, 1, 1};
  struct __attribute__((packed)) {
    int* data;
    size_t bytes, result;
  } arguments = {data, sizeof data, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  __hpvm__wait(__hpvm__launch(0, root, &arguments));
  __hpvm__cleanup();
  return data[2] == 3 ? 0 : 1;
}
