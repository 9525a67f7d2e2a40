// Memory at one place becomes values. Blocks are rewritten from their beginning to their end with the value that is
// there: loops get it as an argument and give it as a result, and so do choices, where somebody reads it behind them.
// See nests.h.
#include "compiler/kernel/nests.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

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

/// Whether nothing but loops and choices stands between an operation and the block given around it.
bool isWithin(Operation* op, Block* around) {
  while (op->getBlock() != around) {
    op = op->getParentOp();
    if (!op || !isa<scf::ForOp, scf::IfOp>(op))
      return false;
  }
  return true;
}

/// The loads and stores of one place that stand in a block, by the blocks in which they or what is around them stand.
class Accesses {
public:
  /// REQUIRES: each is within `scope` (isWithin).
  Accesses(ArrayRef<Operation*> accesses, Block* scope) {
    for (Operation* access : accesses) {
      const bool isStore = isa<memref::StoreOp>(access);
      for (Operation* op = access;; op = op->getParentOp()) {
        auto [known, isNew] = stores_.try_emplace(op, isStore);
        if (isNew)
          children_[op->getBlock()].push_back(op);
        const bool wasKnown = !isNew && (known->second || !isStore);
        known->second |= isStore;
        if (wasKnown || op->getBlock() == scope)
          break;
      }
    }
    for (auto& [block, operations] : children_)
      llvm::sort(operations, [](Operation* a, Operation* b) { return a->isBeforeInBlock(b); });
  }

  /// In the order of the program.
  ArrayRef<Operation*> in(Block& block) const {
    const auto found = children_.find(&block);
    return found == children_.end() ? ArrayRef<Operation*>() : ArrayRef<Operation*>(found->second);
  }
  bool hasStore(Operation* op) const { return stores_.lookup(op); }

  /// What a block does to the place before all else.
  enum class First { Nothing, Reads, Writes };
  First firstIn(Block& block) const {
    for (Operation* op : in(block)) {
      const First first = firstOf(op);
      if (first != First::Nothing)
        return first;
    }
    return First::Nothing;
  }

  /// Whether what is there in front of each of a block's operations is read by it or behind it, and the same behind the
  /// last; `isRead`: it is read behind the block.
  SmallVector<bool> livenessIn(Block& block, bool isRead) const {
    const ArrayRef<Operation*> operations = in(block);
    SmallVector<bool> live(operations.size() + 1, isRead);
    for (size_t i = operations.size(); i-- > 0;) {
      const First first = firstOf(operations[i]);
      live[i] = first == First::Reads || (first == First::Nothing && live[i + 1]);
    }
    return live;
  }

private:
  First firstOf(Operation* op) const {
    if (auto loop = dyn_cast<scf::ForOp>(op)) // it may not be entered
      return firstIn(*loop.getBody()) == First::Reads ? First::Reads : First::Nothing;
    if (auto choice = dyn_cast<scf::IfOp>(op)) {
      const First taken = firstIn(*choice.thenBlock());
      const First other = choice.elseBlock() ? firstIn(*choice.elseBlock()) : First::Nothing;
      if (taken == First::Reads || other == First::Reads)
        return First::Reads;
      return taken == First::Writes && other == First::Writes ? First::Writes : First::Nothing;
    }
    return isa<memref::StoreOp>(op) ? First::Writes : First::Reads;
  }

  llvm::DenseMap<Block*, SmallVector<Operation*>> children_;
  llvm::DenseMap<Operation*, bool> stores_; // all operations around accesses: whether one of these is a store
};

class Carrier {
public:
  /// Of elements of this type.
  Carrier(const Accesses& accesses, Type type) : accesses_(accesses), type_(type) {}

