// An example of instances that wait for each other in a circle, for messages. Internal to users of isl: throws
// isl::exception. Pure function.
#pragma once

#include "compiler/equations/order.h"

#include <string>

namespace strata::equations {

/// "N = 2: x[1] waits for y[0], y[0] waits for x[1]": the shortest circle for the smallest sizes that are looked at,
/// with at most 20,000 uses each. Empty where there is none: the equations then have no order by loops, and some order
/// for each of these sizes. REQUIRES: the flows are the system's.
std::string circleExample(const System& system, const Polyhedra& polyhedra, const std::vector<Flow>& flows,
                          const Circle& circle);

} // namespace strata::equations
