// Unchecked mode: a kernel that pushes or pops more than there is room for, or than there is, waits, whatever the flags
// of the stream say; and no byte of the memory outside of the stream changes. For elements of every sort of size, in
// memories and FIFOs, by one element and by many streams at once, with and without tags, ended while it waits. What
// lies beside a FIFO's buffer is watched by the address sanitizer.
#include "runtime/svm/testing.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace {

constexpr int bytesBefore = 1024; // of the memory, before the stream
constexpr uint8_t untouched = 0xa5;

/// Element `number` of a sequence.
template <int Bytes>
struct Element {
  uint8_t bytes[Bytes];
};
template <int Bytes>
Element<Bytes> elementOf(int64_t number) {
  Element<Bytes> element;
  for (int i = 0; i < Bytes; ++i)
    element.bytes[i] = static_cast<uint8_t>(number * 31 + number / 7 + i);
  return element;
}

enum class Way { Each, Tagged, Multicast, Function };

struct Side {
  Kernel kernel;
  Stream* stream;
  int64_t count; // to push or pop
  std::atomic<int64_t> done;
  int64_t wrong;
  Way way;
};

template <int Bytes>
void pushMany(void* data) {
  Side& side = *static_cast<Side*>(data);
  for (; side.done < side.count; ++side.done) {
    Element<Bytes> element = elementOf<Bytes>(side.done);
    switch (side.way) {
    case Way::Each:
      streamPush(side.stream, &element);
      break;
    case Way::Tagged:
      streamPushWithEOS(side.stream, &element);
      break;
    case Way::Multicast:
      streamPushMulticast(&element, side.stream);
      break;
    case Way::Function:
      (streamPush)(side.stream, &element);
    }
  }
}

template <int Bytes>
void popMany(void* data) {
  Side& side = *static_cast<Side*>(data);
  for (; side.done < side.count; ++side.done) {
    const Element<Bytes> wanted = elementOf<Bytes>(side.done);
    Element<Bytes> element;
    if (side.done % 3 == 0) {
      streamPeek(side.stream, 0, &element);
      side.wrong += std::memcmp(&element, &wanted, Bytes) != 0;
    }
    if (side.way == Way::Function)
      (streamPop)(side.stream, &element);
    else
      streamPop(side.stream, &element);
    side.wrong += std::memcmp(&element, &wanted, Bytes) != 0;
  }
}

struct Kind {
  bool fifo;
  int flags;
};
constexpr Kind kinds[] = {{false, 0},
                          {false, STREAM_NEVER_WRAPS},
                          {false, STREAM_ONE_EOS},
                          {false, STREAM_UNALIASED_RAM},
                          {false, STREAM_UNORDERED},
                          {false, STREAM_NEVER_WRAPS | STREAM_ONE_EOS | STREAM_UNALIASED_RAM | STREAM_UNORDERED},
                          {true, 0},
                          {true, STREAM_NEVER_WRAPS},
                          {true, STREAM_ONE_EOS}};

using BoundsTest = SvmTest;

void init(Stream* stream, const Kind& kind, int capacity, int bytes) {
  if (kind.fifo)
    streamInitFIFO(stream, FIFO1, bytes, kind.flags);
  else
    streamInitRAM(stream, LOCALMEM1, bytesBefore / LOCALMEM_UNIT, capacity, bytes, kind.flags);
}

void start(Side* side, VM_NODE_PROC processor, ExtKernelWork work, Stream* stream, int64_t count, Way way) {
  kernelInit(&side->kernel, processor, nullptr, side, sizeof *side, work);
  side->stream = stream;
  side->count = count;
  side->done = 0;
  side->wrong = 0;
  side->way = way;
  kernelRun(&side->kernel);
}

/// Ends a kernel once it waits: nothing about it changes any more.
void endWaiting(Side* side, int64_t expected) {
  while (side->done < expected)
    if (kernelGetStatus(&side->kernel) == KERNEL_FINISHED)
      break;
  for (int i = 0; i < 20; ++i)
    kernelGetStatus(&side->kernel);
  EXPECT_EQ(kernelGetStatus(&side->kernel), KERNEL_RUNNING);
  kernelEnd(&side->kernel);
  kernelWait(&side->kernel);
  EXPECT_EQ(side->done, expected);
}

