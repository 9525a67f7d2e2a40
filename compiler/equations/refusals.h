// A message that several steps give: of iterations that are more than isl computes with.
#pragma once

#include "base/source/diagnostic.h"

namespace strata::equations {

STRATA_DIAGNOSTIC(noPolyhedra, Error, "equations-too-hard",
                  "the iterations of this equation are more than can be computed with: {0}");
constexpr const char* manyResidues = "they need more than 64 residues";

} // namespace strata::equations
