// Within a tile, intervals of its instances give intervals of coordinates, cut to those of the whole grid.
#include "compiler/mapping/offload.h"

#include "compiler/mapping/tile_planner.h"

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
  const auto end =
      std::find_if(steps.rbegin(), steps.rend(), [&](const OffloadStep& step) { return step.processor == last; });
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

class Offloading : TilePlanner {
public:
  Offloading(OpBuilder& builder, LogicalModule& frame, const InstanceRun& run, const Footprint& footprint,
             ArrayRef<OffloadStep> steps, const Machine& machine, FunctionPlacement& placement)
      : TilePlanner(builder, run, footprint, steps, machine), frame_(frame), placement_(placement) {}

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
  /// A part of an array in a memory: how its box lies there.
  struct Part {
    Value block;              // of one dimension, or none
    SmallVector<Value> begin; // coordinates
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
      instances[dimension] = {begin, math_.min(math_.sub(math_.add(begin, side), index(1)), around[dimension].high)};
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
      const bool isComplete = llvm::all_of(box.accesses, [](const BoxAccess& access) {
        return access.isStore && access.isCertain && access.clips.empty();
      });
      Value outer = view(from[at], part.begin, extents), inner = view(part, part.begin, extents);
      if (!isComplete || !isDense(box)) {
        OpBuilder::InsertionGuard guard(builder_);
        beginOfLast(box, instances);
        make<MoveOp>(Type(), outer, inner, ValueRange());
      }
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
      beginOfLast(footprint_.boxes[at], instances);
      make<MoveOp>(Type(), back[next].first, back[next].second, ValueRange());
      ++next;
    }
  }

  /// What the very last instance alone writes, its tile alone moves: what is built next, where such a box is moved.
  void beginOfLast(const Box& box, const Instances& instances) {
    if (!llvm::is_contained(run_.writtenByLast, box.argument))
      return;
    Value isLast;
    for (auto [range, whole] : llvm::zip(instances, instances_))
      isLast = both(isLast, isAtMost(whole.high, range.high));
    if (isLast)
      builder_.setInsertionPointToStart(make<scf::IfOp>(isLast, false).thenBlock());
  }

  /// Nothing of what is empty, where it begins: its end lies in front of that.
  Reach cutTo(Reach range, const Reach& whole) {
    Value low = math_.max(math_.min(math_.max(range.low, whole.low), whole.high), whole.low);
    return {low, math_.min(range.high, whole.high)};
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

  /// The kernel on parts: of each box, the strides but the last one are arguments, and what is subtracted from an
  /// index.
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
    Value constant =
        math_.sub(index(0), body.getArgument(first + static_cast<unsigned>(access.coordinates.size()) - 1));
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
        for (Operation* around = Value(term.variable).getParentBlock()->getParentOp(); around;
             around = around->getParentOp())
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

  LogicalModule& frame_;
  FunctionPlacement& placement_;
  KernelOp kernel_;
};

} // namespace

scf::IfOp offload(OpBuilder& builder, LogicalModule& frame, const InstanceRun& run, const Footprint& footprint,
                  ArrayRef<OffloadStep> steps, const Machine& machine, FunctionPlacement& placement,
                  FootprintProblem& problem) {
  return Offloading(builder, frame, run, footprint, steps, machine, placement).emit(problem);
}

} // namespace strata::mapping
