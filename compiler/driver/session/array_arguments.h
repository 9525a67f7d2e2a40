// The options that say how loop programs go onto a processor array: --distribute, --order, --skew, --least-tile,
// --region,
// --tile, --corner. Whether there are loops of these names is seen later.
#pragma once

#include "compiler/driver/session/session.h"

namespace strata::driver {

/// Understands them into the options of the compilation. False on errors (reported).
bool readArrayArguments(Session& session);

} // namespace strata::driver
