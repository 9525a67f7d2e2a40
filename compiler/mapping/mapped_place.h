// The label of a loop, turned into the name that a mapping file gives it, for messages. Stateless.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace strata::mapping {

/// A label such as `i#2`, the third loop `i` of its function, as a mapping file names it: `i[2]`.
inline std::string mappedName(llvm::StringRef label) {
  auto [name, number] = label.rsplit('#');
  return number.empty() ? label.str() : name.str() + "[" + number.str() + "]";
}

} // namespace strata::mapping
