// The characters that words and numbers of text files are made of: ASCII whatever the locale is, as C has them. Pure
// functions.
#pragma once

namespace strata {

constexpr bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
/// What a word can begin with.
constexpr bool isWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool isWordCharacter(char c) {
  return isWordStart(c) || isDigit(c);
}

} // namespace strata
