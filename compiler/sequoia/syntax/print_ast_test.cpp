// The printed tree: conversions, folded constants and resolved forms.
#include "compiler/sequoia/sequoia_testing.h"

namespace strata::sequoia::testing {
namespace {

std::string printedBody(const std::string& statements) {
  Session session(leaf(statements));
  if (!session.program)
    return session.rendered();
  std::string text = printAst(*session.program);
  size_t at = text.find("task<leaf>");
  return text.substr(text.find("sizes N\n", at) + 8);
}

TEST(SequoiaPrintAst, ShowsConversions) {
  EXPECT_EQ(printedBody("B[x] = A[0] * 2;"), "  do B[x] = (A[0] * 2:float)\n");
  EXPECT_EQ(printedBody("y = N + x;"), "  do y = {int}(N + {long}x)\n");
  EXPECT_EQ(printedBody("B[0] += 1.5;"), "  do B[0] += 1.5:double in double\n");
  EXPECT_EQ(printedBody("char c = 300; c += x;"), "  let char c = 44:char\n  do c += x in int\n");
  EXPECT_EQ(printedBody("y = sqrt(x) < 1;"), "  do y = (sqrt:double({double}x) < 1:double)\n");
  EXPECT_EQ(printedBody("B[0] = sqrt(A[0]) + sqrtf(2);"), "  do B[0] = (sqrt:float(A[0]) + sqrt:float(2:float))\n");
  EXPECT_EQ(printedBody("unsigned int u = 1; y = u - x;"),
            "  let unsigned int u = 1u\n  do y = {int}(u - {unsigned int}x)\n");
}

TEST(SequoiaPrintAst, FoldsConstants) {
  EXPECT_EQ(printedBody("y = 2 * 3 + (7 >> 1) - -4 % 3;"), "  do y = 10\n");
  EXPECT_EQ(printedBody("y = 5 > 3 ? 1 << 4 : x;"), "  do y = 16\n");
  EXPECT_EQ(printedBody("y = 2147483647 + 1;"), "  do y = -2147483648\n");
  EXPECT_EQ(printedBody("B[0] = 1.0f / 3;"), "  do B[0] = 0.3333333432674408:float\n");
  EXPECT_EQ(printedBody("y = (unsigned char)257 + !0;"), "  do y = 2\n");
  EXPECT_EQ(printedBody("y = 1 << 40;"), "  do y = (1 << 40)\n");
}

} // namespace
} // namespace strata::sequoia::testing
