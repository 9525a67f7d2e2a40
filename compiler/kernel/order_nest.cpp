// Which loops of a nest have independent iterations, and the order in which they go into a tile. A loop's iterations
// are independent when what one of them writes and what another one reaches differ in some dimension: each is there at
// its own number, plus something that is the same all the time, or at a number that the others do not come to. Then no
// two of them touch one element, whatever the other loops do, and the loop may go anywhere in the nest. See nests.h.
#include "compiler/kernel/nests.h"
#include "compiler/kernel/sums.h"
#include "compiler/kernel/tiles.h"

#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

/// Numbers of a record that are loaded together and told apart in registers.
constexpr int64_t mostFields = 4;

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

  /// Whether no two iterations of a loop touch an element that one of them writes, wherever in the nest they are.
  bool isIndependent(scf::ForOp loop) {
    if (written_.empty())
      problem_ = {"it writes no memory", loop.getLoc(), TileProblem::IsCarried};
    for (const Reach& store : accesses_) {
      if (!isa<memref::StoreOp>(store.op))
        continue;
      for (const Reach& other : accesses_)
        if (other.block == store.block && !areApart(loop, store, other)) {
          problem_ = {"an iteration may reach what another one writes here", store.op->getLoc(), TileProblem::Depends};
          return false;
        }
    }
    return !written_.empty();
  }

  /// Whether two accesses of one block, in different iterations of a loop, are at different numbers in some dimension.
  bool areApart(scf::ForOp loop, const Reach& one, const Reach& other) {
    return llvm::any_of(llvm::zip(one.indices, other.indices), [&](const auto& pair) {
      const auto& [a, b] = pair;
      return areApart(loop, a, b);
    });
  }

  /// Of numbers `a` in one iteration and `b` in another: both are the loop's, times the same, plus what is the same in
  /// all the nest. Then they differ if that is equal (a[i] and a[i]), or as far apart as the loop is long (a[i] and
  /// a[n + i], for i < n). Or one of them is the same all the time, and below or behind the other one's range (a[i] and
  /// a[k], for i > k).
  bool areApart(scf::ForOp loop, const Sum& a, const Sum& b) {
    const Value number = loop.getInductionVar();
    const auto isSteady = [&](const Sum& sum) {
      return llvm::all_of(sum.terms, [&](const auto& term) {
        return term.second == 0 || term.first == number || isOutside(term.first);
      });
    };
    if (!isSteady(a) || !isSteady(b))
      return false;
    const int64_t factorOfA = a.factorOf(number), factorOfB = b.factorOf(number);
    const int64_t factor = factorOfA ? factorOfA : factorOfB;
    if (factorOfA && factorOfB) {
      if (factorOfA != factorOfB || !isDistinct(factor))
        return false;
      if (a == b)
        return true;
      // The numbers of one access lie in front of all those of the other.
      return factor > 0 && factor <= mostFactor &&
             (isBehind(a, number, loop.getUpperBound(), b, loop.getLowerBound()) ||
              isBehind(b, number, loop.getUpperBound(), a, loop.getLowerBound()));
    }
    if (factor <= 0 || factor > mostFactor)
      return false;
    const Sum &moving = factorOfA ? a : b, &fixed = factorOfA ? b : a;
    // a[k] lies in front of a[first], which is where the loop begins, or where it ends and behind.
    return isPositive(at(moving, number, loop.getLowerBound()).minus(fixed)) ||
           isBehind(moving, number, loop.getUpperBound(), fixed, {});
  }

  /// Products of larger factors with numbers that are counted, which are less than 2^56 apart (isDistinct), might not
  /// fit 64 bits.
  static constexpr int64_t mostFactor = 64;

  /// What a sum is where the number is `value`.
  static Sum at(const Sum& sum, Value number, Value value) {
    Sum found = sum;
    const int64_t factor = sum.factorOf(number);
    found.terms.erase(number);
    found.add(value, factor);
    return found;
  }

  /// Whether `b`, where its number is `first` if that is given, is at least what `a` would be one iteration behind its
  /// last.
  static bool isBehind(const Sum& a, Value number, Value end, const Sum& b, Value first) {
    const Sum begin = first ? at(b, number, first) : b;
    Sum distance = begin.minus(at(a, number, end));
    ++distance.constant;
    return isPositive(distance);
  }

  /// Whether a sum is a number above 0, and not so large that what is counted from it on would not fit 64 bits.
  static bool isPositive(const Sum& sum) {
    return llvm::all_of(sum.terms, [](const auto& term) { return term.second == 0; }) && sum.constant > 0 &&
           sum.constant < int64_t(1) << 60;
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
                  (strides.back() == 1 || fieldsSideBySide(access.block) > 1);
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

unsigned fieldsSideBySide(Value block) {
  auto fields = block.getDefiningOp<FieldsOp>();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!fields || failed(getStridesAndOffset(fields.getType(), strides, offset)) || strides.empty() ||
      strides.back() < 2 || strides.back() > mostFields)
    return 1;
  const auto records = fields.getBlock().getType();
  if (failed(getStridesAndOffset(records, strides, offset)) || strides.back() != 1)
    return 1;
  return static_cast<unsigned>(RecordType::sizeInBytes(records.getElementType()) /
                               RecordType::sizeInBytes(fields.getType().getElementType()));
}

bool isApart(Value block) {
  if (block.getDefiningOp<memref::GetGlobalOp>())
    return true; // which nobody writes
  if (auto array = block.getDefiningOp<memref::AllocaOp>())
    return llvm::all_of(array->getUsers(), llvm::IsaPred<memref::LoadOp, memref::StoreOp>);
  if (auto fields = block.getDefiningOp<FieldsOp>()) {
    // Another field of the same records shares nothing with it.
    block = fields.getBlock();
    return llvm::all_of(block.getUsers(), llvm::IsaPred<FieldsOp, memref::DimOp, memref::ExtractStridedMetadataOp>) &&
           isApart(block);
  }
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
