// When what a program does happens on a machine: executors in the order of their time, transfers at the pace of the
// slowest thing on their way, one behind the other where they need the same one. Discrete events; pure, one thread.
#pragma once

#include "compiler/cost/estimate.h"
#include "compiler/cost/steps.h"

namespace strata::cost {

/// Everything of an estimate but its counters and assumptions. `events`: what happened is kept, as far as there is
/// room.
Estimate simulate(const Walked& walked, const Machine& machine, const Routes& routes, bool keepsEvents);

} // namespace strata::cost
