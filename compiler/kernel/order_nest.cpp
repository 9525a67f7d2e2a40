// Which loops of a nest have independent iterations, and the order in which they go into a tile. A loop's iterations
// are independent when in some dimension each reaches what the nest writes at its own number, plus something that is
// the same all the time: then no two of them touch one element, whatever the other loops do, and the loop may go
// anywhere in the nest. See nests.h.
#include "compiler/kernel/nests.h"
#include "compiler/kernel/tiles.h"

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

/// Iterations that are too few for lanes: LLVM unrolls such loops.
constexpr int64_t fewTrips = 8;

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
      for (unsigned side : {0, 1})
        if (isa<arith::MulIOp>(op) && matchPattern(op->getOperand(side), m_ConstantInt(&number)))
          return add(op->getOperand(1 - side), int64_t(uint64_t(factor) * uint64_t(number.getSExtValue())));
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
  Orderer(scf::ForOp nest, bool isScattered, TileProblem& problem)
      : nest_(nest), isScattered_(isScattered), problem_(problem) {}

  std::optional<Nest> run() {
    if (!collect())
      return std::nullopt;
    chain();
    if (chain_.empty()) {
      problem_ = {"an iteration begins with what the one before it has computed", nest_.getLoc(),
                  TileProblem::IsCarried};
      return std::nullopt;
    }
    SmallVector<size_t> parallel, others;
    for (size_t i = 0; i < chain_.size(); ++i)
      (isIndependent(chain_[i]) ? parallel : others).push_back(i);
    if (parallel.empty())
      return std::nullopt; // the last one's problem
    // The lanes: the innermost loop that reaches memory side by side, and goes around more than a few times.
    const auto isShort = [&](scf::ForOp loop) {
      const std::optional<int64_t> trips = constantTripCount(loop);
      return trips && *trips < fewTrips;
    };
    const auto lanesOf = [&](bool isSide) {
      size_t lanes = parallel.size();
      while (lanes > 0 &&
             (isShort(chain_[parallel[lanes - 1]]) || (isSide && !isSideBySide(chain_[parallel[lanes - 1]]))))
        --lanes;
      return lanes;
    };
    size_t lanes = lanesOf(true);
    if (lanes == 0 && isScattered_)
      lanes = lanesOf(false);
    if (lanes == 0) {
      problem_ = {isScattered_ ? "it goes around a few times only"
                               : "neighbouring iterations do not reach neighbouring elements",
                  chain_[parallel.back()].getLoc(), TileProblem::IsScattered};
      return std::nullopt;
    }
    std::rotate(parallel.begin() + static_cast<ptrdiff_t>(lanes) - 1, parallel.begin() + static_cast<ptrdiff_t>(lanes),
                parallel.end());
    Nest made;
    const size_t count = parallel.size();
    parallel.append(others);
    // The first check that fails ends the program, and tells the place: it stays the first.
    if (check_ && !llvm::is_sorted(parallel)) {
      problem_ = {"a check stands in loops that would change places", check_->getLoc(), TileProblem::IsIndependent};
      return std::nullopt;
    }
    const SmallVector<scf::ForOp> loops = reorder(parallel);
    made.parallel.assign(loops.begin(), loops.begin() + static_cast<ptrdiff_t>(count));
    scf::ForOp inner = made.lanes();
    // Outer ones first: what they carry goes through those in them.
    for (scf::ForOp each : llvm::to_vector(inner.getBody()->getOps<scf::ForOp>()))
      carryElements(each);
    return made;
  }

