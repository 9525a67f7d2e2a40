// Syntax: the three forms are told apart and read whole, mixtures and broken files are refused.
#include "compiler/hbir/hbir_testing.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace strata::hbir::testing {
namespace {

const char* documentExample = R"(
target {
  memory g[4] { size 8G; width 8B; };
  tile t[4][4] { memory l[4] { size 16K; width 8B; }; };
}
config { group all[4][4] { tile target.t[x][y]; }; }
data {
  length = 500;
  const csize = length;
  A : int[length] = block[target.g.x_max] { target.g[x]; chunked; host; global; };
  B : int[length] = block[target.g.x_max] { target.g[x]; chunked; host; };
  C : int[length] = block[target.t.x_max][target.t.y_max] { target.g[x][y]; chunked; device; };
}
code {
  int done = 0;
  config.all[0][0] { bsg_finish(); }
  config.all[x][y] {
    for (int i = tile_id; i < csize; i = i + 16) {
      C[i] = A[i] + B[i];
    }
    done = 1;
  }
}
)";

TEST(HbirParser, ReadsFormA) {
  Session session(documentExample);
  ASSERT_EQ(session.codes(), "") << session.rendered();
  EXPECT_EQ(session.program->form, Form::A);
  EXPECT_EQ(session.program->blocks.size(), 2u);
  EXPECT_EQ(session.program->arrays[2].direction, Direction::Out);
}

TEST(HbirParser, FormAReadsBothKindsOfArraysAndUnknownSizes) {
  Session session(formA("config.all { D[0][0] = 1; }",
                        "in A : int[3][3] { location : config.t, layout : block }"
                        "out D : int[3][3] { location : config.all, layout : chunked, }",
                        "group all[4][4] { tile target.t[x][y]; }", "memory g { size ?; width ?; }; tile t[4][4];"));
  EXPECT_EQ(session.codes(), "") << session.rendered();
}

TEST(HbirParser, ReadsFormB) {
  Session session(formB(R"(
    extern f(x : int, y : float) : int;
    extern g(x : bool);
    t.foo {
      for i in [block_size_A * tile_id : block_size_A * (tile_id + 1)] { C[i] = f(A[i], 2); }
      g(true);
    })"));
  ASSERT_EQ(session.codes(), "") << session.rendered();
  EXPECT_EQ(session.program->form, Form::B);
}

TEST(HbirParser, FormBPlacesGroupsWithoutRanges) {
  Session session(
      formB("t.foo { C[0] = x_max; } t.half { C[1] = x; }",
            "arrange t as { group foo at (0, 0); group half at (xmax/2 : xmax, 0 : y_max) }",
            "in A : int[n] { location : t.l, layout : block } out C : int[n] { location : g, layout : chunked };"));
  EXPECT_EQ(session.codes(), "") << session.rendered();
}

TEST(HbirParser, ReadsFormC) {
  Session session(formC(R"(
    group top_half(th_rows, th_cols) at (0 : rows/2, 0 : cols) {
      group[i in th_rows] row(r, c) at (i, 0 : th_cols) {
        group[j in c] col at (0, j)
      }
    }
    group bottom at (rows/2 : rows, 0 : cols))",
                        "t.top_half.row[x].col[3] { printf(\"%d %d\\n\", x, tile_id); } t.bottom { bsg_finish(); }",
                        "in A : int[64] { location : t.bottom, layout : block }"));
  ASSERT_EQ(session.codes(), "") << session.rendered();
  EXPECT_EQ(session.program->form, Form::C);
  EXPECT_EQ(session.program->groups.size(), 4u);
}

TEST(HbirParser, FormCIsToldByGroupsToo) {
  for (const char* groups :
       {"group[i in 4] row at (i, 0:4)", "group a(r, c) at (0, 0)", "group a at (0:2, 0:2) { group b at (0, 0) }"}) {
    Session session(formB("", std::string("arrange t as {") + groups + "}", ""));
    ASSERT_EQ(session.codes(), "") << session.rendered();
    EXPECT_EQ(session.program->form, Form::C);
  }
}

