// Literals against what the compiler of this test makes of the same text.
#include "compiler/cfamily/syntax/literal.h"

#include "compiler/cfamily/check/scalar.h"

#include <gtest/gtest.h>

#include <limits>

namespace strata::cfamily {
namespace {

template <typename T>
constexpr Scalar typeNamed() {
  if constexpr (std::is_same_v<T, int>)
    return Scalar::Int;
  else if constexpr (std::is_same_v<T, unsigned>)
    return Scalar::UnsignedInt;
  else if constexpr (std::is_same_v<T, long>)
    return Scalar::Long;
  else
    return Scalar::UnsignedLong;
}

template <typename T>
void expectInteger(const char* text, T value) {
  IntegerLiteral literal = integerLiteral(text);
  EXPECT_EQ(literal.problem, "") << text;
  EXPECT_EQ(literal.value, static_cast<uint64_t>(value)) << text;
  EXPECT_EQ(typeOfLiteral(literal.value, literal.isDecimal, literal.isUnsigned, literal.isLong), typeNamed<T>())
      << text;
}
#define EXPECT_INTEGER(text) expectInteger(#text, text)

TEST(Literals, IntegersHaveTheFirstTypeThatHoldsThem) {
  EXPECT_INTEGER(0);
  EXPECT_INTEGER(0u);
  EXPECT_INTEGER(017);
  EXPECT_INTEGER(0x1F);
  EXPECT_INTEGER(0X1fUL);
  EXPECT_INTEGER(2147483647);
  EXPECT_INTEGER(2147483648);
  EXPECT_INTEGER(2147483648u);
  EXPECT_INTEGER(4294967295u);
  EXPECT_INTEGER(4294967296u);
  EXPECT_INTEGER(0x7FFFFFFF);
  EXPECT_INTEGER(0x80000000);
  EXPECT_INTEGER(0xFFFFFFFF);
  EXPECT_INTEGER(0x100000000);
  EXPECT_INTEGER(020000000000);
  EXPECT_INTEGER(1l);
  EXPECT_INTEGER(0x80000000l);
  EXPECT_INTEGER(9223372036854775807);
  EXPECT_INTEGER(0x8000000000000000);
  EXPECT_INTEGER(18446744073709551615u);
}

TEST(Literals, SayWhatIsWrongWithAnInteger) {
  EXPECT_EQ(integerLiteral("18446744073709551616").problem, "it does not fit in 64 bits");
  EXPECT_EQ(integerLiteral("12ab").problem, "unexpected 'ab'");
  EXPECT_EQ(integerLiteral("089").problem, "unexpected '89'");
  EXPECT_EQ(integerLiteral("0x").problem, "unexpected 'x'");
  EXPECT_EQ(integerLiteral("1uu").problem, "unexpected 'u'");
  EXPECT_EQ(integerLiteral("1lll").problem, "unexpected 'l'");
}

TEST(Literals, RealsAreRoundedToTheirTypeOnce) {
#define EXPECT_REAL(text)                                                                                              \
  EXPECT_EQ(realLiteral(#text).value, static_cast<double>(text)) << #text;                                             \
  EXPECT_EQ(realLiteral(#text).isFloat, (std::is_same_v<decltype(text), float>)) << #text
  EXPECT_REAL(1.5);
  EXPECT_REAL(.1);
  EXPECT_REAL(.1f);
  EXPECT_REAL(1.);
  EXPECT_REAL(2e-3);
  EXPECT_REAL(1e300);
  EXPECT_REAL(0x1.8p4);
  // By way of double this rounds up.
  EXPECT_REAL(1.00000005960464477550f);
#undef EXPECT_REAL
  EXPECT_EQ(realLiteral("1.0l").problem, "there is no long double");
  EXPECT_EQ(realLiteral("1.2.3").problem, "unexpected '.3'");
  EXPECT_EQ(realLiteral("1e").problem, "unexpected 'e'");
}

TEST(Literals, EscapesAreThoseOfC) {
  std::pair<std::string_view, char> good[] = {{"n", '\n'},     {"\\", '\\'},    {"0", '\0'},     {"101", '\101'},
                                              {"x41", '\x41'}, {"xff", '\xff'}, {"377", '\377'}, {"?", '\?'}};
  for (auto [text, value] : good) {
    size_t at = 0;
    EXPECT_EQ(readEscape(text, at), value) << text;
    EXPECT_EQ(at, text.size());
  }
  for (std::string_view text : {"", "q", "x", "xg", "400", "8", "-1"}) {
    size_t at = 0;
    EXPECT_FALSE(readEscape(text, at)) << text;
    EXPECT_EQ(at, 0u);
  }
  size_t at = 1;
  EXPECT_EQ(readEscape("\\x414", at), 'A');
  EXPECT_EQ(at, 4u);
  EXPECT_EQ(characterValue('a'), 'a');
  EXPECT_EQ(characterValue('\xff'), -1);
}

TEST(Literals, RealsAreWrittenSoThatTheyReadBack) {
  for (double value : {0.1, 1.0, 1e300, 5e-324, 1.0 / 3, std::numeric_limits<double>::max()})
    EXPECT_EQ(realLiteral(realText(value)).value, value);
  EXPECT_EQ(realText(0.1), "0.1");
}

} // namespace
} // namespace strata::cfamily
