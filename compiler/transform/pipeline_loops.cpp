// The rewriting. With N stages, iteration i of the new loop
//   starts the transfers in of iteration i+N-1, into the buffers that iteration i-1 used, after that one's transfers
//   out, waits for its own transfers in, started N-1 iterations ago (or before the loop), and where a block is only
//   emptied, for the transfers out of iteration i-N, which used the same buffer, does what it did before, and starts
//   its transfers out.
// Buffers and tokens are carried by the loop and rotate. Behind the last iteration a transfer in is one of no elements:
// its addresses are those of the last iteration, so that nothing is computed for an iteration that there is not.
// Where an iteration starts another processor, tokens stay with the one that executes the loop: it has the blocks moved
// into the other's store and out of it, and starts the other when they are there.
#include "compiler/transform/pipeline_loops.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/transform/beside.h"
#include "compiler/transform/builders.h"
#include "compiler/transform/pipeline_plan.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {

using mlir::Location;
namespace {

/// The document that asks for stages lets the compiler use fewer; more than these hide nothing any more.
constexpr int64_t mostStages = 16;

/// A view of the first elements of a buffer.
Value firstOf(OpBuilder& builder, Location loc, Value buffer, ArrayRef<OpFoldResult> extents) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1));
  return builder.create<memref::SubViewOp>(loc, type, buffer, offsets, SmallVector<OpFoldResult>(extents), strides);
}

/// A value of zeros.
Value zeroOf(OpBuilder& builder, Location loc, Type type) {
  auto record = dyn_cast<RecordType>(type);
  if (!record)
    return builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
  SmallVector<Value> fields;
  for (Type field : record.getFieldTypes())
    fields.push_back(zeroOf(builder, loc, field));
  return builder.create<RecordOp>(loc, record, fields);
}

/// Computes values of an iteration at another place than where they stand: of one to come, in the loop or before it, or
/// of the present one, at its end. What could fail where the iteration does not come to it (a load, a division) is
/// computed only where it does, and is 0 elsewhere.
class OtherIteration {
public:
  OtherIteration(OpBuilder& builder, scf::ForOp loop, Value iteration) : builder_(builder), loop_(loop) {
    map_.map(loop.getInductionVar(), iteration);
  }
  /// At the end of the present iteration: what stands in the loop's own body is known by then.
  OtherIteration(OpBuilder& builder, scf::ForOp loop) : builder_(builder), loop_(loop), known_(loop.getBody()) {}

  void bind(Value block, Value view) { map_.map(block, view); }

  Value value(Value wanted) {
    if (Value known = map_.lookupOrNull(wanted))
      return known;
    Operation* op = wanted.getDefiningOp();
    if (!op || !loop_->isAncestor(op) || op->getBlock() == known_)
      return wanted;
    if (auto dim = dyn_cast<memref::DimOp>(op))
      if (auto block = dim.getSource().getDefiningOp<BlockOp>(); block && loop_->isAncestor(block))
        if (std::optional<int64_t> dimension = dim.getConstantIndex()) {
          Value extent = value(block.getExtents()[*dimension]);
          map_.map(wanted, extent);
          return extent;
        }
    for (Value operand : op->getOperands())
      value(operand);
    copy(op);
    return map_.lookup(wanted);
  }

  /// The condition under which the iteration comes to what stands in these regions; null: always.
  Value condition(ArrayRef<Container> around) {
    Value all;
    for (Container container : around) {
      auto branch = dyn_cast<scf::IfOp>(container.op);
      if (!branch)
        continue;
      Location loc = branch.getLoc();
      Value one = value(branch.getCondition());
      if (container.otherwise)
        one = builder_.create<arith::XOrIOp>(loc, one,
                                             builder_.create<arith::ConstantIntOp>(loc, 1, builder_.getI1Type()));
      all = all ? builder_.create<arith::AndIOp>(loc, all, one).getResult() : one;
    }
    return all;
  }

