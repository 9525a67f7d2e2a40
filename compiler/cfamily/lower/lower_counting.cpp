// Loops that count, as scf.for over an index, so that what they subscript can be analysed.
#include "compiler/cfamily/lower/lower_arithmetic.h"

namespace arith = mlir::arith;

namespace strata::cfamily {

using mlir::Value;

ArithmeticLowering::CountedLoop ArithmeticLowering::beginCounting(const Counting& counting, const CountingPlan& plan,
                                                                  Value start, Value bound, llvm::StringRef name,
                                                                  llvm::StringRef help) {
  const bool up = counting.step > 0;
  const int64_t step = up ? counting.step : -counting.step;
  const std::string variable = "loop variable '" + name.str() + "'";
  if (plan.checksSign)
    check(compare(arith::CmpIPredicate::sge, bound, indexConstant(0)), "loop-bound-overflow",
          "the bound of " + variable + " is too large");
  if (plan.limit)
    check(compare(up ? arith::CmpIPredicate::sle : arith::CmpIPredicate::sge, bound, indexConstant(*plan.limit)),
          "loop-bound-overflow", variable + " of type " + scalarName(counting.type) + " cannot count to {0}", bound,
          help);
  Value lower = start, upper = bound;
  if (!up) {
    // Iterations are counted upwards: so many values lie above the bound.
    lower = indexConstant(0);
    upper = subtract(plan.clampsSpan ? maximum(start, bound) : start, bound);
  }
  if (counting.inclusive && plan.clampsSpan)
    // Where the start lies below the bound there is no iteration.
    upper = add(upper, make<arith::SelectOp>(compare(arith::CmpIPredicate::sge, start, bound), indexConstant(1),
                                             indexConstant(0)));
  else if (counting.inclusive)
    upper = add(upper, indexConstant(1));
  if (plan.checksSpan)
    check(compare(arith::CmpIPredicate::sge, upper, indexConstant(0)), "loop-bound-overflow",
          variable + " counts down from {0} to {1}, which never ends", {start, bound});
  CountedLoop made;
  made.step = counting.step;
  made.start = start;
  made.lower = lower;
  made.upper = upper;
  made.loop = make<mlir::scf::ForOp>(lower, upper, indexConstant(step));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(made.loop.getBody());
  Value iteration = made.loop.getInductionVar();
  made.variable = up ? iteration : subtract(start, iteration);
  return made;
}

Value ArithmeticLowering::valueBehind(const CountedLoop& counted) {
  const bool up = counted.step > 0;
  const int64_t step = up ? counted.step : -counted.step;
  Value span = subtract(maximum(counted.upper, counted.lower), counted.lower);
  if (step != 1)
    span =
        multiply(folded<arith::DivUIOp>(add(span, indexConstant(step - 1)), indexConstant(step)), indexConstant(step));
  return up ? add(counted.start, span) : subtract(counted.start, span);
}

} // namespace strata::cfamily
