// The transposition of a square of vectors by exchanges, the number of which is that of the vectors times the bits of
// their length.
//
// Source: Eklundh 1972, "A fast computer method for matrix transposing".
#include "compiler/kernel/tiles.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace strata::kernel {

void turnVectors(OpBuilder& builder, mlir::Location place, SmallVectorImpl<Value>& vectors) {
  const auto width = static_cast<int64_t>(vectors.size());
  for (int64_t apart = 1; apart < width; apart *= 2) {
    SmallVector<int64_t> even, odd; // of two vectors, one behind the other
    for (int64_t number = 0; number < width; ++number) {
      const bool isFirst = number / apart % 2 == 0;
      even.push_back(isFirst ? number : width + number - apart);
      odd.push_back(isFirst ? number + apart : width + number);
    }
    for (int64_t row = 0; row < width; ++row)
      if (row / apart % 2 == 0) {
        Value& one = vectors[static_cast<size_t>(row)];
        Value& other = vectors[static_cast<size_t>(row + apart)];
        Value first = builder.create<vector::ShuffleOp>(place, one, other, even);
        other = builder.create<vector::ShuffleOp>(place, one, other, odd);
        one = first;
      }
  }
}

} // namespace strata::kernel
