// The pass that puts loops in tiles: those that are marked as unordered, the instances of a node, and nests whose
// iterations are proved independent. It is the only one that makes vectors of kernels, for all notations; what it
// leaves is LLVM's.
#include "compiler/kernel/tiles.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/figure_options.h"
#include "compiler/kernel/loop_paths.h"
#include "compiler/kernel/nests.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

namespace {

bool isUnordered(Operation* op) {
  return isa_and_nonnull<scf::ForOp>(op) && SvmDialect::unorderedAttr.isOn(op);
}

/// Whether an operation is in a loop that satisfies a condition, or one in the loop does.
template <typename Condition>
bool anyInside(scf::ForOp loop, Condition condition) {
  return loop.getBody()
      ->walk([&](Operation* op) { return condition(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

class LoopTiler {
public:
  LoopTiler(KernelOp kernel, const machine::Figures& figures) : kernel_(kernel), figures_(figures) {}

  void run() {
    carryVariables(kernel_);
    SmallVector<scf::ForOp> outermost;
    kernel_.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      outermost.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForOp loop : outermost)
      visit(loop);
    setLoopPaths(kernel_, paths_);
  }

private:
  /// A loop and those in it, in the order of the program. `isTold`: it is said why there is no tile; `planned`: why
  /// none could be planned for a loop around it whose iterations are independent, which says more than that those of
  /// this one are not.
  void visit(scf::ForOp loop, bool isTold = true, const TileProblem& planned = {}) {
    const bool holdsInstances = anyInside(loop, isUnordered);
    problem_ = {};
    isPlanned_ = false;
    if (isUnordered(loop) ? tileInstances(loop, holdsInstances) : !holdsInstances && tileNest(loop))
      return;
    SmallVector<scf::ForOp> inner;
    loop.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForOp each) {
      inner.push_back(each);
      return WalkResult::skip();
    });
    const TileProblem problem = isPlanned_ || planned.what.empty() ? problem_ : planned;
    // Of instances it is said where they are, not where their loops are.
    const bool isLast = inner.empty() || (isUnordered(loop) && !holdsInstances);
    if (isLast && isTold) {
      LoopPath& path = paths_.emplace_back();
      path.at = problem.at ? problem.at : LocationAttr(loop.getLoc());
      path.why = problem.what;
    }
    const TileProblem& known = isPlanned_ ? problem : planned;
    for (scf::ForOp each : inner)
      visit(each, isTold && !isLast, known);
  }

  /// Notes a plan, and replaces its loops.
  void write(const TilePlan& plan) {
    scf::ForOp lanes = plan.lanes;
    LoopPath& path = paths_.emplace_back();
    path.at = lanes.getLoc();
    path.rows = plan.rowCount;
    path.registers = plan.columnCount;
    path.lanes = plan.width;
    writeTile(plan);
  }

  // ---- loops that are marked ----

  /// Whether an unordered loop, the innermost of its nest, is in tiles.
  bool tileInstances(scf::ForOp loop, bool holdsInstances) {
    // Bounds are tightened from the inside to the outside, before any loop of a nest is in tiles.
    SmallVector<scf::ForOp> unordered;
    loop->walk([&](scf::ForOp each) { // inner ones first
      if (isUnordered(each) && prepared_.insert(each).second)
        unordered.push_back(each);
    });
    for (scf::ForOp each : unordered)
      prepare(each);
    if (holdsInstances)
      return false;
    isPlanned_ = true;
    const std::optional<TilePlan> plan = planTile(loop, rowsAround(loop), figures_, problem_);
    if (plan)
      write(*plan);
    return plan.has_value();
  }

  static void prepare(scf::ForOp loop) {
    moveInvariants(loop);
    tightenBounds(loop);
    moveInvariants(loop);
  }

  // ---- loops whose iterations are proved independent ----

  /// Whether a nest is in tiles. It is made ready on a copy, so that one that finds no tile stays as it was.
  bool tileNest(scf::ForOp nest) {
    OpBuilder builder(nest);
    const mlir::Location place = nest.getLoc();
    // The copy stands in a block of its own until it is settled.
    auto holder = builder.create<scf::IfOp>(place, builder.create<arith::ConstantIntOp>(place, 1, 1), false);
    builder.setInsertionPointToStart(holder.thenBlock());
    auto copy = cast<scf::ForOp>(builder.clone(*nest));
    std::optional<TilePlan> plan;
    if (const std::optional<Nest> ordered = orderNest(copy, problem_)) {
      for (scf::ForOp loop : ordered->parallel)
        SvmDialect::unorderedAttr.set(loop);
      scf::ForOp lanes = ordered->lanes();
      for (scf::ForOp loop : llvm::reverse(ordered->parallel))
        prepare(loop);
      isPlanned_ = true;
      plan = planTile(lanes, rowsAround(lanes), figures_, problem_);
      for (scf::ForOp loop : ordered->parallel)
        loop->removeAttr(SvmDialect::unorderedAttr);
    }
    if (!plan) {
      Operation* condition = holder.getCondition().getDefiningOp();
      holder.erase();
      condition->erase();
      return false;
    }
    write(*plan);
    Operation* condition = holder.getCondition().getDefiningOp();
    Block* made = holder.thenBlock();
    made->getTerminator()->erase();
    holder->getBlock()->getOperations().splice(holder->getIterator(), made->getOperations());
    holder.erase();
    condition->erase();
    nest.erase();
    return true;
  }

  KernelOp kernel_;
  const machine::Figures& figures_;
  TileProblem problem_;    // of the loop that was tried last
  bool isPlanned_ = false; // its iterations were independent
  llvm::DenseSet<Operation*> prepared_;
  std::vector<LoopPath> paths_;
};

struct TileLoopsPass : PassWrapper<TileLoopsPass, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileLoopsPass)
  void getDependentDialects(DialectRegistry& registry) const final { registry.insert<vector::VectorDialect>(); }

