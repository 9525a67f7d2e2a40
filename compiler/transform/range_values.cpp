// Readings of values as linear expressions. What an operation computes is exact where its result fits its type; the
// same bits read the other way are the same number where that is not negative. Quotients by constants become symbols
// with two inequalities; minima, maxima and selections become symbols with alternatives. A value may be read that was
// not computed in an execution that reaches the point (an arm of a condition that was not taken), so definitions never
// restrict what they are made of.
#include "compiler/transform/range_analysis.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace strata::transform {
namespace {

/// As many views and casts of a block are followed.
constexpr unsigned maximumViews = 64;

/// Bits of an integer or index; nothing for other types and for integers that this analysis does not read.
std::optional<unsigned> widthOf(Type type) {
  if (type.isIndex())
    return 64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 0 || integer.getWidth() > 64)
    return std::nullopt;
  return integer.getWidth();
}

struct Range {
  WideInteger least, most;
};
Range signedRange(unsigned width) {
  WideInteger half = WideInteger(1) << (width - 1);
  return {-half, half - 1};
}
Range unsignedRange(unsigned width) {
  return {0, (WideInteger(1) << width) - 1};
}

std::optional<int64_t> constantOf(const Linear& value) {
  return value.isConstant() ? std::optional(value.constant()) : std::nullopt;
}

bool isWidening(Operation* op) {
  std::optional<unsigned> from = widthOf(op->getOperand(0).getType());
  return from && *widthOf(op->getResult(0).getType()) >= *from;
}

} // namespace

// ---- the two readings ----

Linear RangeAnalysis::signedOf(Value value) {
  if (auto known = signed_.find(value); known != signed_.end())
    return known->second;
  Nesting nesting(depth_);
  std::optional<unsigned> width = widthOf(value.getType());
  if (!width || nesting.isTooDeep())
    return unknown(value, Reading::Signed);
  Linear result;
  if (std::optional<Linear> computed = computeSigned(value)) {
    result = *computed;
  } else if (std::optional<Linear> other = computeUnsigned(value)) {
    if (facts_.isWithin(*other, 0, signedRange(*width).most)) {
      result = *other;
    } else {
      result = cut(value, Reading::Signed);
      relate(result, *other, *width);
    }
  } else {
    result = cut(value, Reading::Signed);
  }
  signed_[value] = result;
  return result;
}

Linear RangeAnalysis::unsignedOf(Value value) {
  if (auto known = unsigned_.find(value); known != unsigned_.end())
    return known->second;
  Nesting nesting(depth_);
  std::optional<unsigned> width = widthOf(value.getType());
  if (!width || nesting.isTooDeep())
    return unknown(value, Reading::Unsigned);
  Linear asSigned = signedOf(value), result = asSigned;
  if (!facts_.isNonNegative(asSigned)) {
    std::optional<Linear> computed = computeUnsigned(value);
    result = computed ? *computed : cut(value, Reading::Unsigned);
    relate(asSigned, result, *width);
  }
  unsigned_[value] = result;
  return result;
}

