// For tests of files: what is valid, instantiated for some sizes and regions, and run where that is short. Whatever a
// configuration says, each step ends with a result or with an error that says something.
#pragma once

#include "runtime/array/symbolic.h"

namespace strata::array::test {

struct Instances {
  bool isValid = false;                    // else nothing was tried
  size_t refused = 0, ran = 0, failed = 0; // by instantiation; to the end; with an error of the simulation
  std::string wrong;                       // an error without words; empty where there is none
};
Instances tryInstances(const Symbolic& symbolic, const machine::ProcessorArray& array);

} // namespace strata::array::test
