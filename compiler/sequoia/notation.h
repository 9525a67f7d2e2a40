// Sequoia as a notation among others: what the command knows of it, and the way of its programs into the pipeline.
// Thread safe.
#pragma once

#include "compiler/notation/notation.h"

namespace strata::sequoia {

const notation::Notation& notation();

} // namespace strata::sequoia
