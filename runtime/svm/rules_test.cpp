// Every rule with a program that breaks it: checked mode ends it, and the message names the rule, the variables and the
// line. The second half has what is looked after in every mode.
#include "runtime/svm/rules_testing.h"

#include <cstdlib>
#include <string>
#include <thread>

using namespace rules;

namespace {

TEST_F(Rules, A1InitialisingAKernelUnderWay) {
  initStreams();
  k.in = &s;
  initWork(&k, PROC1, popOne);
  BREAKS("svm-a1", "kernel 'k' is initialised while it is under way", {
    kernelRun(&k);
    initWork(&k, PROC1, popOne);
  });
}

TEST_F(Rules, A2InitialisingAStreamOrBlockInUse) {
  initStreams();
  blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  k.in = &s;
  k.block = &b;
  initWork(&k, PROC1, [](Work* work) {
    int x = 0;
    blockRead(work->block, 0, &x);
    popOne(work);
    popOne(work);
  });
  const auto waitUntilItPops = [] {
    int x = 1;
    kernelRun(&k);
    for (int i = 0; i < 2; ++i)
      streamPush(&s, &x);
    while (kernelGetStatus(&k) != KERNEL_FINISHED && __atomic_load_n(&s.popped_, __ATOMIC_SEQ_CST) == 0)
      ;
  };
  initWork(&k, PROC1, [](Work* work) {
    int x = 0;
    blockRead(work->block, 0, &x);
    for (int i = 0; i < 100; ++i)
      popOne(work);
  });
  BREAKS("svm-a2", "stream 's' is initialised while kernel 'k' uses it", {
    waitUntilItPops();
    streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), any);
  });
  BREAKS("svm-a2", "block 'b' is initialised while kernel 'k' uses it", {
    waitUntilItPops();
    blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  });
}

TEST_F(Rules, A3ControlInAWorkFunction) {
  initStreams();
  const auto runs = [](void (*body)(Work*)) {
    initWork(&k, PROC1, body);
    kernelRun(&k);
    kernelWait(&k);
  };
  BREAKS("svm-a3", "kernelRun within the work function of kernel 'k'", runs([](Work*) { kernelRun(&k2); }));
  BREAKS("svm-a3", "kernelWait within the work function", runs([](Work*) { kernelWait(&k2); }));
  BREAKS("svm-a3", "kernelGetStatus within the work function", runs([](Work*) { kernelGetStatus(&k2); }));
  BREAKS("svm-a3", "kernelEnd within the work function", {
    initWork(&k2, PROC2, popOne);
    runs([](Work*) { kernelEnd(&k2); });
  });
  BREAKS("svm-a3", "a stream is initialised within the work function of kernel 'k'",
         runs([](Work*) { streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), any); }));
  BREAKS("svm-a3", "a block is initialised", runs([](Work*) { blockInit(&b, LOCALMEM1, 0, 8, sizeof(int)); }));
  BREAKS("svm-a3", "a kernel is initialised", runs([](Work*) { initWork(&k2, PROC2, popOne); }));
}

TEST_F(Rules, A6UnreachableMemory) {
  static Stream far;
  static Block farther;
  streamInitRAM(&far, GLOBALMEM1, 0, 8, sizeof(int), any);
  blockInit(&farther, GLOBALMEM2, 0, 8, sizeof(int));
  k.out = &far;
  k.block = &farther;
  const auto runs = [](void (*body)(Work*)) {
    initWork(&k, PROC1, body);
    kernelRun(&k);
    kernelWait(&k);
  };
  BREAKS("svm-a6", "kernel 'k' on PROC1 uses stream 'far' in GLOBALMEM1, which no link connects to it", runs(pushOne));
  BREAKS("svm-a6", "kernel 'k' on PROC1 uses block 'farther' in GLOBALMEM2", runs([](Work* work) {
           int x = 0;
           blockWrite(work->block, 0, &x);
         }));
}

