// Blocks distributed over instances: every element comes back from where it was put, lies where the layout says, and
// touches no other; and the bytes that stay with the mover are told from those that do not.
#include "runtime/core/runtime.h"
#include "runtime/core/testing.h"
#include "runtime/core/window.h"
#include "runtime/host/machine.h"

#include <atomic>
#include <cstring>
#include <numeric>
#include <random>

namespace strata::runtime::distributed {
namespace {

using Distributed = WithThreads;
STRATA_WITH_THREADS(Distributed);

enum : uint32_t { Main, Local, All, Halves };
enum : uint32_t { Control, Pe };
const StrataMemory memories[] = {memoryOf("main", 0, 1, 0, 64), memoryOf("local", 1 << 16, 8, 1, 16),
                                 memoryOf("all", 0, 1, 0, 16), memoryOf("halves", 0, 2, 0, 16)};
const StrataProcessor processors[] = {processorOf("control", 1, 0), processorOf("pe", 8, 16)};
const StrataMachine machine = machineOf("tiles", memories, processors, 4, 2);

int64_t product(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t(1), std::multiplies<>());
}

std::vector<int64_t> dense(const std::vector<int64_t>& extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;)
    strides[d - 1] = strides[d] * extents[d];
  return strides;
}

struct Block {
  std::vector<int64_t> extents, grid, sizes;
  int64_t elementBytes = 4;
  char* first = nullptr;
  int64_t stack = -1;

  void acquire(uint32_t over = All, const char* within = nullptr, const char* across = nullptr) {
    StrataLayout layout{over,           Local,       256,          elementBytes, static_cast<int32_t>(extents.size()),
                        extents.data(), grid.data(), sizes.data(), within,       across,
                        stack};
    first = static_cast<char*>(strata_window_acquire_distributed(&layout, "a block"));
  }
  void move(bool into, void* memory, const std::vector<int64_t>& starts, const std::vector<int64_t>& counts,
            const std::vector<int64_t>& steps) const {
    std::vector<int64_t> strides = dense(extents), packed = dense(counts);
    int64_t offset = 0;
    for (size_t d = 0; d < extents.size(); ++d) {
      offset += starts[d] * strides[d];
      strides[d] *= steps[d];
    }
    char* at = first + offset * elementBytes;
    auto rank = static_cast<int32_t>(extents.size());
    if (into)
      strata_window_move(at, strides.data(), memory, packed.data(), counts.data(), rank, elementBytes);
    else
      strata_window_move(memory, packed.data(), at, strides.data(), counts.data(), rank, elementBytes);
  }
};

TEST_P(Distributed, RandomBlocksComeBack) {
  strata_machine(&machine);
  std::mt19937 random(3);
  const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  for (int round = 0; round < 400; ++round) {
    Block block;
    block.elementBytes = std::vector<int64_t>{1, 4, 8, 12}[static_cast<size_t>(below(4))];
    const auto rank = static_cast<size_t>(below(4));
    int64_t used = 1;
    for (size_t d = 0; d < rank; ++d) {
      block.extents.push_back(1 + below(9));
      block.grid.push_back(1 + below(8 / used));
      used *= block.grid.back();
      block.sizes.push_back(below(5));
    }
    block.acquire();
    const auto bytes = static_cast<size_t>(product(block.extents) * block.elementBytes);
    std::vector<char> content(bytes), back(bytes);
    for (char& byte : content)
      byte = static_cast<char>(below(256));
    const std::vector<int64_t> zeros(rank, 0), ones(rank, 1);
    block.move(true, content.data(), zeros, block.extents, ones);
    // A part with strides is changed, and everything else stays.
    std::vector<int64_t> starts, counts, steps;
    for (int64_t extent : block.extents) {
      starts.push_back(below(extent));
      steps.push_back(1 + below(3));
      counts.push_back(1 + below((extent - starts.back() + steps.back() - 1) / steps.back()));
    }
    std::vector<char> part(static_cast<size_t>(product(counts) * block.elementBytes));
    for (char& byte : part)
      byte = static_cast<char>(below(256));
    block.move(true, part.data(), starts, counts, steps);
    const std::vector<int64_t> strides = dense(block.extents);
    for (int64_t i = 0; i < product(counts); ++i) {
      int64_t rest = i, to = 0;
      for (size_t d = rank; d-- > 0; rest /= counts[d])
        to += (starts[d] + rest % counts[d] * steps[d]) * strides[d];
      std::memcpy(content.data() + to * block.elementBytes, part.data() + i * block.elementBytes,
                  static_cast<size_t>(block.elementBytes));
    }
    block.move(false, back.data(), zeros, block.extents, ones);
    ASSERT_EQ(back, content) << "round " << round;
    std::vector<char> again(part.size());
    block.move(false, again.data(), starts, counts, steps);
    ASSERT_EQ(again, part) << "round " << round;
    strata_window_release(block.first);
  }
}

