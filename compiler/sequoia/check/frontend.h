// Reads a Sequoia program: preprocesses, parses and checks it. The Program that comes out owns all of its parts except
// the source files, which stay with the diagnostics' SourceManager. Not thread safe.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/sequoia/syntax/ast.h"
#include "compiler/sequoia/syntax/preprocess.h"

#include <memory>

namespace strata::sequoia {

/// The checked program, or null when there are errors, which are then in `diagnostics`.
std::unique_ptr<Program> readProgram(BufferId file, DiagnosticEngine& diagnostics,
                                     const PreprocessOptions& options = {});

} // namespace strata::sequoia
