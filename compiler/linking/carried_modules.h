// Finds the LLVM IR that object files and archives carry (compiler/clang/carried_ir.h). Files that are no objects, and
// objects without it, have none: what else is wrong with a file its linker says. Thread safe.
#pragma once

#include "base/source/diagnostic.h"

#include <string>
#include <vector>

namespace strata::linking {

struct CarriedModule {
  std::string file;   // "graph.o", "libfilters.a(graph.o)"
  std::string code;   // bitcode
  uint32_t flags = 0; // clang::IrFlags
};

/// What one file carries, in order. Damaged content is reported, and left out.
std::vector<CarriedModule> carriedModules(const std::string& file, DiagnosticEngine& diagnostics);

} // namespace strata::linking
