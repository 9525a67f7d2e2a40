// Software pipelining of loops that placement marked with `svm.stages`.
#pragma once

#include "base/machine/machine.h"

#include "mlir/Pass/Pass.h"

namespace strata::transform {

/// Takes a placed program whose iterations have been distributed and whose copies are settled. In a loop of N stages,
/// every block that transfers fill or empty gets N buffers: transfers in are started N-1 iterations ahead, transfers
/// out go on behind the iteration, and tokens, carried from iteration to iteration, say when a buffer may be used. A
/// loop of which this cannot be done stays as it is, with a remark that says why. Inner loops first; nests work.
/// Where an iteration starts one other processor, the buffers lie in its store, and the transfers are made by the
/// processor that executes the loop, while the other one works.
std::unique_ptr<mlir::Pass> createPipelineLoopsPass();
/// The same for a machine, which says what that processor can move. REQUIRES: the machine outlives the pass.
std::unique_ptr<mlir::Pass> createPipelineLoopsPassFor(const Machine& machine);

} // namespace strata::transform
