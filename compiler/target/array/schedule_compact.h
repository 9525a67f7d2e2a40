// Shortens the lives of values in a modulo schedule whose interval and length are settled. Used by one thread.
#pragma once

#include "compiler/target/array/schedule.h"

#include <cstdint>
#include <vector>

namespace strata::array {

/// Moves one operation at a time to where the values that it reads and writes live for the fewest cycles, else to the
/// earliest cycle, until none gains. A value lives from its arrival until the last operation that waits for it. No
/// arrival comes later than `length`. REQUIRES: the schedule is one for the problem; `exclusive` is by pairs of
/// operations.
void compact(const ScheduleProblem& problem, const std::vector<std::vector<bool>>& exclusive, int64_t length,
             Schedule& schedule);

} // namespace strata::array
