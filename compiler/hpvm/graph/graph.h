// Dataflow graphs, as the node functions of a program describe them: what readGraphs() (read_graphs.h) makes of LLVM
// IR, and what is lowered. Values and functions are those of the module, which outlives all of it. Built once, then
// only read.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::hpvm {

/// Where an input of a child comes from: an input of the internal node around it, or an output of another child.
struct Source {
  enum class Kind { None, Own, Edge };
  Kind kind = Kind::None;
  unsigned child = 0;                   // of an edge: its number
  unsigned index = 0;                   // of the own input, or of the output
  bool isOneToOne = false;              // of an edge: instance to instance
  const llvm::CallBase* call = nullptr; // the bind or edge
};

/// A static node within an internal one.
struct Child {
  llvm::Function* function = nullptr;
  std::vector<llvm::Value*> extents;    // one a dimension, computed by the internal node's function
  std::vector<Source> inputs;           // one an argument of the function
  const llvm::CallBase* call = nullptr; // that creates it
};

/// An output of an internal node: which output of which child.
struct BoundOutput {
  unsigned child = 0, output = 0;
  const llvm::CallBase* call = nullptr;
};

/// What any node says of itself.
struct NodeFunction {
  llvm::Function* function = nullptr;
  std::vector<llvm::Type*> outputs;
  std::vector<bool> isConstant, isUnsigned; // of each output
  /// Of each argument: whether it is a pointer that the node reads, or writes.
  std::vector<bool> isRead, isWritten;
};

struct InternalNode : NodeFunction {
  std::vector<Child> children;
  std::vector<unsigned> order; // of children: each behind those that it has edges from
  std::vector<BoundOutput> bound;
};

struct LeafNode : NodeFunction {
  std::vector<llvm::CallBase*> returns; // none: no outputs
  bool hasBarrier = false, allocates = false;

  /// Whether every instance returns its outputs, at one place: at the only end of the function.
  bool returnsAlways() const;
  /// Whether every instance returns its outputs, be it here or there: on every way to an end of the function.
  bool returnsSomewhere() const;
};

/// A graph that host code launches.
struct Root {
  const InternalNode* node = nullptr;
  const llvm::CallBase* call = nullptr;
  bool isLaunched = false, isStreamed = false; // by calls that are not, or are, streaming
};

struct Graphs {
  std::map<const llvm::Function*, InternalNode> internal;
  std::map<const llvm::Function*, LeafNode> leaves;
  std::vector<Root> roots; // each function once

  const NodeFunction& node(const llvm::Function* function) const {
    const auto found = internal.find(function);
    return found != internal.end() ? static_cast<const NodeFunction&>(found->second) : leaves.at(function);
  }
};

/// What to change where a one-to-one edge joins nodes of unequal grids.
inline constexpr const char* gridsHelp =
    "give both nodes the same extents, or make the edge all-to-all: 1 as the third argument";

/// What messages call a node: the function's name in the source.
std::string nodeName(const llvm::Function& function);
/// What messages call an argument: its name, or its number where it has none.
std::string argumentName(const llvm::Function& function, unsigned argument);

/// Whether an output can be an input of that type. C passes what a leaf returns through an ellipsis, where characters
/// and short integers become int, and constants lose their types.
bool fits(const NodeFunction& node, unsigned output, const llvm::Type* input);

} // namespace strata::hpvm
