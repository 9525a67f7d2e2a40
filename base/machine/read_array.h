// Reads the description of a processor array. Private to the reader of machines.
#pragma once

#include "base/machine/fields.h"

namespace strata::machine {

/// What is wrong is reported; the result then holds defaults in its place.
ProcessorArray readArray(DiagnosticEngine& diagnostics, const YamlNode& node);

} // namespace strata::machine
