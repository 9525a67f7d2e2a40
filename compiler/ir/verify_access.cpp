// What arguments are said to be: nothing is stored to one that is "read", directly, through views, or by what is run or
// called on it; and no block is given twice where it is written. That two different blocks overlap is found when the
// program runs.
#include "compiler/ir/svm.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;

namespace strata::svm {
namespace {

/// The block that is another one's under a cast.
Value withoutCasts(Value block) {
  while (auto cast = block.getDefiningOp<memref::CastOp>())
    block = cast.getSource();
  return block;
}

class AccessVerifier {
public:
  explicit AccessVerifier(ModuleOp program) : program_(program), symbols_(program) { findWritten(); }

  llvm::DenseSet<Value> written() && { return std::move(written_); }

  LogicalResult run() {
    for (auto function : program_.getOps<FunctionOpInterface>()) {
      if (failed(readArguments(function)))
        return failure();
      if (function
              ->walk([&](Operation* op) { return failed(apart(op)) ? WalkResult::interrupt() : WalkResult::advance(); })
              .wasInterrupted())
        return failure();
    }
    return success();
  }

private:
  /// The arguments of control functions that are written, also by what they call in turn.
  void findWritten() {
    llvm::DenseMap<Operation*, SmallVector<func::CallOp>> calls;
    SmallVector<BlockArgument> work;
    auto add = [&](BlockArgument argument) {
      if (isa<MemRefType>(argument.getType()) && written_.insert(argument).second)
        work.push_back(argument);
    };
    for (auto function : program_.getOps<func::FuncOp>()) {
      function.walk([&](func::CallOp call) {
        if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()))
          calls[callee].push_back(call);
      });
      for (BlockArgument argument : function.getArguments())
        if (isa<MemRefType>(argument.getType()) && writerOf(argument))
          add(argument);
    }
    // Who gives a written argument something writes that.
    while (!work.empty()) {
      BlockArgument written = work.pop_back_val();
      for (func::CallOp call : calls.lookup(written.getOwner()->getParentOp()))
        if (auto given = dyn_cast<BlockArgument>(rootOf(call.getOperand(written.getArgNumber())));
            given && isa<func::FuncOp>(given.getOwner()->getParentOp()))
          add(given);
    }
  }

  /// Whether an operation writes the block that is its operand.
  bool writes(OpOperand& use) const {
    Operation* op = use.getOwner();
    const unsigned position = use.getOperandNumber();
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return store.getMemref() == use.get();
    if (auto store = dyn_cast<affine::AffineStoreOp>(op))
      return store.getMemref() == use.get();
    if (isa<MoveOp>(op))
      return position == 1;
    if (auto spmd = dyn_cast<SpmdOp>(op))
      return llvm::is_contained(spmd.getReductions(), use.get());
    if (auto run = dyn_cast<RunOp>(op)) {
      auto kernel = symbols_.lookup<KernelOp>(run.getKernel());
      return kernel && kernel.access(position) != "read";
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
      return callee && !callee.isExternal() && written_.contains(callee.getArgument(position));
    }
    return false;
  }

  /// Who writes a block, directly or through views; null where nobody does.
  Operation* writerOf(Value block) const {
    for (OpOperand& use : block.getUses()) {
      if (writes(use))
        return use.getOwner();
      if (isa<memref::SubViewOp, memref::CastOp>(use.getOwner()))
        if (Operation* writer = writerOf(use.getOwner()->getResult(0)))
          return writer;
    }
    return nullptr;
  }

  LogicalResult readArguments(FunctionOpInterface function) const {
    if (function.getFunctionBody().empty())
      return success();
    for (auto [position, argument] : llvm::enumerate(function.getArguments())) {
      auto access = function.getArgAttrOfType<StringAttr>(position, SvmDialect::accessAttr);
      if (!access || access.getValue() != "read" || !isa<MemRefType>(argument.getType()))
        continue;
      Operation* writer = writerOf(argument);
      if (!writer)
        continue;
      auto name = function.getArgAttrOfType<StringAttr>(position, SvmDialect::nameAttr);
      return writer->emitOpError() << "writes "
                                   << (name ? "'" + name.getValue().str() + "'"
                                            : "argument " + std::to_string(position))
                                   << " of '" << SymbolTable::getSymbolName(function).getValue()
                                   << "', which says \"read\" of it in '" << SvmDialect::accessAttr
                                   << "'; say \"readwrite\"";
    }
    return success();
  }

  /// No block is given to one operation twice where that writes it.
  LogicalResult apart(Operation* op) const {
    if (!isa<RunOp, func::CallOp, SpmdOp>(op))
      return success();
    llvm::SmallDenseMap<Value, OpOperand*> given;
    for (OpOperand& operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      auto [other, isNew] = given.try_emplace(withoutCasts(operand.get()), &operand);
      if (isNew || (!writes(operand) && !writes(*other->second)))
        continue;
      if (isa<SpmdOp>(op))
        return op->emitOpError("reduces into one block twice");
      return op->emitOpError() << "gives one block as arguments " << other->second->getOperandNumber() << " and "
                               << operand.getOperandNumber()
                               << ", one of which is written; copy it to a block of its own first";
    }
    return success();
  }

  ModuleOp program_;
  SymbolTable symbols_;
  llvm::DenseSet<Value> written_;
};

} // namespace

llvm::DenseSet<Value> findWrittenArguments(ModuleOp program) {
  return AccessVerifier(program).written();
}

LogicalResult verifyAccess(ModuleOp program) {
  return AccessVerifier(program).run();
}

} // namespace strata::svm
