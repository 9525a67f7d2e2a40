// Which products are fused: Clang 19 with -ffp-contract=on is the reference, its choices are written here as the
// expected operations.
#include "compiler/transform/fuse_multiply_add.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// The function's result after the pass, as an expression over a, b, c, d, e.
class Fused {
public:
  explicit Fused(const std::string& body, const std::string& type = "f32") {
    DialectRegistry registry;
    strata::svm::registerDialects(registry);
    context_.appendDialectRegistry(registry);
    context_.loadAllAvailableDialects();
    std::string text = "func.func @f(%a: T, %b: T, %c: T, %d: T, %e: T) -> T {\n" + body + "\nreturn %r : T\n}";
    for (size_t at = 0; (at = text.find('T', at)) != std::string::npos; at += type.size())
      text.replace(at, 1, type);
    module_ = parseSourceString<ModuleOp>(text, &context_);
    EXPECT_TRUE(module_) << text;
    PassManager passes(&context_);
    passes.addPass(strata::transform::createFuseMultiplyAddPass());
    EXPECT_TRUE(succeeded(passes.run(*module_)));
  }

  std::string result() {
    func::FuncOp function = *module_->getOps<func::FuncOp>().begin();
    return write(function.getBody().front().getTerminator()->getOperand(0));
  }
  bool contracts() {
    std::string text;
    llvm::raw_string_ostream(text) << *module_;
    return text.find("contract") != std::string::npos;
  }
  std::string text() {
    std::string text;
    llvm::raw_string_ostream(text) << *module_;
    return text;
  }

private:
  static std::string write(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return std::string(1, static_cast<char>('a' + argument.getArgNumber()));
    Operation* op = value.getDefiningOp();
    std::string text = op->getName().getStringRef().split('.').second.str() + "(";
    for (auto [position, operand] : llvm::enumerate(op->getOperands()))
      text += (position ? ", " : "") + write(operand);
    return text + ")";
  }

