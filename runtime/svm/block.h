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
  std::vector<Use> uses; // as a stream's
  Storage storage;
  runtime::SpinLock lock;             // guards the list and the opening of the quick path
  std::vector<KernelRecord*> kernels; // that have it at hand
  // Checked mode and a recorded program keep the quick path of the header closed, so that every operation shows who
  // calls. This is what they have instead: the kernel that read (0) or wrote (1) last, whose right to do so has been
  // checked, and of which it has been noted.
  std::atomic<const KernelRecord*> last[2] = {nullptr, nullptr};
  std::atomic<uint64_t> fitting[2] = {0, 0}; // what was seen then of a variable (SVM_SIZE_) that an element fits
  std::vector<std::pair<const KernelRecord*, bool>> noted; // of those that have it at hand; true: it writes
};

void initialise(Block* block, int location, int address, int capacity, int elementBytes, const Place& place);
/// The record of an initialised block; fails for the place when nothing has initialised it.
BlockRecord& recordOf(const Block* block, const char* operation, const Place& place);
std::string nameOf(const BlockRecord& record);
/// Where an element lies that is about to be read or written, which the compiler sees as `size` says (SVM_SIZE_); obeys
/// requests, and fails for the place when there is no such element.
char* element(Block* block, int64_t index, uint64_t size, bool writes, const Place& place);
/// Closes the quick path, if a kernel may have opened it.
void close(BlockRecord& record);
/// A kernel is over: it has the block at hand no more, and the quick path is closed.
void leave(BlockRecord& record, const KernelRecord& kernel);

} // namespace strata::svm
