// What the lowering of all instances shares: the module, types and places, the names of symbols, what bodies do to
// their variables, and the mapping record under construction. Lives during one lower() only.
#pragma once

#include "compiler/ir/svm.h"
#include "compiler/mapping/logical_module.h"
#include "compiler/sequoia/lower/c_declarations.h"
#include "compiler/sequoia/lower/lower.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace strata::sequoia {

/// Ways in which control leaves a statement other than by its end.
enum Jump : uint8_t { NoJump = 0, BreakJump = 1, ContinueJump = 2, ReturnJump = 4 };

/// What the bodies of tasks and functions do, found by one walk before they are lowered.
class BodyFacts {
public:
  /// Walks a body; a second time does nothing.
  void analyze(const Stmt* body);
  /// Written after its declaration, by an assignment or by a task.
  bool isWritten(const Variable* variable) const { return written_.contains(variable); }
  /// Passed to a task that writes it: it needs a block of its own.
  bool isPassed(const Variable* variable) const { return passed_.contains(variable); }
  /// Declared where its value does not dominate its uses: it needs storage.
  bool needsStorage(const Variable* variable) const { return stored_.contains(variable); }
  /// A set of Jump.
  unsigned jumps(const Stmt* stmt) const { return jumps_.lookup(stmt); }
  const std::vector<const Variable*>& locals() const { return locals_; }
  const std::vector<const Function*>& calls() const { return calls_; }

private:
  unsigned statement(const Stmt* stmt, bool mayBeSkipped);
  unsigned sequence(const std::vector<Stmt*>& statements, bool mayBeSkipped);
  void declaration(const Stmt& stmt, bool mayBeSkipped);
  void expression(const Expr* expr);

  llvm::DenseSet<const Variable*> written_, passed_, stored_;
  llvm::DenseSet<const Stmt*> analyzed_;
  llvm::DenseMap<const Stmt*, unsigned> jumps_;
  std::vector<const Variable*> locals_;
  std::vector<const Function*> calls_;
};

class ModuleLowering {
public:
  ModuleLowering(const Program& program, const InstanceGraph& graph, const Machine& machine, mlir::MLIRContext& context,
                 DiagnosticEngine& diagnostics, const KnownSizes& known);
  std::optional<Lowered> run();

  mlir::Location place(const Location& location);
  /// The type of values. REQUIRES: not isWide(type).
  mlir::Type typeOf(const Type* type);
  /// Whether objects of the type are too large to be values: they stay in memory, as rows of words. A block of such has
  /// the words as a last dimension of its own.
  bool isWide(const Type* type);
  /// A word: an integer of the type's alignment.
  mlir::Type wordOf(const Type* type) {
    return mlir::IntegerType::get(&context, static_cast<unsigned>(type->alignment * 8));
  }
  static int64_t wordsIn(const Type* type) { return static_cast<int64_t>(type->size / type->alignment); }
  /// The block of an array, or of a scalar in memory.
  mlir::MemRefType viewOf(const Variable& variable) {
    auto rank = static_cast<unsigned>(variable.extents.size());
    return isWide(variable.type) ? svm::viewType(rank + 1, wordOf(variable.type))
                                 : svm::viewType(rank, typeOf(variable.type));
  }
  mlir::StringAttr text(const llvm::Twine& value) { return mlir::StringAttr::get(&context, value); }

  /// The symbol of an instance's kernel or function, as tasks call it. An entry point that counts selections, or whose
  /// arrays are distributed when it begins, has a function of its own for tasks, which have counts and distributed
  /// arrays.
  std::string symbolOf(uint32_t instance) const;
  bool isDealtOut(uint32_t instance) const;
  /// The symbol of an instance as a combiner: all its arguments are blocks. Made on demand.
  std::string combinerSymbol(uint32_t instance);
  bool isKernel(uint32_t instance) const { return graph.instances[instance].variant->kind != TaskKind::Inner; }
  /// Local arrays of a leaf or external task, which its callers make.
  std::vector<const Variable*> callerMade(uint32_t instance) const;
  /// Words of local space that the callers of an external task make; 0: none. A task without arrays has its space made
  /// where it is compiled, since it is an array's description that tells where the space is.
  int64_t scratchWords(uint32_t instance) const;
  /// Counts of selections, and local space.
  mlir::MemRefType wordsType() { return svm::viewType(1, mlir::IntegerType::get(&context, 64)); }

  std::string memoryAt(unsigned level) const;
  std::string processorAt(unsigned level) const;

  /// An extent as an affine expression of the instance's size parameters; null when it is not one.
  mlir::AffineExpr affine(const Instance& instance, const Expr* extent) const;
  mlir::AffineExpr affine(const LinearSize& size) const;
  /// One affine map an argument (and a caller-made array); extents that are not affine are symbols behind the size
  /// parameters.
  std::vector<mlir::AffineMap> extentMaps(uint32_t instance, bool withCallerMade);

  /// As the dialect's attributes hold them.
  mlir::ArrayAttr declarationsAttr(const std::vector<CDeclarations::Declaration>& declarations);

  mlir::MLIRContext& context;
  const Program& program;
  const InstanceGraph& graph;
  const Machine& machine;
  DiagnosticEngine& diagnostics;
  std::vector<InstanceSizes> sizes;
  std::vector<std::vector<int64_t>> spans; // processorSpans()
  BodyFacts facts;
  CDeclarations cDeclarations;
  mapping::Record record;
  mapping::LogicalModule frame;
  mlir::ModuleOp module;

private:
  void analyzeBodies();
  bool isCalled(uint32_t number) const;
  void lowerCombiners();
  void checkCombiners();

  std::vector<ExternalTask> externals_;
  llvm::DenseMap<const Type*, mlir::Type> types_;
  llvm::DenseMap<const Type*, bool> wide_;
  std::map<uint32_t, std::string> combiners_;
  std::vector<uint32_t> pendingCombiners_;
};

} // namespace strata::sequoia
