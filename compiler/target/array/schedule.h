// Modulo scheduling for one element of a processor array: units and offsets of operations such that iterations begin
// every `interval` cycles. A problem, what it is to check and verify, and its solver, which is exact: the interval is
// proved smallest, or the bound that was proved is said. Plain data without MLIR or isl; used by one thread.
//
// Source: Rau and Glaeser 1981; "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 5.2;
// Witterauf et al. 2016 for distances in symbolic tiles, of which the least is what counts here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::array {

struct ScheduleProblem {
  /// A class of like functional units.
  struct Unit {
    std::string name;
    uint32_t count = 1;
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  struct Choice {
    uint32_t unit = 0;   // class
    int64_t busy = 1;    // cycles until the unit can begin another operation
    int64_t latency = 1; // cycles until the result can be read
    friend bool operator==(const Choice&, const Choice&) = default;
  };
  struct Operation {
    std::string name;
    std::vector<Choice> choices; // by which classes it can be executed; at most one of each class
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  /// time(to) + interval · iterations >= time(from) + cycles, where a time is the operation's offset, or with `arrival`
  /// that of its result: offset + latency.
  struct Constraint {
    uint32_t from = 0, to = 0;
    bool fromArrival = false, toArrival = false;
    int64_t iterations = 0;
    int64_t cycles = 0;
    friend bool operator==(const Constraint&, const Constraint&) = default;
  };
  std::vector<Unit> units;
  std::vector<Operation> operations;
  std::vector<Constraint> constraints;
  /// Pairs that are never both executed in one iteration: they may share a unit in the same cycles if they begin at the
  /// same offset. Others, and those at different offsets, must not overlap on a unit in any of `interval` slots.
  std::vector<std::pair<uint32_t, uint32_t>> exclusive;

  /// What is wrong with the problem; empty when it is sound.
  std::string check() const;
  friend bool operator==(const ScheduleProblem&, const ScheduleProblem&) = default;
};

struct Schedule {
  int64_t interval = 1;
  int64_t lowerBound = 1; // no schedule has a smaller interval: proved
  struct Slot {
    int64_t offset = 0;    // of the operation's begin, 0 or more
    uint32_t choice = 0;   // of its choices
    uint32_t instance = 0; // of the unit's class
  };
  std::vector<Slot> slots; // by operation
};

struct ScheduleOptions {
  int64_t leastInterval = 1; // smaller ones are not tried, and nothing is proved of them
  int64_t largestInterval = 256;
  /// Of the solver, for each question that it is asked: a number of conflicts and no time, so that results are the same
  /// on every computer.
  int64_t conflicts = 200'000;
  /// Whether a short schedule is looked for, which takes most of the time. Without, the interval and its bound are the
  /// same, and the schedule is any with that interval.
  bool isShort = true;
  friend bool operator==(const ScheduleOptions&, const ScheduleOptions&) = default;
};

/// A schedule with the smallest interval that was found, among those one with the least length that was found; nothing
/// if there is none up to the largest interval, or none was found: `why` says what stands in the way.
std::optional<Schedule> solve(const ScheduleProblem& problem, const ScheduleOptions& options, std::string& why);

/// What the schedule breaks, for people; empty if nothing. Shares no code with the solver.
std::string verify(const ScheduleProblem& problem, const Schedule& schedule);

} // namespace strata::array
