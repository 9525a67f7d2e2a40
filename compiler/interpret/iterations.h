// The tree of what executes while the interpreter checks a program: iterations of loops and operands of calls. Each
// access of an element is recorded with its node in the tree. Two accesses are unordered when the paths to their nodes
// part at two iterations of one parallel loop, or at two operands of one call.
//
// Plain data, not thread safe. Numbers are given out once until collect() renumbers what is still in use.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace strata::interpret {

class Iterations {
public:
  enum class Kind : uint8_t {
    Program,
    Sequential, ///< an iteration of a loop that runs one after another
    Parallel,   ///< an iteration of a parallel loop
    Operand     ///< what an operand of a call, or a reduction of a parallel loop, does
  };
  struct Node {
    uint32_t parent = 0;
    uint32_t group = 0; ///< one execution of a loop or a call: siblings have the same
    uint32_t depth = 0;
    Kind kind = Kind::Program;
    uint32_t name = 0;  ///< of the loop, an index into the program's names
    int64_t value = 0;  ///< of the loop's variable; of an operand its number
    uint32_t frame = 0; ///< how many calls are active around it
  };
  struct Access {
    uint32_t node = 0;
    uint32_t pc = 0; ///< the instruction
  };

  Iterations() { reset(); }
  void reset();

  uint32_t newGroup() { return ++groups_; }
  uint32_t add(uint32_t parent, uint32_t group, Kind kind, uint32_t name, int64_t value, uint32_t frame = 0);
  /// The number of an access, which is never 0.
  uint32_t addAccess(uint32_t node, uint32_t pc);

  const Node& node(uint32_t number) const { return nodes_[number]; }
  const Access& access(uint32_t number) const { return accesses_[number]; }

  /// Whether what happens at two nodes has no order.
  bool areParallel(uint32_t a, uint32_t b) const { return parting(a, b).first != 0; }
  /// The siblings at which the ways to two nodes part, when nothing orders those; else zeros.
  std::pair<uint32_t, uint32_t> parting(uint32_t a, uint32_t b) const;

  bool isFull() const { return nodes_.size() + accesses_.size() > limit_; }
  uint64_t bytes() const { return nodes_.size() * sizeof(Node) + accesses_.size() * sizeof(Access); }
  /// Forgets what nobody refers to. Each function is called with a visitor and gives it every number that is in use, by
  /// reference; the visitor is called twice for each, and the second time changes it.
  using Visitor = std::function<void(uint32_t&)>;
  void collect(const std::function<void(const Visitor&)>& eachAccess,
               const std::function<void(const Visitor&)>& eachNode);

private:
  std::vector<Node> nodes_;
  std::vector<Access> accesses_;
  uint32_t groups_ = 0;
  size_t limit_ = 0;
};

/// The last accesses of one element, as numbers of accesses; 0: none.
struct ElementHistory {
  uint32_t write = 0;
  /// Of two branches that have no order, so that whoever writes finds another's.
  std::array<uint32_t, 2> reads{};
};

} // namespace strata::interpret
