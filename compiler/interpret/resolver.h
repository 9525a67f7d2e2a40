// Resolves a module into a Program: gives every value its slots and turns regions into jumps. One Resolver serves one
// module and is thrown away after run(). The rules for each dialect stand in their own file (resolve_*.cpp).
#pragma once

#include "compiler/interpret/iterations.h"
#include "compiler/interpret/program.h"
#include "compiler/ir/transfer.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>

namespace strata::interpret {

/// The slots of a value of the type; 0 when the interpreter has no such values.
unsigned slotsOf(mlir::Type type);

class Resolver {
public:
  /// `splitReductions`: they are tried in several orders. `offered`: kernels whose runs are offered to somebody.
  explicit Resolver(mlir::ModuleOp module, bool splitReductions = false, std::set<std::string> offered = {})
      : module_(module), splits_(splitReductions), offered_(std::move(offered)), symbols_(module),
        writtenArguments_(svm::findWrittenArguments(module)) {}
  Program run();

private:
  using Terminated = llvm::function_ref<void(mlir::Operation* terminator)>;

  // resolver.cpp: functions, slots, code
  void declare(mlir::FunctionOpInterface function);
  void resolveFunction(mlir::FunctionOpInterface function);
  void placeConstants(size_t codeBegin, size_t poolBegin);
  Slot slot(mlir::Value value);
  /// New slots for a value; `count` of them when it is given.
  Slot newSlots(unsigned count);
  void alias(mlir::Value value, Slot at) { slots_[value] = at; }
  Slot constant(uint64_t bits);
  Instruction& emit(Opcode opcode, Slot a = 0, Slot b = 0, Slot c = 0, Slot d = 0, int64_t imm = 0);
  uint32_t here() const { return static_cast<uint32_t>(program_.code.size()); }
  void patch(uint32_t instruction, int64_t target) { program_.code[instruction].imm = target; }
  int64_t name(llvm::StringRef text);
  /// Puts a list of slots into the pool, as operands e and d of the instruction.
  void setPool(uint32_t instruction, llvm::ArrayRef<uint32_t> list);
  /// All slots of the values, one after another.
  llvm::SmallVector<uint32_t> allSlots(mlir::ValueRange values);
  /// Copies as if all at once.
  void copy(llvm::ArrayRef<std::pair<Slot, Slot>> pairs);
  void copyValues(mlir::ValueRange to, mlir::ValueRange from);
  void unsupported(mlir::Operation* op, const llvm::Twine& why = "");
  Slot scalar(PureFunction function, unsigned width, Slot a, Slot b = 0);
  Slot integer(Opcode opcode, Slot a, Slot b);

  // resolve_control.cpp
  /// The body of a region with one block, its lifetimes ended behind the terminator's effect. No terminator: null is
  /// given.
  void resolveBody(mlir::Region& region, Terminated terminated);
  /// A region of any number of blocks; `terminated` is called for the terminators that leave it.
  void resolveBlocks(mlir::Region& region, Terminated terminated);
  void resolveOperation(mlir::Operation* op);
  bool resolveControl(mlir::Operation* op);
  void resolveFor(mlir::scf::ForOp loop);
  void resolveWhile(mlir::scf::WhileOp loop);
  void resolveBranch(mlir::Operation* terminator);
  void counted(Slot variable, Slot lower, Slot upper, Slot step, unsigned width, bool isUnsigned,
               llvm::function_ref<void()> body);
  void beginBranch(Iterations::Kind kind, llvm::StringRef label);
  uint32_t beginScope(LifetimeKind kind, bool wanted);
  void endScope(uint32_t mark, LifetimeKind kind);
  void awaitStarted(mlir::Block& block);
  void nested(llvm::function_ref<void()> body);

  // resolve_arith.cpp
  bool resolveArithmetic(mlir::Operation* op);
  void resolveConstant(mlir::Operation* op, mlir::Attribute value);

  // resolve_memory.cpp
  bool resolveMemory(mlir::Operation* op);
  void resolveMake(mlir::Operation* op, mlir::MemRefType type, mlir::ValueRange extents, MakeKind kind);
  void resolveAccess(mlir::Operation* op, bool isLoad, mlir::Value block, mlir::Value value,
                     llvm::ArrayRef<Slot> indices);
  /// The store just emitted takes its index from a block of indices, if it does.
  void noteIndexSource(mlir::Value index);
  void resolveSubView(mlir::memref::SubViewOp view);
  void resolveReinterpret(mlir::memref::ReinterpretCastOp cast);
  void resolveAtomic(svm::AtomicOp atomic);
  void resolveExpand(mlir::memref::ExpandShapeOp op);
  void resolveCollapse(mlir::memref::CollapseShapeOp op);
  void resolveGlobal(mlir::memref::GetGlobalOp op);
  void resolveAtomic(mlir::memref::AtomicRMWOp op);
  llvm::SmallVector<Slot> mixed(llvm::ArrayRef<mlir::OpFoldResult> values);

