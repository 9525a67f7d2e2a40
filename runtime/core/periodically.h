// A function that is called again and again, on a thread of its own, for as long as an object of this lives: for what
// has to be watched while the system, or another library, keeps the other threads waiting.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace strata::runtime {

class Periodically {
public:
  /// The first time when the interval has passed.
  Periodically(std::chrono::microseconds interval, std::function<void()> call);
  /// Returns when no call is under way any more. REQUIRES: it is on another thread than the calls.
  ~Periodically() = default;

private:
  std::jthread thread_;
};

} // namespace strata::runtime
