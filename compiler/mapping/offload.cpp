// Everything that does not depend on the tile is computed in front of the choice; within a tile, intervals of its
// instances give intervals of coordinates, cut to those of the whole grid.
#include "compiler/mapping/offload.h"

#include "base/machine/addressing.h"
#include "compiler/transform/builders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

#include <algorithm>
#include <map>

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

std::vector<OffloadStep> offloadSteps(const Machine& machine, machine::MemoryId arrays, machine::ProcessorId last) {
  std::vector<OffloadStep> steps;
  const std::optional<unsigned> outermost = machine.levelOf(arrays);
  for (size_t number = outermost ? *outermost : machine.levels.size(); number-- > 0;) {
    const machine::Level& level = machine.levels[number];
    if (level.processor.valid() && level.memory != arrays && machine.isStore(level.memory))
      steps.push_back({level.processor, level.memory});
  }
  if (!last.valid())
    return steps;
  const auto end = std::find_if(steps.rbegin(), steps.rend(),
                                [&](const OffloadStep& step) { return step.processor == last; });
  steps.erase(end.base(), steps.end());
  return steps;
}

/// The share of a memory that tiles may fill, in eighths; the rest is for what else a processor keeps.
static constexpr int64_t eighths = 7;

int64_t shareOf(const Machine& machine, machine::MemoryId memory, int64_t blocks) {
  const machine::Capacity capacity = machine.capacityOf(memory);
  const int64_t bytes = capacity.kind == machine::Capacity::Kind::Bytes
                            ? static_cast<int64_t>(std::min<uint64_t>(capacity.bytes, uint64_t(1) << 40))
                            : int64_t(1) << 40;
  const auto alignment = static_cast<int64_t>(machine[memory].alignment);
  return bytes / 8 * eighths / std::max<int64_t>(blocks, 1) / alignment * alignment;
}

namespace {

/// An interval, both ends within.
struct Reach {
  Value low, high;
};

/// Instances that a tile has at least, where it is cut only so that all processors have some.
constexpr int64_t leastInstances = 64;

class Offloading {
public:
  Offloading(OpBuilder& builder, LogicalModule& frame, const InstanceRun& run, const Footprint& footprint,
             ArrayRef<OffloadStep> steps, const Machine& machine, FunctionPlacement& placement)
      : builder_(builder), frame_(frame), run_(run), footprint_(footprint), steps_(steps), machine_(machine),
        placement_(placement), place_(KernelOp(run.kernel).getLoc()), math_(builder, place_) {
    for (scf::ForOp loop : footprint_.instances)
      variables_.push_back(loop.getInductionVar());
    for (Type type : KernelOp(run.kernel).getArgumentTypes())
      types_.push_back(type);
  }

  scf::IfOp emit(FootprintProblem& problem) {
    for (const OffloadStep& step : steps_)
      for (const Box& box : footprint_.boxes)
        if (shareOf(box, step) < 1) {
          problem = {"a memory '" + machine_[step.memory].name + "' that its arrays do not fit", place_};
          return {};
        }
    findWhole();
    for (const OffloadStep& step : steps_)
      chooseTile(step);
    makeKernel();
    auto choice = make<scf::IfOp>(fits_, true);
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(choice.thenBlock());
    emitTiles(0, instances_, {});
    return choice;
  }

private:
  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  Value index(int64_t value) { return math_.constant(value); }
  Value isAtMost(Value left, Value right) {
    return builder_.createOrFold<arith::CmpIOp>(place_, arith::CmpIPredicate::sle, left, right);
  }
  Value both(Value left, Value right) {
    return left ? builder_.createOrFold<arith::AndIOp>(place_, left, right) : right;
  }
  Value choose(Value condition, Value yes, Value no) {
    return builder_.createOrFold<arith::SelectOp>(place_, condition, yes, no);
  }
  Value quotient(Value value, Value divisor) {
    return builder_.createOrFold<arith::DivUIOp>(place_, value, divisor);
  }
  Value piecesOf(Value whole, Value part) { return quotient(math_.add(whole, math_.sub(part, index(1))), part); }

