// Where placement puts waits for what programs start and do not wait for.
#include "compiler/mapping/end_tokens.h"

#include "compiler/mapping/mapping_testing.h"

using namespace strata;

namespace {

struct EndTokensTest : MappingTest {
  EndTokensTest() : MappingTest(oneMemoryText) {}

  /// What each wait of a function with this body waits for, and the operation before it.
  std::vector<std::pair<size_t, std::string>> waits(const std::string& body) {
    auto program = parse("svm.kernel @k(%x: memref<?xf32, #v> {svm.access = \"readwrite\"}) "
                         "{\nsvm.return\n}\nfunc.func @main(%a: memref<?xf32, #v>, %b: "
                         "memref<?xf32, #v>, %c: i1) {\n" +
                         body + "\nreturn\n}\n");
    std::vector<std::pair<size_t, std::string>> found;
    if (!program)
      return found;
    mapping::endTokens(*program);
    program->walk([&](svm::WaitOp wait) {
      mlir::Operation* before = wait->getPrevNode();
      found.emplace_back(wait.getTokens().size(), before ? before->getName().getStringRef().str() : "");
    });
    return found;
  }
};

const std::string run = "svm.run @k(%a) : (memref<?xf32, #v>) -> !svm.token\n";
const std::string move = "svm.move %a to %b : memref<?xf32, #v> to memref<?xf32, #v> -> !svm.token\n";

TEST_F(EndTokensTest, ARegionWaitsForWhatItStarted) {
  using Found = std::vector<std::pair<size_t, std::string>>;
  EXPECT_EQ(waits("svm.scope {\n%t = " + run + "}\n"), (Found{{1, "svm.run"}}));
  EXPECT_EQ(waits("scf.if %c {\n%t = " + run + "%u = " + move + "}\n"), (Found{{2, "svm.move"}}));
  EXPECT_EQ(waits("%t = " + run + "svm.scope {\n%u = " + move + "}\n"), (Found{{1, "svm.move"}, {1, "svm.scope"}}));
}

TEST_F(EndTokensTest, WhatIsWaitedForIsNotWaitedForAgain) {
  using Found = std::vector<std::pair<size_t, std::string>>;
  EXPECT_EQ(waits("%t = " + run + "svm.wait %t\n"), (Found{{1, "svm.run"}}));
  // What comes after a token ends behind it.
  EXPECT_EQ(waits("%t = " + run +
                  "%u = svm.move %a to %b after(%t) : memref<?xf32, #v> to memref<?xf32, #v> -> !svm.token\n"),
            (Found{{1, "svm.move"}}));
  // A wait in a branch may not be reached.
  EXPECT_EQ(waits("%t = " + run + "scf.if %c {\nsvm.wait %t\n}\n").size(), 2u);
}

} // namespace