TEST_F(Rules, A7TwoKernelsAtOneEnd) {
  initStreams();
  k.out = k2.out = &s;
  BREAKS("svm-a7", "kernel 'k2?' (pushes to stream 's' while kernel 'k2?' does|was run)", {
    initWork(&k, PROC1, pushAll);
    initWork(&k2, PROC2, pushAll);
    kernelRun(&k);
    kernelRun(&k2);
    kernelWaitMultiple(&k, &k2);
  });
  // The second waits for the processor while the first pushes.
  BREAKS("svm-a7", "kernel 'k2' was run, and WAITING, while kernel 'k' still pushed to stream 's'", {
    initWork(&k, PROC1, [](Work* work) {
      pushOne(work);
      kernelPause(&work->kernel);
    });
    initWork(&k2, PROC1, pushOne);
    kernelRun(&k);
    kernelWait(&k);
    kernelRun(&k2);
    kernelRun(&k);
    kernelWait(&k2);
  });
  BREAKS("svm-a7", "control pushes to stream 's' while kernel 'k' does", {
    initWork(&k, PROC1, pushAll);
    kernelRun(&k);
    while (__atomic_load_n(&s.pushed_, __ATOMIC_SEQ_CST) == 0)
      ;
    int x = 0;
    streamPush(&s, &x);
  });
}

TEST_F(Rules, A8StateLeftInAFifo) {
  static Stream first, second;
  streamInitFIFO(&first, FIFO1, sizeof(int), any);
  int x = 0;
  streamPush(&first, &x);
  BREAKS("svm-a8", "FIFO1 is mapped to stream 'second' while 1 elements of stream 'first' are in it",
         streamInitFIFO(&second, FIFO1, sizeof(int), any));
  streamPop(&first, &x);
  streamInitFIFO(&second, FIFO1, sizeof(int), any);
  // Each may have it, one after the other.
  for (Stream* each : {&first, &second, &first}) {
    streamPush(each, &x);
    streamPop(each, &x);
  }
  BREAKS("svm-a8", "a push to stream 'second' in FIFO1 while 1 elements of stream 'first' are in it", {
    streamPush(&first, &x);
    streamPush(&second, &x);
  });
}

/// Ends this process, a copy for a death test, as a test of Apart does on a machine of its own: that of this process is
/// chosen already.
void becomeApart(const char* machine, const char* test) {
  const std::string path = testing::TempDir() + "svm_apart_" + test + ".yaml";
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fputs(machine, file);
  std::fclose(file);
  setenv("STRATA_SVM", "checked", 1);
  setenv("SVM_RULES_APART", path.c_str(), 1);
  execl("/proc/self/exe", "rules", (std::string("--gtest_filter=Apart.") + test).c_str(), nullptr);
}

#define APART                                                                                                          \
  if (!std::getenv("SVM_RULES_APART"))                                                                                 \
    GTEST_SKIP() << "is run on a machine of its own";                                                                  \
  svmMachine(std::getenv("SVM_RULES_APART"))

TEST_F(Rules, A9NoMemoryInCommon) {
  EXPECT_EXIT(becomeApart("machine: apart\n"
                          "memories:\n  - {name: M, capacity: 1K}\n  - {name: N, capacity: 1K}\n"
                          "processors:\n  - {name: C, kind: control, masters: [C]}\n"
                          "  - {name: P, kind: stream, masters: [C], local: [M]}\n"
                          "  - {name: Q, kind: stream, masters: [C], local: [N]}\n",
                          "A9"),
              ::testing::ExitedWithCode(1),
              "kernel 'k2' on Q depends on kernel 'k' on P, and no memory is connected to both.*svm-a9");
}

TEST(Apart, A9) {
  APART;
  const int p = 0x30100000, q = 0x30200000;
  initWork(&k, p, [](Work*) { kernelPause(&k); });
  initWork(&k2, q, popOne);
  kernelRun(&k);
  kernelAddDependence(&k2, &k);
}

TEST_F(Rules, OnlyItsMasterControlsAProcessor) {
  EXPECT_EXIT(becomeApart("machine: two\n"
                          "processors:\n  - {name: C, kind: control, masters: [C]}\n"
                          "  - {name: D, kind: control, masters: [D]}\n"
                          "  - {name: P, kind: stream, masters: [C]}\n"
                          "  - {name: Q, kind: stream, masters: [D]}\n",
                          "Master"),
              ::testing::ExitedWithCode(1), "D does not control P: it is not among its masters.*svm-master");
}

