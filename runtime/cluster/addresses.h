// Addresses that mean the same on every rank of a cluster: three stretches of address space, reserved at one place in
// each process. The first is rank 0's memory, where all that it allocates lies; the second the stores of the machine,
// of which a rank uses those of its own instances; the third the windows of rank 0. So descriptions of blocks go from
// rank to rank as they are.
#pragma once

#include "runtime/core/system_memory.h"

#include <cstddef>
#include <map>
#include <mutex>

namespace strata::cluster {

struct Stretch {
  char* first;
  size_t bytes;
  bool has(const void* address) const { return static_cast<size_t>(static_cast<const char*>(address) - first) < bytes; }
};

/// Gives out the stretches, and is the process's memory (runtime::setSystemMemory) afterwards. Any thread.
class Addresses final : public runtime::SystemMemory {
public:
  /// `isHome`: this is rank 0.
  Addresses(runtime::SystemMemory& computer, bool isHome) : computer_(computer), isHome_(isHome) {}
  /// Reserves the stretches; false where something else lies there.
  bool reserveStretches();

  static Stretch home();
  static Stretch stores();
  static Stretch windows();

  void* map(size_t bytes) override;
  void* reserve(size_t bytes) override;
  void* reserveAlike(size_t bytes) override;
  bool commit(void* base, size_t bytes) override { return computer_.commit(base, bytes); }
  void unmap(void* base, size_t bytes) override;
  void preferLargePages(void* base, size_t bytes) override { computer_.preferLargePages(base, bytes); }
  uint64_t available() override { return computer_.available(); }
  uint64_t total() override { return computer_.total(); }

private:
  /// Addresses of a stretch that are given out, in whole pages, and those that came back, to be given again.
  struct Given {
    Stretch stretch;
    size_t used = 0;                        // from the beginning on
    std::multimap<size_t, char*> back = {}; // by how many bytes

    void* take(size_t bytes);
    bool giveBack(void* first, size_t bytes);
  };

  runtime::SystemMemory& computer_;
  const bool isHome_;
  std::mutex lock_; // of what follows
  Given home_{home()}, stores_{stores()}, windows_{windows()};
};

} // namespace strata::cluster
