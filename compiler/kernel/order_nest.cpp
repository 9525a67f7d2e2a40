// Which loops of a nest have independent iterations, and the order in which they go into a tile. A loop's iterations
// are independent when in some dimension each reaches what the nest writes at its own number, plus something that is
// the same all the time: then no two of them touch one element, whatever the other loops do, and the loop may go
// anywhere in the nest. See nests.h.
#include "compiler/kernel/nests.h"

#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

/// A sum of values with factors, and a constant, in 64 bits that wrap.
struct Sum {
  llvm::SmallMapVector<Value, int64_t, 4> terms;
  int64_t constant = 0;

  void add(Value value, int64_t factor) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number))) {
      constant = int64_t(uint64_t(constant) + uint64_t(factor) * uint64_t(number.getSExtValue()));
      return;
    }
    Operation* op = value.getDefiningOp();
    const auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
    if (op && isWord(value.getType())) {
      if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && isWord(op->getOperand(0).getType()))
        return add(op->getOperand(0), factor);
      if (isa<arith::AddIOp, arith::SubIOp>(op)) {
        add(op->getOperand(0), factor);
        return add(op->getOperand(1), isa<arith::SubIOp>(op) ? int64_t(-uint64_t(factor)) : factor);
      }
    }
    int64_t& known = terms[value];
    known = int64_t(uint64_t(known) + uint64_t(factor));
  }

  int64_t factorOf(Value value) const {
    const auto found = terms.find(value);
    return found == terms.end() ? 0 : found->second;
  }
  friend bool operator==(const Sum& a, const Sum& b) {
    const auto holds = [](const Sum& x, const Sum& y) {
      return llvm::all_of(x.terms, [&](const auto& term) { return y.factorOf(term.first) == term.second; });
    };
    return a.constant == b.constant && holds(a, b) && holds(b, a);
  }
};

Sum sumOf(Value value) {
  Sum sum;
  sum.add(value, 1);
  return sum;
}

/// What a load or store reaches.
struct Reach {
  Operation* op;
  Value block;
  SmallVector<Sum> indices;
};

class Orderer {
public:
  explicit Orderer(scf::ForOp nest) : nest_(nest) {}

  std::optional<Nest> run() {
    if (!collect())
      return std::nullopt;
    chain();
    SmallVector<size_t> parallel, others;
    for (size_t i = 0; i < chain_.size(); ++i)
      (isIndependent(chain_[i]) ? parallel : others).push_back(i);
    // The lanes: the innermost loop that reaches memory side by side.
    size_t lanes = parallel.size();
    while (lanes > 0 && !isSideBySide(chain_[parallel[lanes - 1]]))
      --lanes;
    if (lanes == 0)
      return std::nullopt;
    std::rotate(parallel.begin() + static_cast<ptrdiff_t>(lanes) - 1, parallel.begin() + static_cast<ptrdiff_t>(lanes),
                parallel.end());
    Nest made;
    const size_t count = parallel.size();
    parallel.append(others);
    const SmallVector<scf::ForOp> loops = reorder(parallel);
    made.parallel.assign(loops.begin(), loops.begin() + static_cast<ptrdiff_t>(count));
    scf::ForOp inner = made.lanes();
    bool holdsLoop = false;
    inner.getBody()->walk([&](scf::ForOp) { holdsLoop = true; });
    if (!holdsLoop)
      return std::nullopt;
    // Outer ones first: what they carry goes through those in them.
    for (scf::ForOp each : llvm::to_vector(inner.getBody()->getOps<scf::ForOp>()))
      carryElements(each);
    return made;
  }

private:
  bool isOutside(Value value) { return nest_.isDefinedOutsideOfLoop(value); }