TEST(Apart, Master) {
  APART;
  const int d = 0x30100000, p = 0x30200000, q = 0x30300000;
  const auto run = [](Work* work, int processor) {
    initWork(work, processor, [](Work*) {});
    kernelRun(work);
    kernelWait(work);
  };
  run(&k, p);
  svmControl(d);
  run(&k2, q);
  run(&k, p);
}

TEST_F(Rules, A6ABlockThatAMoveDoesNotReach) {
  EXPECT_EXIT(becomeApart("machine: apart\n"
                          "memories:\n  - {name: M, capacity: 1K}\n  - {name: N, capacity: 1K}\n"
                          "processors:\n  - {name: C, kind: control, masters: [C]}\n"
                          "  - {name: D, kind: dma, masters: [C], local: [M], moves: 2}\n"
                          "  - {name: Q, kind: stream, masters: [C], local: [N]}\n",
                          "Gather"),
              ::testing::ExitedWithCode(1), "kernel 'gather' on D uses block 'b' in N, which no link.*svm-a6");
}

TEST(Apart, Gather) {
  APART;
  static StridedGather gather;
  const int m = 0x10000000, n = 0x10100000, d = 0x30100000;
  static Block near;
  blockInit(&near, m, 64, 4, sizeof(int));
  blockInit(&b, n, 64, 4, sizeof(int));
  streamInitRAM(&s, m, 0, 8, sizeof(int), any);
  static StridedGather nearer;
  stridedGatherInit(&nearer, d, &near, &s, 4, 1, 1, FALSE);
  kernelRun(&nearer);
  kernelWait(&nearer);
  stridedGatherInit(&gather, d, &b, &s, 4, 1, 1, FALSE);
  kernelRun(&gather);
  kernelWait(&gather);
}

TEST_F(Rules, AMemoryThatTheComputerHasNoRoomFor) {
  EXPECT_EXIT(becomeApart("machine: vast\n"
                          "memories:\n  - {name: M, capacity: 2251799813685248, unit: 1048576}\n"
                          "processors:\n  - {name: C, kind: control, masters: [C]}\n"
                          "  - {name: P, kind: stream, masters: [C], local: [M]}\n",
                          "Memory"),
              ::testing::ExitedWithCode(1), "has no room for memory M of 2251799813685248 bytes.*svm-memory");
}

TEST(Apart, Memory) {
  APART;
  streamInitRAM(&s, 0x10000000, 0, 8, sizeof(int), any);
}

TEST_F(Rules, B1UseBeforeInitialisation) {
  static Stream never;
  static Block noBlock;
  static Work noKernel;
  int x = 0;
  BREAKS("svm-b1", "streamPush on stream 'never', which has not been initialised", streamPush(&never, &x));
  BREAKS("svm-b1", "streamPop on stream 'never'", streamPop(&never, &x));
  BREAKS("svm-b1", "streamPeek on stream 'never'", streamPeek(&never, 0, &x));
  BREAKS("svm-b1", "streamPushMulticast on stream 'never'", streamPushMulticast(&x, &never, &never));
  BREAKS("svm-b1", "blockWrite on block 'noBlock'", blockWrite(&noBlock, 0, &x));
  BREAKS("svm-b1", "blockRead on block 'noBlock'", blockRead(&noBlock, 0, &x));
  BREAKS("svm-b1", "kernelRun on kernel 'noKernel'", kernelRun(&noKernel));
  BREAKS("svm-b1", "kernelPause on kernel 'noKernel'", kernelPause(&noKernel));
  BREAKS("svm-b1", "kernelEnd on kernel 'noKernel'", kernelEnd(&noKernel));
  BREAKS("svm-b1", "kernelRun on block 'noBlock'", {
    initWork(&k, PROC1, popOne, &noBlock); // as in the document's reduction: looked after at kernelRun
    kernelRun(&k);
  });
}

