// Instantiation: a concrete configuration from a symbolic one, sizes and a region. Polynomial, without LLVM and isl.
// What it costs grows with the processor classes and not with the elements, but for connections and banks. The same
// result for any number of threads; safe to call from several.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6. Sets are interval decision
// diagrams (diagrams.h).
#pragma once

#include "runtime/array/configuration.h"
#include "runtime/array/symbolic.h"

#include <map>
#include <variant>

namespace strata::array {

struct InstantiationOptions {
  std::vector<int64_t> sizes; // one for each parameter
  /// Of the region: the most tiles of the distributed loops. Rows and columns for which no tile is left stay out of the
  /// configuration.
  uint32_t rows = 1, columns = 1;
  /// Tile sizes by loop; 0 (or missing): the smallest that covers the loop. A loop that is not distributed has one
  /// tile.
  std::vector<int64_t> tile;
  machine::Corner corner = machine::Corner::NorthWest;
  unsigned threads = 1; // for processor classes
};

/// What does not fit or cannot be: "feedback register fd0 holds 96 values of 'sum' with tiles of 8 x 4 x 12, the
/// array's hold 64". It names the resource, how much is needed, how much there is, for what, and what would help.
struct InstantiationError {
  std::string message;
  std::string help;
  bool isCircle = false;                   // elements would wait for each other: other loops, or skewed ones, might not
  bool isMistake = false;                  // the symbolic configuration contradicts itself: no mapping makes such a one
  std::vector<std::string> variables = {}; // of the loop program, whose values it is about
};

/// REQUIRES: validate(symbolic, array) is empty.
std::variant<Configuration, InstantiationError>
instantiate(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options);

/// The same in two steps, for those who measure them. The first makes everything but connections and banks, at a cost
/// that does not grow with the elements; the second adds those.
std::variant<Configuration, InstantiationError> instantiatePrograms(const Symbolic& symbolic,
                                                                    const machine::ProcessorArray& array,
                                                                    const InstantiationOptions& options);
std::optional<InstantiationError> instantiatePeriphery(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                                       const InstantiationOptions& options,
                                                       Configuration& configuration);

} // namespace strata::array
