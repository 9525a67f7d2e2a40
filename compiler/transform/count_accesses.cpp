// Accesses are told apart as they are made, without a branch, so that loops still vectorise: what an access adds to
// each figure is chosen by a comparison of its instance's owner with the kernel's processor.
#include "compiler/transform/count_accesses.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

class KernelCounter {
public:
  KernelCounter(KernelOp kernel, Value processor) : kernel_(kernel), processor_(processor) {}

  void run() {
    SmallVector<Operation*> accesses;
    kernel_.getBody().walk([&](Operation* op) {
      if (isa<memref::LoadOp, memref::StoreOp, affine::AffineLoadOp, affine::AffineStoreOp>(op))
        accesses.push_back(op);
    });
    for (Operation* op : accesses) {
      OpBuilder builder(op);
      if (auto load = dyn_cast<memref::LoadOp>(op))
        count(builder, load.getMemref(), load.getIndices(), "read ");
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        count(builder, store.getMemref(), store.getIndices(), "write ");
      else if (auto load = dyn_cast<affine::AffineLoadOp>(op))
        affine(builder, load, "read ");
      else if (auto store = dyn_cast<affine::AffineStoreOp>(op))
        affine(builder, store, "write ");
    }
    finish();
  }

private:
  template <typename Access>
  void affine(OpBuilder& builder, Access access, const std::string& what) {
    if (!distributionOf(access.getMemRefType()))
      return;
    auto indices = affine::expandAffineMap(builder, access.getLoc(), access.getAffineMap(),
                                           llvm::to_vector(access.getMapOperands()));
    if (indices)
      count(builder, access.getMemref(), *indices, what);
  }

  void count(OpBuilder& builder, Value block, ValueRange indices, const std::string& what) {
    DistributionAttr distribution = distributionOf(block.getType());
    if (!distribution)
      return;
    Location loc = kernel_.getLoc();
    const std::string memory = distribution.getMemory().getValue().str();
    Value bytes = builder.create<arith::ConstantIntOp>(
        loc, static_cast<int64_t>(RecordType::sizeInBytes(cast<MemRefType>(block.getType()).getElementType())), 64);
    if (distribution.getPerProcessor() == 0)
      return add(builder, what + "global " + memory, bytes);
    AffineMap instance = distribution.getInstance();
    if (instance.getNumResults() == 0)
      return add(builder, what + "local " + memory, bytes);
    // The instance's owner, in one map, so that constants fold.
    AffineMap owner =
        AffineMap::get(instance.getNumDims(), 0, instance.getResult(0).floorDiv(distribution.getPerProcessor()));
    auto expanded = affine::expandAffineMap(builder, loc, owner, indices);
    if (!expanded)
      return;
    Value none = builder.create<arith::ConstantIntOp>(loc, 0, 64);
    Value isLocal = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, expanded->front(), processor_);
    add(builder, what + "local " + memory, builder.create<arith::SelectOp>(loc, isLocal, bytes, none));
    add(builder, what + "remote " + memory, builder.create<arith::SelectOp>(loc, isLocal, none, bytes));
  }

  void add(OpBuilder& builder, const std::string& figure, Value amount) {
    Location loc = kernel_.getLoc();
    Value& sum = sums_[figure];
    if (!sum) {
      OpBuilder begin = OpBuilder::atBlockBegin(&kernel_.getBody().front());
      sum = begin.create<memref::AllocaOp>(loc, MemRefType::get({}, begin.getI64Type()));
      begin.create<memref::StoreOp>(loc, begin.create<arith::ConstantIntOp>(loc, 0, 64), sum);
    }
    Value before = builder.create<memref::LoadOp>(loc, sum);
    builder.create<memref::StoreOp>(loc, builder.create<arith::AddIOp>(loc, before, amount), sum);
  }

  void finish() {
    OpBuilder end(kernel_.getBody().front().getTerminator());
    for (const auto& [figure, sum] : sums_)
      end.create<CountOp>(kernel_.getLoc(), figure, end.create<memref::LoadOp>(kernel_.getLoc(), sum));
  }

  KernelOp kernel_;
  Value processor_;
  std::map<std::string, Value> sums_; // by figure
};

struct CountAccessesPass : PassWrapper<CountAccessesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountAccessesPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (std::optional<unsigned> number = kernel.instanceArgument(); number && kernel.isStructured())
        KernelCounter(kernel, kernel.getBody().getArgument(*number)).run();
  }
};

} // namespace

std::unique_ptr<Pass> createCountAccessesPass() {
  return svm::makePass<CountAccessesPass>(svm::passes::CountAccesses);
}

} // namespace strata::transform
