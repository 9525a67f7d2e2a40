// What a simulation holds: elements with their registers and units, wires between them, banks. Made once from a
// configuration (simulate_load.cpp), then moved on by cycles (simulate.cpp). Used by one thread.
#pragma once

#include "runtime/array/simulate.h"
#include "runtime/array/simulate_banks.h"
#include "runtime/array/simulate_program.h"
#include "runtime/array/simulate_registers.h"

namespace strata::array {

struct SimulationFailure {
  SimulationError error;
};

struct SimulatedUnit {
  const DecodedInstruction* program = nullptr;
  uint32_t slot = 0;
  uint32_t unit = 0, unitClass = 0; // the instance, and its class in the machine
  int64_t wake = 0;                 // the cycle of the slot's instruction; only nops stand before it
  int64_t free = 0;                 // the first cycle in which it can begin an operation
};

/// A control signal as an element sees it: which run of ones is the next or the present one.
struct SignalCursor {
  const Range* run = nullptr;
  const Range* end = nullptr;
};

struct SimulatedElement {
  int64_t start = 0;
  int64_t wake = 0;                     // the next cycle in which a unit does something
  int64_t iteration = 0, nextBegin = 0; // the iteration, and the cycle in which the next one begins
  int64_t last = 0;                     // the cycle in which its programs must have ended
  const DecodedClass* decoded = nullptr;
  RegisterState* registers = nullptr; // by place in the class
  uint32_t* feeds = nullptr;          // by the same: which input wire fills it, or none
  SimulatedUnit* units = nullptr;     // those that run first
  SignalCursor* signals = nullptr;    // by place in the class
  uint32_t running = 0;               // units
  uint32_t firstOutput = 0;           // in the simulation's wires
  uint32_t row = 0, column = 0, region = 0;
};

/// Where a wire from an output register ends: a bank, or an input register at a place of an element's class (-1 when
/// no instruction reads it).
struct WireTarget {
  int32_t bank = -1, place = -1;
  uint32_t element = 0, index = 0;
  int64_t cycles = 0;
};
struct OutputWires {
  uint32_t first = 0, count = 0; // in targets
};

/// From an input bank to one register.
struct InputWire {
  AddressGenerator generator;
  const std::byte* memory;
  int64_t cycles;
};

class Simulation {
public:
  Simulation(const machine::ProcessorArray& array, const Configuration& configuration,
             std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             const SimulationOptions& options, SimulationStatistics& statistics)
      : array_(array), configuration_(configuration), inputs_(inputs), outputs_(outputs), options_(options),
        statistics_(statistics), table_(configuration.extents) {}
  std::optional<SimulationError> run();

private:
  static constexpr uint32_t none = UINT32_MAX;

  void load();
  void loadElements();
  void loadBanks();
  void connectInput(const Bank& bank, const IterationRuns& runs);

  template <bool isTraced>
  int64_t runCycles();
  template <bool isTraced>
  void step(SimulatedElement& element, int64_t now);
  template <bool isTraced>
  void execute(SimulatedElement& element, SimulatedUnit& unit, const DecodedInstruction& instruction, int64_t now);
  void pull(SimulatedElement& element, size_t place, int64_t now);
  void send(const SimulatedElement& element, uint32_t unit, size_t output, int64_t now, TimedValue value);
  void finish(int64_t end);

  static std::string at(const SimulatedElement& element);
  std::string bankName(const Bank& bank) const;
  [[noreturn]] static void fail(int64_t cycle, const std::string& message, bool isUsers = false,
                                const SimulatedElement* element = nullptr);
  [[noreturn]] void failAt(int64_t cycle, const SimulatedElement& element, uint32_t unit, const std::string& message,
                           bool isUsers = false) const;
  [[noreturn]] void failAt(RegisterFault fault, const SimulatedElement& element, size_t place, int64_t now,
                           int64_t arrival, const std::string& unit) const;
  [[noreturn]] void failOutside(const AddressGenerator& generator) const;
  [[noreturn]] void failEvaluation(const SimulatedElement& element, const SimulatedUnit& unit, const uint64_t* values,
                                   int64_t now) const;

  const machine::ProcessorArray& array_;
  const Configuration& configuration_;
  std::span<const std::byte* const> inputs_;
  std::span<std::byte* const> outputs_;
  const SimulationOptions& options_;
  SimulationStatistics& statistics_;

  IterationTable table_;
  int64_t iterations_ = 1;             // of a tile
  std::vector<std::string> unitNames_; // by instance
  std::vector<int64_t> operations_;    // by class of units
  std::vector<DecodedClass> classes_;
  std::vector<SimulatedElement> elements_; // by row and column
  RegisterPool pool_;
  std::vector<RegisterState> registers_;
  std::vector<uint32_t> feeds_;
  std::vector<SimulatedUnit> units_;
  std::vector<SignalCursor> signals_;
  std::vector<OutputWires> outputWires_;
  std::vector<WireTarget> targets_;
  std::vector<InputWire> inputWires_;
  std::vector<OutputBank> outputBanks_;
};

} // namespace strata::array
