// What is said of a mapping that was made, for people: remarks, which change nothing.
#pragma once

#include "compiler/target/array/reorder.h"
#include "runtime/array/symbolic.h"

namespace strata::array {

/// Of the equations as they were rewritten, with copies of values that go to several places, and with the registers and
/// FIFOs that hold values.
struct ProvedInterval {
  int64_t least = 1;           ///< no schedule of that has a smaller interval
  bool isForRegisters = false; ///< the interval was made longer so that fewer values are alive
};

/// Which loops were skewed that nobody asked for, and why.
void tellSkews(const equations::Graph& source, const std::vector<Skew>& skews, const std::string& why,
               DiagnosticEngine& diagnostics);

/// What is known of an interval that is above its bound; nothing of others.
void tellInterval(const equations::Graph& source, const Symbolic& made, const ProvedInterval& proved,
                  DiagnosticEngine& diagnostics);

} // namespace strata::array
