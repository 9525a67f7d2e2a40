// Vectorisation of outer loops: iterations of a loop run in the lanes of vector registers although the loop holds loops
// itself. Each lane computes what its iteration computes, operation by operation, so that sums keep the order of the
// source and results are the same bits. The analysis (plan_lanes.cpp) is separate from the rewriting
// (vectorize_lanes.cpp).
#pragma once

#include "base/machine/figures.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

#include <memory>
#include <optional>

namespace strata::kernel {

/// How a value differs between neighbouring iterations of the loop.
enum class Lane {
  Uniform,     ///< it does not
  Consecutive, ///< an integer that grows by one
  Varying      ///< otherwise
};

/// Operations on vectors that do in each lane exactly what they do on scalars, and harm nothing in lanes that are
/// masked off: no division that could trap, no call of a library.
bool isLaneWise(mlir::Operation* op);

/// A loop that may be vectorised, and how. Refers to the loop's operations; lives as long as they are not changed.
struct LanePlan {
  mlir::scf::ForOp loop;
  llvm::DenseMap<mlir::Value, Lane> lanes; ///< of values in the loop; those that are not in it are uniform
  /// Scalar variables that hold a value for every iteration; in the order of the program, which decides no result but
  /// the code's text.
  llvm::SetVector<mlir::Value> varying;
  unsigned width = 0;     ///< iterations that fill one register
  unsigned registers = 1; ///< how many registers a value takes in the main part of the loop

  Lane laneOf(mlir::Value value) const { return lanes.lookup(value); } // Uniform is the default
};

/// A plan for `loop`, or nothing where its iterations depend on each other, reach memory with gaps, or do what has no
/// vector form, or where a register holds one value only. The loop's function is a kernel: blocks that it is given are
/// not shared with other processors, and none of them that it writes overlaps another.
std::optional<LanePlan> planLanes(mlir::scf::ForOp loop, const machine::Figures& figures);

/// Vectorises loops that hold other loops and that nothing inside of them would be vectorised for: the innermost ones
/// that a plan exists for. Takes and leaves svm.kernel; leaves operations of the vector dialect. Its options `vector`,
/// `vector-registers` and `vector-latency` are the figures of the same names.
std::unique_ptr<mlir::Pass> createVectorizeLanesPass();
/// The same with a machine's figures.
std::unique_ptr<mlir::Pass> createVectorizeLanesPassFor(const machine::Figures& figures);

} // namespace strata::kernel
