// Tokens: numbers, characters, comments, and what is none.
#include "compiler/sequoia/sequoia_testing.h"
#include "compiler/sequoia/syntax/lexer.h"

namespace strata::sequoia::testing {
namespace {

std::vector<Token> tokens(Session& session, const std::string& text) {
  BufferId file = session.sources.add("test.sq", text, SourceKind::Program);
  std::string_view kept = session.sources.buffer(file).text();
  return tokenize(kept, LineMap::identity(file), session.diagnostics);
}

TEST(SequoiaLexer, ReadsLiterals) {
  Session session;
  std::vector<Token> all = tokens(session, "1 0x10UL 010 1.5f 2e-3 .5 'a' '\\x41' '\\0' mapreduce reducearg mapred");
  ASSERT_EQ(session.codes(), "");
  EXPECT_EQ(all[1].integer, 16u);
  EXPECT_TRUE(all[1].isUnsigned && all[1].isLong);
  EXPECT_EQ(all[2].integer, 8u);
  EXPECT_TRUE(all[3].isFloat);
  EXPECT_EQ(all[4].real, 2e-3);
  EXPECT_EQ(all[6].integer, 97u);
  EXPECT_EQ(all[7].integer, 65u);
  EXPECT_EQ(all[9].kind, TokenKind::Keyword);
  EXPECT_NE(all[9].code, all[10].code);
  EXPECT_EQ(all[11].kind, TokenKind::Identifier);
}

TEST(SequoiaLexer, ReportsWhatIsNoToken) {
  std::pair<const char*, const char*> cases[] = {
      {"a @ b", "sequoia-character"},
      {"a \x01 b", "sequoia-character"},
      {"/* open", "sequoia-open-comment"},
      {"99999999999999999999", "sequoia-number"},
      {"0x", "sequoia-number"},
      {"12ab", "sequoia-number"},
      {"1.0l", "sequoia-number"},
      {"1e", "sequoia-number"},
      {"1uu", "sequoia-number"},
      {"''", "sequoia-character-literal"},
      {"'ab'", "sequoia-character-literal"},
      {"'\\q'", "sequoia-character-literal"},
      {"'", "sequoia-character-literal"},
      {"\"text\"", "sequoia-string"},
      {"\"open", "sequoia-string"},
  };
  for (auto [text, code] : cases) {
    Session session;
    tokens(session, text);
    EXPECT_TRUE(session.find(code)) << text << "\n" << session.rendered();
  }
}

} // namespace
} // namespace strata::sequoia::testing
