// strata estimate: what a program would take on the machine that it is mapped to, from the machine's description alone
// (compiler/cost/).
#pragma once

#include "compiler/cost/estimate.h"
#include "compiler/driver/session/session.h"

#include <optional>

namespace strata::driver {

/// An estimate and what it is of.
struct Estimated {
  std::string entry, machine;
  std::map<std::string, int64_t> sizes;
  cost::Estimate estimate; ///< without assumptions, whose places go with the compilation
  std::vector<std::pair<Location, std::string>> assumptions;
  std::vector<std::string> processors; ///< the machine's classes, by number
  /// Of a machine that states no clock (Estimate::seconds), as if it had one of 1 GHz.
  double seconds() const { return estimate.seconds.value_or(estimate.cycles * 1e-9); }
};

/// Of the program of the session, as strata run would map it. Nothing on errors (reported). `keepsEvents`: for a
/// timeline.
std::optional<Estimated> estimateProgram(Session& session, bool keepsEvents = false);

/// Says what was taken for granted, as warnings.
void reportAssumptions(Session& session, const Estimated& estimated);

/// strata estimate. Returns an exit status.
int estimateCommand(Session& session);

} // namespace strata::driver
