// The central steps of instantiation a second time, for tests and as the peer that runtime/array/ is measured against:
// processor classes, folding, kernel classes and control flow as the article describes them, with sets of isl in every
// step. It shares the contracts of runtime/array/ (symbolic.h, configuration.h) and none of its code. Nothing is made
// fast: where the article has a set, there is one here. Used by one thread.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6.1. Its algorithm 3 prints the
// iterations in which control arrives; here, as in its figure 7, edges hold those in which it leaves.
#pragma once

#include "runtime/array/instantiate.h"

#include <memory>
#include <string>
#include <vector>

#include <isl/cpp.h>

namespace strata::array::oracle {

/// A kernel class: iterations in which the same instructions are issued.
struct Kernel {
  isl::set iterations;                  // over the extents
  std::vector<int64_t> first;           // of them, in lexicographic order
  std::vector<Functional> instructions; // one for each slot of the interval; Nop where none. Destinations are sorted.
  bool isEmpty() const;                 // Nop in every slot
};

/// Iterations of kernel `from` after which `to` is next; never none.
struct Edge {
  size_t from = 0, to = 0; // in UnitProgram::kernels
  isl::set leaving;
};

/// The control flow graph of one unit instance. Kernels are disjoint and together all iterations of the extents, in the
/// order of their first iterations; control begins at the first.
struct UnitProgram {
  std::vector<Kernel> kernels;
  std::vector<Edge> edges; // by from, then by to
};

/// Sets live as long as the Result that they are in: copies of them must not outlive it.
struct Result {
  std::shared_ptr<isl_ctx> context; // before all sets, so that it goes last
  std::string error;                // why there is nothing else: for people; empty when there is
  std::vector<int64_t> iterations;  // of all tiles together, by loop
  std::vector<int64_t> tile;        // sizes by loop
  std::vector<int64_t> extents;     // the same, the outermost lengthened so that the last stage of all operations fits
  uint32_t rows = 0, columns = 0;   // of the elements that have a tile
  std::vector<size_t> elementClass; // by row, then by column
  std::vector<std::vector<UnitProgram>> programs; // by class, then by unit instance
  size_t classes() const { return programs.size(); }
  size_t classOf(size_t row, size_t column) const { return elementClass[row * columns + column]; }
};

/// REQUIRES: validate(symbolic, array) is empty. Refuses only what the steps above cannot be done for: tiles that do
/// not cover their loop, empty loops, two instructions in one slot, operands with no or two values.
Result instantiate(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options);

/// Whether a configuration does what the Result of the same arguments says: the elements' classes, the instructions of
/// every unit in every iteration until it halts, the starts against Symbolic::arrivals. Empty when it does, else up to
/// ten differences, one a line. Above 200,000 iterations in a tile only some of each kernel's are tried. For
/// connections and banks there is comparePeriphery().
std::string compare(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options,
                    const Configuration& configuration);
/// The same against a Result that is already known.
std::string compare(const Symbolic& symbolic, const Result& expected, const Configuration& configuration);

/// Whether connections, banks and the ways of signals are those that the symbolic configuration asks for: channels lead
/// to the neighbours, each access of each iteration finds its word in its cycle, and no bank does anything else. Empty
/// when they are, else up to ten differences, one a line. Looks at every iteration of every element. REQUIRES:
/// instantiate() gave the configuration, or it differs from that only in what is looked at.
std::string comparePeriphery(const Symbolic& symbolic, const machine::ProcessorArray& array,
                             const InstantiationOptions& options, const Configuration& configuration);

} // namespace strata::array::oracle
