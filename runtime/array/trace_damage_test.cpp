// Damaged traces: each is one error that says something, or a trace all the same, whatever has happened to the bytes.
#include "runtime/array/by_day_testing.h"
#include "runtime/array/trace_testing.h"

#include <gtest/gtest.h>

#include <random>

namespace strata::array::test {
namespace {

/// Gives whether it was read.
bool survives(const std::string& bytes) {
  size_t events = 0;
  const std::string problem = readAll(bytes, events);
  EXPECT_LE(events, bytes.size());
  if (!problem.empty()) {
    EXPECT_EQ(problem.find("byte "), 0u) << problem;
  }
  return problem.empty();
}

TEST(DamagedTraces, AreSoundWithoutDamage) {
  EXPECT_TRUE(survives(traceSample()));
  EXPECT_EQ(withChecksums(traceSample()), traceSample());
}

TEST(DamagedTraces, EveryBitOfEveryByte) {
  const std::string sound = traceSample();
  size_t read = 0;
  for (size_t i = 0; i < sound.size(); ++i)
    for (const size_t bit : inTurn(8, i)) {
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ 1 << bit);
      EXPECT_FALSE(survives(damaged)) << "byte " << i << " bit " << bit;
      read += survives(withChecksums(damaged)) ? 1 : 0;
    }
  EXPECT_GT(read, byDay(12, 100)); // what is not found out is a trace all the same
}

TEST(DamagedTraces, BytesAtTheirEnds) {
  const std::string sound = traceSample();
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    for (const size_t way : inTurn(4, i)) {
      damaged[i] = "\0\xFF\x7F\x80"[way];
      survives(withChecksums(damaged));
    }
  }
}

TEST(DamagedTraces, TruncatedAnywhere) {
  const std::string sound = traceSample();
  for (size_t size = 0; size < sound.size(); ++size) {
    EXPECT_FALSE(survives(sound.substr(0, size))) << size;
    EXPECT_FALSE(survives(withChecksums(sound.substr(0, size)))) << size;
  }
  EXPECT_FALSE(survives(sound + '\0'));
  EXPECT_FALSE(survives(sound + sound.substr(trace::headBytes)));
}

TEST(DamagedTraces, Garbage) {
  std::mt19937_64 random(1);
  const std::string sound = traceSample();
  for (int i = 0; i < 3000; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(random());
    survives(bytes);
    std::string mixed = sound;
    for (size_t n = random() % 6 + 1; n > 0; --n)
      mixed.replace(random() % mixed.size(), random() % 20, sound.substr(random() % sound.size(), random() % 20));
    survives(withChecksums(mixed));
    survives(withChecksums(sound.substr(0, random() % sound.size()) + bytes));
  }
}

/// A number that says that there is much is not believed.
TEST(DamagedTraces, ListsAreNotLongerThanTheirBytes) {
  std::string bytes(trace::magic, sizeof trace::magic);
  bytes += static_cast<char>(trace::version);
  std::string payload;
  trace::Writer writer(payload);
  writer.text("m");
  for (int i = 0; i < 3; ++i)
    writer.natural(8);
  writer.natural(uint64_t{1} << 60);
  bytes += static_cast<char>(trace::Kind::Array);
  for (unsigned i = 0; i < 4; ++i)
    bytes += static_cast<char>(payload.size() >> (8 * i) & 0xFF);
  bytes += payload + "crc?";
  const auto opened = TraceReader::open(withChecksums(bytes));
  ASSERT_TRUE(std::holds_alternative<FileError>(opened));
}

} // namespace
} // namespace strata::array::test
