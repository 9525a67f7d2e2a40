// Arithmetic: arith and math. The most frequent operations have opcodes of their own; the others are calls of
// functions.
#include "compiler/interpret/float_functions.h"
#include "compiler/interpret/resolver.h"
#include "compiler/interpret/rounding.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;

namespace strata::interpret {

void Resolver::resolveConstant(Operation* op, Attribute value) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    alias(op->getResult(0), constant(integer.getValue().getZExtValue()));
  else if (auto real = dyn_cast<FloatAttr>(value))
    alias(op->getResult(0), constant(real.getValue().bitcastToAPInt().getZExtValue()));
  else
    unsupported(op);
}

/// The opcode that does the operation directly, if there is one. f32 and f64 have them, and integers of all widths.
static std::optional<Opcode> directOpcode(Operation* op) {
  Type type = op->getOperand(0).getType();
  if (isa<FloatType>(type)) {
    if (!type.isF32() && !type.isF64())
      return std::nullopt;
    bool wide = type.isF64();
    if (isa<arith::AddFOp>(op))
      return wide ? Opcode::AddF64 : Opcode::AddF32;
    if (isa<arith::SubFOp>(op))
      return wide ? Opcode::SubF64 : Opcode::SubF32;
    if (isa<arith::MulFOp>(op))
      return wide ? Opcode::MulF64 : Opcode::MulF32;
    return std::nullopt;
  }
  if (isa<arith::AddIOp>(op))
    return Opcode::AddI;
  if (isa<arith::SubIOp>(op))
    return Opcode::SubI;
  if (isa<arith::MulIOp>(op))
    return Opcode::MulI;
  if (isa<arith::AndIOp>(op))
    return Opcode::AndI;
  if (isa<arith::OrIOp>(op))
    return Opcode::OrI;
  if (isa<arith::XOrIOp>(op))
    return Opcode::XorI;
  return std::nullopt;
}

static std::optional<Division> division(Operation* op) {
  if (isa<arith::DivSIOp>(op))
    return Division::Signed;
  if (isa<arith::DivUIOp>(op))
    return Division::Unsigned;
  if (isa<arith::RemSIOp>(op))
    return Division::RemainderSigned;
  if (isa<arith::RemUIOp>(op))
    return Division::RemainderUnsigned;
  if (isa<arith::CeilDivSIOp>(op))
    return Division::CeilSigned;
  if (isa<arith::CeilDivUIOp>(op))
    return Division::CeilUnsigned;
  if (isa<arith::FloorDivSIOp>(op))
    return Division::FloorSigned;
  return std::nullopt;
}

/// A comparison as an opcode and whether the operands change places.
static std::pair<Opcode, bool> comparison(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return {Opcode::Equal, false};
  case arith::CmpIPredicate::ne:
    return {Opcode::NotEqual, false};
  case arith::CmpIPredicate::slt:
    return {Opcode::LessSigned, false};
  case arith::CmpIPredicate::sle:
    return {Opcode::LessEqualSigned, false};
  case arith::CmpIPredicate::sgt:
    return {Opcode::LessSigned, true};
  case arith::CmpIPredicate::sge:
    return {Opcode::LessEqualSigned, true};
  case arith::CmpIPredicate::ult:
    return {Opcode::LessUnsigned, false};
  case arith::CmpIPredicate::ule:
    return {Opcode::LessEqualUnsigned, false};
  case arith::CmpIPredicate::ugt:
    return {Opcode::LessUnsigned, true};
  case arith::CmpIPredicate::uge:
    return {Opcode::LessEqualUnsigned, true};
  }
  return {Opcode::Equal, false};
}

bool Resolver::resolveArithmetic(Operation* op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    resolveConstant(op, constant.getValue());
    return true;
  }
  if (isa<ub::PoisonOp>(op)) {
    emit(Opcode::Zero, slot(op->getResult(0)), 0, 0, slotsOf(op->getResult(0).getType()));
    return true;
  }
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return false;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    emit(Opcode::Select, slot(select.getResult()), slot(select.getCondition()), slot(select.getTrueValue()),
         slot(select.getFalseValue()), slotsOf(select.getType()));
    return true;
  }
  uint8_t shift = static_cast<uint8_t>(64 - scalarWidth(op->getOperand(0).getType()));
  if (isa<arith::AddUIExtendedOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op)) {
    Slot results = newSlots(2);
    alias(op->getResult(0), results);
    alias(op->getResult(1), results + 1);
    Opcode opcode = isa<arith::AddUIExtendedOp>(op) ? Opcode::AddExtended : Opcode::MulExtended;
    Instruction& made = emit(opcode, results, slot(op->getOperand(0)), slot(op->getOperand(1)));
    made.shift = shift;
    made.small = isa<arith::MulSIExtendedOp>(op);
    return true;
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    auto [opcode, swapped] = comparison(compare.getPredicate());
    Slot left = slot(compare.getLhs()), right = slot(compare.getRhs());
    emit(opcode, slot(compare.getResult()), swapped ? right : left, swapped ? left : right).shift = shift;
    return true;
  }
  if (std::optional<Division> kind = division(op)) {
    Slot left = slot(op->getOperand(0)), right = slot(op->getOperand(1));
    Instruction& made = emit(Opcode::Divide, slot(op->getResult(0)), left, right);
    made.shift = shift;
    made.small = static_cast<uint8_t>(*kind);
    return true;
  }
  if (std::optional<Opcode> opcode = directOpcode(op)) {
    Slot left = slot(op->getOperand(0)), right = slot(op->getOperand(1));
    Instruction& made = emit(*opcode, slot(op->getResult(0)), left, right);
    made.shift = shift;
    made.small = svm::SvmDialect::signedAttr.isOn(op);
    return true;
  }
  unsigned width = 0;
  PureFunction function = scalarFunction(op, width);
  if (!function)
    return false;
  Slot operands[3] = {};
  for (auto [position, operand] : llvm::enumerate(op->getOperands()))
    operands[position] = slot(operand);
  if (auto format = floatFormat(op->getOperand(0).getType()); format && isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    Slot fits = scalar(floatFitsInteger(*format, isa<arith::FPToSIOp>(op)), width, operands[0], operands[0]);
    program_.checks.push_back({});
    program_.checks.back().code = "conversion-range";
    program_.checks.back().message =
        "a real number beyond the limits of " + std::to_string(width) + " bits becomes an integer";
    emit(Opcode::Check, fits, 0, 0, 0, static_cast<int64_t>(program_.checks.size() - 1));
  }
  static constexpr Opcode pure[] = {Opcode::Pure1, Opcode::Pure2, Opcode::Pure3};
  Slot result = slot(op->getResult(0));
  Instruction& made = emit(pure[op->getNumOperands() - 1], result, operands[0], operands[1], operands[2]);
  made.shift = static_cast<uint8_t>(64 - width);
  made.small = static_cast<uint8_t>(roundingRule(op));
  made.function = function;
  return true;
}

} // namespace strata::interpret