  TileLoopsPass() = default;
  TileLoopsPass(const TileLoopsPass& other) : PassWrapper(other) {}
  explicit TileLoopsPass(const machine::Figures& figures) {
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
    if (!kernel.isStructured() || kernel.isShared())
      return;
    machine::Figures figures;
    figures.vectorBytes = vector_;
    figures.vectorRegisters = registers_;
    figures.vectorLatency = latency_;
    LoopTiler(kernel, figures).run();
  }

private:
  Option<uint64_t> vector_{*this, options::tileVector.name, llvm::cl::desc(options::tileVector.meaning),
                           llvm::cl::init(options::tileVector.usual)};
  Option<uint64_t> registers_{*this, options::tileRegisters.name, llvm::cl::desc(options::tileRegisters.meaning),
                              llvm::cl::init(options::tileRegisters.usual)};
  Option<uint64_t> latency_{*this, options::tileLatency.name, llvm::cl::desc(options::tileLatency.meaning),
                            llvm::cl::init(options::tileLatency.usual)};
};

} // namespace

scf::ForOp rowsAround(scf::ForOp lanes) {
  auto rows = dyn_cast<scf::ForOp>(lanes->getParentOp());
  if (!isUnordered(rows) || rows.getNumResults() || !matchPattern(rows.getStep(), m_One()))
    return {};
  SmallVector<Operation*> between;
  for (Operation& op : rows.getBody()->without_terminator())
    if (&op != lanes)
      between.push_back(&op);
  // What stands between goes into the lanes' loop, where rows are told apart; unless that loop depends on it.
  for (Operation* op : between)
    if (!canExecuteAnywhere(op) || op->getNumRegions() || llvm::is_contained(op->getUsers(), lanes.getOperation()))
      return {};
  for (Value bound : lanes->getOperands())
    if (!rows.isDefinedOutsideOfLoop(bound))
      return {};
  for (Operation* op : llvm::reverse(between))
    op->moveBefore(lanes.getBody(), lanes.getBody()->begin());
  return rows;
}

std::unique_ptr<Pass> createTileLoopsPass() {
  return svm::makePass<TileLoopsPass>(svm::passes::TileLoops);
}

std::unique_ptr<Pass> createTileLoopsPassFor(const machine::Figures& figures) {
  return svm::makePass<TileLoopsPass>(svm::passes::TileLoops, figures);
}

} // namespace strata::kernel
