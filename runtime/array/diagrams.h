// Sets of the iterations of one tile, exactly, without a polyhedral library: interval decision diagrams. A set is a
// tree over the dimensions, the outermost first; a node cuts its dimension into ranges, each with the set of what may
// follow. Equal sets are one node, so that comparing them is comparing two numbers. Sets of a Diagrams belong to it;
// used by one thread.
//
// Source: Strehl and Thiele 1998, "Symbolic Model Checking Using Interval Diagram Techniques". Successors are those of
// "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace strata::array {

/// A range of one dimension: first <= x < end.
struct Range {
  int64_t first = 0, end = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Thrown by conditions that cut the points of a Diagrams into too many ranges.
struct TooManyRanges {};

class Diagrams {
public:
  using Set = uint32_t;
  static constexpr Set none = 0;
  /// Coordinates that conditions look at one by one, in all that is made of one Diagrams.
  static constexpr size_t mostRanges = size_t{1} << 18;

  /// Points have one coordinate for each extent, from 0 to extent - 1. REQUIRES: extents >= 1; their product is below
  /// 2^62.
  explicit Diagrams(std::vector<int64_t> extents);

  size_t dimensions() const { return extents_.size(); }
  const std::vector<int64_t>& extents() const { return extents_; }
  /// All points.
  Set all() const { return all_; }
  /// REQUIRES: a range for each dimension. What lies outside of the extents is left out.
  Set box(std::span<const Range> ranges);
  /// coefficients · x + constant >= 0. A condition on one coordinate is a box, at the cost of one; another takes time
  /// and nodes in proportion to the extents that it couples, and throws TooManyRanges where these are too large.
  /// REQUIRES (here and below): a coefficient for each dimension; the products and sums are below 2^62.
  Set notNegative(std::span<const int64_t> coefficients, int64_t constant);
  /// coefficients · x + constant is a multiple of the modulus (0: is zero). Looks at each coordinate by itself where
  /// there is a modulus, and throws as above. REQUIRES: modulus >= 0.
  Set divisible(std::span<const int64_t> coefficients, int64_t constant, int64_t modulus);

  Set intersect(Set a, Set b) { return combine(Operation::And, a, b); }
  Set unite(Set a, Set b) { return combine(Operation::Or, a, b); }
  Set subtract(Set a, Set b) { return combine(Operation::Without, a, b); }
  /// The points that come `steps` after a set's, in lexicographic order over the extents. Those that would come after
  /// the last are gone. REQUIRES: steps >= 0.
  Set successors(Set set, int64_t steps);

  bool contains(Set set, std::span<const int64_t> point) const;
  /// How many points.
  int64_t size(Set set) const { return nodes_[set].size; }
  /// The first point in lexicographic order; nothing for none.
  std::optional<std::vector<int64_t>> first(Set set) const;
  /// Disjoint boxes that are the set, in lexicographic order of their first points: one for each path through the tree.
  void boxes(Set set, const std::function<void(std::span<const Range>)>& each) const;
  /// The last point in lexicographic order; nothing for none.
  std::optional<std::vector<int64_t>> last(Set set) const;
  /// The points up to a point, which is one of them, in lexicographic order. REQUIRES: the point lies in the extents.
  Set upTo(std::span<const int64_t> point);
  /// A set of another Diagrams. REQUIRES: the extents are the same.
  Set copy(const Diagrams& from, Set set);

  // ---- Functions from points to numbers. A set is one, with the values 0 and 1. ----

  /// The function that has at each point the value of what `parts` have there. REQUIRES: the value of zeros is 0;
  /// values are below 2^31.
  Set join(std::span<const Set> parts, const std::function<uint32_t(std::span<const uint32_t>)>& value);
  /// At each point what the function is at the next one in lexicographic order; 0 at the last.
  Set following(Set function);
  /// The values that occur, without 0, in ascending order; each with its points.
  std::vector<std::pair<uint32_t, Set>> values(Set function);

  /// How many nodes there are: what memory grows with.
  size_t nodes() const { return nodes_.size(); }

private:
  enum class Operation : uint8_t { And, Or, Without };
  // A node's ranges follow each other from 0 to the extent: `end` of one is the first of the next. A node without
  // branches stands for a value, which is its `firstBranch`; the first two are none and `end`.
  struct Branch {
    int64_t end;
    Set next;
    friend auto operator<=>(const Branch&, const Branch&) = default;
  };
  struct Node {
    uint32_t level, firstBranch, branches;
    int64_t size; // how many points have another value than 0
  };
  static constexpr Set unknown = UINT32_MAX;
  /// Results by pairs of sets.
  class Results {
  public:
    /// Where the result of the pair stands, or `unknown`; until the next call. REQUIRES: pair != 0.
    Set& operator[](uint64_t pair);

  private:
    struct Entry {
      uint64_t pair = 0; // 0: free
      Set result = unknown;
    };
    std::vector<Entry> entries_; // a power of two
    size_t used_ = 0;
  };
  class List;
  struct Joining;
  std::span<const Branch> branches(Set set) const {
    return {branches_.data() + nodes_[set].firstBranch, nodes_[set].branches};
  }
  Set make(uint32_t level, std::span<Branch> list);
  size_t hash(uint32_t level, std::span<const Branch> list) const;
  void grow();
  Set combine(Operation operation, Set a, Set b);
  Set affine(uint32_t level, std::span<const int64_t> coefficients, int64_t value, int64_t modulus, bool isInequality,
             std::pmr::map<std::pair<uint32_t, int64_t>, Set>& known);
  std::pair<Set, Set> moved(uint32_t level, Set set, const std::vector<int64_t>& digits,
                            std::pmr::unordered_map<Set, std::pair<Set, Set>>& known);
  Set constant(uint32_t value);
  uint32_t firstValue(Set function) const;
  Set joined(uint32_t level, std::span<const Set> parts, Joining& state);
  Set shifted(uint32_t level, Set function, uint32_t after, std::pmr::map<std::pair<uint64_t, uint32_t>, Set>& known);
  Set fromPieces(uint32_t level, std::span<const std::pair<Range, Set>> pieces);

  static constexpr Set end = 1; // the set of the one point without coordinates
  std::vector<int64_t> extents_;
  std::vector<Node> nodes_;
  std::vector<Branch> branches_;
  std::vector<Set> places_;    // of the nodes with branches, by their hashes; a power of two, none where it is free
  std::vector<Branch> making_; // of all nodes that are being made, the outermost first
  Results results_[3];         // by operation
  std::unordered_map<uint32_t, Set> constants_; // of 2 and more
  Set all_ = none;
  size_t ranges_ = 0; // so far, of mostRanges
};

} // namespace strata::array
