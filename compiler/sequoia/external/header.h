// include/sequoia.h as text, and what stands behind it in programs that C calls, for the C code that includes it:
// functions of external tasks and of entry points are compiled where there is no source tree. The text is constant, so
// any thread may read it.
#pragma once

#include <string_view>

namespace strata::sequoia::external {

/// include/sequoia.h.
std::string_view sequoiaHeader();
/// entry_arrays.c.
std::string_view entryArrays();

} // namespace strata::sequoia::external