template <int Bytes>
void tryKind(const Kind& kind, int capacity, Way way) {
  static Stream stream;
  static Side pusher, popper;
  auto* memory = static_cast<uint8_t*>(svmAddress(LOCALMEM1, 0));
  std::fill_n(memory, LOCALMEM_BYTES, untouched);
  if (kind.fifo)
    capacity = FIFO_BYTES / Bytes;
  const int64_t room = capacity;

  // Far more than the capacity, through the stream.
  init(&stream, kind, capacity, Bytes);
  start(&pusher, PROC1, pushMany<Bytes>, &stream, 5 * room + 3, way);
  start(&popper, PROC2, popMany<Bytes>, &stream, 5 * room + 3, way);
  kernelWait(&popper);
  kernelWait(&pusher);
  EXPECT_EQ(popper.done, 5 * room + 3);
  EXPECT_EQ(popper.wrong, 0);

  // One that pushes more than there is room for, and one that pops more than there is. The elements that wait begin
  // within the buffer, so that the last lie before the first.
  init(&stream, kind, capacity, Bytes);
  start(&pusher, PROC1, pushMany<Bytes>, &stream, room / 2, way);
  kernelWait(&pusher);
  start(&popper, PROC2, popMany<Bytes>, &stream, room, way);
  endWaiting(&popper, room / 2);
  EXPECT_EQ(popper.wrong, 0);
  start(&pusher, PROC1, pushMany<Bytes>, &stream, 3 * room, way);
  endWaiting(&pusher, room);
  start(&popper, PROC2, popMany<Bytes>, &stream, 3 * room, way);
  endWaiting(&popper, room);
  EXPECT_EQ(popper.wrong, 0);

  const auto isUntouched = [](uint8_t byte) { return byte == untouched; };
  const uint8_t* end = memory + bytesBefore + (kind.fifo ? -bytesBefore : capacity * Bytes);
  EXPECT_TRUE(kind.fifo || std::all_of(memory, memory + bytesBefore, isUntouched));
  EXPECT_TRUE(std::all_of(end, static_cast<const uint8_t*>(memory + LOCALMEM_BYTES), isUntouched));
}

template <int Bytes>
void tryAll() {
  SCOPED_TRACE(Bytes);
  for (const Kind& kind : kinds)
    for (const int capacity : {1, 2, 7})
      for (const Way way : {Way::Each, Way::Tagged, Way::Multicast, Way::Function}) {
        SCOPED_TRACE(::testing::Message() << (kind.fifo ? "FIFO" : "memory") << ", flags " << kind.flags
                                          << ", capacity " << capacity << ", way " << static_cast<int>(way));
        if (!kind.fifo || capacity == 1)
          tryKind<Bytes>(kind, capacity, way);
      }
}

TEST_P(BoundsTest, PushesAndPopsStayInTheStream) {
  tryAll<1>();
  tryAll<2>();
  tryAll<3>();
  tryAll<4>();
  tryAll<8>();
  tryAll<12>();
  tryAll<64>();
  tryAll<1000>();
}

// Control has no quick path, but the same bounds.
TEST_P(BoundsTest, ControlToo) {
  static Stream stream;
  auto* memory = static_cast<uint8_t*>(svmAddress(LOCALMEM1, 0));
  for (const Kind& kind : kinds) {
    std::fill_n(memory, LOCALMEM_BYTES, untouched);
    init(&stream, kind, 5, 12);
    const int64_t room = kind.fifo ? FIFO_BYTES / 12 : 5;
    for (int64_t i = 0; i < 4 * room; ++i) {
      Element<12> element = elementOf<12>(i);
      streamPush(&stream, &element);
      streamPop(&stream, &element);
      const Element<12> wanted = elementOf<12>(i);
      EXPECT_EQ(std::memcmp(&element, &wanted, 12), 0);
    }
    for (int i = kind.fifo ? 0 : 5 * 12; i < LOCALMEM_BYTES - bytesBefore; ++i)
      ASSERT_EQ(memory[bytesBefore + i], untouched) << i;
  }
}

} // namespace

SVM_WITH_THREADS(BoundsTest);