/// Elements in memory, moved one by one.
struct Kept final : WindowBackend {
  explicit Kept(std::vector<char>& bytes) : bytes(bytes) {}
  void move(const WindowMove& move) override {
    ++moves;
    const std::vector<int64_t> extents(move.extents, move.extents + move.rank);
    for (int64_t i = 0; i < product(extents); ++i) {
      int64_t rest = i, there = move.offset, here = 0;
      for (auto d = static_cast<size_t>(move.rank); d-- > 0; rest /= extents[d]) {
        there += rest % extents[d] * move.windowStrides[d] * move.elementBytes;
        here += rest % extents[d] * move.memoryStrides[d] * move.elementBytes;
      }
      char* inWindow = &bytes.at(static_cast<size_t>(there));
      const auto count = static_cast<size_t>(move.elementBytes);
      std::memcpy(move.intoWindow ? inWindow : move.memory + here, move.intoWindow ? move.memory + here : inWindow,
                  count);
    }
  }
  std::vector<char>& bytes;
  int64_t moves = 0;
};

// Against a move by way of memory, one element at a time.
TEST_P(Distributed, ElementsGoToAndComeFromOtherWindows) {
  strata_machine(&machine);
  std::mt19937 random(5);
  const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  int64_t exchanged = 0;
  for (int round = 0; round < 600; ++round) {
    Block block;
    block.elementBytes = std::vector<int64_t>{1, 4, 8, 12}[static_cast<size_t>(below(4))];
    const auto rank = static_cast<size_t>(below(4));
    int64_t used = 1;
    for (size_t d = 0; d < rank; ++d) {
      block.extents.push_back(1 + below(20));
      block.grid.push_back(1 + below(8 / used));
      used *= block.grid.back();
      block.sizes.push_back(below(5));
    }
    block.acquire(All, "stay", "leave");
    // The other window has room around the elements, and any order of dimensions.
    std::vector<int64_t> starts, counts, order(rank), outer(rank);
    for (int64_t extent : block.extents) {
      const bool isWhole = below(2) != 0;
      starts.push_back(isWhole ? 0 : below(extent));
      counts.push_back(isWhole ? extent : 1 + below(extent - starts.back()));
    }
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    int64_t room = 1;
    for (const int64_t d : order) {
      outer[static_cast<size_t>(d)] = room;
      room *= counts[static_cast<size_t>(d)] + below(3);
    }
    const int64_t first = below(4);
    std::vector<char> kept(static_cast<size_t>((first + room) * block.elementBytes));
    std::vector<char> content(static_cast<size_t>(product(block.extents) * block.elementBytes)), back(content.size());
    for (std::vector<char>* bytes : {&kept, &content})
      for (char& byte : *bytes)
        byte = static_cast<char>(below(256));
    auto backend = std::make_unique<Kept>(kept);
    const Kept& other = *backend;
    char* const window = openWindow(static_cast<int64_t>(kept.size()), std::move(backend), "others");
    const std::vector<int64_t> zeros(rank, 0), ones(rank, 1);
    block.move(true, content.data(), zeros, block.extents, ones);
    resetCounters();
    const std::vector<int64_t> strides = dense(block.extents);
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d)
      offset += starts[d] * strides[d] * block.elementBytes;
    const bool isInto = below(2) != 0;
    char *const in = block.first + offset, *const out = window + first * block.elementBytes;
    strata_window_move(isInto ? in : out, (isInto ? strides : outer).data(), isInto ? out : in,
                       (isInto ? outer : strides).data(), counts.data(), static_cast<int32_t>(rank),
                       block.elementBytes);
    EXPECT_EQ(counters()["leave"], product(counts) * block.elementBytes);
    exchanged += other.moves > 1;
    std::vector<char> expected = isInto ? content : kept;
    for (int64_t i = 0; i < product(counts); ++i) {
      int64_t rest = i, here = offset, there = first * block.elementBytes;
      for (size_t d = rank; d-- > 0; rest /= counts[d]) {
        here += rest % counts[d] * strides[d] * block.elementBytes;
        there += rest % counts[d] * outer[d] * block.elementBytes;
      }
      const char* from = isInto ? kept.data() + there : content.data() + here;
      std::copy_n(from, block.elementBytes, expected.data() + (isInto ? here : there));
    }
    block.move(false, back.data(), zeros, block.extents, ones);
    ASSERT_EQ(back, isInto ? expected : content) << "round " << round;
    ASSERT_EQ(kept, isInto ? kept : expected) << "round " << round;
    strata_window_release(window);
    strata_window_release(block.first);
  }
  EXPECT_GT(exchanged, 100) << "share by share";
}

