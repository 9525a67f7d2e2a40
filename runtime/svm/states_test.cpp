// Every state of a kernel with every function of control: what becomes of it, in unchecked mode, where what makes no
// sense is ignored. And what a dependence means for each state of the kernel depended on.
#include "runtime/svm/testing.h"

#include "runtime/svm/program.h"

namespace {

/// A kernel that pops numbers until it is told to be over.
struct Eater {
  Kernel kernel;
  IStream* in;
  int eaten;
  int limit;
};

void eat(void* data) {
  Eater& eater = *static_cast<Eater*>(data);
  while (eater.eaten < eater.limit) {
    int x = 0;
    streamPop(eater.in, &x);
    ++eater.eaten;
  }
}

Stream food, nothing;
Eater kernel, holder, other;

void init(Eater* eater, VM_NODE_PROC processor, IStream* in, int limit = 1) {
  kernelInit(&eater->kernel, processor, nullptr, eater, sizeof *eater, eat);
  eater->in = in;
  eater->eaten = 0;
  eater->limit = limit;
}

constexpr KERNEL_STATUS all[] = {KERNEL_UNSTARTED, KERNEL_WAITING, KERNEL_RUNNING, KERNEL_PAUSED, KERNEL_FINISHED};

class StatesTest : public SvmTest {
protected:
  /// Brings `kernel` into a state; it wants one element of `food`. WAITING: `holder` has its processor.
  static void bring(KERNEL_STATUS status) {
    finish();
    streamInitRAM(&food, LOCALMEM1, 0, 8, sizeof(int), 0);
    streamInitRAM(&nothing, LOCALMEM1, 64, 8, sizeof(int), 0);
    if (status == KERNEL_WAITING) {
      init(&holder, PROC1, &nothing);
      kernelRun(&holder);
    }
    init(&kernel, PROC1, &food);
    if (status == KERNEL_UNSTARTED)
      return;
    if (status == KERNEL_FINISHED)
      kernelEnd(&kernel);
    else
      kernelRun(&kernel);
    if (status == KERNEL_PAUSED)
      kernelPause(&kernel);
    if (status == KERNEL_PAUSED || status == KERNEL_FINISHED)
      kernelWait(&kernel);
    ASSERT_EQ(kernelGetStatus(&kernel), status);
  }
  static void finish() {
    for (Eater* each : {&holder, &other, &kernel})
      if (each->kernel.record_) {
        kernelEnd(each);
        kernelWait(each);
      }
  }
  void TearDown() override { finish(); }

  static void feed() {
    int x = 1;
    streamPush(&food, &x);
  }
  static void release() {
    kernelEnd(&holder);
    kernelWait(&holder);
  }
};

TEST_P(StatesTest, Run) {
  constexpr KERNEL_STATUS after[] = {KERNEL_RUNNING, KERNEL_WAITING, KERNEL_RUNNING, KERNEL_RUNNING, KERNEL_FINISHED};
  for (const KERNEL_STATUS status : all) {
    SCOPED_TRACE(status);
    bring(status);
    kernelRun(&kernel);
    EXPECT_EQ(kernelGetStatus(&kernel), after[status]);
    if (status == KERNEL_WAITING)
      release();
    feed();
    kernelWait(&kernel);
    EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_FINISHED);
    EXPECT_EQ(kernel.eaten, status == KERNEL_FINISHED ? 0 : 1);
  }
}

TEST_P(StatesTest, Pause) {
  for (const KERNEL_STATUS status : all) {
    SCOPED_TRACE(status);
    bring(status);
    kernelPause(&kernel);
    kernelPause(&kernel);
    if (status == KERNEL_WAITING) { // is remembered: it pauses as it starts
      EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_WAITING);
      feed();
      release();
    }
    kernelWait(&kernel);
    const bool pauses = status == KERNEL_WAITING || status == KERNEL_RUNNING || status == KERNEL_PAUSED;
    EXPECT_EQ(kernelGetStatus(&kernel), pauses ? KERNEL_PAUSED : status);
    EXPECT_EQ(kernel.eaten, 0);
  }
}

TEST_P(StatesTest, End) {
  for (const KERNEL_STATUS status : all) {
    SCOPED_TRACE(status);
    bring(status);
    kernelEnd(&kernel);
    kernelEnd(&kernel);
    kernelWait(&kernel);
    EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_FINISHED);
    feed();
    if (status == KERNEL_WAITING)
      release();
    EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_FINISHED);
    EXPECT_EQ(kernel.eaten, 0);
    EXPECT_EQ(food.popped_, 0u);
  }
}

TEST_P(StatesTest, Initialise) {
  for (const KERNEL_STATUS status : all) {
    SCOPED_TRACE(status);
    bring(status);
    if (status == KERNEL_UNSTARTED || status == KERNEL_FINISHED) {
      init(&kernel, PROC1, &food);
      EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_UNSTARTED);
    }
  }
  if (GetParam() == 2)
    for (const KERNEL_STATUS status : {KERNEL_WAITING, KERNEL_RUNNING, KERNEL_PAUSED})
      EXPECT_EXIT(
          {
            bring(status);
            init(&kernel, PROC1, &food);
          },
          // What the address sanitizer adds to the variable looks like an array.
          ::testing::ExitedWithCode(1), "kernel 'kernel(.0.)?' is initialised while it is under way.*svm-a1");
}

