// Splits preprocessed Sequoia text into tokens. Token texts point into that text, which must outlive them. All tokens
// of a program are made at once, ended by an End token; wrong characters and literals are reported.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/sequoia/syntax/line_map.h"

#include <string_view>
#include <vector>

namespace strata::sequoia {

/// Wrong is what no token begins with; it has been reported.
enum class TokenKind : uint8_t { End, Identifier, Keyword, Integer, Real, Punctuator, Wrong };

/// A keyword or a punctuator is told by its spelling; `code` packs up to eight characters of it so that comparing is
/// one comparison of integers, see spelling().
struct Token {
  TokenKind kind = TokenKind::End;
  uint64_t code = 0;
  std::string_view text;
  Location location;
  // Integer and Real:
  uint64_t integer = 0;
  double real = 0;
  bool isUnsigned = false;
  bool isLong = false;
  bool isFloat = false;
  bool isDecimal = true;
};

/// The code of a spelling; spellings longer than eight characters ("mapreduce", "reducearg") are told apart by their
/// first eight, which the keywords of the language are.
constexpr uint64_t spelling(std::string_view text) {
  uint64_t code = 0;
  for (size_t i = 0; i < text.size() && i < 8; ++i)
    code = code << 8 | static_cast<unsigned char>(text[i]);
  return code;
}

inline bool spells(const Token& token, std::string_view text) {
  return token.code == spelling(text);
}
inline bool isWord(const Token& token) {
  return token.kind == TokenKind::Identifier;
}
/// What messages call a token.
std::string describe(const Token& token);

std::vector<Token> tokenize(std::string_view text, const LineMap& map, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
