// A thousand million elements through three kernels, which are paused and ended at random moments meanwhile, and begin
// again where they were: no element is lost, doubled or out of order, and no tag either.
//
//   svm_endurance --elements 1000000000 --seed 1
//
// A request takes effect within an operation that has not happened then. So whoever keeps in its struct what it has
// popped and not pushed yet can go on after an end. Status 1 when the last kernel has seen something else.
#include "include/svm_kernels.h"
#include "svm/pca.h"

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t tagEvery = 10000;

struct Stage {
  Kernel kernel;
  IStream* in;
  OStream* out;
  int64_t total;    // elements in all
  int64_t done;     // pushed by the first, popped by the last
  boolean has, tag; // the middle one: what it has popped and not pushed
  int32_t value;
  int64_t sum, tags, wrong; // the last one's
};

/// Element i, which is no sequence that shifts into itself.
int32_t elementOf(int64_t i) {
  return static_cast<int32_t>(static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u >> 32);
}
int32_t passed(int32_t x) {
  return x ^ 0x55555555;
}
boolean isTagged(int64_t i, int64_t total) {
  return (i + 1) % tagEvery == 0 || i + 1 == total;
}

void push(Stage* stage, int32_t value, boolean tag) {
  if (tag)
    streamPushWithEOS(stage->out, &value);
  else
    streamPush(stage->out, &value);
}

void source(void* data) {
  auto* stage = static_cast<Stage*>(data);
  for (; stage->done < stage->total; ++stage->done)
    push(stage, elementOf(stage->done), isTagged(stage->done, stage->total));
}

void middle(void* data) {
  auto* stage = static_cast<Stage*>(data);
  for (; stage->done < stage->total; ++stage->done) {
    if (!stage->has) {
      int32_t value = 0;
      const boolean tag = streamPeekEOS(stage->in, 0);
      streamPop(stage->in, &value);
      stage->value = passed(value);
      stage->tag = tag;
      stage->has = TRUE;
    }
    push(stage, stage->value, stage->tag);
    stage->has = FALSE;
  }
}

void sink(void* data) {
  auto* stage = static_cast<Stage*>(data);
  while (stage->done < stage->total) {
    int32_t value = 0;
    const boolean tag = streamPeekEOS(stage->in, 0);
    streamPop(stage->in, &value);
    stage->wrong += value != passed(elementOf(stage->done)) || tag != isTagged(stage->done, stage->total);
    stage->sum += value;
    stage->tags += tag;
    ++stage->done;
  }
}

Stream first, second;
Stage stages[3];

void start(int which) {
  static constexpr ExtKernelWork works[] = {source, middle, sink};
  Stage& stage = stages[which];
  kernelInit(&stage.kernel, PROC(1 + which), nullptr, &stage, sizeof stage, works[which]);
  kernelRun(&stage);
}

/// Lets kernels run for a while: control may be on the only thread that does so.
void pass(std::chrono::microseconds time) {
  for (const auto end = Clock::now() + time; Clock::now() < end;)
    kernelGetStatus(&stages[2]);
}

} // namespace

int main(int argc, char** argv) {
  int64_t elements = 1000000000;
  uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--elements")
      elements = std::atoll(argv[i + 1]);
    else if (option == "--seed")
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    else
      argc = 0;
  }
  if (argc % 2 == 0 || elements < 1) {
    std::fprintf(stderr, "usage: svm_endurance [--elements N] [--seed N]\n");
    return 2;
  }
  std::mt19937_64 random(seed);
  streamInitRAM(&first, LOCALMEM1, 0, 1000, sizeof(int32_t), 0);
  streamInitFIFO(&second, FIFO1, sizeof(int32_t), 0);
  const auto begin = Clock::now();
  for (int i = 0; i < 3; ++i) {
    stages[i].in = i == 1 ? &first : &second;
    stages[i].out = i == 0 ? &first : &second;
    stages[i].total = elements;
    start(i);
  }
  int64_t pauses = 0, ends = 0;
  while (kernelGetStatus(&stages[2]) != KERNEL_FINISHED) {
    pass(std::chrono::microseconds(random() % 2000));
    const auto which = static_cast<int>(random() % 3);
    Stage& stage = stages[which];
    const bool isEnd = random() % 4 == 0;
    if (isEnd)
      kernelEnd(&stage);
    else
      kernelPause(&stage);
    if (random() % 2)
      pass(std::chrono::microseconds(random() % 200)); // what the others do meanwhile
    kernelWait(&stage);
    if (isEnd && stage.done < elements) {
      start(which);
      ++ends;
    } else if (kernelGetStatus(&stage) == KERNEL_PAUSED) {
      kernelRun(&stage);
      ++pauses;
    }
  }
  kernelWaitMultiple(&stages[0], &stages[1], &stages[2]);
  int64_t sum = 0;
  for (int64_t i = 0; i < elements; ++i)
    sum += passed(elementOf(i));
  const Stage& last = stages[2];
  const bool right = last.done == elements && last.wrong == 0 && last.sum == sum &&
                     last.tags == elements / tagEvery + (elements % tagEvery != 0) && first.pushed_ == first.popped_ &&
                     second.pushed_ == second.popped_;
  std::printf("%" PRId64 " elements in %.1f s, %" PRId64 " pauses, %" PRId64 " ends: %s\n", last.done,
              std::chrono::duration<double>(Clock::now() - begin).count(), pauses, ends,
              right ? "all arrived" : "they differ");
  return right ? 0 : 1;
}
