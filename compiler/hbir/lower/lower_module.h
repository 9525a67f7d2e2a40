// What the lowering of all parts of a program shares: the module under construction, types and places, the blocks that
// hold arrays and global variables, and the kernels made so far. Lives during one lower() only.
#pragma once

#include "compiler/hbir/check/code_facts.h"
#include "compiler/hbir/layout/layout.h"
#include "compiler/hbir/lower/lower.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/logical_module.h"

#include "mlir/IR/Builders.h"

#include <deque>
#include <map>

namespace strata::hbir {

/// A block of shared data: an array of the data segment, or a global variable.
struct SharedBlock {
  const Array* array = nullptr; // one of the two
  const Symbol* global = nullptr;
  mlir::MemRefType type;
  std::vector<int64_t> extents; // of the block: with the copies in front where there are any
  /// A replicated array that tiles write: one copy for each instance of the memory, each tile works on its own.
  bool copied = false;
  int64_t copies = 1, perProcessor = 0;
  int64_t firstCopy = 0; // the one that is taken for the whole

  const std::string& name() const { return array ? array->name : global->name; }
  const void* key() const { return array ? static_cast<const void*>(array) : global; }
  ScalarType element() const { return array ? array->type : global->type; }
};

/// A kernel and what it is called with, in order: blocks, buffers (local arrays that do not fit a stack), the flag that
/// the tile has finished, the number of the tile, the variables.
struct KernelPlan {
  std::string symbol;
  const CodeFacts* facts = nullptr;
  std::vector<const SharedBlock*> blocks;
  std::vector<const Symbol*> buffers;
  bool tellsFinish = false; // takes the flag
  bool takesTile = false;   // takes the number and the variables
};

/// What a kernel of this name is called: names that begin with 'strata' are the runtime's.
std::string kernelSymbol(const std::string& name);

class ModuleLowering {
public:
  ModuleLowering(const Program& program, const Machine& machine, mlir::MLIRContext& context,
                 DiagnosticEngine& diagnostics, std::string entry);
  std::optional<Lowered> run();

  mlir::Location place(const Location& location);
  mlir::Type elementType(ScalarType type);
  mlir::StringAttr text(const llvm::Twine& value) { return mlir::StringAttr::get(&context, value); }
  /// Null for data that the program does not have.
  const SharedBlock* blockOf(const Symbol* symbol) const;
  /// The value of a global variable that is a number from beginning to end.
  const Expression* constantOf(const Symbol* global) const {
    auto found = constants_.find(global);
    return found == constants_.end() ? nullptr : found->second;
  }
  bool definesConstant(const Statement& statement) const;
  /// Whether a loop waits until a tile writes this.
  bool isAwaited(const Symbol* symbol) const;

  mlir::MLIRContext& context;
  const Program& program;
  const Machine& machine;
  DiagnosticEngine& diagnostics;
  const std::string entry;
  mapping::LogicalModule frame;
  mlir::ModuleOp module;
  bool isConcurrent = false;

private:
  friend class EntryLowering;

  bool checkExterns();
  void findConstants();
  bool describeBlocks();
  bool describeArray(const Array& array, const ResolvedLayout& layout);
  void describeGlobal(const Symbol& global);
  mlir::Attribute distribution(const SharedBlock& block, const ResolvedLayout& layout);
  void declareExterns();
  /// Which of the blocks some code touches, in order.
  std::vector<const SharedBlock*> touchedBy(const CodeFacts& facts) const;
  KernelPlan planOf(const CodeFacts& facts, std::string symbol) const;
  void lowerKernels();

  std::deque<SharedBlock> blocks_; // arrays in text order, then global variables
  std::map<const Symbol*, const Expression*> constants_;
  CodeFacts startFacts_, noFacts_;
  std::deque<CodeFacts> facts_;     // one for each block of code
  std::optional<KernelPlan> clear_; // gives data a value that nobody has given one
  std::optional<KernelPlan> start_;
  std::vector<KernelPlan> kernels_; // one for each block of code; without a symbol where it does nothing
  mapping::Record record_;
};

/// An index expression as an affine expression of its variables as dimensions; null when it is none, or divides by
/// something that is not a positive constant.
mlir::AffineExpr affineOf(const IndexExpression& expression, mlir::MLIRContext* context);

} // namespace strata::hbir
