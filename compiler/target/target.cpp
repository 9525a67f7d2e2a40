// What all targets share of their interface.
#include "compiler/target/target.h"

#include "llvm/ADT/STLExtras.h"

namespace strata::target {

std::string packedSymbol(llvm::StringRef entry) {
  return ("strata.packed." + entry).str();
}

const Part* Program::part(llvm::StringRef processor) const {
  const Part* found = llvm::find_if(parts, [&](const Part& part) { return part.processor == processor; });
  return found == parts.end() ? nullptr : found;
}

} // namespace strata::target
