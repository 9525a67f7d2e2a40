// The target of machines with a processor array: kernels of equations run on the array, and what surrounds them on the
// machine's core. Here the array is the simulator of runtime/array/, which knows a concrete configuration and nothing
// else, and the core is the interpreter: a logical program runs as it is, but for those kernels.
#pragma once

#include "compiler/target/target.h"

namespace strata::array {

const target::Target& target();

} // namespace strata::array
