// Implements moves. A plan folds dense dimensions into one wide element, so contiguous blocks are one memcpy and rows
// are one each; what stays strided is copied by element size, in square tiles where the two sides run in different
// directions.
#include "runtime/core/transfer.h"

#include "runtime/abi.h"
#include "runtime/core/engine.h"
#include "runtime/core/hardware.h"
#include "runtime/core/token.h"
#include "runtime/core/trace.h"
#include "runtime/core/window.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace strata::runtime {
namespace {

/// The element's size is known here, so each copy is one load and one store.
template <typename Element>
void copyStrided(char* to, const char* from, const MoveDimension& d) {
  for (int64_t i = 0; i < d.extent; ++i)
    std::memcpy(to + i * d.destination, from + i * d.source, sizeof(Element));
}

struct Bytes16 {
  char bytes[16];
};

void copyRow(char* to, const char* from, const MoveDimension& d, int64_t bytes) {
  switch (bytes) {
  case 1:
    return copyStrided<uint8_t>(to, from, d);
  case 2:
    return copyStrided<uint16_t>(to, from, d);
  case 4:
    return copyStrided<uint32_t>(to, from, d);
  case 8:
    return copyStrided<uint64_t>(to, from, d);
  case 16:
    return copyStrided<Bytes16>(to, from, d);
  default:
    for (int64_t i = 0; i < d.extent; ++i)
      std::memcpy(to + i * d.destination, from + i * d.source, static_cast<size_t>(bytes));
  }
}

/// The two innermost dimensions, in tiles when the outer of the two has the smaller steps in the source.
void copyPlane(char* to, const char* from, const MoveDimension& outer, const MoveDimension& inner, int64_t bytes) {
  if (std::abs(outer.source) >= std::abs(inner.source)) {
    for (int64_t i = 0; i < outer.extent; ++i)
      copyRow(to + i * outer.destination, from + i * outer.source, inner, bytes);
    return;
  }
  const int64_t tile = hardware().tileElements;
  for (int64_t i = 0; i < outer.extent; i += tile) {
    const int64_t rows = std::min(tile, outer.extent - i);
    for (int64_t j = 0; j < inner.extent; j += tile) {
      const MoveDimension part{std::min(tile, inner.extent - j), inner.destination, inner.source};
      for (int64_t k = i; k < i + rows; ++k)
        copyRow(to + k * outer.destination + j * inner.destination, from + k * outer.source + j * inner.source, part,
                bytes);
    }
  }
}

void copyDimensions(char* to, const char* from, const MoveDimension* dimensions, size_t count, int64_t bytes) {
  if (count == 0) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  } else if (count == 1) {
    copyRow(to, from, dimensions[0], bytes);
  } else if (count == 2) {
    copyPlane(to, from, dimensions[0], dimensions[1], bytes);
  } else {
    for (int64_t i = 0; i < dimensions->extent; ++i)
      copyDimensions(to + i * dimensions->destination, from + i * dimensions->source, dimensions + 1, count - 1, bytes);
  }
}

} // namespace

