// The interpreter as a way to run a program, and as the oracle that a run is compared with (--interpret, --check).
#pragma once

#include "compiler/driver/entry.h"
#include "compiler/driver/native_kernels.h"

namespace strata::driver {

/// What the interpreter computed.
struct Interpreted {
  Binding binding;
  /// Of each argument, by element: whether it has a value; empty when all have.
  std::vector<std::vector<bool>> hasValue;
  std::string output;
};

/// Calls the entry point of a logical program through the interpreter, on the binding's arrays. `strict` also reports
/// reads of what was never written, and blocks that overlap. Kernels without a region are called as `kernels` has them.
/// False when a rule was broken (reported).
bool interpret(mlir::ModuleOp program, const EntryPoint& entry, Interpreted& run, bool strict,
               const NativeKernels& kernels, DiagnosticEngine& diagnostics);

/// Compares what a run wrote with what the interpreter wrote: bit for bit; floating-point numbers of programs with
/// reductions, which are rounded along a tree that the mapping sets, to within 2^-10 (float) or 2^-30 (double) of the
/// largest magnitude in the array. Reports the first difference of each argument.
bool compare(mlir::ModuleOp program, const EntryPoint& entry, const Binding& run, const Interpreted& oracle,
             DiagnosticEngine& diagnostics);

} // namespace strata::driver
