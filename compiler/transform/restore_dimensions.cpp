// An index is a sum. Its terms that are products with the distance of rows name the row, the others the column.
#include "compiler/transform/restore_dimensions.h"

#include "compiler/ir/passes.h"
#include "compiler/transform/range_analysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace strata::transform {
namespace {

/// All elements of a block of rows as one dimension.
struct FlatView {
  memref::ReinterpretCastOp cast;
  Value block, distance; // of rows
  Value rows, columns;   // how many there are
};

/// An access with the row and column that it has.
struct FlatAccess {
  Operation* op;
  FlatView* view;
  Value row, column;
};

class DimensionRestorer {
public:
  explicit DimensionRestorer(svm::KernelOp kernel) : kernel_(kernel) {}

  void run() {
    std::vector<FlatView> views;
    kernel_.walk([&](memref::ReinterpretCastOp cast) {
      if (auto view = viewOf(cast))
        views.push_back(*view);
    });
    if (views.empty())
      return;
    OpBuilder builder(kernel_.getContext());
    std::vector<FlatAccess> accesses;
    for (FlatView& view : views) {
      builder.setInsertionPoint(view.cast);
      view.rows = builder.create<memref::DimOp>(view.cast.getLoc(), view.block, 0);
      view.columns = builder.create<memref::DimOp>(view.cast.getLoc(), view.block, 1);
      for (Operation* user : view.cast->getUsers())
        accesses.push_back(accessOf(user, view, builder));
    }
    // In the order of the program, as the analysis is visited.
    llvm::DenseMap<Operation*, FlatAccess*> byOp;
    for (FlatAccess& access : accesses)
      byOp[access.op] = &access;
    llvm::SmallPtrSet<FlatView*, 4> wrong;
    RangeAnalysis analysis(kernel_);
    kernel_.walk<WalkOrder::PreOrder>([&](Operation* op) {
      FlatAccess* access = byOp.lookup(op);
      if (!access || wrong.contains(access->view))
        return;
      analysis.moveTo(op);
      if (!analysis.isInRange(access->row, access->view->rows) ||
          !analysis.isInRange(access->column, access->view->columns))
        wrong.insert(access->view);
    });
    for (const FlatAccess& access : accesses)
      if (!wrong.contains(access.view))
        replace(access);
    for (const FlatView& view : views)
      if (view.cast->use_empty())
        view.cast->erase();
  }

private:
  /// Where nothing else reaches the block.
  static std::optional<FlatView> viewOf(memref::ReinterpretCastOp cast) {
    auto block = dyn_cast<BlockArgument>(cast.getSource());
    const auto type = dyn_cast<MemRefType>(cast.getSource().getType());
    if (!block || !type || type.getRank() != 2 || cast.getType().getRank() != 1 ||
        getConstantIntValue(cast.getMixedStrides().front()) != 1 || cast->use_empty())
      return std::nullopt;
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (failed(getStridesAndOffset(type, strides, offset)) || strides.back() != 1)
      return std::nullopt;
    memref::ExtractStridedMetadataOp layout;
    for (Operation* user : block.getUsers()) {
      if (auto found = dyn_cast<memref::ExtractStridedMetadataOp>(user))
        layout = found;
      else if (user != cast && !isa<memref::DimOp>(user))
        return std::nullopt;
    }
    if (!layout || cast.getMixedOffsets().front() != OpFoldResult(layout.getOffset()))
      return std::nullopt;
    for (Operation* user : cast->getUsers()) {
      auto store = dyn_cast<memref::StoreOp>(user);
      if (!isa<memref::LoadOp>(user) && !(store && store.getValueToStore() != cast.getResult()))
        return std::nullopt;
    }
    return FlatView{cast, block, layout.getStrides().front(), {}, {}};
  }

  static Value indexOf(Operation* op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    return load ? load.getIndices().front() : cast<memref::StoreOp>(op).getIndices().front();
  }

  static FlatAccess accessOf(Operation* op, FlatView& view, OpBuilder& builder) {
    builder.setInsertionPoint(op);
    SmallVector<Value> rows, columns;
    takeApart(indexOf(op), view.distance, rows, columns);
    const auto sumOf = [&](ArrayRef<Value> terms) {
      if (terms.empty())
        return builder.create<arith::ConstantIndexOp>(op->getLoc(), 0).getResult();
      Value sum = terms.front();
      for (Value term : terms.drop_front())
        sum = builder.create<arith::AddIOp>(op->getLoc(), sum, term);
      return sum;
    };
    return {op, &view, sumOf(rows), sumOf(columns)};
  }

  static void takeApart(Value sum, Value distance, SmallVector<Value>& rows, SmallVector<Value>& columns,
                        unsigned depth = 0) {
    if (auto add = sum.getDefiningOp<arith::AddIOp>(); add && depth < 16) {
      takeApart(add.getLhs(), distance, rows, columns, depth + 1);
      takeApart(add.getRhs(), distance, rows, columns, depth + 1);
      return;
    }
    auto product = sum.getDefiningOp<arith::MulIOp>();
    if (sum == distance)
      rows.push_back(OpBuilder(distance.getDefiningOp()).create<arith::ConstantIndexOp>(distance.getLoc(), 1));
    else if (product && product.getLhs() == distance)
      rows.push_back(product.getRhs());
    else if (product && product.getRhs() == distance)
      rows.push_back(product.getLhs());
    else
      columns.push_back(sum);
  }

  static void replace(const FlatAccess& access) {
    OpBuilder builder(access.op);
    const SmallVector<Value, 2> indices{access.row, access.column};
    if (auto load = dyn_cast<memref::LoadOp>(access.op))
      load.replaceAllUsesWith(builder.create<memref::LoadOp>(load.getLoc(), access.view->block, indices).getResult());
    else
      builder.create<memref::StoreOp>(access.op->getLoc(), cast<memref::StoreOp>(access.op).getValueToStore(),
                                      access.view->block, indices);
    access.op->erase();
  }

  svm::KernelOp kernel_;
};

struct RestoreDimensionsPass : PassWrapper<RestoreDimensionsPass, OperationPass<svm::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RestoreDimensionsPass)

  void runOnOperation() override {
    if (getOperation().isStructured())
      DimensionRestorer(getOperation()).run();
  }
};

} // namespace

std::unique_ptr<Pass> createRestoreDimensionsPass() {
  return svm::makePass<RestoreDimensionsPass>(svm::passes::RestoreDimensions);
}

} // namespace strata::transform