TEST_P(Distributed, ElementsLieWhereTheLayoutSays) {
  strata_machine(&machine);
  Block block{{20}, {3}, {2}};
  block.acquire();
  std::vector<int32_t> content(20);
  std::iota(content.begin(), content.end(), 0);
  block.move(true, content.data(), {0}, {20}, {1});
  std::vector<char*> stores(8);
  spmd(8, false, [&](int64_t i) { stores[static_cast<size_t>(i)] = static_cast<char*>(strata_store(Local)); }, Pe);
  for (int32_t i = 0; i < 20; ++i) {
    int32_t found = 0;
    std::memcpy(&found, stores[static_cast<size_t>(i / 2 % 3)] + 256 + (i / 6 * 2 + i % 2) * 4, 4);
    EXPECT_EQ(found, i);
  }
  strata_window_release(block.first);
}

TEST_P(Distributed, OnStacksOneLiesBehindTheOther) {
  strata_machine(&machine);
  Block outer{{24}, {8}, {0}}, inner{{20}, {8}, {0}};
  outer.stack = inner.stack = 512;
  std::vector<int32_t> first(24, 7), second(20, 9), back(24);
  for (int round = 0; round < 2; ++round) {
    outer.acquire();
    outer.move(true, first.data(), {0}, {24}, {1});
    inner.acquire();
    inner.move(true, second.data(), {0}, {20}, {1});
    const char* store = static_cast<char*>(strata_store(Local));
    EXPECT_EQ(reinterpret_cast<const int32_t*>(store + 512)[0], 7);
    EXPECT_EQ(reinterpret_cast<const int32_t*>(store + 528)[0], 9);
    outer.move(false, back.data(), {0}, {24}, {1});
    EXPECT_EQ(back, first);
    strata_window_release(inner.first);
    strata_window_release(outer.first);
  }
  Block large{{1 << 17}, {8}, {0}};
  large.stack = 512;
  EXPECT_EXIT(large.acquire(), ::testing::ExitedWithCode(1),
              "'a block' of a task that calls itself.*runtime-store-full");
}

TEST_P(Distributed, EachInstanceOfAVirtualMemoryHasItsOwnPart) {
  strata_machine(&machine);
  std::vector<char*> stores(8);
  spmd(8, false, [&](int64_t i) { stores[static_cast<size_t>(i)] = static_cast<char*>(strata_store(Local)); }, Pe);
  const StrataParts parts{Pe, 0, 2, 0, 0, 0};
  strata_spmd(
      [](void* context, int64_t half) {
        auto& all = *static_cast<std::vector<char*>*>(context);
        Block block{{4}, {4}, {0}};
        block.acquire(Halves);
        std::vector<int32_t> content{1, 2, 3, 4};
        block.move(true, content.data(), {0}, {4}, {1});
        for (int32_t i = 0; i < 4; ++i) {
          int32_t found = 0;
          std::memcpy(&found, all[static_cast<size_t>(half * 4 + i)] + 256, 4);
          EXPECT_EQ(found, i + 1);
        }
        strata_window_release(block.first);
      },
      &stores, sizeof stores, 2, &parts);
}

TEST_P(Distributed, BytesThatStayAreToldFromThoseThatDoNot) {
  strata_machine(&machine);
  resetCounters();
  Block block{{16, 3}, {8, 1}, {0, 0}};
  block.acquire(All, "stay", "leave");
  std::vector<int32_t> content(48);
  block.move(true, content.data(), {0, 0}, {16, 3}, {1, 1}); // by nobody's processor
  EXPECT_EQ(counters()["leave"], 192);
  spmd(
      8, false,
      [&](int64_t i) {
        std::vector<int32_t> rows(12);
        block.move(false, rows.data(), {2 * i, 0}, {i == 7 ? 2 : 3, 3}, {1, 1}); // two of its own, one of the next
      },
      Pe);
  EXPECT_EQ(counters()["stay"], 8 * 24);
  EXPECT_EQ(counters()["leave"], 192 + 7 * 12);
  strata_window_release(block.first);
}

