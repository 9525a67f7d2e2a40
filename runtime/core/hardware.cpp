// Keeps the figures of the hardware; see hardware.h.
#include "runtime/core/hardware.h"

namespace strata::runtime {

static Hardware figuresInUse;

const Hardware& hardware() {
  return figuresInUse;
}

void setHardware(const Hardware& figures) {
  figuresInUse = figures;
}

} // namespace strata::runtime
