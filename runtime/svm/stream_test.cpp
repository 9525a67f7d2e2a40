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
    kernelInit(&counter, PROC1, NULL, &counter, sizeof counter, (ExtKernelWork)countUp);
    counter.out = &first;
    counter.count = count;
    kernelInit(&amplifier, PROC2, NULL, &amplifier, sizeof amplifier, (ExtKernelWork)amplify);
    amplifier.in = &first;
    amplifier.out = &second;
    amplifier.gain = 2;
    kernelInit(&sum, PROC3, NULL, &sum, sizeof sum, (ExtKernelWork)add);
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

} // namespace

SVM_WITH_THREADS(StreamTest);