  /// Rewrites a block into which `value` comes, null where it has none; gives what leaves it. `isRead`: that is read.
  Value rewrite(Block& block, Value value, bool isRead) {
    const SmallVector<bool> live = accesses_.livenessIn(block, isRead);
    for (auto [number, op] : llvm::enumerate(accesses_.in(block))) {
      const bool isLive = live[number + 1];
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        const bool isHandedOn = accesses_.firstIn(*loop.getBody()) == Accesses::First::Reads;
        if (!accesses_.hasStore(op))
          rewrite(*loop.getBody(), value, false);
        else if (isHandedOn || isLive)
          value = rewrite(loop, somethingOr(value, op)).getResults().back();
        else
          rewrite(*loop.getBody(), nullptr, false);
      } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
        value = rewrite(choice, value, isLive);
      } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
        load.replaceAllUsesWith(somethingOr(value, op));
        op->erase();
      } else {
        value = cast<memref::StoreOp>(op).getValueToStore();
        op->erase();
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
          return {rewrite(*loop.getBody(), added.front(), true)}; // which moves into the new loop behind this
        }));
  }

private:
  /// What has no value yet is 0.
  Value somethingOr(Value value, Operation* before) {
    if (value)
      return value;
    OpBuilder builder(before);
    return builder.create<arith::ConstantOp>(before->getLoc(), builder.getZeroAttr(type_));
  }

  Value rewrite(scf::IfOp choice, Value value, bool isRead) {
    const bool isGiven = isRead && accesses_.hasStore(choice);
    Value taken = rewrite(*choice.thenBlock(), value, isGiven);
    Value other = choice.elseBlock() ? rewrite(*choice.elseBlock(), value, isGiven) : value;
    if (!isGiven)
      return value;
    OpBuilder builder(choice);
    SmallVector<Type> types(choice.getResultTypes());
    types.push_back(type_);
    auto made = builder.create<scf::IfOp>(choice.getLoc(), types, choice.getCondition(), /*withElseRegion=*/true);
    made->setDiscardableAttrs(choice->getDiscardableAttrDictionary());
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
      builder.setInsertionPointToEnd(to);
      Value last = isThen ? taken : other;
      if (!last)
        last = builder.create<arith::ConstantOp>(choice.getLoc(), builder.getZeroAttr(type_));
      given.push_back(last);
      builder.create<scf::YieldOp>(choice.getLoc(), given);
    }
    choice.replaceAllUsesWith(made.getResults().drop_back());
    choice.erase();
    return made.getResults().back();
  }

  const Accesses& accesses_;
  const Type type_;
};

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

/// The innermost block that holds all of some operations, each by itself or by what is around it; null without any.
Block* blockAround(ArrayRef<Operation*> operations, Block* outermost) {
  Block* found = nullptr;
  for (Operation* op : operations) {
    if (!found)
      found = op->getBlock();
    while (found != outermost && !found->findAncestorOpInBlock(*op))
      found = found->getParentOp()->getBlock();
  }
  return found;
}

} // namespace

void carryVariables(KernelOp kernel) {
  SmallVector<memref::AllocaOp> variables;
  kernel.walk([&](memref::AllocaOp variable) { variables.push_back(variable); });
  for (memref::AllocaOp variable : variables) {
    const MemRefType type = variable.getType();
    const SmallVector<Operation*> users(variable->user_begin(), variable->user_end());
    // The one element is at index 0, whatever an index is computed from.
    if (!type.hasStaticShape() || type.getNumElements() != 1 || !type.getElementType().isIntOrIndexOrFloat() ||
        !llvm::all_of(users, [&](Operation* user) {
          const auto place = placeOf(user);
          return place && place->block == variable;
        }))
      continue;
    // Its own block, or one in which it is written before it is read each time.
    Block *own = variable->getBlock(), *scope = blockAround(users, own);
    const auto isWithinIt = [&](Block* block) {
      return llvm::all_of(users, [&](Operation* user) { return isWithin(user, block); });
    };
    if (isWithinIt(own))
      scope = own;
    else if (!isWithinIt(scope) || Accesses(users, scope).firstIn(*scope) == Accesses::First::Reads)
      continue;
    const Accesses accesses(users, scope);
    Carrier(accesses, type.getElementType()).rewrite(*scope, nullptr, false);
    variable.erase();
  }
}

