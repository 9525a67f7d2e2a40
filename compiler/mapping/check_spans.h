// Which processors the parts of a placed program run on, and whether what each of them makes in a memory is its own:
// loops that divide the same processors again, and blocks in memories that several processors share. Takes a program
// whose operations have their places; part of place().
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/record.h"

namespace strata::mapping {

/// Follows calls from every function that nobody calls. Reports loops that are distributed to more processors than the
/// code that executes them has, and blocks of fixed place that processors which run at once would share; false when
/// there is one. Processors are numbered as runtime/abi.h says at strata_spmd. Messages stand where `record` says that
/// the mapping speaks of a loop.
bool checkSpans(mlir::ModuleOp program, const Record& record, const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::mapping
