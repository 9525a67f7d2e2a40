// Adds to a message which of some names was probably meant by one that is not among them; the same for every kind of
// name and every notation.
#pragma once

#include "base/source/diagnostic.h"

namespace strata {

/// "did you mean …?" with the candidate nearest to `name` (nearestName), if one is near.
DiagnosticBuilder& proposeName(DiagnosticBuilder& builder, std::string_view name,
                               const std::vector<std::string>& candidates);

} // namespace strata
