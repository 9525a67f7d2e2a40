// One loop program from its equations to the end of a simulated run on a processor array, compared with the interpreter
// of equations: what the tests of arrays have in common. Used by one thread.
#pragma once

#include "base/machine/machine.h"
#include "compiler/equations/graph.h"
#include "compiler/target/array/map.h"
#include "runtime/array/instantiate.h"
#include "runtime/array/simulate.h"

#include <optional>
#include <string>

namespace strata::array {

/// A .pla text in uniform form; `messages` says why there is none.
std::optional<equations::Graph> graphOf(const std::string& text, const std::string& name, std::string& messages);

struct Attempt {
  enum class End {
    Right,
    Refused, // by an error for people
    Wrong,   // the results differ, or something failed that must not
  };
  End end = End::Right;
  std::string message;
  bool isVerified = false; // for all sizes: nothing was left undecided
  bool isCompared = false; // with its equations: nothing was left undecided
  std::optional<Symbolic> symbolic;
  std::optional<Configuration> configuration;
  SimulationStatistics statistics;
};

/// Maps, verifies, and writes and reads the symbolic configuration in both forms. Right, with one; or refused, or
/// wrong.
Attempt mapped(const equations::Graph& graph, const machine::ProcessorArray& array, const MapOptions& mapping);

/// Instantiates what mapped() gave, simulates with random inputs of that seed, and compares every element of the
/// outputs. With `withOracle` the configuration is compared with the second implementation's, too (oracle.h).
void execute(Attempt& attempt, const equations::Graph& graph, const machine::ProcessorArray& array,
             const InstantiationOptions& instantiation, uint64_t seed, bool withOracle);

/// Simulates the attempt's configuration, which is one for these sizes, and compares as execute() does.
void simulated(Attempt& attempt, const equations::Graph& graph, const machine::ProcessorArray& array,
               const std::vector<int64_t>& sizes, uint64_t seed);

/// Whether the sizes keep the program's context, and its arrays are not too large for a test.
bool areAllowed(const equations::Graph& graph, const std::vector<int64_t>& sizes);

} // namespace strata::array
