// Verifies what arguments are said to be. Nothing stores to one that is "read", directly, through views, or by what is
// run or called on it. A kernel reads nothing of one that is "write" before it has written to it. No block is given
// twice where it is written, except to a kernel whose arguments may alias. Overlap of two different blocks is found
// when the program runs.
#include "compiler/ir/svm.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

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
      if (auto kernel = dyn_cast<KernelOp>(*function); kernel && failed(writeArguments(kernel)))
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
    if (isa<MoveOp>(op))
      return position == 1;
    if (auto loop = dyn_cast<ParallelOp>(op))
      return llvm::is_contained(loop.getReductions(), use.get());
    if (auto run = dyn_cast<RunOp>(op)) {
      auto kernel = symbols_.lookup<KernelOp>(run.getKernel());
      return kernel && kernel.access(position) != "read";
    }
    if (auto call = dyn_cast<func::CallOp>(op)) {
      auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
      return callee && !callee.isExternal() && written_.contains(callee.getArgument(position));
    }
    return hasEffect<MemoryEffects::Write>(use);
  }

  /// Whether an operation says that it reads, or writes, the block that is its operand.
  template <typename Effect>
  static bool hasEffect(OpOperand& use) {
    SmallVector<MemoryEffects::EffectInstance> effects;
    if (auto interface = dyn_cast<MemoryEffectOpInterface>(use.getOwner()))
      interface.getEffectsOnValue(use.get(), effects);
    return llvm::any_of(effects, [](const auto& effect) { return isa<Effect>(effect.getEffect()); });
  }

  /// The view that an operation makes of a block, or null.
  static Value viewOf(OpOperand& use) {
    auto view = dyn_cast<ViewLikeOpInterface>(use.getOwner());
    return view && view.getViewSource() == use.get() ? view->getResult(0) : Value();
  }

  /// Who writes a block, directly or through views; null where nobody does.
  Operation* writerOf(Value block) const {
    for (OpOperand& use : block.getUses()) {
      if (writes(use))
        return use.getOwner();
      if (Value view = viewOf(use))
        if (Operation* writer = writerOf(view))
          return writer;
    }
    return nullptr;
  }

  /// All that reads a block and all that writes it, directly or through views. Loads of what remains of an element are
  /// left out: it may be without a value.
  void collect(Value block, SmallVector<Operation*>& readers, SmallVector<Operation*>& writers) const {
    for (OpOperand& use : block.getUses()) {
      if (hasEffect<MemoryEffects::Read>(use) && !SvmDialect::remainderAttr.isOn(use.getOwner()))
        readers.push_back(use.getOwner());
      if (writes(use))
        writers.push_back(use.getOwner());
      if (Value view = viewOf(use))
        collect(view, readers, writers);
    }
  }

  /// Whether a kernel may have come to `writer` when it comes to `reader`: by the order of the text, or by a loop
  /// around both.
  static bool mayPrecede(Operation* writer, Operation* reader) {
    for (Operation* up = reader; !isa<KernelOp>(up); up = up->getParentOp()) {
      Operation* here = up->getBlock()->findAncestorOpInBlock(*writer);
      if (here && here->isBeforeInBlock(up))
        return true;
      if (Operation* around = up->getParentOp(); isa<LoopLikeOpInterface>(around) && around->isProperAncestor(writer))
        return true;
      // Which of an operation's regions comes first is its own matter.
      if (!here && up->getParentOp()->isProperAncestor(writer))
        return true;
    }
    return false;
  }

  /// A "write" argument has no values before the kernel has written some. What others may write meanwhile, instances or
  /// other arguments, is not known here.
  LogicalResult writeArguments(KernelOp kernel) const {
    if (!kernel.isStructured() || kernel.isShared() || kernel.getMayAlias())
      return success();
    for (auto [position, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
      if (kernel.access(position) != "write" || distributionOf(argument.getType()))
        continue;
      SmallVector<Operation*> readers, writers;
      collect(argument, readers, writers);
      for (Operation* reader : readers)
        if (llvm::none_of(writers, [&](Operation* writer) { return mayPrecede(writer, reader); }))
          return reader->emitOpError() << "reads '" << kernel.argumentName(position) << "' of '" << kernel.getName()
                                       << "' before anything is written to it, and '" << SvmDialect::accessAttr
                                       << "' says \"write\" of it; say \"readwrite\"";
    }
    return success();
  }

  LogicalResult readArguments(FunctionOpInterface function) const {
    if (function.getFunctionBody().empty())
      return success();
    for (auto [position, argument] : llvm::enumerate(function.getArguments())) {
      StringAttr access = SvmDialect::accessAttr.of(function, position);
      if (!access || access.getValue() != "read" || !isa<MemRefType>(argument.getType()))
        continue;
      Operation* writer = writerOf(argument);
      if (!writer)
        continue;
      StringAttr name = SvmDialect::nameAttr.of(function, position);
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
    if (!isa<RunOp, func::CallOp, ParallelOp>(op))
      return success();
    if (auto run = dyn_cast<RunOp>(op))
      if (auto kernel = symbols_.lookup<KernelOp>(run.getKernel()); kernel && kernel.getMayAlias())
        return success();
    llvm::SmallDenseMap<Value, OpOperand*> given;
    for (OpOperand& operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      auto [other, isNew] = given.try_emplace(withoutCasts(operand.get()), &operand);
      if (isNew || (!writes(operand) && !writes(*other->second)))
        continue;
      if (isa<ParallelOp>(op))
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
