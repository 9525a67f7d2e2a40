// The order in which people read names with numbers: spe 2 before spe 10. Pure; any thread.
#pragma once

#include <string_view>

namespace strata {

/// Whether a name stands before another: runs of digits by their value, everything else by its bytes; names that differ
/// in leading zeros only, by their bytes. A strict total order.
bool naturalLess(std::string_view a, std::string_view b);

} // namespace strata
