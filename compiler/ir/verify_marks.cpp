// Proves each mark by following the value that is loaded to its uses. Only what the operations around show counts:
// front ends write a load, the computation on it and the store in one piece.
#include "compiler/ir/verify_marks.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace strata::svm {
namespace {

bool isSame(Value a, Value b) {
  APInt x, y;
  return a == b || (a.getType() == b.getType() && matchPattern(a, m_ConstantInt(&x)) &&
                    matchPattern(b, m_ConstantInt(&y)) && x == y);
}

bool isSameElement(memref::LoadOp load, memref::StoreOp store) {
  return load.getMemRef() == store.getMemRef() &&
         llvm::all_of(llvm::zip(load.getIndices(), store.getIndices()),
                      [](auto pair) { return isSame(std::get<0>(pair), std::get<1>(pair)); });
}

bool isVariable(Value block) {
  return block.getDefiningOp<memref::AllocaOp>() != nullptr;
}

// ---- svm.remainder ----

/// A copy of an element: whether the store has a value is asked of the load before it.
bool isCopied(memref::LoadOp load, memref::StoreOp store) {
  return SvmDialect::remainderAttr.isOn(store) && store.getValueToStore() == load &&
         store->getBlock() == load->getBlock();
}

/// Whether a mask lets some bits through and others not, as far as it is known.
bool isPartial(Value mask) {
  APInt bits;
  return !matchPattern(mask, m_ConstantInt(&bits)) || !bits.isAllOnes();
}

/// Follows an element that was loaded, or a field of it, to stores at its place; `isCut`: a part was taken out on the
/// way. Gives the first use that is another one.
Operation* otherUseOfRest(memref::LoadOp load) {
  llvm::SetVector<std::pair<Value, unsigned>> found;
  found.insert({load.getResult(), 0U});
  for (size_t next = 0; next < found.size(); ++next) {
    auto [value, isCut] = found[next];
    for (OpOperand& use : value.getUses()) {
      Operation* user = use.getOwner();
      if (auto store = dyn_cast<memref::StoreOp>(user)) {
        const bool isPutBack = isCut && store.getValueToStore() == value && isSameElement(load, store);
        if (!isPutBack && !isCopied(load, store))
          return user;
      } else if (isa<WithFieldOp, RecordOp>(user)) {
        found.insert({user->getResult(0), 1U});
      } else if (auto choice = dyn_cast<arith::SelectOp>(user); choice && use.getOperandNumber() > 0) {
        found.insert({choice.getResult(), isCut});
      } else if (isa<arith::AndIOp>(user) && user->getOperand(0) != user->getOperand(1)) {
        found.insert({user->getResult(0), unsigned(isCut || isPartial(user->getOperand(1 - use.getOperandNumber())))});
      } else if (isa<FieldOp, arith::OrIOp>(user)) {
        found.insert({user->getResult(0), isCut});
      } else {
        return user;
      }
    }
  }
  return nullptr;
}

/// The store's value is that of the last load before it that is marked.
bool followsItsLoad(memref::StoreOp store) {
  auto load = store.getValueToStore().getDefiningOp<memref::LoadOp>();
  if (!load || !SvmDialect::remainderAttr.isOn(load) || load->getBlock() != store->getBlock())
    return false;
  for (Operation* op = load->getNextNode(); op != store; op = op->getNextNode())
    if (SvmDialect::remainderAttr.isOn(op) || op->getNumRegions() > 0)
      return false;
  return true;
}

LogicalResult verifyRest(Operation* op) {
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    if (Operation* other = otherUseOfRest(load))
      return (op->emitOpError() << "carries '" << SvmDialect::remainderAttr
                                << "', and what it reads goes elsewhere than back to its element, with a part replaced")
                 .attachNote(other->getLoc())
             << "it is used here";
    return success();
  }
  auto store = dyn_cast<memref::StoreOp>(op);
  if (!store || !followsItsLoad(store)) // an affine one among them
    return op->emitOpError() << "carries '" << SvmDialect::remainderAttr
                             << "', which stands on a load, or on the store of what that load reads";
  return success();
}

// ---- svm.compared ----

