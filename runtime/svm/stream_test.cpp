// Programs of streams and kernels through include/svm.h, on the machine that comes with Strata for them.
#include "runtime/svm/testing.h"

#include <numeric>
#include <vector>

namespace {

struct Amplifier {
  Kernel kernel;
  IStream* in;
  OStream* out;
  float gain;
};

void amplify(Amplifier* amplifier) {
  float x = 0;
  while (!streamPeekEOS(amplifier->in, 0)) {
    streamPop(amplifier->in, &x);
    x *= amplifier->gain;
    streamPush(amplifier->out, &x);
  }
  streamPop(amplifier->in, &x);
  x *= amplifier->gain;
  streamPushWithEOS(amplifier->out, &x);
}

struct Counter {
  Kernel kernel;
  OStream* out;
  int count;
};

void countUp(Counter* counter) {
  for (int i = 0; i < counter->count; ++i) {
    float x = static_cast<float>(i);
    if (i + 1 < counter->count)
      streamPush(counter->out, &x);
    else
      streamPushWithEOS(counter->out, &x);
  }
}

struct Sum {
  Kernel kernel;
  IStream* in;
  double sum;
  int count;
};

void add(Sum* sum) {
  boolean last = FALSE;
  while (!last) {
    float x = 0;
    last = streamPeekEOS(sum->in, 0);
    streamPop(sum->in, &x);
    sum->sum += x;
    ++sum->count;
  }
}

using StreamTest = SvmTest;

TEST_P(StreamTest, ThreeKernelsInARow) {
  static Stream first, second;
  static Counter counter;
  static Amplifier amplifier;
  static Sum sum;
  for (const int count : {1, 2, 63, 64, 65, 100000}) {
    streamInitRAM(&first, LOCALMEM1, 0, 64, sizeof(float), 0);
    streamInitFIFO(&second, FIFO1, sizeof(float), 0);
    kernelInit(&counter, PROC1, nullptr, &counter, sizeof counter, (ExtKernelWork)countUp);
    counter.out = &first;
    counter.count = count;
    kernelInit(&amplifier, PROC2, nullptr, &amplifier, sizeof amplifier, (ExtKernelWork)amplify);
    amplifier.in = &first;
    amplifier.out = &second;
    amplifier.gain = 2;
    kernelInit(&sum, PROC3, nullptr, &sum, sizeof sum, (ExtKernelWork)add);
    sum.in = &second;
    sum.sum = 0;
    sum.count = 0;
    kernelRun(&counter);
    kernelRun(&amplifier);
    kernelRun(&sum);
    kernelWait(&sum);
    kernelWaitMultiple(&counter, &amplifier, &sum);
    EXPECT_EQ(kernelGetStatus(&counter), KERNEL_FINISHED);
    EXPECT_EQ(sum.count, count);
    EXPECT_EQ(sum.sum, 1.0 * count * (count - 1));
  }
}

struct Spread {
  Kernel kernel;
  Stream* out; // four of them
  int count;
};

/// Element i goes to all, and at times one more to one of them, or to two in another order.
void spreadOut(Spread* spread) {
  Stream* s = spread->out;
  for (int i = 0; i < spread->count; ++i) {
    int32_t value = i;
    streamPushMulticast(&value, s, s + 1, s + 2, s + 3);
    value = -i;
    if (i % 100 == 99)
      streamPush(s + i % 4, &value);
    if (i % 1000 == 500)
      streamPushMulticast(&value, s + 3, s);
  }
  int32_t end = -1;
  streamPushMulticastWithEOS(&end, s, s + 1, s + 2, s + 3);
}

std::vector<int32_t> whatGoesTo(int stream, int count) {
  std::vector<int32_t> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(i);
    if (i % 100 == 99 && i % 4 == stream)
      values.push_back(-i);
    if (i % 1000 == 500 && (stream == 0 || stream == 3))
      values.push_back(-i);
  }
  values.push_back(-1);
  return values;
}

struct Collector {
  Kernel kernel;
  IStream* in;
  std::vector<int32_t>* values;
};

void collect(Collector* collector) {
  boolean last = FALSE;
  while (!last) {
    int32_t value = 0;
    last = streamPeekEOS(collector->in, 0);
    streamPop(collector->in, &value);
    collector->values->push_back(value);
  }
}

TEST_P(StreamTest, MulticastsBesideSinglePushes) {
  static Stream streams[4];
  static Spread spread;
  static Collector collectors[4];
  for (const int count : {1, 7, 250, 20000}) {
    std::vector<int32_t> values[4];
    for (int i = 0; i < 4; ++i) {
      streamInitRAM(&streams[i], LOCALMEM(1 + i), 0, i == 2 ? 31 : 64, sizeof(int32_t), 0);
      kernelInit(&collectors[i], PROC(2 + i), nullptr, &collectors[i], sizeof *collectors, (ExtKernelWork)collect);
      collectors[i].in = &streams[i];
      collectors[i].values = &values[i];
      kernelRun(&collectors[i]);
    }
    kernelInit(&spread, PROC1, nullptr, &spread, sizeof spread, (ExtKernelWork)spreadOut);
    spread.out = streams;
    spread.count = count;
    kernelRun(&spread);
    for (int i = 0; i < 4; ++i) {
      kernelWait(&collectors[i]);
      EXPECT_EQ(values[i], whatGoesTo(i, count)) << "stream " << i << " of " << count;
    }
    kernelWait(&spread);
  }
}

/// Pauses itself after some.
void spreadAndPause(Spread* spread) {
  for (int i = 0;; ++i) {
    int32_t value = i;
    streamPushMulticast(&value, spread->out, spread->out + 1);
    if (i + 1 == spread->count)
      kernelPause(&spread->kernel);
  }
}

TEST_P(StreamTest, WhatIsMulticastIsThereWhileTheKernelIsPausedAndAfterItsEnd) {
  static Stream streams[2];
  static Spread spread;
  constexpr int before = 40, capacity = 64;
  for (Stream& stream : streams)
    streamInitRAM(&stream, LOCALMEM(1 + static_cast<int>(&stream - streams)), 0, capacity, sizeof(int32_t), 0);
  kernelInit(&spread, PROC1, nullptr, &spread, sizeof spread, (ExtKernelWork)spreadAndPause);
  spread.out = streams;
  spread.count = before;
  const auto expectFirst = [](int from, int to) {
    for (int i = from; i < to; ++i)
      for (Stream& stream : streams) {
        int32_t value = -1;
        streamPop(&stream, &value);
        EXPECT_EQ(value, i);
      }
  };
  kernelRun(&spread);
  kernelWait(&spread);
  ASSERT_EQ(kernelGetStatus(&spread), KERNEL_PAUSED);
  expectFirst(0, before);
  kernelRun(&spread);
  expectFirst(before, 5000); // while the kernel goes on
  kernelEnd(&spread);
  kernelWait(&spread);
  ASSERT_EQ(streams[0].pushed_, streams[1].pushed_);
  expectFirst(5000, static_cast<int>(streams[0].pushed_));
  EXPECT_LE(streams[0].pushed_, 5000u + capacity);
}

} // namespace

SVM_WITH_THREADS(StreamTest);
