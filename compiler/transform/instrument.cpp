// Instrumentation: counts stand beside what they count, so that they are right whatever later passes do to loops.
#include "compiler/transform/instrument.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"
#include "compiler/ir/transfer.h"
#include "compiler/transform/builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {

using mlir::Location;
namespace {

/// The class of processors that executes the code around an operation.
FlatSymbolRefAttr starterOf(Operation* op) {
  for (Operation* up = op->getParentOp(); up; up = up->getParentOp()) {
    if (FlatSymbolRefAttr here = executorOf(up))
      return here;
  }
  return {};
}

struct InstrumentPass : PassWrapper<InstrumentPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InstrumentPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    getOperation().walk([](Operation* op) {
      if (std::optional<Transfer> transfer = transferOf(op))
        countMove(*transfer);
      else if (auto run = dyn_cast<RunOp>(op))
        countOne(run, "runs " + run.getKernel().str());
      else if (isa<InstancesOp, OnOp>(op))
        countStarts(op);
      else if (isa<BlockOp>(op) && SvmDialect::gridAttr.isOn(op))
        SvmDialect::countedAttr.set(op); // which bytes stay in an instance is seen at run time
    });
  }

  static void countOne(Operation* op, const std::string& counter) {
    OpBuilder builder(op);
    Value one = builder.create<arith::ConstantIndexOp>(op->getLoc(), 1);
    builder.create<CountOp>(op->getLoc(), counter, one);
  }

  /// Parts that one class of processors starts on another: transfers of control.
  static void countStarts(Operation* op) {
    FlatSymbolRefAttr starter = starterOf(op), started = executorOf(op);
    if (!starter || starter == started)
      return;
    OpBuilder builder(op);
    IndexMath math(builder, op->getLoc());
    auto instances = dyn_cast<InstancesOp>(op);
    Value parts =
        instances ? math.max(math.sub(instances.getUpper(), instances.getLower()), math.constant(0)) : math.constant(1);
    builder.create<CountOp>(op->getLoc(), ("starts " + starter.getValue() + " -> " + started.getValue()).str(), parts);
  }

  static void countMove(const Transfer& move) {
    OpBuilder builder(move.op);
    const Location loc = move.op->getLoc();
    IndexMath math(builder, loc);
    auto name = [](Value block) {
      StringRef memory = memoryOf(block.getType());
      return memory.empty() ? std::string("registers") : memory.str();
    };
    Value bytes = math.constant(static_cast<int64_t>(RecordType::sizeInBytes(move.source.getType().getElementType())));
    for (Value extent : extentsOf(builder, loc, move.whole()))
      bytes = math.mul(bytes, extent);
    builder.create<CountOp>(loc, "bytes " + name(move.source) + " -> " + name(move.destination), bytes);
    countOne(move.op, "moves");
  }
};

/// Names what a trace shows: runs, and the waits for moves and for other processors, as spans; moves by their block,
/// since they are shown on rows of their own.
struct TracePass : PassWrapper<TracePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TracePass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SmallVector<Operation*> operations;
    getOperation().walk([&](Operation* op) {
      if (isa<MoveOp, GatherOp, ScatterOp, RunOp, WaitOp, InstancesOp, OnOp>(op))
        operations.push_back(op);
    });
    for (Operation* op : operations) {
      if (std::optional<Transfer> transfer = transferOf(op))
        name(*transfer);
      else if (auto wait = dyn_cast<WaitOp>(op))
        wrap(wait, "wait for " + labelOf(wait, "what goes on beside"), true);
      else if (isa<InstancesOp, OnOp>(op) && startsOthers(op))
        wrap(op, "wait for " + executorOf(op).getValue().str(), true);
      else if (isa<RunOp>(op) && !op->getNumResults()) // what goes on beside its starter ends elsewhere
        wrap(op, cast<RunOp>(op).getKernel().str(), false);
    }
  }

  static std::string labelOf(Operation* op, const char* otherwise) {
    auto label = SvmDialect::labelAttr.of(op);
    return label ? label.getValue().str() : otherwise;
  }

  static void name(const Transfer& move) {
    std::string block = labelOf(move.op, "a block");
    if (!SvmDialect::labelAttr.isOn(move.op))
      for (Value side : {Value(move.source), Value(move.destination)})
        if (auto made = rootOf(side).getDefiningOp<BlockOp>(); made && made.getLabel())
          block = made.getLabel()->str();
    SvmDialect::tracedAttr.set(move.op, StringAttr::get(move.op->getContext(), block));
  }

  static bool startsOthers(Operation* op) {
    FlatSymbolRefAttr starter = starterOf(op);
    return starter && starter != executorOf(op);
  }

  static void wrap(Operation* op, const std::string& name, bool waits) {
    OpBuilder builder(op);
    auto span = builder.create<SpanOp>(op->getLoc(), name, /*instances=*/Value());
    if (waits)
      SvmDialect::waitsAttr.set(span);
    Block& body = span.getBody().emplaceBlock();
    op->moveBefore(&body, body.end());
  }
};

struct EraseCountsPass : PassWrapper<EraseCountsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EraseCountsPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    getOperation().walk([](CountOp count) { count.erase(); });
  }
};

} // namespace

std::unique_ptr<Pass> createInstrumentPass() {
  return svm::makePass<InstrumentPass>(svm::passes::Instrument);
}
std::unique_ptr<Pass> createTracePass() {
  return svm::makePass<TracePass>(svm::passes::Trace);
}
std::unique_ptr<Pass> createEraseCountsPass() {
  return svm::makePass<EraseCountsPass>(svm::passes::EraseCounts);
}

} // namespace strata::transform
