// Blocks as the library holds them, beside the quick path that include/svm.h has: a region of a memory, and the kernels
// that have it at hand.
#pragma once

#include "runtime/svm/kernel.h"

namespace strata::svm {

struct BlockRecord {
  Program* program = nullptr;
  Block* block = nullptr;
  Place place;
  machine::Node node;
  int address = 0;
  uint64_t capacity = 0;
  uint64_t elementBytes = 0;
  std::vector<Use> uses;              // as a stream's
  runtime::SpinLock lock;             // guards the list and the opening of the quick path
  std::vector<KernelRecord*> kernels; // that have it at hand
};

void initialise(Block* block, int location, int address, int capacity, int elementBytes, const Place& place);
/// The record of an initialised block; fails for the place when nothing has initialised it.
BlockRecord& recordOf(const Block* block, const char* operation, const Place& place);
std::string nameOf(const BlockRecord& record);
/// Where an element lies, of which the caller has `size` bytes; obeys requests, and fails for the place when there is
/// no such element.
char* element(Block* block, int64_t index, uint64_t size, const char* operation, const Place& place);
/// Closes the quick path for a kernel of which something was requested, or that has ended.
void close(BlockRecord& record, const KernelRecord& kernel, bool leaves);

} // namespace strata::svm
