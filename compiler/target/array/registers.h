// Registers for values that live within an iteration: circular arcs over the interval get as few registers as possible.
// A problem, its check and verification, and an exact solver. Plain data without MLIR or isl; used by one thread.
//
// Source: Chaitin et al. 1981; "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 5.3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::array {

struct RegisterProblem {
  /// Occupies its register from cycle `first`, `cycles` long, in every interval.
  struct Value {
    std::string name;
    int64_t first = 0;
    int64_t cycles = 1; // 1 to interval
  };
  int64_t interval = 1;
  uint32_t registers = 0; // there are
  std::vector<Value> values;
  /// Pairs that may share a register though their cycles meet.
  std::vector<std::pair<uint32_t, uint32_t>> compatible;

  /// What is wrong with the problem; empty when it is sound.
  std::string check() const;
};

struct RegisterAllocation {
  std::vector<uint32_t> registers; // by value
  uint32_t used = 0;
  uint32_t lowerBound = 0; // no allocation uses fewer: proved
};

/// With the fewest registers that were found; nothing if there is none with those that exist: `needed` is then a proved
/// lower bound of how many it takes.
std::optional<RegisterAllocation> solve(const RegisterProblem& problem, uint32_t& needed);

/// What the allocation breaks, for people; empty if nothing. Shares no code with the solver.
std::string verify(const RegisterProblem& problem, const RegisterAllocation& allocation);

} // namespace strata::array