TEST_F(Rules, B2AnotherPlaceOrSize) {
  initStreams();
  blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  initWork(&k, PROC1, popOne);
  BREAKS("svm-b2", "stream 's' moves from LOCALMEM1 to LOCALMEM2.*first initialised at .*rules_testing.h:",
         streamInitRAM(&s, LOCALMEM2, 0, 8, sizeof(int), any));
  BREAKS("svm-b2", "stream 's' had elements of 4 bytes and flags 0, now 8 and 0",
         streamInitRAM(&s, LOCALMEM1, 0, 8, 8, any));
  BREAKS("svm-b2", "stream 's' had elements of 4 bytes and flags 0, now 4 and 4",
         streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), STREAM_NEVER_WRAPS));
  BREAKS("svm-b2", "block 'b' had elements of 4 bytes, now 2", blockInit(&b, LOCALMEM1, 128, 4, 2));
  BREAKS("svm-b2", "block 'b' moves", blockInit(&b, LOCALMEM2, 128, 4, sizeof(int)));
  BREAKS("svm-b2", "kernel 'k' moves from PROC1 to PROC2", initWork(&k, PROC2, popOne));
}

TEST_F(Rules, B3OtherArguments) {
  initStreams();
  BREAKS("svm-b3", "kernel 'k' was initialised with stream 's' before, now with stream 't'", {
    k.out = &s;
    initWork(&k, PROC1, pushOne);
    kernelRun(&k);
    kernelWait(&k);
    initWork(&k, PROC1, pushOne);
    k.out = &t;
    kernelRun(&k);
  });
}

TEST_F(Rules, B3AnotherScratchBlock) {
  static Work sums;
  static Block b2;
  blockInit(&b, LOCALMEM1, 0, 8, sizeof(int));
  blockInit(&b2, LOCALMEM1, 64, 8, sizeof(int));
  const auto runs = [](Block* scratch) {
    initWork(&sums, PROC1, [](Work*) {}, scratch);
    kernelRun(&sums);
    kernelWait(&sums);
  };
  runs(&b);
  runs(&b);
  BREAKS("svm-b3", "kernel 'sums' was initialised with block 'b' before, now with block 'b2'", runs(&b2));
}

TEST_F(Rules, B4Copies) {
  static Stream copy;
  static Work kernel;
  initStreams();
  copy = s;
  int x = 0;
  BREAKS("svm-b4", "streamPush on stream 'copy', which is a copy of 's'", streamPush(&copy, &x));
  initWork(&k, PROC1, pushOne);
  initWork(&k2, PROC2, popOne);
  kernel = k;
  BREAKS("svm-b4", "kernelRun on kernel 'kernel', which is a copy of 'k'", kernelRun(&kernel));
  BREAKS("svm-b4", "kernelWait on kernel 'kernel', which is a copy of 'k'", kernelWait(&kernel));
  BREAKS("svm-b4", "kernelGetStatus on kernel 'kernel', which is a copy", kernelGetStatus(&kernel));
  BREAKS("svm-b4", "kernelAddDependence on kernel 'kernel', which is a copy", kernelAddDependence(&k2, &kernel));
}

TEST_F(Rules, NoKernelAtAll) {
  initWork(&k, PROC1, pushOne);
  Kernel* const none = nullptr;
  BREAKS("svm-b1", "kernelWait on kernel 'NULL'", kernelWait(none));
  BREAKS("svm-b1", "kernelGetStatus on kernel 'NULL'", kernelGetStatus(none));
  BREAKS("svm-b1", "kernelAddDependence on kernel 'NULL'", kernelAddDependence(&k, none));
  BREAKS("svm-b1", "kernelWait on kernel 'NULL'", kernelWaitMultiple(&k, none));
}

TEST_F(Rules, DataThatIsNotThere) {
  const auto inits = [](int bytes) { kernelInit(&k.kernel, PROC1, nullptr, &k, bytes, [](void*) {}); };
  BREAKS("svm-data-size", "kernel 'k.*' is initialised with data of 2147483647 bytes", inits(INT32_MAX));
  BREAKS("svm-data-size", "kernel 'k.*' is initialised with data of -1 bytes", inits(-1));
  inits(0);
}

TEST_F(Rules, FlagsThatMeanNothing) {
  BREAKS("svm-flags", "stream 's' has the flags 4080", streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), 0xff0));
  BREAKS("svm-flags", "stream 's' has the flags -1", streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), -1));
}

