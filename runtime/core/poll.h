// Detects deadlock between instances of a concurrent job that wait for each other in loops. Each round of such a loop
// ends with a poll, which is given all of the instance's own state that decides how it goes on. An instance that comes
// to a poll twice with the same state, while nobody has changed anything in between, goes in circles: it will read the
// same and do the same again. When all instances that have not ended go in circles, nothing will ever change, and the
// program ends with an error that names every loop.
//
// An instance tells what it has changed at its next poll, or when it ends. Until then it does not count as going in
// circles. So when all count, nobody has changed anything that another one has not read.
#pragma once

#include "runtime/abi.h"
#include "runtime/core/spin_lock.h"

#include <atomic>
#include <cstdint>
#include <set>
#include <tuple>

/* What the runtime remembers of a poll, on the stack of the code that polls: zeros at first, followed by as many words
 * as the poll's state has. */
struct StrataPoll {
  uint64_t epoch; /* plus one; 0: nothing is remembered */
  uint64_t steps, limit;
  uint64_t inCircles;
  uint64_t eager; /* rounds since the instance let others run */
};

extern "C" {
/* Ends a round of a loop that waits, and lets others run. `changed`: the instance may have changed what others read
 * since its last poll. `state` are `count` words, all that is its own and decides how it goes on. `place` is the
 * loop's, and `instance` the number for messages, or negative. */
void strata_poll(StrataPoll* poll, const StrataCheck* place, int64_t instance, int32_t changed, const int64_t* state,
                 int32_t count);
}

namespace strata::runtime {

struct Execution;

/// The rounds of all instances of a job.
struct Rounds {
  explicit Rounds(int64_t instances) : running(instances) {}

  /// Something has changed, so that nobody is known to go in circles.
  void change();
  /// An instance has ended.
  void end();
  /// The caller goes in circles since `from`; fails when all do.
  void goesInCircles(uint64_t from, const StrataCheck* place, int64_t instance);

  std::atomic<uint64_t> epoch{0}; ///< how often something has changed
  SpinLock lock;
  int64_t running;
  std::set<std::tuple<int64_t, const Execution*, const StrataCheck*>> waiting; ///< those that go in circles
  std::set<const Execution*> known;                                            ///< in `waiting`
};

} // namespace strata::runtime
