// Points of a function and what holds at them: variables of loops, conditions of branches, checks that were passed,
// sizes. A point's facts are built from the function inwards, each from those before it; only what was certainly
// executed counts.
#include "compiler/transform/range_analysis.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace strata::transform {
namespace {

/// Limits for unusual programs; what lies beyond them is not known.
constexpr unsigned maximumNesting = 64, maximumConditionSteps = 1024;
constexpr size_t maximumChecks = 32;

} // namespace

RangeAnalysis::RangeAnalysis(Operation* function) : function_(function), kernel_(dyn_cast<svm::KernelOp>(function)) {
  function->walk([&](svm::CheckOp check) { checks_[check->getBlock()].push_back(check); });
}

// ---- points ----

void RangeAnalysis::moveTo(Operation* op) {
  if (op->getBlock() != block_)
    restart(op->getBlock());
  passChecks(block_, op);
}

void RangeAnalysis::restart(Block* block) {
  facts_.clear();
  signed_.clear();
  unsigned_.clear();
  residues_.clear();
  inexact_.clear();
  definedQuotients_.clear();
  around_.clear();
  conditionSteps_ = 0;
  // What is around the block, from the inside: operations, and the regions by which the path enters them.
  SmallVector<std::pair<Operation*, Region*>> path;
  around_.insert(block);
  for (Region* region = block->getParent(); region->getParentOp() != function_ && path.size() < maximumNesting;
       region = region->getParentOp()->getParentRegion()) {
    path.push_back({region->getParentOp(), region});
    around_.insert(region->getParentOp()->getBlock());
  }
  collectSizes();
  for (auto [op, region] : llvm::reverse(path)) {
    block_ = op->getBlock();
    passedChecks_ = 0;
    passChecks(block_, op);
    enter(op, region);
  }
  block_ = block;
  passedChecks_ = 0;
}

void RangeAnalysis::passChecks(Block* block, Operation* before) {
  auto found = checks_.find(block);
  if (found == checks_.end())
    return;
  MutableArrayRef<svm::CheckOp> checks = found->second;
  size_t end = passedChecks_;
  while (end < checks.size() && checks[end]->isBeforeInBlock(before))
    ++end;
  for (size_t next = std::max(passedChecks_, end - std::min(end, maximumChecks)); next < end; ++next)
    assumeCondition(checks[next].getCondition(), true);
  passedChecks_ = end;
}

void RangeAnalysis::collectSizes() {
  std::optional<ArrayAttr> extents = kernel_ ? kernel_.getExtents() : std::nullopt;
  if (!extents)
    return;
  SmallVector<Linear> expressions, sizes;
  for (AffineMap map : extents->getAsValueRange<AffineMapAttr>())
    for (AffineExpr result : map.getResults()) {
      while (sizes.size() < map.getNumSymbols())
        sizes.push_back(Linear::of(symbolOf(function_, sizes.size())));
      if (auto alone = dyn_cast<AffineSymbolExpr>(result))
        facts_.setBounds(symbolOf(function_, alone.getPosition()), {0, maximumExtent});
      else if (std::optional<Linear> expression = affineOf(result, {}, sizes))
        expressions.push_back(*expression);
    }
  for (const Linear& expression : expressions) {
    facts_.assume(expression);
    facts_.assume(Linear(maximumExtent).minus(expression));
  }
}

// ---- loops and branches ----

void RangeAnalysis::enter(Operation* op, Region* region) {
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](scf::ForOp loop) {
        enterLoop(loop.getInductionVar(), signedOf(loop.getLowerBound()), signedOf(loop.getUpperBound()),
                  signedOf(loop.getStep()));
      })
      .Case([&](scf::ParallelOp loop) {
        for (auto [variable, lower, upper, step] :
             llvm::zip(loop.getInductionVars(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep()))
          enterLoop(variable, signedOf(lower), signedOf(upper), signedOf(step));
      })
      .Case([&](svm::ParallelOp loop) {
        for (unsigned dimension = 0; dimension < loop.dimensions(); ++dimension)
          enterLoop(loop.iteration(dimension), signedOf(loop.getLower()[dimension]),
                    signedOf(loop.getUpper()[dimension]), 1);
      })
      .Case([&](affine::AffineForOp loop) {
        enterAffineLoop(loop.getInductionVar(), loop.getLowerBoundMap(), loop.getLowerBoundOperands(),
                        loop.getUpperBoundMap(), loop.getUpperBoundOperands(), loop.getStepAsInt());
      })
      .Case([&](affine::AffineParallelOp loop) {
        for (auto [position, variable, step] : llvm::enumerate(loop.getIVs(), loop.getSteps()))
          enterAffineLoop(variable, loop.getLowerBoundMap(position), loop.getLowerBoundsOperands(),
                          loop.getUpperBoundMap(position), loop.getUpperBoundsOperands(), step);
      })
      .Case([&](scf::IfOp branch) { assumeCondition(branch.getCondition(), region == &branch.getThenRegion()); })
      .Case([&](affine::AffineIfOp branch) {
        IntegerSet set = branch.getIntegerSet();
        bool holds = region == &branch.getThenRegion();
        if (!holds && (set.getNumConstraints() != 1 || set.isEq(0)))
          return;
        SmallVector<Linear> operands;
        for (Value operand : branch.getOperands())
          operands.push_back(signedOf(operand));
        ArrayRef<Linear> all = operands;
        for (auto [position, constraint] : llvm::enumerate(set.getConstraints())) {
          std::optional<Linear> value =
              affineOf(constraint, all.take_front(set.getNumDims()), all.drop_front(set.getNumDims()));
          if (!value)
            continue;
          const Linear& known = *value;
          facts_.assume(holds ? known : Linear(-1).minus(known));
          if (set.isEq(position))
            facts_.assume(known.times(-1));
        }
      });
}

