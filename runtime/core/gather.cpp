// Implements gathers and scatters. Parts that are dense on both sides are copied by their size, in one loop; others by
// a plan made once. Through windows indices are read some at a time; the parts that they name are read together, and
// written one after the other, since two may name one.
#include "runtime/core/gather.h"

#include "runtime/core/trace.h"
#include "runtime/core/transfer.h"
#include "runtime/core/window.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace strata::runtime {
namespace {

struct Gather {
  const StrataCheck* check;
  char* destination;
  const char* source;
  int64_t destinationStep, sourceStep; // bytes from part to part
  int64_t count;                       // of indices
  const char* indices;
  int64_t indexStep; // bytes
  int64_t limit;
  bool scatters;
};

void refuse(const Gather& gather, int64_t index, int64_t number) {
  const std::array<int64_t, 3> values{index, number, gather.limit};
  strata_fail(gather.check, values.data(), static_cast<int32_t>(values.size()));
}

/// Calls copy(to, from) for each part, in order.
template <typename Index, typename Copy>
void eachPart(const Gather& gather, Copy copy) {
  for (int64_t k = 0; k < gather.count; ++k) {
    Index read;
    std::memcpy(&read, gather.indices + k * gather.indexStep, sizeof read);
    const auto index = static_cast<int64_t>(read);
    if (index < 0 || index >= gather.limit)
      refuse(gather, index, k);
    if (gather.scatters)
      copy(gather.destination + index * gather.destinationStep, gather.source + k * gather.sourceStep);
    else
      copy(gather.destination + k * gather.destinationStep, gather.source + index * gather.sourceStep);
  }
}

/// Parts of a size that the compiler knows are one load and one store each.
template <typename Index, size_t Bytes>
void copyParts(const Gather& gather) {
  eachPart<Index>(gather, [](char* to, const char* from) { std::memcpy(to, from, Bytes); });
}

template <typename Index>
void gatherAddressed(const Gather& gather, const MovePlan& part) {
  if (!part.dimensions.empty())
    return eachPart<Index>(gather, [&](char* to, const char* from) { executeMove(part, to, from); });
  switch (part.elementBytes) {
  case 1:
    return copyParts<Index, 1>(gather);
  case 2:
    return copyParts<Index, 2>(gather);
  case 4:
    return copyParts<Index, 4>(gather);
  case 8:
    return copyParts<Index, 8>(gather);
  case 16:
    return copyParts<Index, 16>(gather);
  default:
    const auto bytes = static_cast<size_t>(part.elementBytes);
    return eachPart<Index>(gather, [&](char* to, const char* from) { std::memcpy(to, from, bytes); });
  }
}

} // namespace
} // namespace strata::runtime

using namespace strata::runtime;

void strata_gather(const StrataWay* way, const StrataCheck* check, void* destination,
                   const int64_t* destination_strides, const void* source, const int64_t* source_strides,
                   const int64_t* extents, int32_t rank, int64_t element_bytes, const void* indices,
                   int64_t index_stride, int32_t index_bytes, int64_t limit, int32_t how) {
  Gather gather{check,
                static_cast<char*>(destination),
                static_cast<const char*>(source),
                destination_strides[0] * element_bytes,
                source_strides[0] * element_bytes,
                extents[0],
                static_cast<const char*>(indices),
                index_stride * index_bytes,
                limit,
                (how & strata_scatters) != 0};
  int64_t bytes = element_bytes;
  for (int32_t i = 0; i < rank; ++i)
    bytes *= std::max<int64_t>(extents[i], 0);
  std::optional<WaitedMove> traced;
  if (way)
    traced.emplace(*way, bytes);
  if (!(how & strata_gathers_windows) && !isInWindow(destination) && !isInWindow(source) && !isInWindow(indices)) {
    // Also parts of no elements: their indices are in range all the same.
    MovePlan part = planMove(destination_strides + 1, source_strides + 1, extents + 1, rank - 1, element_bytes);
    if (part.empty)
      part = MovePlan();
    return index_bytes == 4 ? gatherAddressed<int32_t>(gather, part) : gatherAddressed<int64_t>(gather, part);
  }
  constexpr int64_t atOnce = 512; // indices
  std::array<char, atOnce * 8> read;
  const bool isEmpty =
      std::any_of(extents + 1, extents + rank, [](int64_t extent) { return extent <= 0; }); // each part
  const WindowPlace from = findWindow(source);
  const bool areReadTogether = !gather.scatters && from.backend && !findWindow(destination).backend;
  for (int64_t begin = 0; begin < extents[0]; begin += atOnce) {
    Gather some = gather;
    some.count = std::min(atOnce, extents[0] - begin);
    const int64_t one = 1;
    strata_window_move(read.data(), &one, gather.indices + begin * gather.indexStep, &index_stride, &some.count, 1,
                       index_bytes);
    std::vector<int64_t> offsets;
    for (int64_t k = 0; k < some.count; ++k) {
      int64_t index = 0;
      int32_t narrow = 0;
      if (index_bytes == 4) {
        std::memcpy(&narrow, read.data() + k * 4, 4);
        index = narrow;
      } else {
        std::memcpy(&index, read.data() + k * 8, 8);
      }
      if (index < 0 || index >= limit)
        refuse(gather, index, begin + k);
      if (areReadTogether) {
        offsets.push_back(from.offset + index * gather.sourceStep);
        continue;
      }
      const int64_t to = gather.scatters ? index : begin + k, number = gather.scatters ? begin + k : index;
      strata_window_move(gather.destination + to * gather.destinationStep, destination_strides + 1,
                         gather.source + number * gather.sourceStep, source_strides + 1, extents + 1, rank - 1,
                         element_bytes);
    }
    if (areReadTogether && !isEmpty)
      from.backend->readEach({false, gather.destination + begin * gather.destinationStep, destination_strides + 1,
                              offsets.empty() ? 0 : offsets.front(), source_strides + 1, extents + 1, rank - 1,
                              element_bytes},
                             offsets, gather.destinationStep);
  }
}
