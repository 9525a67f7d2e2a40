// What the units of a processor array execute in every cycle, found from a configuration alone: a program's branches
// depend on signals, and those on the iteration, never on values. The answer is the same for all elements of a class,
// counted from an element's start, and is kept as trees whose equal parts are one, so that it is small however long the
// run is.
#pragma once

#include "runtime/array/configuration.h"

#include <limits>
#include <map>

namespace strata::driver {

/// Numbers for the iterations of a tile. A node belongs to a dimension, the outermost at the root, and cuts it into
/// ranges; what follows is a node of the next dimension, or behind the innermost one the number itself.
class IterationTrees {
public:
  struct Branch {
    int64_t end = 0; // exclusive; the first range begins at 0, others where the one before ends
    uint32_t next = 0;
    friend auto operator<=>(const Branch&, const Branch&) = default;
  };
  using Node = std::vector<Branch>;

  /// REQUIRES: extents >= 1, at least one; their product is below 2^62.
  explicit IterationTrees(std::vector<int64_t> extents) : extents_(std::move(extents)) {}

  const std::vector<int64_t>& extents() const { return extents_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// The number at a point. REQUIRES: the point lies in the extents.
  uint32_t at(uint32_t root, std::span<const int64_t> point) const;
  /// The root of the tree that has at each point the number that `combine` makes of the parts' there. REQUIRES: at
  /// least one part.
  uint32_t join(const std::vector<uint32_t>& parts,
                const std::function<uint32_t(const std::vector<uint32_t>&)>& combine);
  /// How many points have a number, by number.
  std::map<uint32_t, int64_t> count(uint32_t root) const;
  /// The first and the last point with a number, as iterations counted from 0; {-1, -1} where none has it.
  std::pair<int64_t, int64_t> reach(uint32_t root, uint32_t number) const;

  /// Takes numbers in the order of the iterations.
  class Writer {
  public:
    explicit Writer(IterationTrees& trees) : trees_(trees), open_(trees.extents_.size()) {}
    /// REQUIRES: the times do not go past the end of the innermost dimension.
    void add(uint32_t number, int64_t times) { add(open_.size() - 1, number, times); }
    /// The root, when all that is missing has this number. To be called once, at the end.
    uint32_t finish(uint32_t number);

  private:
    void add(size_t level, uint32_t next, int64_t times);
    IterationTrees& trees_;
    std::vector<Node> open_; // by dimension, as far as it has been written
    std::optional<uint32_t> root_;
  };

private:
  uint32_t make(size_t level, const Node& node);
  std::vector<int64_t> extents_;
  std::vector<Node> nodes_;
  std::map<std::pair<size_t, Node>, uint32_t> unique_;
};

struct ArraySchedule {
  /// In place of a position: the unit has halted, or never had a program.
  static constexpr uint32_t halted = std::numeric_limits<uint32_t>::max();

  struct Unit {
    std::vector<std::vector<uint32_t>> slots; // the different iterations: positions in the program by slot
    uint32_t root = 0;                        // which of them is executed in an iteration
  };
  struct Class {
    std::vector<Unit> units;
    std::vector<std::vector<uint32_t>> together; // the different iterations of all units: a number into each `slots`
    uint32_t root = 0;
    /// The kernel: which of them is executed most, those aside in which all units have halted; how often (0: no unit
    /// does anything).
    uint32_t kernel = 0;
    int64_t times = 0;
    /// From and to which iteration units execute the kernel's operations, whatever their registers: what comes before
    /// fills the pipeline, and what comes behind drains it.
    int64_t first = -1, last = -1;
  };

  IterationTrees trees;
  int64_t iterations = 1; // of a tile
  std::vector<Class> classes;
  bool isComplete = true; // false: some program was not followed to its end, and counts as halted from there
};

/// Takes time in proportion to the rows of the innermost dimension and the cycles of different iterations, at most
/// `steps` of them. The configuration may hold
/// anything: a position outside of its program halts, a signal that does not exist is 0.
ArraySchedule scheduleOf(const array::Configuration& configuration, int64_t steps = int64_t{1} << 24);

} // namespace strata::driver
