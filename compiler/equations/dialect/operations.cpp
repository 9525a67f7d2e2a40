// A table by name for operations that have one meaning, and the predicates of comparisons. See operations.h.
#include "compiler/equations/dialect/operations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"

namespace strata::equations {

namespace arith = mlir::arith;

namespace {

struct Row {
  Operation operation;
  bool isUnsigned = false;
};

const llvm::StringMap<Row>& table() {
  static const llvm::StringMap<Row> rows = {
      {"arith.addf", {Operation::Add}},
      {"arith.addi", {Operation::Add}},
      {"arith.subf", {Operation::Subtract}},
      {"arith.subi", {Operation::Subtract}},
      {"arith.mulf", {Operation::Multiply}},
      {"arith.muli", {Operation::Multiply}},
      {"arith.divf", {Operation::Divide}},
      {"arith.divsi", {Operation::Divide}},
      {"arith.divui", {Operation::Divide, true}},
      {"arith.remsi", {Operation::Remainder}},
      {"arith.remui", {Operation::Remainder, true}},
      {"arith.negf", {Operation::Negate}},
      {"arith.andi", {Operation::And}},
      {"arith.ori", {Operation::Or}},
      {"arith.xori", {Operation::Xor}},
      {"arith.shli", {Operation::ShiftLeft}},
      {"arith.shrsi", {Operation::ShiftRight}},
      {"arith.shrui", {Operation::ShiftRight, true}},
      {"arith.minsi", {Operation::Minimum}},
      {"arith.maxsi", {Operation::Maximum}},
      {"arith.minui", {Operation::Minimum, true}},
      {"arith.maxui", {Operation::Maximum, true}},
      {"arith.select", {Operation::Select}},
      {"arith.extsi", {Operation::Convert}},
      {"arith.trunci", {Operation::Convert}},
      {"arith.sitofp", {Operation::Convert}},
      {"arith.extf", {Operation::Convert}},
      {"arith.truncf", {Operation::Convert}},
      {"arith.fptosi", {Operation::Convert}},
      {"arith.extui", {Operation::Convert, true}},
      {"arith.uitofp", {Operation::Convert, true}},
      {"arith.fptoui", {Operation::Convert, true}},
      {"math.fma", {Operation::MultiplyAdd}},
      {"math.absf", {Operation::Absolute}},
      {"math.absi", {Operation::Absolute}},
      {"math.sqrt", {Operation::SquareRoot}},
  };
  return rows;
}

std::optional<Row> comparison(mlir::Operation* op, bool& isSwapped) {
  if (auto integers = mlir::dyn_cast<arith::CmpIOp>(op)) {
    using P = arith::CmpIPredicate;
    const P predicate = integers.getPredicate();
    isSwapped = predicate == P::sgt || predicate == P::sge || predicate == P::ugt || predicate == P::uge;
    const bool isUnsigned = predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
    switch (predicate) {
    case P::eq:
      return Row{Operation::Equal};
    case P::ne:
      return Row{Operation::NotEqual};
    case P::slt:
    case P::sgt:
    case P::ult:
    case P::ugt:
      return Row{Operation::Less, isUnsigned};
    case P::sle:
    case P::sge:
    case P::ule:
    case P::uge:
      return Row{Operation::LessOrEqual, isUnsigned};
    }
  }
  if (auto reals = mlir::dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    const P predicate = reals.getPredicate();
    isSwapped = predicate == P::OGT || predicate == P::OGE;
    if (predicate == P::OEQ)
      return Row{Operation::Equal};
    if (predicate == P::UNE)
      return Row{Operation::NotEqual};
    if (predicate == P::OLT || predicate == P::OGT)
      return Row{Operation::Less};
    if (predicate == P::OLE || predicate == P::OGE)
      return Row{Operation::LessOrEqual};
  }
  return std::nullopt;
}

} // namespace

std::optional<ElementType> elementTypeOf(mlir::Type type, bool isUnsigned) {
  if (type.isF32() || type.isF64())
    return ElementType::floating(type.isF32() ? 4 : 8);
  if (type.isInteger(1))
    return ElementType::boolean();
  for (const unsigned bits : {8, 16, 32, 64})
    if (type.isInteger(bits))
      return isUnsigned ? ElementType::unsignedInteger(bits / 8) : ElementType::signedInteger(bits / 8);
  return std::nullopt;
}

std::optional<Meaning> meaningOf(mlir::Operation* op) {
  Meaning made;
  std::optional<Row> row = comparison(op, made.isSwapped);
  if (!row) {
    const auto found = table().find(op->getName().getStringRef());
    if (found == table().end())
      return std::nullopt;
    row = found->second;
  }
  made.operation = row->operation;
  // A conversion is unsigned at the end that has the integers.
  const bool toInteger = mlir::isa<arith::FPToUIOp>(op);
  made.isUnsigned = row->isUnsigned && (toInteger || made.operation != Operation::Convert);
  made.isOperandUnsigned = row->isUnsigned && !toInteger;
  return made;
}

mlir::Value typedOperand(mlir::Operation* op, const Meaning& meaning) {
  return op->getOperand(meaning.operation == Operation::Select ? 1 : 0);
}

} // namespace strata::equations
