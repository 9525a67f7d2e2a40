// Tokens: numbers and their units, texts, comments, and what is none.
#include "compiler/hbir/hbir_testing.h"
#include "compiler/hbir/syntax/lexer.h"

namespace strata::hbir::testing {
namespace {

std::vector<Token> tokens(Session& session, const std::string& text) {
  return tokenize(session.sources.add("test.hbir", text, SourceKind::Program), session.diagnostics);
}

TEST(HbirLexer, ReadsLiterals) {
  Session session;
  std::vector<Token> all =
      tokens(session, "8G 0x10 1.5f 2e-3 .5 2f 'a' '\\n' \"a\\\"b\" block_size_A // x\n /* y */ <<=");
  ASSERT_EQ(session.codes(), "");
  EXPECT_EQ(all[0].integer, 8);
  EXPECT_EQ(all[0].unit, "G");
  EXPECT_EQ(all[1].integer, 16);
  EXPECT_EQ(all[2].real, 1.5);
  EXPECT_EQ(all[3].real, 2e-3);
  EXPECT_EQ(all[4].real, 0.5);
  EXPECT_EQ(all[5].kind, TokenKind::Real);
  EXPECT_EQ(all[6].integer, 'a');
  EXPECT_EQ(all[7].integer, '\n');
  EXPECT_EQ(all[8].text, "a\\\"b");
  EXPECT_EQ(all[9].kind, TokenKind::Word);
  EXPECT_EQ(all[10].text, "<<=");
  EXPECT_EQ(all[11].kind, TokenKind::End);
}

TEST(HbirLexer, ReportsWhatIsNoToken) {
  std::pair<std::string_view, const char*> cases[] = {
      {"a @ b", "hbir-character"},
      {"a \x01 b", "hbir-character"},
      {"\xc3\xa4", "hbir-character"},
      {std::string_view("a\0b", 3), "hbir-no-text"},
      {"/* open", "hbir-open-comment"},
      {"99999999999999999999", "hbir-number"},
      {"0x", "hbir-number"},
      {"1.0l", "hbir-number"},
      {"''", "hbir-text"},
      {"'ab'", "hbir-text"},
      {"'\\q'", "hbir-text"},
      {"\"open", "hbir-text"},
      {"'", "hbir-text"},
  };
  for (auto [text, code] : cases) {
    Session session;
    tokens(session, std::string(text));
    EXPECT_TRUE(session.find(code)) << text << "\n" << session.rendered();
  }
}

TEST(HbirLexer, ReportsARunOfWrongBytesOnce) {
  for (std::string text : {"a = \xc3\xa4\xc3\xb6; b", "a @@@#$ b"}) {
    Session session;
    tokens(session, text);
    EXPECT_EQ(session.codes(), "hbir-character") << session.rendered();
  }
  // A file that is no text is not looked into, and a program with wrong tokens is not parsed.
  EXPECT_EQ(Session(std::string("target {\0 @ } \0 /*", 18)).codes(), "hbir-no-text");
  EXPECT_EQ(Session("target { @ }").codes(), "hbir-character");
}

TEST(HbirLexer, NamesTheLineAndColumnOfAWrongByte) {
  Session session;
  tokens(session, "target {\n  \x01 }");
  ASSERT_TRUE(session.find("hbir-character"));
  LineColumn at = session.sources.lineColumn(session.find("hbir-character")->labels[0].location);
  EXPECT_EQ(at.line, 2u);
  EXPECT_EQ(at.column, 3u);
}

} // namespace
} // namespace strata::hbir::testing
