// Kernels on a machine's processor array: a graph of equations is mapped once, and may then be called with any sizes.
// Mappings are kept for the whole process by what they were made of, so that compiling a program a second time costs
// nothing. Used by one thread; the cache may be used by several.
#pragma once

#include "compiler/equations/dialect/system_of.h"
#include "compiler/equations/extract/extract.h"
#include "compiler/interpret/interpreter.h"
#include "compiler/target/array_runner.h"

namespace strata::array {

struct ArrayKernel {
  /// What a parameter of the graph is in a call.
  struct Parameter {
    equations::KernelSize size;
    unsigned bits = 64; // of a scalar
  };

  std::string name;                       // its symbol
  Location location;                      // in the program
  std::map<std::string, Location> places; // of its variables, inputs and outputs
  std::vector<unsigned> inputs, outputs;  // arguments
  std::vector<Parameter> parameters;
  std::vector<bool> isCopied; // of inputs: read as they are before the call, though it writes the same array
  bool leavesOut = false;     // sizes that others could be made for
  std::unique_ptr<target::ArrayRunner> runner;

  std::vector<int64_t> sizes(const std::vector<interpret::Argument>& arguments) const; // of the parameters
  /// Why it cannot run for these arguments, before it does anything; nothing where it can.
  std::optional<target::ArrayError> prepare(const std::vector<interpret::Argument>& arguments) const;
  /// Calls it; blocks are copied where they are not contiguous.
  std::optional<target::ArrayError> run(const std::vector<interpret::Argument>& arguments) const;
  /// An error with the places of the variables that it names.
  target::ArrayError placed(target::ArrayError error) const;
};

/// Nothing on errors (reported). `key` is everything that the graph depends on, as text. REQUIRES: the machine has an
/// array, and outlives what is made.
std::unique_ptr<target::ArrayRunner> mapped(const std::string& key, const equations::Graph& graph,
                                            const Machine& machine, const target::ArrayOptions& options,
                                            DiagnosticEngine& diagnostics);

/// All kernels of equations of a logical program, in its order. Nothing on errors (reported). REQUIRES: the machine has
/// an array, and outlives the kernels.
std::optional<std::vector<ArrayKernel>> mapKernels(mlir::ModuleOp program, const Machine& machine,
                                                   const target::ArrayOptions& options, DiagnosticEngine& diagnostics);

} // namespace strata::array
