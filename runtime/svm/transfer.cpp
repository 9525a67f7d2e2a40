// The kernels that move data: Move, and scatter and gather with a stride or with indices. Elements go from storage to
// storage in runs as long as the streams and the block allow.
#include "runtime/svm/block.h"
#include "runtime/svm/check.h"
#include "runtime/svm/record.h"
#include "runtime/svm/stream.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace strata::svm {
namespace {

/// What a transfer reads from: a stream, up to a length or to the first tag.
class Source {
public:
  Source(Stream* stream, KernelRecord* kernel, int length)
      : record_(recordOf(stream, "a transfer", kernel->place)), kernel_(kernel), toTag_(length < 0),
        left_(length < 0 ? UINT64_MAX : static_cast<uint64_t>(length)) {
    enterPop(record_, kernel_, "a transfer", kernel_->place);
  }
  bool done() const { return left_ == 0; }
  uint64_t left() const { return left_; }
  /// At least one element, at most `count`, that lie one after another.
  const char* take(uint64_t& count) {
    if (isRequested(kernel_))
      obey(*kernel_);
    waitForElements(record_, kernel_, 1);
    const uint64_t there = inside(record_); // more may come meanwhile, with tags that have not been looked at
    if (const uint64_t tagged = toTag_ ? untilTag(record_) : 0)
      left_ = tagged;
    count = std::min({count, left_, there});
    return readable(record_, count);
  }
  void taken(uint64_t count) {
    commitPop(record_, count);
    if (left_ != UINT64_MAX)
      left_ -= count;
  }
  /// One element, into `to`.
  void pop(void* to) {
    uint64_t one = 1;
    const char* from = take(one);
    std::memcpy(to, from, record_.elementBytes);
    taken(1);
  }
  uint64_t elementBytes() const { return record_.elementBytes; }

private:
  StreamRecord& record_;
  KernelRecord* kernel_;
  const bool toTag_;
  uint64_t left_;
};

class Target {
public:
  Target(Stream* stream, KernelRecord* kernel)
      : record_(recordOf(stream, "a transfer", kernel->place)), kernel_(kernel) {
    enterPush(record_, kernel_, "a transfer", kernel_->place);
  }
  /// Room for at least one element, at most `count`.
  char* room(uint64_t& count) {
    if (isRequested(kernel_))
      obey(*kernel_);
    if (record_.program->checked())
      checkPush(record_, false, record_.elementBytes, kernel_->place);
    waitForRoom(record_, kernel_, 1);
    return writable(record_, count);
  }
  void written(uint64_t count, bool eos) {
    if (eos && record_.program->checked())
      checkPush(record_, true, record_.elementBytes, kernel_->place);
    commitPush(record_, count, eos);
  }
  /// `count` elements that lie one after another; the last with a tag if `eos`.
  void push(const char* from, uint64_t count, bool eos) {
    while (count) {
      uint64_t step = count;
      char* to = room(step);
      std::memcpy(to, from, step * record_.elementBytes);
      count -= step;
      written(step, eos && count == 0);
      from += step * record_.elementBytes;
    }
  }

private:
  StreamRecord& record_;
  KernelRecord* kernel_;
};

void move(const SvmTransfer_& transfer, KernelRecord* kernel) {
  Source source(transfer.source, kernel, transfer.length);
  Target target(transfer.target, kernel);
  while (!source.done()) {
    // First the elements: while they are awaited, nothing is known of the room.
    uint64_t count = source.left();
    source.take(count);
    char* to = target.room(count);
    const char* from = source.take(count);
    std::memcpy(to, from, count * source.elementBytes());
    source.taken(count);
    target.written(count, transfer.setEOS && source.done());
  }
}

/// Where run `index` of `elements` elements begins in a block; fails when it does not lie within.
char* placeOf(const BlockRecord& block, int64_t first, uint64_t count, const KernelRecord& kernel) {
  if (first < 0 || static_cast<uint64_t>(first) + count > block.capacity)
    failAt(kernel.place, "svm-block-index",
           "kernel '" + nameOf(kernel) + "' reaches elements " + std::to_string(first) + " to " +
               std::to_string(first + static_cast<int64_t>(count) - 1) + " of block '" + nameOf(block) +
               "', which has " + std::to_string(block.capacity),
           "give it a smaller length or stride, other indices, or a larger block");
  return block.block->begin_ + static_cast<uint64_t>(first) * block.elementBytes;
}

/// Pops `count` elements into a place.
void fill(Source& source, char* to, uint64_t count) {
  while (count && !source.done()) {
    uint64_t step = count;
    const char* from = source.take(step);
    std::memcpy(to, from, step * source.elementBytes());
    source.taken(step);
    to += step * source.elementBytes();
    count -= step;
  }
}

void stridedScatter(const SvmTransfer_& transfer, KernelRecord* kernel) {
  const BlockRecord& block = recordOf(transfer.block, "a transfer", kernel->place);
  Source source(transfer.source, kernel, transfer.length);
  const auto segment = static_cast<uint64_t>(transfer.elements);
  for (int64_t first = 0; !source.done(); first += transfer.stride)
    for (uint64_t k = 0; k < segment && !source.done();) {
      uint64_t step = std::min(segment - k, source.left());
      source.take(step); // how many there are, up to a tag
      char* to = placeOf(block, first + static_cast<int64_t>(k), step, *kernel);
      fill(source, to, step);
      k += step;
    }
}

/// How many elements a strided gather takes from a whole block.
uint64_t stridedLength(const BlockRecord& block, const SvmTransfer_& transfer) {
  const auto stride = static_cast<uint64_t>(transfer.stride), segment = static_cast<uint64_t>(transfer.elements);
  uint64_t length = 0;
  if (stride == 0)
    return std::min(segment, block.capacity);
  // A segment that the block's end cuts short is the last, also where segments overlap.
  for (uint64_t first = 0; first < block.capacity; first += stride) {
    length += std::min(segment, block.capacity - first);
    if (segment > block.capacity - first)
      break;
  }
  return length;
}

void stridedGather(const SvmTransfer_& transfer, KernelRecord* kernel) {
  const BlockRecord& block = recordOf(transfer.block, "a transfer", kernel->place);
  Target target(transfer.target, kernel);
  uint64_t left = transfer.length < 0 ? stridedLength(block, transfer) : static_cast<uint64_t>(transfer.length);
  for (int64_t first = 0; left; first += transfer.stride) {
    const uint64_t count = std::min(left, static_cast<uint64_t>(transfer.elements));
    const char* from = placeOf(block, first, count, *kernel);
    left -= count;
    target.push(from, count, transfer.setEOS && left == 0);
  }
}

int64_t popIndex(Source& indices) {
  char element[8];
  indices.pop(element);
  const auto as = [&](auto value) {
    std::memcpy(&value, element, sizeof value);
    return static_cast<int64_t>(value);
  };
  switch (indices.elementBytes()) {
  case 1:
    return as(uint8_t());
  case 2:
    return as(int16_t());
  case 4:
    return as(int32_t());
  default:
    return as(int64_t());
  }
}

void indexedScatter(const SvmTransfer_& transfer, KernelRecord* kernel) {
  const BlockRecord& block = recordOf(transfer.block, "a transfer", kernel->place);
  Source source(transfer.source, kernel, transfer.length);
  Source indices(transfer.indices, kernel, INT_MAX);
  const auto elements = static_cast<uint64_t>(transfer.elements);
  while (!source.done()) {
    uint64_t some = 1;
    source.take(some); // an index is popped only when there is something to put there
    const int64_t first = popIndex(indices);
    fill(source, placeOf(block, first, elements, *kernel), elements);
  }
}

void indexedGather(const SvmTransfer_& transfer, KernelRecord* kernel) {
  const BlockRecord& block = recordOf(transfer.block, "a transfer", kernel->place);
  Target target(transfer.target, kernel);
  const auto elements = static_cast<uint64_t>(transfer.elements);
  const bool all = transfer.length < 0;
  Source indices(transfer.indices, kernel, all ? -1 : transfer.length / transfer.elements);
  while (!indices.done()) {
    const int64_t first = popIndex(indices);
    target.push(placeOf(block, first, elements, *kernel), elements, transfer.setEOS && indices.done());
  }
}

template <void (*Transfer)(const SvmTransfer_&, KernelRecord*)>
void work(void* data) {
  const auto& transfer = *static_cast<const SvmTransfer_*>(data);
  KernelRecord* kernel = callingKernel();
  constexpr bool writes = Transfer == stridedScatter || Transfer == indexedScatter;
  if (transfer.block && kernel->program->checked())
    checkBlockUse(recordOf(transfer.block, "a transfer", kernel->place), *kernel, writes, kernel->place);
  if (Recorder* recorder = kernel->program->recorder(); recorder && transfer.block)
    recorder->uses(recordOf(transfer.block, "a transfer", kernel->place), *kernel, writes);
  Transfer(transfer, kernel);
}

/// The sizes of elements agree, and what is counted can be.
void checkTransfer(const SvmTransfer_& transfer, int kind, const Kernel* kernel, const Place& place) {
  const auto refuse = [&](const std::string& what, const char* help, const char* code = "svm-transfer") {
    failAt(place, code, "kernel '" + variableName(kernel, 0, place.argument()) + "': " + what, help);
  };
  if (transfer.length < STREAM_LENGTH_ALL)
    refuse("a length of " + std::to_string(transfer.length), "give a number of elements or STREAM_LENGTH_ALL");
  if (transfer.elements < 1 || transfer.stride < 0)
    refuse("segments of " + std::to_string(transfer.elements) + " elements every " + std::to_string(transfer.stride),
           "a segment has at least one element, and a stride is not negative");
  const bool indexed = kind == SVM_INDEXED_SCATTER_ || kind == SVM_INDEXED_GATHER_;
  if (indexed && transfer.length > 0 && transfer.length % transfer.elements != 0)
    refuse("a length of " + std::to_string(transfer.length) + " is no multiple of " +
               std::to_string(transfer.elements) + " elements an index",
           "the length counts elements, not indices");
  uint64_t size = 0;
  const auto same = [&](uint64_t bytes) {
    if (size && bytes != size)
      refuse("elements of " + std::to_string(size) + " and of " + std::to_string(bytes) + " bytes",
             "what is moved keeps its size");
    size = bytes;
  };
  if (transfer.source)
    same(recordOf(transfer.source, "a transfer", place).elementBytes);
  if (transfer.target)
    same(recordOf(transfer.target, "a transfer", place).elementBytes);
  if (transfer.block)
    same(recordOf(transfer.block, "a transfer", place).elementBytes);
  for (const Stream* stream : {transfer.source, transfer.indices})
    if (stream && transfer.length == STREAM_LENGTH_ALL && Program::current().checked())
      if (const StreamRecord& record = recordOf(stream, "a transfer", place); record.flags & STREAM_UNORDERED)
        refuse("all up to the first tag of stream '" + nameOf(record) + "', which is STREAM_UNORDERED",
               "give it a length, or leave the flag out: what comes first is not defined with it",
               "svm-unordered-peek");
  if (transfer.indices) {
    const uint64_t bytes = recordOf(transfer.indices, "a transfer", place).elementBytes;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
      refuse("indices of " + std::to_string(bytes) + " bytes", "indices are of type int, or of 1, 2 or 8 bytes");
  }
}

} // namespace
} // namespace strata::svm

using namespace strata::svm;

void svmTransferInit_(Kernel* kernel, SvmTransfer_* transfer, VM_NODE_PROC location, int kind, Stream* source,
                      Stream* target, Stream* indices, Block* block, int length, int stride, int elements,
                      boolean setEOS, const char* text) {
  static constexpr ExtKernelWork works[] = {work<move>, work<stridedScatter>, work<stridedGather>, work<indexedScatter>,
                                            work<indexedGather>};
  static constexpr const char* names[] = {"move", "scatter", "gather", "scatter", "gather"};
  const Place place{text};
  const SvmTransfer_ wanted{source, target, indices, block, length, stride, elements, setEOS};
  needVariable(kernel, "a kernel", place);
  checkTransfer(wanted, kind, kernel, place);
  initialise(kernel, KernelSort::Predefined, location, nullptr, transfer, sizeof *transfer, works[kind], place,
             names[kind]);
  *transfer = wanted;
  if (KernelRecord* record = recordOf(kernel); record->program->checked())
    checkArgumentsAgain(*record, place);
}
