// The HBIR notation in the pipeline.
#pragma once

#include "compiler/driver/notation.h"

namespace strata::driver {

/// Reads and checks a program, with the constants and the mapping file that the options give. Null when anything is
/// wrong (reported).
std::unique_ptr<Notation> readHbir(BufferId file, const CompileOptions& options, DiagnosticEngine& diagnostics);

} // namespace strata::driver
