// Gathers and scatters: copies of the parts of a block that a block of indices names. May be called from any thread, by
// an execution; what the blocks lie in belongs to the caller.
#pragma once

#include "runtime/abi.h"

#include <cstdint>

/* How it is done. */
enum {
  strata_scatters = 1,       /* to the parts that the indices name, in order; else from them */
  strata_gathers_windows = 2 /* one of the blocks may be a window (strata_window_move) */
};

extern "C" {
/* Copies extents[0] parts of extents[1], … elements: to part indices[k] of the destination from part k of the source,
 * or the other way round. The destination overlaps neither of the others. An index has 4 or 8 bytes and a sign, and
 * lies in [0, limit), or the run fails with `check`, whose values are the index, its number and the limit. `way` may be
 * null; else the copy is put into the trace. */
void strata_gather(const StrataWay* way, const StrataCheck* check, void* destination,
                   const int64_t* destination_strides, const void* source, const int64_t* source_strides,
                   const int64_t* extents, int32_t rank, int64_t element_bytes, const void* indices,
                   int64_t index_stride, int32_t index_bytes, int64_t limit, int32_t how);
}
