// The rules of processor arrays: for validate(), and for arrays that come without a machine.
#pragma once

#include "base/machine/machine.h"

namespace strata::machine {

/// Reports every rule that the array of the processor breaks.
void validateArray(const Processor& processor, const ProcessorArray& array, DiagnosticEngine& diagnostics);

} // namespace strata::machine
