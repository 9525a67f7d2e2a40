// Tiles and starts of two programs, right ones and ones with one number changed; and that the starts that are made are
// right for random arrivals is in starts_test.cpp.
#include "runtime/array/instantiate_test_support.h"
#include "runtime/array/verify_tiling.h"

#include <functional>

namespace strata::array::test {
namespace {

class Tiles : public testing::Test {
protected:
  Tiles() {
    array.units[0].count = 4;
    options.sizes = {9, 10, 3};
    options.rows = 4;
    options.columns = 3;
    tiling = std::get<Tiling>(makeTiling(symbolic, array, options));
    starts = std::get<Starts>(makeStarts(symbolic, array, tiling, options.corner));
  }
  Symbolic symbolic = matrixProduct();
  machine::ProcessorArray array = testArray(4, 4);
  InstantiationOptions options;
  Tiling tiling;
  Starts starts;
};

TEST_F(Tiles, EachIterationIsInOne) {
  EXPECT_EQ(verify(symbolic, options, tiling), "");
  using Change = std::pair<std::function<void(Tiling&)>, const char*>;
  const Change changes[] = {
      {[](Tiling& made) { made.tile.pop_back(); }, "tiles of another number of loops"},
      {[](Tiling& made) { made.sizes[0] = 8; }, "tiles for other sizes"},
      {[](Tiling& made) { made.rowLoop = 2; }, "tiles along other loops"},
      {[](Tiling& made) { made.rows = 5; }, "more tiles than the region has elements"},
      {[](Tiling& made) { made.lower[0] = 1; }, "loop 'i' does not begin at 1"},
      {[](Tiling& made) { made.lower[0] = -1; }, "loop 'i' does not begin at -1"},
      {[](Tiling& made) { made.count[0] = 8; }, "loop 'i' does not end at 7"},
      {[](Tiling& made) { made.count[0] = 10; }, "loop 'i' does not end at 9"},
      {[](Tiling& made) { made.tile[0] = 2; }, "3 tiles of 2 iterations of loop 'i' of 9 do not cover it"},
      {[](Tiling& made) { made.tile[0] = 5; }, "3 tiles of 5 iterations of loop 'i' of 9: one is empty"},
      {[](Tiling& made) { made.tile[2] = 4; }, "1 tiles of 4 iterations of loop 'k' of 3, which is not distributed"},
      {[](Tiling& made) { made.inner[0] = 11; }, "an iteration of loop 'i' takes 11 of the tile's"},
      {[](Tiling& made) { made.extents[1] = 5; }, "the tile is longer in loop 'j'"},
      {[](Tiling& made) { made.extents[0] = 3; }, "the last operations begin after the last iteration"},
  };
  for (const auto& [change, said] : changes) {
    Tiling made = tiling;
    change(made);
    EXPECT_EQ(verify(symbolic, options, made), said);
  }
  options.tile = {4, 4, 0};
  EXPECT_EQ(verify(symbolic, options, tiling), "3 tiles of 3 iterations of loop 'i' of 9, 4 were asked for");
  options.tile.clear();
  symbolic.loops[1].leastTile = 5;
  EXPECT_EQ(verify(symbolic, options, tiling), "3 tiles of 4 iterations of loop 'j' of 10: the schedule relies on 5");
  symbolic.loops[1].leastTile = 1;
  symbolic.arrivals.push_back({{4, 0, 0}, {1, 0, 0}, 0});
  EXPECT_EQ(verify(symbolic, options, tiling), "3 tiles of 3 iterations of loop 'i' of 9: a value goes 4 on");
}

TEST_F(Tiles, ElementsStartWhenSignalsAndValuesAreThere) {
  const auto said = [&](int64_t first, int64_t row, int64_t column) {
    return verify(symbolic, array, tiling, options.corner,
                  {starts.first + first, starts.row + row, starts.column + column});
  };
  EXPECT_EQ(said(0, 0, 0), "");
  EXPECT_EQ(said(5, 0, 0), "");
  EXPECT_EQ(said(-1, 0, 0), "element (0, 0) starts in cycle -1, before the signals of cycle 0");
  EXPECT_EQ(said(0, -1, 0), "a value is read 1 cycles before it has come");
  EXPECT_EQ(said(0, 0, -2), "a value is read 2 cycles before it has come");
  array.control.hop = 1000;
  EXPECT_EQ(said(0, 0, 0).find("element (0, 1) starts in cycle "), 0u) << said(0, 0, 0);
}

} // namespace
} // namespace strata::array::test
