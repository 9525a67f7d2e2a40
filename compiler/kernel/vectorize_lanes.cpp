// Writes the vector form of planned loops: a main loop over full registers, and one over the remaining iterations under
// a mask, with the same operations, so that all iterations round alike.
#include "compiler/kernel/lanes.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/figure_options.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

using mlir::Location;
namespace {

/// Writes the loop's body once for `width` iterations from `first` on.
class LaneWriter {
public:
  /// `count`: of iterations from `first` on that take place; null when all of them do.
  LaneWriter(const LanePlan& plan, OpBuilder& builder, unsigned width, Value first, Value count)
      : plan_(plan), builder_(builder), width_(width) {
    scf::ForOp loop = plan.loop;
    scalars_.map(loop.getInductionVar(), first);
    OpBuilder entry(builder.getContext());
    entry.setInsertionPointToStart(&loop->getParentOfType<KernelOp>().getBody().front());
    for (Value variable : plan.varying) {
      Type lanes = vectorOf(cast<MemRefType>(variable.getType()).getElementType());
      variables_[variable] = entry.create<memref::AllocaOp>(variable.getLoc(), MemRefType::get({}, lanes));
    }
    if (count) {
      Location loc = loop.getLoc();
      Value all = builder.create<vector::SplatOp>(loc, count, vectorOf(count.getType()));
      mask_ = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, numbers(loc, count.getType()), all);
    }
  }

  void write(Block& block) {
    for (Operation& op : block.without_terminator())
      write(&op);
  }

private:
  VectorType vectorOf(Type element) const { return VectorType::get({static_cast<int64_t>(width_)}, element); }
  bool isUniform(Value value) const { return plan_.laneOf(value) == Lane::Uniform; }
  bool areUniform(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return isUniform(value); });
  }

  /// 0, 1, 2, … in the lanes.
  Value numbers(Location loc, Type type) {
    unsigned bits = type.isIndex() ? IndexType::kInternalStorageBitWidth : type.getIntOrFloatBitWidth();
    SmallVector<APInt> values;
    for (unsigned lane = 0; lane < width_; ++lane)
      values.emplace_back(bits, lane);
    return builder_.create<arith::ConstantOp>(loc, DenseElementsAttr::get(vectorOf(type), values));
  }

  Value scalar(Value value) const { return scalars_.lookupOrDefault(value); }
  SmallVector<Value> scalars(ValueRange values) const {
    return llvm::map_to_vector(values, [&](Value value) { return scalar(value); });
  }

  /// The value in every lane.
  Value vectorised(Location loc, Value value) {
    if (plan_.laneOf(value) == Lane::Varying)
      return vectors_.lookup(value);
    Value lanes = builder_.create<vector::SplatOp>(loc, scalar(value), vectorOf(value.getType()));
    if (isUniform(value))
      return lanes;
    return builder_.create<arith::AddIOp>(loc, lanes, numbers(loc, value.getType()));
  }

  void write(Operation* op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return write(loop);
    if (auto choice = dyn_cast<scf::IfOp>(op))
      return write(choice);
    if (auto load = dyn_cast<memref::LoadOp>(op); load && !isUniform(load))
      return write(load);
    if (auto store = dyn_cast<memref::StoreOp>(op))
      return write(store);
    if (op->getNumResults() == 1 && plan_.laneOf(op->getResult(0)) == Lane::Varying)
      return writeLaneWise(op);
    builder_.clone(*op, scalars_);
  }

  void write(scf::ForOp loop) {
    auto made = builder_.create<scf::ForOp>(loop.getLoc(), scalar(loop.getLowerBound()), scalar(loop.getUpperBound()),
                                            scalar(loop.getStep()));
    scalars_.map(loop.getInductionVar(), made.getInductionVar());
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.getBody());
    write(*loop.getBody());
  }

  void write(scf::IfOp choice) {
    bool hasElse = !choice.getElseRegion().empty();
    auto made = builder_.create<scf::IfOp>(choice.getLoc(), scalar(choice.getCondition()), hasElse);
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.thenBlock());
    write(*choice.thenBlock());
    if (hasElse) {
      builder_.setInsertionPointToStart(made.elseBlock());
      write(*choice.elseBlock());
    }
  }

  void write(memref::LoadOp load) {
    Location loc = load.getLoc();
    VectorType type = vectorOf(load.getType());
    Value& lanes = vectors_[load];
    if (Value variable = variables_.lookup(load.getMemRef())) {
      lanes = builder_.create<memref::LoadOp>(loc, variable);
    } else if (mask_) {
      Value nothing = builder_.create<arith::ConstantOp>(loc, builder_.getZeroAttr(type));
      lanes = builder_.create<vector::MaskedLoadOp>(loc, type, load.getMemRef(), scalars(load.getIndices()), mask_,
                                                    nothing);
    } else {
      lanes = builder_.create<vector::LoadOp>(loc, type, load.getMemRef(), scalars(load.getIndices()));
    }
  }

  void write(memref::StoreOp store) {
    Location loc = store.getLoc();
    if (Value variable = variables_.lookup(store.getMemRef())) {
      builder_.create<memref::StoreOp>(loc, vectorised(loc, store.getValue()), variable);
    } else if (areUniform(store.getIndices())) {
      builder_.clone(*store, scalars_); // a variable that is the same in all iterations
    } else if (mask_) {
      builder_.create<vector::MaskedStoreOp>(loc, store.getMemRef(), scalars(store.getIndices()), mask_,
                                             vectorised(loc, store.getValue()));
    } else {
      builder_.create<vector::StoreOp>(loc, vectorised(loc, store.getValue()), store.getMemRef(),
                                       scalars(store.getIndices()));
    }
  }

  void writeLaneWise(Operation* op) {
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, vectorised(op->getLoc(), operand));
    Operation* made = builder_.clone(*op, operands);
    made->getResult(0).setType(vectorOf(op->getResult(0).getType()));
    vectors_[op->getResult(0)] = made->getResult(0);
  }

  const LanePlan& plan_;
  OpBuilder& builder_;
  unsigned width_;
  Value mask_;
  IRMapping scalars_;                    // of values that are uniform, and of consecutive ones in the first lane
  llvm::DenseMap<Value, Value> vectors_; // of varying values
  llvm::DenseMap<Value, Value> variables_;
};

