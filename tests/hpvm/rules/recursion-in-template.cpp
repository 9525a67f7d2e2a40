// A node does not contain itself.
// options -O0
// expected hpvm-recursion 22

#include <hpvm.h>

static void end(int x) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(0, 0);
  __hpvm__return(1, x + 1);
}

template <int depth>
struct Next {
  static constexpr int value = depth;
};

template <int depth>
static void shrink(int x) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(0, 0);
  void* node = __hpvm__createNodeND(0, shrink<Next<depth>::value>);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

template <>
void shrink<0>(int x) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(0, 0);
  void* node = __hpvm__createNodeND(0, end);
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main() {
  struct __attribute__((packed)) {
    int x, y;
  } arguments = {4, 0};
  __hpvm__init();
  __hpvm__wait(__hpvm__launch(0, shrink<3>, &arguments));
  __hpvm__cleanup();
  return arguments.y == 5 ? 0 : 1;
}
