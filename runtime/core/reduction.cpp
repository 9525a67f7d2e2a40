// The C call for a reduction of partial results that lie in one array, and the calls that need only the scheduler.
#include "runtime/core/reduction.h"

#include "runtime/abi.h"
#include "runtime/core/parallel.h"
#include "runtime/core/scheduler.h"

void strata_reduce(void* partials, int64_t count, int64_t partial_bytes,
                   void (*combine)(void* context, void* into, const void* from), void* context) {
  char* base = static_cast<char*>(partials);
  strata::runtime::reduceTree(count, [=](int64_t into, int64_t from) {
    combine(context, base + into * partial_bytes, base + from * partial_bytes);
  });
}

void strata_yield(void) {
  strata::runtime::yield();
}

void strata_barrier(void) {
  strata::runtime::waitAtBarrier(nullptr);
}

void strata_barrier_at(const StrataCheck* check) {
  strata::runtime::waitAtBarrier(check);
}
