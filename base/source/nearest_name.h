// "Did you mean …?": adds to a message about an unknown name the known name that is spelt most like it. The same for
// every kind of name and every notation.
#pragma once

#include "base/source/diagnostic.h"

namespace strata {

/// "did you mean …?" with the candidate nearest to `name` (nearestName), if one is near.
DiagnosticBuilder& proposeName(DiagnosticBuilder& builder, std::string_view name,
                               const std::vector<std::string>& candidates);

} // namespace strata