/// variable = lower + k * step, k >= 0, variable < upper. Counting up from below `upper` by one cannot overflow; by
/// more it can, and then there is no lower bound.
void RangeAnalysis::enterLoop(Value variable, const Linear& lower, const Linear& upper, const Linear& step) {
  unsigned width = variable.getType().isIndex() ? 64 : variable.getType().getIntOrFloatBitWidth();
  if (width > 64)
    return;
  WideInteger most = (WideInteger(1) << (width - 1)) - 1, least = -most - 1;
  Symbol symbol = symbolOf(variable, aspectOf(Reading::Signed));
  Linear value = Linear::of(symbol);
  Interval first = facts_.intervalOf(lower), end = facts_.intervalOf(upper);
  WideInteger last = std::min(most, end.upper ? *end.upper - 1 : most);
  std::optional<Linear> next = upper.plus(step);
  if (next)
    next = next->minus(Linear(1));
  bool counts = facts_.isNonNegative(step) && (step == Linear(1) || (next && facts_.isWithin(*next, least, most)));
  if (!counts) {
    facts_.setBounds(symbol, {least, last});
    facts_.assume(upper.combine(1, *value.plus(Linear(1)), -1));
    signed_[variable] = value;
    return;
  }
  if (step.isConstant() && step.constant() > 1) {
    Symbol trip = symbolOf(variable, tripAspect);
    if (std::optional<Linear> strided = lower.combine(1, Linear::of(trip), step.constant())) {
      std::optional<WideInteger> trips;
      if (first.lower)
        trips = std::max<WideInteger>(0, last - *first.lower) / step.constant();
      facts_.setBounds(trip, {0, trips});
      if (std::optional<Linear> final = upper.minus(Linear(1)))
        facts_.assume(final->minus(*strided));
      signed_[variable] = *strided;
      return;
    }
  }
  facts_.setBounds(symbol, {std::max(least, first.lower ? *first.lower : least), last});
  facts_.assume(value.minus(lower));
  facts_.assume(upper.combine(1, *value.plus(Linear(1)), -1));
  signed_[variable] = value;
}

void RangeAnalysis::enterAffineLoop(Value variable, AffineMap lower, ValueRange lowerOperands, AffineMap upper,
                                    ValueRange upperOperands, int64_t step) {
  SmallVector<Linear> lowers = affineResults(lower, lowerOperands), uppers = affineResults(upper, upperOperands);
  // A bound that is not understood is left out: the other ones hold, for the loop's are their greatest and least. Steps
  // count from the greatest lower bound, which is one expression only where there is one.
  Symbol symbol = symbolOf(variable, aspectOf(Reading::Signed)), trip = symbolOf(variable, tripAspect);
  Linear value = Linear::of(symbol);
  Interval range;
  for (const Linear& bound : lowers)
    if (auto least = facts_.intervalOf(bound).lower; least && (!range.lower || *range.lower < *least))
      range.lower = least;
  for (const Linear& bound : uppers)
    if (auto most = facts_.intervalOf(bound).upper; most && (!range.upper || *range.upper > *most - 1))
      range.upper = *most - 1;
  facts_.setBounds(symbol, range);
  facts_.setBounds(trip, {0, std::nullopt});
  if (step > 1 && lowers.size() == 1 && lower.getNumResults() == 1)
    if (std::optional<Linear> strided = lowers.front().combine(1, Linear::of(trip), step))
      value = *strided;
  signed_[variable] = value;
  for (const Linear& bound : lowers)
    facts_.assume(value.minus(bound));
  for (const Linear& bound : uppers)
    if (std::optional<Linear> last = bound.minus(Linear(1)))
      facts_.assume(last->minus(value));
}

// ---- conditions ----

void RangeAnalysis::assumeCondition(Value condition, bool holds) {
  Conjunction facts;
  std::vector<Alternatives> alternatives;
  collect(condition, holds, facts, &alternatives);
  for (const Linear& fact : facts)
    facts_.assume(fact);
  for (Alternatives& some : alternatives)
    facts_.assumeOneOf(std::move(some));
}