TEST_F(Rules, FlagsAreKept) {
  static Stream unordered, never, one, unaliased;
  streamInitRAM(&unordered, LOCALMEM1, 0, 8, sizeof(int), STREAM_UNORDERED);
  streamInitRAM(&never, LOCALMEM1, 16, 4, sizeof(int), STREAM_NEVER_WRAPS);
  streamInitRAM(&one, LOCALMEM1, 32, 4, sizeof(int), STREAM_ONE_EOS);
  int x = 0;
  streamPush(&unordered, &x);
  BREAKS("svm-unordered-peek", "a peek at stream 'unordered'", streamPeek(&unordered, 0, &x));
  BREAKS("svm-unordered-peek", "a peek at stream 'unordered'", streamPeekEOS(&unordered, 0));
  BREAKS("svm-never-wraps", "stream 'never' is STREAM_NEVER_WRAPS, and more than its 4 elements are pushed", {
    for (int i = 0; i < 5; ++i) {
      streamPush(&never, &x);
      streamPop(&never, &x);
    }
  });
  BREAKS("svm-one-eos", "stream 'one' is STREAM_ONE_EOS", {
    streamPushWithEOS(&one, &x);
    streamPushWithEOS(&one, &x);
  });
  // By a kernel that moves data, too.
  static Stream source;
  static Move m;
  streamInitRAM(&source, LOCALMEM1, 64, 8, sizeof(int), any);
  for (int i = 0; i < 5; ++i)
    streamPush(&source, &x);
  BREAKS("svm-never-wraps", "stream 'never' is STREAM_NEVER_WRAPS, and more than its 4 elements are pushed", {
    moveInit(&m, DMA1, &source, &never, 5, FALSE);
    kernelRun(&m);
    for (int i = 0; i < 5; ++i)
      streamPop(&never, &x);
    kernelWait(&m);
  });
  BREAKS("svm-one-eos", "stream 'one' is STREAM_ONE_EOS", {
    for (int i = 0; i < 2; ++i) {
      moveInit(&m, DMA1, &source, &one, 2, TRUE);
      kernelRun(&m);
      kernelWait(&m);
    }
  });
  moveInit(&m, DMA1, &source, &one, 4, TRUE);
  kernelRun(&m);
  kernelWait(&m);
  BREAKS("svm-unaliased-data", "stream 'unaliased' is STREAM_UNALIASED_RAM",
         streamInitWithDataRAM(&unaliased, LOCALMEM1, 48, 4, sizeof(int), 4, 0, STREAM_UNALIASED_RAM));
}

TEST_F(Rules, PeeksAndSizes) {
  initStreams();
  blockInit(&b, LOCALMEM1, 128, 4, sizeof(int));
  int x = 0;
  short narrow = 0;
  streamPush(&s, &x);
  BREAKS("svm-peek", "a peek at element 8 of stream 's', whose capacity is 8", streamPeek(&s, 8, &x));
  BREAKS("svm-peek", "a peek at element -1", streamPeekEOS(&s, -1));
  BREAKS("svm-element-size", "elements of stream 's' have 4 bytes, and the variable here has 2",
         streamPush(&s, &narrow));
  BREAKS("svm-element-size", "elements of stream 's' have 4 bytes", streamPop(&s, &narrow));
  BREAKS("svm-element-size", "elements of block 'b' have 4 bytes", blockRead(&b, 0, &narrow));
}

TEST_F(Rules, StatesOfKernels) {
  initStreams();
  k.in = &s;
  initWork(&k, PROC1, popOne);
  initWork(&k2, PROC2, popOne);
  BREAKS("svm-run", "kernelRun on kernel 'k', which is (WAITING|RUNNING)", {
    kernelRun(&k);
    kernelRun(&k);
  });
  BREAKS("svm-run", "kernelRun on kernel 'k', which is FINISHED", {
    kernelEnd(&k);
    kernelRun(&k);
  });
  BREAKS("svm-dependence", "kernelAddDependence on kernel 'k', which is FINISHED", {
    kernelEnd(&k);
    kernelAddDependence(&k, &k2);
  });
}

