// Runs a body on many processors of a class. All the work is done by core/parallel.h; what is added here is who the
// instances are.
#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/parallel.h"

#include <algorithm>
#include <string>

void strata_spmd(void (*body)(void* context, int64_t instance), void* context, int64_t instances, uint32_t processor,
                 int32_t concurrent) {
  strata_spmd_within(body, context, instances, processor, concurrent, instances);
}

void strata_spmd_within(void (*body)(void* context, int64_t instance), void* context, int64_t instances,
                        uint32_t processor, int32_t concurrent, int64_t width) {
  using namespace strata::runtime;
  const Execution& me = *current();
  width = std::max(width, instances);
  int64_t first = 0;
  if (__builtin_mul_overflow(me.instance, width, &first))
    fail("runtime-instances",
         "more processors than can be numbered: " + std::to_string(me.instance) + " times " + std::to_string(width));
  runParallel(body, context, instances, concurrent != 0, {me.machine, me.stores, processor, first, me.output});
}
