// A cycle-accurate simulation of a processor array region: executes a concrete configuration and nothing else. Programs
// are decoded, values pass through registers, FIFOs, wrappers and banks with their latencies; whatever hardware would
// get wrong silently is an error with its cycle and place. Safe to call from several threads.
//
// Cost: an element that waits, executes nops or has halted takes no time; time grows with the other instructions.
#pragma once

#include "runtime/array/configuration.h"

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::array {

/// What went wrong, with the cycle and the place: "cycle 41, element (2, 0), unit alu1: feedback register fd0 is read
/// while it is empty". A configuration that instantiate() returns and that fails is our error, except for what values
/// decide (`isUsers`: a division by zero, a conversion out of range), and for want of memory (`isMemory`).
struct SimulationError {
  std::string message;
  bool isUsers = false;
  int64_t cycle = 0;
  bool isMemory = false;
  int64_t row = -1, column = -1; // of the element, where it is one's
  friend bool operator==(const SimulationError&, const SimulationError&) = default;
};

struct SimulationStatistics {
  int64_t cycles = 0; // from the controller's start to the last result's arrival; after an error, those that had begun
  int64_t operations = 0; // instructions other than nop, of all units; after an error, those before the one that failed
  std::vector<int64_t> unitOperations; // of them, by functional unit class of the machine, all instances together
  int64_t elementCycles = 0;           // cycles in which elements were executing, summed over the elements
  std::array<int64_t, 4> wordsIn{}, wordsOut{}; // through each border: north, east, south, west
  int64_t wordsFilled = 0, wordsEmptied = 0;    // between the host's memory and the banks (transfers.h says when)
  bool isRepeated = false;                      // simulated again in step, which takes an error
  friend bool operator==(const SimulationStatistics&, const SimulationStatistics&) = default;
};

/// What one unit did in one cycle.
struct TraceEvent {
  int64_t cycle = 0;
  uint32_t row = 0, column = 0, unit = 0; // the unit instance, counted over all units of the machine
  uint32_t position = 0;                  // of the instruction in its program
  std::array<uint64_t, 3> operands{};     // as far as it has any
  uint64_t result = 0;
};

struct SimulationOptions {
  std::function<void(const TraceEvent&)> trace; // called for every instruction but nops, by cycle
  bool isInStep = false; // all elements cycle by cycle, as for a trace; slower, with the same results
  /// So many states of a class's programs are kept beside one for each element. Programs whose units repeat themselves
  /// at different intervals may have any number; those that are not kept are made again.
  size_t mostStates = 1 << 14;
};

/// Runs a configuration on a region of `array`. `inputs` and `outputs` are the arrays of the configuration, in its
/// order and layout; elements of outputs that the program does not write stay as they are. After an error it is not
/// said what outputs hold. REQUIRES: as many of each, and their sizes, as the configuration's layouts say; they do not
/// overlap. The configuration may hold anything: what makes no sense is an error and never a crash.
std::optional<SimulationError> simulate(const machine::ProcessorArray& array, const Configuration& configuration,
                                        std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                                        const SimulationOptions& options, SimulationStatistics& statistics);

} // namespace strata::array
