// An output is bound at most once.

#include <hpvm.h>

void plus(int x, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  __hpvm__return(2, x + y, x);
}

void root(int x, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  void* node = __hpvm__createNodeND(0, plus);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
  __hpvm__bindOut(node, 1, 1, 0);
}

int main(void) {
  struct __attribute__((packed)) {
    int x, y, sum, again;
  } arguments = {3, 4, 0, 0};
  __hpvm__init();
  __hpvm__wait(__hpvm__launch(0, root, &arguments));
  __hpvm__cleanup();
  return arguments.sum == 7 && arguments.again == 3 ? 0 : 1;
}
