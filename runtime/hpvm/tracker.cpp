// Objects may overlap: a part of an array may be tracked beside the whole of it. The one that reaches furthest counts.
#include "runtime/hpvm/tracker.h"

#include <algorithm>

namespace strata::hpvm {

bool Tracker::track(uintptr_t begin, size_t bytes) {
  std::lock_guard guard(lock_);
  return objects_.emplace(begin, bytes).second;
}

bool Tracker::untrack(uintptr_t begin) {
  std::lock_guard guard(lock_);
  return objects_.erase(begin) > 0;
}

std::optional<size_t> Tracker::objectAt(uintptr_t begin) const {
  std::lock_guard guard(lock_);
  const auto found = objects_.find(begin);
  return found == objects_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<size_t> Tracker::bytesFrom(uintptr_t address) const {
  std::lock_guard guard(lock_);
  std::optional<size_t> most;
  for (auto object = objects_.upper_bound(address); object != objects_.begin();) {
    --object;
    const size_t before = address - object->first;
    // The end of an object is not in it, unless the object is empty.
    if (before < object->second || before == 0)
      most = std::max(most.value_or(0), object->second - before);
  }
  return most;
}

size_t Tracker::clear() {
  std::lock_guard guard(lock_);
  const size_t count = objects_.size();
  objects_.clear();
  return count;
}

} // namespace strata::hpvm