void RangeAnalysis::relate(const Linear& signedValue, const Linear& unsignedValue, unsigned width) {
  // A reading that may be out of its range belongs to a value whose computation overflowed, and says nothing about its
  // operands.
  Range s = signedRange(width), u = unsignedRange(width);
  Interval is = facts_.intervalOf(signedValue), iu = facts_.intervalOf(unsignedValue);
  if (!is.lower || *is.lower < s.least || !is.upper || *is.upper > s.most || !iu.lower || *iu.lower < 0 || !iu.upper ||
      *iu.upper > u.most)
    return;
  std::optional<Linear> difference = unsignedValue.minus(signedValue), opposite = signedValue.minus(unsignedValue);
  std::optional<Linear> negative = Linear(-1).minus(signedValue);
  if (!difference || !opposite || !negative)
    return;
  Alternatives readings{{signedValue, *difference, *opposite}, {*negative}};
  if (width <= 62) {
    int64_t modulus = int64_t(1) << width;
    std::optional<Linear> more = difference->minus(Linear(modulus)), less = opposite->plus(Linear(modulus));
    if (more && less)
      readings[1].insert(readings[1].end(), {*more, *less});
  } else if (std::optional<Linear> large = unsignedValue.minus(Linear(maximumExtent)); large) {
    readings[1].push_back(*large); // at least half of what the width counts
  }
  auto isAny = [](const Linear& reading, const Interval& values, const Range& range) {
    return reading.terms().size() == 1 && reading.terms()[0].second == 1 && reading.constant() == 0 &&
           *values.lower == range.least && *values.upper == range.most;
  };
  if (isAny(signedValue, is, s) && isAny(unsignedValue, iu, u))
    facts_.assumeReadings(signedValue.terms()[0].first, unsignedValue.terms()[0].first, std::move(readings));
  else
    facts_.assumeOneOf(std::move(readings));
}

Linear RangeAnalysis::unknown(Value value, Reading how) {
  Symbol symbol = symbolOf(value, aspectOf(how));
  if (std::optional<unsigned> width = widthOf(value.getType())) {
    Range range = how == Reading::Signed ? signedRange(*width) : unsignedRange(*width);
    facts_.setBounds(symbol, {range.least, range.most});
  }
  return Linear::of(symbol);
}

Linear RangeAnalysis::cut(Value value, Reading how) {
  Linear result = unknown(value, how);
  Operation* op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op)) {
    Range range =
        how == Reading::Signed ? signedRange(*widthOf(value.getType())) : unsignedRange(*widthOf(value.getType()));
    Interval within = productOf(op, how);
    if (within.lower && within.upper && *within.lower >= range.least && *within.upper <= range.most)
      facts_.setBounds(symbolOf(value, aspectOf(how)), within);
  }
  if (std::optional<Linear> whole = op ? uncut(op, how) : std::nullopt; whole && facts_.isNonNegative(*whole))
    facts_.assume(whole->minus(result));
  return result;
}

