// Verifies what arguments are said to be. Nothing stores to one that is "read", directly, through views, or by what is
// run or called on it. Nothing of one that is "write" is read before something has been written to it,
// by a kernel or by control code. No block is given twice where it is written, except to a kernel whose arguments may
// alias. Overlap of two different blocks is found when the program runs.
#include "compiler/ir/svm.h"
#include "compiler/ir/verify_logical.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"
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

/// The variable of a loop.
bool isLoopVariable(BlockArgument value) {
  Operation* loop = value.getOwner()->getParentOp();
  if (auto each = dyn_cast<ParallelOp>(loop))
    return value.getArgNumber() < each.dimensions();
  return isa<scf::ForOp, affine::AffineForOp>(loop) && value.getArgNumber() == 0;
}

/// Whether a number follows from constants and from extents of arguments; also from variables of loops, where said.
bool isOfExtents(Value number, bool orLoops = false) {
  SmallVector<Value> work{number};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation* made = value.getDefiningOp();
    if (!made) {
      if (orLoops && isLoopVariable(cast<BlockArgument>(value)))
        continue;
      return false;
    }
    if (!seen.insert(value).second || made->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (auto extent = dyn_cast<memref::DimOp>(made)) {
      auto of = dyn_cast<BlockArgument>(withoutCasts(extent.getSource()));
      if (!of || !isa<FunctionOpInterface>(of.getOwner()->getParentOp()))
        return false;
    } else if (isa<arith::ArithDialect>(made->getDialect()) ||
               isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(made)) {
      llvm::append_range(work, made->getOperands());
    } else {
      return false;
    }
  }
  return true;
}

/// Whether a loop is one that has iterations wherever arguments have elements, as far as can be told: how many there
/// are follows from constants and extents. What scalars decide may be never.
bool hasIterations(Operation* loop) {
  for (Value operand : loop->getOperands())
    if (!isa<MemRefType, StreamType>(operand.getType()) && !isOfExtents(operand))
      return false;
  auto isEmpty = [](Value lower, Value upper) {
    std::optional<int64_t> first = getConstantIntValue(lower), last = getConstantIntValue(upper);
    return first && last && *first >= *last;
  };
  if (auto each = dyn_cast<scf::ForOp>(loop))
    return !isEmpty(each.getLowerBound(), each.getUpperBound());
  if (auto each = dyn_cast<ParallelOp>(loop)) {
    for (auto [lower, upper] : llvm::zip(each.getLower(), each.getUpper()))
      if (isEmpty(lower, upper))
        return false;
    return true;
  }
  if (auto each = dyn_cast<affine::AffineForOp>(loop))
    return !each.hasConstantBounds() || each.getConstantLowerBound() < each.getConstantUpperBound();
  return false;
}

/// Whether a view of a block with elements has some too, as far as can be told.
bool hasElements(Operation* view) {
  if (auto shaped = dyn_cast<memref::ReinterpretCastOp>(view))
    return llvm::all_of(shaped.getSizes(), [](Value size) { return isOfExtents(size, true); });
  auto part = dyn_cast<memref::SubViewOp>(view);
  return !part || llvm::all_of(part.getSizes(), [](Value size) { return isOfExtents(size, true); });
}

/// Whether an operation within `top` is executed whenever `top` is: it stands under no condition.
bool isSure(Operation* op, Operation* top) {
  for (Operation* up = op->getParentOp(); up != top; op = up, up = up->getParentOp()) {
    if (isa<ScopeOp, OnOp, SpanOp>(up))
      continue;
    if (auto loop = dyn_cast<scf::WhileOp>(up);
        loop ? loop.getBefore().isAncestor(op->getParentRegion()) : hasIterations(up))
      continue;
    return false;
  }
  return true;
}

class AccessVerifier {
public:
  explicit AccessVerifier(ModuleOp program) : program_(program), symbols_(program) { findWritten(); }

  llvm::DenseSet<Value> written() && { return std::move(written_); }