TEST(HbirParser, ReadsTheExamples) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(STRATA_SOURCE_DIR "/examples/hbir")) {
    if (entry.path().extension() != ".hbir")
      continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    Session first, second;
    ASSERT_TRUE(first.read(text.str())) << entry.path() << "\n" << first.rendered();
    std::string mapping = writeMapping(*first.program);
    ASSERT_TRUE(second.mapped(text.str(), mapping)) << entry.path() << "\n" << mapping << second.rendered();
    EXPECT_EQ(writeMapping(*second.program), mapping) << entry.path();
  }
}

TEST(HbirParser, RefusesMixtures) {
  std::string mixtures[] = {
      formA("t.all { }"),
      formA("config.all[x][y] { for i in [0:4] { } }"),
      formA("", "", "group all[4][4] { tile target.t[x][y]; }; arrange t as { group a at (0, 0); }"),
      formA("", "", "group all[4][4] { tile target.t[x][y]; };", "memory g { size : 8, width : 8 } tile t[4][4];"),
      formA("", "", "group [i in 3] all[4] { tile target.t[x][x]; };"),
      formA("", "", "group all at (0, 0);"),
      formB("config.foo[x][y] { }"),
      formB("", "arrange t as { group foo at (0, 0); }", "A : int[n] = block[4] { target.g[x]; host; };"),
      formB("", "arrange t as { group foo at (0, 0); } group all[4][4] { tile target.t[x][y]; };"),
      formB("", "arrange t as { group foo[2][2] { tile target.t[x][y]; }; }"),
      formC("group a at (0:2, 0:2) { tile target.t[x][y]; }"),
  };
  for (const std::string& text : mixtures) {
    Session session(text);
    const Diagnostic* found = session.find("hbir-mixed-forms");
    ASSERT_TRUE(found) << text << session.rendered();
    EXPECT_NE(session.rendered().find("because"), std::string::npos) << session.rendered();
  }
}

TEST(HbirParser, ChecksSegments) {
  std::string target = "target { tile t[4][4]; }", config = "config { group all[4] { tile target.t[x][0]; }; }";
  std::pair<const char*, std::string> cases[] = {
      {"hbir-segment-missing", target + config + "data { }"},
      {"hbir-segment-missing", ""},
      {"hbir-segment-repeated", target + target + config + "data { } code { }"},
      {"hbir-segment-order", target + "data { }" + config + "code { }"},
      {"hbir-segment-order", target + config + "code { } data { }"},
      {"hbir-unknown-segment", target + config + "data { } cod { }"},
      {"hbir-unknown-segment", "target memory { }"},
  };
  for (const auto& [code, text] : cases) {
    Session session(text);
    ASSERT_TRUE(session.find(code)) << text << session.rendered();
    if (std::string_view(code) != "hbir-unknown-segment")
      EXPECT_NE(session.rendered().find("taken for form"), std::string::npos) << session.rendered();
  }
  EXPECT_EQ(Session(target + config + "data { } code { }").codes(), "");
}

