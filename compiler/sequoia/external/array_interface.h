// Entry points as C programs around Sequoia programs call them: with arrays described by the sqArray_t of
// include/sequoia.h, in any order of dimensions and with padding.
#pragma once

#include "compiler/notation/entry_interface.h"

namespace strata::sequoia::external {

/// Constant; valid as long as the process lives.
const notation::EntryInterface& arrayInterface();

} // namespace strata::sequoia::external
