// The strata command, and under another name the linker that Clang starts (compiler/drop_in says what becomes this
// program).
#include "compiler/driver/command/dispatch.h"

int main(int argc, char** argv) {
  return strata::driver::dispatch(argc, argv);
}
