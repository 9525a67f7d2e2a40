// Blocks in virtual memories, which are distributed to the instances underneath and are windows to the code that moves
// them. Used while storage is lowered.
#pragma once

#include "compiler/target/host/storage.h"

namespace strata::host {

/// Whether a block is distributed to the instances of an explicit memory.
bool isDistributed(svm::BlockOp block, const Machine& machine);
/// The address of the window that such a block is. The caller releases it.
mlir::Value acquireDistributed(mlir::OpBuilder& builder, svm::BlockOp block, const Machine& machine,
                               RuntimeCalls& calls);
/// Asks the runtime, as the program runs, whether a part of such a block is in the executing processor's own memory.
void lowerInPlace(svm::InPlaceOp op, RuntimeCalls& calls);

} // namespace strata::host
