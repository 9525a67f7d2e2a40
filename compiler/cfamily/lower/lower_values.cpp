// Constants, comparisons and checks.
#include "compiler/cfamily/lower/lower_values.h"

#include "mlir/IR/Matchers.h"

namespace arith = mlir::arith;

namespace strata::cfamily {

using mlir::Value;

Value CodeBuilder::indexConstant(int64_t value) {
  return make<arith::ConstantIndexOp>(value);
}

Value CodeBuilder::truth(bool value) {
  return make<arith::ConstantIntOp>(value, builder_.getI1Type());
}

Value CodeBuilder::integer(mlir::Type type, uint64_t value) {
  const unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  return make<arith::ConstantOp>(mlir::IntegerAttr::get(type, mlir::APInt(bits, value)));
}

Value CodeBuilder::real(mlir::Type type, double value) {
  return make<arith::ConstantOp>(builder_.getFloatAttr(type, value));
}

Value CodeBuilder::zero(mlir::Type type) {
  return make<arith::ConstantOp>(builder_.getZeroAttr(type));
}

Value CodeBuilder::subtract(Value a, Value b) {
  return a == b ? zero(a.getType()) : folded<arith::SubIOp>(a, b);
}

Value CodeBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder_.createOrFold<arith::CmpIOp>(place_, predicate, a, b);
}

void CodeBuilder::check(Value condition, llvm::StringRef code, const llvm::Twine& message, mlir::ValueRange values,
                        llvm::StringRef help) {
  if (mlir::matchPattern(condition, mlir::m_One()))
    return;
  make<svm::CheckOp>(condition, builder_.getStringAttr(code), builder_.getStringAttr(message),
                     help.empty() ? mlir::StringAttr() : builder_.getStringAttr(help), values);
}

} // namespace strata::cfamily
