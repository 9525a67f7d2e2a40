// A leaf that gives outputs where it sets a flag, and asks for the flag before it does so again, gives them once.
// expected hpvm-after-return 13

#include <hpvm.h>

void find(int* data, size_t bytes, int k) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  int done = 0;
  for (int j = 0; j < 4 && !done; ++j)
    if (data[(i + j) % 10] == k) {
      __hpvm__return(1, j);
      done = j > 1;
    }
  if (!done)
    __hpvm__return(1, -1);
}

void root(int* data, size_t bytes, int k) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void* node = __hpvm__createNodeND(1, find, bytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(void) {
  static int data[10] = {0, 3};
  struct __attribute__((packed)) {
    int* data;
    size_t bytes;
    int k, place;
  } arguments = {data, sizeof data, 3, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  void* graph = __hpvm__launch(0, root, &arguments);
  __hpvm__wait(graph);
  llvm_hpvm_request_mem(data, sizeof data);
  llvm_hpvm_untrack_mem(data);
  __hpvm__cleanup();
  return arguments.place == 2 ? 0 : 1;
}
