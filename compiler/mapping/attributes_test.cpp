// What placed and scheduled programs may carry: attributes that belong to another stage are refused.
#include "compiler/mapping/mapping_testing.h"

using namespace strata;

namespace {

struct AttributesTest : MappingTest {
  AttributesTest() : MappingTest(oneMemoryText) {}

  /// A program of a stage whose block, loop, function and module carry these.
  mlir::OwningOpRef<mlir::ModuleOp> carrying(const std::string& stage, const std::string& block,
                                             const std::string& loop = "", const std::string& function = "") {
    return parse("func.func @main(%n: index) attributes {svm.control = @core" +
                     (function.empty() ? "" : ", " + function) + "} {\n%b = svm.block \"b\"(%n) max [16] at 0 {" +
                     block +
                     "} : memref<?xf32, #v, #svm.mem<@main>>\n%c1 = arith.constant 1 : index\n"
                     "scf.for %i = %c1 to %n step %c1 {\n} {" +
                     loop + "}\nreturn\n}\n",
                 stage);
  }
};

TEST_F(AttributesTest, OfAPlacedProgramAreNotThoseOfLaterPasses) {
  EXPECT_TRUE(mapping::verifyPlaced(
      *carrying("placed", "svm.shares = \"a\"", "svm.stages = 2 : i64, svm.label = \"i\"", "svm.entry"), machine,
      diagnostics))
      << text();
  for (const char* block : {"svm.stack = 0 : i64", "svm.buffers = 2 : i64", "svm.counted"}) {
    diagnostics.clear();
    EXPECT_FALSE(mapping::verifyPlaced(*carrying("placed", block), machine, diagnostics));
    EXPECT_TRUE(reported("placed-attribute")) << text();
  }
  diagnostics.clear();
  EXPECT_FALSE(mapping::verifyPlaced(*carrying("placed", "", "svm.parallel"), machine, diagnostics));
  EXPECT_NE(text().find("a placed program carries 'svm.parallel', which belongs in scheduled programs"),
            std::string::npos)
      << text();
}

TEST_F(AttributesTest, OfAScheduledProgramAreNotThoseThatPassesHaveUsedUp) {
  EXPECT_TRUE(mapping::verifyScheduled(
      *carrying("scheduled", "svm.shares = \"a\", svm.buffers = 2 : i64", "svm.parallel, svm.label = \"i\""), machine,
      diagnostics))
      << text();
  for (const char* loop : {"svm.stages = 2 : i64", "svm.unroll = 2 : i64", "svm.flatten = loc(\"x.map\":3:4)"}) {
    diagnostics.clear();
    EXPECT_FALSE(mapping::verifyScheduled(*carrying("scheduled", "", loop), machine, diagnostics));
    EXPECT_TRUE(reported("scheduled-attribute")) << text();
  }
  EXPECT_NE(text().find("a scheduled program carries 'svm.flatten', which belongs in placed programs"),
            std::string::npos)
      << text();
}

} // namespace
