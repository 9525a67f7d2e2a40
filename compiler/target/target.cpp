// What all targets share of their interface.
#include "compiler/target/target.h"

namespace strata::target {

std::string packedSymbol(llvm::StringRef entry) {
  return ("strata.packed." + entry).str();
}

} // namespace strata::target
