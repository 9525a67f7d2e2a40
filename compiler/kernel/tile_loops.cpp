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
#include "compiler/kernel/verify_order.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

#include <functional>

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
  LoopTiler(KernelOp kernel, const machine::Figures& figures, bool verifies)
      : kernel_(kernel), figures_(figures), verifies_(verifies) {}

  /// False where loops were taken for independent that are not (reported).
  bool run() {
    expandMaps();
    splitRecords(kernel_);
    carryVariables(kernel_);
    kernel_.walk<WalkOrder::PostOrder>([](scf::ForOp loop) {
      moveSteadyLoads(loop);
      moveInvariants(loop);
      unswitch(loop);
    });
    SmallVector<scf::ForOp> outermost;
    kernel_.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      outermost.push_back(loop);
      return WalkResult::skip();
    });
    setLoopPaths(kernel_, visitAll(outermost, false, {}).paths);
    return !isWrong_;
  }

private:
  /// Affine maps become arithmetic, which is what is planned and written.
  void expandMaps() {
    SmallVector<affine::AffineApplyOp> maps;
    kernel_.walk([&](affine::AffineApplyOp op) { maps.push_back(op); });
    for (affine::AffineApplyOp op : maps) {
      OpBuilder builder(op);
      if (auto values = affine::expandAffineMap(builder, op.getLoc(), op.getMap(), op.getMapOperands())) {
        op.replaceAllUsesWith(values->front());
        op.erase();
      }
    }
  }

  /// What became of some loops and those in them, in the order of the program.
  struct Outcome {
    std::vector<LoopPath> paths;
    bool isTiled = false; // one of them is
  };

  /// Loops that stand side by side. Elements that lie apart are reached by nests of which no loop reaches them side by
  /// side: such a nest is tried once more when another beside it, or all that is around it, has been looked at.
  Outcome visitAll(ArrayRef<scf::ForOp> loops, bool isScattered, const TileProblem& around) {
    const bool isOutermost = !loops.empty() && !loops.front()->getParentOfType<scf::ForOp>();
    std::vector<Outcome> each;
    for (scf::ForOp loop : loops)
      each.push_back(visit(loop, isScattered, around));
    Outcome all;
    all.isTiled = llvm::any_of(each, std::mem_fn(&Outcome::isTiled));
    for (auto [loop, outcome] : llvm::zip(loops, each)) {
      if (!outcome.isTiled && !isScattered && (isOutermost || all.isTiled))
        outcome = visit(loop, true, around);
      all.isTiled |= outcome.isTiled;
      llvm::append_range(all.paths, outcome.paths);
    }
    return all;
  }

  /// A loop and those in it; `around`: why the loops around it have no tile.
  Outcome visit(scf::ForOp loop, bool isScattered, const TileProblem& around) {
    const bool holdsInstances = anyInside(loop, isUnordered);
    TileProblem problem;
    std::optional<LoopPath> path;
    if (isUnordered(loop))
      path = tileInstances(loop, holdsInstances, problem);
    else if (!holdsInstances)
      path = tileNest(loop, isScattered, problem);
    if (path)
      return {{*path}, true};
    SmallVector<scf::ForOp> inner;
    loop.getBody()->walk<WalkOrder::PreOrder>([&](scf::ForOp each) {
      inner.push_back(each);
      return WalkResult::skip();
    });
    if (problem.progress < around.progress)
      problem = around;
    Outcome outcome = visitAll(inner, isScattered, problem);
    // Of instances it is said why they run one by one, and not what became of their loops, unless these are in tiles.
    const bool isInstance = isUnordered(loop) && !holdsInstances;
    if (isInstance)
      llvm::erase_if(outcome.paths, [](const LoopPath& each) { return !each.isTile(); });
    if (inner.empty() || isInstance) {
      LoopPath left;
      left.at = problem.at ? problem.at : LocationAttr(loop.getLoc());
      left.why = problem.what;
      left.help = problem.help;
      outcome.paths.insert(outcome.paths.begin(), left);
    }
    return outcome;
  }

  /// Replaces a plan's loops.
  static LoopPath write(const TilePlan& plan) {
    scf::ForOp lanes = plan.lanes;
    LoopPath path;
    path.at = lanes.getLoc();
    path.rows = plan.rowCount;
    path.registers = plan.columnCount;
    path.lanes = plan.width;
    writeTile(plan);
    return path;
  }

  // ---- loops that are marked ----

  /// Puts an unordered loop in tiles if it is the innermost of its nest.
  std::optional<LoopPath> tileInstances(scf::ForOp loop, bool holdsInstances, TileProblem& problem) {
    // Bounds are tightened from the inside to the outside, before any loop of a nest is in tiles.
    SmallVector<scf::ForOp> unordered;
    loop->walk([&](scf::ForOp each) { // inner ones first
      if (isUnordered(each) && prepared_.insert(each).second)
        unordered.push_back(each);
    });
    for (scf::ForOp each : unordered)
      prepare(each);
    if (holdsInstances)
      return std::nullopt;
    const std::optional<TilePlan> plan = planTile(loop, rowsAround(loop), figures_, problem);
    return plan ? std::optional(write(*plan)) : std::nullopt;
  }

  static void prepare(scf::ForOp loop) {
    moveInvariants(loop);
    tightenBounds(loop);
    moveInvariants(loop);
  }

  // ---- loops whose iterations are proved independent ----

  /// Puts a nest in tiles. It is made ready on a copy, so that one that finds no tile stays as it was. Where indices
  /// are checked, the copy is for when none is out of range, and the nest stays for when one may be.
  std::optional<LoopPath> tileNest(scf::ForOp nest, bool isScattered, TileProblem& problem) {
    OpBuilder builder(nest);
    const mlir::Location place = nest.getLoc();
    // The copy, and what it is entered by, stand in a block of their own until it is settled.
    auto holder = builder.create<scf::ExecuteRegionOp>(place, TypeRange());
    Block* made = builder.createBlock(&holder.getRegion());
    auto copy = cast<scf::ForOp>(builder.clone(*nest));
    scf::IfOp choice, holds = checkInFront(copy);
    if (holds) {
      builder.setInsertionPoint(copy);
      choice = builder.create<scf::IfOp>(place, holds.getResult(0), true);
      copy->moveBefore(choice.thenYield());
    }
    std::optional<TilePlan> plan;
    if (const std::optional<Nest> ordered = orderNest(copy, isScattered, problem)) {
      if (verifies_)
        verify(*ordered);
      for (scf::ForOp loop : ordered->parallel)
        SvmDialect::unorderedAttr.set(loop);
      scf::ForOp lanes = ordered->lanes();
      for (scf::ForOp loop : llvm::reverse(ordered->parallel))
        prepare(loop);
      plan = planTile(lanes, rowsAround(lanes), figures_, problem);
      for (scf::ForOp loop : ordered->parallel)
        loop->removeAttr(SvmDialect::unorderedAttr);
    }
    if (!plan) {
      holder.erase();
      return std::nullopt;
    }
    if (holds)
      holds.getConditionMutable().assign(isLong(plan->lanes, holds));
    LoopPath path = write(*plan);
    holder->getBlock()->getOperations().splice(holder->getIterator(), made->getOperations());
    holder.erase();
    if (choice)
      nest->moveBefore(choice.elseYield());
    else
      nest.erase();
    return path;
  }

  void verify(const Nest& nest) {
    for (scf::ForOp loop : nest.parallel)
      if (const std::optional<Conflict> conflict = findConflict(nest.parallel.front(), loop)) {
        isWrong_ = true;
        emitError(mlir::Location(conflict->first))
            << "a loop was taken for independent that is not: " << conflict->what;
      }
  }

  /// Whether the lanes of a nest are enough for checks in front of it to pay; true where that is not known there.
  static Value isLong(scf::ForOp lanes, Operation* before) {
    OpBuilder builder(before);
    const mlir::Location place = lanes.getLoc();
    DominanceInfo dominance;
    if (!dominance.properlyDominates(lanes.getLowerBound(), before) ||
        !dominance.properlyDominates(lanes.getUpperBound(), before))
      return builder.create<arith::ConstantIntOp>(place, 1, 1);
    const auto compare = [&](arith::CmpIPredicate how, Value a, Value b) -> Value {
      return builder.create<arith::CmpIOp>(place, how, a, b);
    };
    Value trips = builder.create<arith::SubIOp>(place, lanes.getUpperBound(), lanes.getLowerBound());
    Value few = builder.create<arith::ConstantIndexOp>(place, fewTrips);
    return builder.create<arith::AndIOp>(
        place, compare(arith::CmpIPredicate::slt, lanes.getLowerBound(), lanes.getUpperBound()),
        compare(arith::CmpIPredicate::uge, trips, few));
  }

  KernelOp kernel_;
  const machine::Figures& figures_;
  const bool verifies_;
  bool isWrong_ = false;
  llvm::DenseSet<Operation*> prepared_;
};