TEST(HbirParser, ChecksWhatIsWrittenWhere) {
  Rule rules[] = {
      {"hbir-syntax", body("int = 3;"), body("int z = 3;")},
      {"hbir-syntax", body("if (ok) int z;"), body("if (ok) { int z; }")},
      {"hbir-syntax", body("g + 1;"), body("g = g + 1;")},
      {"hbir-syntax", body("int break = 1;"), ""},
      {"hbir-unit", body("g = 8K;"), body("g = 8;")},
      {"hbir-for-declaration", body("for (int i = 0, j = 0; i < 4; i++) { }"), body("for (int i = 0; i < 4; ++i) { }")},
      {"hbir-extern-type", formB("extern f(x : int*) : int;"), formB("extern f(x : int) : void;")},
      {"hbir-extern-type", formB("extern f(x : int) : float[4];"), ""},
      {"hbir-field-repeated",
       formA("", "", "group all[4][4] { tile target.t[x][y]; };",
             "memory g { size 8; size 8; width 1; }; tile t[4][4];"),
       ""},
      {"hbir-field-repeated", formA("", "", "group all[4][4] { tile target.t[x][y]; tile target.t[x][y]; };"), ""},
      {"hbir-field-repeated", formA("", "A : int[4] = block[4] { target.g[x]; target.g[x]; };"), ""},
      {"hbir-field-repeated", formA("", "in A : int[4] { location : target.g, location : target.g, layout : block }"),
       ""},
      {"hbir-field-missing", formA("", "A : int[4] = block[4] { host; };"), ""},
      {"hbir-field-missing", formA("", "in A : int[4] { location : target.g }"),
       formA("", "in A : int[4] { layout : block; location : target.g; };")},
      {"hbir-field-missing", formA("", "", "", "memory g { size 8; }; tile t[4][4];"), ""},
      {"hbir-size-unit", formA("", "", "", "memory g { size 8T; width 1; }; tile t[4];"), ""},
      {"hbir-size-unit", formA("", "", "", "memory g { size 0; width 1; }; tile t[4];"), ""},
      {"hbir-size-unit", formA("", "", "", "memory g { size 9000000000000G; width 1; }; tile t[4];"),
       formA("", "", "", "memory g { size 8MB; width 1B; }; tile t[4];")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(HbirParser, SaysOnceWhatOneMistakeCauses) {
  Session empty("");
  EXPECT_EQ(empty.codes(), "hbir-segment-missing");
  EXPECT_NE(empty.rendered().find("'target', 'config', 'data', 'code'"), std::string::npos) << empty.rendered();
  // Fields of form A in a program of form B: however many.
  EXPECT_EQ(
      Session(
          "target { memory g { size 8; width 8; } tile t[4][4]; } config { arrange t as { group a at (0:2, 0:2); } } "
          "data { } code { }")
          .codes(),
      "hbir-mixed-forms");
  // What stands behind a brace that is not closed is not missing.
  EXPECT_FALSE(Session("target { tile t[4][4]; } config { group all[4] { tile target.t[x][0]; } data { } code { }")
                   .find("hbir-segment-missing"));
}

TEST(HbirParser, GoesOnBehindAMistake) {
  // Each is one mistake in one statement or declaration, and none of what follows it is wrong.
  const std::string after = "\nif (g > 1) { g = 2; }\nfor (int k = 0; k < 4; k++) g = g + k;";
  for (const char* wrong : {"for (int i  0; i < 4; i = i + 1) { g = i; }", "for (int i = 0 i < 4; i = i + 1) g = i;",
                            "for int i = 0; i < 4; i = i + 1) g = i;", "for (int i = ; i < 4; i = i + 1) g = i;",
                            "fr (int i = 0; i < 4; i = i + 1) { g = i; }", "(int i = 0; i < 4; i = i + 1) g = i;",
                            "for (it i = 0; i < 4; i = i + 1) { g = i; }", "if g > 1) { g = 1; }",
                            "while (g > ) { g = 1; }", "double h = 3;", "const int h = 3;", "g 3;"}) {
    Session session(body(wrong + after));
    EXPECT_EQ(session.codes(), "hbir-syntax") << session.rendered();
  }
  EXPECT_NE(Session(body("double h = 3;")).rendered().find("take float"), std::string::npos);
  EXPECT_NE(Session(body("fr (int i = 0; i < 4; i++) { }")).rendered().find("did you mean 'for'?"), std::string::npos);
  EXPECT_NE(Session(body("whle (g > 1) { g = 1; }")).rendered().find("did you mean 'while'?"), std::string::npos);
  // What people bring from C has an answer.
  for (auto [wrong, answer] : {std::pair{"continue;", "under an 'if'"},
                               {"return;", "bsg_finish() ends a tile"},
                               {"do { } while (1);", "'while' loop"},
                               {"if (g = 1) { }", "'==' compares"},
                               {"while (g = 1) { }", "'==' compares"},
                               {"C[0,0] = 1;", "brackets of its own"},
                               {"if (g) int z;", "a declaration stands in braces"}}) {
    Session session(body(wrong + after));
    EXPECT_EQ(session.codes(), "hbir-syntax") << session.rendered();
    EXPECT_NE(session.rendered().find(answer), std::string::npos) << session.rendered();
  }
  EXPECT_NE(Session(formA("", "A : double[4] = block[4] { target.g[x]; };")).rendered().find("take float"),
            std::string::npos);
  EXPECT_NE(Session(formA("", "int A[4] = block[4] { target.g[x]; };")).rendered().find("'A : int[n] = …'"),
            std::string::npos);
  // A name that is not declared is one mistake, however often it is used.
  EXPECT_EQ(Session(body("zz = 3; g = zz; g = zz + zz;")).codes(), "hbir-unknown-name");
  EXPECT_EQ(Session(body("zz = 3; g = qq;")).codes(), "hbir-unknown-name hbir-unknown-name");
  // The word before the groups is missing or misspelt: their form is seen all the same.
  for (const char* arrange : {"arrnge t as {", "t as {"}) {
    Session session("target { memory g { size : 8, width : 8 } tile t[4][4]; }\nconfig {\n" + std::string(arrange) +
                    "\ngroup a at (0:2, 0:2); } }\ndata { }\ncode { t.a { } }");
    EXPECT_EQ(session.codes(), "hbir-syntax") << session.rendered();
  }
  // A block in one line lacks its brace there.
  Session session("target { memory g { size : 8, width : 8 } tile t[4][4]; }\nconfig { arrange t as { group a at (0:2, "
                  "0:2); } }\ndata {\n  in A : int[4] { location : t.a, layout : block\n  in B : int[4] { location : "
                  "t.a, layout : block }\n}\ncode { }");
  EXPECT_EQ(session.codes(), "source-missing-closing-brace") << session.rendered();
  EXPECT_NE(session.rendered().find(":4:49"), std::string::npos) << session.rendered();
}

TEST(HbirParser, ReportsSeveralMistakes) {
  Session session(formA("int a = ; int b = 1 +; config.all[x][y] { if (a { } C[0] = ; while a { } } int c = *;"));
  EXPECT_GE(session.diagnostics.errorCount(), 5u) << session.rendered();
}

TEST(HbirParser, BoundsNestingAndLength) {
  auto times = [](const std::string& text, size_t count) {
    std::string result;
    for (size_t i = 0; i < count; ++i)
      result += text;
    return result;
  };
  size_t many = 100000;
  std::string deep[] = {
      body("g = " + times("(", many) + "1" + times(")", many) + ";"),
      body(times("{", many)),
      body("g = " + times("!", many) + "1;"),
      body(times("if (ok) ", many) + ";"),
      body("g = " + times("C[", many)),
      body(times("if (ok) { } else ", many) + ";"),
      formA("", "", times("group g[1] {", many)),
      formC(times("group a at (0, 0) {", many)),
  };
  for (const std::string& text : deep) {
    Session session(text);
    ASSERT_TRUE(session.find("hbir-nesting")) << session.rendered();
    EXPECT_FALSE(session.find("hbir-nesting")->labels.empty());
  }
  Session chain(body("g = 1" + times(" + 1", many) + ";"));
  EXPECT_TRUE(chain.find("hbir-expression-size")) << chain.rendered();
  EXPECT_EQ(Session(body("g = 1" + times(" + 1", 900) + ";")).codes(), "");
  EXPECT_EQ(Session(body("g = " + times("(", 100) + "1" + times(")", 100) + ";")).codes(), "");
}

TEST(HbirParser, RefusesEveryTruncation) {
  std::string text = documentExample;
  text.resize(text.find_last_of('}'));
  for (size_t length = 0; length < text.size(); ++length) {
    Session session(text.substr(0, length));
    ASSERT_TRUE(session.diagnostics.hasErrors()) << text.substr(0, length);
    ASSERT_FALSE(session.rendered().empty());
  }
}

} // namespace
} // namespace strata::hbir::testing