void RangeAnalysis::collect(Value condition, bool holds, Conjunction& facts, std::vector<Alternatives>* alternatives) {
  Nesting nesting(depth_);
  Operation* op = condition.getDefiningOp();
  if (!op || nesting.isTooDeep() || ++conditionSteps_ > maximumConditionSteps || !condition.getType().isInteger(1))
    return;
  // if `first` then `second` else `third`, as booleans: && and || are the cases with a constant.
  auto collectChoice = [&](Value first, Value second, Value third) {
    // The constant that the whole is not, so that this arm was not taken.
    auto isNever = [&](Value value) { return holds ? matchPattern(value, m_Zero()) : matchPattern(value, m_One()); };
    if (isNever(third)) {
      collect(first, true, facts, alternatives);
      collect(second, holds, facts, alternatives);
    } else if (isNever(second)) {
      collect(first, false, facts, alternatives);
      collect(third, holds, facts, alternatives);
    } else if (alternatives) {
      Alternatives some(2);
      collect(first, true, some[0], nullptr);
      collect(second, holds, some[0], nullptr);
      collect(first, false, some[1], nullptr);
      collect(third, holds, some[1], nullptr);
      alternatives->push_back(std::move(some));
    }
  };
  auto collectBoth = [&](Operation* both) {
    for (Value operand : both->getOperands())
      collect(operand, holds, facts, alternatives);
  };
  auto collectEither = [&](Operation* either) {
    if (!alternatives)
      return;
    Alternatives some(2);
    collect(either->getOperand(0), holds, some[0], nullptr);
    collect(either->getOperand(1), holds, some[1], nullptr);
    alternatives->push_back(std::move(some));
  };
  llvm::TypeSwitch<Operation*>(op)
      .Case([&](arith::CmpIOp compare) { collectComparison(compare, holds, facts, alternatives); })
      .Case([&](arith::AndIOp both) { holds ? collectBoth(both) : collectEither(both); })
      .Case([&](arith::OrIOp either) { holds ? collectEither(either) : collectBoth(either); })
      .Case([&](arith::XOrIOp inversion) {
        for (unsigned side : {0, 1})
          if (matchPattern(inversion->getOperand(side), m_One()))
            return collect(inversion->getOperand(1 - side), !holds, facts, alternatives);
      })
      .Case([&](arith::SelectOp select) {
        collectChoice(select.getCondition(), select.getTrueValue(), select.getFalseValue());
      })
      .Case([&](scf::IfOp branch) {
        unsigned result = cast<OpResult>(condition).getResultNumber();
        collectChoice(branch.getCondition(), branch.thenYield().getOperand(result),
                      branch.elseYield().getOperand(result));
      });
}

void RangeAnalysis::collectComparison(arith::CmpIOp compare, bool holds, Conjunction& facts,
                                      std::vector<Alternatives>* alternatives) {
  using enum arith::CmpIPredicate;
  arith::CmpIPredicate predicate = holds ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  if (!isa<IndexType, IntegerType>(compare.getLhs().getType()))
    return;
  bool equality = predicate == eq || predicate == ne;
  // A truth value that C widened to int and compares with 0.
  Operation* widened = compare.getLhs().getDefiningOp();
  if (equality && widened && isa<arith::ExtUIOp, arith::ExtSIOp>(widened) &&
      widened->getOperand(0).getType().isInteger(1) && matchPattern(compare.getRhs(), m_Zero()))
    return collect(widened->getOperand(0), predicate == ne, facts, alternatives);

  bool isUnsigned = llvm::is_contained({ult, ule, ugt, uge}, predicate);
  Linear left = isUnsigned ? unsignedOf(compare.getLhs()) : signedOf(compare.getLhs());
  Linear right = isUnsigned ? unsignedOf(compare.getRhs()) : signedOf(compare.getRhs());
  auto addLess = [](Conjunction& into, const Linear& less, const Linear& more, int64_t by) {
    if (std::optional<Linear> difference = more.minus(less))
      if (std::optional<Linear> fact = difference->minus(Linear(by)))
        into.push_back(*fact);
  };
  switch (predicate) {
  case slt:
  case ult:
    return addLess(facts, left, right, 1);
  case sle:
  case ule:
    return addLess(facts, left, right, 0);
  case sgt:
  case ugt:
    return addLess(facts, right, left, 1);
  case sge:
  case uge:
    return addLess(facts, right, left, 0);
  case eq:
    addLess(facts, left, right, 0);
    return addLess(facts, right, left, 0);
  case ne:
    if (!alternatives)
      return;
    Alternatives some(2);
    addLess(some[0], left, right, 1);
    addLess(some[1], right, left, 1);
    alternatives->push_back(std::move(some));
    return;
  }
}

// ---- the question ----

bool RangeAnalysis::isInRange(Value index, Value extent) {
  Linear position = signedOf(index), end = signedOf(extent);
  std::optional<Linear> last = end.minus(Linear(1));
  return facts_.isNonNegative(position, LinearFacts::Reach::Far) && last &&
         facts_.isNonNegative(last->minus(position), LinearFacts::Reach::Far);
}

Symbol RangeAnalysis::symbolOf(const void* thing, int64_t aspect) {
  auto [entry, isNew] = symbols_.try_emplace({thing, aspect}, nextSymbol_);
  nextSymbol_ += isNew;
  return entry->second;
}

} // namespace strata::transform
