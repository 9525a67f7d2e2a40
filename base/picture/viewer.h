// The script of drawings in pages, as text: where it is installed there is no source tree. Constant, so any thread may
// read it.
#pragma once

#include <string_view>

namespace strata::picture {

/// viewer.js.
std::string_view viewerScript();

} // namespace strata::picture
