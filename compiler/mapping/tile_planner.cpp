// Everything that does not depend on the tile is computed in front of the choice; the sides of tiles are found by a
// loop that halves them.
#include "compiler/mapping/tile_planner.h"

#include <algorithm>

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

/// Instances that a tile has at least, where it is cut only so that all processors have some.
static constexpr int64_t leastInstances = 64;

TilePlanner::TilePlanner(OpBuilder& builder, const InstanceRun& run, const Footprint& footprint,
                         ArrayRef<OffloadStep> steps, const Machine& machine)
    : builder_(builder), run_(run), footprint_(footprint), steps_(steps), machine_(machine),
      place_(KernelOp(run.kernel).getLoc()), math_(builder, place_) {
  for (scf::ForOp loop : footprint_.instances)
    variables_.push_back(loop.getInductionVar());
  for (Type type : KernelOp(run.kernel).getArgumentTypes())
    types_.push_back(type);
}

Value TilePlanner::outside(Value value) {
  if (Value known = outside_.lookupOrNull(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value operand = run_.operands[argument.getArgNumber()];
    outside_.map(value, operand);
    return operand;
  }
  Operation* op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    outside(operand);
  builder_.clone(*op, outside_);
  return outside_.lookup(value);
}

Value TilePlanner::asIndex(Value value) {
  return value.getType().isIndex() ? value
                                   : builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getIndexType(), value);
}

Value TilePlanner::productOf(const IndexTerm& term, bool isOutside) {
  Value product = index(term.factor);
  for (Value parameter : term.parameters)
    product = math_.mul(product, asIndex(isOutside ? outside(parameter) : parameter));
  return product;
}

Value TilePlanner::sumOutside(const IndexSum& sum) {
  Value total = index(0);
  for (const IndexTerm& term : sum)
    total = math_.add(total, productOf(term));
  return total;
}

std::optional<size_t> TilePlanner::instanceOf(Value variable) const {
  for (auto [number, loop] : llvm::enumerate(variables_))
    if (loop == variable)
      return number;
  return std::nullopt;
}

Reach TilePlanner::rangeOf(Value variable, const Instances& instances) {
  if (const auto number = instanceOf(variable))
    return instances[*number];
  return inner_.at(variable);
}

Reach TilePlanner::rangeOf(const IndexSum& sum, const Instances& instances) {
  Reach total{index(0), index(0)};
  for (const IndexTerm& term : sum) {
    Value factor = productOf(term);
    if (!term.variable) {
      total = {math_.add(total.low, factor), math_.add(total.high, factor)};
      continue;
    }
    const Reach variable = rangeOf(term.variable, instances);
    Value low = math_.mul(factor, variable.low), high = math_.mul(factor, variable.high);
    if (!term.parameters.empty()) {
      Value least = math_.min(low, high);
      high = math_.max(low, high);
      low = least;
    } else if (term.factor < 0) {
      std::swap(low, high);
    }
    total = {math_.add(total.low, low), math_.add(total.high, high)};
  }
  return total;
}

Reach TilePlanner::boundOf(Value bound) {
  Operation* op = bound.getDefiningOp();
  if (op && isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
    const Reach left = boundOf(op->getOperand(0)), right = boundOf(op->getOperand(1));
    if (isa<arith::MinSIOp>(op))
      return {math_.min(left.low, right.low), math_.min(left.high, right.high)};
    return {math_.max(left.low, right.low), math_.max(left.high, right.high)};
  }
  return rangeOf(footprint_.bounds.at(bound), instances_);
}

Reach TilePlanner::unite(std::optional<Reach> range, Reach other) {
  return range ? Reach{math_.min(range->low, other.low), math_.max(range->high, other.high)} : other;
}

Reach TilePlanner::reachOf(const BoxAccess& access, size_t dimension, const Instances& instances) {
  Reach range = rangeOf(access.coordinates[dimension], instances);
  for (const Clip& clip : access.clips) {
    if (clip.dimension != dimension)
      continue;
    Value& end = clip.isUpper ? range.high : range.low;
    Value bound = sumOutside(clip.bound);
    Value cut = clip.isUpper ? math_.min(end, bound) : math_.max(end, bound);
    end = clip.onlyIf ? choose(isAtMost(index(0), sumOutside(*clip.onlyIf)), cut, end) : cut;
  }
  return range;
}

