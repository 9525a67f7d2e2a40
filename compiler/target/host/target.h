// The host as a target: scheduled programs become code for this computer's processors (lower.h, engine.h).
#pragma once

#include "compiler/target/target.h"

namespace strata::host {

const target::Target& target();

} // namespace strata::host
