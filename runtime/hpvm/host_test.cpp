// Launches of graphs that a function of this file stands for, and every misuse, each of which ends the process with a
// message of its own.
#include "include/hpvm.h"

#include "runtime/hpvm/graph_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <vector>

namespace {

void root(int*, size_t, int) {}

struct __attribute__((packed)) Arguments {
  int* data;
  size_t bytes;
  int summand;
};

void addToAll(void* launch, char* packed) {
  Arguments arguments;
  std::memcpy(&arguments, packed, sizeof arguments);
  auto* scratch = static_cast<int*>(strata_hpvm_allocate(launch, 4));
  *scratch = arguments.summand;
  for (size_t i = 0; i < arguments.bytes / sizeof(int); ++i)
    arguments.data[i] += *scratch;
}

const StrataHpvmPointer pointers[] = {{"data", 0, 8, 1}};
/// Doubles numbers.
void twice(int) {}
void doubleAll(void* launch) {
  const auto handle = reinterpret_cast<int64_t>(launch);
  for (int number = 0; strata_hpvm_next(handle, &number);) {
    number *= 2;
    strata_hpvm_deliver(handle, &number);
  }
}
void silent(int) {}
void takeAll(void* launch) {
  for (int number = 0; strata_hpvm_next(reinterpret_cast<int64_t>(launch), &number);) {
  }
}

/// Reads what it is given.
const StrataHpvmPointer readPointers[] = {{"data", 0, 8, 0}};
void reader(int*, size_t, int) {}
void nothing(void*, char*) {}
/// Takes items with memory, and gives a number for each.
void passing(int*, size_t, int) {}
void passAll(void* launch) {
  const auto handle = reinterpret_cast<int64_t>(launch);
  for (Arguments item; strata_hpvm_next(handle, &item);)
    strata_hpvm_deliver(handle, &item.summand);
}

template <typename... Parameters>
const void* at(void (*function)(Parameters...)) {
  return reinterpret_cast<const void*>(function);
}
const StrataHpvmGraph graphs[] = {
    {at(root), "root", addToAll, nullptr, pointers, 1, 0, sizeof(Arguments), 0, nullptr, 0, 3, nullptr, 0},
    {at(twice), "twice", nullptr, doubleAll, nullptr, 0, 1, 4, 4, nullptr, 0, 1, nullptr, 0},
    {at(silent), "silent", nullptr, takeAll, nullptr, 0, 0, 4, 0, nullptr, 0, 1, nullptr, 0},
    {nullptr, "gone", addToAll, nullptr, nullptr, 0, 0, 0, 0, nullptr, 0, 0, nullptr, 0},
    {at(reader), "reader", nothing, nullptr, readPointers, 1, 0, sizeof(Arguments), 0, nullptr, 0, 3, nullptr, 0},
    {at(passing), "passing", nullptr, passAll, pointers, 1, 1, sizeof(Arguments), 4, nullptr, 0, 3, nullptr, 0}};

struct Host : testing::Test {
  Host() {
    strata_hpvm_register(graphs, 6);
    __hpvm__init();
  }
  ~Host() override { __hpvm__cleanup(); }

