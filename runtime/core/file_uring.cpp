// The engine of io_uring: requests are handed to the kernel under a lock, by whoever asks; one thread waits for their
// ends. The kernel carries them out in threads of its own, so that copying goes on beside the program's.
#include "runtime/core/file_engine.h"

#include "runtime/core/failure.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <liburing.h>
#include <mutex>
#include <sched.h>
#include <string>

namespace strata::runtime {
namespace {

constexpr unsigned ringEntries = 256;
constexpr int64_t mostAtOnce = int64_t(1) << 30; // bytes: the kernel counts them in 32 bits

class UringEngine : public FileEngine {
public:
  /// False when the system gives no ring.
  bool open() { return io_uring_queue_init(ringEntries, &ring_, 0) == 0; }

  void begin(FileRequest* requests, size_t count) override {
    std::lock_guard guard(lock_);
    if (!waits_) {
      waits_ = true;
      startFileThread(serve);
    }
    for (size_t i = 0; i < count; ++i) {
      requests[i].next = nullptr;
      (last_ ? last_->next : first_) = &requests[i];
      last_ = &requests[i];
    }
    handOn();
  }

private:
  /// Gives the kernel as many requests as there is room for their ends. REQUIRES: the lock is held.
  void handOn() {
    while (FileRequest* request = underWay_ < ringEntries ? first_ : nullptr) {
      first_ = request->next;
      if (!first_)
        last_ = nullptr;
      ++underWay_;
      io_uring_sqe* entry = io_uring_get_sqe(&ring_); // there is one: no more are under way than the ring has
      const auto bytes = static_cast<unsigned>(std::min(request->bytes, mostAtOnce));
      const auto at = static_cast<uint64_t>(request->at);
      if (request->writes)
        io_uring_prep_write(entry, request->file, request->memory, bytes, at);
      else
        io_uring_prep_read(entry, request->file, request->memory, bytes, at);
      // What could be done at once has been tried: never in the thread that asks.
      io_uring_sqe_set_flags(entry, IOSQE_ASYNC);
      io_uring_sqe_set_data(entry, request);
    }
    while (io_uring_sq_ready(&ring_) > 0) {
      const int result = io_uring_submit(&ring_);
      if (result >= 0)
        continue;
      if (result != -EINTR && result != -EAGAIN && result != -EBUSY)
        fail("runtime-io-engine", std::string("io_uring takes no requests any more: ") + std::strerror(-result));
      sched_yield();
    }
  }

  static void serve() { static_cast<UringEngine*>(uringEngine())->work(); }

  void work() {
    while (true) {
      io_uring_cqe* entry = nullptr;
      const int result = io_uring_wait_cqe(&ring_, &entry);
      if (result == -EINTR || result == -EAGAIN)
        continue;
      if (result < 0)
        fail("runtime-io-engine", std::string("io_uring gives no results any more: ") + std::strerror(-result));
      auto* request = static_cast<FileRequest*>(io_uring_cqe_get_data(entry));
      const int32_t done = entry->res;
      io_uring_cqe_seen(&ring_, entry);
      {
        std::lock_guard guard(lock_);
        --underWay_;
        handOn();
      }
      finished(request, done);
    }
  }

  std::mutex lock_;              // the submission side of the ring, and what waits for it
  FileRequest* first_ = nullptr; // those that wait for room in the ring
  FileRequest* last_ = nullptr;
  unsigned underWay_ = 0;
  io_uring ring_;
  bool waits_ = false;
};

} // namespace

FileEngine* uringEngine() {
  static UringEngine* const engine = [] {
    auto* made = new UringEngine; // its thread waits through the end of the process
    if (made->open())
      return made;
    delete made;
    return static_cast<UringEngine*>(nullptr);
  }();
  return engine;
}

} // namespace strata::runtime
