// Software pipelining of loops that placement marked with `svm.stages`.
#pragma once

#include "mlir/Pass/Pass.h"

namespace strata::transform {

/// Takes a placed program whose iterations have been distributed and whose copies are settled. In a loop of N stages,
/// every block that transfers fill or empty gets N buffers: transfers in are started N-1 iterations ahead, transfers
/// out go on behind the iteration, and tokens, carried from iteration to iteration, say when a buffer may be used. A
/// loop of which this cannot be done stays as it is, with a remark that says why. Inner loops first; nests work.
std::unique_ptr<mlir::Pass> createPipelineLoopsPass();

} // namespace strata::transform
