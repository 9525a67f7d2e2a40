// Multiply-add contraction as Clang does it for -ffp-contract=on: in a sum the left product is fused where both
// operands are products, a negation between the product and the sum goes into a factor, and what remains of the other
// operand is an operand. A front end's flags say what one source expression is; the pass trusts them and looks at uses
// and blocks only.
#include "compiler/transform/fuse_multiply_add.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace strata::transform {
namespace {

bool contracts(arith::ArithFastMathInterface op) {
  auto flags = op.getFastMathFlagsAttr();
  return flags && arith::bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::contract);
}

/// A product that may be fused into its only user, and whether a negation stands between the two.
struct Product {
  arith::MulFOp multiply;
  arith::NegFOp negation;
};

std::optional<Product> productOf(Value operand, Operation* sum) {
  Product product;
  Operation* user = sum;
  if (auto negation = operand.getDefiningOp<arith::NegFOp>()) {
    if (!operand.hasOneUse() || negation->getBlock() != sum->getBlock())
      return std::nullopt;
    product.negation = negation;
    user = negation;
    operand = negation.getOperand();
  }
  product.multiply = operand.getDefiningOp<arith::MulFOp>();
  if (!product.multiply || !operand.hasOneUse() || !contracts(product.multiply) ||
      product.multiply->getBlock() != user->getBlock())
    return std::nullopt;
  return product;
}

bool isFusable(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    type = vector.getElementType();
  return type.isF32() || type.isF64();
}

/// Replaces `sum` (left + right, or left - right) by a fused multiply-add where one of its operands is a product.
void fuse(Operation* sum, bool subtracts) {
  Value left = sum->getOperand(0), right = sum->getOperand(1);
  std::optional<Product> product = productOf(left, sum);
  bool isLeft = product.has_value();
  if (!product)
    product = productOf(right, sum);
  if (!product)
    return;
  OpBuilder builder(sum);
  Location loc = sum->getLoc();
  auto flags = cast<arith::ArithFastMathInterface>(sum).getFastMathFlagsAttr();
  auto negate = [&](Value value) -> Value { return builder.create<arith::NegFOp>(loc, value); };
  Value factor = product->multiply.getLhs(), addend = isLeft ? right : left;
  if (bool(product->negation) != (subtracts && !isLeft))
    factor = negate(factor);
  if (subtracts && isLeft)
    addend = negate(addend);
  auto fused = builder.create<math::FmaOp>(loc, factor, product->multiply.getRhs(), addend, flags);
  sum->getResult(0).replaceAllUsesWith(fused.getResult());
  sum->erase();
  if (product->negation)
    product->negation->erase();
  product->multiply->erase();
}

void dropContract(Operation* op) {
  auto arithmetic = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!arithmetic || !contracts(arithmetic))
    return;
  auto flags = arithmetic.getFastMathFlagsAttr();
  op->setAttr(arithmetic.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(), flags.getValue() & ~arith::FastMathFlags::contract));
}

class FuseMultiplyAddPass : public PassWrapper<FuseMultiplyAddPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FuseMultiplyAddPass)
  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    // In program order: an inner expression is fused before the one around it, whose operand it then is.
    SmallVector<Operation*> sums;
    getOperation()->walk([&](Operation* op) {
      if (isa<arith::AddFOp, arith::SubFOp>(op) && isFusable(op->getResult(0).getType()) &&
          contracts(cast<arith::ArithFastMathInterface>(op)))
        sums.push_back(op);
    });
    for (Operation* sum : sums)
      fuse(sum, isa<arith::SubFOp>(sum));
    getOperation()->walk(dropContract);
  }
};

} // namespace

std::unique_ptr<Pass> createFuseMultiplyAddPass() {
  return svm::makePass<FuseMultiplyAddPass>(svm::passes::FuseMultiplyAdd);
}

} // namespace strata::transform
