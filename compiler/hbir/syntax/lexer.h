// Splits the text of an HBIR program or mapping file into tokens. Token texts point into that text, which must outlive
// them. All tokens are made at once, ended by an End token; wrong characters and literals are reported and left out.
#pragma once

#include "base/source/diagnostic.h"

#include <string_view>
#include <vector>

namespace strata::hbir {

enum class TokenKind : uint8_t { End, Word, Integer, Real, Text, Punctuator };

/// Words are told apart by the parser: most of HBIR's keywords mean something only in one place.
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text; // for Text without the quotes, escapes as written
  Location location;
  int64_t integer = 0;
  double real = 0;
  std::string_view unit; // of an Integer: "K", "B", …; only sizes may have one
};

inline bool spells(const Token& token, std::string_view text) {
  return token.kind != TokenKind::Text && token.text == text;
}
inline bool isWord(const Token& token) {
  return token.kind == TokenKind::Word;
}
/// What messages call a token.
std::string describe(const Token& token);

std::vector<Token> tokenize(BufferId file, DiagnosticEngine& diagnostics);

} // namespace strata::hbir
