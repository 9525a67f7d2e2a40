// Objects may overlap in a shared memory: a part of an array may be tracked beside the whole of it. The one that
// reaches furthest counts.
#include "runtime/hpvm/tracker.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace strata::hpvm {

/// A copy lies as its object does within a line of a cache.
static constexpr size_t lineBytes = 64;

bool Tracker::track(uintptr_t begin, size_t bytes) {
  std::lock_guard guard(lock_);
  return objects_.emplace(begin, Object{bytes}).second;
}

bool Tracker::untrack(uintptr_t begin) {
  std::lock_guard guard(lock_);
  return objects_.erase(begin) > 0;
}

std::optional<size_t> Tracker::objectAt(uintptr_t begin) const {
  std::lock_guard guard(lock_);
  const auto found = objects_.find(begin);
  return found == objects_.end() ? std::nullopt : std::optional(found->second.bytes);
}

std::map<uintptr_t, Tracker::Object>::const_iterator Tracker::furthest(uintptr_t address) const {
  auto best = objects_.end();
  size_t most = 0;
  for (auto object = objects_.upper_bound(address); object != objects_.begin();) {
    --object;
    const size_t before = address - object->first;
    // The end of an object is not in it, unless the object is empty.
    if ((before < object->second.bytes || before == 0) &&
        (best == objects_.end() || object->second.bytes - before > most)) {
      best = object;
      most = object->second.bytes - before;
    }
  }
  return best;
}

std::optional<size_t> Tracker::bytesFrom(uintptr_t address) const {
  std::lock_guard guard(lock_);
  const auto found = furthest(address);
  return found == objects_.end() ? std::nullopt : std::optional(found->second.bytes - (address - found->first));
}

std::optional<Tracker::Range> Tracker::objectOf(uintptr_t address) const {
  std::lock_guard guard(lock_);
  const auto found = furthest(address);
  return found == objects_.end() ? std::nullopt : std::optional(Range{found->first, found->second.bytes});
}

std::optional<uintptr_t> Tracker::overlapping(uintptr_t begin, size_t bytes) const {
  std::lock_guard guard(lock_);
  for (const auto& [other, object] : objects_)
    if (other != begin && other < begin + bytes && begin < other + object.bytes)
      return other;
  return std::nullopt;
}

size_t Tracker::clear() {
  std::lock_guard guard(lock_);
  return std::exchange(objects_, {}).size();
}

uintptr_t Tracker::give(uintptr_t address, bool isWritten) {
  std::lock_guard guard(lock_);
  const auto found = furthest(address);
  if (found == objects_.end())
    return 0;
  Object& object = objects_.at(found->first);
  const size_t within = found->first % lineBytes;
  if (!object.copy) {
    const size_t bytes = (within + object.bytes + lineBytes) / lineBytes * lineBytes;
    object.memory.reset(std::aligned_alloc(lineBytes, bytes));
    if (!object.memory)
      return 0;
    object.copy = reinterpret_cast<uintptr_t>(object.memory.get()) + within;
  }
  if (!object.isWithGraphs)
    std::memcpy(reinterpret_cast<void*>(object.copy), reinterpret_cast<const void*>(found->first), object.bytes);
  object.isWithGraphs |= isWritten;
  return object.copy + (address - found->first);
}

bool Tracker::request(uintptr_t begin) {
  std::lock_guard guard(lock_);
  const auto found = objects_.find(begin);
  if (found == objects_.end())
    return false;
  Object& object = found->second;
  if (std::exchange(object.isWithGraphs, false))
    std::memcpy(reinterpret_cast<void*>(begin), reinterpret_cast<const void*>(object.copy), object.bytes);
  return true;
}

bool Tracker::differs(uintptr_t inCopy) const {
  std::lock_guard guard(lock_);
  for (const auto& [begin, object] : objects_)
    if (object.copy && inCopy - object.copy < std::max<size_t>(object.bytes, 1))
      return !object.isWithGraphs && std::memcmp(reinterpret_cast<const void*>(object.copy),
                                                 reinterpret_cast<const void*>(begin), object.bytes) != 0;
  return false;
}

uintptr_t Tracker::hostAddress(uintptr_t address) const {
  std::lock_guard guard(lock_);
  for (const auto& [begin, object] : objects_)
    if (object.copy && address - object.copy < std::max<size_t>(object.bytes, 1))
      return begin + (address - object.copy);
  return address;
}

} // namespace strata::hpvm
