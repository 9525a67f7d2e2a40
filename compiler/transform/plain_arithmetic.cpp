// One walk: attributes are dropped, casts are replaced.
#include "compiler/transform/plain_arithmetic.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"

using namespace mlir;

namespace strata::transform {

using mlir::Location;
namespace {

void dropPromises(Operation* op) {
  if (auto sum = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(sum.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::none));
  auto real = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!real || !real.getFastMathFlagsAttr())
    return;
  constexpr auto promises = arith::FastMathFlags::nnan | arith::FastMathFlags::ninf;
  op->setAttr(real.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(), real.getFastMathFlagsAttr().getValue() & ~promises));
}

/// A cast from index to an integer of fewer bits, in two steps.
void cutInSteps(Operation* cast) {
  auto narrow = dyn_cast<IntegerType>(cast->getResult(0).getType());
  if (!cast->getOperand(0).getType().isIndex() || !narrow || narrow.getWidth() >= 64)
    return;
  OpBuilder builder(cast);
  Value whole = builder.create<arith::IndexCastOp>(cast->getLoc(), builder.getI64Type(), cast->getOperand(0));
  cast->getResult(0).replaceAllUsesWith(builder.create<arith::TruncIOp>(cast->getLoc(), narrow, whole));
  cast->erase();
}

/// A quotient that is rounded up, from the one that is rounded towards 0 and its remainder.
void roundUp(arith::CeilDivSIOp quotient) {
  OpBuilder builder(quotient);
  Location loc = quotient.getLoc();
  Type type = quotient.getType();
  Value a = quotient.getLhs(), b = quotient.getRhs();
  auto constant = [&](int64_t number) -> Value {
    return builder.create<arith::ConstantOp>(loc, builder.getIntegerAttr(type, number));
  };
  auto compare = [&](arith::CmpIPredicate how, Value left, Value right) -> Value {
    return builder.create<arith::CmpIOp>(loc, how, left, right);
  };
  Value whole = builder.create<arith::DivSIOp>(loc, a, b);
  Value rest = builder.create<arith::SubIOp>(loc, a, builder.create<arith::MulIOp>(loc, whole, b));
  Value isAbove = compare(arith::CmpIPredicate::eq, compare(arith::CmpIPredicate::slt, rest, constant(0)),
                          compare(arith::CmpIPredicate::slt, b, constant(0)));
  Value isMore = builder.create<arith::AndIOp>(loc, compare(arith::CmpIPredicate::ne, rest, constant(0)), isAbove);
  Value next = builder.create<arith::AddIOp>(loc, whole, constant(1));
  quotient.replaceAllUsesWith(builder.create<arith::SelectOp>(loc, isMore, next, whole).getResult());
  quotient.erase();
}

struct PlainArithmeticPass : PassWrapper<PlainArithmeticPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlainArithmeticPass)

  void runOnOperation() override {
    getOperation().walk([](Operation* op) {
      dropPromises(op);
      if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
        cutInSteps(op);
      else if (auto quotient = dyn_cast<arith::CeilDivSIOp>(op))
        roundUp(quotient);
    });
  }
};

} // namespace

std::unique_ptr<Pass> createPlainArithmeticPass() {
  return svm::makePass<PlainArithmeticPass>(svm::passes::PlainArithmetic);
}

} // namespace strata::transform
