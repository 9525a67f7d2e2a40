// The rules of the code segment: names, types, paths of blocks, printing, and loops that wait.
#include "compiler/hbir/hbir_testing.h"

namespace strata::hbir::testing {
namespace {

std::string printed(const std::string& text) {
  Session session(text);
  EXPECT_TRUE(session.program) << text << session.rendered();
  return session.program ? printAst(*session.program) : "";
}

void expectIn(const std::string& text, std::initializer_list<const char*> lines) {
  std::string all = printed(text);
  for (const char* line : lines)
    EXPECT_NE(all.find(line), std::string::npos) << "no '" << line << "' in\n" << all;
}

TEST(HbirCode, Paths) {
  std::string nested = "group a[2] { group b[2][3] { tile target.t[a.x*2+b.x][y]; }; };";
  auto path = [&](const std::string& text) { return formA(text + " { }", "k = 1;", nested); };
  Rule rules[] = {
      {"hbir-path-group", path("config"), path("config.a.b")},
      {"hbir-path-group", path("config.a[x]"), path("config.a[x].b")},
      {"hbir-path-root", formB("u.foo { }"), formB("t.foo { }")},
      {"hbir-path-root", formB("t[0].foo { }"), ""},
      {"hbir-unknown-name", path("config.c"), ""},
      {"hbir-unknown-name", path("config.a.c"), ""},
      {"hbir-path-indices", path("config.a[x].b[y]"), path("config.a[x].b[y][z]")},
      {"hbir-path-indices", path("config.a[x][y].b"), path("config.a[i].b[1][k+1]")},
      {"hbir-path-range", path("config.a[2].b"), path("config.a[1].b")},
      {"hbir-path-range", path("config.a[-1].b"), ""},
      {"hbir-path-twice", path("config.a[x].b[x][y]"), path("config.a[y].b[x][z]")},
      {"hbir-not-constant", path("config.a[1.5].b"), path("config.a[k].b")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
  expectIn(formA("config.a[i].b[1][j] { print(i, j, x, y, z, a.x, b.x, b.y, x_max, y_max, z_max, b.y_max, "
                 "config.a.x_max, tile_id); }",
                 "", nested),
           {"block config.a[i].b[1][j] runs on i<2 j<3 tile[i*2 + 1][j]",
            "%d(i) \" \" %d(j) \" \" %d(x) \" \" %d(1) \" \" %d(z) \" \" %d(a.x) \" \" %d(1) \" \" %d(b.y) \" \" %d(2) "
            "\" \" %d(2) \" \" "
            "%d(3) \" \" %d(3) \" \" %d(2) \" \" %d(tile_id)"});
}

TEST(HbirCode, NamesOfArrangements) {
  std::string groups =
      "group top(r, c) at (0:4, 0:8) { group[i in r] row(p, q) at (i, 0:c) { group[j in q] col at (0, j) } }";
  expectIn(formC(groups, "t.top.row[k].col[3] { print(k, i, j, x, y, x_max, r, q, rows, row.i); }"),
           {"runs on k<4 col.x<1 col.y<1", "%d(k) \" \" %d(i) \" \" %d(3) \" \" %d(x) \" \" %d(y) \" \" %d(1) \" \" "
                                           "%d(4) \" \" %d(8) \" \" %d(8) \" \" %d(row.i)"});
  expectIn(
      formC(groups, "t.top { print(x, y, y_max); } t.top.row[0][0][y] { print(y); }"),
      {"block t.top runs on top.x<4 top.y<8 tile[top.x][top.y]", "block t.top.row[0][0][y] runs on y<8 tile[0][y]"});
  expectIn(formB("t.foo { print(x, y_max, block_size_A, tile_id); }"),
           {"%d(x) \" \" %d(4) \" \" %d(2) \" \" %d(tile_id)"});
}

TEST(HbirCode, WhatIsWrittenFromOtherLanguagesIsOneMessageThatSaysWhatIsMeant) {
  const struct {
    std::string program;
    const char *code, *help;
  } cases[] = {
      {body("C(1) = A(1) + A(2);"), "hbir-array-call", "square brackets: C[i]"},
      {body("g = B(1, 2);"), "hbir-array-call", "square brackets: B[i][j]"},
      {body("C = A + A;"), "hbir-index-count", "element by element: C[i]"},
      {body("h = h ^ 2;"), "hbir-integer-operator", "a power is pow(x, y)"},
      {body("g = g ** 2;"), "hbir-syntax", "a power is pow(x, y)"},
      {body("*C = 1;"), "hbir-syntax", "HBIR has no pointers"},
      {body("if (g > 1 and g < 2) { }"), "hbir-syntax", "the operator is '&&'"},
      {body("while (g > 1 or g < 2) { }"), "hbir-syntax", "the operator is '||'"},
      {body("for (int i = 0; i = 4; i++) { }"), "hbir-syntax", "'==' compares two values"},
      {formA("", "D int[4] = block[1] { target.g; };"), "hbir-syntax", "an array's type stands behind its name"},
  };
  for (const auto& each : cases) {
    Session session(each.program);
    EXPECT_EQ(session.codes(), each.code) << each.program << session.rendered();
    EXPECT_NE(session.rendered().find(each.help), std::string::npos) << each.program << session.rendered();
  }
  // Two statements are two mistakes.
  EXPECT_EQ(Session(body("C(1) = 1; g = A(1);")).codes(), "hbir-array-call hbir-array-call");
}

TEST(HbirCode, Expressions) {
  Rule rules[] = {
      {"hbir-unknown-name", body("g = gg;"), body("g = x;")},
      {"hbir-unknown-name", body("g = tg.z;"), body("g = tg.x;")},
      {"hbir-unknown-name", formA("int later; later = x;"), formA("int later; later = 1;")},
      {"hbir-unknown-name", formA("config.tg { late = 1; } int late;"), formA("int late; config.tg { late = 1; }")},
      {"hbir-index-count", body("g = A;"), body("g = A[0];")},
      {"hbir-index-count", body("h = B[0];"), body("h = B[0][3];")},
      {"hbir-not-array", body("g = g[0];"), ""},
      {"hbir-not-array", body("g = x[0];"), ""},
      {"hbir-index-type", body("g = A[1.5];"), body("g = A[1];")},
      {"hbir-index-type", body("g = A[ok];"), ""},
      {"hbir-index-range", body("g = A[16];"), body("g = A[15];")},
      {"hbir-index-range", body("g = A[-1];"), body("g = A[-g];")},
      {"hbir-integer-operator", body("g = h % 2;"), body("g = g % 2;")},
      {"hbir-integer-operator", body("g = ~h;"), body("g = ~g;")},
      {"hbir-integer-operator", body("h <<= 1;"), body("g <<= 1;")},
      {"hbir-zero-divisor", body("g = g / 0;"), body("h = h / 0.0;")},
      {"hbir-zero-divisor", body("g %= 0;"), body("g %= 1;")},
      {"hbir-unknown-function", body("g = sqr(2);"), body("h = sqrt(2);")},
      {"hbir-array-call", body("g = A(1);"), body("g = A[1];")},
      {"hbir-array-call", body("B(1, 2) = 1;"), body("B[1][2] = 1;")},
      {"hbir-argument-count", body("h = pow(2);"), body("h = pow(2, 3);")},
      {"hbir-argument-count", formB("extern f(x : int) : int; t.foo { C[0] = f(); }"),
       formB("extern f() : int; t.foo { C[0] = f(); }")},
      {"hbir-void-value", formB("extern f(); t.foo { C[0] = f(); }"), formB("extern f(); t.foo { f(); }")},
      {"hbir-compound-call", formB("extern f(x : int) : int; t.foo { C[f(0)] += 1.5; }"),
       formB("extern f(x : int) : int; t.foo { C[f(0)] += 1; int i = f(0); C[i] += 1.5; }")},
      {"hbir-duplicate-parameter", formB("extern f(x : int, x : int);"), formB("extern f(x : int, y : int);")},
      {"hbir-duplicate-name", formB("extern f(); extern f();"), ""},
      {"hbir-duplicate-name", formA("int A;"), formA("int D;")},
      {"hbir-unknown-field", body("g = target.g.depth;"), body("g = target.g.width;")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
  expectIn(body("g = 1 + 2 * 3 - 4; h = g; g = h + ok; ok = g; ok = ok && g == 2 || !h; h = g < 1 ? 1 : 2.5; g = -7 % "
                "3 >> 1 & 3;"
                "g += 1.5; h *= 2; ok += 1; g = min(1, 2); h = max(1, h); g = abs(-g); g = 'a';"),
           {"g = ((1 + (2 * 3)) - 4)", "h = float{g}", "g = int{(h + float{ok})}", "ok = bool{g}",
            "ok = ((ok && (g == 2)) || !bool{h})", "h = ((g < 1) ? float{1} : 2.5)", "g = (((-7 % 3) >> 1) & 3)",
            "g = int{(float{g} + 1.5)}", "h *= float{2}", "ok = bool{(int{ok} + 1)}", "g = min(1, 2)",
            "h = max(float{1}, h)", "g = abs(-g)", "g = 97"});
}

TEST(HbirCode, Statements) {
  Rule rules[] = {
      {"hbir-assign", body("x = 1;"), body("int x; x = 1;")},
      {"hbir-assign", body("tile_id += 1;"), ""},
      {"hbir-assign", body("x_max = 1;"), ""},
      {"hbir-assign", formA("config.tg[x][y] { n = 1; }", "n = 4;"),
       formA("config.tg[x][y] { int n = 1; n = 2; }", "n = 4;")},
      {"hbir-assign", body("A[0] = 1;"), body("B[0][0] = A[0];")},
      {"hbir-assign", body("3 = 1;"), ""},
      {"hbir-assign", formB("t.foo { for i in [0:1.5] { } }"), formB("t.foo { for i in [0:true] { } }")},
      {"hbir-break", body("break;"), body("while (ok) { if (g) break; }")},
      {"hbir-break", formA("if (true) { break; }"), formA("for (;;) { break; }")},
      {"hbir-finish", formA("bsg_finish();"), body("bsg_finish();")},
      {"hbir-void-value", body("g = bsg_finish();"), ""},
      {"hbir-wait-outside", formA("int g; while (g == 0) { }"), formA("int g; while (g == 0) { g = 1; }")},
      {"hbir-wait-outside", formA("int g; if (g == 0) { for (;;) { if (g == 1) break; } }"),
       formA("int g; config.tg[x][y] { for (;;) { if (g == 1) break; } }")},
      {"hbir-redeclared", body("int a; float a;"), body("int a; { float a; }")},
      {"hbir-array-initial", body("int a[4] = 1;"), body("int a[4]; a[0] = 1;")},
      {"hbir-local-array-size", body("int a[257];"), body("int a[128]; bool b[512];")},
      {"hbir-extent", body("int a[0];"), ""},
      {"hbir-not-constant", body("int a[2.5];"), body("int a[2][3]; a[1][2] = 1;")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
}

TEST(HbirCode, Printing) {
  Rule rules[] = {
      {"hbir-print-zero", body("printf(\"a\\0b\");"), body("printf(\"a%cb\", 0);")},
      {"hbir-print-format", body("printf(\"%s\", g);"), body("printf(\"%5d %-3u %x %c %i %ld\", g, g, g, g, g, g);")},
      {"hbir-print-format", body("printf(\"%\");"), body("printf(\"%%\");")},
      {"hbir-print-format", body("printf(\"%1234d\", g);"), body("printf(\"%123d\", g);")},
      {"hbir-print-type", body("printf(\"%d\", h);"), body("printf(\"%8.3f %e %g\", h, h, h);")},
      {"hbir-print-type", body("printf(\"%f\", g);"), ""},
      {"hbir-print-type", body("printf(\"%x\", ok);"), body("printf(\"%d\", ok);")},
      {"hbir-print-count", body("printf(\"%d %d\", g);"), body("printf(\"%d\", g);")},
      {"hbir-print-count", body("printf(\"\", g);"), body("print(\"a\");")},
      {"hbir-print-escape", body("printf(\"\\q\");"), body("printf(\"\\n\\t\\x41\\\"\");")},
  };
  for (const Rule& rule : rules)
    testRule(rule);
  expectIn(body("printf(\"a%5ldb\\n\", g); print(g, h, ok); print();"),
           {"print \"a\" %5d(g) \"b\\n\"", "print \"\" %d(g) \" \" %g(h) \" \" %d(ok) \"\\n\"", "print \"\\n\""});
}

TEST(HbirCode, CsizeIsGuessedWithAWarning) {
  Session session(body("for (int i = 0; i < csize; i++) { C[i] = A[i]; }"));
  EXPECT_EQ(session.codes(), "hbir-csize") << session.rendered();
  ASSERT_TRUE(session.program);
  EXPECT_NE(printAst(*session.program).find("(i < 16)"), std::string::npos);
  EXPECT_TRUE(Session(body("g = csize;")).find("hbir-unknown-name"));
  EXPECT_EQ(Session(formA("config.tg { C[0] = csize; }", "csize = 3; C : int[16] = block[4] { target.g[x]; device; };"))
                .codes(),
            "");
}

TEST(HbirCode, FindsLoopsThatWait) {
  std::pair<const char*, bool> loops[] = {
      {"while (g == 0) { }", true},
      {"while (C[x] == 0) { int n; n = n + 1; }", true},
      {"for (; g != 3; ) { h = 1.0; }", true},
      {"while (!ok) { if (g) { g = 1; } }", true},
      {"while (true) { if (g == 1) { break; } }", true},
      {"for (;;) { if (g == 1) break; }", true},
      {"while (g == 0) { g = 1; }", true},
      {"while (g < 4) { if (ok) { g += 1; } }", true},
      {"for (int i = 0; i < g; i++) { }", false},
      {"int n; while (C[n] == 0) { n = n + 1; }", false},
      {"for (int i = 0; i < 4; i++) { if (g == 1) break; }", false},
      {"int n; for (;;) { n = n + 1; if (n > 5) break; }", false},
      {"int n; while (n < 4) { n += 1; }", false},
      {"while (true) { if (g == 1) break; if (h > 2.0) break; h = h + 1.0; }", true},
      // Tiles write g, and what it decides takes many ways.
      {"int v = g; while (v == 0) { v = g; } g = 1;", true},
      {"bool go; while (!go) { if (g) go = true; } g = 1;", true},
      {"int s; while (s < 4) { s = 0; for (int i = 0; i < 4; i++) s += g; } g = 1;", true},
      {"int w = -1; while (w < 0) { for (int i = 0; i < 4; i++) { if (g == i) w = i; } } g = 1;", true},
      {"for (int v = 0; v == 0; v = g) { } g = 1;", true},
      {"while (true) { if (g == 1) { bsg_finish(); } } g = 1;", true},
      {"while (true) { for (int i = 0; i < 4; i++) { if (g == 1) bsg_finish(); } } g = 1;", true},
      {"int n; while (n < 4) { if (g > n) { n = n + 1; } } g = 1;", true},
      {"int n; while (n < g) { n = n + 1; } g = 3;", true},
      {"int n = 9; int v; while (v == 0) { if (n > 3) { v = 1; } n = g; } g = 1;", true},
      {"while (true) { if (g == 1) { h = 2.0; } } g = 1;", true},
      // Loops that end by what they do themselves, whatever others write.
      {"for (int i = 0; i < 4; i++) { if (g == 1) break; } g = 1;", false},
      {"for (int i = 0; i < g; i++) { h = 1.0; } g = 2;", false},
      {"int n; while (n < 4 && g == 0) { n++; } g = 1;", false},
      {"int n = 9; while (g == 0 && n >= 0) { n -= 1; } g = 1;", false},
      {"int n; int m; while (n < 4 && m < 5) { if (g == 0) { n++; } else { m = m + 1; } } g = 1;", false},
      {"int n; int m; while (n < 4 && m < 5) { if (g == 0) { n++; } } g = 1;", true},
      {"int n; while (n < 4 && g == 0) { n++; if (ok) { n = 0; } } g = 1;", true},
      {"int n; while (n <= 2147483647 && g == 0) { n++; } g = 1;", true},
      {"int n; while (n < 5) { } g = 1;", false},
  };
  for (auto [loop, waits] : loops)
    EXPECT_EQ(printed(body(loop)).find(" waits") != std::string::npos, waits) << loop;
}

} // namespace
} // namespace strata::hbir::testing
