// What a simulation holds: elements with their registers, wires between them, banks. Made once from a configuration
// (simulate_load.cpp), then moved on by cycles (simulate.cpp). Used by one thread.
#pragma once

#include "runtime/array/simulate.h"
#include "runtime/array/simulate_banks.h"
#include "runtime/array/simulate_program.h"
#include "runtime/array/simulate_registers.h"
#include "runtime/array/simulate_steps.h"

namespace strata::array {

struct SimulationFailure {
  SimulationError error;
};

/// From which iteration on which of a class's signals are 1, as bits by place; until the next change.
struct SignalChange {
  int64_t iteration = 0;
  uint64_t ones = 0;
};

using SignalChanges = std::vector<SignalChange>;

/// The signals of a class.
struct ClassSignals {
  std::vector<const IterationRuns*> runs; // of each, by place
  /// By iteration, that of the first is 0; of the first StepTable::mostSignals signals.
  std::shared_ptr<const SignalChanges> changes;
};

struct SimulatedElement {
  Step* step = nullptr; // what is next; none: all its units have halted
  int64_t due = 0;      // in this cycle
  int64_t wake = 0;     // the next cycle in which there is anything to do with it; all before are over
  int64_t last = 0;     // the cycle in which its programs must have ended
  const DecodedClass* decoded = nullptr;
  RegisterState* registers = nullptr;   // by place in the class
  const SignalChange* change = nullptr; // of the signals, in force in cycle due or before
  /// By place in the class: who writes an input register, if that is an element.
  const SimulatedElement** writers = nullptr;
  std::vector<const SimulatedElement*> upstream; // these, each once
  StepTable* table = nullptr;                    // the class's
  int64_t start = 0;
  int64_t nextChange = 0;   // the cycle in which the change after that comes into force; INT64_MAX when there is none
  uint32_t firstOutput = 0; // in the simulation's wires
  uint32_t row = 0, column = 0, region = 0;
};

/// Where a wire from an output register ends: a bank, or an input register of an element (none when no instruction
/// reads it).
struct WireTarget {
  RegisterState* reg = nullptr;
  OutputBank* bank = nullptr;
  int64_t cycles = 0;
  uint32_t element = 0, place = 0, index = 0; // the register's place in its class, and its number
};
struct OutputWires {
  uint32_t first = 0, count = 0; // in targets
};

/// From an input bank to one register.
struct InputWire {
  Words<const std::byte> words;
  int64_t cycles;  // from the border
  int64_t arrival; // of the next word; INT64_MAX when there is none

  /// The next word, after which another is. REQUIRES: words.isInside().
  uint64_t take() {
    const uint64_t value = loadElement(words.at(), words.type());
    words.next();
    arrival = words.isDone() ? INT64_MAX : words.cycle() + cycles;
    return value;
  }
};

class Simulation {
public:
  /// In step: all elements are simulated cycle by cycle, so that what is traced and the first error come in their
  /// order. Otherwise elements run ahead of each other where that changes nothing, which is faster; that there is an
  /// error is found just as well, but not which is the first.
  enum class Order : uint8_t { InStep, Ahead };

  Simulation(const machine::ProcessorArray& array, const Configuration& configuration,
             std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
             const SimulationOptions& options, SimulationStatistics& statistics, Order order)
      : order_(order), array_(array), configuration_(configuration), inputs_(inputs), outputs_(outputs),
        options_(options), statistics_(statistics), table_(configuration.extents) {}
  std::optional<SimulationError> run();
  /// What executes an instruction.
  static Runner runnerOf(const DecodedInstruction& instruction, bool isHeld, bool isTraced);

private:
  void load();
  void loadSignals();
  void loadElements();
  void loadBanks();
  void connectInput(const Bank& bank, const IterationRuns& runs);

