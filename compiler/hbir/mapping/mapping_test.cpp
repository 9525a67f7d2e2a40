// Mapping files: what they change, what they leave, and what they may not say.
#include "compiler/hbir/hbir_testing.h"
#include "compiler/hbir/layout/places.h"

namespace strata::hbir::testing {
namespace {

std::string program() {
  return formA("config.tg[x][y] { C[tile_id] = A[0] + block_size_A; }",
               "dim = 16; A : int[dim] = block[4] { target.g[x]; host; };"
               "B : float[8][8] = block[2][4] { config.tg[x][y]; };"
               "C : int[dim] = block[4] { target.g[x]; striped; device; };",
               "group tg[2][4] { tile target.t[x][y]; };"
               "group grid[2] { group row[4] { tile target.t[grid.x+4][row.x]; }; };",
               "memory g[4] { size 8G; width 8B; }; tile t[8][8] { memory l[2] { size 64K; width 8B; }; };");
}

const Array& array(const Program& program, std::string_view name) {
  for (const Array& each : program.arrays)
    if (each.name == name)
      return each;
  throw std::out_of_range(std::string(name));
}

TEST(HbirMapping, MovesGroups) {
  Session session;
  Program* read = session.mapped(program(), "group tg at (2, 4); group grid at (6, 1);");
  ASSERT_TRUE(read) << session.rendered();
  EXPECT_EQ(read->groups[0].tile[0].evaluate({1, 2}), 3);
  EXPECT_EQ(read->groups[0].tile[1].evaluate({1, 2}), 6);
  EXPECT_EQ(read->groups[2].tile[0].evaluate({1, 2}), 7);
  EXPECT_EQ(read->groups[2].tile[1].evaluate({1, 2}), 3);
  // What lies at the group's tiles moves with them: tile (2, 4) is number 20 of the target and has two memories.
  EXPECT_EQ(array(*read, "B").layout.instance.evaluate({0, 0}), 40);
}

TEST(HbirMapping, ChangesLayouts) {
  Session session;
  Program* read = session.mapped(program(), "array A = striped over config.tg; array C = block[2] over target.t.l;"
                                            "array B = replicated over target.g;");
  ASSERT_TRUE(read) << session.rendered();
  const Layout& a = array(*read, "A").layout;
  EXPECT_EQ(a.kind, LayoutKind::Striped);
  EXPECT_EQ(a.pieces, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(a.instance.evaluate({1, 2}), (8 + 2) * 2);
  EXPECT_EQ(array(*read, "C").layout.memory->name, "l");
  EXPECT_EQ(array(*read, "B").layout.kind, LayoutKind::Replicated);
  // The size of a block is the program's: a mapping changes no result.
  EXPECT_NE(printAst(*read).find("(A[0] + 4)"), std::string::npos) << printAst(*read);
}

TEST(HbirMapping, OneDimensionIsCutOverAllTilesOfAGroup) {
  Session session;
  Program* read = session.mapped(program(), "array A = block over config.tg;");
  ASSERT_TRUE(read) << session.rendered();
  const Layout& layout = array(*read, "A").layout;
  EXPECT_EQ(layout.pieces, (std::vector<int64_t>{8}));
  EXPECT_EQ(layout.instance.evaluate({6}), (8 + 2) * 2); // piece 6 is at tile (1, 2)
}

TEST(HbirMapping, IsWrittenSoThatItReadsBack) {
  for (const char* map :
       {"", "group tg at (2, 4);", "array A = block[4] over target.g[3-x];", "array B = chunked[2][2] over config.tg;",
        "array A = block over config.tg; array B = block[8][8] over target.t.l;",
        "array C = chunked over config.grid.row;", "array B = striped[3][5] over target.t.l[x*5+y];",
        "array A = replicated over config.t;"}) {
    Session first, second;
    ASSERT_TRUE(first.mapped(program(), map)) << map << first.rendered();
    std::string written = writeMapping(*first.program);
    ASSERT_TRUE(second.mapped(program(), written)) << written << second.rendered();
    EXPECT_EQ(writeMapping(*second.program), written);
    for (size_t i = 0; i < first.program->arrays.size(); ++i) {
      const Layout &a = first.program->arrays[i].layout, &b = second.program->arrays[i].layout;
      ASSERT_EQ(a.pieces, b.pieces);
      int64_t pieces = productOf(a.pieces).value_or(0);
      for (int64_t k = 0; k < pieces; ++k) {
        std::vector<int64_t> piece(a.pieces.size());
        int64_t rest = k;
        for (size_t d = piece.size(); d-- > 0; rest /= a.pieces[d])
          piece[d] = rest % a.pieces[d];
        ASSERT_EQ(a.instance.evaluate(piece), b.instance.evaluate(piece)) << map << "\n" << written;
      }
    }
  }
}

TEST(HbirMapping, IsWrittenForAllForms) {
  std::string c = formC(
      "group a(r, c) at (0:4, 0:8) { group[i in r] row at (i, 0:c) }", "",
      "in A : int[64] { location : t.a.row, layout : block } out B : int[8] { location : t.a, layout : strided }");
  Session first, second;
  ASSERT_TRUE(first.read(c)) << first.rendered();
  std::string written = writeMapping(*first.program);
  EXPECT_NE(written.find("group a at (0, 0);"), std::string::npos) << written;
  ASSERT_TRUE(second.mapped(c, written)) << written << second.rendered();
  EXPECT_EQ(writeMapping(*second.program), written);
}

/// D, R and T are replicated: over the tiles of a group, the global memories, all tiles; A and C are not. E and F are
/// replicated too, and no tile writes them.
std::string copies(const std::string& code) {
  return formA(
      code,
      "D : int[8] = block[2][4] { config.tg; replicated; device; };"
      "R : int[8] = block[4] { target.g; replicated; };"
      "T : int[8] = block[8][8] { target.t.l; replicated; device; };"
      "A : int[8] = block[4] { target.g; host; };"
      "C : int[8] = block[4] { target.g; device; };"
      "E : int[8] = block[4] { target.g; replicated; host; };"
      "F : int[8] = block[4] { target.g; replicated; };",
      "group tg[2][4] { tile target.t[x][y]; }; group side[2] { tile target.t[x+6][7]; };",
      "memory g[4] { size 8G; width 8B; }; memory h[4] { size 8G; width 8B; }; memory one { size 8G; width 8B; };"
      "tile t[8][8] { memory l { size 64K; width 8B; }; memory k[2] { size 64K; width 8B; }; };");
}

TEST(HbirMapping, KeepsTheCopiesOfWhatTilesWrite) {
  const std::string all =
      "F[0] = 1; config.tg[x][y] { D[0] = A[0] + E[0] + F[0]; R[1] = D[0]; T[2] = R[1]; C[tile_id] = T[2]; }"
      "config.side[x] { int a = A[0]; C[x] += a; }";
  std::pair<const char*, const char*> refused[] = {
      {"D", "array D = block over config.tg;"},        // one copy instead of one each
      {"D", "array D = replicated over target.g;"},    // shared by tiles that the program keeps apart
      {"D", "array D = replicated over target.one;"},  // one copy
      {"D", "array D = replicated over config.side;"}, // another tile's goes back
      {"R", "array R = striped over config.tg;"},
      {"R", "array R = replicated over config.tg;"},
      {"C", "array C = replicated over target.g;"},
      {"C", "array C = replicated over config.tg;"},
      {"T", "array D = replicated over config.tg; array T = chunked over target.t.l;"},
      {"R", "group tg at (1, 1);"}, // other tiles take other copies
      {"T", "group tg at (2, 0);"}, // the tile whose copy goes back is another
  };
  for (auto [array, map] : refused) {
    Session session;
    EXPECT_FALSE(session.mapped(copies(all), map)) << map;
    const Diagnostic* found = session.find("hbir-map-replicated");
    ASSERT_TRUE(found) << map << "\n" << session.rendered();
    EXPECT_NE(session.rendered().find("array '" + std::string(array) + "'"), std::string::npos) << session.rendered();
    EXPECT_EQ(session.sources.buffer(found->labels[0].location.buffer).kind(), SourceKind::Mapping);
    EXPECT_FALSE(found->helps.empty());
  }
  for (const char* map : {"", "array A = replicated over config.tg;", "array E = block over config.tg;",
                          "array F = chunked over target.g;", "array F = replicated over target.t.l;",
                          "array R = replicated over target.h;", "array C = replicated over target.one;",
                          "array D = replicated over target.t.k;", "array D = replicated over target.t.l;",
                          "group side at (3, 5);", "group tg at (0, 0);"}) {
    Session session;
    EXPECT_TRUE(session.mapped(copies(all), map)) << map << "\n" << session.rendered();
  }
  // A group goes anywhere when the copies that its tiles write go along.
  Session along;
  EXPECT_TRUE(along.mapped(copies("config.tg[x][y] { D[0] = x; }"), "group tg at (3, 1);")) << along.rendered();
}

TEST(HbirMapping, SaysWhereItPlacesAGroupWrongly) {
  for (const char* map : {"group tg at (7, 7);", "group grid at (0, 0);"}) {
    Session session;
    EXPECT_FALSE(session.mapped(program(), map));
    EXPECT_NE(session.rendered().find("the mapping places"), std::string::npos) << session.rendered();
  }
}

TEST(HbirMapping, RefusesWhatDoesNotFit) {
  std::pair<const char*, const char*> cases[] = {
      {"hbir-syntax", "group tg (4, 0);"},
      {"hbir-syntax", "array A = diagonal over config.tg;"},
      {"hbir-syntax", "arrays;}{"},
      {"hbir-map-number", "array A = block[0] over target.g;"},
      {"hbir-map-number", "group tg at (-1, 0);"},
      {"hbir-map-too-large", "array A = block[4000000000][4000000000] over target.g;"},
      {"hbir-map-group", "group tgg at (0, 0);"},
      {"hbir-map-group", "group row at (0, 0);"},
      {"hbir-map-rank", "group tg at (0);"},
      {"hbir-map-twice", "group tg at (0, 0); group tg at (0, 0);"},
      {"hbir-map-array", "array D = block over target.g;"},
      {"hbir-map-array-twice", "array A = block over target.g; array A = striped over target.g;"},
      {"hbir-map-pieces", "array A = block[2][2] over target.g;"},
      {"hbir-unknown-place", "array A = block over config.tgg;"},
      {"hbir-no-tiles", "array A = block over config.grid;"},
      {"hbir-group-outside", "group tg at (7, 7);"},
  };
  for (auto [code, map] : cases) {
    Session session;
    EXPECT_FALSE(session.mapped(program(), map)) << map;
    const Diagnostic* found = session.find(code);
    ASSERT_TRUE(found) << map << "\n" << session.rendered();
    EXPECT_FALSE(found->labels.empty());
  }
  // A group that stands below zero cannot go to the last number there is.
  Session far;
  far.mapped(formA("", "", "group tg[4] { tile target.t[x-1][x]; };"), "group tg at (9223372036854775807, 0);");
  EXPECT_TRUE(far.find("hbir-map-overflow")) << far.rendered();
}

} // namespace
} // namespace strata::hbir::testing
