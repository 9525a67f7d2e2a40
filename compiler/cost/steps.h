// What the processors of a run do, one step after the other: what walking through a program gives (walk.h), and what
// its times are found from (simulate.h). Plain data, used by one thread. Times are cycles of the reference clock.
#pragma once

#include "compiler/cost/kernel_cost.h"
#include "compiler/cost/routes.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace strata::cost {

struct Steps;

/// One thing that whoever executes code does, or has done.
struct Step {
  enum class Kind : uint8_t {
    Compute,  ///< `cycles` of operations
    Start,    ///< `cycles` until it has been started, or has started a move
    Transfer, ///< `bytes` on a route, behind `tokens`; it ends `token`, or the next step begins when it has ended
    Run,      ///< a kernel beside it, of `cycles`, behind `tokens`; it ends `token`
    Wait,     ///< for `tokens`
    Fork,     ///< others execute `forks`[fork], and it waits for all of them
    Mark,     ///< where a repetition begins
    Repeat,   ///< all since mark `number` happens `cycles` times more
  };
  Kind kind = Kind::Compute;
  uint32_t name = 0;   ///< of a kernel, or of the block that is moved, in Walked::names; 0: none
  uint32_t token = 0;  ///< 0: none
  uint32_t number = 0; ///< of a mark, or of a fork
  double cycles = 0, bytes = 0;
  const Route* route = nullptr;
  machine::ProcessorId processor{}; ///< of a run
  std::vector<uint32_t> tokens{};
};

struct Steps {
  std::vector<Step> all;
};

/// Processors of a class that each execute steps, from `first` on.
struct Fork {
  machine::ProcessorId processor;
  std::vector<std::shared_ptr<const Steps>> instances; ///< several may be one
};

/// A whole program.
struct Walked {
  machine::ProcessorId processor; ///< that executes `steps`
  Steps steps;
  std::vector<Fork> forks;
  std::vector<std::string> names{""};
  uint32_t tokens = 1; ///< their numbers are below
  std::map<std::string, int64_t> counters;
  std::vector<Assumption> assumptions;
  bool isSampled = false; ///< there are repetitions, or instances that stand for others
};

} // namespace strata::cost
