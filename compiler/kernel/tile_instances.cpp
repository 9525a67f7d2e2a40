// The pass that puts instances in lanes: innermost loops whose iterations are not ordered, in nests of such loops.
#include "compiler/kernel/instance_tiles.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/figure_options.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {

namespace {

bool isUnordered(Operation* op) {
  return isa_and_nonnull<scf::ForOp>(op) && SvmDialect::unorderedAttr.isOn(op);
}

struct TileInstancesPass : PassWrapper<TileInstancesPass, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileInstancesPass)
  void getDependentDialects(DialectRegistry& registry) const final { registry.insert<vector::VectorDialect>(); }

  TileInstancesPass() = default;
  TileInstancesPass(const TileInstancesPass& other) : PassWrapper(other) {}
  explicit TileInstancesPass(const machine::Figures& figures) {
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
    SmallVector<scf::ForOp> unordered, innermost;
    kernel.walk([&](scf::ForOp loop) { // inner ones first
      if (isUnordered(loop))
        unordered.push_back(loop);
    });
    for (scf::ForOp loop : unordered) {
      moveInvariants(loop);
      tightenBounds(loop);
      moveInvariants(loop);
      const bool holdsUnordered =
          loop.getBody()
              ->walk([](Operation* op) { return isUnordered(op) ? WalkResult::interrupt() : WalkResult::advance(); })
              .wasInterrupted();
      if (!holdsUnordered)
        innermost.push_back(loop);
    }
    for (scf::ForOp lanes : innermost) {
      TileProblem problem;
      if (auto plan = planTile(lanes, rowsAround(lanes), figures, problem))
        writeTile(*plan);
      else
        (problem.at ? problem.at : lanes.getOperation())->emitRemark()
            << "instances of '" << kernel.getSymName() << "' run one by one, not in lanes: " << problem.what;
    }
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

std::unique_ptr<Pass> createTileInstancesPass() {
  return svm::makePass<TileInstancesPass>(svm::passes::TileInstances);
}

std::unique_ptr<Pass> createTileInstancesPassFor(const machine::Figures& figures) {
  return svm::makePass<TileInstancesPass>(svm::passes::TileInstances, figures);
}

} // namespace strata::kernel
