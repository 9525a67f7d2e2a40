// What compiled code prints. Each run context has one Output, which all executions within it share, so that two
// programs that call entry points at the same time do not mix their lines. It is open while an entry point is under
// way. Any thread may call everything here.
#pragma once

#include "runtime/core/spin_lock.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::runtime {

/// The text of a print: `format` with its values filled in (runtime/abi.h). Values that are missing count as 0.
std::string formatPrint(const char* format, const int64_t* values, int32_t count);

class Output {
public:
  /// An entry point begins, and ends. The end of the last one gives all that was added, sorted; that of others nothing.
  void begin();
  std::optional<std::string> end();
  bool isOpen() const { return entries_.load(std::memory_order_acquire) != 0; }

  /// False when it is not open.
  bool add(int64_t order, const char* format, const int64_t* values, int32_t count);
  /// The same for a text that is filled in: one that another process has printed.
  bool addText(int64_t order, std::string text);
  /// Ends as end() does, and gives what was added one by one, in order: for another process to add.
  std::vector<std::pair<int64_t, std::string>> endForOther();
  /// Writes what there is, in order, unless somebody is adding to it: for a program that fails.
  void writeIfIdle();

private:
  struct Part {
    int64_t order;
    size_t number; // by time
    std::string text;
  };
  std::vector<Part> takeSorted();
  std::string take();

  std::atomic<uint32_t> entries_{0}; // that have begun and not ended
  std::atomic<bool> dropped_{false}; // none of it is to be seen
  SpinLock lock_;                    // held to add and to take, and to change what is above
  std::vector<Part> parts_;
};

} // namespace strata::runtime
