// Layouts: which instance holds which element, and at what offset; random ones against elements distributed one by one.
#include "compiler/hbir/layout/layout.h"
#include "compiler/hbir/program/program_testing.h"

#include <map>
#include <set>

namespace strata::hbir {
namespace {

struct LayoutTest : ProgramTest {};

TEST_F(LayoutTest, ChunkedTakesTheRemainderLast) {
  target({4});
  MemoryClass& l = memory("l", 1, 1024, true);
  Array& a = array("A", {10}, LayoutKind::Chunked, {4}, l, x);
  ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
  const ResolvedLayout layout = resolveLayout(program, a);
  EXPECT_EQ(layout.instance.text({"i"}), "i/3");
  EXPECT_EQ(layout.offset.text({"i"}), "i%3");
  EXPECT_EQ(layout.pieceElements, 3);
  EXPECT_EQ(layout.bytes, 12u);
  EXPECT_EQ(layout.perProcessor, 1);
  EXPECT_EQ(layoutText(program), "A : int[10], chunked, 4 pieces of 3 in l (4 in all tiles, 1024 bytes each), 12 bytes "
                                 "in the fullest\n"
                                 "  A[i]: in l number i/3, at byte i%3*4\n"
                                 "  t[0].l from byte 0: A[0:3]\n  t[1].l from byte 0: A[3:6]\n"
                                 "  t[2].l from byte 0: A[6:9]\n  t[3].l from byte 0: A[9:10]\n");
}

TEST_F(LayoutTest, BlockInTwoDimensionsOverATileArray) {
  target({2, 2});
  MemoryClass& l = memory("l", 2, 1024, true);
  Array& a = array("A", {4, 6}, LayoutKind::Block, {2, 2}, l, (x * number(2) + y) * number(2) + number(1));
  ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
  const ResolvedLayout layout = resolveLayout(program, a);
  EXPECT_EQ(layout.instances, 8);
  EXPECT_EQ(layout.instance.evaluate({3, 2}), 5); // the second memory of tile [1][0]
  EXPECT_EQ(layout.offset.evaluate({3, 2}), 5);
  EXPECT_NE(layoutText(program).find("t[1][0].l[1] from byte 0: A[2:4][0:3]"), std::string::npos)
      << layoutText(program);
}

TEST_F(LayoutTest, StripedDealsElementsRoundRobin) {
  target({1});
  MemoryClass& g = memory("g", 4, std::nullopt);
  Array& a = array("A", {2, 5}, LayoutKind::Striped, {4}, g, x);
  ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
  const ResolvedLayout layout = resolveLayout(program, a);
  EXPECT_EQ(layout.instance.text({"i", "j"}), "(i*5 + j)%4");
  EXPECT_EQ(layout.offset.text({"i", "j"}), "(i*5 + j)/4");
  EXPECT_NE(layoutText(program).find("g[1] from byte 0: A flattened [1::4]"), std::string::npos) << layoutText(program);
}

TEST_F(LayoutTest, ReplicatedIsEverywhere) {
  target({2, 2});
  MemoryClass& l = memory("l", 1, 1024, true);
  Array& a = array("A", {5}, LayoutKind::Replicated, {2, 2}, l, x * number(2) + y);
  ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
  const ResolvedLayout layout = resolveLayout(program, a);
  EXPECT_TRUE(layout.everywhere);
  EXPECT_EQ(layout.copies, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(layout.copy.evaluate({1, 1}), 3);
  EXPECT_EQ(layout.instance, number(0));
  EXPECT_EQ(layout.bytes, 20u);
  EXPECT_NE(layoutText(program).find("t[1][1].l: all of A"), std::string::npos) << layoutText(program);
}

TEST_F(LayoutTest, OneDimensionOverSeveralExtentsIsCutOverTheirProduct) {
  target({2, 3});
  MemoryClass& l = memory("l", 1, 1024, true);
  Array& a = array("A", {12}, LayoutKind::Block, {2, 3}, l, x * number(3) + y);
  ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
  EXPECT_EQ(resolveLayout(program, a).instance.evaluate({7}), 3);
}

TEST_F(LayoutTest, ArraysOfOneMemoryLieBehindEachOther) {
  target({4});
  MemoryClass& l = memory("l", 1, 1024, true);
  array("A", {40}, LayoutKind::Chunked, {4}, l, x);
  array("B", {4}, LayoutKind::Chunked, {4}, l, x, ScalarType::Bool);
  array("C", {4}, LayoutKind::Chunked, {4}, l, x);
  const std::vector<ResolvedLayout> layouts = resolveLayouts(program);
  EXPECT_EQ(layouts[0].base, 0u);
  EXPECT_EQ(layouts[1].base, 64u);
  EXPECT_EQ(layouts[2].base, 128u);
}

TEST_F(LayoutTest, ArraysOfDifferentInstancesBeginAtTheSameByte) {
  target({4});
  MemoryClass& l = memory("l", 1, 40, true);
  array("A", {20}, LayoutKind::Chunked, {2}, l, x);
  array("B", {20}, LayoutKind::Chunked, {2}, l, x + number(2));
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
  EXPECT_EQ(resolveLayouts(program)[1].base, 0u);
}

TEST_F(LayoutTest, DataMustFit) {
  target({4});
  MemoryClass& l = memory("l", 1, 1024, true);
  array("A", {4 * 192}, LayoutKind::Chunked, {4}, l, x); // 768 bytes
  array("B", {4 * 64}, LayoutKind::Chunked, {4}, l, x);  // 256 bytes
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
  program.arrays[1].extents = {4 * 64 + 1};
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-data-does-not-fit"));
  EXPECT_NE(said().find("the data in memory 't[0].l' takes 1028 bytes, and it holds 1024"), std::string::npos)
      << said();
  EXPECT_NE(said().find("'A' takes 768 bytes from byte 0"), std::string::npos) << said();
  EXPECT_NE(said().find("'B' takes 260 bytes from byte 768"), std::string::npos) << said();
  l.size.reset(); // unknown takes anything
  diagnostics.clear();
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
}

TEST_F(LayoutTest, SeveralPiecesInOneInstanceAddUp) {
  target({1});
  MemoryClass& g = memory("g", 2, 24);
  array("A", {11}, LayoutKind::Chunked, {4}, g, x % number(2)); // 3+3 and 3+2 elements
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
  g.size = 23;
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-data-does-not-fit"));
  EXPECT_NE(said().find("'g[0]'"), std::string::npos) << said();
}

TEST_F(LayoutTest, PiecesNeedAnInstance) {
  target({4});
  MemoryClass& g = memory("g", 4, std::nullopt);
  Array& a = array("A", {16}, LayoutKind::Chunked, {4}, g, x);
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
  a.layout.instance = x + number(1);
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-layout-no-instance"));
  EXPECT_NE(said().find("piece [3] of 'A' falls to instance 4 of memory 'g', which has 4"), std::string::npos)
      << said();
  a.extents = {12}; // three elements a piece: none for the fourth if there are nine
  diagnostics.clear();
  a.extents = {9};
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
}

TEST_F(LayoutTest, CopiesNeedAnInstance) {
  target({4});
  MemoryClass& g = memory("g", 4, std::nullopt);
  array("A", {16}, LayoutKind::Replicated, {5}, g, x);
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_NE(said().find("piece [4] of 'A' falls to instance 4"), std::string::npos) << said();
}

TEST_F(LayoutTest, BlockCutsNoMoreDimensionsThanThereAre) {
  target({2, 2});
  MemoryClass& g = memory("g", 8, std::nullopt);
  Array& a = array("A", {4, 4}, LayoutKind::Block, {2, 2, 2}, g, number(0));
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-layout-rank"));
  diagnostics.clear();
  a.layout.pieces = {2, 4};
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
}

TEST_F(LayoutTest, SizesBeyond64BitsAreRefused) {
  target({4});
  MemoryClass& g = memory("g", 4, std::nullopt);
  const int64_t side = int64_t(1) << 31;
  Array& a = array("A", {side, side}, LayoutKind::Chunked, {4}, g, x);
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-data-too-large"));
  diagnostics.clear();
  a.extents = {side, side / 8};
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
}

TEST_F(LayoutTest, InstancesBeyond64BitsAreRefused) {
  const int64_t side = int64_t(1) << 31;
  target({side, side});
  MemoryClass& l = memory("l", 2, std::nullopt, true);
  array("A", {8}, LayoutKind::Chunked, {4}, l, x);
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-too-many-instances"));
  diagnostics.clear();
  l.count = 1;
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
}

TEST_F(LayoutTest, ProductsOfCoordinatesAreVisitedOrRefused) {
  target({4});
  MemoryClass& g = memory("g", 100, std::nullopt);
  Array& a = array("A", {16, 16}, LayoutKind::Block, {4, 4}, g, x * y + number(91));
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_NE(said().find("piece [3][3] of 'A' falls to instance 100"), std::string::npos) << said();
  diagnostics.clear();
  g.count = 101;
  EXPECT_TRUE(checkLayouts(program, diagnostics)) << said();
  diagnostics.clear();
  a.extents = {1 << 20, 1 << 20};
  a.layout.pieces = {1 << 12, 1 << 12};
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-layout-undecided"));
}

TEST_F(LayoutTest, BillionsOfPiecesCostNothing) {
  const int64_t side = int64_t(1) << 29;
  target({side, side});
  MemoryClass& l = memory("l", 1, 16, true);
  array("A", {2 * side - 1, side}, LayoutKind::Block, {side, side}, l, x * number(side) + y);
  MemoryClass& g = memory("g", 1024, 4 * side);
  array("B", {side, side}, LayoutKind::Chunked, {side * 1024}, g, x % number(1024));
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_TRUE(saidOnly("hbir-data-does-not-fit")) << said();
  const std::vector<ResolvedLayout> layouts = resolveLayouts(program);
  EXPECT_EQ(layouts[0].bytes, 8u);
  EXPECT_TRUE(layouts[1].exact);
  EXPECT_EQ(layouts[1].bytes, static_cast<uint64_t>(side) * side / 1024 * 4);
  EXPECT_LT(layoutText(program).size(), 10000u);
}

TEST_F(LayoutTest, PiecesWithoutARuleAreCountedWithHoles) {
  target({4});
  MemoryClass& g = memory("g", 61, 1 << 20);
  Array& a = array("A", {1 << 14}, LayoutKind::Chunked, {1 << 12}, g, (x / number(7) + x * number(5)) % number(61));
  ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
  const ResolvedLayout layout = resolveLayout(program, a);
  EXPECT_FALSE(layout.exact);
  EXPECT_EQ(layout.bytes, uint64_t(1) << 16);
  g.size = 1 << 15;
  EXPECT_FALSE(checkLayouts(program, diagnostics));
  EXPECT_NE(said().find("by no rule that was found"), std::string::npos) << said();
}

/// Deals every element of a random array to an instance, piece by piece, as the language says.
struct RandomLayouts : LayoutTest {
  std::mt19937 random{11};
  int64_t pick(int64_t from, int64_t to) { return std::uniform_int_distribution<int64_t>(from, to)(random); }

  IndexExpression instanceOf(const std::vector<int64_t>& pieces, int64_t instances) {
    IndexExpression sum = number(0);
    switch (pick(0, 3)) {
    case 0: // by rows
      for (unsigned d = 0; d < pieces.size(); ++d)
        sum = sum * number(pieces[d]) + variable(d);
      return sum % number(instances);
    case 1: // one coordinate
      return variable(static_cast<unsigned>(pick(0, int64_t(pieces.size()) - 1))) % number(instances);
    case 2: // runs
      for (unsigned d = 0; d < pieces.size(); ++d)
        sum = sum * number(pieces[d]) + variable(d);
      return (sum / number(pick(1, 4))) % number(instances);
    default: // anything
      for (unsigned d = 0; d < pieces.size(); ++d)
        sum = sum + variable(d) * number(pick(0, 3));
      return (sum + number(pick(0, 3))) % number(instances);
    }
  }

  void addRandomArray(const MemoryClass& memory, int64_t instances) {
    std::vector<int64_t> extents, pieces;
    for (int64_t d = pick(1, 3); d > 0; --d)
      extents.push_back(pick(1, 9));
    const auto kind = static_cast<LayoutKind>(pick(0, 2));
    const auto mostCut = kind == LayoutKind::Block ? int64_t(extents.size()) : 3;
    for (int64_t d = pick(1, mostCut); d > 0; --d)
      pieces.push_back(pick(1, 5));
    IndexExpression instance = instanceOf(pieces, instances);
    array("A" + std::to_string(program.arrays.size()), extents, kind, pieces, memory, instance,
          pick(0, 3) == 0 ? ScalarType::Bool : ScalarType::Int);
  }

  /// Instance and, in its instance, order of every element; and how much each instance then holds.
  struct Dealt {
    std::map<std::vector<int64_t>, int64_t> instance, offset;
    int64_t longest = 0;
  };
  static Dealt deal(const Array& array) {
    Dealt dealt;
    const std::vector<int64_t>& pieces = array.layout.pieces;
    std::vector<std::vector<int64_t>> numbers;
    forEach(pieces, [&](const std::vector<int64_t>& number) { numbers.push_back(number); });
    int64_t elements = 1;
    for (int64_t extent : array.extents)
      elements *= extent;
    // Elements of each piece, with their place in it.
    std::vector<std::vector<std::pair<std::vector<int64_t>, int64_t>>> held(numbers.size());
    int64_t room = 1; // of a piece
    int64_t flat = 0;
    const auto count = static_cast<int64_t>(numbers.size());
    forEach(array.extents, [&](const std::vector<int64_t>& index) {
      int64_t piece = 0, place = 0;
      if (array.layout.kind == LayoutKind::Striped) {
        room = (elements + count - 1) / count;
        piece = flat % count;
        place = static_cast<int64_t>(held[static_cast<size_t>(piece)].size());
      } else if (array.layout.kind == LayoutKind::Chunked) {
        room = (elements + count - 1) / count;
        piece = flat / room;
        place = static_cast<int64_t>(held[static_cast<size_t>(piece)].size());
      } else {
        room = 1;
        for (size_t d = 0; d < index.size(); ++d) {
          const int64_t cuts = d < pieces.size() ? pieces[d] : 1;
          const int64_t length = (array.extents[d] + cuts - 1) / cuts;
          if (d < pieces.size())
            piece = piece * cuts + index[d] / length;
          place = place * length + index[d] % length;
          room *= length;
        }
      }
      held[static_cast<size_t>(piece)].push_back({index, place});
      ++flat;
    });
    std::map<int64_t, int64_t> stacked; // pieces with elements so far, by instance
    for (size_t p = 0; p < numbers.size(); ++p) {
      if (held[p].empty())
        continue;
      const int64_t instance = *array.layout.instance.evaluate(numbers[p]);
      const int64_t rank = stacked[instance]++;
      for (const auto& [index, place] : held[p]) {
        dealt.instance[index] = instance;
        dealt.offset[index] = rank * room + place;
        dealt.longest = std::max(dealt.longest, rank * room + place + 1);
      }
    }
    return dealt;
  }
};

TEST_F(RandomLayouts, PlaceEveryElementWhereDealingDoes) {
  for (int round = 0; round < 3000; ++round) {
    program = Program();
    target({2, 2});
    const bool local = pick(0, 1) == 0;
    MemoryClass& m = memory("m", pick(1, 3), std::nullopt, local);
    const int64_t instances = m.count * (local ? 4 : 1);
    addRandomArray(m, instances);
    ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
    const Array& array = program.arrays[0];
    const ResolvedLayout layout = resolveLayout(program, array);
    ASSERT_TRUE(layout.exact);
    ASSERT_EQ(layout.instances, instances);
    const Dealt dealt = deal(array);
    for (const auto& [index, instance] : dealt.instance) {
      ASSERT_EQ(layout.instance.evaluate(index), instance) << layoutText(program);
      ASSERT_EQ(layout.offset.evaluate(index), dealt.offset.at(index)) << layoutText(program);
    }
    ASSERT_EQ(layout.bytes, static_cast<uint64_t>(dealt.longest * layout.elementBytes)) << layoutText(program);
  }
}

TEST_F(RandomLayouts, NoTwoElementsShareAByteAndTheFullestFitsExactly) {
  for (int round = 0; round < 300; ++round) {
    program = Program();
    target({3});
    MemoryClass& m = memory("m", pick(1, 2), std::nullopt, true);
    for (int64_t count = pick(1, 4); count > 0; --count)
      addRandomArray(m, m.count * 3);
    const std::vector<ResolvedLayout> layouts = resolveLayouts(program);
    std::set<std::pair<int64_t, uint64_t>> taken;
    uint64_t end = 0;
    for (size_t a = 0; a < layouts.size(); ++a) {
      const ResolvedLayout& layout = layouts[a];
      ASSERT_EQ(layout.base % arrayAlignment, 0u);
      forEach(program.arrays[a].extents, [&](const std::vector<int64_t>& index) {
        for (int64_t byte = 0; byte < layout.elementBytes; ++byte) {
          const uint64_t at =
              layout.base + static_cast<uint64_t>(*layout.offset.evaluate(index) * layout.elementBytes + byte);
          ASSERT_TRUE(taken.insert({*layout.instance.evaluate(index), at}).second);
          end = std::max(end, at + 1);
        }
      });
    }
    diagnostics.clear();
    m.size = static_cast<int64_t>(end);
    ASSERT_TRUE(checkLayouts(program, diagnostics)) << said();
    m.size = static_cast<int64_t>(end) - 1;
    ASSERT_FALSE(checkLayouts(program, diagnostics));
    ASSERT_TRUE(saidOnly("hbir-data-does-not-fit"));
  }
}

} // namespace
} // namespace strata::hbir