std::optional<Linear> RangeAnalysis::computeSigned(Value value) {
  Operation* op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return Linear(constant.getSExtValue());
  using Result = std::optional<Linear>;
  return llvm::TypeSwitch<Operation*, Result>(op)
      .Case([&](memref::DimOp dim) -> Result {
        std::optional<int64_t> dimension = dim.getConstantIndex();
        auto block = dyn_cast<MemRefType>(dim.getSource().getType());
        if (!dimension || !block || *dimension < 0 || *dimension >= block.getRank())
          return std::nullopt;
        return extentOf(dim.getSource(), *dimension);
      })
      .Case([&](arith::ExtSIOp) -> Result { return signedOf(op->getOperand(0)); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp, arith::TruncIOp>(
          [&](Operation*) -> Result { return exact(op, Reading::Signed); })
      .Case([&](arith::IndexCastOp) -> Result {
        return isWidening(op) ? signedOf(op->getOperand(0)) : exact(op, Reading::Signed);
      })
      .Case<arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::ShRSIOp>(
          [&](Operation*) -> Result { return quotientOf(op, Reading::Signed); })
      .Case([&](arith::RemSIOp) -> Result { return remainderOf(op, Reading::Signed); })
      .Case<arith::MinSIOp, arith::MaxSIOp>([&](Operation*) -> Result {
        return leastOrGreatest(value, {signedOf(op->getOperand(0)), signedOf(op->getOperand(1))},
                               isa<arith::MinSIOp>(op), Reading::Signed);
      })
      .Case([&](arith::SelectOp select) -> Result {
        if (!select.getCondition().getType().isInteger(1))
          return std::nullopt;
        return selected(value, select.getCondition(), select.getTrueValue(), select.getFalseValue());
      })
      .Case([&](scf::IfOp branch) -> Result {
        unsigned result = cast<OpResult>(value).getResultNumber();
        return selected(value, branch.getCondition(), branch.thenYield().getOperand(result),
                        branch.elseYield().getOperand(result));
      })
      .Case([&](affine::AffineApplyOp apply) -> Result {
        SmallVector<Linear> results = affineResults(apply.getAffineMap(), apply.getMapOperands());
        return results.empty() ? Result() : results.front();
      })
      .Case<affine::AffineMinOp, affine::AffineMaxOp>([&](auto choice) -> Result {
        SmallVector<Linear> results = affineResults(choice.getMap(), choice.getOperands());
        if (results.size() != choice.getMap().getNumResults())
          return std::nullopt;
        return leastOrGreatest(value, results, isa<affine::AffineMinOp>(op), Reading::Signed);
      })
      .Default([](Operation*) { return std::nullopt; });
}

std::optional<Linear> RangeAnalysis::computeUnsigned(Value value) {
  Operation* op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getActiveBits() < 64 ? std::optional<Linear>(constant.getZExtValue()) : std::nullopt;
  using Result = std::optional<Linear>;
  return llvm::TypeSwitch<Operation*, Result>(op)
      .Case([&](arith::ExtUIOp) -> Result { return unsignedOf(op->getOperand(0)); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp, arith::TruncIOp>(
          [&](Operation*) -> Result { return exact(op, Reading::Unsigned); })
      .Case([&](arith::IndexCastUIOp) -> Result {
        return isWidening(op) ? unsignedOf(op->getOperand(0)) : exact(op, Reading::Unsigned);
      })
      .Case([&](arith::IndexCastOp) -> Result { return isWidening(op) ? Result() : exact(op, Reading::Unsigned); })
      .Case<arith::DivUIOp, arith::CeilDivUIOp, arith::ShRUIOp>(
          [&](Operation*) -> Result { return quotientOf(op, Reading::Unsigned); })
      .Case([&](arith::RemUIOp) -> Result { return remainderOf(op, Reading::Unsigned); })
      .Case<arith::MinUIOp, arith::MaxUIOp>([&](Operation*) -> Result {
        return leastOrGreatest(value, {unsignedOf(op->getOperand(0)), unsignedOf(op->getOperand(1))},
                               isa<arith::MinUIOp>(op), Reading::Unsigned);
      })
      .Case([&](arith::AndIOp) -> Result {
        Linear left = unsignedOf(op->getOperand(0)), right = unsignedOf(op->getOperand(1));
        if (left.isConstant())
          std::swap(left, right);
        if (right.isConstant() && right.constant() >= 0 && right.constant() < maximumExtent &&
            (right.constant() & (right.constant() + 1)) == 0)
          return left.combine(1, floorOf(left, right.constant() + 1), -(right.constant() + 1));
        Symbol symbol = symbolOf(value, aspectOf(Reading::Unsigned));
        facts_.setBounds(symbol, {0, std::nullopt});
        for (const Linear& operand : {left, right})
          if (facts_.isNonNegative(operand))
            facts_.assume(operand.minus(Linear::of(symbol)));
        return Linear::of(symbol);
      })
      .Default([](Operation*) { return std::nullopt; });
}

// ---- arithmetic ----

std::optional<Linear> RangeAnalysis::uncut(Operation* op, Reading how) {
  using Result = std::optional<Linear>;
  auto operand = [&](unsigned position) { return reading(op->getOperand(position), how); };
  return llvm::TypeSwitch<Operation*, Result>(op)
      .Case([&](arith::AddIOp) -> Result { return operand(0).plus(operand(1)); })
      .Case([&](arith::SubIOp) -> Result { return operand(0).minus(operand(1)); })
      .Case([&](arith::MulIOp) -> Result {
        Linear left = operand(0), right = operand(1);
        if (right.isConstant())
          return left.times(right.constant());
        return left.isConstant() ? right.times(left.constant()) : Result();
      })
      .Case([&](arith::ShLIOp) -> Result {
        std::optional<int64_t> amount = constantOf(unsignedOf(op->getOperand(1)));
        if (!amount || *amount < 0 || *amount > 61 || *amount >= *widthOf(op->getResult(0).getType()))
          return std::nullopt;
        return operand(0).times(int64_t(1) << *amount);
      })
      .Case<arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp>([&](Operation*) -> Result {
        // A widening one repeats the sign in bits that the unsigned reading counts.
        if (!widthOf(op->getOperand(0).getType()) || isWidening(op))
          return std::nullopt;
        return operand(0);
      })
      .Default([](Operation*) { return std::nullopt; });
}

bool RangeAnalysis::fits(Operation* op) {
  std::optional<unsigned> width = widthOf(op->getResult(0).getType());
  if (!width)
    return false;
  Range range = signedRange(*width);
  if (std::optional<Linear> whole = uncut(op, Reading::Signed)) {
    // Of 64 bits the ends are far away: what is not within them by the bounds of its parts is hardly so by relations.
    Interval interval = facts_.intervalOf(*whole);
    const bool isWithin =
        interval.lower && interval.upper && *interval.lower >= range.least && *interval.upper <= range.most;
    if (isWithin || *width == 64)
      return isWithin;
    signedOf(op->getResult(0)); // which asks the same, and is asked for by what uses the result
    return !inexact_.contains({op, static_cast<int>(Reading::Signed)}) &&
           facts_.isWithin(*whole, range.least, range.most);
  }
  Interval product = isa<arith::MulIOp>(op) ? productOf(op, Reading::Signed) : Interval();
  return product.lower && product.upper && *product.lower >= range.least && *product.upper <= range.most;
}

Interval RangeAnalysis::productOf(Operation* op, Reading how) {
  Interval left = facts_.intervalOf(reading(op->getOperand(0), how)),
           right = facts_.intervalOf(reading(op->getOperand(1), how));
  if (!left.lower || !left.upper || !right.lower || !right.upper)
    return {};
  Interval result;
  for (WideInteger a : {*left.lower, *left.upper})
    for (WideInteger b : {*right.lower, *right.upper}) {
      WideInteger product;
      if (__builtin_mul_overflow(a, b, &product))
        return {};
      result.lower = std::min(result.lower.value_or(product), product);
      result.upper = std::max(result.upper.value_or(product), product);
    }
  return result;
}

Linear RangeAnalysis::residueOf(Value value) {
  if (auto known = residues_.find(value); known != residues_.end())
    return known->second;
  Nesting nesting(depth_);
  Operation* op = value.getDefiningOp();
  std::optional<Linear> computed = op && !nesting.isTooDeep() ? computeResidue(op) : std::nullopt;
  Linear result = computed ? *computed : signedOf(value);
  residues_[value] = result;
  return result;
}

std::optional<Linear> RangeAnalysis::computeResidue(Operation* op) {
  if (op->getNumResults() != 1 || !widthOf(op->getResult(0).getType()))
    return std::nullopt;
  using Result = std::optional<Linear>;
  return llvm::TypeSwitch<Operation*, Result>(op)
      .Case([&](arith::AddIOp sum) -> Result { return residueOf(sum.getLhs()).plus(residueOf(sum.getRhs())); })
      .Case([&](arith::SubIOp difference) -> Result {
        return residueOf(difference.getLhs()).minus(residueOf(difference.getRhs()));
      })
      .Case([&](arith::MulIOp product) -> Result {
        Linear left = residueOf(product.getLhs()), right = residueOf(product.getRhs());
        if (right.isConstant())
          return left.times(right.constant());
        return left.isConstant() ? right.times(left.constant()) : Result();
      })
      // What is cut off is a multiple of 2 to the width that is left.
      .Case<arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp>([&](Operation* cut) -> Result {
        std::optional<unsigned> from = widthOf(cut->getOperand(0).getType());
        if (!from || *from < *widthOf(cut->getResult(0).getType()))
          return std::nullopt;
        return residueOf(cut->getOperand(0));
      })
      .Default([](Operation*) { return std::nullopt; });
}

std::optional<Linear> RangeAnalysis::exact(Operation* op, Reading how) {
  if (inexact_.contains({op, static_cast<int>(how)}))
    return std::nullopt;
  unsigned width = *widthOf(op->getResult(0).getType());
  Range range = how == Reading::Signed ? signedRange(width) : unsignedRange(width);
  auto known = [&](const std::optional<Linear>& whole) {
    return whole && facts_.isWithin(*whole, range.least, range.most) ? whole : std::nullopt;
  };
  std::optional<Linear> whole = uncut(op, how);
  if (std::optional<Linear> result = known(whole))
    return result;
  // What wraps on the way may have come back.
  std::optional<Linear> residue = computeResidue(op);
  if (residue && residue != whole)
    if (std::optional<Linear> result = known(residue))
      return result;
  inexact_.insert({op, static_cast<int>(how)});
  return std::nullopt;
}

Linear RangeAnalysis::floorOf(const Linear& dividend, int64_t divisor) {
  if (llvm::all_of(dividend.terms(), [&](auto term) { return term.second % divisor == 0; })) {
    Linear result(dividend.constant() / divisor - (dividend.constant() % divisor < 0));
    for (auto [symbol, coefficient] : dividend.terms())
      result = *result.combine(1, Linear::of(symbol), coefficient / divisor);
    return result;
  }
  auto [entry, isNew] = quotients_.try_emplace({dividend, divisor}, nextSymbol_);
  nextSymbol_ += isNew;
  Symbol symbol = entry->second;
  Linear result = Linear::of(symbol);
  if (!definedQuotients_.insert(symbol).second)
    return result;
  Interval range = facts_.intervalOf(dividend);
  auto floor = [&](WideInteger value) { return value / divisor - (value % divisor < 0); };
  if (range.lower)
    range.lower = floor(*range.lower);
  if (range.upper)
    range.upper = floor(*range.upper);
  facts_.setBounds(symbol, range);
  std::optional<Linear> rest = dividend.combine(1, result, -divisor);
  facts_.assume(rest);
  if (rest)
    facts_.assume(Linear(divisor - 1).minus(*rest));
  return result;
}

std::optional<Linear> RangeAnalysis::quotientOf(Operation* op, Reading how) {
  Linear dividend = reading(op->getOperand(0), how);
  bool shifts = isa<arith::ShRSIOp, arith::ShRUIOp>(op);
  Linear divisor = shifts ? unsignedOf(op->getOperand(1)) : reading(op->getOperand(1), how);
  if (shifts) {
    std::optional<int64_t> amount = constantOf(divisor);
    if (!amount || *amount < 0 || *amount > 61 || *amount >= *widthOf(op->getResult(0).getType()))
      return std::nullopt;
    return floorOf(dividend, int64_t(1) << *amount);
  }
  Symbol symbol = symbolOf(op->getResult(0), aspectOf(how));
  Linear result = Linear::of(symbol);
  bool roundsUp = isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
  std::optional<int64_t> constant = constantOf(divisor);
  if (constant && *constant <= 0)
    return std::nullopt;
  if (!constant) {
    // The division was made, so that the divisor is not 0, or it is known anyway.
    if (roundsUp || !facts_.isNonNegative(dividend) ||
        !facts_.isNonNegative(isPassed(op) ? divisor : divisor.minus(Linear(1))))
      return std::nullopt;
    facts_.setBounds(symbol, {0, std::nullopt});
    facts_.assume(dividend.minus(result));
    return result;
  }
  if (roundsUp) {
    std::optional<Linear> raised = dividend.plus(Linear(*constant - 1));
    return raised ? std::optional(floorOf(*raised, *constant)) : std::nullopt;
  }
  if (!isa<arith::DivSIOp>(op) || facts_.isNonNegative(dividend))
    return floorOf(dividend, *constant);
  std::optional<Linear> opposite = dividend.times(-1);
  if (facts_.isNonNegative(opposite))
    return floorOf(*opposite, *constant).times(-1);
  // Towards 0 from a side that is not known: |dividend - divisor * result| < divisor.
  facts_.setBounds(symbol, {});
  if (std::optional<Linear> rest = dividend.combine(1, result, -*constant)) {
    facts_.assume(rest->plus(Linear(*constant - 1)));
    facts_.assume(Linear(*constant - 1).minus(*rest));
  }
  return result;
}

std::optional<Linear> RangeAnalysis::remainderOf(Operation* op, Reading how) {
  Linear dividend = reading(op->getOperand(0), how), divisor = reading(op->getOperand(1), how);
  bool fromNonNegative = facts_.isNonNegative(dividend);
  std::optional<int64_t> constant = constantOf(divisor);
  if (constant && *constant <= 0)
    return std::nullopt;
  if (constant && fromNonNegative)
    return dividend.combine(1, floorOf(dividend, *constant), -*constant);
  // As for quotients: a divisor that is not negative is at least 1.
  if (!facts_.isNonNegative(isPassed(op) ? divisor : divisor.minus(Linear(1))))
    return std::nullopt;
  Symbol symbol = symbolOf(op->getResult(0), aspectOf(how));
  Linear result = Linear::of(symbol);
  facts_.setBounds(symbol, fromNonNegative ? Interval{0, std::nullopt} : Interval());
  if (std::optional<Linear> most = divisor.minus(Linear(1))) {
    facts_.assume(most->minus(result));
    if (!fromNonNegative)
      facts_.assume(most->plus(result));
  }
  if (fromNonNegative)
    facts_.assume(dividend.minus(result));
  return result;
}

Linear RangeAnalysis::leastOrGreatest(Value key, ArrayRef<Linear> choices, bool least, Reading how) {
  Symbol symbol = symbolOf(key, aspectOf(how));
  Linear result = Linear::of(symbol);
  Alternatives some;
  std::optional<Interval> range;
  for (const Linear& choice : choices) {
    Interval bounds = facts_.intervalOf(choice);
    auto wider = [](std::optional<WideInteger> a, std::optional<WideInteger> b, bool lower) {
      return a && b ? std::optional(lower ? std::min(*a, *b) : std::max(*a, *b)) : std::nullopt;
    };
    range =
        range ? Interval{wider(range->lower, bounds.lower, true), wider(range->upper, bounds.upper, false)} : bounds;
    std::optional<Linear> over = result.minus(choice), under = choice.minus(result);
    facts_.assume(least ? under : over);
    if (over && under)
      some.push_back({*over, *under});
    else
      some.push_back({});
  }
  facts_.setBounds(symbol, *range);
  facts_.assumeOneOf(std::move(some));
  return result;
}

Linear RangeAnalysis::selected(Value value, Value condition, Value ifTrue, Value ifFalse) {
  Symbol symbol = symbolOf(value, aspectOf(Reading::Signed));
  Linear result = Linear::of(symbol);
  facts_.setBounds(symbol, {});
  Alternatives some(2);
  for (bool holds : {true, false}) {
    Conjunction& facts = some[holds ? 0 : 1];
    collect(condition, holds, facts, nullptr);
    Linear choice = signedOf(holds ? ifTrue : ifFalse);
    for (const std::optional<Linear>& difference : {result.minus(choice), choice.minus(result)})
      if (difference)
        facts.push_back(*difference);
  }
  facts_.assumeOneOf(std::move(some));
  return result;
}

// ---- extents and affine expressions ----

Linear RangeAnalysis::extentOf(Value block, unsigned dimension) {
  for (unsigned steps = 0; steps < maximumViews; ++steps) {
    auto type = cast<MemRefType>(block.getType());
    if (!type.isDynamicDim(dimension))
      return Linear(type.getDimSize(dimension));
    Operation* op = block.getDefiningOp();
    if (auto cast = dyn_cast_or_null<memref::CastOp>(op); cast && isa<MemRefType>(cast.getSource().getType())) {
      block = cast.getSource();
      continue;
    }
    Value operand;
    if (isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(op))
      operand = op->getOperand(type.getDynamicDimIndex(dimension));
    else if (auto made = dyn_cast_or_null<svm::BlockOp>(op))
      operand = made.getExtents()[dimension];
    else if (auto found = dyn_cast_or_null<svm::MemoryAtOp>(op))
      operand = found.getExtent();
    else if (auto view = dyn_cast_or_null<memref::SubViewOp>(op);
             view && view.getSourceType().getRank() == type.getRank() && view.isDynamicSize(dimension))
      operand = view.getDynamicSize(dimension);
    if (operand)
      return signedOf(operand);
    break;
  }
  auto argument = dyn_cast<BlockArgument>(block);
  if (kernel_ && argument && argument.getOwner() == &kernel_.getBody().front() && kernel_.getExtents()) {
    AffineMap map = cast<AffineMapAttr>((*kernel_.getExtents())[argument.getArgNumber()]).getValue();
    SmallVector<Linear> sizes;
    for (unsigned size = 0; size < map.getNumSymbols(); ++size)
      sizes.push_back(Linear::of(symbolOf(function_, size)));
    if (std::optional<Linear> extent = affineOf(map.getResult(dimension), {}, sizes))
      return *extent;
  }
  Symbol symbol = symbolOf(block, firstExtentAspect + dimension);
  facts_.setBounds(symbol, {0, maximumExtent});
  return Linear::of(symbol);
}

std::optional<Linear> RangeAnalysis::affineOf(AffineExpr expression, ArrayRef<Linear> dimensions,
                                              ArrayRef<Linear> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return Linear(constant.getValue());
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return dimensions[dimension.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return symbols[symbol.getPosition()];
  Nesting nesting(depth_);
  if (nesting.isTooDeep())
    return std::nullopt;
  auto binary = cast<AffineBinaryOpExpr>(expression);
  std::optional<Linear> left = affineOf(binary.getLHS(), dimensions, symbols);
  std::optional<Linear> right = affineOf(binary.getRHS(), dimensions, symbols);
  if (!left || !right)
    return std::nullopt;
  std::optional<int64_t> constant = constantOf(*right);
  bool positive = constant && *constant > 0;
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return left->plus(*right);
  case AffineExprKind::Mul:
    if (constant)
      return left->times(*constant);
    return left->isConstant() ? right->times(left->constant()) : std::nullopt;
  case AffineExprKind::Mod:
    return positive ? left->combine(1, floorOf(*left, *constant), -*constant) : std::nullopt;
  case AffineExprKind::FloorDiv:
    return positive ? std::optional(floorOf(*left, *constant)) : std::nullopt;
  case AffineExprKind::CeilDiv:
    if (std::optional<Linear> raised = positive ? left->plus(Linear(*constant - 1)) : std::nullopt)
      return floorOf(*raised, *constant);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

SmallVector<Linear> RangeAnalysis::affineResults(AffineMap map, ValueRange operands) {
  SmallVector<Linear> readings, results;
  for (Value operand : operands)
    readings.push_back(signedOf(operand));
  ArrayRef<Linear> all = readings;
  for (AffineExpr result : map.getResults())
    if (std::optional<Linear> value =
            affineOf(result, all.take_front(map.getNumDims()), all.drop_front(map.getNumDims())))
      results.push_back(*value);
  return results;
}

} // namespace strata::transform
