// What distributes the iterations of parallel loops to instances, as operations: machine::Shares::ofLoop
// (base/machine/instance_range.h) once more, for bounds that are known when the program runs. Nothing else in the
// compiler emits this arithmetic. Operations are added where the builder stands; a test compares what they compute with
// the class.
#pragma once

#include "base/machine/instance_range.h"
#include "compiler/transform/builders.h"

namespace strata::transform {

/// The subset of the processors of the surrounding code that takes part in a loop; nothing: all of them.
std::optional<machine::InstanceRange> subsetOf(svm::SpmdOp spmd);

/// How many of `ways` instances have something to do, which are the first ones (Shares::busy): 0 when there are no
/// iterations. The bounds may lie anywhere, 2^63 - 1 apart at most; chunk 0 is contiguous.
mlir::Value busyInstances(mlir::OpBuilder& builder, mlir::Location location, mlir::Value lower, mlir::Value upper,
                          int64_t chunk, int64_t ways);
/// As many instances as `instances` says on the processors of a loop, which are to carry out its iterations; the body
/// is empty, and the builder stays where it is.
svm::SpmdOp makeInstances(mlir::OpBuilder& builder, svm::SpmdOp loop, mlir::Value instances);

/// The iterations of [lower, upper) that fall to part `part` of `parts` busy ones: contiguous (chunk 0), or in chunks
/// distributed in turn. Adds the loop that runs them in order, and sets `iteration` to the present one; what follows it
/// in the loop's body is empty. The loop is one over all of a part's iterations where `asOne`, else one over chunks and
/// one over the iterations of each, which is returned. The builder stands after the outermost. REQUIRES: lower <=
/// upper, 0 <= part < parts, parts <= busyInstances.
mlir::scf::ForOp dealIterations(mlir::OpBuilder& builder, mlir::Location location, mlir::Value lower, mlir::Value upper,
                                int64_t chunk, mlir::Value part, mlir::Value parts, bool asOne, mlir::Value& iteration);

} // namespace strata::transform
