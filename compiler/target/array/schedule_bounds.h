// What is certain about a modulo schedule with a given interval before anything is searched: units and recurrences that
// exclude the interval, and the windows in which operations begin. Used by one thread.
//
// Source: lower bounds of Rau and Glaeser 1981, with units of several classes and operations that exclude each other.
#pragma once

#include "compiler/target/array/schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::array {

/// The cycles by which a constraint's `to` begins after its `from`, when these are their latencies.
int64_t offsetCycles(const ScheduleProblem::Constraint& constraint, int64_t interval, int64_t fromLatency,
                     int64_t toLatency);

/// Symmetric, by operation: which exclude each other.
std::vector<std::vector<bool>> exclusivePairs(const ScheduleProblem& problem);

struct IntervalBounds {
  /// Why there is no schedule with this interval, for people; empty if that is not proved. Then the rest is not filled
  /// in.
  std::string impossible;
  /// By operation: choices that fit into the interval, on classes that have an instance.
  std::vector<std::vector<uint32_t>> choices;
  /// By operation: no schedule begins it earlier, counted from the first cycle; nor later, counted back from the last
  /// arrival.
  std::vector<int64_t> earliest, tail;
  /// By operation: if there is a schedule, there is one that begins none later; a shortest one too.
  std::vector<int64_t> latest;
  int64_t length = 0; // no schedule is shorter
};

/// REQUIRES: the problem is sound; 1 <= interval <= 2^24.
IntervalBounds boundsOf(const ScheduleProblem& problem, const std::vector<std::vector<bool>>& exclusive,
                        int64_t interval);

} // namespace strata::array
