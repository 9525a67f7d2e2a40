// Runs a body on many processors of a class. All the work is done by core/parallel.h; what is added here is who the
// instances are (base/machine/instance_range.h).
#include "base/machine/instance_range.h"
#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/parallel.h"

#include <algorithm>
#include <optional>
#include <string>

namespace {

using strata::machine::InstanceRange;
using strata::runtime::Execution;

/// The processors of a class that an execution has; nothing where they cannot be numbered.
std::optional<InstanceRange> rangeOf(const Execution& me, uint32_t processor, int64_t ways) {
  const StrataMachine* machine = me.runContext->machine();
  const bool isNamed = machine && processor < machine->processor_count;
  // A run beside its starter may be nobody's in particular (-1): it acts as the first.
  const std::optional<InstanceRange> own = InstanceRange::of(std::max<int64_t>(me.instance, 0), isNamed ? me.span : 1);
  if (!isNamed) // each execution has as many as it asks for
    return own ? own->inClass(1, ways) : own;
  const int64_t wanted = machine->processors[processor].count;
  if (me.processor >= machine->processor_count)
    return InstanceRange::all(wanted);
  if (!own || me.processor == processor)
    return own;
  return own->inClass(machine->processors[me.processor].count, wanted);
}

/// As many processors from number `first` of the caller's range on as `width` says; 0: all.
struct Among {
  int64_t first = 0, width = 0;
};

void runSpmd(void (*body)(void* context, int64_t instance), void* context, int64_t instances, int64_t ways,
             uint32_t processor, bool concurrent, Among among) {
  using namespace strata::runtime;
  const Execution& me = *current();
  ways = std::max<int64_t>({ways, instances, 1});
  std::optional<InstanceRange> range = rangeOf(me, processor, ways);
  if (range && among.width > 0)
    range = range->subset(among.first, among.width);
  if (!range || !range->part(ways - 1, ways))
    fail("runtime-instances", "more processors than can be numbered: " + std::to_string(me.instance) + " times " +
                                  std::to_string(instances));
  const int64_t step = range->partWidth(ways);
  runParallel(body, context, instances, concurrent, {me.runContext, processor, range->first(), step}, step);
}

} // namespace

void strata_spmd(void (*body)(void* context, int64_t instance), void* context, int64_t instances, int64_t ways,
                 uint32_t processor, int32_t concurrent) {
  runSpmd(body, context, instances, ways, processor, concurrent != 0, {});
}

void strata_spmd_among(void (*body)(void* context, int64_t instance), void* context, int64_t instances, int64_t ways,
                       uint32_t processor, int64_t first, int64_t width) {
  runSpmd(body, context, instances, ways, processor, false, {first, width});
}