  /// All that the nest reaches; false where it does more than loops, choices and accesses.
  bool collect() {
    auto kernel = nest_->getParentOfType<KernelOp>();
    if (!kernel || kernel.getMayAlias())
      return false;
    return !nest_
                ->walk([&](Operation* op) {
                  Value block;
                  ValueRange indices;
                  if (auto load = dyn_cast<memref::LoadOp>(op)) {
                    block = load.getMemRef();
                    indices = load.getIndices();
                  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
                    block = store.getMemRef();
                    indices = store.getIndices();
                    written_.insert(block);
                  } else {
                    const bool isKnown = isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op) ||
                                         (!op->getNumRegions() && isMemoryEffectFree(op));
                    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
                  }
                  auto argument = dyn_cast<BlockArgument>(block);
                  const bool isTable = block.getDefiningOp<memref::GetGlobalOp>() != nullptr;
                  if (!isTable && (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp())))
                    return WalkResult::interrupt();
                  Reach& access = accesses_.emplace_back(Reach{op, block, {}});
                  for (Value index : indices)
                    access.indices.push_back(sumOf(index));
                  return WalkResult::advance();
                })
                .wasInterrupted();
  }

  static bool isPlain(scf::ForOp loop) {
    return !loop.getNumResults() && loop.getInductionVar().getType().isIndex() && matchPattern(loop.getStep(), m_One());
  }

  /// The loops that hold only the next one and what can be computed in it as well, with bounds that do not change.
  void chain() {
    scf::ForOp loop = nest_;
    while (isPlain(loop) &&
           llvm::all_of(loop->getOperands(), [&](Value bound) { return loop == nest_ || isOutside(bound); })) {
      chain_.push_back(loop);
      scf::ForOp next;
      SmallVector<Operation*> beside;
      for (Operation& op : loop.getBody()->without_terminator()) {
        auto inner = dyn_cast<scf::ForOp>(op);
        if (inner && !next)
          next = inner;
        else if (!op.getNumRegions() && canExecuteAnywhere(&op))
          beside.push_back(&op);
        else
          return;
      }
      if (!next || !isPlain(next) || !llvm::all_of(next->getOperands(), [&](Value bound) { return isOutside(bound); }))
        return;
      for (Operation* op : llvm::reverse(beside))
        op->moveBefore(next.getBody(), next.getBody()->begin());
      loop = next;
    }
  }

  /// Whether no two iterations touch an element that one of them writes, wherever in the nest they are.
  bool isIndependent(scf::ForOp loop) {
    const Value number = loop.getInductionVar();
    for (Value block : written_) {
      const Sum* own = nullptr;
      const auto isOwn = [&](size_t dimension) {
        own = nullptr;
        for (const Reach& access : accesses_) {
          if (access.block != block)
            continue;
          const Sum& sum = access.indices[dimension];
          const int64_t factor = sum.factorOf(number);
          if ((factor != 1 && factor != -1) || !llvm::all_of(sum.terms, [&](const auto& term) {
                return term.second == 0 || term.first == number || isOutside(term.first);
              }))
            return false;
          if (own && !(*own == sum))
            return false;
          own = &sum;
        }
        return true;
      };
      const auto rank = static_cast<size_t>(cast<MemRefType>(block.getType()).getRank());
      bool isGood = false;
      for (size_t dimension = 0; dimension < rank && !isGood; ++dimension)
        isGood = isOwn(dimension);
      if (!isGood)
        return false;
    }
    return !written_.empty();
  }

  /// Whether neighbouring iterations reach neighbouring elements, or the same.
  bool isSideBySide(scf::ForOp loop) {
    llvm::DenseSet<Value> varying = {loop.getInductionVar()};
    bool isGood = true, isAny = false;
    loop.getBody()->walk<WalkOrder::PreOrder>([&](Operation* op) {
      if (llvm::any_of(op->getOperands(), [&](Value operand) { return varying.contains(operand); }))
        varying.insert(op->result_begin(), op->result_end());
    });
    for (const Reach& access : accesses_) {
      const ValueRange indices = isa<memref::LoadOp>(access.op) ? cast<memref::LoadOp>(access.op).getIndices()
                                                                : cast<memref::StoreOp>(access.op).getIndices();
      for (auto [number, index] : llvm::enumerate(indices)) {
        if (!varying.contains(index))
          continue;
        SmallVector<int64_t> strides;
        int64_t offset = 0;
        isGood &= number + 1 == indices.size() && access.indices[number].factorOf(loop.getInductionVar()) == 1 &&
                  succeeded(getStridesAndOffset(cast<MemRefType>(access.block.getType()), strides, offset)) &&
                  strides.back() == 1;
        isAny = true;
      }
    }
    return isGood && isAny;
  }

  /// The chain with its loops in another order; the nest is gone.
  SmallVector<scf::ForOp> reorder(ArrayRef<size_t> order) {
    if (llvm::is_sorted(order))
      return llvm::to_vector(llvm::map_range(order, [&](size_t number) { return chain_[number]; }));
    OpBuilder builder(nest_);
    SmallVector<scf::ForOp> made;
    for (const size_t number : order) {
      scf::ForOp loop = chain_[number];
      made.push_back(
          builder.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep()));
      made.back()->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
      loop.getInductionVar().replaceAllUsesWith(made.back().getInductionVar());
      builder.setInsertionPointToStart(made.back().getBody());
    }
    Block *from = chain_.back().getBody(), *to = made.back().getBody();
    to->getOperations().splice(to->getTerminator()->getIterator(), from->getOperations(), from->begin(),
                               from->getTerminator()->getIterator());
    nest_.erase();
    return made;
  }

  scf::ForOp nest_;
  SmallVector<Reach> accesses_;
  llvm::SetVector<Value> written_;
  SmallVector<scf::ForOp> chain_;
};

} // namespace

std::optional<Nest> orderNest(scf::ForOp nest) {
  nest->walk<WalkOrder::PostOrder>([](scf::ForOp loop) { moveInvariants(loop); });
  if (!carryVariables(nest))
    return std::nullopt;
  return Orderer(nest).run();
}

} // namespace strata::kernel
