// The library in its checked form: every rule is looked after unless the environment says otherwise.
#include "runtime/svm/program.h"

namespace strata::svm {
const bool linkedChecked = true;
} // namespace strata::svm
