// Control code of a scheduled program, carried out for given sizes as far as it tells who does what in which order:
// loops and calls, moves, runs of kernels. No time passes. One thread.
#pragma once

#include "compiler/cost/steps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace strata::cost {

/// A function calls itself more often than is followed.
struct TooDeep {
  mlir::Operation* at;
};

/// REQUIRES: as estimate() does. `routes` outlives what is given. Throws TooDeep.
Walked walk(mlir::ModuleOp module, const Machine& machine, Routes& routes, mlir::func::FuncOp entry,
            llvm::ArrayRef<Known> arguments);

} // namespace strata::cost
