// Runs a body on many processors of a class. All the work is done by core/parallel.h; what is added here is who the
// instances are (base/machine/instance_range.h).
#include "base/machine/instance_range.h"
#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/parallel.h"
#include "runtime/host/ranks.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>

namespace {

using strata::machine::InstanceRange;
using strata::runtime::Execution;

/// The processors of a class that an execution has; nothing where they cannot be numbered.
std::optional<InstanceRange> rangeOf(const Execution& me, uint32_t processor, int64_t parts) {
  const StrataMachine* machine = me.runContext->machine();
  const bool isNamed = machine && processor < machine->processor_count;
  // A run beside its starter may be nobody's in particular (-1): it acts as the first.
  const std::optional<InstanceRange> own = InstanceRange::of(std::max<int64_t>(me.instance, 0), isNamed ? me.span : 1);
  if (!isNamed) // each execution has as many as it asks for
    return own ? own->inClass(1, parts) : own;
  const int64_t wanted = machine->processors[processor].count;
  if (me.processor >= machine->processor_count)
    return InstanceRange::all(wanted);
  if (!own || me.processor == processor)
    return own;
  return own->inClass(machine->processors[me.processor].count, wanted);
}

/// Instances of a class of processes: each rank's share runs there, all at once.
struct Shares {
  strata::runtime::Ranks& all;
  strata::runtime::RankPart whole;
  strata::runtime::Role role; // of the first instance
  int64_t processors;         // of the class

  /// The first instance that a rank, or one behind it, runs.
  int64_t firstOf(int64_t rank) const {
    int64_t first = 0;
    while (first < whole.count && rankOf(whole.number + first * whole.step) < rank)
      ++first;
    return first;
  }
  int64_t rankOf(int64_t number) const {
    return strata::runtime::rankOf(std::min(number, processors - 1), processors, all);
  }
};

/// This rank's own share is the last: where one thread carries them out, the others are at work before it begins.
void runShare(void* context, int64_t number) {
  using namespace strata::runtime;
  const auto& shares = *static_cast<const Shares*>(context);
  const int64_t rank = (shares.all.own() + 1 + number) % shares.all.count();
  RankPart part = shares.whole;
  part.first = shares.firstOf(rank);
  part.count = shares.firstOf(rank + 1) - part.first;
  part.number += part.first * part.step;
  if (part.count == 0)
    return;
  if (rank != shares.all.own())
    return shares.all.run(rank, part);
  Role role = shares.role;
  role.instance = part.number;
  runPart(part, role);
}

} // namespace

namespace strata::runtime {

void runPart(const RankPart& part, const Role& role) {
  const auto body = [](void* context, int64_t instance) {
    const RankPart& own = *static_cast<const RankPart*>(context);
    own.body(const_cast<void*>(own.arguments), own.first + instance);
  };
  runParallel(body, const_cast<RankPart*>(&part), part.count, /*concurrent=*/false, role, part.step);
}

} // namespace strata::runtime

void strata_spmd(void (*body)(void* arguments, int64_t instance), const void* arguments, int64_t argument_bytes,
                 int64_t instances, const StrataParts* parts) {
  using namespace strata::runtime;
  const Execution& me = *current();
  const int64_t count = std::max<int64_t>({parts->parts, instances, 1});
  std::optional<InstanceRange> range = rangeOf(me, parts->processor, count);
  if (range && parts->width > 0)
    range = range->subset(parts->first, parts->width);
  if (!range || !range->part(count - 1, count))
    fail("runtime-instances", "more processors than can be numbered: " + std::to_string(me.instance) + " times " +
                                  std::to_string(instances));
  const int64_t step = range->partWidth(count);
  const StrataMachine* machine = me.runContext->machine();
  if (Ranks* all = ranks(); all && all->own() == 0 && machine && parts->processor < machine->processor_count &&
                            machine->processors[parts->processor].is_process) {
    const StrataProcessor& processor = machine->processors[parts->processor];
    if (parts->is_concurrent || parts->has_handles)
      fail(
          "runtime-ranks-apart",
          std::string("instances on '") + processor.name + "' " +
              (parts->is_concurrent ? "wait for each other" : "share streams, moves or blocks in a store with others") +
              ", and are in several processes",
          "run the program in one process: without --nodes");
    Shares shares{*all,
                  {body, arguments, argument_bytes, 0, instances, parts->processor, range->first(), step},
                  {me.runContext, parts->processor, range->first(), step},
                  processor.count};
    // As the caller: only their shares are the instances' own.
    return runParallel(runShare, &shares, all->count(), /*concurrent=*/true, roleOf(me), 0);
  }
  // They are in this process, and the caller waits: its arguments need no copy.
  runParallel(body, const_cast<void*>(arguments), instances, parts->is_concurrent != 0,
              {me.runContext, parts->processor, range->first(), step}, step);
}
