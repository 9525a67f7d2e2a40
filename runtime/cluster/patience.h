// How long to look again and again for what another process sends before sleeping between two looks. A process that has
// a core to itself looks for a while: what comes within the time that a short part of a program takes is found at once.
// Where processes share cores, the one that is waited for needs the core.
#pragma once

#include "runtime/cluster/beginning.h"

#include <chrono>
#include <cstdint>
#include <unistd.h>

namespace strata::cluster {

/// One wait. Stateless between waits; each belongs to the thread or fibre that waits.
class Patience {
public:
  /// Between two looks.
  void wait() {
    // The clock is asked now and then only: a look takes less than it.
    constexpr int64_t mostLooks = 200, looksBetween = 64;
    if (++looks_ <= mostLooks || (hasOwnCore() && !isOver_ && (looks_ % looksBetween != 0 || !isTimeOver())))
      return;
    isOver_ = true;
    usleep(50);
  }

private:
  using Clock = std::chrono::steady_clock;

  static bool hasOwnCore() {
    static const bool has = hasCoreOfItsOwn();
    return has;
  }
  bool isTimeOver() {
    constexpr auto most = std::chrono::milliseconds(2);
    if (begin_ == Clock::time_point())
      begin_ = Clock::now();
    return Clock::now() - begin_ > most;
  }

  int64_t looks_ = 0;
  bool isOver_ = false;
  Clock::time_point begin_;
};

} // namespace strata::cluster
