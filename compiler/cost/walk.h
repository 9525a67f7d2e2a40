// Control code of a scheduled program, carried out for given sizes as far as it tells who does what in which order:
// loops and calls, moves, runs of kernels. No time passes. One thread.
#pragma once

#include "compiler/cost/steps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata::cost {

/// More than is followed.
struct TooLong {
  mlir::Operation* at;
  enum class Why : uint8_t { Calls, Operations, Instances } why;
};
inline constexpr unsigned mostCalls = 256; ///< within each other
inline constexpr int64_t mostInstances = 1 << 16;

/// REQUIRES: as estimate() does. `routes` outlives what is given. Throws TooLong.
Walked walk(mlir::ModuleOp module, const Machine& machine, Routes& routes, mlir::func::FuncOp entry,
            llvm::ArrayRef<Known> arguments);

} // namespace strata::cost
