// What a program computes under other mappings than the one at hand: with other values of its tunables, and with its
// reductions made in parts. A result that depends on either is the program's doing, and is told with what decides it.
#pragma once

#include "compiler/driver/compile/pipeline.h"
#include "compiler/driver/run/oracle.h"

namespace strata::driver {

/// What a run is compared with: the same program on the same arrays.
struct CheckedRun {
  mlir::ModuleOp program;
  const EntryPoint& entry;
  const NativeKernels& kernels;
  const Interpreted& oracle;
  /// A copy of the arrays as they are before the program runs; nothing when memory is short.
  llvm::function_ref<std::optional<Binding>()> arrays;
};

/// Runs the program again through the interpreter under mappings made for the purpose, which depend on the mapping in
/// use, the program and its sizes only. A fault of every mapping is an error, one that only another mapping shows a
/// warning. False when there are errors (reported).
bool checkOtherMappings(Compiler& compiler, const CheckedRun& run, DiagnosticEngine& diagnostics);

/// The value that a tunable is tried with: near the one in use, with several iterations, and such that other elements
/// are left over where a size is divided by it and rounded down; no divisor of a size, where there is such a number.
int64_t otherValue(const TunableInUse& tunable);

/// The value that it is tried with where the program refuses that one: a divisor of all sizes, with several iterations.
int64_t otherDivisor(const TunableInUse& tunable);

} // namespace strata::driver
