// Runs a body on many processors of a class. All the work is done by core/parallel.h; what is added here is who the
// instances are.
#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/parallel.h"

#include <algorithm>
#include <string>

namespace {

using strata::runtime::Execution;

/// The processors of a class that an execution stands for.
struct Range {
  int64_t first = 0, width = 1;
  bool overflows = false;
};

Range rangeOf(const Execution& me, uint32_t processor, int64_t ways) {
  Range range;
  if (!me.machine || processor >= me.machine->processor_count) {
    range.width = ways;
    range.overflows = __builtin_mul_overflow(me.instance, ways, &range.first);
    return range;
  }
  const int64_t wanted = std::max<int64_t>(me.machine->processors[processor].count, 1);
  if (me.processor >= me.machine->processor_count)
    return {0, wanted, false};
  if (me.processor == processor)
    return {me.instance, me.span, false};
  const int64_t own = std::max<int64_t>(me.machine->processors[me.processor].count, 1);
  if (wanted >= own) {
    const int64_t each = wanted / own;
    range.overflows =
        __builtin_mul_overflow(me.instance, each, &range.first) || __builtin_mul_overflow(me.span, each, &range.width);
    return range;
  }
  const int64_t each = own / wanted;
  return {me.instance / each, std::max<int64_t>(me.span / each, 1), false};
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
  Range range = rangeOf(me, processor, ways);
  range.overflows |= __builtin_add_overflow(range.first, among.first, &range.first);
  range.width = among.width > 0 ? among.width : range.width;
  const int64_t step = std::max<int64_t>(range.width / ways, 1);
  int64_t behind = 0;
  if (range.overflows || __builtin_mul_overflow(ways, step, &behind) ||
      __builtin_add_overflow(range.first, behind, &behind))
    fail("runtime-instances", "more processors than can be numbered: " + std::to_string(me.instance) + " times " +
                                  std::to_string(instances));
  runParallel(body, context, instances, concurrent, {me.machine, me.stores, processor, range.first, me.output, step},
              step);
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
