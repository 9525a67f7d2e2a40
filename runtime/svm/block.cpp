// Implements blocks. The quick path is open while no kernel that is RUNNING has something to obey.
#include "runtime/svm/block.h"

#include "runtime/svm/check.h"
#include "runtime/svm/record.h"

#include <algorithm>
#include <cstring>

namespace strata::svm {

namespace {

void forgetLast(BlockRecord& record) {
  for (std::atomic<const KernelRecord*>& last : record.last)
    last.store(nullptr, std::memory_order_relaxed);
}

/// Where an element lies if it is the calling kernel that did the same to the block last; else null.
char* atHand(const Block* block, int index, uint64_t size, bool writes) {
  if (!block || !block->record_ || block->mark_ != markOf(block))
    return nullptr;
  const BlockRecord& record = *static_cast<const BlockRecord*>(block->record_);
  const KernelRecord* last = record.last[writes].load(std::memory_order_relaxed);
  const auto at = static_cast<uint64_t>(static_cast<int64_t>(index));
  return last && last == callingKernel() && !isRequested(last) && at < record.capacity &&
                 size == record.fitting[writes].load(std::memory_order_relaxed)
             ? block->begin_ + at * record.elementBytes
             : nullptr;
}

} // namespace

std::string nameOf(const BlockRecord& record) {
  return variableName(record.block, sizeof(Block), record.place.argument());
}

void initialise(Block* block, int location, int address, int capacity, int elementBytes, const Place& place) {
  needOwnProcess("a block is initialised", place);
  Program& program = Program::current();
  needVariable(block, "a block", place);
  const auto name = [&] { return "block '" + variableName(block, sizeof(Block), place.argument()) + "'"; };
  const machine::Node node = program.memory(location, place);
  if (elementBytes < 1 || capacity < 1)
    failAt(place, "svm-block-size",
           name() + " has " + std::to_string(capacity) + " elements of " + std::to_string(elementBytes) + " bytes",
           "a block holds at least one element of at least one byte");
  const uint64_t bytes = static_cast<uint64_t>(capacity) * static_cast<uint64_t>(elementBytes);
  char* begin = program.storage(node, address, bytes, name, place);

  std::lock_guard guard(program.lock);
  std::unique_ptr<BlockRecord>& owned = program.blocks[block];
  if (owned)
    checkAtHand(*owned, place);
  if (program.checked())
    checkBlock(program, owned.get(), node, elementBytes, place);
  if (!owned)
    owned = std::make_unique<BlockRecord>();
  BlockRecord& record = *owned;
  std::lock_guard within(record.lock);
  record.program = &program;
  record.block = block;
  record.place = place;
  record.node = node;
  record.address = address;
  record.capacity = static_cast<uint64_t>(capacity);
  record.elementBytes = static_cast<uint64_t>(elementBytes);
  for (std::atomic<uint64_t>& fitting : record.fitting)
    fitting.store(0, std::memory_order_relaxed);
  block->begin_ = begin;
  block->elementBytes_ = record.elementBytes;
  block->record_ = &record;
  block->mark_ = markOf(block);
  std::atomic_ref(block->indexLimit_).store(0);
  record.noted.clear(); // it may have another place now
  forgetLast(record);
  if (program.checked()) {
    record.storage.block = &record;
    noteStorage(program, record.storage, begin, bytes);
  }
}

BlockRecord& recordOf(const Block* block, const char* operation, const Place& place) {
  needOwnProcess(operation, place);
  if (!block || !block->record_ || block->mark_ != markOf(block))
    failUninitialised("block", operation, block ? variableName(block, sizeof(*block), place.argument()) : "NULL",
                      block ? block->mark_ : 0, place);
  return *static_cast<BlockRecord*>(block->record_);
}

char* element(Block* block, int64_t index, uint64_t size, bool writes, const Place& place) {
  const char* operation = writes ? "blockWrite" : "blockRead";
  BlockRecord& record = recordOf(block, operation, place);
  KernelRecord* kernel = callingKernel();
  if (isRequested(kernel))
    obey(*kernel);
  if (index < 0 || static_cast<uint64_t>(index) >= record.capacity)
    failAt(place, "svm-block-index",
           std::string(operation) + " of element " + std::to_string(index) + " of block '" + nameOf(record) +
               "', which has " + std::to_string(record.capacity),
           "indices are 0 to capacity - 1");
  if (record.program->checked())
    checkBlockSize(record, size, place);
  char* at = block->begin_ + static_cast<uint64_t>(index) * record.elementBytes;
  if (!kernel && record.program->checked()) {
    std::lock_guard guard(record.program->lock);
    noteStorageUse(*record.program, record.storage, nullptr, writes);
  }
  if (!kernel)
    return at;
  const auto isKnown = [&] {
    return std::find(record.kernels.begin(), record.kernels.end(), kernel) != record.kernels.end();
  };
  if (record.program->checked()) {
    record.lock.lock();
    const bool begins = !isKnown();
    record.lock.unlock(); // the check takes the program's, which comes first
    if (begins)
      checkBlockUse(record, *kernel, writes, place);
  }
  std::lock_guard guard(record.lock);
  if (!isKnown()) {
    record.kernels.push_back(kernel);
    std::lock_guard ends(kernel->endsLock);
    kernel->blocks.push_back(&record);
  }
  Recorder* recorder = record.program->recorder();
  if (const std::pair<const KernelRecord*, bool> use{kernel, writes};
      recorder && std::find(record.noted.begin(), record.noted.end(), use) == record.noted.end()) {
    recorder->uses(record, *kernel, writes);
    record.noted.push_back(use);
  }
  if (recorder || record.program->checked()) {
    record.fitting[writes].store(fits(size, record.elementBytes) ? size : 0, std::memory_order_relaxed);
    record.last[writes].store(kernel, std::memory_order_relaxed);
    return at;
  }
  std::atomic_ref(block->indexLimit_).store(record.capacity, std::memory_order_seq_cst);
  if (record.program->requests.load(std::memory_order_seq_cst) != 0)
    std::atomic_ref(block->indexLimit_).store(0, std::memory_order_seq_cst);
  return at;
}

void close(BlockRecord& record) {
  std::lock_guard guard(record.lock);
  if (!record.kernels.empty()) // else the block may be gone
    std::atomic_ref(record.block->indexLimit_).store(0, std::memory_order_seq_cst);
}

void leave(BlockRecord& record, const KernelRecord& kernel) {
  std::lock_guard guard(record.lock);
  std::atomic_ref(record.block->indexLimit_).store(0, std::memory_order_seq_cst);
  forgetLast(record);
  std::erase(record.kernels, &kernel);
  std::erase_if(record.noted, [&](const auto& use) { return use.first == &kernel; });
}

} // namespace strata::svm

using namespace strata::svm;

void svmBlockInit_(Block* block, VM_NODE_MEM location, int address, int capacity, int elementSize, const char* place) {
  initialise(block, location, address, capacity, elementSize, Place{place});
}

void svmWriteSlowly_(Block* block, int index, const void* from, uint64_t size, const char* place) {
  char* to = atHand(block, index, size, true);
  std::memcpy(to ? to : element(block, index, size, true, Place{place}), from, block->elementBytes_);
}

void svmReadSlowly_(Block* block, int index, void* to, uint64_t size, const char* place) {
  const char* from = atHand(block, index, size, false);
  std::memcpy(to, from ? from : element(block, index, size, false, Place{place}), block->elementBytes_);
}
