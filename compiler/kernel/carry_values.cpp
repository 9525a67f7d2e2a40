// Memory at one place becomes values. Blocks are rewritten from their beginning to their end with the value that is
// there: loops get it as an argument and give it as a result, and so do choices. See nests.h.
#include "compiler/kernel/nests.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

/// A load or store at the place that is rewritten.
using Accesses = llvm::SmallPtrSet<Operation*, 8>;

class Carrier {
public:
  explicit Carrier(Accesses accesses) : accesses_(std::move(accesses)) {}

  /// Rewrites a block into which `value` comes; gives what leaves it.
  Value rewrite(Block& block, Value value) {
    for (Operation& op : llvm::make_early_inc_range(block)) {
      if (accesses_.contains(&op)) {
        if (auto load = dyn_cast<memref::LoadOp>(op))
          load.replaceAllUsesWith(value);
        else
          value = cast<memref::StoreOp>(op).getValueToStore();
        accesses_.erase(&op);
        op.erase();
      } else if (auto loop = dyn_cast<scf::ForOp>(op); loop && contains(op, false)) {
        if (contains(op, true))
          value = rewrite(loop, value).getResults().back();
        else
          rewrite(*loop.getBody(), value);
      } else if (auto choice = dyn_cast<scf::IfOp>(op); choice && contains(op, false)) {
        value = rewrite(choice, value);
      }
    }
    return value;
  }

  /// Rewrites a loop that stores; its last result is what leaves it.
  scf::ForOp rewrite(scf::ForOp loop, Value value) {
    IRRewriter rewriter(loop->getContext());
    rewriter.setInsertionPoint(loop);
    return cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, value, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder&, mlir::Location, ArrayRef<BlockArgument> added) -> SmallVector<Value> {
          return {rewrite(*loop.getBody(), added.front())}; // which moves into the new loop behind this
        }));
  }

private:
  bool contains(Operation& op, bool isStore) const {
    return op
        .walk([&](Operation* inner) {
          return accesses_.contains(inner) && (!isStore || isa<memref::StoreOp>(inner)) ? WalkResult::interrupt()
                                                                                        : WalkResult::advance();
        })
        .wasInterrupted();
  }

  Value rewrite(scf::IfOp choice, Value value) {
    const bool isWritten = contains(*choice, true);
    Value taken = rewrite(*choice.thenBlock(), value);
    Value other = choice.elseBlock() ? rewrite(*choice.elseBlock(), value) : value;
    if (!isWritten)
      return value;
    OpBuilder builder(choice);
    SmallVector<Type> types(choice.getResultTypes());
    types.push_back(value.getType());
    auto made = builder.create<scf::IfOp>(choice.getLoc(), types, choice.getCondition(), /*withElseRegion=*/true);
    for (bool isThen : {true, false}) {
      Block *from = isThen ? choice.thenBlock() : choice.elseBlock(),
            *to = isThen ? made.thenBlock() : made.elseBlock();
      SmallVector<Value> given;
      to->clear();
      if (from) {
        given = llvm::to_vector(from->getTerminator()->getOperands());
        from->getTerminator()->erase();
        to->getOperations().splice(to->end(), from->getOperations());
      }
      given.push_back(isThen ? taken : other);
      builder.setInsertionPointToEnd(to);
      builder.create<scf::YieldOp>(choice.getLoc(), given);
    }
    choice.replaceAllUsesWith(made.getResults().drop_back());
    choice.erase();
    return made.getResults().back();
  }

  Accesses accesses_; // that are left
};

/// Whether nothing but loops and choices stands between an operation and the one given around it.
bool isWithin(Operation* op, Operation* around) {
  for (Operation* parent = op->getParentOp(); parent; parent = parent->getParentOp()) {
    if (parent == around)
      return true;
    if (!isa<scf::ForOp, scf::IfOp>(parent))
      return false;
  }
  return false;
}

/// A place in memory, as a load or store names it.
struct Place {
  Value block;
  ValueRange indices;
};
std::optional<Place> placeOf(Operation* op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Place{load.getMemRef(), load.getIndices()};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Place{store.getMemRef(), store.getIndices()};
  return std::nullopt;
}

bool isSame(const Place& a, const Place& b) {
  return a.block == b.block && llvm::all_of(llvm::zip(a.indices, b.indices), [](auto pair) {
           auto [x, y] = pair;
           APInt left, right;
           return x == y ||
                  (matchPattern(x, m_ConstantInt(&left)) && matchPattern(y, m_ConstantInt(&right)) && left == right);
         });
}

/// What a block does to a place before all else.
enum class First { Nothing, Reads, Writes };

First firstIn(Block& block, const Accesses& accesses) {
  for (Operation& op : block) {
    if (accesses.contains(&op))
      return isa<memref::StoreOp>(op) ? First::Writes : First::Reads;
    if (auto loop = dyn_cast<scf::ForOp>(op)) { // it may not be entered
      if (firstIn(*loop.getBody(), accesses) == First::Reads)
        return First::Reads;
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      const First taken = firstIn(*choice.thenBlock(), accesses);
      const First other = choice.elseBlock() ? firstIn(*choice.elseBlock(), accesses) : First::Nothing;
      if (taken == First::Reads || other == First::Reads)
        return First::Reads;
      if (taken == First::Writes && other == First::Writes)
        return First::Writes;
    }
  }
  return First::Nothing;
}

