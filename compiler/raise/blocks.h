// The memory that a function reaches: each argument, local variable and constant that it loads from or stores to, as a
// block of one dimension with elements of one type.
#pragma once

#include "compiler/raise/indices.h"
#include "compiler/raise/refusal.h"

#include "llvm/ADT/MapVector.h"

namespace strata::raise {

struct MemoryBlock {
  /// Of the smallest size that is accessed. Floating-point where all accesses of that size are; an integer of the same
  /// width where they differ. Null: nothing is accessed.
  llvm::Type* element = nullptr;
  uint64_t bytes = 0; // of a local variable or constant
  bool isRead = false, isWritten = false;
  bool isChanged = false; // by atomic operations
};

/// A load or store.
struct Access {
  const llvm::Value* block = nullptr;
  Polynomial index;   // in elements
  unsigned parts = 1; // elements that the number takes, the lowest bits first
};

struct Memory {
  llvm::MapVector<const llvm::Value*, MemoryBlock> blocks;
  llvm::DenseMap<const llvm::Instruction*, Access> accesses;
};

/// The type of an argument's elements where the function does not tell.
struct ElementType {
  llvm::Type* type = nullptr;
  bool isFixed = false; // and where it tells of larger ones
};
using ElementTypes = std::map<const llvm::Value*, ElementType>;

/// Intrinsics that set or copy memory are not among the accesses. Nothing, and a refusal, where memory is reached in
/// another way.
std::optional<Memory> findMemory(Analyses& analyses, Indices& indices, const ElementTypes& elements, Refusal& refusal);

} // namespace strata::raise