SmallVector<Reach> TilePlanner::reachOf(const Box& box, const Instances& instances, bool onlyStores) {
  SmallVector<Reach> reach;
  if (box.isWhole)
    return {{index(0), math_.sub(size(run_.operands[box.argument]), index(1))}};
  for (size_t dimension = 0; dimension < box.strides.size(); ++dimension) {
    std::optional<Reach> all;
    for (const BoxAccess& access : box.accesses)
      if (access.isStore || !onlyStores)
        all = unite(all, reachOf(access, dimension, instances));
    reach.push_back(*all);
  }
  return reach;
}

void TilePlanner::findWhole() {
  for (unsigned range : run_.ranges) {
    Value begin = run_.operands[range], end = run_.operands[range + 1];
    // Without instances nothing of this is used.
    instances_.push_back({begin, math_.max(math_.sub(end, index(1)), begin)});
    lengths_.push_back(math_.max(math_.sub(end, begin), index(1)));
  }
  for (scf::ForOp loop : footprint_.inner) {
    const Reach lower = boundOf(loop.getLowerBound()), upper = boundOf(loop.getUpperBound());
    inner_[loop.getInductionVar()] = {lower.low, math_.max(math_.sub(upper.high, index(1)), lower.low)};
  }
  for (const auto& [sum, bits] : footprint_.narrow) {
    const Reach range = rangeOf(sum, instances_);
    const int64_t most = (int64_t(1) << (bits - 1)) - 1;
    fits_ = both(fits_, both(isAtMost(index(-most - 1), range.low), isAtMost(range.high, index(most))));
  }
  for (const Box& box : footprint_.boxes)
    findWhole(box);
}

void TilePlanner::findWhole(const Box& box) {
  Whole& whole = whole_.emplace_back();
  whole.reach = reachOf(box, instances_, false);
  for (const IndexTerm& stride : box.strides)
    whole.strides.push_back(productOf(stride));
  Value last = index(0), elements = box.strides.empty() ? Value() : size(run_.operands[box.argument]);
  for (size_t dimension = 0; dimension < box.strides.size(); ++dimension) {
    const Reach& reach = whole.reach[dimension];
    Value stride = whole.strides[dimension];
    fits_ = both(fits_, both(isAtMost(index(1), stride), isAtMost(index(0), reach.low)));
    // No product of the two is too large for an integer then.
    fits_ = both(fits_, isAtMost(reach.high, quotient(elements, math_.max(stride, index(1)))));
    // What is left of the dimension is a multiple of the next one's stride.
    if (dimension > 0)
      fits_ = both(fits_, isAtMost(math_.add(reach.high, index(1)), ratioOf(box, dimension)));
    last = math_.add(last, math_.mul(stride, reach.high));
  }
  if (!box.strides.empty())
    fits_ = both(fits_, isAtMost(math_.add(last, index(1)), elements));
  findGrowth(box, whole);
}

Value TilePlanner::ratioOf(const Box& box, size_t dimension) {
  const IndexTerm &around = box.strides[dimension - 1], &own = box.strides[dimension];
  IndexTerm ratio{around.factor / own.factor, {}, {}};
  SmallVector<Value, 2> used(own.parameters);
  for (Value parameter : around.parameters)
    if (auto* found = llvm::find(used, parameter); found != used.end())
      used.erase(found);
    else
      ratio.parameters.push_back(parameter);
  return productOf(ratio);
}

std::vector<IndexTerm> TilePlanner::termsOf(const IndexSum& coordinate, size_t loop) const {
  std::vector<IndexTerm> terms;
  for (const IndexTerm& term : coordinate)
    if (term.variable && instanceOf(term.variable) == loop)
      terms.push_back(term);
  return terms;
}

