// The memory tracker (HPVM reference, "Host Code"): the objects in memory that graphs may be given, by the address
// where they begin. Host and graphs share one memory here, so that nothing is copied. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace strata::hpvm {

class Tracker {
public:
  /// False when an object that begins there is tracked already.
  bool track(uintptr_t begin, size_t bytes);
  /// False when none begins there.
  bool untrack(uintptr_t begin);
  /// The bytes of the object that begins there, if one does.
  std::optional<size_t> objectAt(uintptr_t begin) const;
  /// How many bytes an object has from an address within it to its end; nothing when the address is in none.
  std::optional<size_t> bytesFrom(uintptr_t address) const;
  /// Forgets all of them; gives how many there were.
  size_t clear();

private:
  mutable std::mutex lock_;
  std::map<uintptr_t, size_t> objects_;
};

} // namespace strata::hpvm
