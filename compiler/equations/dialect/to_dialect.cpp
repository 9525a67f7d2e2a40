// Writes a system as equations of the dialect, one for each of its own. See system_of.h.
#include "compiler/equations/dialect/system_of.h"

#include "compiler/ir/locations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IntegerSet.h"

namespace strata::equations {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;

namespace {

bool isFloat(const ElementType& type) {
  return type.kind == ElementType::Kind::Float;
}
bool isUnsigned(const ElementType& type) {
  return type.kind == ElementType::Kind::UnsignedInteger || type.kind == ElementType::Kind::Bool;
}
bool isBool(const ElementType& type) {
  return type.kind == ElementType::Kind::Bool;
}

class Writer {
public:
  Writer(mlir::OpBuilder& builder, const System& system, const SourceManager& sources)
      : builder_(builder), system_(system), sources_(sources) {}

  svm::EquationsOp run(mlir::ValueRange inputs, mlir::ValueRange outputs, mlir::ValueRange parameters) {
    size_t input = 0, output = 0;
    for (const SystemVariable& each : system_.variables)
      arrays_.push_back(each.role == Role::Input    ? inputs[input++]
                        : each.role == Role::Output ? outputs[output++]
                                                    : Value());
    const auto names = [&](const std::vector<std::string>& of) {
      return builder_.getStrArrayAttr(llvm::SmallVector<llvm::StringRef>(of.begin(), of.end()));
    };
    Space context;
    if (!system_.context.empty())
      context.pieces.push_back(system_.context);
    auto made = builder_.create<svm::EquationsOp>(place(system_.location), names(system_.iterators), parameters,
                                                  names(system_.parameters), sets(context));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&made.getBody().emplaceBlock());
    for (const Equation& equation : system_.equations)
      write(equation);
    return made;
  }

private:
  mlir::Location place(const Location& location) const {
    return locationAt(sources_, location, *builder_.getContext());
  }

  mlir::Type typeOf(const ElementType& type) const {
    if (isFloat(type))
      return type.bytes == 4 ? mlir::Type(builder_.getF32Type()) : builder_.getF64Type();
    return builder_.getIntegerType(isBool(type) ? 1 : static_cast<unsigned>(8 * type.bytes));
  }

  mlir::AffineExpr expression(const Affine& value) const {
    mlir::AffineExpr sum = builder_.getAffineConstantExpr(value.constant);
    for (unsigned i = 0; i < value.iterators.size(); ++i)
      sum = sum + builder_.getAffineDimExpr(i) * value.iterators[i];
    for (unsigned i = 0; i < value.parameters.size(); ++i)
      sum = sum + builder_.getAffineSymbolExpr(i) * value.parameters[i];
    return sum;
  }

  mlir::ArrayAttr sets(const Space& space) const {
    const auto iterators = static_cast<unsigned>(system_.iterators.size());
    const auto parameters = static_cast<unsigned>(system_.parameters.size());
    llvm::SmallVector<mlir::Attribute> made;
    for (const std::vector<Constraint>& piece : space.pieces) {
      llvm::SmallVector<mlir::AffineExpr> expressions;
      llvm::SmallVector<bool> equalities;
      for (const Constraint& each : piece) {
        mlir::AffineExpr value = expression(each.value);
        const bool isRemainder = each.modulus > 0;
        if (isRemainder)
          value = value % each.modulus - (each.kind == Constraint::Kind::NotDivisible ? 1 : 0);
        expressions.push_back(value);
        equalities.push_back(each.kind == Constraint::Kind::Zero || each.kind == Constraint::Kind::Divisible);
      }
      if (expressions.empty()) { // everything: a set has a constraint
        expressions.push_back(builder_.getAffineConstantExpr(0));
        equalities.push_back(false);
      }
      made.push_back(mlir::IntegerSetAttr::get(mlir::IntegerSet::get(iterators, parameters, expressions, equalities)));
    }
    return builder_.getArrayAttr(made);
  }

  mlir::AffineMapAttr map(const std::vector<Affine>& index) const {
    llvm::SmallVector<mlir::AffineExpr> results;
    for (const Affine& each : index)
      results.push_back(expression(each));
    return mlir::AffineMapAttr::get(mlir::AffineMap::get(static_cast<unsigned>(system_.iterators.size()),
                                                         static_cast<unsigned>(system_.parameters.size()), results,
                                                         builder_.getContext()));
  }

