// What the tests of the rules share: a kernel whose work is a lambda, streams and a block to break rules with, and a
// macro for a program that checked mode ends with a message at a line of the test.
#pragma once

#include "runtime/svm/testing.h"

#include "runtime/svm/program.h"

#include <cstdlib>

namespace rules {

inline constexpr int any = 0;

struct Work {
  Kernel kernel;
  IStream* in;
  OStream* out;
  Block* block;
  int count;
  void (*body)(Work*);
};

/// A kernel whose work is a lambda.
inline void initWork(Work* work, VM_NODE_PROC processor, void (*body)(Work*), Block* scratch = nullptr) {
  kernelInit(&work->kernel, processor, scratch, work, sizeof *work,
             [](void* data) { static_cast<Work*>(data)->body(static_cast<Work*>(data)); });
  work->body = body;
}

inline void popOne(Work* work) {
  int x = 0;
  streamPop(work->in, &x);
}

inline void pushOne(Work* work) {
  int x = 0;
  streamPush(work->out, &x);
}

/// Pushes for ever.
inline void pushAll(Work* work) {
  while (true)
    pushOne(work);
}

inline Stream s, t;
inline Block b;
inline Work k, k2;

class Rules : public ::testing::Test {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    svmThreads(2);
    strata::svm::Program::current().setChecked(true);
  }
  void TearDown() override { strata::svm::Program::current().setChecked(false); }

  static void initStreams() {
    streamInitRAM(&s, LOCALMEM1, 0, 8, sizeof(int), any);
    streamInitRAM(&t, LOCALMEM1, 64, 8, sizeof(int), any);
  }
};

} // namespace rules

#define BREAKS(RULE, MESSAGE, ...)                                                                                     \
  EXPECT_EXIT(                                                                                                         \
      {                                                                                                                \
        __VA_ARGS__;                                                                                                   \
        std::exit(77);                                                                                                 \
      },                                                                                                               \
      ::testing::ExitedWithCode(1), "_test(ing.h|.cpp):[0-9]+: error: " MESSAGE "(.|\n)*\\[" RULE "\\]")
