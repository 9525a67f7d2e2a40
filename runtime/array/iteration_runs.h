// Sets of iterations as runs of their numbers: what counts through iterations in order, as controllers and address
// generators do, keeps its place in. Equal sets share one list. Used by one thread.
#pragma once

#include "runtime/array/configuration.h"

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

namespace strata::array {

/// Numbers of iterations: ranges in ascending order, apart from each other and not empty.
using IterationRuns = std::vector<Range>;

class IterationTable {
public:
  /// REQUIRES: extents >= 1 with a product below 2^62, which live as long as the table.
  explicit IterationTable(const std::vector<int64_t>& extents) : extents_(extents) {}

  /// The runs of a union of boxes, which belong to the table. Null, and why in `wrong`, where boxes overlap or all sets
  /// together have more than mostRuns. REQUIRES: ranges within the extent for each dimension of a box; the boxes live
  /// as long as the table.
  const IterationRuns* find(const std::vector<Box>& boxes, std::string& wrong);

  static constexpr int64_t mostRuns = 1 << 25;

private:
  struct Entry {
    const std::vector<Box>* boxes;
    IterationRuns runs;
  };
  void append(const Box& box, IterationRuns& runs) const;
  int64_t rows(const Box& box) const;

  const std::vector<int64_t>& extents_;
  std::deque<Entry> entries_;
  std::unordered_multimap<uint64_t, const Entry*> byHash_;
  int64_t runs_ = 0;
};

} // namespace strata::array
