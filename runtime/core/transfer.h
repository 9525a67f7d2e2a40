// Moves of dense and strided blocks, by the widest copies that their layout allows. Everything here may be called from
// any thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace strata::runtime {

/// One dimension of a move, strides in bytes.
struct MoveDimension {
  int64_t extent;
  int64_t destination;
  int64_t source;
};

/// A move brought into its simplest form: no dimension of extent 1, neighbours merged where both sides allow, the
/// dimension with the smallest steps in the destination last. No elements: `empty`.
struct MovePlan {
  std::vector<MoveDimension> dimensions;
  int64_t elementBytes = 0; // grown by dimensions that are dense on both sides
  bool empty = false;
  int64_t bytes() const;
};
MovePlan planMove(const int64_t* destinationStrides, const int64_t* sourceStrides, const int64_t* extents, int32_t rank,
                  int64_t elementBytes);
void executeMove(const MovePlan& plan, void* destination, const void* source);

} // namespace strata::runtime
