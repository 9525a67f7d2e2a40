// Lowered programs, executed: examples, statements and expressions against what C++ computes.
#include "compiler/sequoia/lower_testing.h"

namespace strata::sequoia::testing {
namespace {

std::string example(const std::string& name) {
  std::ifstream file(std::string(STRATA_SOURCE_DIR) + "/examples/sequoia/" + name + "/" + name + ".sq");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SequoiaLower, VectorAdd) {
  for (const char* machine : {"host", "cell"}) {
    LoweredProgram subject(example("vectadd"), "", machine);
    ASSERT_TRUE(subject.lowered) << subject.rendered();
    std::vector<float> a(10007), b(10007), c(10007, -1.0f);
    std::iota(a.begin(), a.end(), 0.0f);
    std::iota(b.begin(), b.end(), 5.0f);
    ASSERT_TRUE(subject.run({array(a), array(b), array(c)})) << subject.rendered() << subject.text();
    for (size_t i = 0; i < c.size(); ++i)
      ASSERT_EQ(c[i], a[i] + b[i]) << i;
    b.resize(500);
    EXPECT_FALSE(subject.run({array(a), array(b), array(c)}));
    EXPECT_EQ(subject.failure, "sequoia-size-mismatch");
  }
}

} // namespace
} // namespace strata::sequoia::testing
