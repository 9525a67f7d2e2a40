// How nodes of diagrams are made: a part of diagrams.cpp and diagram_functions.cpp.
#pragma once

#include "runtime/array/diagrams.h"

namespace strata::array {

/// The ranges of a node that is being made, in order. Those of all nodes on the way are in one vector, so that none
/// needs memory of its own; lists end in the opposite order of their beginnings.
class Diagrams::List {
public:
  explicit List(Diagrams& diagrams) : diagrams_(diagrams), base_(diagrams.making_.size()) {}
  ~List() { diagrams_.making_.resize(base_); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  /// The range from the end of the last one, or 0, up to `end`.
  void add(int64_t end, Set next) { diagrams_.making_.push_back({end, next}); }
  /// The range, and none between the last one and it. REQUIRES: it begins where the last ended, or later.
  void add(Range range, Set next) {
    if (range.first >= range.end)
      return;
    if (range.first > last())
      add(range.first, none);
    add(range.end, next);
  }
  /// None up to the level's extent.
  void finish(uint32_t level) {
    if (last() < diagrams_.extents_[level])
      add(diagrams_.extents_[level], none);
  }
  /// The node. REQUIRES: the last range ends at the level's extent.
  Set make(uint32_t level) { return diagrams_.make(level, std::span(diagrams_.making_).subspan(base_)); }

private:
  int64_t last() const { return diagrams_.making_.size() == base_ ? 0 : diagrams_.making_.back().end; }

  Diagrams& diagrams_;
  size_t base_;
};

/// Memory for what one call of Diagrams remembers: given back at once when the call ends.
class Scratch {
public:
  std::pmr::memory_resource* operator()() { return &resource_; }

private:
  std::byte first_[4096];
  std::pmr::monotonic_buffer_resource resource_{first_, sizeof first_};
};

} // namespace strata::array
