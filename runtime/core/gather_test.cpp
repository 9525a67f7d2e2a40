// Gathers and scatters against loops written here, for every size of element and index, dense and strided.
#include "runtime/core/gather.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace {

constexpr StrataCheck outside{"index-out-of-range", "index {0}, number {1}, of {2}", nullptr, "p.mlir", 3, 5};

/// Rows of `width` elements with some bytes more between them; each element has its number in its bytes.
struct Rows {
  int64_t rows, width, pitch, step, bytes;
  std::vector<unsigned char> data;
  Rows(int64_t rows, int64_t width, int64_t step, int64_t bytes, unsigned seed)
      : rows(rows), width(width), pitch(width * step + 3), step(step), bytes(bytes),
        data(static_cast<size_t>((rows * pitch + 1) * bytes)) {
    for (size_t i = 0; i < data.size(); ++i)
      data[i] = static_cast<unsigned char>(i * 31 + seed);
  }
  unsigned char* at(int64_t row, int64_t column) { return data.data() + (row * pitch + column * step) * bytes; }
};

template <typename Index>
void compare(bool scatters, int64_t width, int64_t step, int64_t bytes, int32_t how) {
  const std::vector<int64_t> order{4, 0, 3, 3, 1, 0};
  const auto count = static_cast<int64_t>(order.size());
  std::vector<Index> indices(order.size() * 2, Index(99)); // every second one
  for (size_t k = 0; k < order.size(); ++k)
    indices[2 * k] = static_cast<Index>(order[k]);
  Rows from(scatters ? count : 5, width, 1, bytes, 1), to(scatters ? 5 : count, width, step, bytes, 7), expected = to;
  for (int64_t k = 0; k < count; ++k)
    for (int64_t column = 0; column < width; ++column)
      std::memcpy(expected.at(scatters ? order[static_cast<size_t>(k)] : k, column),
                  from.at(scatters ? k : order[static_cast<size_t>(k)], column), static_cast<size_t>(bytes));
  const int64_t in[] = {from.pitch, from.step}, out[] = {to.pitch, to.step}, extents[] = {count, width};
  strata_gather(nullptr, &outside, to.data.data(), out, from.data.data(), in, extents, 2, bytes, indices.data(), 2,
                sizeof(Index), 5, how | (scatters ? strata_scatters : 0));
  EXPECT_EQ(to.data, expected.data) << width << " elements of " << bytes << " bytes, " << step << " apart";
}

TEST(Gather, CopiesTheRowsThatIndicesName) {
  for (bool scatters : {false, true})
    for (int32_t how : {0, static_cast<int32_t>(strata_gathers_windows)})
      for (int64_t bytes : {1, 2, 4, 8, 16, 24})
        for (int64_t width : {0, 1, 2, 7})
          for (int64_t step : {1, 2}) {
            compare<int32_t>(scatters, width, step, bytes, how);
            compare<int64_t>(scatters, width, step, bytes, how);
          }
}

TEST(Gather, ReadsIndicesOfWindowsSomeAtATime) {
  constexpr int64_t count = 3000;
  std::vector<float> from(count), to(count);
  std::vector<int32_t> indices(count);
  for (int64_t k = 0; k < count; ++k) {
    from[static_cast<size_t>(k)] = static_cast<float>(k);
    indices[static_cast<size_t>(k)] = static_cast<int32_t>(count - 1 - k);
  }
  const int64_t one = 1;
  strata_gather(nullptr, &outside, to.data(), &one, from.data(), &one, &count, 1, 4, indices.data(), 1, 4, count,
                strata_gathers_windows);
  for (int64_t k = 0; k < count; ++k)
    ASSERT_EQ(to[static_cast<size_t>(k)], static_cast<float>(count - 1 - k));
}

TEST(GatherDeathTest, AnIndexOutOfRangeEndsTheRun) {
  for (int32_t how : {0, static_cast<int32_t>(strata_gathers_windows)})
    for (int64_t index : {int64_t{-1}, int64_t{4}, int64_t{1} << 40}) {
      std::vector<float> data(8);
      const int64_t indices[] = {3, index}, one = 1, count = 2;
      EXPECT_EXIT(strata_gather(nullptr, &outside, data.data() + 4, &one, data.data(), &one, &count, 1, 4, indices, 1,
                                8, 4, how),
                  ::testing::ExitedWithCode(1), "index " + std::to_string(index) + ", number 1, of 4");
    }
}

} // namespace