struct TileLoopsPass : PassWrapper<TileLoopsPass, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileLoopsPass)
  void getDependentDialects(DialectRegistry& registry) const final { registry.insert<vector::VectorDialect>(); }

  TileLoopsPass() = default;
  TileLoopsPass(const TileLoopsPass& other) : PassWrapper(other) {}
  TileLoopsPass(const machine::Figures& figures, bool verifies) {
    vector_ = figures.vectorBytes;
    registers_ = figures.vectorRegisters;
    latency_ = figures.vectorLatency;
    operations_ = figures.operationsPerCycle;
    memoryLatency_ = figures.memoryLatency;
    cache_ = figures.cacheBytes;
    verifies_ = verifies;
  }

  LogicalResult initialize(MLIRContext* context) override {
    return success(isPossible(context, machine::vectorRule, vector_) &&
                   isPossible(context, machine::vectorRegistersRule, registers_) &&
                   isPossible(context, machine::vectorLatencyRule, latency_) &&
                   isPossible(context, machine::operationsRule, operations_) &&
                   isPossible(context, machine::memoryLatencyRule, memoryLatency_) &&
                   isPossible(context, machine::cacheRule, cache_));
  }

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isStructured() || kernel.isShared())
      return;
    machine::Figures figures;
    figures.vectorBytes = vector_;
    figures.vectorRegisters = registers_;
    figures.vectorLatency = latency_;
    figures.operationsPerCycle = operations_;
    figures.memoryLatency = memoryLatency_;
    figures.cacheBytes = cache_;
    if (!LoopTiler(kernel, figures, verifies_).run())
      signalPassFailure();
  }

