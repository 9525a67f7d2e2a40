// The interpreter as a way to run a program, and as the oracle that a run is compared with (--interpret, --check).
#pragma once

#include "compiler/driver/compile/native_kernels.h"
#include "compiler/driver/data/entry.h"

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
  bool decidedByNotFinite = false;     ///< since a NaN or an infinity is among them
  std::optional<Location> notFiniteAt; ///< where a NaN was compared while it reduced, or later
  bool callsC = false;                 ///< functions in C, whose doings are not seen
  uint64_t steps = 0;
  std::string failure; ///< the code of what ended it; empty when it came to its end
};

struct InterpretMode {
  bool strict = false; ///< report reads of what was never written, blocks that overlap, and signed overflows
  bool splitReductions = false;
  uint64_t maxSteps = 0; ///< 0: any number
};

/// A scalar in which two runs differ.
struct Difference {
  uint64_t element = 0;
  double ours = 0, wanted = 0;
  double allowed = -1; ///< what an order of rounding accounts for; negative: nothing, or nobody knows how much
};

/// Calls the entry point of a logical program through the interpreter, on the binding's arrays. Kernels without a
/// region are called as `kernels` has them. False when a rule was broken (reported).
bool interpret(mlir::ModuleOp program, const EntryPoint& entry, Interpreted& run, const InterpretMode& mode,
               const NativeKernels& kernels, DiagnosticEngine& diagnostics);

/// Reports the elements of outputs that nothing has written. False when there are any.
bool checkWritten(const EntryPoint& entry, const Interpreted& run, DiagnosticEngine& diagnostics);

/// The first scalar in which an array differs from the oracle's; `distances` as in Interpreted. `rough`: numbers agree
/// to a part of the array's largest magnitude.
std::optional<Difference> firstDifference(const Array& ours, const Array& oracle, const std::vector<double>& distances,
                                          bool rough);
/// An element by its indices, and a number, for messages.
std::string elementText(const Array& array, uint64_t element);
std::string numberText(double number);

/// Compares what a run wrote with what the interpreter wrote: bit for bit, but for floating-point numbers that a
/// reduction had a part in, which are rounded along a tree that the mapping sets. Those agree to within what any two
/// orders can differ by. Where no bound is known (Interpreter::distances), they agree to within 2^-10
/// (float) or 2^-30 (double) of the largest magnitude in the array. Reports the first difference of each argument: a
/// warning where the order of a reduction decides.
bool compare(mlir::ModuleOp program, const EntryPoint& entry, const Binding& run, const Interpreted& oracle,
             DiagnosticEngine& diagnostics);

} // namespace strata::driver
