// The C code around the entry points of graphs: it makes them known to the runtime (runtime/hpvm/graph_table.h), and
// takes the packed structs of launches apart.
#pragma once

#include "compiler/hpvm/lower/lower.h"
#include "compiler/target/target.h"

namespace strata::hpvm {

target::Interface hostCode(const std::vector<GraphEntry>& entries, const Machine& machine, bool records);

} // namespace strata::hpvm
