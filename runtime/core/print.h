// What compiled code prints. Each entry point has one Output, which all executions within it share, so that two
// programs that call entry points at the same time do not mix their lines. Any thread may add; the entry point's own
// execution makes it and ends it.
#pragma once

#include "runtime/core/spin_lock.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace strata::runtime {

/// The text of a print: `format` with its values filled in (runtime/abi.h). Values that are missing count as 0.
std::string formatPrint(const char* format, const int64_t* values, int32_t count);

class Output {
public:
  explicit Output(bool dropped) : dropped_(dropped) {}
  void add(int64_t order, std::string text);
  bool dropped() const { return dropped_; }
  /// Everything, sorted. REQUIRES: nobody adds any more.
  std::string text();

  /// Writes what there is, in order, unless somebody is adding to it: for a program that fails.
  void writeIfIdle();

  /// Entry points of this output that have begun and not ended.
  std::atomic<uint32_t> entries{1};

private:
  struct Part {
    int64_t order;
    size_t number; // by time
    std::string text;
  };
  const bool dropped_;
  SpinLock lock_;
  std::vector<Part> parts_;
};

} // namespace strata::runtime
