// Gathers and scatters as calls of the runtime. Used while storage is lowered; those that go on beside their starter
// have been put into functions of their own before.
#pragma once

#include "compiler/ir/transfer.h"
#include "compiler/target/host/storage.h"

namespace strata::host {

/// Notes on each gather and scatter what messages call its blocks, while that is to be seen.
void nameIndexedMoves(mlir::ModuleOp program);

/// Replaces a gather or scatter without tokens by the call that does it. `way` says where it goes; null: nobody asks.
void lowerIndexedMove(const svm::Transfer& transfer, const Machine& machine, RuntimeCalls& calls, mlir::Value way);

} // namespace strata::host
