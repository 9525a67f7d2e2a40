// Files of the command's source that are part of it as text: where it is installed there is no source tree. Constant,
// so any thread may read them.
#pragma once

#include <string_view>

namespace strata::driver {

/// timeline.js: the script of a timeline's page.
std::string_view timelineScript();
/// array_page.js, array_wires.js and array_units.js: the script of the page of a run on a processor array.
std::string_view arrayScript();
/// entry_support.c: what the C functions of entry points share.
std::string_view entrySupport();

} // namespace strata::driver
