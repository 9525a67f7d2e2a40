// strata show of a processor array's trace: the page of a run, or a list of what every unit did, cycle by cycle.
#pragma once

#include "compiler/driver/session/session.h"

namespace strata::driver {

/// Where -o names no page it is the list. Returns an exit status.
int showArrayTrace(Session& session);

} // namespace strata::driver