/// A kernel may have its streams in its data: they work while it waits.
TEST_F(Rules, StreamsInTheDataOfAKernelThatWaits) {
  struct Sink {
    Kernel kernel;
    int64_t sum;
    Stream in;
    int count;
  };
  static Sink sink;
  static Work before;
  streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), any);
  streamInitRAM(&sink.in, LOCALMEM1, 64, 64, sizeof(int), any);
  initWork(&before, PROC1, popOne);
  before.in = &s;
  sink.count = 2;
  kernelInit(&sink.kernel, PROC1, nullptr, &sink, sizeof sink, [](void* data) {
    auto* self = static_cast<Sink*>(data);
    for (int i = 0; i < self->count; ++i) {
      int x = 0;
      streamPop(&self->in, &x);
      self->sum += x;
    }
  });
  kernelRun(&before);
  kernelRun(&sink); // WAITING: the processor is held
  for (int x : {20, 22})
    streamPush(&sink.in, &x);
  int x = 0;
  streamPush(&s, &x);
  kernelWaitMultiple(&before, &sink);
  EXPECT_EQ(sink.sum, 42);
}

TEST_F(Rules, FieldsOfAKernelThatWaits) {
  initStreams();
  k.in = &s;
  k2.count = 1;
  BREAKS("svm-fields", "fields of kernel 'k2' changed between kernelRun and the beginning of its work", {
    initWork(&k, PROC1, popOne);
    initWork(&k2, PROC1, [](Work*) {});
    kernelRun(&k);
    kernelRun(&k2); // WAITING: the processor is held
    k2.count = 2;
    int x = 0;
    streamPush(&s, &x);
    kernelWait(&k2);
  });
}

TEST_F(Rules, ControlIsTheMaster) {
  BREAKS("svm-control", "PROC1 runs no control code", svmControl(PROC1));
  svmControl(CONTROL);
}

TEST_F(Rules, OnlyControlChoosesWhereItRunsAndOnHowManyThreads) {
  const auto breaks = [](void (*body)(Work*)) {
    initWork(&k, PROC1, body);
    kernelRun(&k);
    kernelWait(&k);
  };
  BREAKS("svm-a3", "svmControl within the work function of kernel 'k' .rule A3.",
         breaks([](Work*) { svmControl(CONTROL); }));
  BREAKS("svm-a3", "svmThreads within the work function of kernel 'k'", breaks([](Work*) { svmThreads(3); }));
  BREAKS("svm-threads", "svmThreads is given 513, and can be given 0 to 512", svmThreads(513));
  BREAKS("svm-threads", "svmThreads is given -1", svmThreads(-1));
  initStreams();
  k.in = &s;
  BREAKS("svm-threads", "svmThreads while kernel 'k' is under way", {
    initWork(&k, PROC1, popOne);
    kernelRun(&k);
    svmThreads(3);
  });
  strata::svm::Program::current().setChecked(false);
  BREAKS("svm-a3", "svmThreads within the work function of kernel 'k'", breaks([](Work*) { svmThreads(3); }));
}

TEST_F(Rules, ADeadlockIsExplained) {
  initStreams();
  k.in = &s;
  k.out = &t;
  k2.in = &t;
  k2.out = &s;
  const auto pass = [](Work* work) {
    popOne(work);
    pushOne(work);
  };
  BREAKS("svm-deadlock",
         "nothing can run any more\n  control waits for kernel 'k', 'k2'\n(.|\n)*kernel 'k2?' on PROC. waits for an "
         "element of stream '[st]' .0 of 8 elements inside.",
         {
           initWork(&k, PROC1, pass);
           initWork(&k2, PROC2, pass);
           kernelRun(&k);
           kernelRun(&k2);
           kernelWaitMultiple(&k, &k2);
         });
  // One that waits for a processor which a paused kernel holds.
  BREAKS("svm-deadlock", "nothing can run any more(.|\n)*kernel 'k2?' on PROC1 waits for", {
    initWork(&k, PROC1, [](Work* work) { kernelPause(&work->kernel); });
    initWork(&k2, PROC1, [](Work*) {});
    kernelRun(&k);
    kernelWait(&k);
    kernelRun(&k2);
    kernelWait(&k2);
  });
}

