// Streams as the library holds them, beside the quick path that include/svm.h has. One kernel, or control, pushes and
// one pops at a time.
//
// Invariants:
// 1. Stream::pushed_ is written by the pusher only, Stream::popped_ by the popper only; their difference is the number
//    of elements inside, between 0 and capacity.
// 2. Stream::pushLimit_ is above pushed_ only while a kernel under way has the stream in its list of ends, and is at
//    most what room there is before the buffer's end; popLimit_ likewise, and no element below it carries a tag. The
//    limits for words are the same where elements have 4 bytes, else 0.
// 3. A side that blocks leaves itself in pusherWaits_ or popperWaits_ and looks once more before it parks; the other
//    side tests that without a fence (scheduler.h, parkUnfenced).
// 4. While a stream is in a group, the group's pushed_ counts for it instead of its own and its quick path for single
//    pushes is closed. Groups are formed and dissolved on the side of the pusher. A group lives as long as the record
//    of its first stream, always has the same streams, and is ignored while it is dissolved, so that a popper who still
//    looks at it sees at most what has been pushed.
// 5. `tags` holds the numbers of the elements inside that carry a tag, ascending. The pusher adds a number before it
//    raises pushed_, the popper takes it before it raises popped_.
#pragma once

#include "runtime/svm/kernel.h"

#include <span>

namespace strata::svm {

struct RecordedStream;

/// One side of a stream.
struct StreamEnd {
  std::atomic<uint64_t> needs{0};                   // what count of the other side the one who waits needs
  std::atomic<runtime::Execution*> parked{nullptr}; // under `lock`: parked in the stream, so that it still exists
  std::atomic<KernelRecord*> kernel{nullptr};       // who has it at hand
  uint64_t limit = 0;   // what Stream::pushLimit_ or popLimit_ is unless a mode or a request keeps that at 0
  uint64_t fitting = 0; // what was last seen of a variable (SVM_SIZE_) that an element fits; 0: none
  uintptr_t stackBegin = 0, stackBytes = 0; // of that kernel, once it is in `kernel`
  std::atomic<KernelRecord*> last{nullptr}; // who had it last, and when that was over
  uint64_t lastOver = 0;
  int32_t spins = 64;
  std::atomic<const char*> controlPlace{nullptr}; // where control used it last
  std::atomic<uint64_t> controlAt{0};             // checked mode: when that was, on the program's clock
};

/// Streams to which elements are pushed together.
struct Group : SvmGroup_ {
  std::vector<StreamRecord*> members;
  uint64_t since = 0; // its count when it was last put together
  uint32_t vain = 0;  // how many times in a row that has hardly been used
};

struct StreamRecord {
  Program* program = nullptr;
  Stream* stream = nullptr;
  Place place; // of its initialisation
  machine::Node node;
  int address = 0;
  uint64_t capacity = 0;
  uint64_t elementBytes = 0;
  int flags = 0;
  FifoState* fifo = nullptr; // null: it lies in a memory
  StreamEnd pusher, popper;
  // Checked mode, under the program's lock.
  std::vector<Use> uses; // kernels under way, and some that are over
  Storage storage;

  runtime::SpinLock lock;
  std::deque<uint64_t> tags;
  std::atomic<uint64_t> tagged{0}; // tags pushed so far
  uint64_t untagged = 0;           // tags popped so far; the popper's
  std::atomic<Group*> group{nullptr};
  std::vector<std::unique_ptr<Group>> groups; // that begin with this stream
  RecordedStream* recorded = nullptr;         // of a program that is recorded
};

void initialise(Stream* stream, int location, int address, int capacity, int elementBytes, int initLength, bool initEOS,
                int flags, bool fifo, bool withData, const Place& place);

/// The record of an initialised stream, or null.
inline StreamRecord* recordIfAny(const Stream* stream) {
  return stream && stream->mark_ == markOf(stream) ? static_cast<StreamRecord*>(stream->record_) : nullptr;
}
/// The same; fails for the place when nothing has initialised it.
StreamRecord& recordOf(const Stream* stream, const char* operation, const Place& place);

/// The name of the variable.
std::string nameOf(const StreamRecord& record);

/// Makes the calling kernel (null: control) the one that pushes or pops, and obeys requests.
void enterPush(StreamRecord& record, KernelRecord* kernel, const char* operation, const Place& place);
void enterPop(StreamRecord& record, KernelRecord* kernel, const char* operation, const Place& place);
/// Wait until there is room for, or there are, so many elements. REQUIRES: count <= capacity.
void waitForRoom(StreamRecord& record, KernelRecord* kernel, uint64_t count);
void waitForElements(StreamRecord& record, KernelRecord* kernel, uint64_t count);
/// Elements inside, and room; each exact for its own side.
uint64_t inside(const StreamRecord& record);
uint64_t room(const StreamRecord& record);
/// Where the next element goes, or comes from: within the buffer also where the one before was the last there. The
/// pusher's and the popper's.
char* writeAt(const StreamRecord& record);
const char* readAt(const StreamRecord& record);
/// Where the next elements go, or come from, and how many of `count` lie there one after another.
char* writable(StreamRecord& record, uint64_t& count);
const char* readable(StreamRecord& record, uint64_t& count);
/// What has been written there is pushed, the last element with a tag if `eos`; what is there is popped with its tags.
/// REQUIRES: count is what writable or readable gave, or less.
void commitPush(StreamRecord& record, uint64_t count, bool eos);
void commitPop(StreamRecord& record, uint64_t count);
/// Whether an element inside carries a tag: of those that inside() counted before, all that do are known.
inline bool hasTags(const StreamRecord& record) {
  return record.tagged.load(std::memory_order_relaxed) != record.untagged;
}
/// The number of elements up to and with the first that carries a tag, among those inside; 0: none does.
uint64_t untilTag(StreamRecord& record);
/// Whether the element n places behind the first carries a tag. REQUIRES: it is there.
bool carriesTag(StreamRecord& record, uint64_t n);

/// Lets the quick path work for a kernel as far as it may.
void openPush(StreamRecord& record, KernelRecord* kernel);
void openPop(StreamRecord& record, KernelRecord* kernel);
/// Puts streams that have just been opened together, if they go in step, so that the next multicast to them is one
/// operation; dissolves the group of a stream. The pusher's, or for the latter who is to be the next.
void join(std::span<Stream* const> streams, const KernelRecord* kernel);
void part(StreamRecord& record);
/// Closes the quick path of one side.
void close(StreamRecord& record, bool pushes);

/// Checked mode keeps the quick path of the header closed, so that every operation shows who calls. This is what it has
/// instead, as have calls with a variable of another size than the elements: the kernel whose right to push or pop has
/// been checked calls, which its stack shows, there is room, or an element without a tag, and nothing is requested of
/// it.
inline bool isAtHand(const StreamRecord& record, bool pushes) {
  const StreamEnd& end = pushes ? record.pusher : record.popper;
  return (pushes ? record.stream->pushed_ : record.stream->popped_) < end.limit &&
         reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) - end.stackBegin < end.stackBytes &&
         !isRequested(end.kernel.load(std::memory_order_relaxed));
}

} // namespace strata::svm