  void write(const Equation& equation) {
    place_ = place(equation.location);
    const bool isOutput = system_.variables[equation.variable].role == Role::Output;
    const bool isAtHome = !isOutput && isIdentity(equation.index, system_.iterators.size());
    const mlir::AffineMapAttr index = isAtHome ? mlir::AffineMapAttr() : map(equation.index);
    svm::EquationOp made;
    if (isOutput)
      made = builder_.create<svm::EquationOp>(place_, mlir::StringAttr(), mlir::AffineMapAttr(),
                                              arrays_[equation.variable], index, domain(equation));
    else
      made = builder_.create<svm::EquationOp>(place_, builder_.getStringAttr(system_.variables[equation.variable].name),
                                              index, Value(), mlir::AffineMapAttr(), domain(equation));
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&made.getBody().emplaceBlock());
    const Value whole = value(equation.value, equation.value.type);
    place_ = place(equation.location);
    builder_.create<svm::DefineOp>(place_, whole);
  }

  /// The iterations of an equation: its own conditions, within those of the system.
  mlir::ArrayAttr domain(const Equation& equation) const {
    Space whole;
    for (const std::vector<Constraint>& within : system_.space.pieces)
      for (const std::vector<Constraint>& piece : equation.guard.pieces) {
        whole.pieces.push_back(piece);
        whole.pieces.back().insert(whole.pieces.back().end(), within.begin(), within.end());
      }
    return sets(whole);
  }

  /// `type` is that of a constant.
  Value value(const Expression& expression, const ElementType& type) {
    if (expression.kind == Expression::Kind::Operation) {
      llvm::SmallVector<Value, 3> operands;
      for (size_t i = 0; i < expression.operands.size(); ++i)
        operands.push_back(value(expression.operands[i], typeOfOperand(expression, i)));
      place_ = place(expression.location);
      return compute(expression, operands);
    }
    place_ = place(expression.location);
    if (expression.kind == Expression::Kind::Constant)
      return isFloat(type) ? real(expression.constant.real, type) : integer(expression.constant.integer, type);
    const SystemVariable& of = system_.variables[expression.variable];
    if (of.role == Role::Internal)
      return builder_.create<svm::UseOp>(place_, typeOf(of.type), builder_.getStringAttr(of.name),
                                         map(expression.index));
    const Value input = arrays_[expression.variable];
    if (!mlir::isa<mlir::MemRefType>(input.getType()))
      return input;
    return builder_.create<svm::ElementOp>(place_, typeOf(of.type), input, map(expression.index));
  }

  Value integer(int64_t value, const ElementType& type) {
    return builder_.create<arith::ConstantOp>(place_, builder_.getIntegerAttr(typeOf(type), value));
  }
  Value real(double value, const ElementType& type) {
    return builder_.create<arith::ConstantOp>(place_, builder_.getFloatAttr(typeOf(type), value));
  }

  template <typename Real, typename Signed, typename Unsigned = Signed>
  Value either(const ElementType& type, llvm::ArrayRef<Value> operands) {
    if (isFloat(type))
      return builder_.create<Real>(place_, operands[0], operands[1]);
    if (isUnsigned(type))
      return builder_.create<Unsigned>(place_, operands[0], operands[1]);
    return builder_.create<Signed>(place_, operands[0], operands[1]);
  }

  Value less(const ElementType& type, Value left, Value right, bool orEqual = false) {
    if (isFloat(type))
      return builder_.create<arith::CmpFOp>(place_, orEqual ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT,
                                            left, right);
    using P = arith::CmpIPredicate;
    const P predicate = isUnsigned(type) ? (orEqual ? P::ule : P::ult) : (orEqual ? P::sle : P::slt);
    return builder_.create<arith::CmpIOp>(place_, predicate, left, right);
  }

  Value equal(const ElementType& type, Value left, Value right, bool isEqual) {
    if (isFloat(type))
      return builder_.create<arith::CmpFOp>(place_, isEqual ? arith::CmpFPredicate::OEQ : arith::CmpFPredicate::UNE,
                                            left, right);
    return builder_.create<arith::CmpIOp>(place_, isEqual ? arith::CmpIPredicate::eq : arith::CmpIPredicate::ne, left,
                                          right);
  }

  /// A shift's amount, mod the width.
  Value amount(const ElementType& type, Value given) {
    return builder_.create<arith::AndIOp>(place_, given, integer(static_cast<int64_t>(8 * type.bytes - 1), type));
  }

