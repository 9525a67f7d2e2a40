// Instrumentation: counts stand beside what they count, so that they are right whatever later passes do to loops.
#include "compiler/transform/instrument.h"

#include "compiler/ir/svm.h"
#include "compiler/transform/builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

struct InstrumentPass : PassWrapper<InstrumentPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InstrumentPass)
  StringRef getArgument() const final { return "svm-instrument"; }
  StringRef getDescription() const final { return "count moves, bytes and runs"; }

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    getOperation().walk([](Operation* op) {
      if (auto move = dyn_cast<MoveOp>(op))
        countMove(move);
      else if (auto run = dyn_cast<RunOp>(op))
        countOne(run, "runs " + run.getKernel().str());
    });
  }

  static void countOne(Operation* op, const std::string& counter) {
    OpBuilder builder(op);
    Value one = builder.create<arith::ConstantIndexOp>(op->getLoc(), 1);
    builder.create<CountOp>(op->getLoc(), counter, one);
  }

  static void countMove(MoveOp move) {
    OpBuilder builder(move);
    IndexMath math(builder, move.getLoc());
    auto name = [](Value block) {
      StringRef memory = memoryOf(block.getType());
      return memory.empty() ? std::string("registers") : memory.str();
    };
    Value bytes =
        math.constant(static_cast<int64_t>(RecordType::sizeInBytes(move.getSource().getType().getElementType())));
    for (Value extent : extentsOf(builder, move.getLoc(), move.getSource()))
      bytes = math.mul(bytes, extent);
    builder.create<CountOp>(move.getLoc(), "bytes " + name(move.getSource()) + " -> " + name(move.getDestination()),
                            bytes);
    countOne(move, "moves");
  }
};

struct TracePass : PassWrapper<TracePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TracePass)
  StringRef getArgument() const final { return "svm-trace"; }
  StringRef getDescription() const final { return "put moves and runs into spans of a trace"; }

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SmallVector<Operation*> operations;
    getOperation().walk([&](Operation* op) {
      // What goes on beside its starter ends elsewhere, and has no span here.
      if (isa<MoveOp, RunOp>(op) && !op->getNumResults())
        operations.push_back(op);
    });
    for (Operation* op : operations) {
      std::string name = "move";
      if (auto run = dyn_cast<RunOp>(op))
        name = run.getKernel().str();
      else if (auto move = dyn_cast<MoveOp>(op))
        name =
            ("move " + memoryOf(move.getSource().getType()) + " -> " + memoryOf(move.getDestination().getType())).str();
      OpBuilder builder(op);
      auto span = builder.create<SpanOp>(op->getLoc(), name);
      Block& body = span.getBody().emplaceBlock();
      op->moveBefore(&body, body.end());
    }
  }
};

struct EraseCountsPass : PassWrapper<EraseCountsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EraseCountsPass)
  StringRef getArgument() const final { return "svm-erase-counts"; }
  StringRef getDescription() const final { return "leave a program that counts nothing"; }

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    getOperation().walk([](CountOp count) { count.erase(); });
  }
};

} // namespace

std::unique_ptr<Pass> createInstrumentPass() {
  return std::make_unique<InstrumentPass>();
}
std::unique_ptr<Pass> createTracePass() {
  return std::make_unique<TracePass>();
}
std::unique_ptr<Pass> createEraseCountsPass() {
  return std::make_unique<EraseCountsPass>();
}

} // namespace strata::transform