  LogicalResult run() {
    findReadFirst();
    findTogether();
    for (auto function : program_.getOps<FunctionOpInterface>()) {
      if (failed(readArguments(function)))
        return failure();
      auto kernel = dyn_cast<KernelOp>(*function);
      if (failed(kernel ? writeArguments(kernel) : writeArguments(cast<func::FuncOp>(*function))))
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
      return kernel && kernel.access(position) != Access::Read;
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

  /// Whether one execution of `top` may have come to `writer` when it comes to `reader`: by the order of the text, or
  /// by a loop around both. `atOnce`: it is about the first time that it comes there.
  static bool mayPrecede(Operation* writer, Operation* reader, Operation* top, bool atOnce) {
    for (Operation* up = reader; up != top; up = up->getParentOp()) {
      Operation* here = up->getBlock()->findAncestorOpInBlock(*writer);
      if (here && here->isBeforeInBlock(up))
        return true;
      Operation* around = up->getParentOp();
      if (around != top && isa<LoopLikeOpInterface>(around) && (!atOnce || isConcurrent(around)) &&
          around->isProperAncestor(writer))
        return true;
      // Which of an operation's regions comes first is its own matter.
      if (!here && around->isProperAncestor(writer))
        return true;
    }
    return false;
  }

  /// Whether an operation of control code reads values of the block that is its operand, before it writes any. What is
  /// done to one that is handed on by a copy is not followed.
  bool readsFirst(OpOperand& use) const {
    Operation* op = use.getOwner();
    if (SvmDialect::operandAttr.isOn(op) || SvmDialect::remainderAttr.isOn(op) || SvmDialect::awaitedAttr.isOn(op))
      return false;
    if (auto loop = dyn_cast<ParallelOp>(op)) {
      const unsigned number = use.getOperandNumber();
      const unsigned first = loop.getReductions().empty() ? number + 1 : loop.getReductions().getBeginOperandIndex();
      return number >= first && hasIterations(loop) && firstReader(loop.privateCopy(number - first));
    }
    BlockArgument given = givenTo(use);
    return given ? readFirst_.contains(given) : hasEffect<MemoryEffects::Read>(use);
  }

  /// The argument of the kernel or function that is run or called with a block, where its body is known.
  BlockArgument givenTo(OpOperand& use) const {
    Operation* op = use.getOwner();
    Region* body = nullptr;
    if (auto run = dyn_cast<RunOp>(op)) {
      if (auto kernel = symbols_.lookup<KernelOp>(run.getKernel()); kernel && kernel.isStructured())
        body = &kernel.getBody();
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()))
        body = &callee.getBody();
    }
    return body && !body->empty() ? body->getArgument(use.getOperandNumber()) : BlockArgument();
  }