  std::vector<int> data{1, 2, 3};
  Arguments arguments{data.data(), data.size() * sizeof(int), 10};
  void track() { llvm_hpvm_track_mem(data.data(), data.size() * sizeof(int)); }
};
using HostDeath = Host;

TEST_F(Host, ALaunchEndsWhenItIsWaitedFor) {
  track();
  void* graph = __hpvm__launch(0, root, &arguments);
  __hpvm__wait(graph);
  llvm_hpvm_request_mem(data.data(), arguments.bytes);
  EXPECT_EQ(data, (std::vector{11, 12, 13}));
  llvm_hpvm_untrack_mem(data.data());
}

TEST_F(Host, SeveralLaunchesGoOnAtOnce) {
  track();
  std::vector<std::vector<int>> all(20, {0});
  std::vector<Arguments> packed;
  for (std::vector<int>& each : all) {
    llvm_hpvm_track_mem(each.data(), sizeof(int));
    packed.push_back({each.data(), sizeof(int), static_cast<int>(packed.size())});
  }
  std::vector<void*> launched;
  for (Arguments& each : packed)
    launched.push_back(__hpvm__launch(0, root, &each));
  for (void* each : launched)
    __hpvm__wait(each);
  for (int number = 0; number < 20; ++number)
    EXPECT_EQ(all[static_cast<size_t>(number)][0], number);
}

TEST_F(Host, WhatALaunchOnlyReadsMayBeRequested) {
  int number[1] = {4};
  llvm_hpvm_track_mem(number, sizeof number);
  Arguments reads{number, sizeof number, 1};
  void* graph = __hpvm__launch(0, reader, &reads);
  llvm_hpvm_request_mem(number, sizeof number);
  __hpvm__wait(graph);
  llvm_hpvm_untrack_mem(number);
}

TEST_F(Host, AnItemsMemoryIsTheHostsAgainWhenItsResultIsPopped) {
  track();
  void* graph = __hpvm__launch(1, passing, nullptr);
  for (int number = 0; number < 3; ++number) {
    __hpvm__push(graph, &arguments);
    std::free(__hpvm__pop(graph));
    llvm_hpvm_request_mem(data.data(), arguments.bytes);
    llvm_hpvm_untrack_mem(data.data());
    track();
  }
  __hpvm__wait(graph);
}

TEST_F(Host, ItemsComeOutInTheOrderOfThePushes) {
  void* graph = __hpvm__launch(1, twice, nullptr);
  for (int number = 0; number < 1000; ++number)
    __hpvm__push(graph, &number);
  const auto next = [&] {
    int* result = static_cast<int*>(__hpvm__pop(graph));
    const int value = *result;
    std::free(result);
    return value;
  };
  for (int number = 0; number < 500; ++number)
    EXPECT_EQ(next(), 2 * number);
  __hpvm__wait(graph);
  for (int number = 500; number < 900; ++number) // the rest goes with the clean-up
    EXPECT_EQ(next(), 2 * number);
}

TEST_F(Host, StreamingLaunchesLeaveNothingBehind) {
  const auto launches = [](int count) {
    for (int number = 0; number < count; ++number) {
      void* graph = __hpvm__launch(1, twice, nullptr);
      __hpvm__push(graph, &number);
      __hpvm__push(graph, &number);
      std::free(__hpvm__pop(graph));
      if (number % 2) // the last result before the wait, or behind it
        std::free(__hpvm__pop(graph));
      __hpvm__wait(graph);
      if (number % 2 == 0)
        std::free(__hpvm__pop(graph));
    }
    return mallinfo2().uordblks + mallinfo2().hblkhd;
  };
  const size_t before = launches(3000); // more than are remembered
  EXPECT_LT(launches(3000), before + 200'000);
}

TEST_F(HostDeath, OnlyStreamingGraphsArePushedTo) {
  track();
  int number = 1;
  void* graph = __hpvm__launch(0, root, &arguments);
  EXPECT_DEATH(__hpvm__push(graph, &number), "whose launch is not streaming");
  EXPECT_DEATH(__hpvm__pop(graph), "whose launch is not streaming");
  __hpvm__wait(graph);
}

TEST_F(HostDeath, NothingIsPushedAfterTheWait) {
  int number = 1;
  void* graph = __hpvm__launch(1, twice, nullptr);
  __hpvm__push(graph, &number);
  __hpvm__wait(graph);
  EXPECT_DEATH(__hpvm__push(graph, &number), "after __hpvm__wait");
  EXPECT_DEATH(__hpvm__wait(graph), "twice for one launch");
  std::free(__hpvm__pop(graph));
  EXPECT_DEATH(__hpvm__pop(graph), "for more results than there are");
}

TEST_F(HostDeath, AGraphWithoutOutputsIsNotPopped) {
  int number = 1;
  void* graph = __hpvm__launch(1, silent, nullptr);
  __hpvm__push(graph, &number);
  EXPECT_DEATH(__hpvm__pop(graph), "which has no outputs");
  __hpvm__wait(graph);
}

TEST_F(HostDeath, WhatALaunchUnderWayWorksOnIsLeftAlone) {
  track();
  void* graph = __hpvm__launch(0, root, &arguments);
  EXPECT_DEATH(llvm_hpvm_request_mem(data.data(), 4), "that graph 'root' writes.*has not been waited for");
  EXPECT_DEATH(llvm_hpvm_untrack_mem(data.data()), "that graph 'root' writes");
  EXPECT_DEATH(__hpvm__cleanup(), "graph 'root', which was launched, has not been waited for");
  __hpvm__wait(graph);
  graph = __hpvm__launch(0, reader, &arguments);
  EXPECT_DEATH(llvm_hpvm_untrack_mem(data.data()), "that graph 'reader' reads");
  __hpvm__wait(graph);
  graph = __hpvm__launch(1, passing, nullptr);
  __hpvm__push(graph, &arguments);
  __hpvm__push(graph, &arguments);
  std::free(__hpvm__pop(graph));
  EXPECT_DEATH(llvm_hpvm_request_mem(data.data(), 4), "has items whose results have not been popped");
  __hpvm__wait(graph);
  llvm_hpvm_request_mem(data.data(), 4);
}

TEST_F(HostDeath, ArgumentsAreGiven) {
  EXPECT_DEATH(__hpvm__launch(0, root, nullptr), "graph 'root' has 3 inputs and 0 outputs");
  void* graph = __hpvm__launch(1, twice, nullptr);
  EXPECT_DEATH(__hpvm__push(graph, nullptr), "graph 'twice' has 1 input and 1 output");
  __hpvm__wait(graph);
  EXPECT_DEATH(llvm_hpvm_track_mem(nullptr, 4), "a null pointer as an object of 4 bytes");
  EXPECT_DEATH(llvm_hpvm_track_mem(data.data(), SIZE_MAX), "more than there are");
}

TEST_F(HostDeath, HandlesAreNeverGivenTwice) {
  track();
  void* first = __hpvm__launch(0, root, &arguments);
  __hpvm__wait(first);
  void* graph = __hpvm__launch(0, root, &arguments);
  EXPECT_NE(first, graph);
  EXPECT_DEATH(__hpvm__wait(first), "twice for one launch");
  EXPECT_DEATH(__hpvm__push(first, &arguments), "after __hpvm__wait");
  EXPECT_DEATH(__hpvm__wait(nullptr), "no handle of a launched graph");
  __hpvm__wait(graph);
}

TEST_F(HostDeath, MemoryHasToBeTracked) {
  EXPECT_DEATH(__hpvm__launch(0, root, &arguments), "argument 'data' of graph 'root' is memory that is not tracked");
}

TEST_F(HostDeath, AnObjectIsAsLargeAsIsSaid) {
  track();
  arguments.bytes = 16;
  EXPECT_DEATH(__hpvm__launch(0, root, &arguments), "said to have 16 bytes, and 12 are tracked");
  EXPECT_DEATH(llvm_hpvm_request_mem(data.data(), 16), "asks for 16 bytes of an object of 12");
}

TEST_F(HostDeath, ObjectsAreTrackedOnce) {
  track();
  EXPECT_DEATH(track(), "tracked already");
  EXPECT_DEATH(llvm_hpvm_untrack_mem(&arguments), "that is not tracked");
  EXPECT_DEATH(llvm_hpvm_request_mem(&arguments, 1), "that is not tracked");
}

TEST_F(HostDeath, GraphsAreKnown) {
  EXPECT_DEATH(__hpvm__launch(0, &arguments, &arguments), "no graph was made of");
  track();
  EXPECT_DEATH(__hpvm__launch(1, root, &arguments), "not what the link has seen");
}

TEST_F(HostDeath, EachLaunchIsWaitedForOnce) {
  track();
  EXPECT_DEATH(__hpvm__wait(&arguments), "no handle of a launched graph");
  void* graph = __hpvm__launch(0, root, &arguments);
  __hpvm__wait(graph);
  EXPECT_DEATH(__hpvm__wait(graph), "twice for one launch");
}

TEST_F(HostDeath, AllElseStandsBetweenInitialisationAndCleanUp) {
  EXPECT_DEATH(__hpvm__init(), "called twice");
  __hpvm__cleanup();
  EXPECT_DEATH(track(), "outside of initialisation");
  EXPECT_DEATH(__hpvm__cleanup(), "outside of initialisation");
  __hpvm__init();
}

TEST_F(HostDeath, NodeFunctionsAreNotCalled) {
  EXPECT_DEATH(__hpvm__getNode(), "__hpvm__getNode is called outside of a graph");
}

} // namespace