private:
  bool isOutside(Value value) { return nest_.isDefinedOutsideOfLoop(value); }

  /// All that the nest reaches; false where it does more than loops, choices and accesses.
  bool collect() {
    const bool isGood = !nest_
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
                                 if (isa<CheckOp, IndexOp>(op))
                                   check_ = op;
                                 const bool isKnown = isa<scf::ForOp, scf::IfOp, scf::YieldOp, CheckOp, IndexOp>(op) ||
                                                      (!op->getNumRegions() && isMemoryEffectFree(op));
                                 if (!isKnown)
                                   problem_ = {noForm(op), op->getLoc(), TileProblem::Depends};
                                 return isKnown ? WalkResult::advance() : WalkResult::interrupt();
                               }
                               if (!isApart(block)) {
                                 problem_ = {"what is reached here may overlap what else is reached", op->getLoc(),
                                             TileProblem::Depends};
                                 return WalkResult::interrupt();
                               }
                               Reach& access = accesses_.emplace_back(Reach{op, block, {}});
                               for (Value index : indices)
                                 access.indices.push_back(sumOf(index));
                               return WalkResult::advance();
                             })
                             .wasInterrupted();
    if (!isGood)
      return false;
    auto kernel = nest_->getParentOfType<KernelOp>();
    for (const Reach& access : accesses_)
      if (kernel.getMayAlias() && llvm::any_of(written_, [&](Value block) { return block != access.block; })) {
        problem_ = {"the arguments may overlap", access.op->getLoc(), TileProblem::Depends};
        return false;
      }
    return true;
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

  /// Whether a number times this factor differs for all numbers: in 64 bits two that are fewer than 2^56 apart, which
  /// is more than are ever counted.
  static bool isDistinct(int64_t factor) { return factor != 0 && llvm::countr_zero(uint64_t(factor)) <= 8; }

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
          if (!isDistinct(sum.factorOf(number)) || !llvm::all_of(sum.terms, [&](const auto& term) {
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
      if (!isGood) {
        const auto at = llvm::find_if(
            accesses_, [&](const Reach& access) { return access.block == block && isa<memref::StoreOp>(access.op); });
        problem_ = {"an iteration may reach what another one writes here", at->op->getLoc(), TileProblem::Depends};
        return false;
      }
    }
    if (written_.empty())
      problem_ = {"it writes no memory", loop.getLoc(), TileProblem::IsCarried};
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
  const bool isScattered_; // lanes may reach elements that lie apart
  TileProblem& problem_;
  SmallVector<Reach> accesses_;
  Operation* check_ = nullptr; // one that ends the program
  llvm::SetVector<Value> written_;
  SmallVector<scf::ForOp> chain_;
};

} // namespace

std::optional<int64_t> constantTripCount(scf::ForOp loop) {
  APInt lower, upper, step;
  if (!matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) ||
      !matchPattern(loop.getStep(), m_ConstantInt(&step)) || !step.isStrictlyPositive())
    return std::nullopt;
  bool overflows = false;
  const APInt length = upper.ssub_ov(lower, overflows);
  if (overflows)
    return std::nullopt;
  return length.isNegative() ? 0 : ((length + step - 1).udiv(step)).getSExtValue();
}

bool isApart(Value block) {
  if (block.getDefiningOp<memref::GetGlobalOp>())
    return true; // which nobody writes
  if (auto array = block.getDefiningOp<memref::AllocaOp>())
    return llvm::all_of(array->getUsers(), llvm::IsaPred<memref::LoadOp, memref::StoreOp>);
  if (auto shaped = block.getDefiningOp<memref::ReinterpretCastOp>()) {
    block = shaped.getSource();
    const bool isAlone = llvm::all_of(block.getUsers(), [&](Operation* user) {
      return user == shaped || isa<memref::DimOp, memref::ExtractStridedMetadataOp>(user);
    });
    if (!isAlone)
      return false;
  }
  auto argument = dyn_cast<BlockArgument>(block);
  return argument && isa<KernelOp>(argument.getOwner()->getParentOp());
}

/// Counts a loop whose step is a constant above 1 by ones: `for i from a to b by 4` as `for k from 0: i = a + 4 * k`.
static void countByOnes(scf::ForOp loop) {
  APInt step;
  Value variable = loop.getInductionVar();
  if (loop.getNumResults() || !variable.getType().isIndex() || !matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
      !step.sgt(1))
    return;
  OpBuilder builder(loop);
  const mlir::Location place = loop.getLoc();
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  Value lower = loop.getLowerBound(), by = loop.getStep();
  Value isEntered = builder.create<arith::CmpIOp>(place, arith::CmpIPredicate::slt, lower, loop.getUpperBound());
  // As integers without a sign, which hold every difference.
  Value last = builder.create<arith::SubIOp>(place, builder.create<arith::SubIOp>(place, loop.getUpperBound(), lower),
                                             constant(1));
  Value count = builder.create<arith::AddIOp>(place, builder.create<arith::DivUIOp>(place, last, by), constant(1));
  count = builder.create<arith::MinUIOp>(place, count, constant(INT64_MAX));
  loop.setUpperBound(builder.create<arith::SelectOp>(place, isEntered, count, constant(0)));
  loop.setLowerBound(constant(0));
  loop.setStep(constant(1));
  builder.setInsertionPointToStart(loop.getBody());
  Value product = builder.create<arith::MulIOp>(place, variable, by);
  Value number = builder.create<arith::AddIOp>(place, product, lower);
  variable.replaceAllUsesExcept(number, product.getDefiningOp());
}

std::optional<Nest> orderNest(scf::ForOp nest, bool isScattered, TileProblem& problem) {
  nest->walk<WalkOrder::PostOrder>([](scf::ForOp loop) {
    countByOnes(loop);
    moveInvariants(loop);
  });
  return Orderer(nest, isScattered, problem).run();
}

} // namespace strata::kernel
