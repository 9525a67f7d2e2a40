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
  /// Of each argument, for every four bytes: how far the number there may be off where a reduction is made in another
  /// order; negative: not at all. Empty when nothing may.
  std::vector<std::vector<double>> distances;
  /// Where an order has decided more than numbers, so that distances say nothing behind it.
  std::optional<Location> decidedAt;
};

/// Calls the entry point of a logical program through the interpreter, on the binding's arrays. `strict` also reports
/// reads of what was never written, and blocks that overlap. Kernels without a region are called as `kernels` has them.
/// False when a rule was broken (reported).
bool interpret(mlir::ModuleOp program, const EntryPoint& entry, Interpreted& run, bool strict,
               const NativeKernels& kernels, DiagnosticEngine& diagnostics);

/// Compares what a run wrote with what the interpreter wrote: bit for bit, but for floating-point numbers that a
/// reduction had a part in, which are rounded along a tree that the mapping sets. Those agree to within what any two
/// orders can differ by. Where nobody knows how much that is (Interpreter::distances), they agree to within 2^-10
/// (float) or 2^-30 (double) of the largest magnitude in the array. Reports the first difference of each argument: a
/// warning where the order of a reduction decides, which is no fault of anybody.
bool compare(mlir::ModuleOp program, const EntryPoint& entry, const Binding& run, const Interpreted& oracle,
             DiagnosticEngine& diagnostics);

} // namespace strata::driver
