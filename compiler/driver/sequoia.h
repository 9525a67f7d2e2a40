// The Sequoia notation in the pipeline.
#pragma once

#include "compiler/driver/notation.h"

namespace strata::driver {

/// What external tasks may call beside the runtime.
std::vector<target::Symbol> sequoiaSymbols();

/// Reads and checks a program. Null when it is wrong (reported).
std::unique_ptr<Notation> readSequoia(BufferId file, const CompileOptions& options, DiagnosticEngine& diagnostics);

} // namespace strata::driver
