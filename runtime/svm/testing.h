// What the tests of this folder share: the machine's header, and a fixture that runs each test with 1, 2 and 7 threads.
#pragma once

#include "svm/pca.h"

#include <gtest/gtest.h>

class SvmTest : public ::testing::TestWithParam<int> {
protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    svmThreads(GetParam());
  }
};

#define SVM_WITH_THREADS(FIXTURE) INSTANTIATE_TEST_SUITE_P(Threads, FIXTURE, ::testing::Values(1, 2, 7))
