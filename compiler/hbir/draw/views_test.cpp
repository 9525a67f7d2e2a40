// Drawings and lists: what they name, how many shapes they take, and that they are well-formed.
#include "compiler/hbir/draw/views.h"
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/layout.h"
#include "compiler/hbir/program/program_testing.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace strata::hbir {
namespace {

size_t countOf(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++count;
  return count;
}

struct ViewsTest : ProgramTest {
  /// The drawing of a right program; kept in the folder that STRATA_DRAWINGS names, for people to look at.
  std::string draw(const std::string& name) {
    EXPECT_TRUE(checkGroups(program, diagnostics) && checkLayouts(program, diagnostics)) << said();
    const std::string svg = drawProgram(program);
    if (const char* folder = std::getenv("STRATA_DRAWINGS"))
      std::ofstream(std::string(folder) + "/" + name + ".svg") << svg;
    for (const char* element : {"text", "title", "svg", "style"})
      EXPECT_EQ(countOf(svg, std::string("<") + element), countOf(svg, std::string("</") + element + ">")) << element;
    EXPECT_LT(countOf(svg, "<"), 8000u); // elements and their ends
    EXPECT_LT(countOf(svg, "<rect") + countOf(svg, "<path") + countOf(svg, "<text"), 4000u);
    return svg;
  }
};

TEST_F(ViewsTest, TwoGroupsAndTheirData) {
  target({4, 4});
  MemoryClass& g = memory("g", 4, int64_t(8) << 30);
  MemoryClass& l = memory("l", 1, 16 << 10, true);
  group("tga", {{"x", 2}, {"y", 4}}, {x, y});
  group("tgb", {{"x", 2}, {"y", 4}}, {x + number(2), y});
  array("A", {500}, LayoutKind::Chunked, {4}, g, x);
  array("B", {500}, LayoutKind::Striped, {16}, l, x);
  array("C", {10, 12}, LayoutKind::Block, {4, 4}, l, x * number(4) + y);
  array("D", {7}, LayoutKind::Replicated, {4, 4}, l, x * number(4) + y);
  const std::string svg = draw("two");
  for (const char* words :
       {">tga<", ">tgb<", "[125:250]", "[0::16]", "[3:6][0:3]", "g[3]", "tgb[x in 2][y in 4]: t[2:4][0:4]"})
    EXPECT_NE(svg.find(words), std::string::npos) << words;
}

TEST_F(ViewsTest, NestedGroupsStandInTheirParents) {
  target({8, 12});
  Group& top = group("top_half", {{"x", 4}, {"y", 12}}, {x, y});
  Group& row = group("row", {{"i", 2}, {"y", 10}}, {variable(2), variable(3) + number(1)}, &top);
  group("col", {{"k", 3}}, {variable(2), variable(4) * number(3) + number(2)}, &row);
  group("bottom", {{"x", 3}, {"y", 6}}, {x + number(4), y * number(2)});
  group("diagonal", {{"x", 4}}, {x + number(4), x * number(2) + number(1)});
  const std::string svg = draw("nested");
  EXPECT_NE(svg.find(">top_half<"), std::string::npos);
  EXPECT_NE(svg.find("top_half.row"), std::string::npos);
}

TEST_F(ViewsTest, LargeTargetsAreScaled) {
  target({128, 64});
  MemoryClass& l = memory("l", 1, 64 << 10, true);
  group("left", {{"x", 128}, {"y", 32}}, {x, y});
  group("right", {{"x", 128}, {"y", 32}}, {x, y + number(32)});
  array("A", {128 * 64 * 4}, LayoutKind::Chunked, {128, 64}, l, x * number(64) + y);
  const std::string svg = draw("large");
  EXPECT_NE(svg.find("drawn to scale"), std::string::npos);
  EXPECT_NE(svg.find("left: t[0:128][0:32]"), std::string::npos);
  EXPECT_NE(svg.find("right: t[0:128][32:64]"), std::string::npos);
}

/// Width and height of the shapes with a title.
std::vector<std::pair<double, double>> sizesOf(const std::string& svg, const std::string& title) {
  std::vector<std::pair<double, double>> sizes;
  for (size_t at = 0; (at = svg.find("<title>" + title, at)) != std::string::npos; ++at) {
    const size_t shape = svg.rfind("<rect", at);
    const auto number = [&](const char* name) { return std::atof(svg.c_str() + svg.find(name, shape) + strlen(name)); };
    sizes.emplace_back(number(" width=\""), number(" height=\""));
  }
  return sizes;
}

TEST_F(ViewsTest, GroupsOfLargeTargetsAreExact) {
  target({128, 64});
  group("quad", {{"i", 4}, {"x", 16}, {"y", 32}}, {variable(0) * number(16) + variable(1), variable(2) + number(32)});
  group("corner", {{"x", 1}, {"y", 1}}, {number(127), number(63)});
  Group& halves = group("halves", {{"x", 2}}, {});
  group("row", {{"x", 16}}, {variable(0) + number(100), variable(1)}, &halves);
  const std::string svg = draw("exact");
  const auto quads = sizesOf(svg, "quad: t[");
  ASSERT_EQ(quads.size(), 4u);
  for (const auto& each : quads)
    EXPECT_EQ(each, quads[0]);
  EXPECT_NE(svg.find("quad: t[16:32][32:64]"), std::string::npos);
  EXPECT_NE(svg.find("corner: t[127][63]"), std::string::npos);
  // What only holds groups is drawn where these lie.
  EXPECT_NE(svg.find("<title>halves: t[100:102][0:16]"), std::string::npos);
  const auto corner = sizesOf(svg, "corner");
  ASSERT_EQ(corner.size(), 1u);
  EXPECT_GT(quads[0].first, 25 * corner[0].first);
}

TEST_F(ViewsTest, BillionsOfTilesAreScaledToo) {
  const int64_t side = int64_t(1) << 31;
  target({side, side});
  MemoryClass& l = memory("l", 1, 64 << 10, true);
  group("left", {{"x", side}, {"y", side / 2}}, {x, y});
  Group& right = group("right", {{"x", side}, {"y", side / 2}}, {x, y + number(side / 2)});
  group("some", {{"i", side}}, {variable(2), number(side - 1)}, &right);
  group("far", {{"i", side / 2}}, {variable(2), variable(2) + number(side / 2)}, &right);
  program.groups.pop_back(); // shares a tile with 'some'
  array("A", {int64_t(1) << 40}, LayoutKind::Chunked, {1 << 16, 1 << 16}, l, x * number(side) + y);
  const std::string svg = draw("huge");
  EXPECT_NE(svg.find("too many to be drawn"), std::string::npos);
}

TEST_F(ViewsTest, ManyThingsStayWithinBounds) {
  target({40, 40, 3});
  MemoryClass& g = memory("g", 1000, std::nullopt);
  MemoryClass& l = memory("l", 3, std::nullopt, true);
  const std::string name = "a_group_with_a_long_name_";
  for (int i = 0; i < 40; ++i)
    group(name + std::to_string(i), {{"x", 40}}, {number(i), x, x % number(3)});
  for (int i = 0; i < 30; ++i) {
    array("global" + std::to_string(i), {10000}, LayoutKind::Striped, {5000}, g, x % number(1000));
    array("local" + std::to_string(i), {100, 200}, LayoutKind::Block, {40, 40}, l,
          (x * number(40) + y) * number(9) + number(2));
  }
  draw("many");
}

TEST_F(ViewsTest, OneTileWithoutAnything) {
  target({1});
  draw("bare");
}

} // namespace
} // namespace strata::hbir
