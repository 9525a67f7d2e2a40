// What is said of a mapping that was made, for people: remarks, which change nothing.
#pragma once

#include "compiler/target/array/reorder.h"
#include "runtime/array/symbolic.h"

namespace strata::array {

/// Of the equations as they were rewritten, with copies of values that go to several places.
struct ProvedInterval {
  int64_t least = 1;           ///< no schedule of them has a smaller interval
  bool isForRegisters = false; ///< the interval was made longer so that fewer values are alive
};

/// Loops that count from others on, and why.
void tellSkews(const equations::Graph& source, const std::vector<Skew>& skews, const std::string& why,
               DiagnosticEngine& diagnostics);

/// What is known of an interval that is above its bound; nothing of others.
void tellInterval(const equations::Graph& source, const Symbolic& made, const ProvedInterval& proved,
                  DiagnosticEngine& diagnostics);

} // namespace strata::array
