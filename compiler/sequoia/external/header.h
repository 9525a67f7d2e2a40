// include/sequoia.h as text, for the C code that includes it: functions of external tasks and of entry points are
// compiled where there is no source tree. The text is constant, so any thread may read it.
#pragma once

#include <string_view>

namespace strata::sequoia::external {

/// include/sequoia.h.
std::string_view sequoiaHeader();

} // namespace strata::sequoia::external
