// What distributes the iterations of parallel loops to instances, as operations: machine::Shares::ofLoop
// (base/machine/instance_range.h) once more, for bounds that are known when the program runs. Nothing else in the
// compiler emits this arithmetic. Operations are added where the builder stands; a test compares what they compute with
// the class.
#pragma once

#include "base/machine/instance_range.h"
#include "compiler/transform/builders.h"

namespace strata::transform {

/// The subset of the processors of the surrounding code that takes part in a loop; nothing: all of them.
std::optional<machine::InstanceRange> subsetOf(mlir::Operation* loop);

/// How many of `parts` instances have something to do, which are the first ones (Shares::busy): 0 when there are no
/// iterations. The bounds may lie anywhere, 2^63 - 1 apart at most; chunk 0 is contiguous.
mlir::Value busyInstances(mlir::OpBuilder& builder, mlir::Location location, mlir::Value lower, mlir::Value upper,
                          int64_t chunk, int64_t parts);
/// As many instances as `instances` says on the processors of a loop, which are to carry out its iterations; the body
/// is empty, and the builder stays where it is.
svm::InstancesOp makeInstances(mlir::OpBuilder& builder, svm::ParallelOp loop, mlir::Value instances);

/// The iterations of [lower, upper) that fall to part `part` of `parts` busy ones: contiguous (chunk 0), or in chunks
/// distributed in turn. Adds the loop that runs them in order, and sets `iteration` to the present one; what follows it
/// in the loop's body is empty. The loop is one over all of a part's iterations where `asOne`, else one over chunks and
/// one over the iterations of each, which is returned. The builder stands after the outermost. REQUIRES: lower <=
/// upper, 0 <= part < parts, parts <= busyInstances.
mlir::scf::ForOp distributeIterations(mlir::OpBuilder& builder, mlir::Location location, mlir::Value lower,
                                      mlir::Value upper, int64_t chunk, mlir::Value part, mlir::Value parts, bool asOne,
                                      mlir::Value& iteration);

/// The loop that carries out what falls to one part, with the iteration's indices.
struct PartLoop {
  mlir::scf::ForOp innermost;
  llvm::SmallVector<mlir::Value> iteration;
};

/// How many parts of each dimension of a parallel loop have something to do; the parts are numbered row by row.
llvm::SmallVector<mlir::Value> busyParts(mlir::OpBuilder& builder, svm::ParallelOp loop);
/// Part `number` of a parallel loop of which `busy` parts have something to do: a nest of loops, the first dimension
/// outermost, each as distributeIterations makes it. They keep the attributes of the parallel loop that later passes
/// look at, the innermost those of which there is one. The builder stands after the outermost.
PartLoop loopOfPart(mlir::OpBuilder& builder, svm::ParallelOp loop, mlir::Value number, mlir::ValueRange busy);
/// The product of counts that are not negative.
mlir::Value productOf(mlir::OpBuilder& builder, mlir::Location location, mlir::ValueRange counts);

} // namespace strata::transform