  std::vector<SimulatedElement*> running();
  int64_t runCycles();
  int64_t runAhead();
  void runUntil(SimulatedElement& element, int64_t until);
  static bool isReady(const SimulatedElement& element);
  [[gnu::always_inline]] void step(SimulatedElement& element, int64_t now);
  [[noreturn]] void failLate(const SimulatedElement& element) const;
  void executeAll(Step& step, SimulatedElement& element, int64_t now);
  static bool isAsBefore(const SimulatedElement& element);
  [[gnu::noinline]] void stepUnusually(SimulatedElement& element, int64_t now);
  void followSignals(SimulatedElement& element, int64_t now) const;
  void setNextChange(SimulatedElement& element) const {
    const int64_t iteration = element.change[1].iteration;
    element.nextChange = iteration == INT64_MAX ? INT64_MAX : element.start + iteration * configuration_.interval;
  }
  [[gnu::noinline]] Successor successor(SimulatedElement& element, int64_t now);
  void forgetSteps(const SimulatedElement& element);

  // simulate_operations.cpp
  uint64_t read(SimulatedElement& element, const StepOperation& operation, const DecodedSource& source,
                DecodedSource::Kind kind, const uint64_t* before, int64_t now);
  [[gnu::noinline]] uint64_t readWord(SimulatedElement& element, const StepOperation& operation, size_t place,
                                      int64_t now);
  [[gnu::noinline]] uint64_t readWords(SimulatedElement& element, const StepOperation& operation, size_t place,
                                       int64_t now);
  [[gnu::noinline]] uint64_t readUnusual(SimulatedElement& element, const StepOperation& operation, size_t place,
                                         int64_t now);
  void put(SimulatedElement& element, size_t place, int64_t now, TimedValue arrival);
  [[gnu::noinline]] void putUnusual(SimulatedElement& element, size_t place, int64_t now, TimedValue arrival);
  void distribute(SimulatedElement& element, const StepOperation& operation, int64_t now, TimedValue result);
  template <DecodedInstruction::Result result, DecodedSource::Kind... kinds>
  static void execute(Simulation& self, SimulatedElement& element, const StepOperation& operation, int64_t now);
  static void executeTraced(Simulation& self, SimulatedElement& element, const StepOperation& operation, int64_t now);
  static void failHeld(Simulation& self, SimulatedElement& element, const StepOperation& operation, int64_t now);
  template <DecodedInstruction::Result result, DecodedSource::Kind... kinds>
  static Runner chosen(const DecodedInstruction& instruction);

  [[gnu::noinline]] void pull(SimulatedElement& element, size_t place, int64_t now);
  void send(const SimulatedElement& element, uint32_t unit, size_t output, int64_t now, TimedValue value);
  [[gnu::noinline]] void sendUnusual(const WireTarget& target, int64_t now, TimedValue word);
  void finish(int64_t end);

  static std::string at(const SimulatedElement& element);
  std::string bankName(const Bank& bank) const;
  [[noreturn]] static void fail(int64_t cycle, const std::string& message, bool isUsers = false,
                                const SimulatedElement* element = nullptr);
  [[noreturn]] void failAt(int64_t cycle, const SimulatedElement& element, uint32_t unit, const std::string& message,
                           bool isUsers = false) const;
  [[noreturn]] void failAt(RegisterFault fault, const SimulatedElement& element, size_t place, int64_t now,
                           int64_t arrival, const std::string& unit) const;
  template <typename Byte>
  [[noreturn]] void failOutside(const Words<Byte>& words) const {
    fail(words.cycle(), bankName(words.bank()) + "element " + std::to_string(words.element()) + " is not in its block");
  }
  [[noreturn]] void failNowhere(const SimulatedElement& element, uint32_t unit, size_t output, int64_t now) const;
  [[noreturn]] void failEvaluation(const SimulatedElement& element, const StepOperation& operation,
                                   const uint64_t* values, int64_t now) const;

  const Order order_;
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
  std::vector<StepTable> tables_;          // by class
  std::vector<SimulatedElement> elements_; // by row and column
  RegisterPool pool_;
  std::vector<RegisterState> registers_;
  std::vector<ClassSignals> signals_; // by class
  std::vector<const SimulatedElement*> writers_;
  std::vector<OutputWires> outputWires_;
  std::vector<WireTarget> targets_;
  std::vector<InputWire> inputWires_;
  std::vector<OutputBank> outputBanks_;
};

} // namespace strata::array
