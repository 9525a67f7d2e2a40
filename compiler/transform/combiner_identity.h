// Combiners that are elementwise and have an identity: what lets a private copy of a reduction begin with a constant.
// The analysis reads a kernel and changes nothing; "nothing" means undecided, never "is not".
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/IR/Builders.h"

#include <optional>

namespace strata::transform {

/// What is done to one scalar of an element. Signedness and the treatment of NaN are those of the kernel's operations.
enum class CombinerOperation {
  AddInteger,
  MultiplyInteger,
  MinimumSigned,
  MaximumSigned,
  MinimumUnsigned,
  MaximumUnsigned,
  And,
  Or,
  ExclusiveOr,
  AddFloat,
  MultiplyFloat,
  MinimumFloat, // a NaN wins (arith.minimumf)
  MaximumFloat,
  MinimumNumber, // a number wins over a NaN (arith.minnumf)
  MaximumNumber,
  MinimumByComparing, // b = a < b ? a : b; a NaN in a is passed over, one in b stays
  MaximumByComparing,
};

struct ElementwiseCombiner {
  /// One operation for each scalar of an element: a record's scalars in the order of its fields, nested ones where they
  /// stand.
  llvm::SmallVector<CombinerOperation> operations;
};

/// Decides whether `kernel`, a combiner (in T a, inout T b), combines every element of b with the element of a at the
/// same index exactly once, touches nothing else, and does so by operations that have an identity.
std::optional<ElementwiseCombiner> elementwiseCombiner(svm::KernelOp kernel);

/// The constant i with combine(x, i) = x, or, where x is a value that combining passes over, combine(i, y) = y.
/// REQUIRES: `scalar` is the integer or floating-point type that the operation works on.
mlir::TypedAttr identityOf(CombinerOperation operation, mlir::Type scalar);

/// The identity of an element of type `element` (a scalar or a record).
mlir::Value identityElement(mlir::OpBuilder& builder, mlir::Location location, const ElementwiseCombiner& combiner,
                            mlir::Type element);

/// Fills `block`, of T's rank and element type, with the identity.
void fillWithIdentity(mlir::OpBuilder& builder, mlir::Location location, const ElementwiseCombiner& combiner,
                      mlir::Value block);

} // namespace strata::transform