  MLIRContext context_{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module_;
};

/// "%x = mulf %a, %b; …" with every operation marked.
std::string marked(const std::string& statements) {
  std::string text;
  for (StringRef rest = statements; !rest.empty();) {
    auto [statement, tail] = rest.split(';');
    rest = tail;
    auto [result, operation] = statement.split('=');
    text += result.str() + "= arith." + operation.trim().str() + " fastmath<contract> : T\n";
  }
  return text;
}

std::string fused(const std::string& statements) {
  Fused program(marked(statements));
  EXPECT_FALSE(program.contracts());
  return program.result();
}

TEST(FuseMultiplyAdd, SumsAndDifferences) {
  EXPECT_EQ(fused("%p = mulf %a, %b;%r = addf %p, %c"), "fma(a, b, c)");
  EXPECT_EQ(fused("%p = mulf %a, %b;%r = addf %c, %p"), "fma(a, b, c)");
  EXPECT_EQ(fused("%p = mulf %a, %b;%r = subf %p, %c"), "fma(a, b, negf(c))");
  EXPECT_EQ(fused("%p = mulf %a, %b;%r = subf %c, %p"), "fma(negf(a), b, c)");
}

TEST(FuseMultiplyAdd, TheLeftOfTwoProducts) {
  EXPECT_EQ(fused("%p = mulf %a, %b;%q = mulf %c, %d;%r = addf %p, %q"), "fma(a, b, mulf(c, d))");
  EXPECT_EQ(fused("%p = mulf %a, %b;%q = mulf %c, %d;%r = subf %p, %q"), "fma(a, b, negf(mulf(c, d)))");
  EXPECT_EQ(fused("%q = mulf %c, %d;%p = mulf %a, %b;%r = addf %p, %q"), "fma(a, b, mulf(c, d))");
}

TEST(FuseMultiplyAdd, Chains) {
  EXPECT_EQ(fused("%p = mulf %a, %b;%q = mulf %c, %d;%s = addf %p, %q;%r = addf %s, %e"),
            "addf(fma(a, b, mulf(c, d)), e)");
  EXPECT_EQ(fused("%p = mulf %a, %b;%q = mulf %c, %d;%s = addf %p, %q;%t = mulf %d, %e;%r = addf %s, %t"),
            "fma(d, e, fma(a, b, mulf(c, d)))");
  EXPECT_EQ(fused("%p = mulf %b, %c;%s = addf %p, %d;%q = mulf %a, %s;%r = addf %q, %d"), "fma(a, fma(b, c, d), d)");
}

TEST(FuseMultiplyAdd, Negations) {
  EXPECT_EQ(fused("%p = mulf %a, %b;%n = negf %p;%r = addf %n, %c"), "fma(negf(a), b, c)");
  EXPECT_EQ(fused("%p = mulf %a, %b;%n = negf %p;%r = addf %c, %n"), "fma(negf(a), b, c)");
  EXPECT_EQ(fused("%p = mulf %a, %b;%n = negf %p;%r = subf %n, %c"), "fma(negf(a), b, negf(c))");
  EXPECT_EQ(fused("%p = mulf %a, %b;%n = negf %p;%r = subf %c, %n"), "fma(a, b, c)");
  EXPECT_EQ(fused("%p = mulf %a, %b;%s = addf %p, %c;%r = negf %s"), "negf(fma(a, b, c))");
}

TEST(FuseMultiplyAdd, WhatIsNotOneExpressionStays) {
  // A product with another use (it was stored, or read twice).
  EXPECT_EQ(fused("%p = mulf %a, %b;%r = addf %p, %p"), "addf(mulf(a, b), mulf(a, b))");
  EXPECT_EQ(fused("%p = mulf %a, %b;%s = addf %p, %c;%r = mulf %s, %p"), "mulf(addf(mulf(a, b), c), mulf(a, b))");
  // One of the two is not marked.
  Fused product("%p = arith.mulf %a, %b : T\n%r = arith.addf %p, %c fastmath<contract> : T");
  EXPECT_EQ(product.result(), "addf(mulf(a, b), c)");
  EXPECT_FALSE(product.contracts());
  Fused sum("%p = arith.mulf %a, %b fastmath<contract> : T\n%r = arith.addf %p, %c : T");
  EXPECT_EQ(sum.result(), "addf(mulf(a, b), c)");
  EXPECT_FALSE(sum.contracts());
}

TEST(FuseMultiplyAdd, AnotherBlock) {
  Fused program("%p = arith.mulf %a, %b fastmath<contract> : T\n%one = arith.constant true\n%r = scf.if %one -> (T) {\n"
                "%s = arith.addf %p, %c fastmath<contract> : T\nscf.yield %s : T\n} else {\nscf.yield %c : T\n}");
  EXPECT_EQ(program.text().find("fma"), std::string::npos);
  EXPECT_FALSE(program.contracts());
}

TEST(FuseMultiplyAdd, Types) {
  std::string body = marked("%p = mulf %a, %b;%r = addf %p, %c");
  EXPECT_EQ(Fused(body, "f64").result(), "fma(a, b, c)");
  EXPECT_EQ(Fused(body, "vector<8xf32>").result(), "fma(a, b, c)");
  EXPECT_EQ(Fused(body, "f16").result(), "addf(mulf(a, b), c)");
}

TEST(FuseMultiplyAdd, OtherFlagsStay) {
  Fused program(
      "%p = arith.mulf %a, %b fastmath<contract,nnan> : T\n%s = arith.divf %p, %c fastmath<contract,nnan> : T\n"
      "%r = math.sqrt %s fastmath<contract> : T");
  EXPECT_EQ(program.result(), "sqrt(divf(mulf(a, b), c))");
  EXPECT_FALSE(program.contracts());
  EXPECT_NE(program.text().find("nnan"), std::string::npos);
}

} // namespace
