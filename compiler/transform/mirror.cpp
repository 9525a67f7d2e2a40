// A block b mirrors v with at most one move in (from v) and at most one move out (to the same v), provided that between
// the first and the last use of b nobody else touches what v is a view of.
#include "compiler/transform/mirror.h"

#include "compiler/ir/transfer.h"
#include "compiler/transform/builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// The moves of a block that mirrors one view, or nothing.
std::optional<Mirror> mirrorOf(BlockOp block) {
  Mirror mirror;
  for (Operation* user : block->getUsers()) {
    auto move = dyn_cast<MoveOp>(user);
    if (!move)
      continue;
    if (move.getToken() || !move.getAfter().empty() || move->getBlock() != block->getBlock() ||
        SvmDialect::keepAttr.isOn(move))
      return std::nullopt;
    MoveOp& slot = move.getDestination() == block.getBlock() ? mirror.in : mirror.out;
    if (slot)
      return std::nullopt;
    slot = move;
  }
  if (!mirror.in && !mirror.out)
    return std::nullopt;
  mirror.view = mirror.in ? mirror.in.getSource() : mirror.out.getDestination();
  if (mirror.in && mirror.out && mirror.out.getDestination() != mirror.view)
    return std::nullopt;
  return mirror;
}

/// Whether the other uses of the block stand between its moves, in its own region or deeper, and end where they stand.
bool usesAreBetween(BlockOp block, Mirror mirror) {
  for (Operation* user : usersThroughViews(block.getBlock())) {
    if (user == mirror.in || user == mirror.out)
      continue;
    // What gives a token goes on beside its starter, until somebody waits for it.
    if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<TokenType>))
      return false;
    Operation* here = block->getBlock()->findAncestorOpInBlock(*user);
    if (!here || (mirror.in && here->isBeforeInBlock(mirror.in)) || (mirror.out && mirror.out->isBeforeInBlock(here)))
      return false;
  }
  return true;
}

/// The operations of the block's region between which it stands for the view: from its move in, or where it is made, to
/// its move out or last use.
std::pair<Operation*, Operation*> stretchOf(BlockOp block, Mirror mirror) {
  Operation* first = mirror.in ? mirror.in.getOperation() : block.getOperation();
  Operation* last = mirror.out ? mirror.out.getOperation() : first;
  if (!mirror.out)
    for (Operation* user : usersThroughViews(block.getBlock()))
      if (Operation* here = block->getBlock()->findAncestorOpInBlock(*user); last->isBeforeInBlock(here))
        last = here;
  return {first, last};
}

/// Whether two values may share elements, also where one is a block that stands for a part of an array in its place.
bool mayBePartOf(Value value, Value view) {
  for (Value at = value; Operation* made = at.getDefiningOp(); at = made->getOperand(0)) {
    if (auto inPlace = dyn_cast<InPlaceOp>(made); inPlace && mayShare(inPlace.getPart(), view))
      return true;
    if (!isViewOfAnother(made))
      break;
  }
  return mayShare(value, view);
}

/// Whether something between the block's first and last use touches the storage of the view other than through the
/// block: a write, or, when the block is written, a read.
bool isDisturbed(BlockOp block, Mirror mirror, bool readOnly) {
  auto [first, last] = stretchOf(block, mirror);
  Operation* end = mirror.out ? last : last->getNextNode();
  for (Operation* op = first->getNextNode(); op && op != end; op = op->getNextNode()) {
    WalkResult walk = op->walk([&](Operation* inner) {
      if (isa<BlockOp, memref::DimOp, memref::ExtractStridedMetadataOp>(inner) || isViewOfAnother(inner))
        return WalkResult::advance();
      for (OpOperand& operand : inner->getOpOperands()) {
        if (!isa<MemRefType>(operand.get().getType()) || rootOf(operand.get()) == block.getBlock())
          continue;
        const bool reads = isa<memref::LoadOp>(inner) || isReadByTransfer(operand);
        if (reads && readOnly)
          continue;
        if (mayBePartOf(operand.get(), mirror.view))
          return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return true;
  }
  return false;
}

} // namespace

/// A view of the block must not be read or written after the block has been emptied; views are followed by the caller.
bool Mirrors::readsOnly(BlockOp block) {
  SmallVector<Value> work{block.getBlock()};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand& use : value.getUses()) {
      Operation* user = use.getOwner();
      if (isViewOfAnother(user)) {
        work.push_back(user->getResult(0));
      } else if (auto run = dyn_cast<RunOp>(user)) {
        auto kernel = symbols_.lookup<KernelOp>(run.getKernel());
        if (!kernel || kernel.access(use.getOperandNumber()) != Access::Read)
          return false;
      } else if (auto call = dyn_cast<func::CallOp>(user)) {
        auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
        auto access = callee ? SvmDialect::accessAttr.of(callee, use.getOperandNumber()) : std::nullopt;
        if (access != Access::Read)
          return false;
      } else if (auto move = dyn_cast<MoveOp>(user)) {
        if (move.getDestination() == value && value != block.getBlock())
          return false;
      } else if (isa<GatherOp, ScatterOp>(user)) {
        if (!isReadByTransfer(use))
          return false;
      } else if (!isa<memref::LoadOp, memref::DimOp, memref::ExtractStridedMetadataOp>(user)) {
        return false;
      }
    }
  }
  return true;
}

void Mirrors::each(function_ref<bool(BlockOp block, Value view)> suits,
                   function_ref<void(BlockOp block, Mirror mirror)> act) {
  SmallVector<BlockOp> blocks;
  program_.walk([&](BlockOp block) { blocks.push_back(block); });
  for (BlockOp block : blocks)
    if (std::optional<Mirror> mirror = find(block, [&](Value view) { return suits(block, view); }))
      act(block, *mirror);
}

std::optional<Mirror> Mirrors::find(BlockOp block, function_ref<bool(Value view)> suits) {
  std::optional<Mirror> mirror = mirrorOf(block);
  if (!mirror || !suits(mirror->view) || !usesAreBetween(block, *mirror))
    return std::nullopt;
  const bool readOnly = !mirror->out && readsOnly(block);
  // A block that is written and never moved out is private: writes must not reach the view.
  if (!mirror->out && !readOnly)
    return std::nullopt;
  if (!dominance_.dominates(mirror->view, block.getOperation())) {
    Operation* definition = mirror->view.getDefiningOp();
    if (!definition || definition->getBlock() != block->getBlock() || !isViewOfAnother(definition))
      return std::nullopt;
    // The view is made between the block and its move: the block's first use comes after the view.
    for (Operation* user : block->getUsers())
      if (block->getBlock()->findAncestorOpInBlock(*user)->isBeforeInBlock(definition))
        return std::nullopt;
  }
  auto scope = dyn_cast<ScopeOp>(block->getParentOp());
  if (!(scope && scope.getDisjoint()) && isDisturbed(block, *mirror, readOnly))
    return std::nullopt;
  auto [first, last] = stretchOf(block, *mirror);
  if (first != last && beside_.isOrderedBetween(first, last)) {
    first->emitRemark() << "a copy: what runs beside this may write the array before the last use of '"
                        << block.getLabel().value_or("a block") << "'";
    return std::nullopt;
  }
  return mirror;
}

} // namespace strata::transform
