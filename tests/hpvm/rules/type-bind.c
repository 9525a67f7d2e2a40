// What an input is bound to has its type.
// expected hpvm-type 17

#include <hpvm.h>

void plus(int x, long y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  __hpvm__return(1, (int)(x + y));
}

void root(int x, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  void* node = __hpvm__createNodeND(0, plus);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(void) {
  struct __attribute__((packed)) {
    int x, y, sum;
  } arguments = {3, 4, 0};
  __hpvm__init();
  __hpvm__wait(__hpvm__launch(0, root, &arguments));
  __hpvm__cleanup();
  return arguments.sum == 7 ? 0 : 1;
}
