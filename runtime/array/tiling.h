// The first step of instantiation: sizes are put into the bounds of loops, and loops are cut into tiles. Everything is
// computed in 128 bits and checked; what comes out is small enough that sums over it do not overflow.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 5.1.
#pragma once

#include "runtime/array/instantiate.h"

#include <span>
#include <string>

namespace strata::array {

/// A sum of products of 64-bit numbers that knows whether all of it stayed below 2^61.
class CheckedSum {
public:
  void add(int64_t a, int64_t b = 1);
  bool fits() const { return fits_; }
  int64_t value() const { return value_; }

private:
  int64_t value_ = 0;
  bool fits_ = true;
};

struct Tiling {
  std::vector<int64_t> sizes;    // of the parameters
  std::vector<int64_t> lower;    // the loops' least values
  std::vector<int64_t> count;    // how many values a loop takes; 0: the program has no iterations
  std::vector<int64_t> tile;     // the tile's extents
  std::vector<int64_t> inner;    // by loop, the product of the tile's extents of those inside of it
  std::vector<int64_t> extents;  // of the tile, the outermost lengthened for the epilogue
  int64_t iterations = 0;        // of the whole program
  int64_t rows = 1, columns = 1; // of the region, as far as there are tiles for it
  uint32_t rowLoop = Symbolic::none, columnLoop = Symbolic::none;

  bool isEmpty() const { return iterations == 0; }
  /// How many tiles the loop is cut into.
  int64_t tiles(size_t loop) const { return loop == rowLoop ? rows : loop == columnLoop ? columns : 1; }
};

/// An error where sizes break the context, the region does not fit the program or the array, tiles do not cover the
/// loops or are smaller than what the schedule relies on, or where numbers get too large.
std::variant<Tiling, InstantiationError> makeTiling(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                                    const InstantiationOptions& options);

/// Rounded down and up. REQUIRES: divisor > 0.
int64_t floorDivide(int64_t dividend, int64_t divisor);
int64_t ceilDivide(int64_t dividend, int64_t divisor);

/// "4 x 16 x 3".
std::string formatExtents(std::span<const int64_t> extents);

/// What is returned where 2^61 is passed.
InstantiationError tooLarge(const std::string& what);
/// For TooManyRanges (diagrams.h).
InstantiationError tooManyRanges(const Symbolic& symbolic, const Tiling& tiling);

} // namespace strata::array