/// What a variable that only loads and stores reach has in front of an operation, where it is loaded or stored in the
/// same block; null where that is not known.
static Value valueInFrontOf(Operation* op, Value variable) {
  for (Operation* before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (auto load = dyn_cast<memref::LoadOp>(before); load && load.getMemRef() == variable)
      return load;
    if (auto store = dyn_cast<memref::StoreOp>(before); store && store.getMemRef() == variable)
      return store.getValueToStore();
    if (before->getNumRegions() && llvm::any_of(variable.getUsers(), [&](Operation* user) {
          return isa<memref::StoreOp>(user) && before->isAncestor(user);
        }))
      return {};
  }
  return {};
}

void moveSteadyLoads(scf::ForOp loop) {
  SmallVector<memref::LoadOp> loads;
  llvm::DenseSet<Value> stored;
  loop->walk([&](Operation* op) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      stored.insert(store.getMemRef());
    if (auto load = dyn_cast<memref::LoadOp>(op); load && load.getMemRefType().getRank() == 0 &&
                                                  load.getMemRef().getDefiningOp<memref::AllocaOp>() &&
                                                  isApart(load.getMemRef()))
      loads.push_back(load);
  });
  llvm::DenseMap<Value, Value> moved;
  for (memref::LoadOp load : loads) {
    Value variable = load.getMemRef();
    if (stored.contains(variable) || !loop.isDefinedOutsideOfLoop(variable))
      continue;
    Value& known = moved[variable];
    if (!known)
      known = valueInFrontOf(loop, variable);
    if (known) {
      load.replaceAllUsesWith(known);
      load.erase();
    } else {
      known = load.getResult();
      loop.moveOutOfLoop(load);
    }
  }
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
      isGood &= isApart(place->block);
    } else {
      isGood &= isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) || (!op->getNumRegions() && isMemoryEffectFree(op));
    }
  });
  for (scf::ForOp each : chain)
    isGood &= llvm::all_of(each->getOperands(), [&](Value bound) { return loop.isDefinedOutsideOfLoop(bound); });
  if (!isGood)
    return;
  std::vector<SmallVector<Operation*>> carried;
  llvm::SmallPtrSet<Operation*, 8> taken;
  scf::ForOp deepest = chain.back();
  for (memref::StoreOp store : deepest.getBody()->getOps<memref::StoreOp>()) {
    const Place place = *placeOf(store);
    if (taken.contains(store) || !store.getValueToStore().getType().isIntOrIndexOrFloat() ||
        !llvm::all_of(place.indices, [&](Value index) { return loop.isDefinedOutsideOfLoop(index); }))
      continue;
    // Whatever else reaches the block reaches this element.
    SmallVector<Operation*> accesses;
    if (!llvm::all_of(all, [&](Operation* other) {
          const Place known = *placeOf(other);
          if (known.block != place.block)
            return true;
          accesses.push_back(other);
          return isSame(known, place) && isWithin(other, loop->getBlock());
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
  for (const SmallVector<Operation*>& list : carried) {
    const Place place = *placeOf(list.front());
    Value block = place.block;
    const SmallVector<Value> indices(place.indices);
    const Type type = cast<MemRefType>(block.getType()).getElementType();
    const Accesses accesses(list, loop->getBlock());
    builder.setInsertionPoint(loop);
    Value before = accesses.firstIn(*loop.getBody()) == Accesses::First::Writes
                       ? builder.create<arith::ConstantOp>(where, builder.getZeroAttr(type)).getResult()
                       : builder.create<memref::LoadOp>(where, block, indices).getResult();
    loop = Carrier(accesses, type).rewrite(loop, before);
    builder.setInsertionPointAfter(loop);
    builder.create<memref::StoreOp>(where, loop.getResults().back(), block, indices);
  }
}

} // namespace strata::kernel
