// Memory of another process: pieces of every form come and go as they are, in any number.
#include "runtime/cluster/near_memory.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::cluster {
namespace {

constexpr size_t bytes = 1 << 16;

/// A process with memory at the addresses of this one's, whose content is its own: its pages are copies.
class Other {
public:
  Other() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    process_ = fork();
    if (process_ == 0) {
      close(ends[1]);
      NearMemory::permit();
      char byte = 0;
      while (read(ends[0], &byte, 1) != 0) // until it is let go
        ;
      _exit(0);
    }
    close(ends[0]);
    end_ = ends[1];
  }
  ~Other() {
    close(end_);
    waitpid(process_, nullptr, 0);
  }
  Other(const Other&) = delete;
  pid_t process() const { return process_; }

private:
  pid_t process_ = 0;
  int end_ = -1;
};

TEST(NearMemory, RandomPiecesComeAndGo) {
  std::vector<char> there(bytes), content(bytes), here(bytes);
  std::mt19937 random(3);
  const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  for (char& byte : there)
    byte = static_cast<char>(below(256));
  content = there;
  const Other other;
  std::fill(there.begin(), there.end(), 0); // this process's own
  NearMemory near(other.process());
  for (int round = 0; round < 300; ++round) {
    const int64_t size = 1 + below(9), elements = below(round % 10 == 0 ? 3000 : 40);
    const int64_t most = elements > 0 ? (static_cast<int64_t>(bytes) - size) / elements : 100;
    if (most < size)
      continue;
    const int64_t thereStep = size + below(most - size + 1), hereStep = below(2) != 0 ? size : thereStep;
    std::vector<char> expected = here;
    const bool isPut = below(2) != 0;
    if (isPut)
      for (char& byte : here)
        byte = static_cast<char>(below(256));
    for (int64_t i = 0; i < elements; ++i)
      if (isPut)
        std::memcpy(content.data() + i * thereStep, here.data() + i * hereStep, static_cast<size_t>(size));
      else
        std::memcpy(expected.data() + i * hereStep, content.data() + i * thereStep, static_cast<size_t>(size));
    const NearCopy copy{here.data(), hereStep, there.data(), thereStep, elements, size};
    isPut ? near.put(copy) : near.get(copy);
    near.flush();
    if (!isPut) {
      ASSERT_EQ(here, expected) << "round " << round;
    }
  }
  near.get({here.data(), 1, there.data(), 1, static_cast<int64_t>(bytes), 1});
  near.flush();
  EXPECT_EQ(here, content);
}

TEST(NearMemory, AWordSaysWhetherItIsReached) {
  const int64_t word = 4711;
  const Other other;
  EXPECT_TRUE(NearMemory(other.process()).reaches(&word, 4711));
  EXPECT_FALSE(NearMemory(other.process()).reaches(&word, 4712));
  EXPECT_FALSE(NearMemory(other.process()).reaches(nullptr, 0));
}

} // namespace
} // namespace strata::cluster
