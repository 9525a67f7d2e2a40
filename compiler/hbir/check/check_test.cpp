// The rules of target, config and data: each broken by a program and kept by one much like it; and what groups and
// layouts come out as.
#include "compiler/hbir/hbir_testing.h"

namespace strata::hbir::testing {
namespace {

std::string target(const std::string& text) {
  return formA("", "", "group tg[2] { tile target.t[x][0]; };", text);
}
std::string config(const std::string& text) {
  return formA("", "", text);
}
std::string data(const std::string& text) {
  return formA("", text);
}

TEST(HbirCheck, Target) {
  Rule rules[] = {
      {"hbir-duplicate-memory", target("memory g { size 8; width 8; }; memory g { size 8; width 8; }; tile t[4][4];"),
       target("memory g { size 8; width 8; }; memory h { size 8; width 8; }; tile t[4][4] { memory g { size 8; width "
              "8; }; };")},
      {"hbir-duplicate-memory", target("memory t { size 8; width 8; }; tile t[4][4];"), ""},
      {"hbir-width", target("memory g { size 8B; width 9B; }; tile t[4][4];"),
       target("memory g { size 8B; width 8; }; tile t[4][4];")},
      {"hbir-width", target("memory g { size 1K; width 2K; }; tile t[4][4];"),
       target("memory g { size ?; width 2K; }; tile t[4][4];")},
      {"hbir-tile-arrays", target("tile t[4][4]; tile u[4][4];"), target("tile t[4][4];")},
      {"hbir-dimensions", target("tile t;"), target("tile t[2][1];")},
      {"hbir-dimensions", target("memory g[1][1][1][1][2] { size 8; width 8; }; tile t[2][2];"), ""},
      {"hbir-extent", target("tile t[0][4];"), ""},
      {"hbir-extent", target("memory g[-4] { size 8; width 8; }; tile t[2][2];"), ""},
      {"hbir-too-large", target("tile t[4294967296][4294967296];"), target("tile t[2147483648][1073741824];")},
      {"hbir-memory-count", target("tile t[2147483648][1073741824] { memory l[8] { size 8; width 8; }; };"), ""},
  };
  for (const Rule& rule : rules)
    testRule(rule);
  Session none(formA("", "", "", "memory g { size 8; width 8; };"));
  EXPECT_TRUE(none.find("hbir-tile-arrays")) << none.rendered();
}

TEST(HbirCheck, GroupsOfFormA) {
  std::string nested = "group grid[4] { group row[target.t.x_max] { tile target.t[grid.x][row.x]; }; };";
  Rule rules[] = {
      {"hbir-duplicate-group", config("group a[1] { tile target.t[x][0]; }; group a[1] { tile target.t[x][1]; };"),
       config("group a[1] { tile target.t[x][0]; }; group b[1] { tile target.t[x][1]; };")},
      {"hbir-group-content", config("group a[1] { };"), config(nested)},
      {"hbir-group-content", config("group a[1] { tile target.t[x][0]; group b[1] { tile target.t[x][1]; }; };"), ""},
      {"hbir-group-dimensions", config("group a { tile target.t[0][0]; };"),
       config("group a[1] { tile target.t[0][0]; };")},
      {"hbir-tile-path", config("group a[1] { tile target.t[x]; };"), config("group a[1] { tile target.t[x][2-1]; };")},
      {"hbir-tile-path", config("group a[1] { tile target.u[x][0]; };"), ""},
      {"hbir-unknown-index", config("group a[2] { tile target.t[x][y]; };"),
       config("group a[2][2] { tile target.t[x][y_max-1-y]; };")},
      {"hbir-unknown-index", config("group a[2] { group b[2] { tile target.t[c.x][x]; }; };"),
       config("group a[2] { group b[2] { tile target.t[a.x][x]; }; };")},
      {"hbir-extent", config("group a[4-4][2] { tile target.t[x][y]; };"), ""},
      {"hbir-not-constant", config("group a[1.5] { tile target.t[x][0]; };"),
       config("group a[9/2%3] { tile target.t[x][0]; };")},
      {"hbir-division-by-zero", config("group a[4/0] { tile target.t[x][0]; };"),
       config("group a[4/1] { tile target.t[x][0]; };")},
      {"hbir-unknown-field", config("group a[target.t.z_max] { tile target.t[x][0]; };"), ""},
      {"hbir-unknown-name", config("group a[target.u.x_max] { tile target.t[x][0]; };"), ""},
      {"hbir-group-outside", config("group a[5] { tile target.t[x][0]; };"),
       config("group a[4] { tile target.t[x][0]; };")},
      {"hbir-groups-overlap",
       config("group a[2][4] { tile target.t[x][y]; }; group b[2][4] { tile target.t[x+1][y]; };"),
       config("group a[2][4] { tile target.t[x][y]; }; group b[2][4] { tile target.t[x+2][y]; };")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
  Session session(config(nested));
  ASSERT_TRUE(session.program);
  EXPECT_EQ(session.program->groups[1].tile[0].evaluate({3, 1}), 3);
  EXPECT_EQ(session.program->groups[1].tile[1].evaluate({3, 1}), 1);
}

TEST(HbirCheck, GroupsOfArrangements) {
  Rule rules[] = {
      {"hbir-arrange", formB("", "arrange u as { group foo at (0, 0); }"),
       formB("", "arrange t as { group foo at (0, 0); }")},
      {"hbir-arrange", formB("", "arrange t as { group foo at (0, 0); } arrange t as { group a at (1, 0); }"), ""},
      {"hbir-arrange", "target { tile t[4]; } config { arrange t as { group a at (0, 0); } } data { } code { }",
       "target { tile t[4][1]; } config { arrange t as { group a at (0, 0); } } data { } code { }"},
      {"hbir-duplicate-group", formC("group a at (0, 0) group a at (1, 0)"),
       formC("group a at (0, 0) group b at (1, 0)")},
      {"hbir-unknown-index", formC("group a(r, c) at (0:4, 0:4) { group b at (0, 0) { group d at (0, c-4) } }"),
       formC("group a(r, c) at (0:4, 0:4) { group b at (0, c-4) { group d at (0, 0) } }")},
      {"hbir-unknown-index", formC("group a(r, c) at (0:r, 0)"), formC("group a(r, c) at (0:rows, 0)")},
      {"hbir-group-size", formC("group[i in 4] a at (i, 0:i+1)"), formC("group[i in 4] a at (i*2 : 2*i+2, i : i+1)")},
      {"hbir-empty-range", formC("group a at (4:4, 0)"), formC("group a at (4:5, 0)")},
      {"hbir-empty-range", formC("group a at (4:2, 0)"), formC("group a at (:2, 3:)")},
      {"hbir-extent", formC("group[i in 0] a at (i, 0)"), ""},
      {"hbir-not-constant", formC("group[i in 4][j in i] a at (i, j)"), ""},
      {"hbir-group-outside-parent", formC("group a at (0:2, 0:2) { group b at (0:3, 0) }"),
       formC("group a at (0:2, 0:2) { group b at (0:2, 0) }")},
      {"hbir-group-outside", formC("group a at (0:9, 0)"), formC("group a at (0:8, 0)")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
  // Coordinates are relative to the parent, index names are known to all descendants.
  Session session(
      formC("group a(r, c) at (4:8, 2:8) { group[i in 2] b(r, c) at (2*i : 2*i+2, 1:5) { group d at (0:2, i:i+2) } }"));
  ASSERT_TRUE(session.program) << session.rendered();
  const Group& d = session.program->groups[2];
  std::vector<GroupIndex> variables = variablesOf(d);
  ASSERT_EQ(variables.size(), 7u); // x y of a; i x y of b; x y of d
  EXPECT_EQ(d.tile[0].evaluate({0, 0, 1, 0, 0, 1, 0}), 4 + 2 + 1);
  EXPECT_EQ(d.tile[1].evaluate({0, 0, 1, 0, 0, 0, 1}), 2 + 1 + 1 + 1);
}

TEST(HbirCheck, SaysNoMoreOfAWrongConstant) {
  Session session(data("z = 0; n = 1 / z; m = n + 1; A : int[n][m] = block[n] { target.g[x]; }; "));
  EXPECT_EQ(session.codes(), "hbir-division-by-zero") << session.rendered();
}

TEST(HbirCheck, Data) {
  std::string arrayA = "A : int[4] = block[4] { target.g[x]; ";
  Rule rules[] = {
      {"hbir-duplicate-name", data("n = 1; n = 2;"), data("n = 1; m = n;")},
      {"hbir-duplicate-name", data("A = 1; " + arrayA + "};"), ""},
      {"hbir-constant-order", data("n = m; m = 1;"), data("m = 1; n = m;")},
      {"hbir-constant-order", data("A : int[m] = block[1] { target.g[x]; }; m = 1;"), ""},
      {"hbir-constant-order", data("n = n;"), ""},
      {"hbir-unknown-name", data("n = m;"), data("n = target.t.l.size / 4;")},
      {"hbir-unknown-size",
       formA("", "n = target.g.size;", "group tg[2] { tile target.t[x][0]; };",
             "memory g { size ?; width 8; }; tile t[4][4];"),
       ""},
      {"hbir-overflow", data("n = 9223372036854775807 + 1;"), data("n = 9223372036854775807 - 1;")},
      {"hbir-overflow", data("n = 4611686018427387904 * 2;"), data("n = -4611686018427387904 * 2;")},
      {"hbir-overflow", data("n = (0 - 9223372036854775807 - 1) / -1;"),
       data("n = (0 - 9223372036854775807 - 1) / 2;")},
      {"hbir-duplicate-index", formC("group[i in 2][i in 2] a at (i, 0:2)"),
       formC("group[i in 2][j in 2] a at (i, j)")},
      {"hbir-repetition-order", formC("group a[i in 2] at (i, 0:2)"), formC("group[i in 2] a at (i, 0:2)")},
      {"hbir-duplicate-index", formC("group a(r, r) at (0:2, 0:2)"), formC("group a(r, q) at (0:2, 0:2)")},
      {"hbir-duplicate-index", formC("group[i in 2] a(r, i) at (i, 0:2)"), formC("group[i in 2] a(r, q) at (i, 0:2)")},
      {"hbir-division-by-zero", data("z = 0; n = 1 % z;"), data("n = -7 / 2;")},
      {"hbir-extent", data("A : int[0] = block[1] { target.g[x]; };"), data("A : int[1] = block[1] { target.g[x]; };")},
      {"hbir-too-large", data("A : int[4611686018427387904] = block[1] { target.g[x]; };"), ""},
      {"hbir-array-dimensions", data("A : int = block[1] { target.g[x]; };"), ""},
      {"hbir-conflicting-flags", data(arrayA + "chunked; striped; };"), data(arrayA + "striped; strided; };")},
      {"hbir-conflicting-flags", data(arrayA + "host; device; };"), data(arrayA + "host; global; };")},
      {"hbir-conflicting-flags", data(arrayA + "global; local; };"), ""},
      {"hbir-conflicting-flags", data("in " + arrayA + "device; };"), data("out " + arrayA + "device; };")},
      {"hbir-unknown-flag", data(arrayA + "chunk; };"), data(arrayA + "chunked; };")},
      {"hbir-unknown-flag", data("in A : int[4] { location : target.g, layout : host }"), ""},
      {"hbir-flag-memory", data(arrayA + "local; };"), data("A : int[4] = block[4] { target.t.l[x][0]; local; };")},
      {"hbir-unknown-place", data("in A : int[4] { location : target.h, layout : block }"),
       data("in A : int[4] { location : target.t.l, layout : block }")},
      {"hbir-ambiguous-place",
       formA("", "in A : int[4] { location : g, layout : block }", "group g[2] { tile target.t[x][0]; };"),
       formA("",
             "in A : int[4] { location : target.g, layout : block } in B : int[4] { location : config.g, layout : "
             "block }",
             "group g[2] { tile target.t[x][0]; };")},
      {"hbir-duplicate-group", formA("", "", "group t[2] { tile target.t[x][0]; };"), ""},
      {"hbir-unknown-place", data("in A : int[4] { location : config.tgg, layout : block }"),
       data("in A : int[4] { location : config.tg, layout : block }")},
      {"hbir-no-memory",
       formA("", "in A : int[4] { location : config.tg, layout : block }", "group tg[2] { tile target.t[x][0]; };",
             "tile t[4][4];"),
       ""},
      {"hbir-no-tiles",
       formA("", "in A : int[4] { location : config.a, layout : block }",
             "group a[2] { group b[2] { tile target.t[a.x][x]; }; };"),
       formA("", "in A : int[4] { location : config.a.b, layout : block }",
             "group a[2] { group b[2] { tile target.t[a.x][x]; }; };")},
      {"hbir-place-indices", data("A : int[4] = block[4] { config.tg[x]; };"),
       data("A : int[4][4] = block[4][4] { config.tg[y][x]; };")},
      {"hbir-place-range", data("A : int[4] = block[4] { target.g[x+1]; };"),
       data("A : int[4] = block[3] { target.g[x+1]; };")},
      {"hbir-unknown-piece", data("A : int[4] = block[4] { target.g[y]; };"),
       data("A : int[4] = block[2][2] { target.g[y]; };")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(HbirCheck, ConstantsOfTheCommandLine) {
  std::string text = data("n = 4; m = n * 2; A : int[m] = block[4] { target.g[x]; host; };");
  Session given(text, {{{"n", 100}}, {}});
  ASSERT_TRUE(given.program) << given.rendered();
  EXPECT_EQ(given.program->arrays[0].extents[0], 200);
  EXPECT_TRUE(Session(text, {{{"k", 100}}, {}}).find("hbir-size-name"));
  EXPECT_TRUE(Session(text, {{{"n", -1}}, {}}).find("hbir-extent"));
  Session override(data("n = 4 / 0;"), {{{"n", 1}}, {}});
  EXPECT_TRUE(override.find("hbir-division-by-zero"));
}

TEST(HbirCheck, LayoutsOverMoreInstancesThanDimensions) {
  Session session(formC("group a at (0:2, 0:4) { group[i in 2] row at (i, 0:4) }", "",
                        "in A : int[64] { location : t.a.row, layout : block }"
                        "in B : int[8][8] { location : t.a.row, layout : block }"
                        "in C : int[8] { location : t.a, layout : replicated }"));
  ASSERT_TRUE(session.program) << session.rendered();
  const Array &a = session.program->arrays[0], &b = session.program->arrays[1], &c = session.program->arrays[2];
  EXPECT_EQ(a.layout.pieces, (std::vector<int64_t>{8})); // two rows of one by four tiles
  EXPECT_EQ(a.layout.instance.evaluate({5}), 8 + 1);
  EXPECT_EQ(b.layout.pieces, (std::vector<int64_t>{2, 4}));
  EXPECT_EQ(b.layout.instance.evaluate({1, 3}), 8 + 3);
  EXPECT_EQ(c.layout.kind, LayoutKind::Replicated);
}

TEST(HbirCheck, TargetsOfManyTilesAreNotVisited) {
  Session session(
      "target { memory g { size ?; width 8; }; tile t[2147483648][2147483647] { memory l { size 64K; width 8; }; }; }"
      "config { group tg[target.t.x_max][2147483647] { tile target.t[x][y]; }; }"
      "data { A : int[1000000000000] = block[1] { target.g[x]; host; }; }"
      "code { config.tg[x][y] { print(tile_id); } }");
  EXPECT_TRUE(session.program) << session.rendered();
}

} // namespace
} // namespace strata::hbir::testing
