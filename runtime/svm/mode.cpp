// What the library is without a choice by the environment. The archive for -lstrata-svm-checked has checked.cpp in its
// place.
#include "runtime/svm/program.h"

namespace strata::svm {
const bool linkedChecked = false;
} // namespace strata::svm
