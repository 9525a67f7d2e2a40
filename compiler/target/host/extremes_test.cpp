// What the least and the greatest of two numbers become. That it is right is seen in programs
// (tests/end_to_end/lanes_test.py).
#include "compiler/target/host/extremes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace strata::host {
namespace {

using namespace mlir;

/// How many operations stand in the place of one on %a and %b, which are constants where `constants` says so.
size_t lengthOf(const std::string& operation, const std::string& type, const std::string& constants = "") {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  const std::string text = "func.func @f(%x: " + type + ", %y: " + type + ") -> " + type + " {\n" + constants +
                           "\n%r = arith." + operation + " : " + type + "\nreturn %r : " + type + "\n}\n";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return 0;
  expandExtremes(*module);
  EXPECT_TRUE(succeeded(verify(*module)));
  size_t count = 0;
  module->walk([&](Operation* each) {
    EXPECT_FALSE((isa<arith::MinimumFOp, arith::MaximumFOp, arith::MinNumFOp, arith::MaxNumFOp>(each)));
    count += isa<arith::CmpFOp, arith::SelectOp, arith::OrIOp, arith::AndIOp>(each);
  });
  return count;
}

TEST(Extremes, TwoNumbersAreComparedForBeingEqual) {
  for (const char* type : {"f16", "bf16", "f32", "f64", "vector<8xf32>", "vector<4x2xf64>"})
    for (const char* operation : {"minimumf", "maximumf", "minnumf", "maxnumf"})
      EXPECT_EQ(lengthOf(std::string(operation) + " %x, %y", type), 7U) << operation << " " << type;
}

TEST(Extremes, AConstantDecidesByItself) {
  for (const char* number : {"0.0", "-0.0", "1.5", "0x7fc00000"})
    for (const char* operation : {"minnumf %x, %c", "maxnumf %c, %x", "minimumf %c, %x", "maximumf %x, %c"}) {
      const std::string constant = "%c = arith.constant " + std::string(number) + " : f32";
      EXPECT_EQ(lengthOf(operation, "f32", constant), 4U) << operation << " " << number;
    }
  const std::string zeros = "%c = arith.constant dense<0.0> : vector<4xf32>";
  EXPECT_EQ(lengthOf("maxnumf %x, %c", "vector<4xf32>", zeros), 4U);
  const std::string others = "%c = arith.constant dense<[0.0, -0.0, 1.0, 2.0]> : vector<4xf32>";
  EXPECT_EQ(lengthOf("maxnumf %x, %c", "vector<4xf32>", others), 7U);
}

} // namespace
} // namespace strata::host
