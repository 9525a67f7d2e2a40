// Value numbering, block by block in program order. A table holds the operations known at a point; a region sees the
// table of the code around it. A load is numbered with how many operations before it in its block may write memory: two
// equal loads with one number read the same.
#include "compiler/ir/common_subexpressions.h"

#include "compiler/ir/passes.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/ScopedHashTable.h"

using namespace mlir;

namespace strata::svm {
namespace {

/// An operation with its hash, which takes longer to compute than to keep.
struct Key {
  Operation* op;
  unsigned hash;

  explicit Key(Operation* op)
      : op(op), hash(static_cast<unsigned>(OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                                                             OperationEquivalence::ignoreHashValue,
                                                                             OperationEquivalence::IgnoreLocations))) {}
  Key(Operation* op, unsigned hash) : op(op), hash(hash) {}
};

/// Operations are the same key when they compute the same of the same operands.
struct Same {
  using Pointers = llvm::DenseMapInfo<Operation*>;
  static Key getEmptyKey() { return {Pointers::getEmptyKey(), 0}; }
  static Key getTombstoneKey() { return {Pointers::getTombstoneKey(), 0}; }
  static unsigned getHashValue(const Key& key) { return key.hash; }
  static bool isEqual(const Key& one, const Key& other) {
    if (one.op == other.op)
      return true;
    auto isNone = [](Operation* op) { return op == Pointers::getEmptyKey() || op == Pointers::getTombstoneKey(); };
    return one.hash == other.hash && !isNone(one.op) && !isNone(other.op) &&
           OperationEquivalence::isEquivalentTo(one.op, other.op, OperationEquivalence::IgnoreLocations);
  }
};

struct Known {
  Operation* op;
  uint64_t writes; // of its block before it; for what reads
};

using Table = llvm::ScopedHashTable<Key, Known, Same>;

/// What an operation may do, with all that is in it.
struct Effects {
  bool none = true;
  bool writes = false;

  void add(const Effects& other) {
    none &= other.none;
    writes |= other.writes;
  }
};

class Simplifier {
public:
  Effects simplify(Operation* op) {
    Effects inside;
    if (op->getNumRegions() != 0) {
      if (op->hasTrait<OpTrait::IsIsolatedFromAbove>()) {
        Table apart;
        Table* around = std::exchange(table_, &apart);
        inside = simplifyRegions(op);
        table_ = around;
      } else {
        inside = simplifyRegions(op);
      }
    }
    return effects(op, inside);
  }

private:
  static Effects effects(Operation* op, const Effects& inside) {
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    const bool isRecursive = op->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    if (!interface && !isRecursive)
      return {false, true};
    Effects all = isRecursive ? inside : Effects();
    if (interface) {
      SmallVector<MemoryEffects::EffectInstance> own;
      interface.getEffects(own);
      all.none &= own.empty();
      all.writes |= llvm::any_of(own, [](const auto& effect) { return isa<MemoryEffects::Write>(effect.getEffect()); });
    }
    return all;
  }

  Effects simplifyRegions(Operation* op) {
    Effects all;
    auto kinds = dyn_cast<RegionKindInterface>(op);
    for (unsigned number = 0; number < op->getNumRegions(); ++number) {
      // Without an order of operations none stands before another.
      const bool isOrdered = op->isRegistered() && (!kinds || kinds.hasSSADominance(number));
      for (Block& block : op->getRegion(number))
        all.add(simplify(block, isOrdered));
    }
    return all;
  }

  Effects simplify(Block& block, bool isOrdered) {
    Table::ScopeTy scope(*table_);
    Effects all;
    uint64_t writes = 0;
    for (Operation& op : llvm::make_early_inc_range(block)) {
      if (!op.hasTrait<OpTrait::IsTerminator>() && isOpTriviallyDead(&op)) {
        op.erase();
        continue;
      }
      const Effects own = simplify(&op);
      if (isOrdered && !op.hasTrait<OpTrait::IsTerminator>() && isReplaced(&op, own, writes))
        continue;
      all.add(own);
      writes += own.writes;
    }
    return all;
  }

  /// Whether an operation has been replaced by one that is known, and erased; else it is known now.
  bool isReplaced(Operation* op, const Effects& own, uint64_t writes) {
    if (op->getNumResults() == 0 && op->getNumRegions() == 0 && own.none)
      return false;
    if (llvm::any_of(op->getRegions(), [](Region& region) { return region.getBlocks().size() > 1; }))
      return false;
    const bool reads = !own.none;
    if (reads) {
      auto interface = dyn_cast<MemoryEffectOpInterface>(op);
      if (!interface || !interface.onlyHasEffect<MemoryEffects::Read>())
        return false;
    }
    const Key key(op);
    const Known known = table_->lookup(key);
    if (known.op && (!reads || (known.op->getBlock() == op->getBlock() && known.writes == writes))) {
      op->replaceAllUsesWith(known.op);
      if (isa<UnknownLoc>(known.op->getLoc()) && !isa<UnknownLoc>(op->getLoc()))
        known.op->setLoc(op->getLoc());
      op->erase();
      return true;
    }
    table_->insert(key, {op, writes});
    return false;
  }

  Table outermost_;
  Table* table_ = &outermost_;
};

struct CommonSubexpressionsPass : PassWrapper<CommonSubexpressionsPass, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CommonSubexpressionsPass)

  void runOnOperation() override { Simplifier().simplify(getOperation()); }
};

} // namespace

std::unique_ptr<Pass> createCommonSubexpressionsPass() {
  return makePass<CommonSubexpressionsPass>(passes::CommonSubexpressions);
}

} // namespace strata::svm
