// The memory tracker (HPVM reference, "Host Code"): the objects in memory that graphs may be given, by the address
// where they begin. Host and graphs share one memory, so that nothing is copied; or graphs have a memory of their own,
// as on a device, where each object has a copy, and the tracker knows where an object's elements are.
// Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace strata::hpvm {

class Tracker {
public:
  /// False when an object that begins there is tracked already.
  bool track(uintptr_t begin, size_t bytes);
  /// False when none begins there. What is in its copy alone is lost.
  bool untrack(uintptr_t begin);
  /// The bytes of the object that begins there, if one does.
  std::optional<size_t> objectAt(uintptr_t begin) const;
  /// How many bytes an object has from an address within it to its end; nothing when the address is in none.
  std::optional<size_t> bytesFrom(uintptr_t address) const;
  struct Range {
    uintptr_t begin;
    size_t bytes;
  };
  /// The object that an address counts as: of those that it is in, the one that reaches furthest.
  std::optional<Range> objectOf(uintptr_t address) const;
  /// An object that shares bytes with these, but does not begin there; nothing when there is none.
  std::optional<uintptr_t> overlapping(uintptr_t begin, size_t bytes) const;
  /// Forgets all of them; gives how many there were.
  size_t clear();

  // ---- a memory of the graphs' own ----

  /// Where an address within an object is in the object's copy, which has the host's values, unless a graph has written
  /// it since they were last asked for. `isWritten`: from now on the values are there alone. 0: no object has it, or
  /// there is no memory.
  uintptr_t give(uintptr_t address, bool isWritten);
  /// Brings the values of an object that begins there back to the host, if they are not there. False when none does.
  bool request(uintptr_t begin);
  /// Whether the copy that an address is in has other values than the host, which are not to go back there: somebody
  /// has written one of both who had said that nobody does.
  bool differs(uintptr_t inCopy) const;
  /// The address of the host's that an address in a copy stands for; another one is given back as it is.
  uintptr_t hostAddress(uintptr_t address) const;

private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Object {
    size_t bytes;
    std::unique_ptr<void, Free> memory = {}; // of the copy
    uintptr_t copy = 0;                      // where it begins; 0: there is none yet
    bool isWithGraphs = false;               // the copy alone has the values
  };
  /// The object that reaches furthest behind an address; the end when there is none.
  std::map<uintptr_t, Object>::const_iterator furthest(uintptr_t address) const;

  mutable std::mutex lock_;
  std::map<uintptr_t, Object> objects_;
};

} // namespace strata::hpvm
