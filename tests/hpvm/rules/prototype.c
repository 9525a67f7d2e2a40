// The functions of hpvm.h have the types that it declares, also where a program declares them itself.
// expected hpvm-prototype 18
#include <stddef.h>
void* __hpvm__createNodeND(unsigned dimensions, ...);
void __hpvm__bindIn(void*, unsigned, unsigned, unsigned), __hpvm__bindOut(void*, unsigned, unsigned, unsigned);
void __hpvm__hint(unsigned), __hpvm__attributes(unsigned, ...), __hpvm__return(unsigned, ...);
void __hpvm__init(void), __hpvm__cleanup(void), __hpvm__wait(void*);
void* __hpvm__launch(unsigned, ...);
unsigned long __hpvm__getNode(void);
long __hpvm__getNodeInstanceID_x(void*);
void llvm_hpvm_track_mem(void*, size_t);

/* Nothing is said of the target but its number. */
void leaf(int* data, size_t bytes) {
  __hpvm__hint(1);
  __hpvm__attributes(1, data, 1, data);
  /* Which instance it is: */
  data[__hpvm__getNodeInstanceID_x((void*)__hpvm__getNode())] += 1;
  __hpvm__return(1, bytes);
}

void root(int* data, size_t bytes) {
  __hpvm__hint(1);
  __hpvm__attributes(1, data, 1, data);
  void* node = __hpvm__createNodeND(1, leaf, bytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(void) {
  int data[3] = {1, 2, 3};
  struct __attribute__((packed)) {
    int* data;
    size_t bytes, result;
  } arguments = {data, sizeof data, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  __hpvm__wait(__hpvm__launch(0, root, &arguments));
  __hpvm__cleanup();
  return data[2] == 4 ? 0 : 1;
}
