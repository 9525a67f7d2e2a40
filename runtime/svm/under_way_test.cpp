// Rules A2, A7 and B3 for kernels that are under way and have not touched their streams yet: what a kernel was given
// counts from kernelRun on, and what control does counts too. For each, a program that breaks it and one that nearly
// does.
#include "runtime/svm/rules_testing.h"

using namespace rules;

namespace {

Move m, m2;
StridedGather gather;

class UnderWay : public Rules {
protected:
  /// A kernel on PROC1 that pauses before it does anything else.
  static void initPausing(void (*body)(Work*)) { initWork(&k, PROC1, body); }
};

void doesNothing(Work*) {}
void pausesThenPushes(Work* work) {
  kernelPause(&work->kernel);
  pushOne(work);
}

TEST_F(UnderWay, A2AScratchBlock) {
  blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  BREAKS("svm-a2", "block 'b' is initialised while kernel 'k', which was given it, is PAUSED", {
    initWork(&k, PROC1, pausesThenPushes, &b);
    kernelRun(&k);
    kernelWait(&k);
    blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  });
}

TEST_F(UnderWay, A2AStreamThatAKernelWasGiven) {
  initStreams();
  blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  k.in = &s;
  k.out = &t;
  k.block = &b;
  const auto again = [](Stream* stream) { streamInitRAM(stream, LOCALMEM1, 0, 8, sizeof(int), any); };
  BREAKS("svm-a2", "stream 's' is initialised while kernel 'k', which was given it, is (WAITING|RUNNING|PAUSED)", {
    initPausing(pausesThenPushes);
    kernelRun(&k);
    streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), any);
  });
  BREAKS("svm-a2", "block 'b' is initialised while kernel 'k', which was given it, is PAUSED", {
    initPausing(pausesThenPushes);
    kernelRun(&k);
    kernelWait(&k);
    blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  });
  // One that waits for its processor.
  BREAKS("svm-a2", "stream 't' is initialised while kernel 'k2', which was given it, is WAITING", {
    k.in = k.out = nullptr;
    k.block = nullptr;
    k2.out = &t;
    initPausing(pausesThenPushes);
    initWork(&k2, PROC1, pushOne);
    kernelRun(&k);
    kernelWait(&k);
    kernelRun(&k2);
    streamInitRAM(&t, LOCALMEM1, 64, 8, sizeof(int), any);
  });
  // Nearly: before it is run, when it is over, when it has been ended; and a kernel that was not given the stream.
  initPausing(pausesThenPushes);
  again(&s);
  kernelRun(&k);
  kernelWait(&k);
  kernelRun(&k);
  kernelWait(&k);
  again(&s);
  initPausing(pausesThenPushes);
  kernelRun(&k);
  kernelEnd(&k);
  kernelWait(&k);
  again(&s);
  k2.out = &t;
  initWork(&k2, PROC2, pausesThenPushes);
  kernelRun(&k2);
  again(&s);
  kernelWait(&k2);
  kernelRun(&k2);
  kernelWait(&k2);
}

TEST_F(UnderWay, A2AStreamWithinAKernel) {
  struct Holder {
    Kernel kernel;
    Stream own;
  };
  static Holder holder;
  const auto init = [] {
    streamInitRAM(&holder.own, LOCALMEM1, 0, 8, sizeof(int), any);
    kernelInit(&holder.kernel, PROC1, nullptr, &holder, sizeof holder,
               [](void* data) { kernelPause(&static_cast<Holder*>(data)->kernel); });
  };
  BREAKS("svm-a2", "stream 'holder.*' is initialised while kernel 'holder', which was given it, is PAUSED", {
    init();
    kernelRun(&holder);
    kernelWait(&holder);
    init();
  });
  init();
  kernelRun(&holder);
  kernelWait(&holder);
  kernelEnd(&holder);
  kernelWait(&holder);
  init();
}

TEST_F(UnderWay, A2StreamsOfMoves) {
  initStreams();
  // It waits for an element; whether it has touched t by then is a matter of when it began.
  BREAKS("svm-a2", "stream 't' is initialised while kernel 'm'(, which was given it, is (WAITING|RUNNING)| uses it)", {
    moveInit(&m, DMA1, &s, &t, 1, FALSE);
    kernelRun(&m);
    streamInitRAM(&t, LOCALMEM1, 64, 8, sizeof(int), any);
  });
  moveInit(&m, DMA1, &s, &t, 0, FALSE);
  kernelRun(&m);
  kernelWait(&m);
  streamInitRAM(&t, LOCALMEM1, 64, 8, sizeof(int), any);
}