/// Asks for a random part of the block as each instance in turn: where it is, if this instance has all of it.
void askForParts(const Block& block, const std::vector<int32_t>& content, uint32_t seed, std::atomic<int64_t>& found) {
  const size_t rank = block.extents.size();
  spmd(
      8, false,
      [&](int64_t i) {
        std::mt19937 random(seed * 8 + static_cast<uint32_t>(i));
        const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
        const std::vector<int64_t> strides = dense(block.extents);
        std::vector<int64_t> starts, counts, there(rank, 0);
        int64_t offset = 0;
        for (size_t d = 0; d < rank; ++d) {
          starts.push_back(below(block.extents[d]));
          counts.push_back(1 + below(std::min<int64_t>(block.extents[d] - starts.back(), 4)));
          offset += starts[d] * strides[d];
        }
        auto* const part = reinterpret_cast<int32_t*>(block.first) + offset;
        auto* const place = static_cast<int32_t*>(strata_window_in_place(
            part, strides.data(), counts.data(), static_cast<int32_t>(rank), sizeof(int32_t), there.data()));
        std::vector<int32_t> copy(static_cast<size_t>(product(counts)));
        block.move(false, copy.data(), starts, counts, std::vector<int64_t>(rank, 1));
        if (!place)
          return;
        ++found;
        const char* const store = static_cast<char*>(strata_store(Local));
        for (int64_t n = 0; n < product(counts); ++n) {
          int64_t rest = n, from = 0, to = 0;
          for (size_t d = rank; d-- > 0; rest /= counts[d]) {
            from += (starts[d] + rest % counts[d]) * strides[d];
            to += rest % counts[d] * there[d];
          }
          EXPECT_EQ(place[to], content[static_cast<size_t>(from)]);
          EXPECT_EQ(place[to], copy[static_cast<size_t>(n)]);
          const auto distance = reinterpret_cast<const char*>(place + to) - store;
          EXPECT_TRUE(distance >= 256 && distance < 1 << 16);
        }
      },
      Pe);
}

TEST_P(Distributed, PartsAreFoundWhereTheyAre) {
  strata_machine(&machine);
  std::mt19937 random(5);
  const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  std::atomic<int64_t> found{0};
  for (uint32_t round = 0; round < 300; ++round) {
    Block block;
    int64_t used = 1;
    for (int64_t d = below(4); d >= 0; --d) {
      block.extents.push_back(1 + below(9));
      block.grid.push_back(1 + below(8 / used));
      used *= block.grid.back();
      block.sizes.push_back(below(5));
    }
    block.acquire();
    std::vector<int32_t> content(static_cast<size_t>(product(block.extents))), back(content.size());
    std::iota(content.begin(), content.end(), static_cast<int32_t>(round));
    const std::vector<int64_t> zeros(block.extents.size(), 0), ones(block.extents.size(), 1);
    block.move(true, content.data(), zeros, block.extents, ones);
    askForParts(block, content, round, found);
    block.move(false, back.data(), zeros, block.extents, ones);
    ASSERT_EQ(back, content);
    strata_window_release(block.first);
  }
  EXPECT_GT(found, 200);
}

TEST_P(Distributed, PartsOfSeveralAreNowhere) {
  strata_machine(&machine);
  Block block{{16, 3}, {8, 1}, {0, 0}};
  block.acquire();
  const int64_t strides[] = {3, 1}, everySecond[] = {3, 2};
  const auto isFound = [&](int64_t row, const int64_t* steps, int64_t rows, int64_t columns) {
    const int64_t counts[] = {rows, columns};
    int64_t there[2];
    return strata_window_in_place(block.first + row * 12, steps, counts, 2, 4, there) != nullptr;
  };
  EXPECT_FALSE(isFound(0, strides, 2, 3)); // nobody's processor asks
  spmd(
      8, false,
      [&](int64_t i) {
        EXPECT_TRUE(isFound(2 * i, strides, 2, 3));
        EXPECT_TRUE(isFound(2 * i + 1, strides, 1, 2));
        EXPECT_FALSE(isFound((2 * i + 2) % 16, strides, 2, 3));   // the next one's
        EXPECT_FALSE(i < 7 && isFound(2 * i + 1, strides, 2, 3)); // of both
        EXPECT_FALSE(isFound(2 * i, everySecond, 2, 2));          // with steps
        EXPECT_FALSE(isFound(2 * i, strides, 0, 3));
      },
      Pe);
  const std::vector<int32_t> elsewhere(6);
  const int64_t counts[] = {2, 3};
  int64_t there[2];
  EXPECT_EQ(strata_window_in_place(const_cast<int32_t*>(elsewhere.data()), strides, counts, 2, 4, there), nullptr);
  strata_window_release(block.first);
}

void distributeToNothing() {
  strata_machine(&machine);
  StrataLayout layout{All, Main, 0, 4, 0, nullptr, nullptr, nullptr, nullptr, nullptr, -1};
  strata_window_acquire_distributed(&layout, "a block");
}

TEST_P(Distributed, WithoutStoresThereIsNothingToDistributeTo) {
  EXPECT_EXIT(distributeToNothing(), ::testing::ExitedWithCode(1), "runtime-no-store");
}

} // namespace
} // namespace strata::runtime::distributed