  /// An operation that reads a block's values whenever the operation is executed whose region's argument the block is,
  /// and before that has written any; null where none is seen to.
  Operation* firstReader(BlockArgument block) const {
    Operation* top = block.getOwner()->getParentOp();
    SmallVector<Operation*> readers, writers;
    auto follow = [&](Value view, bool isRead, auto& self) -> void {
      for (OpOperand& use : view.getUses()) {
        if (isRead && readsFirst(use) && isSure(use.getOwner(), top))
          readers.push_back(use.getOwner());
        if (writes(use))
          writers.push_back(use.getOwner());
        if (Value other = viewOf(use))
          self(other, isRead && hasElements(use.getOwner()), self);
      }
    };
    follow(block, true, follow);
    // What goes on beside its starter may wait for what comes behind it.
    auto isBeside = [](Operation* op) { return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TokenType>); };
    llvm::erase_if(readers, [&](Operation* reader) {
      return isBeside(reader) && llvm::any_of(writers, [&](Operation* writer) { return writer != reader; });
    });
    // A load reads an element in the first round of loops; another operation may then be given a view without any.
    return firstOf(readers, writers, top, [](Operation* op) { return isa<memref::LoadOp, affine::AffineLoadOp>(op); });
  }

  /// The first of the readers, where no writer may have come before it. What may come before the first may come before
  /// all.
  Operation* firstOf(ArrayRef<Operation*> readers, ArrayRef<Operation*> writers, Operation* top,
                     function_ref<bool(Operation*)> isAtOnce) const {
    if (readers.empty())
      return nullptr;
    Operation* first = *llvm::min_element(
        readers, [&](Operation* a, Operation* b) { return position_.lookup(a) < position_.lookup(b); });
    const bool atOnce = isAtOnce(first);
    return llvm::any_of(writers, [&](Operation* writer) { return mayPrecede(writer, first, top, atOnce); }) ? nullptr
                                                                                                            : first;
  }

  /// The arguments of kernels and functions that are read before they are written, whenever these are executed.
  void findReadFirst() {
    program_.walk<WalkOrder::PreOrder>([&](Operation* op) { position_.try_emplace(op, position_.size()); });
    llvm::DenseMap<Operation*, SmallVector<func::CallOp>> calls;
    SmallVector<BlockArgument> work;
    auto add = [&](Region& body) {
      for (BlockArgument argument : body.getArguments())
        if (isa<MemRefType>(argument.getType()))
          work.push_back(argument);
    };
    for (auto function : program_.getOps<func::FuncOp>()) {
      function.walk([&](func::CallOp call) { calls[symbols_.lookup(call.getCallee())].push_back(call); });
      add(function.getBody());
    }
    // Kernels come off the end first: they call nobody.
    for (auto kernel : program_.getOps<KernelOp>())
      if (kernel.isStructured() && !kernel.isShared() && !kernel.getMayAlias())
        add(kernel.getBody());
    while (!work.empty()) {
      BlockArgument argument = work.pop_back_val();
      if (readFirst_.contains(argument) || !firstReader(argument))
        continue;
      readFirst_.insert(argument);
      // Who gives it something may read that first.
      for (func::CallOp call : calls.lookup(argument.getOwner()->getParentOp()))
        if (BlockArgument given = argumentOf(call.getOperand(argument.getArgNumber())))
          work.push_back(given);
    }
  }

  /// The function's argument that a block is part of, or a private copy of; null where it is none.
  static BlockArgument argumentOf(Value block) {
    while (auto argument = dyn_cast<BlockArgument>(rootOf(block))) {
      auto loop = dyn_cast<ParallelOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return argument;
      block = loop.getReductions()[argument.getArgNumber() - loop.dimensions()];
    }
    return {};
  }

  /// The functions that concurrent instances execute, whose arguments the others may write.
  void findTogether() {
    SmallVector<func::FuncOp> work;
    auto add = [&](func::CallOp call) {
      if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()); callee && together_.insert(callee).second)
        work.push_back(callee);
    };
    program_.walk([&](ParallelOp loop) {
      if (loop.getConcurrent())
        loop.walk(add);
    });
    while (!work.empty())
      work.pop_back_val().walk(add);
  }

  /// A "write" argument has no values before the kernel has written some. What others may write meanwhile, instances or
  /// other arguments, is not known here.
  LogicalResult writeArguments(KernelOp kernel) const {
    if (!kernel.isStructured() || kernel.isShared() || kernel.getMayAlias())
      return success();
    for (auto [position, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
      if (kernel.access(position) != Access::Write || distributionOf(argument.getType()))
        continue;
      SmallVector<Operation*> readers, writers;
      collect(argument, readers, writers);
      if (Operation* reader = firstOf(readers, writers, kernel, [](Operation*) { return false; }))
        return reader->emitOpError() << "reads '" << kernel.argumentName(position) << "' of '" << kernel.getName()
                                     << "' before anything is written to it, and '" << SvmDialect::accessAttr
                                     << "' says \"write\" of it; say \"readwrite\"";
    }
    return success();
  }

  /// Control code reads nothing of such an argument either, where it is seen to be executed.
  LogicalResult writeArguments(func::FuncOp function) const {
    if (function.isExternal() || together_.contains(function))
      return success();
    for (BlockArgument argument : function.getArguments()) {
      if (SvmDialect::accessAttr.of(function, argument.getArgNumber()) != Access::Write ||
          !isa<MemRefType>(argument.getType()))
        continue;
      if (Operation* reader = firstReader(argument))
        return reader->emitOpError() << "reads " << nameOf(function, argument.getArgNumber())
                                     << " before anything is written to it, and '" << SvmDialect::accessAttr
                                     << "' says \"write\" of it; say \"readwrite\"";
    }
    return success();
  }

  /// What messages call a function's argument.
  static std::string nameOf(FunctionOpInterface function, unsigned position) {
    StringAttr name = SvmDialect::nameAttr.of(function, position);
    return (name ? "'" + name.getValue().str() + "'" : "argument " + std::to_string(position)) + " of '" +
           SymbolTable::getSymbolName(function).getValue().str() + "'";
  }

  LogicalResult readArguments(FunctionOpInterface function) const {
    if (function.getFunctionBody().empty())
      return success();
    for (auto [position, argument] : llvm::enumerate(function.getArguments())) {
      if (SvmDialect::accessAttr.of(function, position) != Access::Read || !isa<MemRefType>(argument.getType()))
        continue;
      Operation* writer = writerOf(argument);
      if (!writer)
        continue;
      return writer->emitOpError() << "writes " << nameOf(function, position) << ", which says \"read\" of it in '"
                                   << SvmDialect::accessAttr << "'; say \"readwrite\"";
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
  llvm::DenseMap<Operation*, size_t> position_; // in the text
  llvm::DenseSet<Value> readFirst_;
  llvm::DenseSet<Operation*> together_;
};

} // namespace

llvm::DenseSet<Value> findWrittenArguments(ModuleOp program) {
  return AccessVerifier(program).written();
}

LogicalResult verifyAccess(ModuleOp program) {
  return AccessVerifier(program).run();
}

} // namespace strata::svm
