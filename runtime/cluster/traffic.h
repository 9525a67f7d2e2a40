// What goes between the processes of a cluster, counted by each for itself: bytes, copies, messages, and waiting.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::cluster {

/// What goes between a rank and each other one, and how long it waits for messages. Any thread.
class Traffic {
public:
  Traffic(int64_t own, int64_t count) : own_(own), each_(static_cast<size_t>(count)) {}

  void read(int64_t rank, int64_t bytes) { of(rank).read.add(bytes); }
  void written(int64_t rank, int64_t bytes) { of(rank).written.add(bytes); }
  void sent(int64_t rank) { of(rank).messages.fetch_add(1, std::memory_order_relaxed); }
  void waited(int64_t nanoseconds) { waited_.fetch_add(nanoseconds, std::memory_order_relaxed); }

  /// Adds what there has been since the last time to counters: "bytes process 0 -> 1" and how many copies these were,
  /// "messages process 0 -> 1", "microseconds process 1 waits".
  void takeInto(std::map<std::string, int64_t>& counters) {
    for (size_t rank = 0; rank < each_.size(); ++rank) {
      const std::string own = std::to_string(own_), other = std::to_string(rank);
      const std::string out = "process " + own + " -> " + other, in = "process " + other + " -> " + own;
      each_[rank].read.takeInto(counters, in);
      each_[rank].written.takeInto(counters, out);
      add(counters, "messages " + out, each_[rank].messages.exchange(0));
    }
    add(counters, "microseconds process " + std::to_string(own_) + " waits", waited_.exchange(0) / 1000);
  }

private:
  static void add(std::map<std::string, int64_t>& counters, const std::string& name, int64_t amount) {
    if (amount)
      counters[name] += amount;
  }
  struct Way {
    std::atomic<int64_t> bytes{0}, copies{0};
    void add(int64_t more) {
      bytes.fetch_add(more, std::memory_order_relaxed);
      copies.fetch_add(1, std::memory_order_relaxed);
    }
    void takeInto(std::map<std::string, int64_t>& counters, const std::string& way) {
      Traffic::add(counters, "bytes " + way, bytes.exchange(0));
      Traffic::add(counters, "copies " + way, copies.exchange(0));
    }
  };
  struct Other {
    Way read, written;
    std::atomic<int64_t> messages{0};
  };
  Other& of(int64_t rank) { return each_[static_cast<size_t>(rank)]; }

  const int64_t own_;
  std::vector<Other> each_;
  std::atomic<int64_t> waited_{0};
};

} // namespace strata::cluster
