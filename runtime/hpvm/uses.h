// The objects in memory that a launch works on, which the host leaves alone meanwhile. A launch executes its graph for
// one item, or for many if it is streaming; items count from 1. Not synchronised.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace strata::hpvm {

class ObjectUses {
public:
  enum class Use { None, Read, Written };

  /// An item works on the object that begins there.
  void add(uintptr_t begin, size_t bytes, bool isWritten, int64_t item);
  /// What items behind number `done` do to objects that share bytes with this one, or begin where it does.
  Use of(uintptr_t begin, size_t bytes, int64_t done) const;
  /// The object that begins there is none any more.
  void forget(uintptr_t begin) { objects_.erase(begin); }

private:
  struct Object {
    size_t bytes = 0;
    int64_t lastUsed = 0, lastWritten = 0; // by which item
  };
  std::map<uintptr_t, Object> objects_; // by where they begin
};

} // namespace strata::hpvm