bool TilePlanner::areAlike(const std::vector<IndexTerm>& left, const std::vector<IndexTerm>& right) {
  return llvm::equal(left, right, [](const IndexTerm& one, const IndexTerm& other) {
    return one.factor == other.factor && one.parameters == other.parameters;
  });
}

void TilePlanner::findGrowth(const Box& box, Whole& whole) {
  for (size_t dimension = 0; dimension < box.strides.size(); ++dimension) {
    const BoxAccess& first = box.accesses.front();
    SmallVector<Value>& factors = whole.factors.emplace_back();
    if (box.isWhole) {
      whole.fixed.push_back({});
      continue;
    }
    bool isRegular = true;
    for (size_t loop = 0; loop < run_.ranges.size(); ++loop) {
      const std::vector<IndexTerm> terms = termsOf(first.coordinates[dimension], loop);
      for (const BoxAccess& access : box.accesses)
        isRegular &= areAlike(terms, termsOf(access.coordinates[dimension], loop));
      Value factor = index(0);
      for (const IndexTerm& term : terms) {
        Value each = productOf(term);
        factor = math_.add(factor, math_.max(each, math_.sub(index(0), each)));
      }
      factors.push_back(factor);
    }
    if (!isRegular) {
      whole.fixed.push_back({});
      continue;
    }
    std::optional<Reach> rest;
    for (const BoxAccess& access : box.accesses) {
      IndexSum others;
      for (const IndexTerm& term : access.coordinates[dimension])
        if (!term.variable || !instanceOf(term.variable))
          others.push_back(term);
      rest = unite(rest, rangeOf(others, instances_));
    }
    whole.fixed.push_back(math_.add(math_.sub(rest->high, rest->low), index(1)));
  }
}

int64_t TilePlanner::shareOf(const Box& box, const OffloadStep& step) const {
  const auto type = cast<MemRefType>(types_[box.argument]);
  const int64_t bytes = std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
  return mapping::shareOf(machine_, step.memory, static_cast<int64_t>(footprint_.boxes.size())) / bytes;
}

bool TilePlanner::isApart(size_t loop) const {
  return llvm::all_of(footprint_.boxes, [&](const Box& box) {
    if (!box.isWritten || llvm::is_contained(run_.writtenByLast, box.argument))
      return true;
    for (size_t dimension = 0; dimension < box.strides.size(); ++dimension)
      if (isApart(box, dimension, loop))
        return true;
    return false;
  });
}

bool TilePlanner::isApart(const Box& box, size_t dimension, size_t loop) const {
  std::optional<int64_t> factor, least, most;
  std::vector<IndexTerm> others;
  bool isFirst = true;
  for (const BoxAccess& access : box.accesses) {
    if (!access.isStore)
      continue;
    int64_t constant = 0;
    std::vector<IndexTerm> own;
    std::optional<int64_t> by;
    for (const IndexTerm& term : access.coordinates[dimension]) {
      if (term.variable) {
        if (instanceOf(term.variable) != loop || !term.parameters.empty() || by)
          return false;
        by = term.factor;
      } else if (term.parameters.empty()) {
        constant = term.factor;
      } else {
        own.push_back(term);
      }
    }
    if (!by || (!isFirst && (factor != by || !areAlike(own, others))))
      return false;
    factor = by;
    others = own;
    least = isFirst ? constant : std::min(*least, constant);
    most = isFirst ? constant : std::max(*most, constant);
    isFirst = false;
  }
  return factor && *factor != std::numeric_limits<int64_t>::min() && *most - *least < std::abs(*factor);
}

Value TilePlanner::areFitting(const Sides& sides, const OffloadStep& step) {
  Value fits;
  for (auto [box, whole] : llvm::zip(footprint_.boxes, whole_)) {
    Value elements = index(1);
    for (size_t dimension = 0; dimension < box.strides.size(); ++dimension)
      elements = math_.mul(elements, extentOf(whole, dimension, sides));
    fits = both(fits, isAtMost(elements, index(shareOf(box, step))));
  }
  return fits ? fits : make<arith::ConstantIntOp>(1, 1).getResult();
}

