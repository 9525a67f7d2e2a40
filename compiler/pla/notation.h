// The loop language as a notation among others: see compiler/notation/notation.h.
#pragma once

#include "compiler/notation/notation.h"

namespace strata::pla {

const notation::Notation& notation();

} // namespace strata::pla
