// Every state of a kernel and every transition, dependences, and who gets a processor.
#include "runtime/svm/testing.h"

#include "runtime/core/scheduler.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace {

/// A kernel that passes numbers on until it is ended.
struct Pass {
  Kernel kernel;
  IStream* in;
  OStream* out;
};

void passOn(Pass* pass) {
  while (true) {
    int x = 0;
    streamPop(pass->in, &x);
    streamPush(pass->out, &x);
  }
}

void initPass(Pass* pass, VM_NODE_PROC processor, IStream* in, OStream* out) {
  kernelInit(&pass->kernel, processor, nullptr, pass, sizeof *pass, (ExtKernelWork)passOn);
  pass->in = in;
  pass->out = out;
}

/// A kernel that notes when it runs.
struct Note {
  Kernel kernel;
  int id;
  std::vector<int>* notes;
};

void writeNote(Note* note) {
  note->notes->push_back(note->id);
}

void initNote(Note* note, VM_NODE_PROC processor, int id, std::vector<int>* notes) {
  kernelInit(&note->kernel, processor, nullptr, note, sizeof *note, (ExtKernelWork)writeNote);
  note->id = id;
  note->notes = notes;
}

using KernelTest = SvmTest;

TEST_P(KernelTest, WhatNothingInitialisedIsUnstarted) {
  static Kernel kernel;
  EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_UNSTARTED);
  kernelWait(&kernel);
  kernelWaitMultiple(&kernel, &kernel);
}

TEST_P(KernelTest, ControlMayAskAgainAndAgain) {
  static Stream in, out;
  static Pass pass;
  streamInitRAM(&in, LOCALMEM1, 0, 4, sizeof(int), 0);
  streamInitRAM(&out, LOCALMEM1, 16, 4, sizeof(int), 0);
  initPass(&pass, PROC1, &in, &out);
  kernelRun(&pass);
  kernelPause(&pass);
  while (kernelGetStatus(&pass) != KERNEL_PAUSED) {
  }
  kernelEnd(&pass);
  while (kernelGetStatus(&pass) != KERNEL_FINISHED) {
  }
}

/// Kernels that push and pop so many numbers.
struct Some {
  Kernel kernel;
  Stream* stream;
  int count;
};

void pushSome(Some* some) {
  for (int i = 0; i < some->count; ++i)
    streamPush(some->stream, &i);
}

void popSome(Some* some) {
  for (int i = 0, x = 0; i < some->count; ++i) {
    streamPop(some->stream, &x);
    if (x != i)
      kernelEnd(&some->kernel);
  }
  some->count = 0;
}

TEST_P(KernelTest, OneThreadPausesWhatAnotherWaitsFor) {
  static Stream stream;
  static Some pushes, pops;
  streamInitRAM(&stream, LOCALMEM1, 0, 16, sizeof(int), 0);
  kernelInit(&pushes, PROC1, nullptr, &pushes, sizeof pushes, (ExtKernelWork)pushSome);
  kernelInit(&pops, PROC2, nullptr, &pops, sizeof pops, (ExtKernelWork)popSome);
  pushes.stream = pops.stream = &stream;
  pushes.count = pops.count = 300000;
  kernelRun(&pushes);
  kernelRun(&pops);
  std::thread other([] {
    for (int i = 0; i < 5; ++i) {
      kernelPause(&pushes);
      kernelWait(&pushes);
      std::this_thread::sleep_for(std::chrono::milliseconds(2)); // out of the library's sight
      if (kernelGetStatus(&pushes) == KERNEL_PAUSED)
        kernelRun(&pushes);
    }
  });
  kernelWait(&pops);
  EXPECT_EQ(pops.count, 0);
  other.join();
}