  // ---- the kernel's values, outside of it ----

  /// What the kernel computes of its scalar arguments, in the control function.
  Value outside(Value value) {
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

  Value asIndex(Value value) {
    return value.getType().isIndex() ? value
                                     : builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getIndexType(), value);
  }

  Value productOf(const IndexTerm& term, bool isOutside = true) {
    Value product = index(term.factor);
    for (Value parameter : term.parameters)
      product = math_.mul(product, asIndex(isOutside ? outside(parameter) : parameter));
    return product;
  }

  Value sumOutside(const IndexSum& sum) {
    Value total = index(0);
    for (const IndexTerm& term : sum)
      total = math_.add(total, productOf(term));
    return total;
  }

  // ---- ranges ----

  using Instances = SmallVector<Reach>; // of each unordered loop

  std::optional<size_t> instanceOf(Value variable) const {
    for (auto [number, loop] : llvm::enumerate(variables_))
      if (loop == variable)
        return number;
    return std::nullopt;
  }

  Reach rangeOf(Value variable, const Instances& instances) {
    if (const auto number = instanceOf(variable))
      return instances[*number];
    return inner_.at(variable);
  }

  Reach rangeOf(const IndexSum& sum, const Instances& instances) {
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

  /// The ends of the loops inside, for all instances: what a bound can be at least and at most.
  Reach boundOf(Value bound) {
    Operation* op = bound.getDefiningOp();
    if (op && isa<arith::MinSIOp, arith::MaxSIOp>(op)) {
      const Reach left = boundOf(op->getOperand(0)), right = boundOf(op->getOperand(1));
      if (isa<arith::MinSIOp>(op))
        return {math_.min(left.low, right.low), math_.min(left.high, right.high)};
      return {math_.max(left.low, right.low), math_.max(left.high, right.high)};
    }
    return rangeOf(footprint_.bounds.at(bound), instances_);
  }

  Reach unite(std::optional<Reach> range, Reach other) {
    return range ? Reach{math_.min(range->low, other.low), math_.max(range->high, other.high)} : other;
  }

  /// What an access reaches along a dimension, as far as its guards let it.
  Reach reachOf(const BoxAccess& access, size_t dimension, const Instances& instances) {
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

  SmallVector<Reach> reachOf(const Box& box, const Instances& instances, bool onlyStores) {
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

  // ---- the whole grid ----

  struct Whole {
    SmallVector<Value> strides; // in elements
    SmallVector<Reach> reach;
    SmallVector<Value> fixed; // of each dimension: elements that are reached whatever the tile, or null: all of them
    SmallVector<SmallVector<Value>> factors; // of each dimension: by how much more an instance along a loop reaches
  };

  Value size(Value block) { return make<memref::DimOp>(block, index(0)); }

  void findWhole() {
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

  void findWhole(const Box& box) {
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

  /// The stride of the dimension around in units of this one's.
  Value ratioOf(const Box& box, size_t dimension) {
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

  /// The terms of a coordinate that vary with a loop over instances; nothing for what has several of one.
  std::vector<IndexTerm> termsOf(const IndexSum& coordinate, size_t loop) const {
    std::vector<IndexTerm> terms;
    for (const IndexTerm& term : coordinate)
      if (term.variable && instanceOf(term.variable) == loop)
        terms.push_back(term);
    return terms;
  }

  static bool areAlike(const std::vector<IndexTerm>& left, const std::vector<IndexTerm>& right) {
    return llvm::equal(left, right, [](const IndexTerm& one, const IndexTerm& other) {
      return one.factor == other.factor && one.parameters == other.parameters;
    });
  }

  /// How the extent of each dimension grows with the sides of a tile.
  void findGrowth(const Box& box, Whole& whole) {
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

  // ---- tiles ----

  int64_t shareOf(const Box& box, const OffloadStep& step) const {
    const auto type = cast<MemRefType>(types_[box.argument]);
    const int64_t bytes = std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
    return mapping::shareOf(machine_, step.memory, static_cast<int64_t>(footprint_.boxes.size())) / bytes;
  }

  /// Whether tiles can be cut along a loop: then what they write is apart.
  bool isApart(size_t loop) const {
    return llvm::all_of(footprint_.boxes, [&](const Box& box) {
      if (!box.isWritten || llvm::is_contained(run_.writtenByLast, box.argument))
        return true;
      for (size_t dimension = 0; dimension < box.strides.size(); ++dimension)
        if (isApart(box, dimension, loop))
          return true;
      return false;
    });
  }

  /// Along the dimension, all stores are at one factor times the loop's variable, and the same constants but for less
  /// than the factor.
  bool isApart(const Box& box, size_t dimension, size_t loop) const {
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

  using Sides = SmallVector<Value>;

  /// Whether every box of a tile with such sides fits its share.
  Value areFitting(const Sides& sides, const OffloadStep& step) {
    Value fits;
    for (auto [box, whole] : llvm::zip(footprint_.boxes, whole_)) {
      Value elements = index(1);
      for (size_t dimension = 0; dimension < box.strides.size(); ++dimension)
        elements = math_.mul(elements, extentOf(whole, dimension, sides));
      fits = both(fits, isAtMost(elements, index(shareOf(box, step))));
    }
    return fits ? fits : make<arith::ConstantIntOp>(1, 1).getResult();
  }

  Value extentOf(const Whole& whole, size_t dimension, const Sides& sides) {
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

  /// Processors of a step under each of the step around it.
  int64_t processorsOf(const OffloadStep& step) const {
    const auto position = static_cast<size_t>(&step - steps_.data());
    const auto count = static_cast<int64_t>(machine_[step.processor].count);
    if (position == 0)
      return count;
    const OffloadStep& around = steps_[position - 1];
    return around.processor == step.processor
               ? 1
               : std::max<int64_t>(count / static_cast<int64_t>(machine_[around.processor].count), 1);
  }

  void chooseTile(const OffloadStep& step) {
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

  Value isToBeCut(const Sides& sides, const Sides& from, const OffloadStep& step) {
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

  /// Halves the longest side that may be cut, the outermost of equal ones.
  Sides cut(Sides sides) {
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

  /// A part of an array in a memory: how its box lies there.
  struct Part {
    Value block;                   // of one dimension, or none
    SmallVector<Value> begin;      // coordinates
    SmallVector<Value> strides;
  };

  /// Of each box, where the arrays lie.
  SmallVector<Part> arrays() {
    SmallVector<Part> parts;
    for (auto [box, whole] : llvm::zip(footprint_.boxes, whole_))
      parts.push_back({run_.operands[box.argument], SmallVector<Value>(box.strides.size(), index(0)), whole.strides});
    return parts;
  }

  /// The elements of a part from `begin` on, as a block of as many dimensions as the box has.
  Value view(const Part& part, ArrayRef<Value> begin, ArrayRef<Value> extents) {
    if (extents.empty())
      return part.block;
    auto layout = make<memref::ExtractStridedMetadataOp>(part.block);
    Value offset = layout.getOffset();
    for (auto [from, own, stride] : llvm::zip(begin, part.begin, part.strides))
      offset = math_.add(offset, math_.mul(math_.sub(from, own), stride));
    const auto type = cast<MemRefType>(part.block.getType());
    SmallVector<OpFoldResult> sizes(extents.begin(), extents.end()), strides(part.strides.begin(), part.strides.end());
    strides.back() = builder_.getIndexAttr(1);
    return make<memref::ReinterpretCastOp>(viewType(static_cast<unsigned>(extents.size()), type.getElementType()),
                                           part.block, OpFoldResult(offset), sizes, strides);
  }

  void emitTiles(size_t number, const Instances& around, const SmallVector<Part>& given) {
    const OffloadStep& step = steps_[number];
    const std::string processor = machine_[step.processor].name;
    const std::string label = run_.label + "@" + machine_[step.memory].name;
    SmallVector<Value> counts;
    Value all = index(1);
    for (auto [range, side] : llvm::zip(around, tiles_[number])) {
      counts.push_back(piecesOf(math_.add(math_.sub(range.high, range.low), index(1)), side));
      all = math_.mul(all, counts.back());
    }
    if (number == 0) // without instances there are no tiles
      for (unsigned range : run_.ranges)
        all = choose(isAtMost(run_.operands[range + 1], run_.operands[range]), index(0), all);
    auto loop = make<ParallelOp>(ValueRange(index(0)), ValueRange(all), ValueRange(), ArrayAttr(),
                                 builder_.getStringAttr(label));
    LoopPlacement& placed = placement_.loops[label];
    placed.processor = processor;
    if (const int64_t processors = processorsOf(step); processors > 1) {
      placed.parts = {processors};
      placed.chunk = {1};
    }
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&loop.getBody().front());
    Instances instances(around.size());
    Value left = loop.iteration(0);
    for (size_t dimension = around.size(); dimension-- > 0;) {
      Value own = dimension ? builder_.createOrFold<arith::RemUIOp>(place_, left, counts[dimension]) : left;
      left = quotient(left, counts[dimension]);
      Value side = tiles_[number][dimension], begin = math_.add(around[dimension].low, math_.mul(own, side));
      instances[dimension] = {begin,
                              math_.min(math_.sub(math_.add(begin, side), index(1)), around[dimension].high)};
    }
    emitTile(number, instances, given);
  }

  void emitTile(size_t number, const Instances& instances, const SmallVector<Part>& given) {
    const OffloadStep& step = steps_[number];
    const SmallVector<Part> from = number ? given : arrays();
    SmallVector<Part> parts;
    SmallVector<std::pair<Value, Value>> back;
    for (size_t at = 0; at < footprint_.boxes.size(); ++at) {
      const Box& box = footprint_.boxes[at];
      const SmallVector<Reach> reach = reachOf(box, instances, false);
      Part part;
      SmallVector<Value> extents;
      for (auto [range, whole] : llvm::zip(reach, whole_[at].reach)) {
        const Reach within = cutTo(range, whole);
        part.begin.push_back(within.low);
        extents.push_back(math_.max(math_.add(math_.sub(within.high, within.low), index(1)), index(0)));
      }
      part.strides.assign(extents.size(), index(1));
      for (size_t dimension = extents.size(); dimension-- > 1;)
        part.strides[dimension - 1] = math_.mul(part.strides[dimension], extents[dimension]);
      part.block = blockOf(box, step, at);
      const bool isComplete = llvm::all_of(
          box.accesses, [](const BoxAccess& access) { return access.isStore && access.isCertain && access.clips.empty(); });
      Value outer = view(from[at], part.begin, extents), inner = view(part, part.begin, extents);
      if (!isComplete || !isDense(box))
        make<MoveOp>(Type(), outer, inner, ValueRange());
      if (box.isWritten) {
        if (box.isRead && !box.strides.empty()) {
          SmallVector<Value> begin, written;
          for (auto [range, whole] : llvm::zip(reachOf(box, instances, true), whole_[at].reach)) {
            const Reach within = cutTo(range, whole);
            begin.push_back(within.low);
            written.push_back(math_.max(math_.add(math_.sub(within.high, within.low), index(1)), index(0)));
          }
          outer = view(from[at], begin, written);
          inner = view(part, begin, written);
        }
        back.emplace_back(inner, outer);
      }
      parts.push_back(std::move(part));
    }
    if (number + 1 < steps_.size())
      emitTiles(number + 1, instances, parts);
    else
      runTile(instances, parts);
    for (size_t at = 0, next = 0; at < footprint_.boxes.size(); ++at) {
      if (!footprint_.boxes[at].isWritten)
        continue;
      OpBuilder::InsertionGuard guard(builder_);
      if (llvm::is_contained(run_.writtenByLast, footprint_.boxes[at].argument)) {
        Value isLast;
        for (auto [range, whole] : llvm::zip(instances, instances_))
          isLast = both(isLast, isAtMost(whole.high, range.high));
        if (isLast)
          builder_.setInsertionPointToStart(make<scf::IfOp>(isLast, false).thenBlock());
      }
      make<MoveOp>(Type(), back[next].first, back[next].second, ValueRange());
      ++next;
    }
  }

  Reach cutTo(Reach range, const Reach& whole) {
    return {math_.min(math_.max(range.low, whole.low), whole.high), math_.min(range.high, whole.high)};
  }

  /// Whether instances that each store once, at an own place, leave nothing out between them.
  bool isDense(const Box& box) const {
    if (box.accesses.size() != 1)
      return false;
    std::vector<bool> seen(run_.ranges.size());
    for (const IndexSum& coordinate : box.accesses.front().coordinates) {
      const IndexTerm* varies = nullptr;
      for (const IndexTerm& term : coordinate)
        if (term.variable) {
          if (varies)
            return false;
          varies = &term;
        }
      if (!varies)
        continue;
      const auto loop = instanceOf(varies->variable);
      if (!loop || seen[*loop] || !varies->parameters.empty() || std::abs(varies->factor) != 1)
        return false;
      seen[*loop] = true;
    }
    return !box.strides.empty();
  }

  Value blockOf(const Box& box, const OffloadStep& step, size_t at) {
    const auto type = cast<MemRefType>(run_.operands[box.argument].getType());
    const std::string label = run_.label + "@" + machine_[step.memory].name + "." + std::to_string(at);
    placement_.blocks[label] = machine_[step.memory].name;
    SmallVector<Value> extents;
    SmallVector<int64_t> most;
    if (type.getRank()) {
      most.push_back(shareOf(box, step));
      extents.push_back(index(most.back()));
    }
    return make<BlockOp>(viewType(static_cast<unsigned>(type.getRank()), type.getElementType()), extents,
                         builder_.getDenseI64ArrayAttr(most), builder_.getStringAttr(label), IntegerAttr());
  }

  // ---- the kernel ----

  /// The kernel on parts: of each box, the strides but the last one are arguments, and what is subtracted from an index.
  void makeKernel() {
    KernelOp kernel = run_.kernel;
    const unsigned own = kernel.getNumArguments();
    std::vector<LogicalModule::Argument> arguments;
    for (unsigned number = 0; number < own; ++number) {
      LogicalModule::Argument argument = LogicalModule::scalar(kernel.getArgumentTypes()[number], "");
      argument.attributes = NamedAttrList(kernel.getArgAttrDict(number));
      arguments.push_back(std::move(argument));
    }
    for (const Box& box : footprint_.boxes)
      for (size_t dimension = 0; dimension < box.strides.size(); ++dimension)
        arguments.push_back(LogicalModule::scalar(builder_.getIndexType(), ""));
    kernel_ = frame_.kernel(place_, kernel.getSymName().str() + ".parts", arguments);
    IRMapping copies;
    kernel.getBody().cloneInto(&kernel_.getBody(), copies);
    Block& body = kernel_.getBody().front();
    for (size_t number = own; number < arguments.size(); ++number)
      body.addArgument(arguments[number].type, place_);
    OpBuilder::InsertionGuard guard(builder_);
    unsigned next = own;
    for (const Box& box : footprint_.boxes) {
      for (const BoxAccess& access : box.accesses)
        if (!box.strides.empty() && !box.isWhole)
          reindex(copies.lookup(access.op), access, copies, body, next);
      next += static_cast<unsigned>(box.strides.size());
    }
  }

  void reindex(Operation* op, const BoxAccess& access, const IRMapping& copies, Block& body, unsigned first) {
    builder_.setInsertionPoint(op);
    // What is the same for all instances first, so that it moves out of their loops together.
    Value constant = math_.sub(index(0), body.getArgument(first + static_cast<unsigned>(access.coordinates.size()) - 1));
    std::multimap<unsigned, Value> varying; // by how deep their loops are
    for (auto [dimension, coordinate] : llvm::enumerate(access.coordinates))
      for (const IndexTerm& term : coordinate) {
        Value value = index(term.factor);
        for (Value parameter : term.parameters)
          value = math_.mul(value, asIndex(copies.lookup(parameter)));
        if (dimension + 1 < access.coordinates.size())
          value = math_.mul(value, body.getArgument(first + static_cast<unsigned>(dimension)));
        if (!term.variable) {
          constant = math_.add(constant, value);
          continue;
        }
        unsigned depth = 0;
        for (Operation* around = Value(term.variable).getParentBlock()->getParentOp(); around; around = around->getParentOp())
          ++depth;
        varying.emplace(depth, math_.mul(value, copies.lookup(term.variable)));
      }
    Value sum = constant;
    for (const auto& [depth, value] : varying)
      sum = math_.add(sum, value);
    if (auto load = dyn_cast<memref::LoadOp>(op))
      load.getIndicesMutable().assign(sum);
    else
      cast<memref::StoreOp>(op).getIndicesMutable().assign(sum);
  }

  void runTile(const Instances& instances, const SmallVector<Part>& parts) {
    SmallVector<Value> operands(run_.operands);
    for (auto [range, instance] : llvm::zip(run_.ranges, instances)) {
      operands[range] = instance.low;
      operands[range + 1] = math_.add(instance.high, index(1));
    }
    for (auto [box, part] : llvm::zip(footprint_.boxes, parts)) {
      operands[box.argument] = part.block;
      Value before = index(0);
      for (auto [begin, stride] : llvm::zip(part.begin, part.strides))
        before = math_.add(before, math_.mul(begin, stride));
      for (size_t dimension = 0; dimension + 1 < part.strides.size(); ++dimension)
        operands.push_back(part.strides[dimension]);
      if (!part.strides.empty())
        operands.push_back(before);
    }
    make<RunOp>(Type(), FlatSymbolRefAttr::get(kernel_.getSymNameAttr()), ValueRange(operands), ValueRange(),
                FlatSymbolRefAttr());
  }

  OpBuilder& builder_;
  LogicalModule& frame_;
  const InstanceRun& run_;
  const Footprint& footprint_;
  ArrayRef<OffloadStep> steps_;
  const Machine& machine_;
  FunctionPlacement& placement_;
  mlir::Location place_;
  transform::IndexMath math_;
  SmallVector<Value> variables_; // of the loops over instances
  SmallVector<Type> types_;      // of the kernel's arguments

  IRMapping outside_;
  Instances instances_; // all
  SmallVector<Value> lengths_;
  llvm::DenseMap<Value, Reach> inner_; // of the variables of loops inside
  std::vector<Whole> whole_;           // of each box
  SmallVector<Sides> tiles_;           // of each step
  Value fits_;
  KernelOp kernel_;
};

} // namespace

scf::IfOp offload(OpBuilder& builder, LogicalModule& frame, const InstanceRun& run, const Footprint& footprint,
                  ArrayRef<OffloadStep> steps, const Machine& machine, FunctionPlacement& placement,
                  FootprintProblem& problem) {
  return Offloading(builder, frame, run, footprint, steps, machine, placement).emit(problem);
}

} // namespace strata::mapping
