// The strata command, and under another name the linker that Clang starts (compiler/drop_in says what becomes this
// program).
#include "compiler/driver/command/dispatch.h"
#include "compiler/driver/command/last_resort.h"

int main(int argc, char** argv) {
  const int status = strata::driver::dispatch(argc, argv);
  strata::driver::endWith(status);
  return status;
}
