// No more is popped than was pushed.

#include <hpvm.h>
#include <stdlib.h>

void plus(int x, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__return(1, x + y);
}

void root(int x, int y) {
  __hpvm__hint(CPU_TARGET);
  void* node = __hpvm__createNodeND(0, plus);
  __hpvm__bindIn(node, 0, 0, 1);
  __hpvm__bindIn(node, 1, 1, 1);
  __hpvm__bindOut(node, 0, 0, 1);
}

int main(void) {
  struct __attribute__((packed)) {
    int x, y, sum;
  } item = {3, 4, 7};
  int sum = 7;
  int* result = &sum;
  __hpvm__init();
  void* graph = __hpvm__launch(1, root, &item);
  __hpvm__push(graph, &item);
  __hpvm__push(graph, &item);
  free(__hpvm__pop(graph));
  result = __hpvm__pop(graph);
  __hpvm__wait(graph);
  __hpvm__cleanup();
  const int is = *result;
  free(result);
  return is == 7 ? 0 : 1;
}
