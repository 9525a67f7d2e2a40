// What the units of an element do in a cycle, found once: the programs of a class as an automaton. A state is where
// each unit stands in its program; its step has the operations of the cycle, in order, and by the values of the signals
// that branches of the cycle test, which state is next and after how many cycles. All elements of a class share it.
// States are made when an element first comes to them, since most of those that programs allow never occur. Used by one
// thread.
#pragma once

#include "runtime/array/simulate_program.h"

#include <algorithm>
#include <memory>
#include <memory_resource>
#include <span>
#include <unordered_map>
#include <vector>

namespace strata::array {

class Simulation;
struct SimulatedElement;
struct StepOperation;

/// Executes one operation of an element in cycle `now`.
using Runner = void (*)(Simulation&, SimulatedElement&, const StepOperation&, int64_t now);

/// An instruction that is no nop, in one unit.
struct StepOperation {
  Runner run = nullptr;
  const DecodedInstruction* instruction = nullptr;
  uint32_t unit = 0, unitClass = 0; // the instance, and its class in the machine
  uint32_t slot = 0;
  uint32_t held = 0; // for how many more cycles the operation before holds the unit, which is an error
};

/// Where a unit stands that has not halted.
struct UnitState {
  uint32_t program = 0; // in DecodedClass::programs
  uint32_t slot = 0;    // its next instruction that is more than a nop
  uint32_t wait = 0;    // cycles until then
  uint32_t held = 0;    // cycles until it can begin an operation
  friend bool operator==(const UnitState&, const UnitState&) = default;
};

/// A state: the units that have not halted, by program.
using Units = std::span<const UnitState>;

struct Step;
struct Successor {
  uint64_t signals = 0; // the class's signals that are 1, of those that the step tests, as bits by place
  Step* step = nullptr; // none: all units have halted
  int64_t cycles = 0;   // until it is executed
  bool isBusy = false;  // it has operations
};

/// Its lists lie in the memory of its table.
struct Step {
  Units units; // one of them waits no longer
  std::span<const StepOperation> operations;
  std::span<const uint16_t> inputs;       // places of the input registers from which they take, each once
  uint64_t tests = 0;                     // which signals the cycle's branches test, by place
  Successor likely;                       // what followed last; 0 cycles: not known
  std::pmr::vector<Successor> successors; // those that have occurred
  int64_t visits = 0;
};

/// The states of one class that occur.
class StepTable {
public:
  explicit StepTable(const DecodedClass& decoded, bool isTraced) : decoded_(&decoded), isTraced_(isTraced) { clear(); }

  /// The state in which programs begin, and in how many cycles; empty where there is none. Until the next state is
  /// asked for.
  std::pair<Units, int64_t> atBegin();
  /// The step of a state, made if it is new. Stays where it is until clear(). REQUIRES: some unit waits no longer.
  Step* find(Units units);
  /// More signals have no room in `tests`: then steps test none, and what follows them is not kept.
  static constexpr size_t mostSignals = 64;

  /// The state after a step, and in how many cycles; none where all units have halted. Until the next state is asked
  /// for. `isOne(place)` tells a signal's value.
  template <typename IsOne>
  std::pair<Units, int64_t> after(const Step& step, IsOne&& isOne) {
    next_.clear();
    for (UnitState state : step.units) {
      if (state.wait == 0) {
        const DecodedInstruction& instruction = decoded_->programs[state.program].instructions[state.slot];
        if (instruction.branch == Branch::Kind::Halt)
          continue;
        size_t chosen = 0;
        for (uint32_t bit = 0; bit < instruction.signals; ++bit)
          chosen |= size_t{isOne(decoded_->tests[instruction.firstSignal + bit])} << bit;
        const DecodedTarget& next = instruction.branch == Branch::Kind::If
                                        ? decoded_->targets[instruction.firstTarget + chosen]
                                        : instruction.next;
        if (instruction.evaluate)
          state.held = instruction.interval;
        state.slot = next.slot;
        state.wait = next.idle + 1;
      }
      next_.push_back(state);
    }
    const int64_t cycles = passTime(next_);
    return {next_, cycles};
  }

  size_t size() const { return states_->steps.size(); }
  void clear() { states_ = std::make_unique<States>(); }
  /// Adds what the steps have executed to the operations of each class of units.
  void count(std::vector<int64_t>& operations) const;

private:
  /// To the cycle in which the next unit waits no longer; how many cycles that are.
  static int64_t passTime(std::vector<UnitState>& units);

  const DecodedClass* decoded_;
  bool isTraced_;
  struct Hash {
    size_t operator()(Units units) const {
      uint64_t hash = units.size();
      for (const UnitState& each : units)
        for (const uint64_t half : {uint64_t{each.program} << 32 | each.slot, uint64_t{each.wait} << 32 | each.held})
          hash = (hash ^ half) * 0x9E3779B97F4A7C15u + (hash >> 29);
      return hash ^ hash >> 32;
    }
  };
  struct Equal {
    bool operator()(Units a, Units b) const { return std::ranges::equal(a, b); }
  };
  /// All states at once, with their lists: given back together.
  struct States {
    std::pmr::monotonic_buffer_resource memory;
    std::pmr::unordered_map<Units, Step, Hash, Equal> steps{&memory};
  };
  template <typename T>
  std::span<const T> keep(std::span<const T> list) {
    T* const made = std::pmr::polymorphic_allocator<T>(&states_->memory).allocate(list.size());
    std::uninitialized_copy(list.begin(), list.end(), made);
    return {made, list.size()};
  }

  std::unique_ptr<States> states_;
  std::vector<UnitState> next_;
  std::vector<StepOperation> operations_; // of the step that is being made
  std::vector<uint16_t> inputs_;          // of the same
};

} // namespace strata::array
