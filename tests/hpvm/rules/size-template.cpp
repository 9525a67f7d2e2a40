// A pointer is followed by its size.
// options -O2 -g -std=c++20
// expected hpvm-size 9

#include <hpvm.h>

namespace {
template <typename T, typename Size>
void scale(T* data, Size bytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  data[__hpvm__getNodeInstanceID_x(__hpvm__getNode())] *= 2;
  __hpvm__return(1, bytes);
}

template <typename T, typename Size>
void root(T* data, Size bytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, data, 1, data);
  void* node = __hpvm__createNodeND(1, scale<T, Size>, bytes / sizeof(T));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
}
} // namespace

int main() {
  double data[2] = {1, 2};
  struct __attribute__((packed)) {
    double* data;
    unsigned bytes;
  } arguments = {data, sizeof data};
  __hpvm__init();
  llvm_hpvm_track_mem(data, sizeof data);
  __hpvm__wait(__hpvm__launch(0, root<double, unsigned>, &arguments));
  __hpvm__cleanup();
  return data[1] == 4 ? 0 : 1;
}
