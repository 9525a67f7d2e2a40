// Streams of a placed or scheduled program: who pushes to one, pops and peeks reaches it, and FIFOs hold what goes
// through them. Shares no code with place() and schedule().
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"

namespace strata::mapping {

/// Reports for every stream of the program: processors that do not reach its memory, or do not write or read its FIFO
/// where they push or pop; more bytes than its FIFO holds; and more streams through a class of FIFOs at once than it
/// has instances. A stream whose capacity is not a constant is not compared with one. Memories and FIFOs that the
/// machine does not have are left out.
void verifyStreams(mlir::ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::mapping
