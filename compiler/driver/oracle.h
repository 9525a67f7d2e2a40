// The interpreter as a way to run a program, and as the oracle that a run is compared with (--interpret, --check).
#pragma once

#include "compiler/driver/entry.h"

namespace strata::driver {

/// Calls the entry point of a logical program through the interpreter, on the binding's arrays. `strict` also reports
/// reads of what was never written. False when a rule was broken (reported).
bool interpret(mlir::ModuleOp program, const EntryPoint& entry, Binding& binding, bool strict, std::string& output,
               DiagnosticEngine& diagnostics);

/// Compares what a run wrote with what the interpreter wrote: bit for bit; floating-point numbers of programs with
/// reductions, which are rounded along a tree that the mapping sets, to within 2^-10 (float) or 2^-30 (double) of the
/// largest magnitude in the array. Reports the first difference of each argument.
bool compare(mlir::ModuleOp program, const EntryPoint& entry, const Binding& run, const Binding& oracle,
             DiagnosticEngine& diagnostics);

} // namespace strata::driver
