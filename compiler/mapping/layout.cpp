// Layouts over the instances of memories, as attributes of blocks. How elements are distributed is asked of
// machine::Shares.
#include "compiler/mapping/layout.h"

#include "base/machine/instance_range.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

machine::MemoryId underneath(const Machine& machine, machine::MemoryId memory) {
  for (size_t step = 0; step < machine.memories.size() && machine[memory].isVirtual(); ++step)
    memory = machine[memory].over;
  return memory;
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
  auto grid = SvmDialect::gridAttr.of(block);
  auto blockSize = SvmDialect::blockSizeAttr.of(block);
  const int64_t rank = block.getBlock().getType().getRank();
  if (!grid || !blockSize || grid.size() != rank || blockSize.size() != rank)
    return std::nullopt;
  int64_t bytes = static_cast<int64_t>(RecordType::sizeInBytes(block.getBlock().getType().getElementType()));
  for (int64_t dimension = rank - 1; dimension >= 0; --dimension) {
    int64_t bound = block.getMax() ? (*block.getMax())[dimension] : -1;
    if (bound < 0)
      bound = getConstantIntValue(block.getExtents()[dimension]).value_or(-1);
    if (bound < 0 || grid[dimension] < 1 || blockSize[dimension] < 0 ||
        __builtin_mul_overflow(bytes, machine::Shares::ofDimension(bound, grid[dimension], blockSize[dimension]).room(),
                               &bytes))
      return std::nullopt;
    if (dimension + 1 == rank &&
        (__builtin_add_overflow(bytes, alignment - 1, &bytes) || (bytes -= bytes % alignment, false)))
      return std::nullopt;
  }
  return bytes;
}

} // namespace strata::mapping
