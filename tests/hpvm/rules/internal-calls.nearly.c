// Internal nodes call no functions but those that compute with their arguments alone.

#include <hpvm.h>
#include <stdlib.h>
static long more(int x) {
  return x < 0 ? -x : x;
}
void plus(int x, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  __hpvm__return(1, x + y);
}

void root(int x, int y) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(0, 0);
  void* node = __hpvm__createNodeND(1, plus, more(x));
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