  Value compute(const Expression& expression, llvm::ArrayRef<Value> operands) {
    const ElementType& type = expression.type;
    const ElementType& from = expression.operandType;
    switch (expression.operation) {
    case Operation::Copy:
      return operands[0];
    case Operation::Add:
      return either<arith::AddFOp, arith::AddIOp>(type, operands);
    case Operation::Subtract:
      return either<arith::SubFOp, arith::SubIOp>(type, operands);
    case Operation::Multiply:
      return either<arith::MulFOp, arith::MulIOp>(type, operands);
    case Operation::MultiplyAdd:
      if (isFloat(type))
        return builder_.create<math::FmaOp>(place_, operands[0], operands[1], operands[2]);
      return builder_.create<arith::AddIOp>(place_, builder_.create<arith::MulIOp>(place_, operands[0], operands[1]),
                                            operands[2]);
    case Operation::Divide:
      return either<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(type, operands);
    case Operation::Remainder:
      return isUnsigned(type) ? Value(builder_.create<arith::RemUIOp>(place_, operands[0], operands[1]))
                              : builder_.create<arith::RemSIOp>(place_, operands[0], operands[1]);
    case Operation::Negate:
      return isFloat(type) ? Value(builder_.create<arith::NegFOp>(place_, operands[0]))
                           : builder_.create<arith::SubIOp>(place_, integer(0, type), operands[0]);
    case Operation::And:
      return builder_.create<arith::AndIOp>(place_, operands[0], operands[1]);
    case Operation::Or:
      return builder_.create<arith::OrIOp>(place_, operands[0], operands[1]);
    case Operation::Xor:
      return builder_.create<arith::XOrIOp>(place_, operands[0], operands[1]);
    case Operation::Not:
      return builder_.create<arith::XOrIOp>(place_, operands[0], integer(-1, type));
    case Operation::ShiftLeft:
      return builder_.create<arith::ShLIOp>(place_, operands[0], amount(type, operands[1]));
    case Operation::ShiftRight:
      return isUnsigned(type) ? Value(builder_.create<arith::ShRUIOp>(place_, operands[0], amount(type, operands[1])))
                              : builder_.create<arith::ShRSIOp>(place_, operands[0], amount(type, operands[1]));
    case Operation::Minimum:
      return builder_.create<arith::SelectOp>(place_, less(type, operands[1], operands[0]), operands[1], operands[0]);
    case Operation::Maximum:
      return builder_.create<arith::SelectOp>(place_, less(type, operands[0], operands[1]), operands[1], operands[0]);
    case Operation::Absolute:
      if (isFloat(type))
        return builder_.create<math::AbsFOp>(place_, operands[0]);
      return isUnsigned(type) ? operands[0] : Value(builder_.create<math::AbsIOp>(place_, operands[0]));
    case Operation::SquareRoot:
      return builder_.create<math::SqrtOp>(place_, operands[0]);
    case Operation::Less:
      return less(from, operands[0], operands[1]);
    case Operation::LessOrEqual:
      return less(from, operands[0], operands[1], true);
    case Operation::Equal:
      return equal(from, operands[0], operands[1], true);
    case Operation::NotEqual:
      return equal(from, operands[0], operands[1], false);
    case Operation::Select:
      return builder_.create<arith::SelectOp>(place_, operands[0], operands[1], operands[2]);
    case Operation::Convert:
      return convert(type, from, operands[0]);
    }
    return {};
  }

  Value convert(const ElementType& to, const ElementType& from, Value value) {
    const mlir::Type type = typeOf(to);
    if (isBool(to))
      return equal(from, value, isFloat(from) ? real(0, from) : integer(0, from), false);
    if (isFloat(to) && isFloat(from)) {
      if (to.bytes == from.bytes)
        return value;
      return to.bytes > from.bytes ? Value(builder_.create<arith::ExtFOp>(place_, type, value))
                                   : builder_.create<arith::TruncFOp>(place_, type, value);
    }
    if (isFloat(to))
      return isUnsigned(from) ? Value(builder_.create<arith::UIToFPOp>(place_, type, value))
                              : builder_.create<arith::SIToFPOp>(place_, type, value);
    if (isFloat(from))
      return isUnsigned(to) ? Value(builder_.create<arith::FPToUIOp>(place_, type, value))
                            : builder_.create<arith::FPToSIOp>(place_, type, value);
    const unsigned toBits = type.getIntOrFloatBitWidth(), fromBits = value.getType().getIntOrFloatBitWidth();
    if (toBits == fromBits)
      return value;
    if (toBits < fromBits)
      return builder_.create<arith::TruncIOp>(place_, type, value);
    return isUnsigned(from) ? Value(builder_.create<arith::ExtUIOp>(place_, type, value))
                            : builder_.create<arith::ExtSIOp>(place_, type, value);
  }

  mlir::OpBuilder& builder_;
  const System& system_;
  const SourceManager& sources_;
  std::vector<Value> arrays_; // of inputs and outputs, by variable
  mlir::Location place_ = mlir::UnknownLoc::get(builder_.getContext());
};

} // namespace

svm::EquationsOp build(mlir::OpBuilder& builder, const System& system, mlir::ValueRange inputs,
                       mlir::ValueRange outputs, mlir::ValueRange parameters, const SourceManager& sources) {
  return Writer(builder, system, sources).run(inputs, outputs, parameters);
}

} // namespace strata::equations
