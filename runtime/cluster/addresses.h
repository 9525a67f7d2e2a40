// Addresses that mean the same on every rank of a cluster: three stretches of address space, reserved at one place in
// each process. The first is rank 0's memory, where all that it allocates lies; the second the stores of the machine,
// of which a rank uses those of its own instances; the third the windows of rank 0. So descriptions of blocks go from
// rank to rank as they are.
#pragma once

#include "runtime/core/system_memory.h"

#include <atomic>
#include <cstddef>

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
  /// The next bytes of a stretch, in whole pages; null when there are no more.
  static void* next(const Stretch& stretch, std::atomic<size_t>& used, size_t bytes);

  runtime::SystemMemory& computer_;
  const bool isHome_;
  std::atomic<size_t> home_{0}, stores_{0}, windows_{0}; // bytes that are given out
};

} // namespace strata::cluster
