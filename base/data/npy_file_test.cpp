// Open .npy files read in pieces, and outputs that are filled in place.
#include "base/data/npy_file.h"

#include "base/data/data_testing.h"
#include "base/data/generate.h"

#include <fcntl.h>

namespace strata {
namespace {

using NpyFileTest = DataTest;

TEST_F(NpyFileTest, PiecesAreThoseOfTheWhole) {
  const std::string file = write("a.npy", npy("{'descr': '>i4', 'fortran_order': False, 'shape': (2, 3)}",
                                              std::string("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6", 24)));
  auto open = NpyFile::open(file, diagnostics_, {});
  ASSERT_TRUE(open);
  EXPECT_TRUE(open->isRegular());
  EXPECT_EQ(open->shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(open->header().bigEndian);
  EXPECT_EQ(values<int32_t>(*open->piece(2, 3, diagnostics_, {})), (std::vector<int32_t>{3, 4, 5}));
  EXPECT_EQ(values<int32_t>(*open->piece(6, 0, diagnostics_, {})), (std::vector<int32_t>{}));
  EXPECT_EQ(values<int32_t>(*open->read(diagnostics_, {})), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NpyFileTest, AFileCutMeanwhileIsNamed) {
  const std::string file =
      write("a.npy", npy("{'descr': '<i4', 'fortran_order': False, 'shape': (4,)}", raw<int32_t>({1, 2, 3, 4})));
  auto open = NpyFile::open(file, diagnostics_, {});
  ASSERT_TRUE(open);
  std::filesystem::resize_file(file, open->at() + 8);
  EXPECT_TRUE(open->piece(0, 2, diagnostics_, {}));
  EXPECT_FALSE(open->piece(0, 4, diagnostics_, {}));
  EXPECT_EQ(code(), "data-npy-changed");
}

TEST_F(NpyFileTest, OutputsAppearWhenTheyAreFinished) {
  {
    auto output = NpyOutput::create(path("c.npy"), ElementType::floating(4), {2}, false, diagnostics_, {});
    ASSERT_TRUE(output);
    const float value = 2.5f;
    ASSERT_EQ(::pwrite(output->file(), &value, 4, static_cast<off_t>(output->at() + 4)), 4);
    EXPECT_FALSE(std::filesystem::exists(path("c.npy")));
    ASSERT_TRUE(output->commit(diagnostics_, {}));
  }
  EXPECT_EQ(values<float>(*readNpy(path("c.npy"), diagnostics_, {})), (std::vector<float>{0, 2.5f}));
  {
    auto again = NpyOutput::create(path("c.npy"), ElementType::floating(4), {7}, false, diagnostics_, {});
    ASSERT_TRUE(again);
  }
  EXPECT_EQ(readNpy(path("c.npy"), diagnostics_, {})->shape(), (std::vector<int64_t>{2}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
  EXPECT_FALSE(NpyOutput::create("/dev/null", ElementType::floating(4), {7}, false, diagnostics_, {}));
  EXPECT_EQ(code(), "data-cannot-write");
  EXPECT_TRUE(isSpecialFile("/dev/null"));
  EXPECT_FALSE(isSpecialFile(path("c.npy")));
}

TEST_F(NpyFileTest, PiecesOfGeneratedArraysAreThoseOfTheWhole) {
  for (const char* text : {"random:7", "random:7:-2:3", "iota", "2"}) {
    const auto spec = parseInputSpec(text, "A", diagnostics_, {});
    auto whole = Array::create(floatPair(), {50}, "whole", diagnostics_, {});
    ASSERT_TRUE(generate(*whole, *spec, diagnostics_, {}));
    auto piece = Array::create(floatPair(), {20}, "piece", diagnostics_, {});
    ASSERT_TRUE(generate(*piece, *spec, diagnostics_, {}, 13));
    EXPECT_EQ(std::memcmp(piece->data(), whole->data() + 13 * 8, piece->bytes()), 0) << text;
  }
}

} // namespace
} // namespace strata
