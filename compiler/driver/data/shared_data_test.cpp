// Data that several processes reach by themselves: what is generated piece by piece is what is generated at once, and
// files that others do not find, or find shorter, are told.
#include "compiler/driver/data/shared_data.h"

#include "base/data/npy.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace strata::driver {
namespace {

std::unique_ptr<runtime::WindowBackend> open(const std::string& description) {
  std::string error;
  auto backend = openShared(description, error);
  EXPECT_TRUE(backend) << error;
  return backend;
}

TEST(SharedData, GeneratedPiecesAreThoseOfTheWhole) {
  std::mt19937 random(11);
  const auto below = [&](int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random); };
  const ElementType pair =
      ElementType::structure({{"re", 0, ElementType::floating(4), {}}, {"n", 4, ElementType::signedInteger(4), {}}}, 8);
  SourceManager sources;
  DiagnosticEngine said(sources);
  for (const ElementType& type :
       {ElementType::floating(8), ElementType::signedInteger(2), ElementType::boolean(), pair})
    for (const char* text : {"random:7", "random:3:0:1", "iota", "zeros", "1"}) {
      auto spec = parseInputSpec(text, "A", said, {});
      ASSERT_TRUE(spec);
      constexpr int64_t rows = 37, columns = 53;
      auto whole = Array::create(type, {rows, columns}, "A", said, {});
      ASSERT_TRUE(whole);
      if (!generate(*whole, *spec, said, {}))
        continue; // an empty range
      auto backend = open(describe(type, *spec));
      const auto bytes = static_cast<int64_t>(type.bytes);
      for (int round = 0; round < 50; ++round) {
        const int64_t row = below(rows), column = below(columns), height = 1 + below(rows - row),
                      width = 1 + below(columns - column), gap = below(3);
        // By words where elements have some.
        const int64_t word = bytes == 8 && type == pair ? 4 : bytes, words = bytes / word;
        const int64_t extents[] = {height, width, words}, inWindow[] = {columns * words, words, 1},
                      inMemory[] = {(width + gap) * words, words, 1};
        std::vector<char> memory(static_cast<size_t>((width + gap) * height * bytes), 77);
        std::vector<char> expected = memory;
        for (int64_t i = 0; i < height; ++i)
          std::memcpy(expected.data() + i * (width + gap) * bytes,
                      whole->data() + ((row + i) * columns + column) * bytes, static_cast<size_t>(width * bytes));
        backend->move({false, memory.data(), inMemory, (row * columns + column) * bytes, inWindow, extents, 3, word});
        ASSERT_EQ(memory, expected) << text;
        backend->move({true, memory.data(), inMemory, 0, inWindow, extents, 3, word}); // is forgotten
      }
    }
}

TEST(SharedData, FilesThatAreNotThereOrShorterAreTold) {
  const std::string path = ::testing::TempDir() + "strata_shared_" + std::to_string(getpid());
  std::string error;
  EXPECT_FALSE(openShared(describe(SharedFile{path, 0, 8, false, false, "'a.npy'"}), error));
  EXPECT_EQ(error, "'a.npy': No such file or directory");
  std::ofstream(path) << "0123456789";
  EXPECT_FALSE(openShared(describe(SharedFile{path, 4, 8, false, false, "'a.npy'"}), error));
  EXPECT_EQ(error, "'a.npy' has 10 bytes there, and 12 in process 0");
  std::filesystem::remove(path);
}

} // namespace
} // namespace strata::driver
