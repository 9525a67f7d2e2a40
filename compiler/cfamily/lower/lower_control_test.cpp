// Values of one arm, operands that need not be evaluated, and lists of statements that jump, executed.
#include "compiler/cfamily/lower/code_testing.h"

namespace strata::cfamily::testing {
namespace {

using mlir::Value;
using mlir::ValueRange;

/// 10 / x, which fails where that is zero.
Value quotient(Code& code, Value x) {
  return code.arithmetic(Operator::Divide, Scalar::Int, {code.integer(x.getType(), 10), {}}, {x, {}});
}

TEST(LowerControl, OnlyTheArmThatIsTakenIsEvaluated) {
  Code code({Scalar::Bool, Scalar::Int}, Scalar::Int, [](Code& to, ValueRange operands) {
    Value x = operands[1];
    return to.eitherOf(
        operands[0], x.getType(), [&] { return quotient(to, x); }, [&] { return to.negated(Scalar::Int, x); });
  });
  EXPECT_EQ(code.run({1, 5}).bits, 2u);
  EXPECT_EQ(code.run({1, 0}).failure, "division-by-zero");
  EXPECT_EQ(code.run({0, 0}).failure, "");
  EXPECT_EQ(code.run({0, 7}).bits, uint32_t(-7));
}

TEST(LowerControl, ARightOperandIsEvaluatedWhereTheLeftDoesNotDecide) {
  for (bool isAnd : {true, false}) {
    // first && 10 / x > 2, and the same with ||
    Code code({Scalar::Bool, Scalar::Int}, Scalar::Bool, [&](Code& to, ValueRange operands) {
      return to.shortCircuit(isAnd, operands[0], [&] {
        Value ratio = quotient(to, operands[1]);
        return to.comparison(Operator::Greater, Scalar::Int, ratio, to.integer(ratio.getType(), 2));
      });
    });
    const uint64_t decides = isAnd ? 0 : 1;
    EXPECT_EQ(code.run({decides, 0}).failure, "");
    EXPECT_EQ(code.run({decides, 1}).bits, decides);
    EXPECT_EQ(code.run({1 - decides, 0}).failure, "division-by-zero");
    EXPECT_EQ(code.run({1 - decides, 1}).bits, 1u);
    EXPECT_EQ(code.run({1 - decides, 9}).bits, 0u);
  }
}

TEST(LowerControl, WhatStandsBehindAJumpIsPassedOver) {
  // r = 0; for n statements: { r += 1; if (x == number) jump; }
  const int n = 6;
  Code code({Scalar::Int}, Scalar::Int, [](Code& to, ValueRange operands) {
    Value x = operands[0], result = to.allocate(x.getType()), jumped = to.flag(), never;
    to.store(to.integer(x.getType(), 0), result);
    {
      Code::FlatList list(to);
      for (int number = 0; number < n; ++number) {
        Value more = to.arithmetic(Operator::Add, Scalar::Int, {to.load(result), {}}, {to.integer(x.getType(), 1), {}});
        to.store(more, result);
        Value here =
            to.comparison(Operator::Equal, Scalar::Int, x, to.integer(x.getType(), static_cast<uint64_t>(number)));
        to.store(
            to.eitherOf(here, here.getType(), [&] { return to.truth(true); }, [&] { return to.load(jumped); }), jumped);
        list.leave();
        list.enter(to.noneSet({jumped, never}));
      }
    }
    return to.load(result);
  });
  for (int x = 0; x < n; ++x)
    EXPECT_EQ(code.run({static_cast<uint64_t>(x)}).bits, static_cast<uint64_t>(x + 1));
  EXPECT_EQ(code.run({static_cast<uint64_t>(n)}).bits, static_cast<uint64_t>(n));
  // The guards stand side by side: a function, a guard, and an arm in it.
  EXPECT_EQ(code.depth(), 3);
}

TEST(LowerControl, NoFlagsAreNeverSet) {
  Code code({Scalar::Bool}, Scalar::Bool, [](Code& to, ValueRange operands) {
    Value flag = to.flag(true), storage = to.flag();
    to.store(operands[0], storage);
    Value none = to.noneSet({});
    return to.eitherOf(none, none.getType(), [&] { return to.noneSet({storage}); }, [&] { return to.load(flag); });
  });
  EXPECT_EQ(code.run({0}).bits, 1u);
  EXPECT_EQ(code.run({1}).bits, 0u);
}

} // namespace
} // namespace strata::cfamily::testing