MovePlan planMove(const int64_t* destinationStrides, const int64_t* sourceStrides, const int64_t* extents, int32_t rank,
                  int64_t elementBytes) {
  MovePlan plan;
  plan.elementBytes = elementBytes;
  plan.empty = elementBytes <= 0;
  for (int32_t i = 0; i < rank; ++i) {
    if (extents[i] <= 0)
      plan.empty = true;
    if (extents[i] > 1)
      plan.dimensions.push_back({extents[i], destinationStrides[i] * elementBytes, sourceStrides[i] * elementBytes});
  }
  if (plan.empty)
    return plan;
  auto& dimensions = plan.dimensions;
  std::sort(dimensions.begin(), dimensions.end(), [](const MoveDimension& a, const MoveDimension& b) {
    return std::pair(std::abs(a.destination), std::abs(a.source)) >
           std::pair(std::abs(b.destination), std::abs(b.source));
  });
  for (size_t i = dimensions.size(); i-- > 1;) {
    const MoveDimension inner = dimensions[i];
    MoveDimension& outer = dimensions[i - 1];
    if (outer.destination == inner.destination * inner.extent && outer.source == inner.source * inner.extent) {
      outer = {outer.extent * inner.extent, inner.destination, inner.source};
      dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (!dimensions.empty() && dimensions.back().destination == elementBytes &&
      dimensions.back().source == elementBytes) {
    plan.elementBytes *= dimensions.back().extent;
    dimensions.pop_back();
  }
  // Tiles need the source's own innermost dimension next to the destination's.
  if (dimensions.size() > 2) {
    const auto last = dimensions.end() - 1;
    const auto nearest = std::min_element(dimensions.begin(), last, [](const MoveDimension& a, const MoveDimension& b) {
      return std::abs(a.source) < std::abs(b.source);
    });
    if (std::abs(nearest->source) < std::abs(last->source))
      std::rotate(nearest, nearest + 1, last);
  }
  return plan;
}

int64_t MovePlan::bytes() const {
  int64_t total = empty ? 0 : elementBytes;
  for (const MoveDimension& dimension : dimensions)
    total *= dimension.extent;
  return total;
}

void executeMove(const MovePlan& plan, void* destination, const void* source) {
  if (!plan.empty)
    copyDimensions(static_cast<char*>(destination), static_cast<const char*>(source), plan.dimensions.data(),
                   plan.dimensions.size(), plan.elementBytes);
}

} // namespace strata::runtime

using namespace strata::runtime;

namespace {

/// Whether the block lies densely in row-major order on one side.
bool isDense(const int64_t* strides, const int64_t* extents, int32_t rank) {
  int64_t expected = 1;
  for (int32_t i = rank; i-- > 0;) {
    if (extents[i] != 1 && strides[i] != expected)
      return false;
    expected *= extents[i];
  }
  return true;
}

int64_t elementsOf(const int64_t* extents, int32_t rank) {
  int64_t count = 1;
  for (int32_t i = 0; i < rank; ++i)
    count *= std::max<int64_t>(extents[i], 0);
  return count;
}

} // namespace

void strata_move(void* destination, const int64_t* destination_strides, const void* source,
                 const int64_t* source_strides, const int64_t* extents, int32_t rank, int64_t element_bytes) {
  const int64_t bytes = elementsOf(extents, rank) * element_bytes;
  if (bytes <= 0)
    return;
  if (isInWindow(destination) || isInWindow(source)) [[unlikely]]
    return strata_window_move(destination, destination_strides, source, source_strides, extents, rank, element_bytes);
  if (isDense(destination_strides, extents, rank) && isDense(source_strides, extents, rank)) {
    std::memcpy(destination, source, static_cast<size_t>(bytes));
    return;
  }
  // Rows and columns, the common cases, need no plan.
  const auto dimension = [&](int32_t i) {
    return MoveDimension{extents[i], destination_strides[i] * element_bytes, source_strides[i] * element_bytes};
  };
  auto* to = static_cast<char*>(destination);
  const auto* from = static_cast<const char*>(source);
  if (rank == 1) {
    copyRow(to, from, dimension(0), element_bytes);
  } else if (rank == 2 && destination_strides[1] == 1 && source_strides[1] == 1) {
    copyRow(to, from, dimension(0), element_bytes * extents[1]);
  } else {
    executeMove(planMove(destination_strides, source_strides, extents, rank, element_bytes), destination, source);
  }
}

StrataToken* strata_move_start(void* destination, const int64_t* destination_strides, const void* source,
                               const int64_t* source_strides, const int64_t* extents, int32_t rank,
                               int64_t element_bytes, StrataToken* const* after, int32_t after_count) {
  return strata_move_start_along(nullptr, destination, destination_strides, source, source_strides, extents, rank,
                                 element_bytes, after, after_count);
}

void strata_move_along(const StrataWay* way, void* destination, const int64_t* destination_strides, const void* source,
                       const int64_t* source_strides, const int64_t* extents, int32_t rank, int64_t element_bytes) {
  const WaitedMove traced(*way, elementsOf(extents, rank) * element_bytes);
  strata_move(destination, destination_strides, source, source_strides, extents, rank, element_bytes);
}

StrataToken* strata_move_start_along(const StrataWay* way, void* destination, const int64_t* destination_strides,
                                     const void* source, const int64_t* source_strides, const int64_t* extents,
                                     int32_t rank, int64_t element_bytes, StrataToken* const* after,
                                     int32_t after_count) {
  if (isInWindow(destination) || isInWindow(source)) [[unlikely]]
    return strata_window_move_start_along(way, destination, destination_strides, source, source_strides, extents, rank,
                                          element_bytes, after, after_count);
  Execution& me = *current();
  const int64_t bytes = elementsOf(extents, rank) * element_bytes;
  if (bytes < hardware().taskBytes && allDone(after, after_count)) {
    const int64_t begin = way ? traceClock() : 0;
    strata_move(destination, destination_strides, source, source_strides, extents, rank, element_bytes);
    if (way && bytes > 0)
      traceMove(roleOf(me), *way, bytes, begin, traceClock());
    return nullptr;
  }
  return startMove(planMove(destination_strides, source_strides, extents, rank, element_bytes), destination, source,
                   way, roleOf(me), after, after_count);
}