TEST_P(StatesTest, ReadyAndWait) {
  for (const KERNEL_STATUS status : all) {
    SCOPED_TRACE(status);
    bring(status);
    kernelReady(&kernel);
    EXPECT_EQ(kernelGetStatus(&kernel), status);
    if (status == KERNEL_WAITING || status == KERNEL_RUNNING)
      continue; // a wait would not be over
    kernelWait(&kernel);
    kernelWaitMultiple(&kernel, &kernel, &kernel);
    EXPECT_EQ(kernelGetStatus(&kernel), status);
  }
}

TEST_P(StatesTest, WaitForSeveral) {
  // One that is PAUSED is enough; else all have to be FINISHED, and the UNSTARTED do not count.
  bring(KERNEL_PAUSED);
  init(&other, PROC2, &nothing);
  kernelWaitMultiple(&kernel, &other);
  kernelRun(&other);
  kernelWaitMultiple(&other, &kernel);
  EXPECT_EQ(kernelGetStatus(&other), KERNEL_RUNNING);
  int x = 1;
  streamPush(&nothing, &x);
  kernelRun(&kernel);
  feed();
  init(&holder, PROC3, &nothing);
  kernelWaitMultiple(&holder, &other, &kernel);
  EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_FINISHED);
  EXPECT_EQ(kernelGetStatus(&other), KERNEL_FINISHED);
  EXPECT_EQ(kernelGetStatus(&holder), KERNEL_UNSTARTED);
}

TEST_P(StatesTest, ADependenceOnEachState) {
  for (const KERNEL_STATUS status : all) {
    SCOPED_TRACE(status);
    bring(status);
    init(&other, PROC2, &nothing, 0);
    kernelAddDependence(&other, &kernel);
    kernelRun(&other);
    if (status == KERNEL_UNSTARTED || status == KERNEL_FINISHED) {
      kernelWait(&other);
      EXPECT_EQ(kernelGetStatus(&other), KERNEL_FINISHED);
      continue;
    }
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(kernelGetStatus(&other), KERNEL_WAITING);
    kernelEnd(&kernel);
    kernelWait(&other);
    EXPECT_EQ(kernelGetStatus(&other), KERNEL_FINISHED);
  }
}

TEST_P(StatesTest, ADependenceIsForOneExecution) {
  bring(KERNEL_RUNNING);
  init(&other, PROC2, &nothing, 0);
  kernelAddDependence(&other, &kernel);
  kernelAddDependence(&other, &kernel); // twice is once
  kernelAddDependence(&other, &other);  // it is UNSTARTED
  feed();
  kernelWait(&kernel);
  init(&kernel, PROC1, &food); // the next execution is none of its business
  kernelRun(&kernel);
  kernelRun(&other);
  kernelWait(&other);
  EXPECT_EQ(kernelGetStatus(&other), KERNEL_FINISHED);
  EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_RUNNING);
}

TEST_P(StatesTest, ADependenceOfAKernelThatIsNotUnstartedIsIgnored) {
  bring(KERNEL_RUNNING);
  init(&other, PROC2, &nothing);
  kernelRun(&other);
  kernelAddDependence(&kernel, &other);
  feed();
  kernelWait(&kernel);
  EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_FINISHED);
  kernelAddDependence(&kernel, &other);
  EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_FINISHED);
}

TEST_P(StatesTest, FieldsAreTheControlsWhilePaused) {
  for (const bool checked : {false, true}) {
    strata::svm::Program::current().setChecked(checked);
    finish();
    streamInitRAM(&food, LOCALMEM1, 0, 8, sizeof(int), 0);
    init(&kernel, PROC1, &food, 100);
    kernelRun(&kernel);
    feed();
    feed();
    while (__atomic_load_n(&food.popped_, __ATOMIC_ACQUIRE) < 2)
      kernelGetStatus(&kernel);
    kernelPause(&kernel);
    kernelWait(&kernel);
    ASSERT_EQ(kernelGetStatus(&kernel), KERNEL_PAUSED);
    EXPECT_EQ(kernel.eaten, 2);
    kernel.limit = 3;
    kernelRun(&kernel);
    feed();
    kernelWait(&kernel);
    EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_FINISHED);
    EXPECT_EQ(kernel.eaten, 3);
  }
  strata::svm::Program::current().setChecked(false);
}

TEST_P(StatesTest, AWorkFunctionMayPauseAnother) {
  bring(KERNEL_RUNNING);
  kernelInit(&other, PROC2, nullptr, &other, sizeof other, [](void*) { kernelPause(&kernel); });
  kernelRun(&other);
  kernelWait(&kernel);
  EXPECT_EQ(kernelGetStatus(&kernel), KERNEL_PAUSED);
}

} // namespace

SVM_WITH_THREADS(StatesTest);
