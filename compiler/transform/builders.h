// Small builders that several passes share: index arithmetic, loops over all elements of a block, views of one part.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/IR/Builders.h"

namespace strata::transform {

/// Index arithmetic at one insertion point, with constants folded where they are seen.
class IndexMath {
public:
  IndexMath(mlir::OpBuilder& builder, mlir::Location location) : builder_(builder), location_(location) {}
  mlir::Value constant(int64_t value) { return builder_.create<mlir::arith::ConstantIndexOp>(location_, value); }
  mlir::Value add(mlir::Value a, mlir::Value b) { return builder_.createOrFold<mlir::arith::AddIOp>(location_, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return builder_.createOrFold<mlir::arith::SubIOp>(location_, a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return builder_.createOrFold<mlir::arith::MulIOp>(location_, a, b); }
  mlir::Value min(mlir::Value a, mlir::Value b) { return builder_.createOrFold<mlir::arith::MinSIOp>(location_, a, b); }
  mlir::Value max(mlir::Value a, mlir::Value b) { return builder_.createOrFold<mlir::arith::MaxSIOp>(location_, a, b); }
  /// REQUIRES: a >= 0 and b > 0 (a constant).
  mlir::Value ceilDiv(mlir::Value a, int64_t b) {
    return builder_.createOrFold<mlir::arith::DivUIOp>(location_, add(a, constant(b - 1)), constant(b));
  }

private:
  mlir::OpBuilder& builder_;
  mlir::Location location_;
};

/// The extents of a block, as index values.
llvm::SmallVector<mlir::Value> extentsOf(mlir::OpBuilder& builder, mlir::Location location, mlir::Value block);

/// A nest of loops over all elements of `block`; `body` is called inside with the indices.
void forEachElement(mlir::OpBuilder& builder, mlir::Location location, mlir::Value block,
                    llvm::function_ref<void(mlir::OpBuilder&, mlir::ValueRange)> body);

/// The view of `parts` (one dimension more) at position `part` of its first dimension.
mlir::Value partOf(mlir::OpBuilder& builder, mlir::Location location, mlir::Value parts, mlir::Value part);

/// Whether two values of one type have the same bits: an i1.
mlir::Value sameBits(mlir::OpBuilder& builder, mlir::Location location, mlir::Value a, mlir::Value b);

/// Whether the mapping transforms a loop further, so that all of a processor's iterations are to be one loop.
bool isTransformed(mlir::Operation* loop);
/// Gives a loop what the mapping says of another that it takes the place of: stages, unrolling, flattening, and whether
/// its iterations reduce.
void keepLoopAttributes(mlir::Operation* from, mlir::scf::ForOp to);
/// Moves the body of `parallel` to the end of a loop's, where `iteration` has the iteration's indices.
void moveBody(svm::ParallelOp parallel, mlir::scf::ForOp loop, mlir::ValueRange iteration);

/// Gives a block's memory to the views and casts made of it, after the block's own type has changed.
void propagateMemory(mlir::Value block);

/// All that uses a block, also through views of it.
llvm::SmallVector<mlir::Operation*> usersThroughViews(mlir::Value block);

} // namespace strata::transform
