// The lowering of C's arithmetic to the dialect, for all notations that compute as C does. A notation tells the type of
// an operation and what it knows of the operands. Here stands what the operation means: which checks it needs (division
// by zero, quotients and shifts that do not fit), how real numbers become integers (the nearest value, a NaN 0), how
// loops count. Integers wrap. Values are of the integer or float type with the bits of their number type; where a
// notation computes with 64 bits, they may be indices. A lowering of code derives from this.
#pragma once

#include "compiler/cfamily/check/builtin.h"
#include "compiler/cfamily/check/counting.h"
#include "compiler/cfamily/lower/lower_values.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace strata::cfamily {

/// A value with what is known of it.
struct Operand {
  mlir::Value value;
  Range range;
};

class ArithmeticLowering : public CodeBuilder {
protected:
  using CodeBuilder::CodeBuilder;

  mlir::Type typeOf(Scalar type);

  /// + - * / % & | ^ << >> on operands of one type; a shift's amount has a type of its own, `amountType`. `contract`:
  /// the sum or product may be fused with another. `zeroHelp`: what to change where a divisor is zero;
  /// `amountHelp`: where a shift is by too many bits.
  Value arithmetic(Operator op, Scalar type, const Operand& left, const Operand& right, bool contract = false,
                   llvm::StringRef zeroHelp = {});
  Value shift(bool isLeft, Scalar type, Value left, Scalar amountType, const Operand& amount,
              llvm::StringRef amountHelp = {});
  /// - and ~.
  Value negated(Scalar type, Value operand);
  Value complement(Value operand);
  /// As an i1, like the next.
  Value comparison(Operator op, Scalar type, Value left, Value right);
  Value isNonZero(Scalar type, Value value);
  /// C's conversions.
  Value converted(Value value, Scalar from, Scalar to);
  /// The nearest integer of a type that a real has when it is cut; 0 of a NaN.
  Value nearestInteger(Value real, Scalar to);
  /// A built-in function; of the type of its operands.
  Value function(Builtin builtin, Scalar type, mlir::ValueRange operands);
  /// Whether an operation cannot fail: what it would check is known.
  static bool isSafe(Operator op, Scalar type, Range left, Range right);

  /// A loop that counts, with the checks that its plan asks for; the body is still empty.
  struct CountedLoop {
    mlir::scf::ForOp loop;
    Value variable; // in the body, as an index
    Value start;    // the first value
    Value lower, upper;
    int64_t step = 1;
  };
  /// REQUIRES: the plan counts. `start` and `bound` are indices; `name` is the variable's; `help`: what to change where
  /// it cannot count so far.
  CountedLoop beginCounting(const Counting& counting, const CountingPlan& plan, Value start, Value bound,
                            llvm::StringRef name, llvm::StringRef help = {});
  /// The variable's value behind the loop, as an index.
  Value valueBehind(const CountedLoop& counted);

private:
  Value division(bool remainder, Scalar type, const Operand& left, const Operand& right, llvm::StringRef zeroHelp);
  Value hypotenuse(Value a, Value b);
};

} // namespace strata::cfamily
