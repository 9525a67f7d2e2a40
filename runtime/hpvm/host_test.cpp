// Launches of a graph that a function of this file stands for, and every misuse, each of which ends the process with a
// message of its own.
#include "include/hpvm.h"

#include "runtime/hpvm/graph_table.h"

#include <gtest/gtest.h>

#include <cstring>
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

const StrataHpvmPointer pointers[] = {{"data", 0, 8}};
const StrataHpvmGraph graphs[] = {{reinterpret_cast<const void*>(root), "root", addToAll, pointers, 1},
                                  {nullptr, "gone", addToAll, nullptr, 0}};

struct Host : testing::Test {
  Host() {
    strata_hpvm_register(graphs, 2);
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

TEST_F(Host, ALaunchThatNobodyWaitsForEndsWithTheCleanUp) {
  track();
  __hpvm__launch(0, root, &arguments);
  __hpvm__cleanup();
  EXPECT_EQ(data[0], 11);
  __hpvm__init();
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
  EXPECT_DEATH(__hpvm__launch(1, root, &arguments), "streaming launches");
}

TEST_F(HostDeath, EachLaunchIsWaitedForOnce) {
  track();
  EXPECT_DEATH(__hpvm__wait(&arguments), "a handle of no launched graph");
  void* graph = __hpvm__launch(0, root, &arguments);
  __hpvm__wait(graph);
  EXPECT_DEATH(__hpvm__wait(graph), "a handle of no launched graph");
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