  void check(Operation* op, ArrayRef<Container> around) {
    Value guard = condition(around);
    op->walk([&](Operation* inner) {
      for (Value operand : inner->getOperands())
        if (!op->isAncestor(operand.getParentRegion()->getParentOp()))
          value(operand);
    });
    OpBuilder::InsertionGuard restore(builder_);
    if (guard)
      builder_.setInsertionPointToStart(
          &builder_.create<scf::IfOp>(op->getLoc(), guard, false).getThenRegion().front());
    builder_.clone(*op, map_);
  }

private:
  /// The regions around an operation of the iteration, from the outside.
  SmallVector<Container> around(Operation* op) {
    SmallVector<Container> found;
    for (; op->getParentOp() != loop_; op = op->getParentOp()) {
      auto branch = dyn_cast<scf::IfOp>(op->getParentOp());
      found.push_back({op->getParentOp(), branch && op->getParentRegion() == &branch.getElseRegion()});
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  /// REQUIRES: the operands have been computed.
  void copy(Operation* op) {
    Value reached = canExecuteAnywhere(op) ? Value() : condition(around(op));
    OpBuilder::InsertionGuard restore(builder_);
    scf::IfOp branch;
    if (reached) {
      branch = builder_.create<scf::IfOp>(op->getLoc(), op->getResultTypes(), reached, true, true);
      builder_.setInsertionPointToStart(branch.thenBlock());
    }
    Operation* made = builder_.clone(*op, map_);
    // What was proved of it holds where it stood.
    if (auto sum = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(made))
      made->setAttr(sum.getIntegerOverflowAttrName(),
                    arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::none));
    if (!reached)
      return;
    builder_.create<scf::YieldOp>(op->getLoc(), made->getResults());
    builder_.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> nothing;
    for (Type type : op->getResultTypes())
      nothing.push_back(zeroOf(builder_, op->getLoc(), type));
    builder_.create<scf::YieldOp>(op->getLoc(), nothing);
    map_.map(op->getResults(), branch.getResults());
  }

  OpBuilder& builder_;
  scf::ForOp loop_;
  Block* known_ = nullptr; // whose operations are there already
  IRMapping map_;
};

class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, PipelinePlan plan, int64_t stages)
      : loop_(loop), plan_(std::move(plan)), stages_(stages), loc_(loop.getLoc()), builder_(loop) {}

  scf::ForOp run() {
    IndexMath math(builder_, loc_);
    Value lower = loop_.getLowerBound(), upper = loop_.getUpperBound(), step = loop_.getStep();
    Value some = builder_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::slt, lower, upper);
    auto guard = builder_.create<scf::IfOp>(loc_, some, /*withElseRegion=*/false);
    builder_.setInsertionPointToStart(&guard.getThenRegion().front());
    auto scope = builder_.create<ScopeOp>(loc_, StringAttr(), UnitAttr());
    builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
    Value span = math.sub(math.sub(upper, lower), math.constant(1));
    Value steps = builder_.createOrFold<arith::DivUIOp>(loc_, span, step);
    last_ = math.add(lower, math.mul(steps, step));

    // Carried: for each ring its buffers, then for each transfer in its tokens, then for each transfer out.
    SmallVector<Value> initial;
    for (Ring& ring : plan_.rings)
      for (int64_t number = 0; number < stages_; ++number)
        initial.push_back(makeBuffer(ring, number));
    SmallVector<SmallVector<Value>> started;
    for (int64_t ahead = 0; ahead + 1 < stages_; ++ahead) {
      Value distance = math.mul(math.constant(ahead), step);
      Value exists = builder_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, distance, math.sub(last_, lower));
      Value iteration = math.min(math.add(lower, distance), last_);
      started.push_back(startIns(iteration, exists, [&](size_t ring) { return buffer(initial, ring, ahead); }, {}));
    }
    for (size_t in = 0; in < countIns(); ++in)
      for (int64_t ahead = 0; ahead + 1 < stages_; ++ahead)
        initial.push_back(started[ahead][in]);
    for (size_t number = 0; number < plan_.rings.size(); ++number) {
      Ring& ring = plan_.rings[number];
      for (size_t out = 0; out < ring.outs.size(); ++out)
        for (int64_t age = 0; age < generations(ring); ++age)
          initial.push_back(nothing(buffer(initial, number, 0)));
    }

    auto made = builder_.create<scf::ForOp>(loc_, lower, upper, step, initial);
    made->setAttrs(loop_->getAttrs());
    made->removeAttr(SvmDialect::parallelAttr); // each carries tokens on to the next
    fill(made);
    SmallVector<Value> left;
    for (Value result : made.getResults())
      if (isa<TokenType>(result.getType()))
        left.push_back(result);
    builder_.setInsertionPointAfter(made);
    builder_.create<WaitOp>(loc_, left);
    loop_.erase();
    return made;
  }

