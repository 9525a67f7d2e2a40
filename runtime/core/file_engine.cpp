// Implements waiting for requests, the engine of threads and the choice between engines.
#include "runtime/core/file_engine.h"

#include "runtime/core/failure.h"
#include "runtime/core/hardware.h"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace strata::runtime {
namespace {

constexpr int engineThreads = 4;

/// Reads and writes in threads of its own, which the system may hold as long as it likes.
class ThreadEngine : public FileEngine {
public:
  void begin(FileRequest* requests, size_t count) override {
    std::lock_guard guard(lock_);
    for (size_t i = 0; i < count; ++i) {
      requests[i].next = nullptr;
      (last_ ? last_->next : first_) = &requests[i];
      last_ = &requests[i];
    }
    for (size_t i = 0; i < count && started_ < engineThreads; ++i, ++started_)
      startFileThread(serve);
    count > 1 ? more_.notify_all() : more_.notify_one();
  }

private:
  FileRequest* take() {
    std::unique_lock guard(lock_);
    more_.wait(guard, [&] { return first_ != nullptr; });
    FileRequest* request = first_;
    first_ = request->next;
    if (!first_)
      last_ = nullptr;
    return request;
  }

  static void serve() { static_cast<ThreadEngine*>(threadEngine())->work(); }

  void work() {
    while (true) {
      FileRequest* request = take();
      const ssize_t done =
          request->writes ? pwrite(request->file, request->memory, static_cast<size_t>(request->bytes), request->at)
                          : pread(request->file, request->memory, static_cast<size_t>(request->bytes), request->at);
      finished(request, done < 0 ? -errno : done);
    }
  }

  std::mutex lock_;
  std::condition_variable more_;
  FileRequest* first_ = nullptr;
  FileRequest* last_ = nullptr;
  int started_ = 0;
};

std::atomic<FileEngine*> testEngine{nullptr};

FileEngine* chooseEngine() {
  const char* chosen = std::getenv("STRATA_IO");
  const std::string name = chosen ? chosen : "";
  if (!name.empty() && name != "uring" && name != "threads")
    fail("runtime-io-engine", "STRATA_IO is '" + name + "', and there are 'uring' and 'threads'");
  if (name != "threads")
    if (FileEngine* engine = uringEngine())
      return engine;
  if (name == "uring")
    fail("runtime-io-engine", "this system gives the process no io_uring",
         "leave STRATA_IO unset, or set it to threads");
  return threadEngine();
}

/// What the caller can do in no time: bytes that the system holds in memory already, and small writes into it.
bool triedInFull(FileRequest& request) {
  if (request.bytes > hardware().taskBytes) // copying is work for another thread
    return false;
  iovec part{request.memory, static_cast<size_t>(request.bytes)};
  const ssize_t done = request.writes ? pwritev(request.file, &part, 1, request.at)
                                      : preadv2(request.file, &part, 1, request.at, RWF_NOWAIT);
  if (done <= 0)
    return false; // whatever is wrong, the engine meets it again
  request.memory += done;
  request.at += done;
  request.bytes -= done;
  return request.bytes == 0;
}

void describeFileJob(const void*, std::string& out) {
  out += "a file";
}

} // namespace

void startFileThread(void (*run)()) {
  // Signals go to the program's own threads; a write over a limit then fails with a reason.
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  if (!makeEngineThread(run))
    fail("runtime-threads", "the system gives no thread for reading and writing files");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool FileSequence::enter(FileRequest* request) {
  std::lock_guard guard(lock_);
  if (!std::exchange(busy_, true))
    return true;
  request->next = nullptr;
  (last_ ? last_->next : first_) = request;
  last_ = request;
  return false;
}

FileRequest* FileSequence::leave() {
  std::lock_guard guard(lock_);
  FileRequest* next = first_;
  if (!next) {
    busy_ = false;
    return nullptr;
  }
  first_ = next->next;
  if (!first_)
    last_ = nullptr;
  return next;
}

void FileEngine::finished(FileRequest* request, int64_t result) {
  // What the starter wrote before it began the requests is seen from here on.
  FileJob& job = *request->job;
  (void)job.left.load(std::memory_order_acquire);
  if (result > 0) {
    request->memory += result;
    request->at += result;
    request->bytes -= result;
  }
  const bool again = result > 0 || result == -EINTR || result == -EAGAIN;
  if (again && request->bytes > 0)
    return begin(request, 1);
  if (request->bytes > 0 && !job.failed.exchange(true)) {
    job.error = static_cast<int>(-result);
    job.failedAt = request->at;
  }
  // While the job is not counted off, its request and the window that it belongs to are there.
  if (FileRequest* next = request->sequence ? request->sequence->leave() : nullptr)
    begin(next, 1);
  Execution* execution = job.execution;
  if (job.left.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  unpark(execution);
  besideEnded();
}

FileEngine* threadEngine() {
  static auto* engine = new ThreadEngine; // its threads wait through the end of the process
  return engine;
}

FileEngine& fileEngine() {
  if (FileEngine* engine = testEngine.load())
    return *engine;
  static FileEngine* engine = chooseEngine();
  return *engine;
}

void setFileEngine(FileEngine* engine) {
  testEngine.store(engine);
}

std::optional<FileFailure> transferFiles(FileRequest* requests, size_t count) {
  FileEngine& engine = fileEngine();
  size_t left = count;
  if (engine.mayTryAtOnce()) {
    left = 0;
    for (size_t i = 0; i < count; ++i)
      if (!triedInFull(requests[i]))
        requests[left++] = requests[i];
  }
  if (left == 0)
    return std::nullopt;
  FileJob job;
  for (size_t i = 0; i < left; ++i)
    requests[i].job = &job;
  job.execution = current();
  job.left.store(left, std::memory_order_release);
  besideBegun();
  size_t held = 0; // those before it have begun, or will in their turn
  for (size_t i = 0; i < left; ++i)
    if (requests[i].sequence && !requests[i].sequence->enter(&requests[i])) {
      if (i > held)
        engine.begin(requests + held, i - held);
      held = i + 1;
    }
  if (left > held)
    engine.begin(requests + held, left - held);
  while (job.left.load(std::memory_order_acquire) != 0)
    park({describeFileJob, &job, "a file"});
  if (!job.failed.load(std::memory_order_acquire))
    return std::nullopt;
  return FileFailure{job.error == 0, job.error, job.failedAt};
}

} // namespace strata::runtime
