// The headers that generated and users' C code includes, as text: compilation works where there is no source tree.
// The text is constant, so any thread may read it.
#pragma once

#include <string_view>

namespace strata::clang {

/// include/strata.h.
std::string_view strataHeader();
/// runtime/abi.h.
std::string_view abiHeader();

} // namespace strata::clang
