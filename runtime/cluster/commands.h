// What rank 0 tells nodes, and what they answer.
#pragma once

#include "runtime/cluster/traffic.h"
#include "runtime/cluster/transport.h"
#include "runtime/host/ranks.h"

#include <cstdint>

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
