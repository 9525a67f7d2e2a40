// Nodes of graphs in the dialect: what one instance of an internal node does, with all that is in it. Lives during one
// lower() only.
#pragma once

#include "base/machine/addressing.h"
#include "base/source/diagnostic.h"
#include "compiler/hpvm/graph/graph.h"
#include "compiler/hpvm/graph/places.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/logical_module.h"
#include "compiler/mapping/record.h"
#include "compiler/notation/node_mapping.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/Module.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace strata::hpvm {

/// The symbol of the LLVM code of leaves.
inline constexpr const char* leafSource = "leaves";

class NodeLowering {
public:
  /// What a node is given or gives: a scalar, or memory as a block, or as an address (64 bits).
  using Values = std::vector<mlir::Value>;

  /// An output of a child within the node that is being lowered.
  struct Output {
    mlir::Value given;       // it is there already: a pointer that the child was given, or what another stage has sent
    mlir::Value last;        // a block of one element: what the last instance gives
    mlir::Value each;        // one element an instance
    bool isUnsigned = false; // an integer that is widened by zeros
  };
  using Outputs = std::vector<std::vector<Output>>; // by child

  NodeLowering(const Graphs& graphs, llvm::Module& code, mlir::MLIRContext& context, const Machine& machine,
               const notation::NodeMapping& nodes, bool records, DiagnosticEngine& diagnostics)
      : graphs_(graphs), code_(code), context_(context), machine_(machine), nodes_(nodes), records_(records),
        diagnostics_(diagnostics), builder_(&context), place_(mlir::UnknownLoc::get(&context)),
        frame_(context, place_) {
    const machine::DefaultPlaces places = machine::defaultPlaces(machine);
    control_ = places.control;
    arrays_ = places.blocks.valid() ? places.blocks : control_.valid() ? machine::homeOf(machine, control_) : arrays_;
    arguments_ = places.arguments.valid() ? places.arguments : arrays_;
  }

protected:
  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }

  void at(const llvm::Instruction& instruction) {
    place_ = locationAt(diagnostics_.sources(), placeOf(instruction, diagnostics_.sources()), context_);
  }
  mlir::Value index(int64_t value);

  mlir::Type typeOf(const llvm::Type* type);
  /// The type in which a value travels.
  mlir::Type travelling(const llvm::Type* type);

  /// One instance of an internal node: all its children. Gives the node's outputs, null where errors were reported.
  Values lowerChildren(const InternalNode& node, const Values& inputs);
  /// One child, all its instances. `outputs` has those of the children before it.
  void lowerChild(const InternalNode& node, unsigned number, const Values& inputs, Outputs& outputs);
  /// What an output holds. Null where errors were reported.
  mlir::Value valueOf(const Output& output);

  /// The input that an output is, where the node gives it on as it was given it.
  std::optional<unsigned> passedOn(const llvm::Function& function, unsigned output);

  /// Runs a function of the LLVM code as a kernel; blocks are read and written, unless `access` says otherwise.
  void runCode(const std::string& name, llvm::Function* code, const Values& arguments,
               const std::vector<svm::Access>& access = {});
  std::string label(const llvm::Function& function);
  static std::string nameIn(const InternalNode& node, unsigned number);
  mlir::Value block(mlir::Type element, mlir::ValueRange extents, const std::string& name);
  /// How many elements one of so many blocks may have in the memory where arrays lie, which is a store; checked when
  /// the program runs.
  int64_t boundOf(mlir::Type element, mlir::Value extent, int64_t shares, const std::string& what);

  const Graphs& graphs_;
  llvm::Module& code_;
  mlir::MLIRContext& context_;
  const Machine& machine_;
  const notation::NodeMapping& nodes_;
  const bool records_;                   // whether nodes are spans
  machine::ProcessorId control_;         // of the graphs; invalid where the machine has no levels, as the next two
  machine::MemoryId arrays_, arguments_; // where arrays lie while a graph runs, and before and behind
  DiagnosticEngine& diagnostics_;
  mlir::OpBuilder builder_;
  mlir::Location place_;
  mapping::LogicalModule frame_;
  mapping::Record record_;
  mapping::FunctionPlacement* placement_ = nullptr; // of the entry point at hand
  std::set<std::string> mapped_;                    // nodes that the mapping was asked for
  mlir::Value launch_;
  std::vector<llvm::Function*> codes_; // that kernels are made of

  /// A node around the one at hand: its indices and extents.
  struct Level {
    Values indices, extents;
  };
  std::vector<Level> levels_; // of the node at hand, then those around it; the root's is last

  /// The type of the elements that the nodes of an internal one load and store where a pointer argument of it points,
  /// as far as they are raised; null where they differ, or none tells.
  llvm::Type* elementOf(const InternalNode& node, unsigned argument);
  /// Whether an internal node, or a node in it, writes where a pointer argument of it points.
  bool writes(const InternalNode& node, unsigned argument);
  /// The input of an internal node that one of a child's comes from, be it given on by other children.
  std::optional<unsigned> rootInputOf(const InternalNode& node, const Source& source);
  /// Whether leaves are raised. They may be where no two pointers that the graph is given overlap of which one is
  /// written.
  bool raises_ = false;
  unsigned raised_ = 0;   // leaves
  bool isStream_ = false; // whether what is built is a stage

private:
  void checkGrids(const Child& source, const Child& destination, const llvm::CallBase& edge, const Values& extents,
                  const Values& inputs);
  mlir::Value asInput(mlir::Value value, const llvm::Type* input, bool isUnsigned);
  Values inputsOf(const Child& child, const Values& inputs, const Outputs& outputs);
  void makeOutputs(const InternalNode& node, unsigned number, const Values& given, const Values& extents,
                   std::vector<Output>& outputs);
  std::optional<unsigned> passedOn(const InternalNode& node, unsigned child, unsigned output);
  friend class LeafRaiser;
  mlir::Value instancesOf(const Values& extents);
  mlir::Value linearIndex(const Level& level);
  mlir::Value isLast(const Level& level);
  void keep(const Values& values, const std::vector<Output>& outputs, mlir::Value linear);
  void runLeaf(const LeafNode& leaf, const Values& given, const std::vector<Output>& outputs, mlir::Value linear);

  // Raised leaves (raise_leaf.cpp).

  /// The inputs that each instance has of its own: for each argument the block they are in, or null.
  std::vector<const Output*> ownInputs(const Child& child, const Outputs& outputs) const;
  /// WhereApart: the builder stands where it has to be executed in another way, since pointers overlap there.
  enum class Raised { No, Yes, WhereApart };
  /// All instances of a leaf as one kernel with loops. No: it cannot be raised, and nothing was made.
  Raised raiseLeaf(const Child& child, const LeafNode& leaf, const Values& given, const Level& level, Outputs& outputs,
                   const std::vector<Output>& own);
  const std::vector<llvm::Type*>& elementsOf(const LeafNode& leaf);
  std::map<const llvm::Function*, std::vector<llvm::Type*>> elements_;

  unsigned labels_ = 0;
  std::string path_; // of the node at hand from the root on, where nodes are spans
};

} // namespace strata::hpvm
