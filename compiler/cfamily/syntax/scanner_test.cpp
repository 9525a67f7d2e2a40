// Text cut into C's tokens: what belongs to which, and comments and strings that do not end.
#include "compiler/cfamily/syntax/scanner.h"

#include "base/source/characters.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata::cfamily {
namespace {

/// Cuts a text into words, numbers, strings and signs; what is none of these is left out, with a "?".
class Cutter : Scanner {
public:
  explicit Cutter(std::string_view text) : Scanner(text) {}

  std::string run(std::vector<std::string_view> further = {}) {
    std::string text;
    Next next = skipSpace();
    for (; next == Next::Token; next = skipSpace())
      text += (text.empty() ? "" : " ") + one(further);
    return next == Next::OpenComment ? text + " open at " + std::to_string(at_) : text;
  }

private:
  std::string one(const std::vector<std::string_view>& further) {
    const size_t begin = at_;
    if (isWordStart(peek()))
      return std::string(takeWord());
    if (isDigit(peek()) || (peek() == '.' && isDigit(peek(1)))) {
      const Number number = takeNumber();
      return (number.isReal ? "real:" : "integer:") + std::string(number.text);
    }
    if (peek() == '"')
      return (takeString() ? "string:" : "open:") + std::string(since(begin));
    const std::string_view sign = takeSign(further);
    at_ += sign.empty();
    return sign.empty() ? "?" : std::string(sign);
  }
};

TEST(Scanner, PassesOverSpaceAndComments) {
  EXPECT_EQ(Cutter("").run(), "");
  EXPECT_EQ(Cutter(" \t\r\n a//b\nc /* d\n // */e//").run(), "a c e");
  EXPECT_EQ(Cutter("/**/a/*/*/b").run(), "a b");
  EXPECT_EQ(Cutter("a /* b").run(), "a open at 2");
  EXPECT_EQ(Cutter("a /*/").run(), "a open at 2");
  EXPECT_EQ(Cutter("a / * b").run(), "a / * b");
}

TEST(Scanner, TakesTheLongestSign) {
  EXPECT_EQ(Cutter("a<<=b<<c<=d<e").run(), "a <<= b << c <= d < e");
  EXPECT_EQ(Cutter("a+++b--->c").run(), "a ++ + b -- - > c");
  EXPECT_EQ(Cutter("a--->b...c::d").run({"...", "::", "->"}), "a -- -> b ... c :: d");
  EXPECT_EQ(Cutter("a...b::c").run(), "a . . . b : : c");
  EXPECT_EQ(Cutter("a @ b").run(), "a ? b");
}

TEST(Scanner, TakesNumbersAsThePreprocessorDoes) {
  EXPECT_EQ(Cutter("12 0x1F 017u 1ul").run(), "integer:12 integer:0x1F integer:017u integer:1ul");
  EXPECT_EQ(Cutter("1. .5 1e5 1e-5f 1.5e+3+2").run(), "real:1. real:.5 real:1e5 real:1e-5f real:1.5e+3 + integer:2");
  // In hexadecimal e is a digit, and p the exponent's letter.
  EXPECT_EQ(Cutter("0x1e-5 0x1p-5").run(), "integer:0x1e - integer:5 real:0x1p-5");
  EXPECT_EQ(Cutter("12ab 1.2.3 1e").run(), "integer:12ab real:1.2.3 real:1e");
}

TEST(Scanner, TakesStringsToTheirLine) {
  EXPECT_EQ(Cutter(R"("a" "b\"c" "\\" d)").run(), R"(string:"a" string:"b\"c" string:"\\" d)");
  EXPECT_EQ(Cutter("\"a\nb").run(), "open:\"a b");
  EXPECT_EQ(Cutter("\"a\\").run(), "open:\"a\\");
  EXPECT_EQ(Cutter("\"a\\\nb").run(), "open:\"a\\ b");
}

} // namespace
} // namespace strata::cfamily