void vectorize(const LanePlan& plan) {
  scf::ForOp loop = plan.loop;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  unsigned wide = plan.width * plan.registers;
  auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(loc, value); };
  // The main loop ends at the last multiple of the registers' width; a loop without iterations has no full registers.
  Value count = builder.create<arith::MaxSIOp>(
      loc, builder.create<arith::SubIOp>(loc, loop.getUpperBound(), loop.getLowerBound()), constant(0));
  Value left = builder.create<arith::RemUIOp>(loc, count, constant(wide));
  Value full =
      builder.create<arith::AddIOp>(loc, loop.getLowerBound(), builder.create<arith::SubIOp>(loc, count, left));
  auto main = builder.create<scf::ForOp>(loc, loop.getLowerBound(), full, constant(wide));
  Value end = builder.create<arith::AddIOp>(loc, full, left);
  auto rest = builder.create<scf::ForOp>(loc, full, end, constant(plan.width));
  builder.setInsertionPointToStart(main.getBody());
  LaneWriter(plan, builder, wide, main.getInductionVar(), nullptr).write(*loop.getBody());
  builder.setInsertionPointToStart(rest.getBody());
  Value last = builder.create<arith::SubIOp>(loc, end, rest.getInductionVar());
  LaneWriter(plan, builder, plan.width, rest.getInductionVar(), last).write(*loop.getBody());
  loop.erase();
}

struct VectorizeLanesPass : PassWrapper<VectorizeLanesPass, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VectorizeLanesPass)
  void getDependentDialects(DialectRegistry& registry) const final { registry.insert<vector::VectorDialect>(); }

  VectorizeLanesPass() = default;
  VectorizeLanesPass(const VectorizeLanesPass& other) : PassWrapper(other) {}
  explicit VectorizeLanesPass(const machine::Figures& figures) {
    vector_ = figures.vectorBytes;
    registers_ = figures.vectorRegisters;
    latency_ = figures.vectorLatency;
  }

  LogicalResult initialize(MLIRContext* context) override {
    return success(isPossible(context, machine::vectorRule, vector_) &&
                   isPossible(context, machine::vectorRegistersRule, registers_) &&
                   isPossible(context, machine::vectorLatencyRule, latency_));
  }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    machine::Figures figures;
    figures.vectorBytes = vector_;
    figures.vectorRegisters = registers_;
    figures.vectorLatency = latency_;
    if (!kernel.isStructured() || kernel.isShared())
      return;
    // Innermost first. A loop without others in it is LLVM's, unless its iterations depend on each other: then the next
    // one around it is tried.
    SmallVector<scf::ForOp> loops;
    kernel.walk<WalkOrder::PostOrder>([&](scf::ForOp loop) { loops.push_back(loop); });
    llvm::DenseSet<Operation*> settled; // they, or loops in them, are vectorised here or by LLVM
    std::vector<LanePlan> plans;
    for (scf::ForOp loop : loops) {
      bool holdsLoops = false, isSettled = false;
      loop.getBody()->walk([&](Operation* inner) {
        holdsLoops |= isa<LoopLikeOpInterface>(inner);
        isSettled |= settled.contains(inner);
      });
      auto plan = isSettled ? std::nullopt : planLanes(loop, figures);
      if (!isSettled && !plan)
        continue;
      settled.insert(loop);
      if (plan && holdsLoops)
        plans.push_back(std::move(*plan));
    }
    for (const LanePlan& plan : plans)
      vectorize(plan);
  }

private:
  Option<uint64_t> vector_{*this, options::vector.name, llvm::cl::desc(options::vector.meaning),
                           llvm::cl::init(options::vector.usual)};
  Option<uint64_t> registers_{*this, options::vectorRegisters.name, llvm::cl::desc(options::vectorRegisters.meaning),
                              llvm::cl::init(options::vectorRegisters.usual)};
  Option<uint64_t> latency_{*this, options::vectorLatency.name, llvm::cl::desc(options::vectorLatency.meaning),
                            llvm::cl::init(options::vectorLatency.usual)};
};

} // namespace

std::unique_ptr<Pass> createVectorizeLanesPass() {
  return svm::makePass<VectorizeLanesPass>(svm::passes::VectorizeLanes);
}

std::unique_ptr<Pass> createVectorizeLanesPassFor(const machine::Figures& figures) {
  return svm::makePass<VectorizeLanesPass>(svm::passes::VectorizeLanes, figures);
}

} // namespace strata::kernel