/// Whether a truth value says no more than that something has changed since a poll.
bool onlySaysChange(Value truth) {
  llvm::SetVector<Value> found;
  found.insert(truth);
  for (size_t next = 0; next < found.size(); ++next)
    for (Operation* user : found[next].getUsers()) {
      if (isa<arith::OrIOp>(user)) {
        found.insert(user->getResult(0));
      } else if (auto poll = dyn_cast<PollOp>(user)) {
        if (poll.getChanged() != found[next] || llvm::is_contained(poll.getState(), found[next]))
          return false;
      } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
        if (!isVariable(store.getMemRef()))
          return false;
        for (Operation* reader : store.getMemRef().getUsers())
          if (auto load = dyn_cast<memref::LoadOp>(reader))
            found.insert(load.getResult());
          else if (!isa<memref::StoreOp>(reader))
            return false;
      } else {
        return false;
      }
    }
  return true;
}

bool isStoredNext(memref::LoadOp load, Value value) {
  for (Operation* op = load->getNextNode(); op; op = op->getNextNode())
    if (auto store = dyn_cast<memref::StoreOp>(op); store && isSameElement(load, store))
      return store.getValueToStore() == value;
  return false;
}

Value beforeBitcast(Value value) {
  auto cast = value.getDefiningOp<arith::BitcastOp>();
  return cast ? cast.getIn() : value;
}

LogicalResult verifyCompared(Operation* op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  SmallVector<Operation*> users;
  for (Operation* user : op->getUsers())
    if (auto cast = dyn_cast<arith::BitcastOp>(user))
      llvm::append_range(users, cast->getUsers());
    else
      users.push_back(user);
  for (Operation* user : users) {
    auto compare = dyn_cast<arith::CmpIOp>(user);
    if (!load || !compare)
      return op->emitOpError() << "carries '" << SvmDialect::comparedAttr << "', and its value is not only compared";
    const Value left = beforeBitcast(compare.getLhs()), right = beforeBitcast(compare.getRhs());
    const Value stored = left == load ? right : left;
    if (!llvm::is_contained({arith::CmpIPredicate::eq, arith::CmpIPredicate::ne}, compare.getPredicate()) ||
        !isStoredNext(load, stored) || !onlySaysChange(compare.getResult()))
      return op->emitOpError() << "carries '" << SvmDialect::comparedAttr
                               << "', and is not compared, for 'svm.poll' alone, with what is stored there next";
  }
  return load ? success()
              : LogicalResult(op->emitOpError() << "carries '" << SvmDialect::comparedAttr << "', and is no load");
}

// ---- svm.awaited ----

/// Whether a value decides about going on with a loop.
bool decidesLoop(Value value) {
  llvm::SetVector<Value> found;
  found.insert(value);
  for (size_t next = 0; next < found.size(); ++next)
    for (OpOperand& use : found[next].getUses()) {
      Operation* user = use.getOwner();
      const unsigned number = use.getOperandNumber();
      if (auto condition = dyn_cast<scf::ConditionOp>(user)) {
        if (number == 0)
          return true;
        auto loop = cast<scf::WhileOp>(condition->getParentOp());
        found.insert(loop.getResult(number - 1));
        found.insert(loop.getAfterArguments()[number - 1]);
      } else if (isa<scf::YieldOp>(user)) {
        Operation* parent = user->getParentOp();
        if (auto loop = dyn_cast<scf::WhileOp>(parent))
          found.insert(loop.getBeforeArguments()[number]);
        else if (auto loop = dyn_cast<scf::ForOp>(parent))
          found.insert(loop.getRegionIterArg(number));
        if (number < parent->getNumResults() && !isa<scf::WhileOp>(parent))
          found.insert(parent->getResult(number));
      } else if (auto loop = dyn_cast<scf::WhileOp>(user)) {
        found.insert(loop.getBeforeArguments()[number]);
      } else if (isa<scf::IfOp, scf::IndexSwitchOp>(user)) {
        // What is chosen by it depends on it.
        for (Value result : user->getResults())
          found.insert(result);
        user->walk([&](memref::StoreOp store) {
          if (isVariable(store.getMemRef()))
            found.insert(store.getMemRef());
        });
      } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
        if (isVariable(store.getMemRef()) && store.getMemRef() != found[next])
          found.insert(store.getMemRef());
      } else {
        for (Value result : user->getResults())
          found.insert(result);
      }
    }
  return false;
}

