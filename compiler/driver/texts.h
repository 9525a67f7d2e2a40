// Files of this folder that are part of the command as text: where it is installed there is no source tree. Constant,
// so any thread may read them.
#pragma once

#include <string_view>

namespace strata::driver {

/// timeline.js: the script of a timeline's page.
std::string_view timelineScript();
/// entry_support.c: what the C functions of entry points share.
std::string_view entrySupport();

} // namespace strata::driver
