// The wait between two calls ends when the object is to.
#include "runtime/core/periodically.h"

#include <condition_variable>
#include <mutex>

namespace strata::runtime {

Periodically::Periodically(std::chrono::microseconds interval, std::function<void()> call)
    : thread_([interval, call = std::move(call)](const std::stop_token& stop) {
        std::mutex lock;
        std::condition_variable_any never;
        std::unique_lock guard(lock);
        while (true) {
          never.wait_for(guard, stop, interval, [] { return false; });
          if (stop.stop_requested())
            return;
          call();
        }
      }) {}

} // namespace strata::runtime
