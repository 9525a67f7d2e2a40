// Inputs are numbers, and memory.
// expected hpvm-argument-type 8

#include <hpvm.h>
struct pair {
  float x, y;
};
void plus(struct pair p, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  __hpvm__return(1, (int)(p.x + p.y) + y - 4);
}

void root(struct pair p, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  void* node = __hpvm__createNodeND(0, plus);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(void) {
  struct __attribute__((packed)) {
    struct pair p;
    int y, sum;
  } arguments = {{3, 4}, 4, 0};
  __hpvm__init();
  __hpvm__wait(__hpvm__launch(0, root, &arguments));
  __hpvm__cleanup();
  return arguments.sum == 7 ? 0 : 1;
}