Value nothingOf(OpBuilder& builder, mlir::Location place, Type type) {
  return builder.create<arith::ConstantOp>(place, builder.getZeroAttr(type));
}

/// The innermost block that all operations are in.
Block* blockAround(const Accesses& operations) {
  Block* block = (*operations.begin())->getBlock();
  while (!llvm::all_of(operations, [&](Operation* op) { return block->findAncestorOpInBlock(*op); }))
    block = block->getParentOp()->getBlock();
  return block;
}

/// The loop, and those in it that are all that the one around them holds.
SmallVector<scf::ForOp> chainOf(scf::ForOp loop) {
  SmallVector<scf::ForOp> chain = {loop};
  for (;;) {
    Block& body = *chain.back().getBody();
    auto next = dyn_cast<scf::ForOp>(body.front());
    if (!next || next.getNumResults() || next->getNextNode() != body.getTerminator())
      return chain;
    chain.push_back(next);
  }
}

} // namespace

bool carryVariables(scf::ForOp nest) {
  llvm::SetVector<Operation*> variables;
  nest->walk([&](Operation* op) {
    if (const auto place = placeOf(op))
      if (auto variable = place->block.getDefiningOp<memref::AllocaOp>())
        variables.insert(variable);
  });
  for (Operation* op : variables) {
    auto variable = cast<memref::AllocaOp>(op);
    const Type element = variable.getType().getElementType();
    const Accesses accesses(variable->user_begin(), variable->user_end());
    if (variable.getType().getRank() != 0 || !element.isIntOrIndexOrFloat() ||
        !llvm::all_of(accesses, [&](Operation* user) {
          const auto place = placeOf(user);
          return place && place->block == variable && isWithin(user, nest);
        }))
      return false;
    // A block that begins with what another execution of it has left is a part of something that hands it on.
    Block* block = blockAround(accesses);
    while (firstIn(*block, accesses) == First::Reads) {
      if (block->getParentOp() == nest)
        return false;
      block = block->getParentOp()->getBlock();
    }
    OpBuilder builder(block, block->begin());
    Carrier(accesses).rewrite(*block, nothingOf(builder, variable.getLoc(), element));
    variable.erase();
  }
  return true;
}

void carryElements(scf::ForOp loop) {
  auto kernel = loop->getParentOfType<KernelOp>();
  if (loop.getNumResults() || !kernel || kernel.getMayAlias())
    return;
  // All loops of the chain are entered, or nothing happens.
  const SmallVector<scf::ForOp> chain = chainOf(loop);
  SmallVector<Operation*> all; // loads and stores
  bool isGood = true;
  loop->walk([&](Operation* op) {
    if (const auto place = placeOf(op)) {
      all.push_back(op);
      auto argument = dyn_cast<BlockArgument>(place->block);
      isGood &= (argument && isa<KernelOp>(argument.getOwner()->getParentOp())) ||
                place->block.getDefiningOp<memref::GetGlobalOp>();
    } else {
      isGood &= isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) || (!op->getNumRegions() && isMemoryEffectFree(op));
    }
  });
  for (scf::ForOp each : chain)
    isGood &= llvm::all_of(each->getOperands(), [&](Value bound) { return loop.isDefinedOutsideOfLoop(bound); });
  if (!isGood)
    return;
  std::vector<Accesses> carried;
  llvm::SmallPtrSet<Operation*, 8> taken;
  scf::ForOp deepest = chain.back();
  for (memref::StoreOp store : deepest.getBody()->getOps<memref::StoreOp>()) {
    const Place place = *placeOf(store);
    if (taken.contains(store) || !store.getValueToStore().getType().isIntOrIndexOrFloat() ||
        !llvm::all_of(place.indices, [&](Value index) { return loop.isDefinedOutsideOfLoop(index); }))
      continue;
    // Whatever else reaches the block reaches this element.
    Accesses accesses;
    if (!llvm::all_of(all, [&](Operation* other) {
          const Place known = *placeOf(other);
          if (known.block != place.block)
            return true;
          accesses.insert(other);
          return isSame(known, place) && isWithin(other, loop);
        }))
      continue;
    taken.insert(accesses.begin(), accesses.end());
    carried.push_back(std::move(accesses));
  }
  if (carried.empty())
    return;
  OpBuilder builder(loop);
  const mlir::Location where = loop.getLoc();
  Value isEntered;
  for (scf::ForOp each : chain) {
    Value one =
        builder.create<arith::CmpIOp>(where, arith::CmpIPredicate::slt, each.getLowerBound(), each.getUpperBound());
    isEntered = isEntered ? builder.create<arith::AndIOp>(where, isEntered, one).getResult() : one;
  }
  auto choice = builder.create<scf::IfOp>(where, isEntered, /*withElseRegion=*/false);
  loop->moveBefore(choice.thenBlock()->getTerminator());
  for (const Accesses& accesses : carried) {
    const Place place = *placeOf(*accesses.begin());
    Value block = place.block;
    const SmallVector<Value> indices(place.indices);
    builder.setInsertionPoint(loop);
    Value before = firstIn(*loop.getBody(), accesses) == First::Writes
                       ? nothingOf(builder, where, cast<MemRefType>(block.getType()).getElementType())
                       : builder.create<memref::LoadOp>(where, block, indices).getResult();
    loop = Carrier(accesses).rewrite(loop, before);
    builder.setInsertionPointAfter(loop);
    builder.create<memref::StoreOp>(where, loop.getResults().back(), block, indices);
  }
}

} // namespace strata::kernel
