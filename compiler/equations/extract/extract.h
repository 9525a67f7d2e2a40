// Structured kernels whose accesses are affine as graphs of equations, by exact dataflow analysis: loops, conditions on
// iterators and sizes, loads and stores become equations that say of each value what it is computed of. Reads no
// target, and changes no kernel. One thread at a time.
//
// Source: Feautrier 1991, "Dataflow analysis of array and scalar references".
#pragma once

#include "compiler/equations/graph.h"
#include "compiler/ir/svm.h"

#include "base/source/diagnostic.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::equations {

/// An integer that the caller of a kernel gives: an extent of an argument, or the argument itself (an index or an
/// integer).
struct KernelSize {
  unsigned argument = 0;
  std::optional<unsigned> dimension;
  friend auto operator<=>(const KernelSize&, const KernelSize&) = default;
};

/// Numbers that a size may be, both ends included.
struct Interval {
  std::optional<int64_t> least, most;
};
using Known = std::map<KernelSize, Interval>;

struct ExtractOptions {
  /// What holds in all runs. A size that can be one number alone is that number.
  Known known;
  /// Whether the caller executes the kernel itself where sizes break the graph's context: then the context need not
  /// hold sizes with which the kernel does nothing, or leaves loops out.
  bool mayLeaveOut = false;
  /// Sizes that the context then has to hold, of all; empty: any.
  std::map<KernelSize, int64_t> wanted;
};

/// Why a kernel has no equations, and where in it.
struct Refusal {
  std::string reason; // "an index is not affine"
  std::optional<mlir::Location> location;
  bool lacksOperation = false;   // it computes something that is no operation of equations
  std::vector<KernelSize> sizes; // if these were numbers, it might be otherwise
};

/// A graph that computes what a kernel does, bit for bit: with the kernel's operations, in its order where it matters.
struct Extraction {
  /// An argument that is an input and an output ("c", "c.out"). The graph reads the input as it was before the kernel:
  /// a caller that binds both to the same memory has to copy it, or to read all before it writes.
  struct Pair {
    uint32_t input = 0, output = 0;
  };

  Graph graph;
  std::vector<unsigned> inputs, outputs; // argument numbers
  std::vector<KernelSize> parameters;
  std::vector<Pair> pairs;
  std::vector<Constraint> assumed; // of the context: sizes that break it have accesses outside of the arrays
  bool leavesOut = false;          // so does the context break where accesses stay in their arrays
  bool isForward = false;          // every value is used in the iteration that computes it, or a later one
  /// Values are handed on over distances that these tell: with numbers in their place all distances are numbers.
  std::vector<KernelSize> spans;
};

/// Nothing where the kernel is not structured, does something that equations cannot hold, or has dataflow that does not
/// become uniform; `refusal` then says why. An output that the kernel writes in part is partial. Locations are those of
/// `sources`.
/// REQUIRES: the kernel verifies.
std::optional<Extraction> extract(svm::KernelOp kernel, SourceManager& sources, Refusal& refusal,
                                  const ExtractOptions& options = {});

/// Says so to a user, as a remark. REQUIRES: extract() has refused the kernel.
void report(const Refusal& refusal, svm::KernelOp kernel, DiagnosticEngine& diagnostics);

} // namespace strata::equations
