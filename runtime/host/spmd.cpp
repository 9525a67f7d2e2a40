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

} // namespace

void strata_spmd(void (*body)(void* arguments, int64_t instance), const void* arguments, int64_t /*argument_bytes*/,
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
  // They are in this process, and the caller waits: its arguments need no copy.
  runParallel(body, const_cast<void*>(arguments), instances, parts->is_concurrent != 0,
              {me.runContext, parts->processor, range->first(), step}, step);
}