TEST_F(UnderWay, A7TwoKernelsThatMoveData) {
  initStreams();
  static Stream u;
  streamInitRAM(&u, LOCALMEM1, 128, 8, sizeof(int), any);
  blockInit(&b, LOCALMEM1, 192, 4, sizeof(int));
  BREAKS("svm-a7", "kernel 'm2' is to pop from stream 's' while kernel 'm'(, which does, is| does)", {
    moveInit(&m, DMA1, &s, &t, 1, FALSE);
    moveInit(&m2, DMA2, &s, &u, 1, FALSE);
    kernelRun(&m);
    kernelRun(&m2);
  });
  BREAKS("svm-a7", "kernel 'gather' is to push to stream 't' while kernel 'm'(, which does, is| does)", {
    moveInit(&m, DMA1, &s, &t, 1, FALSE);
    stridedGatherInit(&gather, DMA2, &b, &t, 1, 1, 1, FALSE);
    kernelRun(&m);
    kernelRun(&gather);
  });
  BREAKS("svm-a7", "kernel 'm' is to pop from stream 's' while kernel 'k' does", {
    k.in = &s;
    initWork(&k, PROC1, [](Work* work) {
      popOne(work);
      kernelPause(&work->kernel);
    });
    int x = 0;
    streamPush(&s, &x);
    kernelRun(&k);
    kernelWait(&k);
    moveInit(&m, DMA1, &s, &t, 1, FALSE);
    kernelRun(&m);
  });
  BREAKS("svm-a7", "kernel 'k' pushes to stream 't' while kernel 'm'(, which does, is RUNNING| does)", {
    k.out = &t;
    initWork(&k, PROC1, pushOne);
    moveInit(&m, DMA1, &s, &t, 1, FALSE); // waits for an element
    kernelRun(&m);
    kernelRun(&k);
    kernelWait(&k);
  });
  BREAKS("svm-a7", "control pushes to stream 't' while kernel 'm'(, which does, is RUNNING| does)", {
    int x = 0;
    moveInit(&m, DMA1, &s, &t, 1, FALSE);
    kernelRun(&m);
    streamPush(&t, &x);
  });
  // Nearly: one pops what the other pushes; one after the other; control at the other end.
  int x = 5;
  moveInit(&m, DMA1, &s, &t, 1, FALSE);
  moveInit(&m2, DMA2, &t, &u, 1, FALSE);
  kernelRun(&m);
  kernelRun(&m2);
  streamPush(&s, &x);
  streamPop(&u, &x);
  kernelWaitMultiple(&m, &m2);
  moveInit(&m2, DMA2, &t, &u, 1, FALSE);
  stridedGatherInit(&gather, DMA2, &b, &t, 1, 1, 1, FALSE);
  kernelRun(&gather);
  kernelRun(&m2);
  streamPop(&u, &x);
  kernelWaitMultiple(&gather, &m2);
}

TEST_F(UnderWay, A7Control) {
  initStreams();
  k.out = &t;
  k.in = &s;
  BREAKS("svm-a7",
         "kernel 'k' pushes to stream 't', as control did when it was under way, at .*under_way_test.cpp:[0-9]+", {
           int x = 0;
           initPausing(pausesThenPushes);
           kernelRun(&k);
           kernelWait(&k);
           streamPush(&t, &x);
           kernelRun(&k);
           kernelWait(&k);
         });
  BREAKS("svm-a7", "kernel 'k' pops from stream 's', as control did when it was under way", {
    int x = 0;
    streamPush(&s, &x);
    streamPush(&s, &x);
    initPausing([](Work* work) {
      kernelPause(&work->kernel);
      popOne(work);
    });
    kernelRun(&k);
    kernelWait(&k);
    streamPop(&s, &x);
    kernelRun(&k);
    kernelWait(&k);
  });
  // Nearly: before the kernel begins, and when it is over.
  int x = 0;
  streamPush(&t, &x);
  initPausing(pausesThenPushes);
  kernelRun(&k);
  kernelWait(&k);
  kernelRun(&k);
  kernelWait(&k);
  streamPush(&t, &x);
  initWork(&k, PROC1, pushOne);
  streamPush(&t, &x);
  kernelRun(&k);
  kernelWait(&k);
  for (int i = 0; i < 5; ++i)
    streamPop(&t, &x);
}

TEST_F(UnderWay, B3WhatIsInitialisedLater) {
  static Stream late;
  static Work once;
  streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), any);
  once.in = &late; // not in use yet
  once.out = &s;
  initWork(&once, PROC1, doesNothing);
  kernelRun(&once);
  kernelWait(&once);
  streamInitRAM(&late, LOCALMEM1, 64, 8, sizeof(int), any);
  initWork(&once, PROC1, doesNothing);
  kernelRun(&once);
  kernelWait(&once);
}

} // namespace