TEST_P(KernelTest, PauseAndRunWhileBlocked) {
  static Stream in, out;
  static Pass pass;
  streamInitRAM(&in, LOCALMEM1, 0, 4, sizeof(int), 0);
  streamInitRAM(&out, LOCALMEM1, 16, 4, sizeof(int), 0);
  initPass(&pass, PROC1, &in, &out);
  EXPECT_EQ(kernelGetStatus(&pass), KERNEL_UNSTARTED);
  kernelRun(&pass);
  for (int i = 0; i < 100; ++i) {
    int x = i, y = -1;
    streamPush(&in, &x);
    streamPop(&out, &y);
    EXPECT_EQ(y, i);
    kernelPause(&pass);
    kernelWait(&pass);
    EXPECT_EQ(kernelGetStatus(&pass), KERNEL_PAUSED);
    streamPush(&in, &x); // stays there
    kernelRun(&pass);
    streamPop(&out, &y);
    EXPECT_EQ(y, i);
  }
  kernelEnd(&pass);
  kernelWait(&pass);
  EXPECT_EQ(kernelGetStatus(&pass), KERNEL_FINISHED);
  initPass(&pass, PROC1, &in, &out); // begins anew
  EXPECT_EQ(kernelGetStatus(&pass), KERNEL_UNSTARTED);
  kernelRun(&pass);
  int x = 7, y = 0;
  streamPush(&in, &x);
  streamPop(&out, &y);
  EXPECT_EQ(y, 7);
  kernelPause(&pass);
  kernelWait(&pass);
  kernelEnd(&pass); // from PAUSED
  kernelWait(&pass);
  EXPECT_EQ(kernelGetStatus(&pass), KERNEL_FINISHED);
}

TEST_P(KernelTest, PauseAndEndWhileBusy) {
  // Both kernels use the quick path all the time; a request has to close it.
  static Stream there, back;
  static Pass first, second;
  streamInitRAM(&there, LOCALMEM1, 0, 16, sizeof(int), 0);
  streamInitRAM(&back, LOCALMEM1, 16, 16, sizeof(int), 0);
  int x = 1;
  for (int i = 0; i < 4; ++i)
    streamPush(&there, &x);
  initPass(&first, PROC1, &there, &back);
  initPass(&second, PROC2, &back, &there);
  kernelRun(&first);
  kernelRun(&second);
  for (int i = 0; i < 50; ++i) {
    kernelPause(&first);
    kernelWait(&first);
    EXPECT_EQ(kernelGetStatus(&first), KERNEL_PAUSED);
    kernelRun(&first);
  }
  kernelEnd(&first);
  kernelEnd(&second);
  kernelWaitMultiple(&first, &second);
  EXPECT_EQ(kernelGetStatus(&first), KERNEL_FINISHED);
  EXPECT_EQ(kernelGetStatus(&second), KERNEL_FINISHED);
}

TEST_P(KernelTest, BlocksNoticeRequestsToo) {
  struct Poll {
    Kernel kernel;
    IBlock* block;
  };
  static Block block;
  static Poll poll;
  blockInit(&block, LOCALMEM1, 0, 1, sizeof(int));
  int zero = 0;
  blockWrite(&block, 0, &zero);
  poll.block = &block;
  kernelInit(&poll, PROC1, nullptr, &poll, sizeof poll, [](void* data) {
    for (int value = 0; value == 0;)
      blockRead(static_cast<Poll*>(data)->block, 0, &value);
  });
  kernelRun(&poll);
  kernelPause(&poll);
  kernelWait(&poll);
  EXPECT_EQ(kernelGetStatus(&poll), KERNEL_PAUSED);
  kernelRun(&poll);
  kernelEnd(&poll);
  kernelWait(&poll);
  EXPECT_EQ(kernelGetStatus(&poll), KERNEL_FINISHED);
}

TEST_P(KernelTest, RequestsAreNoticedInABlockThatAnotherHasOpened) {
  struct User {
    Kernel kernel;
    Block* block;
    Stream *in, *out;
    std::atomic<bool> begun;
  };
  static Block block;
  static Stream there, back;
  static User opener, poller;
  blockInit(&block, LOCALMEM1, 0, 1, sizeof(int));
  streamInitRAM(&there, LOCALMEM1, 8, 4, sizeof(int), 0);
  streamInitRAM(&back, LOCALMEM1, 16, 4, sizeof(int), 0);
  for (User* user : {&opener, &poller}) {
    user->block = &block;
    user->in = &there;
    user->out = &back;
    user->begun = false;
  }
  kernelInit(&opener, PROC1, nullptr, &opener, sizeof opener, [](void* data) {
    User& user = *static_cast<User*>(data);
    int x = 0;
    do {
      blockWrite(user.block, 0, &x);
      streamPush(user.out, &x);
      streamPop(user.in, &x);
    } while (x == 0);
  });
  kernelInit(&poller, PROC2, nullptr, &poller, sizeof poller, [](void* data) {
    User& user = *static_cast<User*>(data);
    user.begun = true;
    for (int x = 0; x == 0;)
      blockRead(user.block, 0, &x);
  });
  kernelRun(&opener);
  int x = 0;
  streamPop(&back, &x);
  kernelRun(&poller);
  // With one thread it would never leave control a turn; then it obeys as it begins.
  while (GetParam() > 1 && !poller.begun) {
  }
  for (int i = 0; i < 20; ++i) {
    kernelPause(&poller);
    kernelWait(&poller);
    EXPECT_EQ(kernelGetStatus(&poller), KERNEL_PAUSED);
    streamPush(&there, &x); // the other opens it once more
    streamPop(&back, &x);
    kernelRun(&poller);
  }
  kernelEnd(&poller);
  kernelWait(&poller);
  x = 1;
  streamPush(&there, &x);
  kernelWait(&opener);
  EXPECT_EQ(kernelGetStatus(&poller), KERNEL_FINISHED);
  EXPECT_EQ(kernelGetStatus(&opener), KERNEL_FINISHED);
}

