// The small builders that lowerings of code are written with: operations at the place of the program that is being
// lowered, folded where their operands are constants. A lowering derives from this; it owns nothing that outlives it.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace strata::cfamily {

class CodeBuilder {
protected:
  using Value = mlir::Value;

  CodeBuilder(mlir::MLIRContext& context, mlir::Location place) : builder_(&context), place_(place) {}

  template <typename Op, typename... Args>
  Op make(Args&&... args) {
    return builder_.create<Op>(place_, std::forward<Args>(args)...);
  }
  template <typename Op>
  Value folded(Value a, Value b) {
    return builder_.createOrFold<Op>(place_, a, b);
  }
  Value indexConstant(int64_t value);
  Value truth(bool value);
  /// Of an integer type, or of index: its low bits.
  Value integer(mlir::Type type, uint64_t value);
  Value real(mlir::Type type, double value);
  /// Of a number type.
  Value zero(mlir::Type type);

  Value add(Value a, Value b) { return folded<mlir::arith::AddIOp>(a, b); }
  Value subtract(Value a, Value b);
  Value multiply(Value a, Value b) { return folded<mlir::arith::MulIOp>(a, b); }
  Value minimum(Value a, Value b) { return folded<mlir::arith::MinSIOp>(a, b); }
  Value maximum(Value a, Value b) { return folded<mlir::arith::MaxSIOp>(a, b); }
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value both(Value a, Value b) { return folded<mlir::arith::AndIOp>(a, b); }
  Value either(Value a, Value b) { return folded<mlir::arith::OrIOp>(a, b); }
  Value inverse(Value condition) { return folded<mlir::arith::XOrIOp>(condition, truth(true)); }
  /// An svm.check, unless the condition is known to hold.
  void check(Value condition, llvm::StringRef code, const llvm::Twine& message, mlir::ValueRange values = {},
             llvm::StringRef help = {});

  mlir::OpBuilder builder_;
  mlir::Location place_;
};

} // namespace strata::cfamily
