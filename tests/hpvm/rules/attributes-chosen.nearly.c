// A leaf lists both arrays of which it chooses one to write to.

#include <hpvm.h>

void add(int* out, size_t outBytes, int* in, size_t inBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  int* to = outBytes > 100 ? in : out;
  to[i] = in[i] * 2;
  __hpvm__return(1, outBytes);
}

void root(int* out, size_t outBytes, int* in, size_t inBytes) {
  __hpvm__hint(CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  void* node = __hpvm__createNodeND(1, add, inBytes / sizeof(int));
  __hpvm__bindIn(node, 0, 0, 0);
  __hpvm__bindIn(node, 1, 1, 0);
  __hpvm__bindIn(node, 2, 2, 0);
  __hpvm__bindIn(node, 3, 3, 0);
  __hpvm__bindOut(node, 0, 0, 0);
}

int main(void) {
  int out[3] = {0, 0, 0}, in[3] = {1, 2, 3};
  struct __attribute__((packed)) {
    int* out;
    size_t outBytes;
    int* in;
    size_t inBytes, result;
  } arguments = {out, sizeof out, in, sizeof in, 0};
  __hpvm__init();
  llvm_hpvm_track_mem(out, sizeof out);
  llvm_hpvm_track_mem(in, sizeof in);
  __hpvm__wait(__hpvm__launch(0, root, &arguments));
  llvm_hpvm_request_mem(out, sizeof out);
  __hpvm__cleanup();
  return out[2] == 6 ? 0 : 1;
}