TEST_P(KernelTest, AWorkFunctionPausesAndEndsItself) {
  struct Own {
    Kernel kernel;
    int step;
  };
  static Own own;
  own.step = 0;
  kernelInit(&own, PROC1, nullptr, &own, sizeof own, [](void* data) {
    Own& own = *static_cast<Own*>(data);
    own.step = 1;
    kernelPause(&own);
    own.step = 2;
    kernelEnd(&own);
    own.step = 3;
  });
  kernelRun(&own);
  kernelWait(&own);
  EXPECT_EQ(kernelGetStatus(&own), KERNEL_PAUSED);
  EXPECT_EQ(own.step, 1);
  kernelRun(&own);
  kernelWait(&own);
  EXPECT_EQ(kernelGetStatus(&own), KERNEL_FINISHED);
  EXPECT_EQ(own.step, 2);
}

TEST_P(KernelTest, PauseAndEndBeforeTheBeginning) {
  static Stream in, out;
  static Pass holder, next, last;
  streamInitRAM(&in, LOCALMEM1, 0, 4, sizeof(int), 0);
  streamInitRAM(&out, LOCALMEM1, 16, 4, sizeof(int), 0);
  initPass(&holder, PROC1, &in, &out);
  initPass(&next, PROC1, &in, &out);
  initPass(&last, PROC1, &in, &out);
  kernelRun(&holder);
  kernelRun(&next); // the processor is held
  EXPECT_EQ(kernelGetStatus(&next), KERNEL_WAITING);
  kernelPause(&next); // remembered
  kernelRun(&last);
  kernelEnd(&last);
  EXPECT_EQ(kernelGetStatus(&last), KERNEL_FINISHED);
  kernelEnd(&holder);
  kernelWait(&next);
  EXPECT_EQ(kernelGetStatus(&next), KERNEL_PAUSED);
  kernelEnd(&next);
  kernelWaitMultiple(&holder, &next, &last);
  EXPECT_EQ(kernelGetStatus(&next), KERNEL_FINISHED);
  initPass(&last, PROC1, &in, &out);
  kernelPause(&last); // ignored
  EXPECT_EQ(kernelGetStatus(&last), KERNEL_UNSTARTED);
  kernelEnd(&last);
  EXPECT_EQ(kernelGetStatus(&last), KERNEL_FINISHED);
}

TEST_P(KernelTest, OneAfterAnotherOnAProcessor) {
  constexpr int count = 50;
  static Note kernels[count];
  std::vector<int> notes, expected;
  for (int i = 0; i < count; ++i) {
    initNote(&kernels[i], PROC1, i, &notes);
    kernelRun(&kernels[i]);
    expected.push_back(i);
  }
  for (Note& kernel : kernels)
    kernelWait(&kernel);
  EXPECT_EQ(notes, expected);
}

TEST_P(KernelTest, Dependences) {
  constexpr int count = 20;
  static Note kernels[count];
  std::vector<int> notes, expected;
  for (int i = 0; i < count; ++i) {
    initNote(&kernels[i], PROC(1 + i % 8), i, &notes);
    expected.push_back(i);
  }
  // The last one is run first: what it depends on is UNSTARTED then, but for what a wait lets finish.
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i; k += 3)
      kernelAddDependence(&kernels[i], &kernels[k]);
    if (i > 0)
      kernelAddDependence(&kernels[i], &kernels[i - 1]);
    kernelRun(&kernels[i]);
  }
  kernelWait(&kernels[count - 1]);
  EXPECT_EQ(notes, expected);
}

TEST_P(KernelTest, DependencesOfTheUnstartedAreIgnored) {
  static Note first, second;
  std::vector<int> notes;
  initNote(&first, PROC1, 1, &notes);
  initNote(&second, PROC2, 2, &notes);
  kernelAddDependence(&second, &first);
  kernelRun(&second);
  kernelWait(&second);
  EXPECT_EQ(notes, std::vector<int>{2});
  kernelEnd(&first);
}

