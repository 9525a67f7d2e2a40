// C's literals: what numbers and escapes mean, and how a real number is written so that it reads back. Pure functions;
// safe from any thread. What is wrong with a literal is given back in words, for the notation's own message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace strata::cfamily {

/// 12, 0x1F, 017, with any of the suffixes u, l and ll.
struct IntegerLiteral {
  uint64_t value = 0;
  bool isDecimal = true;
  bool isUnsigned = false;
  bool isLong = false;
  std::string problem; // empty: there is none
};
/// REQUIRES: `word` begins with a digit.
IntegerLiteral integerLiteral(std::string_view word);

/// 1.5, 2e-3, 0x1p4, with or without the suffix f.
struct RealLiteral {
  double value = 0; // of a float: rounded once
  bool isFloat = false;
  std::string problem;
};
/// REQUIRES: `word` is not empty.
RealLiteral realLiteral(std::string_view word);

/// The value of the escape whose backslash stands before `at`, which moves behind it; nothing, and `at` stays, when
/// there is none.
std::optional<char> readEscape(std::string_view text, size_t& at);

/// A char is signed: the value of '\xFF' is -1.
constexpr int64_t characterValue(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 128 ? byte : byte - 256;
}

/// The shortest text that reads back as the number.
std::string realText(double value);

} // namespace strata::cfamily
