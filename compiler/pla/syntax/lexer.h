// Tokens of the loop language: C's, with the words `and`, `or`, `not` and `mod` beside the signs that mean the same.
// Takes a file, gives its tokens; what is none is reported. Used by one thread; the file must outlive the tokens.
#pragma once

#include "base/source/diagnostic.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::pla {

enum class TokenKind : uint8_t { End, Word, Integer, Real, Punctuator };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;     // what it means: `and` is "&&"
  std::string_view spelling; // what stands there
  uint64_t integer = 0;
  double real = 0;
  bool isFloat = false; // a real with the suffix f
  Location location;
};

inline bool spells(const Token& token, std::string_view text) {
  return token.kind != TokenKind::End && token.text == text;
}
inline bool isWord(const Token& token) {
  return token.kind == TokenKind::Word;
}
/// What messages call it.
std::string describe(const Token& token);

/// The last one is the end of the file.
std::vector<Token> tokenize(BufferId file, DiagnosticEngine& diagnostics);

} // namespace strata::pla
