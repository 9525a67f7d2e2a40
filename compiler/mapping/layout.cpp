// Block-cyclic shares: full rounds of blocks, each instance one a round, and what a last round gives.
#include "compiler/mapping/layout.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

machine::MemoryId underneath(const Machine& machine, machine::MemoryId memory) {
  for (size_t step = 0; step < machine.memories.size() && machine[memory].isVirtual(); ++step)
    memory = machine[memory].over;
  return memory;
}

int64_t shareOf(int64_t extent, int64_t parts, int64_t blockSize) {
  if (blockSize == 0)
    return extent / parts + (extent % parts != 0);
  const int64_t blocks = extent / blockSize + (extent % blockSize != 0);
  const int64_t rounds = blocks / parts + (blocks % parts != 0);
  int64_t share = 0;
  if (__builtin_mul_overflow(rounds, blockSize, &share))
    share = INT64_MAX;
  return std::min(share, extent);
}

void giveEvenShares(BlockOp block, int64_t instances) {
  SmallVector<int64_t> grid(block.getExtents().size(), 1), sizes(block.getExtents().size(), 0);
  if (!grid.empty())
    grid[0] = std::max<int64_t>(instances, 1);
  Builder builder(block.getContext());
  block->setAttr(SvmDialect::gridAttr, builder.getDenseI64ArrayAttr(grid));
  block->setAttr(SvmDialect::blockSizeAttr, builder.getDenseI64ArrayAttr(sizes));
}

std::optional<int64_t> shareBytes(BlockOp block, int64_t alignment) {
  auto grid = block->getAttrOfType<DenseI64ArrayAttr>(SvmDialect::gridAttr);
  auto blockSize = block->getAttrOfType<DenseI64ArrayAttr>(SvmDialect::blockSizeAttr);
  const int64_t rank = block.getBlock().getType().getRank();
  if (!grid || !blockSize || grid.size() != rank || blockSize.size() != rank)
    return std::nullopt;
  int64_t bytes = static_cast<int64_t>(RecordType::sizeInBytes(block.getBlock().getType().getElementType()));
  for (int64_t dimension = rank - 1; dimension >= 0; --dimension) {
    int64_t bound = block.getMax() ? (*block.getMax())[dimension] : -1;
    if (bound < 0)
      bound = getConstantIntValue(block.getExtents()[dimension]).value_or(-1);
    if (bound < 0 || grid[dimension] < 1 || blockSize[dimension] < 0 ||
        __builtin_mul_overflow(bytes, shareOf(bound, grid[dimension], blockSize[dimension]), &bytes))
      return std::nullopt;
    if (dimension + 1 == rank &&
        (__builtin_add_overflow(bytes, alignment - 1, &bytes) || (bytes -= bytes % alignment, false)))
      return std::nullopt;
  }
  return bytes;
}

} // namespace strata::mapping
