// Layouts of blocks in virtual memories: which instances of the memory underneath hold them, and how much of each they
// take. Questions about placed programs; changes nothing.
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"

namespace strata::mapping {

/// The physical memory whose instances a virtual memory joins; a physical one is its own.
machine::MemoryId underneath(const Machine& machine, machine::MemoryId memory);

/// The layout of a block that nobody gave one: even shares of the first dimension for all instances.
void giveEvenShares(svm::BlockOp block, int64_t instances);

/// Bytes that a block in a virtual memory takes at most of each instance underneath, rows padded to `alignment` bytes;
/// nothing when an extent has no bound, or the block no layout.
std::optional<int64_t> shareBytes(svm::BlockOp block, int64_t alignment);

} // namespace strata::mapping
