// Heavy cliques: sets of pairwise adjacent nodes with a large weight. They are lower bounds: of what must be executed
// on units one after the other, of values that cannot share registers. Used by any number of threads.
#pragma once

#include <cstdint>
#include <vector>

namespace strata::array {

/// The nodes of a clique in rising order: the heaviest one, unless the search became too long; then the heaviest that
/// was found. `adjacent` is symmetric. REQUIRES: weights are not negative, their sum is below 2^62.
std::vector<uint32_t> heavyClique(const std::vector<std::vector<bool>>& adjacent, const std::vector<int64_t>& weights);

} // namespace strata::array