  // resolve_affine.cpp
  bool resolveAffine(mlir::Operation* op);
  /// The value of an expression of dimensions and symbols, which stand in `operands` one after the other.
  Slot affine(mlir::AffineExpr expression, unsigned dimensions, llvm::ArrayRef<Slot> operands);
  /// The least (or greatest) of a map's results.
  Slot affineExtreme(mlir::AffineMap map, llvm::ArrayRef<Slot> operands, bool greatest);
  llvm::SmallVector<Slot> affineAll(mlir::AffineMap map, mlir::ValueRange operands);

  // resolve_svm.cpp
  bool resolveSvm(mlir::Operation* op);
  bool resolveStreams(mlir::Operation* op);
  bool resolveRecords(mlir::Operation* op);
  void resolveRun(svm::RunOp run);
  /// Checks that the arguments of a kernel or function are disjoint where one is written.
  void resolveApart(mlir::ValueRange arguments, llvm::StringRef callee, llvm::function_ref<bool(unsigned)> isWritten);
  void resolveParallel(svm::ParallelOp loop);
  void resolveInstances(svm::InstancesOp instances);
  void resolveDimension(svm::ParallelOp loop, unsigned dimension, Slot lower, Slot upper);
  void resolveIndexed(const svm::Transfer& transfer);
  void resolveCheck(svm::CheckOp check);

  // resolve_reductions.cpp
  struct TriedReduction;
  /// Makes the private copies, runs the loop from one iteration to another, and moves the copies back.
  void resolveReductions(svm::ParallelOp parallel, llvm::function_ref<void(Slot, Slot)> loop);
  void tryReductions(svm::ParallelOp parallel, llvm::function_ref<void(Slot, Slot)> loop);
  /// The numbers in an element that a combiner combines, as an index into the program's.
  int64_t numbersOf(mlir::Type element, svm::CombinerAttr combiner);
  void makeCopies(Slot block, Slot like, unsigned rank, int64_t bytes, bool inParts);
  void moveBlock(Slot from, Slot to, unsigned rank, int64_t bytes);
  void partOf(const TriedReduction& reduction, Slot part, Slot result);
  /// A new block with the combination of two.
  Slot combined(const TriedReduction& reduction, Slot from, Slot into);
  Slot beginOfPart(Slot lower, Slot count, Slot part, Slot parts);
  /// Combines the parts, also in other orders, into the first of them.
  void combineInOrders(const TriedReduction& reduction, Slot count, Slot parts, llvm::ArrayRef<Slot> begins);
  std::vector<Parameter> parametersOf(mlir::FunctionOpInterface function, Slot& slots);

  mlir::ModuleOp module_;
  const bool splits_;
  std::set<std::string> offered_;
  mlir::SymbolTable symbols_;
  llvm::DenseSet<mlir::Value> writtenArguments_;
  Program program_;
  llvm::DenseMap<mlir::Operation*, unsigned> externalOf_;
  llvm::StringMap<int64_t> nameIndex_;
  llvm::StringMap<int64_t> globalIndex_;

  // Of the function being resolved.
  llvm::DenseMap<mlir::Value, Slot> slots_;
  llvm::DenseMap<mlir::Block*, uint32_t> blockAt_;
  std::vector<std::pair<uint32_t, mlir::Block*>> jumps_; ///< jumps to be pointed at blocks
  std::vector<uint64_t> constants_;
  llvm::DenseMap<uint64_t, Slot> constantSlot_;
  Slot next_ = 0;
  unsigned depth_ = 0;
  uint32_t operand_ = 0; ///< whose elements the operation accesses, from 1
  mlir::Location location_ = mlir::UnknownLoc::get(module_.getContext());
};

/// Constants get their places when the function's other slots are known; until then their slots carry this mark.
constexpr Slot ConstantMark = Slot(1) << 31;
/// How deep regions may nest: the resolver recurses over them.
constexpr unsigned MaxNesting = 500;

} // namespace strata::interpret
