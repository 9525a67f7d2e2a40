// Memory of other processes where the network only carries messages, as TCP does under MPIs whose one-sided operations
// need more: each process has a thread that reads and writes for the others. Any thread of a process may wait for a
// copy; whoever waits serves the others meanwhile.
#pragma once

#include "runtime/core/periodically.h"

#include <atomic>
#include <cstdint>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <vector>

namespace strata::cluster {

class MessageMemory {
public:
  /// Every process makes one at the same time. REQUIRES: MPI_THREAD_MULTIPLE.
  MessageMemory();
  /// REQUIRES: every process ends its own, and nothing is under way.
  ~MessageMemory();
  MessageMemory(const MessageMemory&) = delete;

  /// As Transport's.
  void get(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements, int64_t bytes);
  void put(int64_t rank, char* to, int64_t toStep, const char* from, int64_t fromStep, int64_t elements, int64_t bytes);
  void flush();
  /// Does what others have asked for by now. False: nothing.
  bool serve();

private:
  /// What one process asks of another; of a put, the elements follow.
  struct Request {
    int64_t isPut;
    int64_t address, step, elements, bytes;
    int64_t tag; // of the answer
  };
  /// An answer that has not come yet: the elements of a get, nothing of a put.
  struct Pending {
    MPI_Request answer;
    std::vector<char> sent, received;
    char* to; // where what is received belongs; null: it is there
    int64_t toStep, elements, bytes;
  };

  void ask(int64_t rank, const Request& request, const char* from, int64_t fromStep, char* to, int64_t toStep);
  void complete();

  MPI_Comm all_ = MPI_COMM_NULL;
  std::mutex lock_, serving_;
  std::vector<Pending> pending_;
  int64_t underWay_ = 0; // bytes
  int64_t asked_ = 0;
  std::atomic<bool> isEnding_{false};
  std::optional<runtime::Periodically> server_; // the last: it ends before the rest does
};

} // namespace strata::cluster