private:
  size_t countIns() {
    size_t count = 0;
    for (Ring& ring : plan_.rings)
      count += ring.ins.size();
    return count;
  }

  /// How many iterations' transfers out are carried: where transfers in refill a buffer they come after the last one's.
  int64_t generations(const Ring& ring) const { return ring.ins.empty() ? stages_ : 1; }

  /// Buffer `position` of a ring, counted from the one that the present iteration uses.
  Value buffer(ValueRange carried, size_t ring, int64_t position) { return carried[ring * stages_ + position]; }

  Value makeBuffer(Ring& ring, int64_t number) {
    SmallVector<Value> extents;
    for (int64_t bound : ring.bounds)
      extents.push_back(builder_.create<arith::ConstantIndexOp>(loc_, bound));
    auto made = cast<BlockOp>(builder_.clone(*ring.block));
    made.getExtentsMutable().assign(extents);
    made.setMaxAttr(builder_.getDenseI64ArrayAttr(ring.bounds));
    made->setAttr(SvmDialect::buffersAttr, builder_.getI64IntegerAttr(stages_));
    made->setAttr(SvmDialect::bufferAttr, builder_.getI64IntegerAttr(number));
    return made.getBlock();
  }

  /// The token of a transfer that has ended: one of no elements.
  Value nothing(Value buffer) {
    Value zero = builder_.create<arith::ConstantIndexOp>(loc_, 0);
    SmallVector<OpFoldResult> extents(cast<MemRefType>(buffer.getType()).getRank(), zero);
    Value none = firstOf(builder_, loc_, buffer, extents);
    return builder_.create<MoveOp>(loc_, TokenType::get(builder_.getContext()), none, none, ValueRange()).getToken();
  }

  /// The part of a buffer that an iteration's block is.
  Value viewOf(Ring& ring, Value buffer, OtherIteration& there) {
    SmallVector<OpFoldResult> extents;
    for (Value extent : ring.block.getExtents())
      extents.push_back(there.value(extent));
    return firstOf(builder_, loc_, buffer, extents);
  }

  /// Blocks are checked against their bounds where they are made. `condition`: whether the iteration makes this one;
  /// null: it does.
  void checkExtents(Ring& ring, ValueRange values, Value condition) {
    for (auto [dimension, value] : llvm::enumerate(values)) {
      Value bound = builder_.create<arith::ConstantIndexOp>(loc_, ring.bounds[dimension]);
      Value fits = builder_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::ule, value, bound);
      if (condition) {
        Value never = builder_.create<arith::XOrIOp>(
            loc_, condition, builder_.create<arith::ConstantIntOp>(loc_, 1, builder_.getI1Type()));
        fits = builder_.create<arith::OrIOp>(loc_, fits, never);
      }
      std::string message = "a block of " + ring.block.getLabel().value_or("this program").str() +
                            " has {0} elements in dimension " + std::to_string(dimension) + ", and space for {1}";
      builder_.create<CheckOp>(ring.block.getLoc(), fits, "block-exceeds-bound", message, StringAttr(),
                               ValueRange{value, bound});
    }
  }

  /// A view of all of a block's view, or of nothing.
  Value orNothing(Value view, Value exists) {
    if (!exists)
      return view;
    SmallVector<Value> all = extentsOf(builder_, loc_, view);
    Value none = builder_.create<arith::ConstantIndexOp>(loc_, 0);
    all.front() = builder_.create<arith::SelectOp>(loc_, exists, all.front(), none);
    SmallVector<OpFoldResult> extents(all.begin(), all.end()), offsets(all.size(), builder_.getIndexAttr(0)),
        strides(all.size(), builder_.getIndexAttr(1));
    return builder_.create<memref::SubViewOp>(loc_, view, offsets, extents, strides);
  }

  Value both(Value a, Value b) {
    if (!a || !b)
      return a ? a : b;
    return builder_.create<arith::AndIOp>(loc_, a, b);
  }

  /// Starts all transfers in of one iteration, each after the tokens that its ring has in `after`.
  SmallVector<Value> startIns(Value iteration, Value exists, llvm::function_ref<Value(size_t)> bufferOf,
                              ArrayRef<SmallVector<Value>> after) {
    OtherIteration there(builder_, loop_, iteration);
    for (auto& [check, around] : plan_.checks)
      there.check(check, around);
    SmallVector<Value> tokens;
    for (size_t number = 0; number < plan_.rings.size(); ++number) {
      Ring& ring = plan_.rings[number];
      if (ring.ins.empty())
        continue;
      Value reached = there.condition(ring.around);
      SmallVector<Value> extents;
      for (Value extent : ring.block.getExtents())
        extents.push_back(there.value(extent));
      checkExtents(ring, extents, reached);
      there.bind(ring.block.getBlock(), viewOf(ring, bufferOf(number), there));
      Value made = both(exists, reached);
      for (MoveOp in : ring.ins) {
        Value from = orNothing(there.value(in.getSource()), made),
              to = orNothing(there.value(in.getDestination()), made);
        tokens.push_back(startMove(ring, in, from, to, after.empty() ? ValueRange() : ValueRange(after[number])));
      }
    }
    return tokens;
  }

  Value startMove(Ring& ring, MoveOp like, Value from, Value to, ValueRange after) {
    auto made = builder_.create<MoveOp>(like.getLoc(), TokenType::get(builder_.getContext()), from, to, after);
    if (ring.block.getLabelAttr())
      made->setAttr(SvmDialect::labelAttr, ring.block.getLabelAttr());
    return made.getToken();
  }

  void fill(scf::ForOp made) {
    ValueRange carried = made.getRegionIterArgs();
    size_t tokensAt = plan_.rings.size() * stages_, outsAt = tokensAt + countIns() * (stages_ - 1);
    builder_.setInsertionPointToStart(made.getBody());
    IndexMath math(builder_, loc_);
    // Tokens of each ring's transfers out, oldest first.
    SmallVector<SmallVector<Value>> oldest(plan_.rings.size());
    size_t at = outsAt;
    for (size_t number = 0; number < plan_.rings.size(); ++number)
      for (size_t out = 0; out < plan_.rings[number].outs.size(); ++out, at += generations(plan_.rings[number]))
        oldest[number].push_back(carried[at]);

    Value now = made.getInductionVar();
    SmallVector<Value> started;
    if (countIns()) {
      Value distance = math.mul(math.constant(stages_ - 1), loop_.getStep());
      Value exists = builder_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sle, distance, math.sub(last_, now));
      Value ahead = math.min(math.add(now, distance), last_);
      started = startIns(ahead, exists, [&](size_t ring) { return buffer(carried, ring, stages_ - 1); }, oldest);
    }
    for (size_t number = 0, in = 0; number < plan_.rings.size(); ++number) {
      Ring& ring = plan_.rings[number];
      SmallVector<Value> needed;
      for (size_t each = 0; each < ring.ins.size(); ++each, ++in)
        needed.push_back(carried[tokensAt + in * (stages_ - 1)]);
      if (ring.ins.empty())
        llvm::append_range(needed, oldest[number]);
      auto wait = builder_.create<WaitOp>(ring.block.getLoc(), needed);
      if (ring.block.getLabelAttr())
        wait->setAttr(SvmDialect::labelAttr, ring.block.getLabelAttr());
    }

    // The iteration as it was. Transfers out are made at its end, where tokens can be carried on.
    Block& body = *made.getBody();
    for (Operation& op : llvm::make_early_inc_range(loop_.getBody()->without_terminator()))
      op.moveBefore(&body, body.end());
    loop_.getInductionVar().replaceAllUsesWith(now);
    builder_.setInsertionPointToEnd(&body);
    OtherIteration here(builder_, made);
    SmallVector<Value> sent;
    for (size_t number = 0; number < plan_.rings.size(); ++number) {
      Ring& ring = plan_.rings[number];
      if (ring.outs.empty())
        continue;
      Value reached = here.condition(ring.around);
      here.bind(ring.block.getBlock(), viewOf(ring, buffer(carried, number, 0), here));
      for (MoveOp out : ring.outs) {
        Value from = orNothing(here.value(out.getSource()), reached);
        Value to = orNothing(here.value(out.getDestination()), reached);
        sent.push_back(startMove(ring, out, from, to, {}));
      }
    }
    for (size_t number = 0; number < plan_.rings.size(); ++number)
      useBuffer(plan_.rings[number], buffer(carried, number, 0));
    for (auto& entry : plan_.checks)
      entry.first->erase();

    builder_.setInsertionPointToEnd(&body);
    SmallVector<Value> next;
    for (size_t number = 0; number < plan_.rings.size(); ++number)
      for (int64_t position = 0; position < stages_; ++position)
        next.push_back(buffer(carried, number, (position + 1) % stages_));
    for (size_t in = 0; in < countIns(); ++in) {
      for (int64_t ahead = 1; ahead + 1 < stages_; ++ahead)
        next.push_back(carried[tokensAt + in * (stages_ - 1) + ahead]);
      next.push_back(started[in]);
    }
    at = outsAt;
    for (size_t number = 0, out = 0; number < plan_.rings.size(); ++number)
      for (size_t each = 0; each < plan_.rings[number].outs.size(); ++each, ++out) {
        int64_t count = generations(plan_.rings[number]);
        for (int64_t age = 1; age < count; ++age)
          next.push_back(carried[at + age]);
        next.push_back(sent[out]);
        at += count;
      }
    builder_.create<scf::YieldOp>(loc_, next);
  }

  /// Puts the present iteration's buffer in the place of the block.
  void useBuffer(Ring& ring, Value buffer) {
    OpBuilder::InsertionGuard restore(builder_);
    builder_.setInsertionPoint(ring.block);
    if (ring.ins.empty())
      checkExtents(ring, ring.block.getExtents(), {});
    SmallVector<OpFoldResult> extents;
    for (Value extent : ring.block.getExtents())
      extents.push_back(extent);
    ring.block.getBlock().replaceAllUsesWith(firstOf(builder_, ring.block.getLoc(), buffer, extents));
    for (MoveOp move : ring.ins)
      move.erase();
    for (MoveOp move : ring.outs)
      move.erase();
    ring.block.erase();
  }

  scf::ForOp loop_;
  PipelinePlan plan_;
  int64_t stages_;
  Location loc_;
  OpBuilder builder_;
  Value last_;
};

