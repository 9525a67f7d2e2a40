// A machine over several processes, seen from rank 0, with other ranks that are this process too: every instance runs
// once, on the rank that has it and as the processor that it is in one process; elements of other ranks' instances go
// through the interface, all others do not.
#include "runtime/core/testing.h"
#include "runtime/host/machine.h"
#include "runtime/host/ranks.h"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

namespace strata::runtime::over_ranks {
namespace {

enum : uint32_t { Home, Memory, Space };
enum : uint32_t { Front, Node };

/// Ranks of which this process is all: parts run here, memory is that of one process.
/// Any memory, which all ranks reach where all are one process.
class HomeMemory final : public WindowBackend {
public:
  void move(const WindowMove& move) override {
    auto* const there = reinterpret_cast<char*>(move.offset);
    if (move.intoWindow)
      strata_move(there, move.windowStrides, move.memory, move.memoryStrides, move.extents, move.rank,
                  move.elementBytes);
    else
      strata_move(move.memory, move.memoryStrides, there, move.windowStrides, move.extents, move.rank,
                  move.elementBytes);
  }
  bool isEverywhere() const override { return true; }
};

class AllHere final : public Ranks {
public:
  explicit AllHere(int64_t count) : count_(count) {}
  int64_t own() const override { return own_; }
  int64_t count() const override { return count_; }
  void run(int64_t rank, const RankPart& part) override {
    { // not while the part runs: it may wait, and then this thread does something else, which may come here as well
      const std::lock_guard guard(lock_);
      for (int64_t i = 0; i < part.count; ++i)
        sent[part.first + i] = {rank, part.number + i * part.step};
    }
    // As a node does it: of a copy of the arguments.
    std::vector<int64_t> copy(static_cast<size_t>(part.argumentBytes / 8 + 1));
    std::memcpy(copy.data(), part.arguments, static_cast<size_t>(part.argumentBytes));
    RankPart here = part;
    here.arguments = copy.data();
    runPart(here, {current()->runContext, part.processor, part.number, part.step});
  }
  void read(int64_t rank, Elements to, Elements from, int64_t elements, int64_t bytes) override {
    ++copies[rank];
    for (int64_t i = 0; i < elements; ++i)
      std::memcpy(to.first + i * to.step, from.first + i * from.step, static_cast<size_t>(bytes));
  }
  void write(int64_t rank, Elements to, Elements from, int64_t elements, int64_t bytes) override {
    read(rank, to, from, elements, bytes);
  }
  void finish() override { ++finished; }
  void opened(const void*, const StrataLayout&, const char*) override { ++windows; }
  void openedData(const void*, int64_t, std::string_view, const char*) override { ++windows; }
  void closed(const void*) override { --windows; }
  void exchange(const RankExchange& move) override {
    ++exchanges;
    for (own_ = count_; own_-- > 0;) // each in turn
      exchangeOwn(move);
    own_ = 0;
  }
  WindowPlace homeOf(const void* address) override {
    return hasHome ? WindowPlace{&home_, static_cast<int64_t>(reinterpret_cast<intptr_t>(address)), nullptr}
                   : WindowPlace();
  }
  bool isOneComputer() const override { return true; }

  struct Sent {
    int64_t rank, number;
  };
  std::map<int64_t, Sent> sent;      // by instance
  std::map<int64_t, int64_t> copies; // by rank
  int64_t finished = 0, windows = 0, exchanges = 0;
  bool hasHome = true;

private:
  HomeMemory home_;
  const int64_t count_;
  int64_t own_ = 0;
  std::mutex lock_;
};

class OverRanks : public WithThreads {
protected:
  OverRanks() {
    processors_[Node].is_process = 1;
    strata_machine(&machine_);
  }
  ~OverRanks() override {
    setRanks(nullptr);
    strata_machine(nullptr);
  }
  AllHere& start(int64_t count) {
    all_ = std::make_unique<AllHere>(count);
    setRanks(all_.get());
    return *all_;
  }

