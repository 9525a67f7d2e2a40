// What a program of streams has done so far, for STRATA_RECORD=FILE: the graph of kernels, streams and blocks with the
// elements that went through each, how long who waited for room or for elements, and the states of kernels over time.
// One file holds both: it is a trace in Chrome's format, and beside the events it has the graph (docs/pictures.md).
//
// A program that is not recorded has no Recorder, and pays a test of a pointer on slow paths. What goes through a
// quick path is counted by the stream itself and read when its side is settled. The recorder has tables of its own, and
// never touches a stream that no kernel has at hand: it may be gone.
//
// Any thread. Locks are taken in this order: the program's, the recorder's, that of a stream's record, that of a
// recorded stream or kernel. Times are nanoseconds of the monotonic clock.
#pragma once

#include "runtime/core/spin_lock.h"
#include "runtime/svm/block.h"
#include "runtime/svm/stream.h"
#include "runtime/svm/track.h"

#include <set>

namespace strata::svm {

/// A kernel's variable, over all its executions.
struct RecordedKernel {
  size_t number = 0;
  std::string name, place, processor, kind;
  bool beside = false; // one of several that move data on a processor at once
  std::atomic<KERNEL_STATUS> status{KERNEL_UNSTARTED};

  runtime::SpinLock lock; // guards what follows
  int64_t since = 0;      // when the status began
  uint64_t runs = 0;
  int64_t time[5] = {};   // in each status, by KERNEL_STATUS, up to `since`
  Track states[5];        // WAITING, RUNNING and PAUSED
  Track stalls;           // what a stretch is of: 2 * stream, + 1 for a wait for room
  int64_t stallBegan = 0; // 0: none is under way
  uint32_t stallOf = 0;
};

/// One side of a stream as one kernel used it, or control, which is no kernel.
struct RecordedUse {
  RecordedKernel* kernel = nullptr;
  bool pushes = false;
  uint64_t elements = 0; // of kernels
  uint64_t stalls = 0;
  int64_t stalled = 0;
  int64_t began = 0; // of the stall that is under way; 0: none
};

/// A stream's variable, over all its initialisations.
struct RecordedStream {
  size_t number = 0;
  std::string name;
  std::atomic<uint64_t> count[2]; // popped and pushed since it was initialised, as far as is known: 1 is pushed

  runtime::SpinLock lock; // guards what follows
  std::string place, memory;
  const Stream* stream = nullptr;
  bool isFifo = false;
  int address = 0;
  uint64_t capacity = 0, elementBytes = 0;
  uint64_t initial = 0;    // elements that initialisations put there, all together
  uint64_t begunWith = 0;  // those of the last
  uint64_t before[2] = {}; // popped and pushed until the last initialisation
  std::vector<std::unique_ptr<RecordedUse>> uses;
  RecordedUse* current[2] = {}; // the kernel that has the side at hand
  uint64_t from[2] = {};        // the count when it took it
};

struct RecordedBlock {
  std::string name, place, memory;
  int address = 0;
  uint64_t capacity = 0, elementBytes = 0;
  std::set<std::pair<size_t, bool>> users; // kernels; true: it writes
};

class Recorder {
public:
  /// `path`: with %p for the process's number. Writes at once, every second, and when the process ends. Error:
  /// svm-record when the file cannot be written.
  Recorder(Program& program, std::string path);

  // What happens. REQUIRES of the first three: the program's lock is held.
  void initialised(KernelRecord& kernel, const char* kind, bool beside);
  void changed(const KernelRecord& kernel, KERNEL_STATUS status);
  void depends(const KernelRecord& kernel, const KernelRecord& on);
  /// Before the stream's own counts begin anew. REQUIRES: the program's lock is held.
  void initialised(StreamRecord& stream, uint64_t elements, const machine::Node& node, bool isFifo);
  void uses(BlockRecord& block, const KernelRecord& kernel, bool writes);
  /// svmName has given what is there another name.
  void renamed(const void* entity);

  /// Writes the file, whole or not at all, unless the last one has been written. `failure`: why the program ends.
  bool write(bool last, const std::string& failure = "");
  const std::string& path() const { return path_; }
  /// Writes every second from here on, and once more when the process ends. Once a process.
  static void keepWriting();

private:
  std::string text(bool last, const std::string& failure);
  std::string unique(const std::string& name);

  Program& program_;
  std::string path_;
  const int64_t begin_;
  std::mutex writing_;
  bool ended_ = false;

  std::mutex lock_; // guards the tables
  std::vector<std::unique_ptr<RecordedKernel>> kernels_;
  std::vector<std::unique_ptr<RecordedStream>> streams_;
  std::map<const void*, RecordedBlock> blocks_;
  std::set<std::pair<size_t, size_t>> dependences_; // a kernel, and one it depended on
  std::map<std::string, int> names_;
};

/// A kernel, or control, takes a side of a stream; a kernel leaves it.
void recordEnter(StreamRecord& stream, const KernelRecord* kernel, bool pushes);
void recordLeave(StreamRecord& stream, const KernelRecord& kernel, bool pushes);
/// What a slow path has pushed or popped since the stream was initialised.
inline void recordCount(const StreamRecord& stream, bool pushes, uint64_t count) {
  if (stream.recorded)
    stream.recorded->count[pushes].store(count, std::memory_order_relaxed);
}

/// A wait at a stream, of a kernel or (null) of control. Has no destructor: a kernel may end while it waits.
class RecordedStall {
public:
  RecordedStall(StreamRecord& stream, const KernelRecord* kernel, bool pushes);
  void begin();
  void end();

private:
  RecordedStream* stream_;
  RecordedKernel* kernel_;
  bool pushes_;
};

} // namespace strata::svm