Value TilePlanner::extentOf(const Whole& whole, size_t dimension, const Sides& sides) {
  const Reach& reach = whole.reach[dimension];
  // A guard that is never true leaves nothing.
  Value all = math_.max(math_.add(math_.sub(reach.high, reach.low), index(1)), index(0));
  if (!whole.fixed[dimension])
    return all;
  Value extent = whole.fixed[dimension];
  for (auto [side, factor] : llvm::zip(sides, whole.factors[dimension]))
    extent = math_.add(extent, math_.mul(factor, math_.sub(side, index(1))));
  return math_.min(extent, all);
}

int64_t TilePlanner::processorsOf(const OffloadStep& step) const {
  const auto position = static_cast<size_t>(&step - steps_.data());
  const auto count = static_cast<int64_t>(machine_[step.processor].count);
  if (position == 0)
    return count;
  const OffloadStep& around = steps_[position - 1];
  return around.processor == step.processor
             ? 1
             : std::max<int64_t>(count / static_cast<int64_t>(machine_[around.processor].count), 1);
}

void TilePlanner::chooseTile(const OffloadStep& step) {
  const Sides from = tiles_.empty() ? lengths_ : tiles_.back();
  const bool isLast = &step == &steps_.back();
  Sides sides = from;
  for (auto [loop, side] : llvm::enumerate(sides))
    if (isLast && loop < run_.tile.size() && run_.tile[loop] > 0 && isApart(loop))
      side = math_.min(side, index(run_.tile[loop]));
  auto search = make<scf::WhileOp>(TypeRange(SmallVector<Type>(sides.size(), builder_.getIndexType())), sides);
  {
    OpBuilder::InsertionGuard guard(builder_);
    SmallVector<mlir::Location> places(sides.size(), place_);
    Block* before = builder_.createBlock(&search.getBefore(), {}, search.getResultTypes(), places);
    const Sides now = llvm::to_vector_of<Value>(before->getArguments());
    make<scf::ConditionOp>(isToBeCut(now, from, step), now);
    Block* after = builder_.createBlock(&search.getAfter(), {}, search.getResultTypes(), places);
    make<scf::YieldOp>(cut(llvm::to_vector_of<Value>(after->getArguments())));
  }
  tiles_.push_back(llvm::to_vector_of<Value>(search.getResults()));
  fits_ = both(fits_, areFitting(tiles_.back(), step));
}

Value TilePlanner::isToBeCut(const Sides& sides, const Sides& from, const OffloadStep& step) {
  Value isCuttable = make<arith::ConstantIntOp>(0, 1), instances = index(1), tiles = index(1);
  for (auto [loop, side] : llvm::enumerate(sides)) {
    instances = math_.mul(instances, side);
    tiles = math_.mul(tiles, piecesOf(from[loop], side));
    if (isApart(loop))
      isCuttable = builder_.createOrFold<arith::OrIOp>(place_, isCuttable, isAtMost(index(2), side));
  }
  Value isAlone = both(isAtMost(tiles, index(processorsOf(step) - 1)), isAtMost(index(leastInstances), instances));
  Value fits = areFitting(sides, step);
  Value isWanted = choose(fits, isAlone, make<arith::ConstantIntOp>(1, 1));
  return both(isCuttable, isWanted);
}

TilePlanner::Sides TilePlanner::cut(Sides sides) {
  Value longest = index(0);
  for (auto [loop, side] : llvm::enumerate(sides))
    if (isApart(loop))
      longest = math_.max(longest, side);
  Value isDone = make<arith::ConstantIntOp>(0, 1);
  for (auto [loop, side] : llvm::enumerate(sides)) {
    if (!isApart(loop))
      continue;
    Value isLongest = builder_.createOrFold<arith::CmpIOp>(place_, arith::CmpIPredicate::eq, side, longest);
    Value is = choose(isDone, make<arith::ConstantIntOp>(0, 1), isLongest);
    isDone = builder_.createOrFold<arith::OrIOp>(place_, isDone, is);
    side = choose(is, quotient(math_.add(side, index(1)), index(2)), side);
  }
  return sides;
}

} // namespace strata::mapping