/// Whether an operation, or one in it, touches memory that other instances may share.
bool touchesShared(Operation* op) {
  return op
      ->walk([](Operation* inner) {
        if (auto load = dyn_cast<memref::LoadOp>(inner))
          return isVariable(load.getMemRef()) || SvmDialect::awaitedAttr.isOn(load) ? WalkResult::advance()
                                                                                    : WalkResult::interrupt();
        if (auto store = dyn_cast<memref::StoreOp>(inner))
          return isVariable(store.getMemRef()) ? WalkResult::advance() : WalkResult::interrupt();
        const bool isOther = isa<RunOp, MoveOp, GatherOp, ScatterOp, PushOp, PopOp, PeekOp>(inner) ||
                             (inner->getName().getDialectNamespace() == "affine" && inner->getNumRegions() == 0 &&
                              !isMemoryEffectFree(inner));
        return isOther ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What stands first in a list of operations: a fence, or something that touches shared memory. Nothing where neither
/// does, up to `end`.
enum class Next { Nothing, Fence, Touch };
Next firstOf(Operation* begin, Operation* end) {
  for (Operation* op = begin; op && op != end; op = op->getNextNode()) {
    if (isa<FenceOp>(op))
      return Next::Fence;
    if (touchesShared(op))
      return Next::Touch;
  }
  return Next::Nothing;
}

/// Whether a fence stands between an operation and everything shared that is touched after it.
bool isFenced(Operation* op) {
  for (; op && !isa<KernelOp, func::FuncOp>(op); op = op->getParentOp()) {
    if (Next next = firstOf(op->getNextNode(), nullptr); next != Next::Nothing)
      return next == Next::Fence;
    // The other part of a loop, and what is before it in the next round.
    Operation* parent = op->getParentOp();
    Next next = Next::Nothing;
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      Region& other = op->getParentRegion() == &loop.getBefore() ? loop.getAfter() : loop.getBefore();
      next = firstOf(&other.front().front(), nullptr);
    }
    if (next == Next::Nothing && isa<LoopLikeOpInterface>(parent))
      next = firstOf(&op->getBlock()->front(), op);
    if (next == Next::Touch)
      return false;
  }
  return true;
}

/// Whether it is done again until another instance has done something.
bool isInWaitingLoop(Operation* op) {
  for (auto loop = op->getParentOfType<scf::WhileOp>(); loop; loop = loop->getParentOfType<scf::WhileOp>())
    if (loop->walk([](Operation* inner) {
              return isa<PollOp, PauseOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
            })
            .wasInterrupted())
      return true;
  return false;
}

LogicalResult verifyAwaited(Operation* op) {
  auto load = dyn_cast<memref::LoadOp>(op);
  if (!load || !(isInWaitingLoop(load) || decidesLoop(load.getResult())))
    return op->emitOpError() << "carries '" << SvmDialect::awaitedAttr << "', and no loop waits with it";
  if (!isFenced(load))
    return op->emitOpError() << "carries '" << SvmDialect::awaitedAttr
                             << "', and what follows touches memory before an 'svm.fence'";
  return success();
}

// ---- svm.layout ----

/// Whether a value follows from constants and from how blocks lie.
bool isOfLayout(Value value) {
  llvm::SetVector<Value> found;
  found.insert(value);
  for (size_t next = 0; next < found.size(); ++next) {
    Operation* op = found[next].getDefiningOp();
    if (!op)
      return false;
    if (isa<memref::ExtractStridedMetadataOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!isa<arith::ArithDialect>(op->getDialect()))
      return false;
    found.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

} // namespace

LogicalResult verifyMarks(Operation* op) {
  if (SvmDialect::remainderAttr.isOn(op) && failed(verifyRest(op)))
    return failure();
  if (SvmDialect::comparedAttr.isOn(op) && failed(verifyCompared(op)))
    return failure();
  if (SvmDialect::awaitedAttr.isOn(op) && failed(verifyAwaited(op)))
    return failure();
  if (auto load = dyn_cast<memref::LoadOp>(op);
      SvmDialect::keptAttr.isOn(op) && !(load && load.getMemRefType().getRank() > 0))
    return op->emitOpError() << "carries '" << SvmDialect::keptAttr << "', and is no load from a block of copies";
  if (SvmDialect::layoutAttr.isOn(op)) {
    auto check = dyn_cast<CheckOp>(op);
    if (!check || !isOfLayout(check.getCondition()))
      return op->emitOpError() << "carries '" << SvmDialect::layoutAttr
                               << "', and what it checks follows from more than how a block lies";
  }
  return success();
}

} // namespace strata::svm