TEST_F(Rules, ADeadlockOfControlIsExplained) {
  for (const bool checked : {true, false}) {
    strata::svm::Program::current().setChecked(checked);
    initStreams();
    int x = 0;
    BREAKS("svm-deadlock",
           "nothing can run any more\n  control waits for an element of stream 's' .0 of 8 elements inside.",
           streamPop(&s, &x));
    BREAKS("svm-deadlock",
           "nothing can run any more\n  control waits for 3 elements of stream 's' .1 of 8 elements inside.", {
             streamPush(&s, &x);
             streamPeek(&s, 2, &x);
           });
    BREAKS("svm-deadlock", "nothing can run any more\n  control waits for room in stream 's' .8 of 8 elements inside.",
           {
             while (true)
               streamPush(&s, &x);
           });
    BREAKS("svm-deadlock", "nothing can run any more\n  control waits for room in stream 't' .8 of 8 elements inside.",
           {
             for (int i = 0; i < 5; ++i)
               streamPush(&t, &x);
             for (int i = 0; i < 4; ++i)
               streamPushMulticast(&x, &s, &t);
           });
    // Beside a thread that waits for a kernel.
    k.in = &t;
    BREAKS(
        "svm-deadlock",
        "nothing can run any more\n  control at .*_test.cpp:[0-9]+ waits for kernel 'k'\n  control at "
        ".*_test.cpp:[0-9]+ waits for an element of stream 's' .0 of 8 elements inside.\n  kernel 'k' on PROC1 waits "
        "for an element of stream 't'",
        {
          initWork(&k, PROC1, popOne);
          kernelRun(&k);
          std::thread([] { kernelWait(&k); }).detach();
          streamPop(&s, &x);
        });
  }
}

// Those that wait at streams come first: all others wait for them.
TEST_F(Rules, ADeadlockOfManyKernelsIsAbridged) {
  static Work many[40];
  initStreams();
  k.in = &s;
  BREAKS("svm-deadlock",
         "nothing can run any more\n  control waits for kernel '[^\n]*'(\n  kernel '[^\n]*' on PROC[12] waits for an "
         "element of stream '[^\n]*){2}(\n  kernel '[^\n]*' on PROC1 waits for its processor, which kernel '[^\n]*' "
         "holds){22}\n  … and 17 more kernels wait: 17 for their processors",
         {
           for (Work& each : many) {
             initWork(&each, PROC1, popOne);
             each.in = &t;
             kernelRun(&each);
           }
           initWork(&k, PROC2, popOne);
           kernelRun(&k);
           kernelWait(&many[39]);
         });
}

TEST_F(Rules, ADeadlockTellsWhatKernelsWaitFor) {
  static Work second, third;
  static Stream streams[18];
  initStreams();
  k.in = &s;
  second.in = &s;
  // Kernels that it depends on.
  BREAKS("svm-deadlock",
         "nothing can run any more\n  control waits for kernel 'third'(.|\n)*\n  kernel '(second' on PROC2 waits for "
         "kernel "
         "'k'|third' on PROC3 waits for kernel ('k', 'second'|'second', 'k')), on which it depends\n(.|\n)*  kernel "
         "'(second' on PROC2 waits for kernel 'k'|third' on PROC3 waits for kernel ('k', 'second'|'second', 'k')), on "
         "which "
         "it depends",
         {
           initWork(&k, PROC1, popOne);
           initWork(&second, PROC2, popOne);
           initWork(&third, PROC3, popOne);
           kernelRun(&k);
           kernelAddDependence(&second, &k);
           kernelRun(&second);
           kernelAddDependence(&third, &k);
           kernelAddDependence(&third, &second);
           kernelRun(&third);
           kernelWait(&third);
         });
  BREAKS("svm-deadlock",
         "nothing can run any more(.|\n)*'second' on PROC1 waits for its processor, which kernel 'k' holds", {
           initWork(&k, PROC1, popOne);
           initWork(&second, PROC1, popOne);
           kernelRun(&k);
           kernelRun(&second);
           kernelWait(&second);
         });
  // A move too many.
  BREAKS("svm-deadlock",
         "nothing can run any more(.|\n)*' on DMA1 waits for its processor, where all 8 moves that it carries on at a "
         "time "
         "are under way",
         {
           static Move moves[9];
           for (int i = 0; i < 9; ++i) {
             streamInitRAM(&streams[2 * i], LOCALMEM1, 128 + 32 * i, 8, sizeof(int), any);
             streamInitRAM(&streams[2 * i + 1], LOCALMEM1, 144 + 32 * i, 8, sizeof(int), any);
             moveInit(&moves[i], DMA1, &streams[2 * i], &streams[2 * i + 1], 1, FALSE);
             kernelRun(&moves[i]);
           }
           kernelWait(&moves[8]);
         });
}

