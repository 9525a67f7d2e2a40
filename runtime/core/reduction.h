// Reductions in a fixed order: partial results are combined pairwise at distances 1, 2, 4, … by their index, however
// many threads made them and whenever they came. So a sum is rounded the same way on any computer and with any number
// of threads.
#pragma once

#include <cstdint>

namespace strata::runtime {

/// Combines partials 0 … count-1 into partial 0: combine(i, i + distance) puts both together in partial i. For a count
/// that is not a power of two, a partial without a partner waits for a longer distance.
template <typename Combine>
void reduceTree(int64_t count, Combine combine) {
  for (int64_t distance = 1; distance < count; distance *= 2)
    for (int64_t i = 0; i + distance < count; i += 2 * distance)
      combine(i, i + distance);
}

} // namespace strata::runtime
