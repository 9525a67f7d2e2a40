// The object files of one module, made by several threads: code generation is most of what a large program takes, and
// LLVM does it function by function on one thread.
#pragma once

#include "compiler/target/host/engine.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::host {

/// Object files of an optimised module, at most so many, which are linked together; one for a small module. What they
/// are does not depend on the number of threads. Local symbols become hidden ones, whose names end as no name of C
/// does. Nothing on failure (reported).
std::optional<std::vector<std::string>> emitInParts(llvm::Module& module, const CodeOptions& options, unsigned most,
                                                    DiagnosticEngine& diagnostics);

} // namespace strata::host
