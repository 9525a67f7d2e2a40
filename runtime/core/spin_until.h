// Adaptive spinning: a side of a stream spins for a moment before it parks. Whether that pays depends on what the other
// side does, so each side learns it from its own past. Any thread and fibre.
#pragma once

#include "runtime/core/scheduler.h"
#include "runtime/core/spin_lock.h"

#include <algorithm>
#include <cstdint>

namespace strata::runtime {

/// Spins while that has paid off lately on this side. `spins` is the side's own figure: doubled by success, halved by
/// failure, and tried again now and then when it has come down to nothing.
template <typename Done>
bool spinUntil(int32_t& spins, Done done) {
  constexpr int32_t mostSpins = 256;
  if (spins < 1) {
    ++spins; // the figure counts up from below zero to the next try
    return false;
  }
  if (!worthSpinning())
    return false;
  for (int32_t i = 0, length = 1; i < spins; i += length) {
    for (int32_t k = 0; k < length; ++k)
      pause();
    if (done()) {
      spins = std::min(2 * spins, mostSpins);
      return true;
    }
    length = std::min(2 * length, 32); // grows, so that several elements come together
  }
  spins = spins > 8 ? spins / 2 : -64;
  return false;
}

} // namespace strata::runtime
