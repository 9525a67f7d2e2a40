// How many processors share the iterations of loop equations, and what the mapping record says of it: read from the
// record before equations become loops, and what came of it put back.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/equations/dialect/lower_equations.h"
#include "compiler/mapping/record.h"

#include "mlir/IR/BuiltinOps.h"

namespace strata::driver {

/// A record's loop that has the name of a kernel of equations is the one over the kernel's parts, and its chunk how
/// many iterations a part has. Those are taken out of the record: placement then deals whole parts, one at a time.
equations::Division takeDivision(mlir::ModuleOp program, const Machine& machine, mapping::Record& record);

/// Takes loops out of the record that are of kernels of which nothing was divided, with a warning (reported) for each
/// whose iterations were counted.
void leaveOutUndivided(mapping::Record& record, const equations::Division& division, mlir::ModuleOp program,
                       DiagnosticEngine& diagnostics);

} // namespace strata::driver
