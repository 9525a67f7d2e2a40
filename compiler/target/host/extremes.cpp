// See extremes.h.
#include "compiler/target/host/extremes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include "llvm/ADT/TypeSwitch.h"

#include <optional>
#include <utility>

namespace strata::host {

using namespace mlir;

namespace {

struct Extreme {
  bool isLeast = false;
  bool hasNumberFirst = false; // a number wins over a NaN, else the NaN
};

std::optional<Extreme> extremeOf(Operation& operation) {
  return llvm::TypeSwitch<Operation*, std::optional<Extreme>>(&operation)
      .Case([](arith::MinimumFOp) { return Extreme{true, false}; })
      .Case([](arith::MaximumFOp) { return Extreme{false, false}; })
      .Case([](arith::MinNumFOp) { return Extreme{true, true}; })
      .Case([](arith::MaxNumFOp) { return Extreme{false, true}; })
      .Default([](Operation*) { return std::nullopt; });
}

std::optional<APFloat> constantOf(Value value) {
  APFloat found(0.0f);
  if (matchPattern(value, m_ConstantFloat(&found)))
    return found;
  return std::nullopt;
}

/// The bits as integers, or those as numbers.
Type withElements(Type type, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(element);
  return element;
}

Value expand(OpBuilder& builder, Location place, Extreme extreme, Value a, Value b) {
  const auto compare = [&](arith::CmpFPredicate predicate, Value left, Value right) -> Value {
    return builder.create<arith::CmpFOp>(place, predicate, left, right);
  };
  const auto choose = [&](Value condition, Value then, Value otherwise) -> Value {
    return builder.create<arith::SelectOp>(place, condition, then, otherwise);
  };
  // Of two that are equal the second is taken below. A constant that is no zero equals what is the same in every bit;
  // beside a zero, the one that decides comes second.
  bool mayDiffer = true;
  for (const bool isSecond : {false, true}) {
    const std::optional<APFloat> constant = constantOf(isSecond ? b : a);
    if (!constant)
      continue;
    mayDiffer = false;
    if (constant->isZero() && (constant->isNegative() == extreme.isLeast) != isSecond)
      std::swap(a, b);
    break;
  }
  using Predicate = arith::CmpFPredicate;
  Value result = choose(compare(extreme.isLeast ? Predicate::ULT : Predicate::UGT, a, b), a, b);
  result = extreme.hasNumberFirst ? choose(compare(Predicate::UNO, a, a), b, result)
                                  : choose(compare(Predicate::UNO, b, b), b, result);
  if (!mayDiffer)
    return result;
  const Type type = a.getType(),
             bits = withElements(type, builder.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth()));
  Value first = builder.create<arith::BitcastOp>(place, bits, a);
  Value second = builder.create<arith::BitcastOp>(place, bits, b);
  Value both = extreme.isLeast ? builder.create<arith::OrIOp>(place, first, second).getResult()
                               : builder.create<arith::AndIOp>(place, first, second);
  return choose(compare(Predicate::OEQ, a, b), builder.create<arith::BitcastOp>(place, type, both), result);
}

} // namespace

void expandExtremes(ModuleOp program) {
  program.walk([](Operation* operation) {
    const std::optional<Extreme> extreme = extremeOf(*operation);
    if (!extreme)
      return;
    OpBuilder builder(operation);
    operation->getResult(0).replaceAllUsesWith(
        expand(builder, operation->getLoc(), *extreme, operation->getOperand(0), operation->getOperand(1)));
    operation->erase();
  });
}

} // namespace strata::host
