// Copy hoisting, from the innermost loop outwards. What may move: a block that is only read, out of a loop in which
// nothing else writes what it is a copy of (a parallel loop guarantees it); a block that is written, out of a loop in
// which nothing else touches it. Where others run beside the loop, it must not order itself with them: each iteration
// then sees what they have written meanwhile. Checks that do not use the loop's variable move with the blocks.
#include "compiler/transform/hoist_copies.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/transfer.h"
#include "compiler/transform/beside.h"
#include "compiler/transform/builders.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

bool operandsOutside(Operation* op, Operation* region) {
  return llvm::all_of(op->getOperands(), [&](Value value) { return isOutside(value, region); });
}

/// Moves what does not depend on a scope's blocks to before the scope: operations that cannot trap, and checks.
void emptyScope(ScopeOp scope) {
  for (Operation& op : llvm::make_early_inc_range(scope.getBody().front()))
    if ((isa<CheckOp>(op) || (canExecuteAnywhere(&op) && op.getNumRegions() == 0)) && operandsOutside(&op, scope))
      op.moveBefore(scope);
}

struct Candidate {
  BlockOp block;
  MoveOp in, out;
};

/// Whether the storage of `view` is touched in the loop other than by the candidate's own moves.
bool isTouched(scf::ForOp loop, const Candidate& candidate, Value view, bool onlyWrites) {
  Value root = rootOf(view);
  WalkResult walk = loop.walk([&](Operation* op) {
    if (op == candidate.in || op == candidate.out ||
        isa<memref::DimOp, memref::ExtractStridedMetadataOp, BlockOp>(op) || isViewOfAnother(op))
      return WalkResult::advance();
    for (OpOperand& operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      Value other = rootOf(operand.get());
      if (other != root && isDistinctRoot(root) && isDistinctRoot(other))
        continue;
      bool reads = isa<memref::LoadOp>(op) || isReadByTransfer(operand);
      if (!(reads && onlyWrites))
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return walk.wasInterrupted();
}

class LoopHoister {
public:
  /// `counted` are the moves that have left a loop inside already.
  LoopHoister(scf::ForOp loop, const Beside& beside, DenseSet<Operation*>& counted)
      : loop_(loop), beside_(beside), counted_(counted) {}

  void run() {
    moveInvariants(loop_);
    if (beside_.hasCompany(loop_) && beside_.isOrdering(loop_))
      return;
    Operation* container = nullptr;
    bool perfect = true;
    for (Operation& op : loop_.getBody()->without_terminator()) {
      if (isa<ScopeOp>(op) || SvmDialect::guardAttr.isOn(&op)) {
        perfect &= !container;
        container = &op;
      } else if (isa<CheckOp>(op) ? !operandsOutside(&op, loop_) : !isa<CountOp>(op) && !isMemoryEffectFree(&op)) {
        perfect = false;
      }
    }
    if (!container)
      return;
    auto guard = dyn_cast<scf::IfOp>(container);
    if (guard && (!perfect || !isOutside(guard.getCondition(), loop_)))
      return;
    SmallVector<Candidate> candidates;
    for (Operation& op : loop_.getBody()->without_terminator())
      if (auto scope = dyn_cast<ScopeOp>(op))
        collect(scope.getBody().front(), scope.getDisjoint(), candidates);
    if (guard)
      collect(guard.getThenRegion().front(), SvmDialect::disjointAttr.isOn(guard), candidates);
    if (candidates.empty())
      return;
    hoist(candidates, guard);
  }

private:
  void collect(Block& region, bool disjoint, SmallVector<Candidate>& candidates) {
    bool parallel = SvmDialect::parallelAttr.isOn(loop_) && disjoint;
    // What shares its address with another block holds its values for one iteration only.
    llvm::SmallDenseSet<Attribute> sharing;
    for (BlockOp block : region.getOps<BlockOp>())
      if (Attribute other = block->getAttr(SvmDialect::sharesAttr)) {
        sharing.insert(other);
        sharing.insert(block.getLabelAttr());
      }
    for (BlockOp block : region.getOps<BlockOp>()) {
      if (!operandsOutside(block, loop_) || (block.getLabelAttr() && sharing.contains(block.getLabelAttr())))
        continue;
      Candidate candidate{block, {}, {}};
      bool plain = true;
      for (Operation* user : block->getUsers())
        if (auto move = dyn_cast<MoveOp>(user); move && move->getBlock() == &region) {
          plain &= !move.getToken() && move.getAfter().empty() && !SvmDialect::keepAttr.isOn(move);
          MoveOp& slot = move.getDestination() == block.getBlock() ? candidate.in : candidate.out;
          plain &= !slot;
          slot = move;
        }
      if (!plain || !endsWithMoveOut(candidate))
        continue;
      auto invariant = [&](MoveOp move, Value view) { return !move || isOutside(view, loop_); };
      Value from = candidate.in ? Value(candidate.in.getSource()) : Value();
      Value to = candidate.out ? Value(candidate.out.getDestination()) : Value();
      if (!invariant(candidate.in, from) || !invariant(candidate.out, to) || (from && to && from != to))
        continue;
      if (candidate.out
              ? isTouched(loop_, candidate, to, false)
              : candidate.in && ((!parallel && isTouched(loop_, candidate, from, true)) || isWritten(candidate)))
        continue;
      candidates.push_back(candidate);
      disjoint_ &= disjoint;
    }
  }

  /// What a block holds when an iteration ends is what it was emptied with: it is not written between its move out and
  /// the end, and not before its move in.
  static bool endsWithMoveOut(Candidate candidate) {
    if (!candidate.out)
      return true;
    BlockOp made = candidate.block;
    Block* here = made->getBlock();
    return llvm::all_of(usersThroughViews(made.getBlock()), [&](Operation* user) {
      Operation* at = here->findAncestorOpInBlock(*user);
      return at && !candidate.out->isBeforeInBlock(at) && !(candidate.in && at->isBeforeInBlock(candidate.in));
    });
  }

  /// A block that is filled in every iteration and written meanwhile starts anew each time: it stays.
  bool isWritten(const Candidate& candidate) {
    auto module = loop_->getParentOfType<ModuleOp>();
    for (OpOperand& use : candidate.block->getUses()) {
      Operation* user = use.getOwner();
      if (auto move = dyn_cast<MoveOp>(user)) {
        if (move != candidate.in && move.getDestination() == use.get())
          return true;
      } else if (isa<GatherOp, ScatterOp>(user)) {
        if (!isReadByTransfer(use))
          return true;
      } else if (auto run = dyn_cast<RunOp>(user)) {
        auto kernel = module.lookupSymbol<KernelOp>(run.getKernel());
        if (!kernel || kernel.access(use.getOperandNumber()) != Access::Read)
          return true;
      } else if (auto call = dyn_cast<func::CallOp>(user)) {
        auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
        auto access = callee ? SvmDialect::accessAttr.of(callee, use.getOperandNumber()) : std::nullopt;
        if (access != Access::Read)
          return true;
      } else if (!isa<memref::LoadOp, memref::DimOp, memref::ExtractStridedMetadataOp>(user)) {
        return true;
      }
    }
    return false;
  }

  void hoist(ArrayRef<Candidate> candidates, scf::IfOp inner) {
    OpBuilder builder(loop_);
    Location loc = loop_.getLoc();
    Value runs =
        SvmDialect::nonEmptyAttr.isOn(loop_)
            ? builder.create<arith::ConstantIntOp>(loc, 1, 1).getResult()
            : builder
                  .create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, loop_.getLowerBound(), loop_.getUpperBound())
                  .getResult();
    // Checks that do not depend on the loop come first: they say that the views moved from are valid. What stands
    // beside the guard inside is checked whether that holds or not.
    SmallVector<CheckOp> checks;
    loop_.getBody()->walk([&](CheckOp check) {
      if (!operandsOutside(check, loop_))
        return;
      if (check->getBlock() == loop_.getBody() && inner)
        checkWhere(builder, runs, check);
      else if (check->getBlock() == loop_.getBody() || (inner && check->getParentOp() == inner))
        checks.push_back(check);
    });
    if (inner)
      runs = builder.create<arith::AndIOp>(loc, runs, inner.getCondition());
    auto guard = builder.create<scf::IfOp>(loc, runs, /*withElseRegion=*/false);
    SvmDialect::guardAttr.set(guard);
    if (disjoint_)
      SvmDialect::disjointAttr.set(guard);
    loop_->moveBefore(guard.getThenRegion().front().getTerminator());
    for (CheckOp check : checks)
      check->moveBefore(loop_);
    for (Candidate candidate : candidates) {
      candidate.block.emitRemark() << "copied once, before the loop: '"
                                   << candidate.block.getLabel().value_or("a block") << "'";
      candidate.block->moveBefore(loop_);
      if (MoveOp in = candidate.in) {
        count(in);
        in->moveBefore(loop_);
      }
      if (MoveOp out = candidate.out) {
        count(out);
        out->moveBefore(guard.getThenRegion().front().getTerminator());
      }
    }
  }

  /// Makes a check at the builder's place, where a condition holds.
  static void checkWhere(OpBuilder& builder, Value holds, CheckOp check) {
    Location loc = check.getLoc();
    Value never = builder.create<arith::XOrIOp>(loc, holds, builder.create<arith::ConstantIntOp>(loc, 1, 1));
    check->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
    OpBuilder before(check);
    check.getConditionMutable().assign(before.create<arith::OrIOp>(loc, check.getCondition(), never));
  }

  /// Counts, where the move was, what is not made there any more; a move that leaves several loops counts once.
  void count(MoveOp move) {
    if (!counted_.insert(move).second)
      return;
    OpBuilder builder(move);
    Value one = builder.create<arith::ConstantIndexOp>(move.getLoc(), 1);
    builder.create<CountOp>(move.getLoc(), "moves hoisted", one);
  }

  scf::ForOp loop_;
  const Beside& beside_;
  DenseSet<Operation*>& counted_;
  bool disjoint_ = true; // all candidates are of disjoint scopes
};

struct HoistCopiesPass : PassWrapper<HoistCopiesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistCopiesPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    getOperation().walk<WalkOrder::PostOrder>([](ScopeOp scope) { emptyScope(scope); });
    SmallVector<scf::ForOp> loops;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk<WalkOrder::PostOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
    const Beside beside(getOperation());
    DenseSet<Operation*> counted;
    for (scf::ForOp loop : loops)
      LoopHoister(loop, beside, counted).run();
    // A scope that holds nothing whose life ends with it is no more than its operations.
    SmallVector<ScopeOp> scopes;
    getOperation().walk<WalkOrder::PostOrder>([&](ScopeOp scope) {
      if (scope.getBody().getOps<BlockOp>().empty() && scope.getBody().getOps<StreamOp>().empty())
        scopes.push_back(scope);
    });
    for (ScopeOp scope : scopes) {
      scope->getBlock()->getOperations().splice(scope->getIterator(), scope.getBody().front().getOperations());
      scope.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createHoistCopiesPass() {
  return svm::makePass<HoistCopiesPass>(svm::passes::HoistCopies);
}

} // namespace strata::transform