private:
  Option<uint64_t> vector_{*this, options::tileVector.name, llvm::cl::desc(options::tileVector.meaning),
                           llvm::cl::init(options::tileVector.usual)};
  Option<uint64_t> registers_{*this, options::tileRegisters.name, llvm::cl::desc(options::tileRegisters.meaning),
                              llvm::cl::init(options::tileRegisters.usual)};
  Option<uint64_t> latency_{*this, options::tileLatency.name, llvm::cl::desc(options::tileLatency.meaning),
                            llvm::cl::init(options::tileLatency.usual)};
  Option<uint64_t> operations_{*this, options::tileOperations.name, llvm::cl::desc(options::tileOperations.meaning),
                               llvm::cl::init(options::tileOperations.usual)};
  Option<uint64_t> memoryLatency_{*this, options::tileMemoryLatency.name,
                                  llvm::cl::desc(options::tileMemoryLatency.meaning),
                                  llvm::cl::init(options::tileMemoryLatency.usual)};
  Option<uint64_t> cache_{*this, options::tileCache.name, llvm::cl::desc(options::tileCache.meaning),
                          llvm::cl::init(options::tileCache.usual)};
  Option<bool> verifies_{*this, "verify", llvm::cl::desc("decide a second time which loops are independent"),
                         llvm::cl::init(false)};
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

std::unique_ptr<Pass> createTileLoopsPassFor(const machine::Figures& figures, bool verifies) {
  return svm::makePass<TileLoopsPass>(svm::passes::TileLoops, figures, verifies);
}

} // namespace strata::kernel
