// The interpreter as a target: logical programs run as they are, one operation after another, copies taken literally.
// No code is made and nothing of the runtime is used, so that it shares nothing with the others.
#pragma once

#include "compiler/target/target.h"

namespace strata::interpret {

const target::Target& target();

} // namespace strata::interpret
