// Implements streams: initialisation, waiting, tags, and opening and closing the quick path.
#include "runtime/svm/stream.h"

#include "runtime/core/scheduler.h"
#include "runtime/core/spin_until.h"
#include "runtime/core/stream.h"
#include "runtime/svm/check.h"
#include "runtime/svm/record.h"

#include <algorithm>

namespace strata::svm {

using runtime::Execution;

namespace {

std::atomic_ref<uint64_t> pushed(const StreamRecord& record) {
  Group* group = record.group.load(std::memory_order_acquire);
  return std::atomic_ref(group ? group->pushed_ : record.stream->pushed_);
}
std::atomic_ref<uint64_t> popped(const StreamRecord& record) {
  return std::atomic_ref(record.stream->popped_);
}
std::atomic_ref<void*> waiting(const StreamRecord& record, bool pushes) {
  return std::atomic_ref(pushes ? record.stream->pusherWaits_ : record.stream->popperWaits_);
}
StreamEnd& endOf(StreamRecord& record, bool pushes) {
  return pushes ? record.pusher : record.popper;
}
const StreamEnd& endOf(const StreamRecord& record, bool pushes) {
  return pushes ? record.pusher : record.popper;
}

/// Whether the other side has come as far as the one who waits needs.
bool arrived(const StreamRecord& record, bool pushes) {
  return (pushes ? popped(record) : pushed(record)).load(std::memory_order_acquire) >=
         endOf(record, pushes).needs.load(std::memory_order_relaxed);
}

/// For parkUnfenced. The one who waited may have gone, and his stream with him, unless he is parked still.
template <bool Pushes>
bool isReady(const void* object, const Execution* execution) {
  auto& record = *static_cast<StreamRecord*>(const_cast<void*>(object));
  std::lock_guard guard(record.lock);
  return endOf(record, Pushes).parked.load(std::memory_order_relaxed) == execution &&
         waiting(record, Pushes).load() == execution && arrived(record, Pushes);
}

template <bool Pushes>
void describeWait(const void* object, std::string& out) {
  describeStreamWait(*static_cast<const StreamRecord*>(object), Pushes, out);
}

/// Parks until the other side has come as far as `needs`, or something is requested of the kernel, which it then obeys.
template <bool Pushes>
void waitUntil(StreamRecord& record, KernelRecord* kernel, uint64_t needs) {
  StreamEnd& end = endOf(record, Pushes);
  end.needs.store(needs, std::memory_order_relaxed);
  const auto enough = [&] { return arrived(record, Pushes); };
  if (enough() || (!isRequested(kernel) && runtime::spinUntil(end.spins, enough)))
    return;
  RecordedStall stall(record, kernel, Pushes);
  Execution* me = runtime::current();
  const auto setParked = [&](Execution* execution) {
    std::lock_guard guard(record.lock);
    end.parked.store(execution, std::memory_order_relaxed);
  };
  while (true) {
    stall.begin();
    setParked(me);
    while (true) {
      waiting(record, Pushes).store(me, std::memory_order_seq_cst);
      if (Group* group = Pushes ? nullptr : record.group.load(std::memory_order_seq_cst))
        std::atomic_ref(group->waits_).store(1, std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (enough() || isRequested(kernel))
        break;
      const char* traced = Pushes ? "wait for room in a stream" : "wait for an element";
      runtime::parkUnfenced({describeWait<Pushes>, &record, traced}, isReady<Pushes>);
    }
    waiting(record, Pushes).store(nullptr, std::memory_order_relaxed);
    setParked(nullptr);
    stall.end();
    if (enough())
      return;
    obey(*kernel);
  }
}

template <bool Pushes>
void wake(Stream* stream) {
  auto& record = *static_cast<StreamRecord*>(stream->record_);
  if (!arrived(record, Pushes))
    return;
  if (void* execution = waiting(record, Pushes).exchange(nullptr, std::memory_order_acq_rel))
    runtime::unpark(static_cast<Execution*>(execution));
}

void wakeIfWaiting(StreamRecord& record, bool pusher) {
  runtime::orderBeforeWaiters();
  if (!waiting(record, pusher).load(std::memory_order_acquire))
    return;
  if (pusher)
    wake<true>(record.stream);
  else
    wake<false>(record.stream);
}

void setLimit(const StreamRecord& record, bool pushes, uint64_t limit) {
  Stream& stream = *record.stream;
  const uint64_t ofWords = record.elementBytes == 4 ? limit : 0;
  std::atomic_ref(pushes ? stream.pushLimit_ : stream.popLimit_).store(limit, std::memory_order_seq_cst);
  std::atomic_ref(pushes ? stream.pushWordLimit_ : stream.popWordLimit_).store(ofWords, std::memory_order_seq_cst);
}

/// Where element `number` lies, whose place may be the buffer's end: then it is its beginning.
char* placeOf(const Stream& stream, char*& from, uint64_t number) {
  char* at = svmAt_(from, number, stream.elementBytes_);
  if (at != stream.end_)
    return at;
  from -= stream.end_ - stream.begin_;
  return stream.begin_;
}

/// Elements from a place to the buffer's end.
uint64_t untilEnd(const StreamRecord& record, const char* at) {
  return static_cast<uint64_t>(record.stream->end_ - at) / record.elementBytes;
}

void open(StreamRecord& record, KernelRecord* kernel, bool pushes, uint64_t until) {
  if (!kernel || runtime::wakerNeedsFence)
    return;
  until = std::min(until, pushes ? pushed(record).load(std::memory_order_relaxed) + untilEnd(record, writeAt(record))
                                 : popped(record).load(std::memory_order_relaxed) + untilEnd(record, readAt(record)));
  if (pushes && (record.flags & STREAM_NEVER_WRAPS))
    until = std::min(until, record.capacity);
  endOf(record, pushes).limit = until;
  if (record.program->checked()) {
    if (pushes && record.fifo)
      endOf(record, pushes).limit = 0; // another stream may have the FIFO
    return;
  }
  setLimit(record, pushes, until);
  if (isRequested(kernel))
    setLimit(record, pushes, 0);
}

/// Who calls is not the one who had the end until now.
__attribute__((noinline)) void enterAnew(StreamRecord& record, KernelRecord* kernel, bool pushes, const char* operation,
                                         const Place& place) {
  StreamEnd& end = endOf(record, pushes);
  const KernelRecord* other = end.kernel.load(std::memory_order_relaxed);
  if (other && !record.program->checked())
    checkOneAtATime(record, *other, kernel, pushes, place);
  if (kernel && record.program->checked())
    checkEnter(record, kernel, pushes, operation, place);
  // Another one may have come since.
  const KernelRecord* before = end.kernel.exchange(kernel, std::memory_order_acq_rel);
  if (before && before != other && before != kernel)
    checkOneAtATime(record, *before, kernel, pushes, place);
  end.limit = 0;
  recordEnter(record, kernel, pushes);
  if (!kernel)
    return;
  const runtime::Stack& stack = runtime::current()->context.stack;
  end.stackBegin = reinterpret_cast<uintptr_t>(stack.base);
  end.stackBytes = stack.bytes;
  std::lock_guard guard(kernel->endsLock);
  kernel->ends.emplace_back(&record, pushes);
}

void enter(StreamRecord& record, KernelRecord* kernel, bool pushes, const char* operation, const Place& place) {
  if (isRequested(kernel))
    obey(*kernel);
  StreamEnd& end = endOf(record, pushes);
  if (!kernel) {
    end.controlPlace.store(place.text, std::memory_order_relaxed);
    if (record.program->checked()) {
      end.controlAt.store(record.program->clock.load());
      checkEnter(record, nullptr, pushes, operation, place);
    }
  }
  if (end.kernel.load(std::memory_order_relaxed) != kernel)
    enterAnew(record, kernel, pushes, operation, place);
}

} // namespace

std::string nameOf(const StreamRecord& record) {
  return variableName(record.stream, sizeof(Stream), record.place.argument());
}

void initialise(Stream* stream, int location, int address, int capacity, int elementBytes, int initLength, bool initEOS,
                int flags, bool fifo, bool withData, const Place& place) {
  needOwnProcess("a stream is initialised", place);
  Program& program = Program::current();
  needVariable(stream, "a stream", place);
  const auto name = [&] { return "stream '" + variableName(stream, sizeof(Stream), place.argument()) + "'"; };
  const machine::Node node = fifo ? program.fifo(location, place) : program.memory(location, place);
  if (elementBytes < 1)
    failAt(place, "svm-stream-size", name() + " has elements of " + std::to_string(elementBytes) + " bytes",
           "give it the size of an element, such as sizeof(float)");
  if (fifo) {
    const uint64_t bytes = program.machine().fifos[node.index].capacity;
    capacity = static_cast<int>(std::min<uint64_t>(bytes / static_cast<uint64_t>(elementBytes), INT32_MAX));
    if (capacity < 1)
      failAt(place, "svm-stream-size",
             name() + " has elements of " + std::to_string(elementBytes) + " bytes, and " + program.nameOf(node) +
                 " holds " + std::to_string(bytes),
             "use smaller elements, or a stream in a memory");
  }
  if (capacity < 1)
    failAt(place, "svm-stream-size", name() + " has a capacity of " + std::to_string(capacity) + " elements",
           "a stream holds at least one element");
  if (initLength < 0 || initLength > capacity)
    failAt(place, "svm-init-length",
           name() + " begins with " + std::to_string(initLength) + " elements, and its capacity is " +
               std::to_string(capacity),
           "give it at most as many elements as it holds");
  const uint64_t bytes = static_cast<uint64_t>(capacity) * static_cast<uint64_t>(elementBytes);
  char* begin = fifo ? nullptr : program.storage(node, address, bytes, name, place);

  std::lock_guard guard(program.lock);
  std::unique_ptr<StreamRecord>& owned = program.streams[stream];
  if (owned)
    checkAtHand(*owned, place);
  if (program.checked())
    checkStream(program, owned.get(), stream, node, capacity, elementBytes, initLength, flags, withData, place);
  if (!owned)
    owned = std::make_unique<StreamRecord>();
  StreamRecord& record = *owned;
  if (fifo) {
    record.fifo = &program.fifoState(node);
    record.fifo->last = &record;
    begin = program.fifoStorage(node, name, place);
  }
  part(record);
  std::lock_guard within(record.lock);
  record.program = &program;
  record.stream = stream;
  record.place = place;
  record.node = node;
  record.address = address;
  record.capacity = static_cast<uint64_t>(capacity);
  record.elementBytes = static_cast<uint64_t>(elementBytes);
  record.flags = flags;
  if (Recorder* recorder = program.recorder())
    recorder->initialised(record, static_cast<uint64_t>(initLength), node, fifo);
  for (StreamEnd* end : {&record.pusher, &record.popper}) {
    end->kernel.store(nullptr);
    end->limit = 0;
    end->fitting = 0;
    end->last = nullptr;
    end->controlAt.store(0);
    end->spins = 64;
  }
  record.tags.clear();
  record.tagged.store(0);
  record.untagged = 0;
  const auto length = static_cast<uint64_t>(initLength);
  if (initEOS && length) {
    record.tags.push_back(length - 1);
    record.tagged.store(1);
  }
  stream->pushLimit_ = stream->popLimit_ = stream->pushWordLimit_ = stream->popWordLimit_ = 0;
  stream->popped_ = 0;
  stream->pushed_ = length;
  stream->begin_ = stream->readFrom_ = stream->writeFrom_ = begin;
  stream->end_ = begin + bytes;
  stream->pusherWaits_ = stream->popperWaits_ = nullptr;
  stream->elementBytes_ = record.elementBytes;
  stream->group_ = nullptr;
  for (const std::unique_ptr<Group>& group : record.groups)
    group->vain = 0;
  stream->record_ = &record;
  stream->mark_ = markOf(stream);
  if (program.checked() && !fifo) {
    record.storage.stream = &record;
    noteStorage(program, record.storage, begin, bytes, withData);
  }
}

StreamRecord& recordOf(const Stream* stream, const char* operation, const Place& place) {
  needOwnProcess(operation, place);
  if (StreamRecord* record = recordIfAny(stream))
    return *record;
  failUninitialised("stream", operation, stream ? variableName(stream, sizeof(*stream), place.argument()) : "NULL",
                    stream ? stream->mark_ : 0, place);
}

void enterPush(StreamRecord& record, KernelRecord* kernel, const char* operation, const Place& place) {
  part(record);
  enter(record, kernel, true, operation, place);
}
void enterPop(StreamRecord& record, KernelRecord* kernel, const char* operation, const Place& place) {
  enter(record, kernel, false, operation, place);
}

void waitForRoom(StreamRecord& record, KernelRecord* kernel, uint64_t count) {
  const uint64_t end = pushed(record).load(std::memory_order_relaxed) + count;
  waitUntil<true>(record, kernel, end > record.capacity ? end - record.capacity : 0);
}

void waitForElements(StreamRecord& record, KernelRecord* kernel, uint64_t count) {
  waitUntil<false>(record, kernel, popped(record).load(std::memory_order_relaxed) + count);
}

uint64_t inside(const StreamRecord& record) {
  return pushed(record).load(std::memory_order_acquire) - popped(record).load(std::memory_order_acquire);
}

uint64_t room(const StreamRecord& record) {
  return record.capacity - inside(record);
}

char* writeAt(const StreamRecord& record) {
  return placeOf(*record.stream, record.stream->writeFrom_, pushed(record).load(std::memory_order_relaxed));
}

const char* readAt(const StreamRecord& record) {
  return placeOf(*record.stream, record.stream->readFrom_, popped(record).load(std::memory_order_relaxed));
}

char* writable(StreamRecord& record, uint64_t& count) {
  char* at = writeAt(record);
  count = std::min({count, untilEnd(record, at), room(record)});
  return at;
}

const char* readable(StreamRecord& record, uint64_t& count) {
  const char* at = readAt(record);
  count = std::min({count, untilEnd(record, at), inside(record)});
  return at;
}

void commitPush(StreamRecord& record, uint64_t count, bool eos) {
  const uint64_t end = pushed(record).load(std::memory_order_relaxed) + count;
  if (eos && count) {
    std::lock_guard guard(record.lock);
    record.tags.push_back(end - 1);
    record.tagged.store(record.tagged.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  pushed(record).store(end, std::memory_order_release);
  recordCount(record, true, end);
  wakeIfWaiting(record, false);
}

void commitPop(StreamRecord& record, uint64_t count) {
  const uint64_t end = popped(record).load(std::memory_order_relaxed) + count;
  if (hasTags(record)) {
    std::lock_guard guard(record.lock);
    while (!record.tags.empty() && record.tags.front() < end) {
      record.tags.pop_front();
      ++record.untagged;
    }
  }
  popped(record).store(end, std::memory_order_release);
  recordCount(record, false, end);
  wakeIfWaiting(record, true);
}

uint64_t untilTag(StreamRecord& record) {
  const uint64_t inStream = inside(record); // before the tags: those of these elements are there then
  if (!hasTags(record))
    return 0;
  std::lock_guard guard(record.lock);
  const uint64_t first = popped(record).load(std::memory_order_relaxed);
  return record.tags.empty() || record.tags.front() - first >= inStream ? 0 : record.tags.front() - first + 1;
}

bool carriesTag(StreamRecord& record, uint64_t n) {
  if (!hasTags(record))
    return false;
  std::lock_guard guard(record.lock);
  const uint64_t number = popped(record).load(std::memory_order_relaxed) + n;
  return std::binary_search(record.tags.begin(), record.tags.end(), number);
}

void openPush(StreamRecord& record, KernelRecord* kernel) {
  open(record, kernel, true, popped(record).load(std::memory_order_acquire) + record.capacity);
}

void openPop(StreamRecord& record, KernelRecord* kernel) {
  const uint64_t there =
      pushed(record).load(std::memory_order_acquire); // before the tags: those of these are there then
  const uint64_t tagged = untilTag(record);
  const uint64_t first = popped(record).load(std::memory_order_relaxed);
  open(record, kernel, false, tagged ? std::min(there, first + tagged - 1) : there);
}

void close(StreamRecord& record, bool pushes) {
  setLimit(record, pushes, 0);
  if (Group* group = pushes ? record.group.load(std::memory_order_seq_cst) : nullptr)
    std::atomic_ref(group->limit_).store(0, std::memory_order_seq_cst);
}

void join(std::span<Stream* const> streams, const KernelRecord* kernel) {
  constexpr uint64_t worthwhile = 8;
  constexpr uint32_t mostInVain = 4;
  StreamRecord& first = *recordIfAny(streams.front());
  if (!kernel || kernel->program->checked() || kernel->program->recorder() || streams.size() < 2 ||
      streams.size() > std::extent_v<decltype(SvmGroup_::streams_)>)
    return;
  const uint64_t count = pushed(first).load(std::memory_order_relaxed);
  uint64_t limit = ~uint64_t(0);
  for (size_t i = 0; i < streams.size(); ++i) {
    const StreamRecord& record = *recordIfAny(streams[i]);
    limit = std::min(limit, record.pusher.limit);
    if (record.elementBytes != 4 || pushed(record).load(std::memory_order_relaxed) != count ||
        std::find(streams.begin(), streams.begin() + static_cast<std::ptrdiff_t>(i), streams[i]) !=
            streams.begin() + static_cast<std::ptrdiff_t>(i))
      return;
  }
  if (limit < count + worthwhile)
    return;
  auto same = std::find_if(first.groups.begin(), first.groups.end(), [&](const std::unique_ptr<Group>& group) {
    return std::equal(streams.begin(), streams.end(), group->streams_, group->streams_ + group->count_);
  });
  if (same == first.groups.end()) {
    same = first.groups.insert(same, std::make_unique<Group>());
    (*same)->count_ = static_cast<int>(streams.size());
    std::copy(streams.begin(), streams.end(), (*same)->streams_);
    for (Stream* stream : streams)
      (*same)->members.push_back(recordIfAny(stream));
  }
  Group& group = **same;
  if (group.vain == mostInVain)
    return;
  group.since = count;
  std::atomic_ref(group.pushed_).store(count, std::memory_order_relaxed);
  for (size_t i = 0; i < streams.size(); ++i) {
    StreamRecord& record = *group.members[i];
    group.from_[i] = streams[i]->writeFrom_;
    record.pusher.limit = 0;
    setLimit(record, true, 0);
    record.group.store(&group, std::memory_order_seq_cst);
    std::atomic_ref(streams[i]->group_).store(&group, std::memory_order_relaxed);
  }
  // Who waits from now on says so to the group.
  std::atomic_ref(group.waits_).store(1, std::memory_order_relaxed);
  std::atomic_ref(group.limit_).store(limit, std::memory_order_seq_cst);
  if (isRequested(kernel))
    std::atomic_ref(group.limit_).store(0, std::memory_order_seq_cst);
}

void part(StreamRecord& record) {
  Group* group = record.group.load(std::memory_order_relaxed);
  if (!group)
    return;
  std::atomic_ref(group->limit_).store(0, std::memory_order_relaxed);
  const uint64_t count = group->pushed_;
  group->vain = count - group->since < 2 ? group->vain + 1 : 0;
  for (StreamRecord* member : group->members) {
    std::atomic_ref(member->stream->pushed_).store(count, std::memory_order_release);
    std::atomic_ref(member->stream->group_).store(nullptr, std::memory_order_relaxed);
    member->group.store(nullptr, std::memory_order_release);
  }
}

} // namespace strata::svm

using namespace strata::svm;

void svmWakePopper_(Stream* stream) {
  strata::svm::wake<false>(stream);
}

void svmWakePoppers_(SvmGroup_* group) {
  std::atomic_ref waits(group->waits_);
  waits.store(0, std::memory_order_seq_cst);
  for (int i = 0; i < group->count_; ++i) {
    std::atomic_ref waiting(group->streams_[i]->popperWaits_);
    if (!waiting.load(std::memory_order_seq_cst))
      continue;
    strata::svm::wake<false>(group->streams_[i]);
    if (waiting.load(std::memory_order_relaxed))
      waits.store(1, std::memory_order_relaxed); // for more elements than there are
  }
}

void svmWakePusher_(Stream* stream) {
  strata::svm::wake<true>(stream);
}
