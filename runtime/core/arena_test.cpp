// Scratch memory: order, alignment, reuse, and requests that no computer can meet.
#include "runtime/core/arena.h"

#include "runtime/core/system_memory.h"
#include "runtime/core/testing.h"

#include <cstring>
#include <random>
#include <sys/mman.h>

namespace strata::runtime {
namespace {

using Arenas = WithThreads;
STRATA_WITH_THREADS(Arenas);

TEST(Arena, BlocksAreAlignedAndApart) {
  std::mt19937 random(1);
  std::vector<std::pair<char*, int64_t>> blocks;
  for (int i = 0; i < 200; ++i) {
    const auto bytes = static_cast<int64_t>(random() % (i % 50 == 0 ? 3000000 : 5000));
    char* block = static_cast<char*>(strata_acquire(bytes, "block"));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(block) % 64, 0u);
    std::memset(block, i, static_cast<size_t>(bytes));
    blocks.push_back({block, bytes});
  }
  for (int i = 199; i >= 0; --i) {
    for (int64_t k = 0; k < blocks[i].second; ++k)
      ASSERT_EQ(blocks[i].first[k], static_cast<char>(i));
    strata_release(blocks[i].first);
  }
}

TEST(Arena, ScratchIsReusedAndNotMappedAgain) {
  const auto once = [] {
    void* large = strata_acquire(100 << 20, "large");
    void* small = strata_acquire(1000, "small");
    void* middle = strata_acquire(600000, "middle");
    strata_release(middle);
    strata_release(small);
    strata_release(large);
  };
  once();
  const uint64_t mapped = arenaBytesMapped();
  for (int i = 0; i < 1000; ++i)
    once();
  EXPECT_EQ(arenaBytesMapped(), mapped);
}

TEST_P(Arenas, FibresHaveTheirOwnAndReuseTheirMemory) {
  const auto once = [] {
    spmd(200, true, [](int64_t i) {
      auto* block = static_cast<int64_t*>(strata_acquire(8000, "part"));
      std::fill(block, block + 1000, i);
      strata_barrier();
      for (int k = 0; k < 1000; ++k)
        ASSERT_EQ(block[k], i);
      strata_release(block);
    });
  };
  once();
  const uint64_t mapped = arenaBytesMapped();
  once();
  EXPECT_LE(arenaBytesMapped(), mapped + mapped / 4) << "all but those that a thread keeps to itself are reused";
}

TEST(Arena, AbsurdRequestsAreRefused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(strata_acquire(int64_t(1) << 46, "the block 'a' of task 'mm'"), ::testing::ExitedWithCode(1),
              "no memory for the block 'a' of task 'mm', which takes 70368744177664 bytes; [0-9]+ are available "
              "\\[runtime-out-of-memory\\]");
  EXPECT_EXIT(strata_acquire(INT64_MAX, "a"), ::testing::ExitedWithCode(1), "runtime-out-of-memory");
  EXPECT_EXIT(strata_acquire(-1, "a"), ::testing::ExitedWithCode(1), "runtime-out-of-memory");
}

/// A computer on which nothing is left.
class NoMemory final : public SystemMemory {
public:
  void* map(size_t) override { return nullptr; }
  void* reserve(size_t) override { return nullptr; }
  bool commit(void*, size_t) override { return false; }
  void unmap(void*, size_t) override {}
  void preferLargePages(void*, size_t) override {}
  uint64_t available() override { return 12345; }
  uint64_t total() override { return 1 << 30; }
};

TEST(Arena, AComputerWithoutMemoryIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static NoMemory none;
        trimArenas();
        setSystemMemory(&none);
        strata_acquire(1 << 20, "the block 'b'");
      },
      ::testing::ExitedWithCode(1), "no memory for the block 'b', which takes 1048576 bytes; 12345 are available");
}

TEST(Arena, ReleaseOutOfOrderIsReported) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        void* first = strata_acquire(10, "first");
        strata_acquire(10, "second");
        strata_release(first);
      },
      ::testing::ExitedWithCode(1), "runtime-release-order");
}

#ifdef STRATA_ADDRESS_SANITIZER
TEST(Arena, AnOverrunIsCaught) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        volatile char* block = static_cast<char*>(strata_acquire(100, "block"));
        block[100] = 1;
      },
      "use-after-poison");
}
#endif

} // namespace
} // namespace strata::runtime
