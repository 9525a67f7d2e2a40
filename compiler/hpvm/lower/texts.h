// Files that code made at a link includes, as text: where strata is installed there is no source tree. Any thread.
#pragma once

#include <string>

namespace strata::hpvm {

/// runtime/hpvm/graph_table.h.
std::string graphTableText();

} // namespace strata::hpvm
