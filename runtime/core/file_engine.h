// Reading and writing files beside the executions that ask for it. An engine carries requests out at its own pace:
// io_uring where the system has it, else threads that wait in its place; both give the same bytes. Any thread and any
// fibre may ask; only the execution that asked waits.
//
// The environment variable STRATA_IO chooses an engine by name, `uring` or `threads`; without it the first that works
// is taken, once in the life of a process.
#pragma once

#include "runtime/core/scheduler.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

namespace strata::runtime {

struct FileJob;
class FileSequence;

/// A read or write of `bytes` bytes of a file. An engine advances it as parts of it are done.
struct FileRequest {
  int file = -1;
  bool writes = false;
  char* memory = nullptr;
  int64_t bytes = 0;
  int64_t at = 0;                   // in the file
  FileSequence* sequence = nullptr; // null: at any time
  FileJob* job = nullptr;
  FileRequest* next = nullptr; // in a queue of the engine or of the sequence
};

/// Requests that are carried out one after another, in the order in which they were asked for. The system reads ahead
/// in a file that is read in order, but not when two readers are in it at once; and of two writers of one file, one
/// waits for the other. Lives as long as requests may name it.
class FileSequence {
public:
  /// Whether the request may begin now; else it does when it is its turn.
  bool enter(FileRequest* request);
  /// The current request has ended: the next one, which begins now, or null.
  FileRequest* leave();

private:
  std::mutex lock_;
  bool busy_ = false;
  FileRequest* first_ = nullptr;
  FileRequest* last_ = nullptr;
};

/// Requests for which one execution waits. Lives on its stack: whoever ends the last one must not touch it afterwards.
struct FileJob {
  std::atomic<size_t> left{0};
  std::atomic<bool> failed{false};
  int error = 0; // of the first that failed; 0: the file ended. Valid when `failed` has been seen and `left` is 0.
  int64_t failedAt = 0;
  Execution* execution = nullptr;
};

class FileEngine {
public:
  virtual ~FileEngine() = default;
  /// Begins requests, each of which ends in a call of finished().
  virtual void begin(FileRequest* requests, size_t count) = 0;
  /// Whether small requests may be tried in the caller first.
  virtual bool mayTryAtOnce() const { return true; }

protected:
  /// Part of a request has ended: `result` bytes, or a negative error number. The remainder is begun again. Any thread.
  void finished(FileRequest* request, int64_t result);
};

struct FileFailure {
  bool ended = false; // the file is shorter than asked
  int error = 0;      // else the system's number
  int64_t at = 0;
};

/// Carries out all the requests and returns when the last has ended: nothing, or the first failure. The caller parks
/// meanwhile.
std::optional<FileFailure> transferFiles(FileRequest* requests, size_t count);

/// The engine in use.
FileEngine& fileEngine();
/// For tests; null restores the process's own. REQUIRES: nothing runs meanwhile.
void setFileEngine(FileEngine* engine);

/// The engine of io_uring; null where the system does not give one.
FileEngine* uringEngine();
FileEngine* threadEngine();

/// Makes a thread that no signal is delivered to; ends the program when the system gives none.
void startFileThread(void (*run)());

} // namespace strata::runtime
