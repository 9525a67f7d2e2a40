// What rank 0 tells nodes, and what they answer.
#pragma once

#include "runtime/cluster/transport.h"
#include "runtime/host/ranks.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace strata::cluster {

/// The first byte of a message of rank 0.
enum class Command : uint8_t {
  Load,     // a number, and CodeTexts
  Use,      // the number of code
  Open,     // a window of a distributed block
  Data,     // one of data that every rank can reach
  Close,    // its address
  Exchange, // between two of them
  Run,      // a part
  Figures,  // asks for what was counted
  Clock,    // asks what time it is there
  Spans,    // asks for what was traced
  End,      // of the cluster
};

/// Kinds of messages: commands, what a node ends with, and answers to requests, which have numbers.
enum : int { kindCommand = 1, kindFailure = 2, kindAnswer = 16 };
/// Answers that may be under way at once.
constexpr int64_t mostRequests = 16384;

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

/// What rank 0 and nodes have in common: the memory of other ranks.
template <typename Base>
class WithMemory : public Base {
public:
  explicit WithMemory(Transport& transport) : transport_(transport), traffic_(transport.own(), transport.count()) {}
  int64_t own() const override { return transport_.own(); }
  int64_t count() const override { return transport_.count(); }
  bool isOneComputer() const override { return transport_.isOneComputer(); }
  void read(int64_t rank, runtime::Elements to, runtime::Elements from, int64_t elements,
            int64_t elementBytes) override {
    traffic_.read(rank, elements * elementBytes);
    transport_.get(rank, to.first, to.step, from.first, from.step, elements, elementBytes);
  }
  void write(int64_t rank, runtime::Elements to, runtime::Elements from, int64_t elements,
             int64_t elementBytes) override {
    traffic_.written(rank, elements * elementBytes);
    transport_.put(rank, to.first, to.step, from.first, from.step, elements, elementBytes);
  }
  void finish() override { transport_.flush(); }

protected:
  Transport& transport_;
  Traffic traffic_;
};

} // namespace strata::cluster