// ---- in every mode ----

TEST_F(Rules, InEveryMode) {
  strata::svm::Program::current().setChecked(false);
  static Stream stream;
  static Block block;
  BREAKS("svm-address", "stream 'stream' does not fit into LOCALMEM1: 65540 bytes at address 0",
         streamInitRAM(&stream, LOCALMEM1, 0, 16385, 4, any));
  BREAKS("svm-address", "block 'block' does not fit into LOCALMEM1: 4 bytes at address -1",
         blockInit(&block, LOCALMEM1, -1, 1, 4));
  BREAKS("svm-stream-size", "stream 'stream' has a capacity of 0", streamInitRAM(&stream, LOCALMEM1, 0, 0, 4, any));
  BREAKS("svm-stream-size", "stream 'stream' has elements of 0 bytes", streamInitRAM(&stream, LOCALMEM1, 0, 1, 0, any));
  BREAKS("svm-stream-size", "stream 'stream' has elements of 2000 bytes, and FIFO1 holds 1024",
         streamInitFIFO(&stream, FIFO1, 2000, any));
  BREAKS("svm-block-size", "block 'block' has 0 elements", blockInit(&block, LOCALMEM1, 0, 0, 4));
  BREAKS("svm-init-length", "stream 'stream' begins with 9 elements, and its capacity is 8",
         streamInitWithDataRAM(&stream, LOCALMEM1, 0, 8, 4, 9, 0, any));
  BREAKS("svm-node", "PROC1 is not a memory", streamInitRAM(&stream, PROC1, 0, 8, 4, any));
  BREAKS("svm-node", "LOCALMEM1 is not a FIFO", streamInitFIFO(&stream, LOCALMEM1, 4, any));
  BREAKS("svm-node", "machine 'pca' has no node 12345, where a processor is needed", initWork(&k, 12345, popOne));
  BREAKS("svm-supported-kernels", "DMA1 does not run kernels that users define", initWork(&k, DMA1, popOne));
  blockInit(&block, LOCALMEM1, 0, 2, 4);
  int x = 0;
  BREAKS("svm-block-index", "blockRead of element 2 of block 'block', which has 2", blockRead(&block, 2, &x));
  BREAKS("svm-block-index", "blockWrite of element -1", blockWrite(&block, -1, &x));
  BREAKS("svm-null", "a stream is initialised at NULL",
         streamInitRAM(static_cast<Stream*>(nullptr), LOCALMEM1, 0, 8, 4, any));
  BREAKS("svm-null", "a block is initialised at NULL", blockInit(static_cast<Block*>(nullptr), LOCALMEM1, 0, 8, 4));
  BREAKS("svm-null", "a kernel is initialised at NULL",
         kernelInit(static_cast<Kernel*>(nullptr), PROC1, nullptr, nullptr, 0, [](void*) {}));
  BREAKS("svm-null", "kernel 'k' has no work function", kernelInit(&k, PROC1, nullptr, &k, sizeof k, nullptr));
  BREAKS("svm-machine", "svmMachine.NULL. names no machine", svmMachine(nullptr));
  BREAKS("svm-machine", "svmMachine.\"\". names no machine", svmMachine(""));
  BREAKS("svm-machine", "svmMachine.\"cell\". after the machine has been used", svmMachine("cell"));
  BREAKS("svm-address", "svmAddress does not fit", svmAddress(LOCALMEM1, 1 << 20));
  BREAKS("svm-node", "FIFO1 is not a memory", svmAddress(FIFO1, 0));
}

} // namespace