TEST_P(KernelTest, TwoKernelsInALoop) {
  static Note k1, k2;
  std::vector<int> notes, expected;
  k1 = k2 = Note(); // as if nothing had initialised them
  for (int i = 0; i < 200; ++i) {
    kernelWait(&k1);
    initNote(&k1, PROC1, 2 * i, &notes);
    kernelAddDependence(&k1, &k2);
    kernelRun(&k1);
    kernelWait(&k2);
    initNote(&k2, PROC2, 2 * i + 1, &notes);
    kernelAddDependence(&k2, &k1);
    kernelRun(&k2);
    expected.push_back(2 * i);
    expected.push_back(2 * i + 1);
  }
  kernelWaitMultiple(&k1, &k2);
  EXPECT_EQ(notes, expected);
}

TEST_P(KernelTest, EndingOneThatWaitsFreesWhatDependsOnIt) {
  static Stream in, out;
  static Pass holder;
  static Note waiting, dependent;
  std::vector<int> notes;
  streamInitRAM(&in, LOCALMEM1, 0, 4, sizeof(int), 0);
  streamInitRAM(&out, LOCALMEM1, 16, 4, sizeof(int), 0);
  initPass(&holder, PROC1, &in, &out);
  initNote(&waiting, PROC1, 1, &notes);
  initNote(&dependent, PROC2, 2, &notes);
  kernelRun(&holder);
  kernelRun(&waiting);
  kernelAddDependence(&dependent, &waiting);
  kernelRun(&dependent);
  EXPECT_EQ(kernelGetStatus(&dependent), KERNEL_WAITING);
  kernelEnd(&waiting);
  kernelWait(&dependent);
  EXPECT_EQ(notes, std::vector<int>{2});
  kernelEnd(&holder);
  kernelWait(&holder);
}

TEST_P(KernelTest, WaitForSeveralEndsWithTheFirstPause) {
  static Stream in, out;
  static Pass blocked, paused;
  streamInitRAM(&in, LOCALMEM1, 0, 4, sizeof(int), 0);
  streamInitRAM(&out, LOCALMEM1, 16, 4, sizeof(int), 0);
  initPass(&blocked, PROC1, &in, &out);
  initPass(&paused, PROC2, &out, &in);
  kernelRun(&blocked);
  kernelRun(&paused);
  kernelPause(&paused);
  kernelWaitMultiple(&blocked, &paused);
  EXPECT_EQ(kernelGetStatus(&paused), KERNEL_PAUSED);
  EXPECT_NE(kernelGetStatus(&blocked), KERNEL_PAUSED);
  kernelEnd(&blocked);
  kernelEnd(&paused);
  kernelWaitMultiple(&blocked, &paused);
}

TEST_P(KernelTest, FieldsOfAKernelBetweenRuns) {
  struct Add {
    Kernel kernel;
    int sum, by;
  };
  static Add add;
  add.sum = 0;
  for (int i = 1; i <= 100; ++i) {
    kernelInit(&add, PROC1, nullptr, &add, sizeof add, [](void* data) {
      Add& add = *static_cast<Add*>(data);
      add.sum += add.by;
    });
    add.by = i;
    kernelReady(&add);
    kernelRun(&add);
    kernelWait(&add);
  }
  EXPECT_EQ(add.sum, 5050);
}

TEST_P(KernelTest, TenThousandKernels) {
  constexpr int count = 10000;
  static Stream streams[count + 1];
  static Pass kernels[count];
  // A machine has 8 stream processors; DMA 1 and 2 carry on few moves. So one processor after another in short chains.
  constexpr int chain = 8;
  for (int begin = 0; begin < count; begin += chain) {
    for (int i = 0; i <= chain; ++i)
      streamInitRAM(&streams[begin + i], LOCALMEM1, 16 * i, 4, sizeof(int), 0);
    for (int i = 0; i < chain; ++i) {
      initPass(&kernels[begin + i], PROC(1 + i), &streams[begin + i], &streams[begin + i + 1]);
      kernelRun(&kernels[begin + i]);
    }
    int x = begin, y = -1;
    streamPush(&streams[begin], &x);
    streamPop(&streams[begin + chain], &y);
    EXPECT_EQ(y, begin);
    for (int i = 0; i < chain; ++i)
      kernelEnd(&kernels[begin + i]);
    for (int i = 0; i < chain; ++i)
      kernelWait(&kernels[begin + i]);
  }
}

} // namespace

SVM_WITH_THREADS(KernelTest);
