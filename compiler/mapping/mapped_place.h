// What a record of a mapping keeps about a loop for messages: where the mapping speaks of it, as text, and its label,
// turned into a place of a source file and into the name that a mapping file gives it. Stateless.
#pragma once

#include "compiler/ir/locations.h"

#include "llvm/ADT/StringRef.h"

namespace strata::mapping {

/// The place that a record gives as "FILE:LINE:COLUMN"; invalid where it gives none.
inline Location mappedPlace(const SourceManager& sources, mlir::MLIRContext* context, llvm::StringRef text) {
  auto [head, column] = text.rsplit(':');
  auto [file, line] = head.rsplit(':');
  unsigned lineNumber = 0, columnNumber = 0;
  if (line.getAsInteger(10, lineNumber) || column.getAsInteger(10, columnNumber))
    return {};
  return sourceLocation(sources, mlir::FileLineColLoc::get(context, file, lineNumber, columnNumber));
}

/// A label such as `i#2`, the third loop `i` of its function, as a mapping file names it: `i[2]`.
inline std::string mappedName(llvm::StringRef label) {
  auto [name, number] = label.rsplit('#');
  return number.empty() ? label.str() : name.str() + "[" + number.str() + "]";
}

} // namespace strata::mapping
