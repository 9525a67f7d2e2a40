// Reads a program in the dialect as the command does up to its verifier, for the test of removals. One context is kept
// for the process, since making one takes longer than reading a program. One thread.
#pragma once

#include "base/source/diagnostic.h"

namespace strata {

/// Reports what is wrong with the program.
void readDialect(BufferId file, DiagnosticEngine& diagnostics);

} // namespace strata