struct PipelineLoopsPass : PassWrapper<PipelineLoopsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PipelineLoopsPass)
  explicit PipelineLoopsPass(const Machine* machine) : machine_(machine) {}

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk<WalkOrder::PostOrder>([&](scf::ForOp loop) {
      if (SvmDialect::stagesAttr.isOn(loop))
        loops.push_back(loop);
    });
    const Beside beside(getOperation()); // before this pass makes tokens of its own
    SmallVector<bool> inOrder;
    for (scf::ForOp loop : loops)
      inOrder.push_back(beside.hasCompany(loop) && beside.isOrdering(loop));
    for (auto [loop, isInOrder] : llvm::zip(loops, inOrder))
      pipeline(loop, isInOrder);
  }

private:
  void pipeline(scf::ForOp loop, bool isInOrder) {
    auto wanted = SvmDialect::stagesAttr.of(loop);
    int64_t stages = wanted ? wanted.getInt() : 1;
    loop->removeAttr(SvmDialect::stagesAttr);
    if (stages <= 1)
      return;
    auto name = SvmDialect::labelAttr.of(loop);
    std::string called = name ? "loop '" + name.getValue().str() + "'" : "this loop";
    if (!SvmDialect::parallelAttr.isOn(loop) || loop.getNumResults()) {
      loop.emitRemark() << called << " is not pipelined: its iterations follow each other";
      return;
    }
    if (isInOrder) {
      loop.emitRemark() << called
                        << " is not pipelined: its iterations wait for others that run beside it, or others for them";
      return;
    }
    PipelinePlan plan = planPipeline(loop, machine_);
    if (plan.rings.empty()) {
      loop.emitRemark() << called << " is not pipelined: " << plan.reason;
      return;
    }
    std::string list, stays = plan.reason;
    for (const Ring& ring : plan.rings)
      list += (list.empty() ? "" : ", ") + ring.name();
    if (stages > mostStages) {
      loop.emitRemark() << called << " has " << mostStages << " stages rather than " << stages
                        << ", which would hide no more";
      stages = mostStages;
    }
    Location loc = loop.getLoc();
    Pipeliner(loop, std::move(plan), stages).run();
    emitRemark(loc) << called << " is pipelined: " << stages << " buffers of " << list
                    << (stays.empty() ? "" : "; not of all: " + stays);
  }

  const Machine* machine_;
};

} // namespace

std::unique_ptr<Pass> createPipelineLoopsPass() {
  return svm::makePass<PipelineLoopsPass>(svm::passes::PipelineLoops, nullptr);
}

std::unique_ptr<Pass> createPipelineLoopsPassFor(const Machine& machine) {
  return svm::makePass<PipelineLoopsPass>(svm::passes::PipelineLoops, &machine);
}

} // namespace strata::transform
