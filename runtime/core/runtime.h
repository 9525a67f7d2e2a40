// The runtime as a program that drives it sees it: how many threads, how large the stacks, and the figures and spans
// that compiled code left behind. Compiled code itself uses runtime/abi.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime {

/// The most threads that carry out a program.
constexpr uint32_t mostWorkers = 512;

/// Runs on n threads from here on, the caller included; 0: as many as this computer has cores, which is the default,
/// but not more than mostWorkers. A larger n is an error (runtime-threads). With one thread everything runs in the
/// caller, but for moves that go on beside it. Waits until the threads that there were have left what they execute;
/// what is ready or waits then goes on with the new ones. REQUIRES: the caller is no fibre, and no other thread does
/// the same.
void setThreads(uint32_t n);
/// The number of threads that STRATA_THREADS in the environment asks for, 0 where it is not set; nothing where it is no
/// number from 1 to mostWorkers.
std::optional<uint32_t> threadsInEnvironment();
/// What to do then.
std::string threadsHelp();
uint32_t threads();

/// Usable bytes of the stacks of fibres that begin from here on. Any thread.
void setFibreStackBytes(size_t bytes);
size_t fibreStackBytes();

/// Whether threads that have not called in yet may do so while others wait for them. A standstill is then no deadlock
/// as long as the process has threads that the runtime does not know. Off by default. Any thread.
void setForeignThreads(bool mayCall);

/// Whether entry points that begin from here on print; what they print is dropped otherwise. For repeated executions,
/// of which one says it all. On by default. Any thread.
void setPrinting(bool on);

/// The sums of strata_count by name within the caller's run context, over all threads, without those that are zero. Any
/// thread; exact when nothing runs.
std::map<std::string, int64_t> counters();
/// Of the same. REQUIRES: nothing runs.
void resetCounters();

/// The spans of the caller's run context that have ended, in Chrome's JSON: a process for every class of processors, a
/// thread for every instance. `more`: further members of the document, as JSON. Any thread.
std::string traceJson(std::string_view more = {});
/// What the spans of one name come to.
struct SpanTotal {
  int64_t runs = 0, instances = 0, nanoseconds = 0;
};
/// Those of the caller's run context that have ended, without waits and moves, by name. Any thread.
std::map<std::string, SpanTotal> spanTotals();
/// Text as JSON has it.
std::string quotedInJson(std::string_view text);
/// The spans of several calls as one trace, the calls' processors apart. Any thread.
class TraceOfCalls {
public:
  static constexpr size_t mostCalls = 4096, mostBytes = size_t(64) << 20;
  /// Adds those of the caller's run context. `heading` stands in front of the names of its processors. `parts`: of
  /// a call that is a loop whose iterations run at once, each on processors of its own, what they are called. Does
  /// nothing once there are too many.
  void add(const std::string& heading, const std::vector<std::string>& parts = {});
  size_t calls() const { return calls_; }
  size_t kept() const { return kept_; }
  /// False when the file cannot be written.
  bool write(const std::string& path);

private:
  std::mutex lock_;
  std::string events_;
  int processes_ = 0;
  int64_t origin_ = 0;
  size_t calls_ = 0, kept_ = 0;
};
/// False when the file cannot be written.
bool writeTrace(const std::string& path);
void clearTrace();

} // namespace strata::runtime