  const StrataMemory memories_[3] = {memoryOf("home", 0, 1, 0, 64), memoryOf("memory", 1 << 16, 6, 1, 16),
                                     memoryOf("space", 0, 1, 0, 16)};
  StrataProcessor processors_[2] = {processorOf("front", 1, 0), processorOf("node", 6, 8)};
  const StrataMachine machine_ = machineOf("nodes", memories_, processors_, 3, 2);
  std::unique_ptr<AllHere> all_;
};
STRATA_WITH_THREADS(OverRanks);

TEST_P(OverRanks, EveryInstanceRunsOnceWhereItIs) {
  for (int64_t ranks = 2; ranks <= 6; ++ranks)
    for (int64_t instances : {1, 2, 3, 5, 6}) {
      AllHere& all = start(ranks);
      std::mutex lock;
      std::map<int64_t, int64_t> ran; // instance to the processor that it acted as
      struct Arguments {
        std::mutex* lock;
        std::map<int64_t, int64_t>* ran;
      } arguments{&lock, &ran};
      const StrataParts parts{Node, 0, 6, 0, 0, 0};
      strata_spmd(
          [](void* context, int64_t instance) {
            const Arguments& own = *static_cast<Arguments*>(context);
            const std::lock_guard guard(*own.lock);
            EXPECT_TRUE(own.ran->emplace(instance, strata_instance()).second) << instance << " ran twice";
          },
          &arguments, sizeof arguments, instances, &parts);
      ASSERT_EQ(static_cast<int64_t>(ran.size()), instances);
      for (const auto& [instance, processor] : ran) {
        EXPECT_EQ(processor, instance); // six parts of six processors
        const int64_t rank = processor * ranks / 6;
        const auto sent = all.sent.find(instance);
        EXPECT_EQ(sent == all.sent.end() ? 0 : sent->second.rank, rank) << ranks << " ranks";
        EXPECT_EQ(sent == all.sent.end() ? processor : sent->second.number, processor);
      }
    }
}

TEST_P(OverRanks, OtherRanksHaveTheirShares) {
  for (int64_t ranks : {2, 3, 6}) {
    AllHere& all = start(ranks);
    const int64_t extents[] = {12}, grid[] = {6}, sizes[] = {0};
    const StrataLayout layout{Space, Memory, 64, 4, 1, extents, grid, sizes, nullptr, nullptr, -1};
    auto* block = static_cast<char*>(strata_window_acquire_distributed(&layout, "a block"));
    EXPECT_EQ(all.windows, 1);
    std::vector<int32_t> content(12), back(12);
    for (int32_t i = 0; i < 12; ++i)
      content[static_cast<size_t>(i)] = 100 + i;
    const int64_t one = 1;
    strata_window_move(block, &one, content.data(), &one, extents, 1, 4);
    strata_window_move(back.data(), &one, block, &one, extents, 1, 4);
    EXPECT_EQ(back, content);
    // Two elements an instance: a copy for each instance of another rank, there and back.
    EXPECT_EQ(static_cast<int64_t>(all.copies.size()), ranks - 1);
    for (const auto& [rank, copies] : all.copies) {
      EXPECT_NE(rank, 0);
      EXPECT_EQ(copies, 2 * 6 / ranks);
    }
    EXPECT_EQ(all.finished, 2);
    strata_window_release(block);
    EXPECT_EQ(all.windows, 0);
  }
}

/// Numbers by their place, which every rank can make.
struct Numbers final : WindowBackend {
  void move(const WindowMove& move) override {
    if (move.intoWindow)
      return;
    for (int64_t i = 0, row = 0; i < move.extents[0]; ++i, row += move.extents[1])
      for (int64_t k = 0; k < move.extents[1]; ++k) {
        const auto number = static_cast<int32_t>(move.offset / 4 + i * move.windowStrides[0] + k);
        std::memcpy(move.memory + (i * move.memoryStrides[0] + k) * 4, &number, 4);
      }
  }
};

TEST_P(OverRanks, EveryRankMovesItsShareOfWhatAllReach) {
  for (int64_t ranks : {2, 3, 6}) {
    AllHere& all = start(ranks);
    const int64_t extents[] = {20}, grid[] = {6}, sizes[] = {3}, one = 1;
    const StrataLayout layout{Space, Memory, 64, 4, 1, extents, grid, sizes, nullptr, nullptr, -1};
    auto* block = static_cast<char*>(strata_window_acquire_distributed(&layout, "a block"));
    char* numbers = openEverywhere(80, std::make_unique<Numbers>(), "numbers", "numbers");
    EXPECT_EQ(all.windows, 2);
    strata_window_move(block, &one, numbers, &one, extents, 1, 4);
    EXPECT_EQ(all.exchanges, 1);
    EXPECT_TRUE(all.copies.empty()) << "nothing goes from rank to rank";
    std::vector<int32_t> back(20);
    strata_window_move(back.data(), &one, block, &one, extents, 1, 4);
    for (int32_t i = 0; i < 20; ++i)
      EXPECT_EQ(back[static_cast<size_t>(i)], i);
    strata_window_release(numbers);
    strata_window_release(block);
    EXPECT_EQ(all.windows, 0);
  }
}

TEST_P(OverRanks, EveryRankMovesItsShareOfLargeArrays) {
  const int64_t extents[] = {203, 301}, dense[] = {301, 1}, grid[] = {3, 2}, sizes[] = {0, 16};
  std::vector<int32_t> content(203 * 301);
  std::iota(content.begin(), content.end(), 7);
  for (int64_t ranks : {2, 3, 6})
    for (bool hasHome : {true, false}) {
      AllHere& all = start(ranks);
      all.hasHome = hasHome;
      const StrataLayout layout{Space, Memory, 64, 4, 2, extents, grid, sizes, nullptr, nullptr, -1};
      auto* block = static_cast<char*>(strata_window_acquire_distributed(&layout, "a block"));
      std::vector<int32_t> back(content.size()), turned(content.size());
      strata_window_move(block, dense, content.data(), dense, extents, 2, 4);
      strata_window_move(back.data(), dense, block, dense, extents, 2, 4);
      EXPECT_EQ(back, content);
      const int64_t columns[] = {1, 203};
      strata_window_move(turned.data(), columns, block, dense, extents, 2, 4);
      for (size_t i = 0; i < content.size(); ++i)
        ASSERT_EQ(turned[i % 301 * 203 + i / 301], content[i]);
      EXPECT_EQ(all.exchanges, hasHome ? 3 : 0);
      EXPECT_EQ(all.copies.empty(), hasHome);
      // A node that moves does it itself, and so does control what is small.
      const int64_t rows[] = {10, 301};
      strata_window_move(back.data(), dense, block, dense, rows, 2, 4);
      const StrataParts one{Node, 0, 0, 0, 0, 0};
      struct Given {
        int32_t* to;
        const char* block;
        const int64_t *strides, *extents;
      } const given{back.data(), block, dense, extents};
      strata_spmd(
          [](void* context, int64_t) {
            const auto& given = *static_cast<const Given*>(context);
            strata_window_move(given.to, given.strides, given.block, given.strides, given.extents, 2, 4);
          },
          &given, sizeof given, 1, &one);
      EXPECT_EQ(back, content);
      EXPECT_EQ(all.exchanges, hasHome ? 3 : 0);
      strata_window_release(block);
    }
}

TEST_P(OverRanks, WhatNeedsOneProcessIsRefused) {
  start(2);
  const auto run = [](uint32_t isConcurrent, uint32_t hasHandles) {
    const StrataParts parts{Node, isConcurrent, 0, 0, 0, hasHandles};
    strata_spmd([](void*, int64_t) {}, nullptr, 0, 2, &parts);
  };
  EXPECT_EXIT(run(1, 0), ::testing::ExitedWithCode(1), "'node' wait for each other.*runtime-ranks-apart");
  EXPECT_EXIT(run(0, 1), ::testing::ExitedWithCode(1), "'node' share streams, moves or blocks.*runtime-ranks-apart");
}

} // namespace
} // namespace strata::runtime::over_ranks
