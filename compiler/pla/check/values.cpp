// Expressions that compute, with C's conversions: integers of less than 32 bits are computed with as int32, two types
// meet in the greater one. A number takes the type of what stands beside it. What would lose a value silently (a real
// as an integer, a double as a float) has to be asked for. See checker.h.
#include "compiler/pla/check/checker.h"

#include "base/source/nearest_name.h"

#include <algorithm>
#include <cmath>

namespace strata::pla {

using namespace equations;
using Kind = ElementType::Kind;

STRATA_DIAGNOSTIC(iteratorValue, Error, "pla-iterator-value", "'{0}' is {1}, and is no value here");
STRATA_DIAGNOSTIC(badOperand, Error, "pla-operand", "'{0}' takes no {1}");
STRATA_DIAGNOSTIC(losesValue, Error, "pla-conversion", "a {0} does not become a {1} by itself");
STRATA_DIAGNOSTIC(unknownFunction, Error, "pla-unknown-function", "there is no function '{0}'");
STRATA_DIAGNOSTIC(argumentCount, Error, "pla-arguments", "'{0}' takes {1} arguments, and {2} are given");
STRATA_DIAGNOSTIC(numberRange, Error, "pla-number-range", "{0} does not fit in {1}");
STRATA_DIAGNOSTIC(reducedOver, Error, "pla-reduced-over", "'{0}' is no iterator that can be reduced over here");
STRATA_DIAGNOSTIC(nestedReduction, Error, "pla-nested-reduction", "a reduction inside of another");

namespace {

bool isInteger(const ElementType& type) {
  return type.kind == Kind::SignedInteger || type.kind == Kind::UnsignedInteger;
}
bool isFloat(const ElementType& type) {
  return type.kind == Kind::Float;
}
bool isBool(const ElementType& type) {
  return type.kind == Kind::Bool;
}

/// A number of the program that has no type of its own yet.
bool isLiteral(const Expression& expression) {
  return expression.kind == Expression::Kind::Constant && expression.operandType.bytes == 0;
}

ElementType promoted(const ElementType& type) {
  return isBool(type) || (isInteger(type) && type.bytes < 4) ? ElementType::signedInteger(4) : type;
}

ElementType common(const ElementType& left, const ElementType& right) {
  const ElementType a = promoted(left), b = promoted(right);
  if (isFloat(a) || isFloat(b))
    return isFloat(a) && isFloat(b) ? (a.bytes > b.bytes ? a : b) : isFloat(a) ? a : b;
  if (a.bytes != b.bytes)
    return a.bytes > b.bytes ? a : b;
  return a.kind == Kind::UnsignedInteger ? a : b;
}

bool fits(int64_t value, const ElementType& type) {
  if (type.bytes == 8)
    return type.kind == Kind::SignedInteger || value >= 0;
  const auto bits = static_cast<unsigned>(8 * type.bytes);
  if (type.kind == Kind::UnsignedInteger)
    return value >= 0 && value < (int64_t{1} << bits);
  return value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1));
}

Expression operationOf(Operation operation, const ElementType& type, std::vector<Expression> operands,
                       const Location& where) {
  Expression made;
  made.kind = Expression::Kind::Operation;
  made.operation = operation;
  made.type = type;
  made.operandType = operands[0].type;
  made.operands = std::move(operands);
  made.location = where;
  return made;
}

std::optional<Operation> arithmetic(Operator op) {
  switch (op) {
  case Operator::Add:
    return Operation::Add;
  case Operator::Subtract:
    return Operation::Subtract;
  case Operator::Multiply:
    return Operation::Multiply;
  case Operator::Divide:
    return Operation::Divide;
  case Operator::Remainder:
    return Operation::Remainder;
  case Operator::BitAnd:
    return Operation::And;
  case Operator::BitOr:
    return Operation::Or;
  case Operator::BitXor:
    return Operation::Xor;
  default:
    return std::nullopt;
  }
}

} // namespace

Expression Checker::value(const Expr& expression) {
  switch (expression.kind) {
  case ExprKind::Integer:
  case ExprKind::Real:
    return number(expression);
  case ExprKind::Name:
  case ExprKind::Element:
    return named(expression);
  case ExprKind::Unary:
    return unary(expression);
  case ExprKind::Binary:
    return binary(expression);
  case ExprKind::Conditional:
    return conditional(expression);
  case ExprKind::Call:
    return call(expression);
  case ExprKind::Reduction:
    return reduction(expression);
  }
  return {};
}

Expression Checker::number(const Expr& expression) {
  Expression made;
  made.location = expression.location;
  made.operandType.bytes = 0; // it takes its type from beside it
  if (expression.kind == ExprKind::Real) {
    made.type = ElementType::floating(expression.isFloat ? 4 : 8);
    if (expression.isFloat)
      made.operandType.bytes = 4;
    made.constant.real = expression.real;
    return made;
  }
  if (expression.integer > INT64_MAX) {
    diagnostics_.report(numberRange, expression.location, expression.integer, "int64");
    throw CheckError();
  }
  made.constant.integer = static_cast<int64_t>(expression.integer);
  made.constant.real = static_cast<double>(made.constant.integer);
  made.type = ElementType::signedInteger(expression.integer > INT32_MAX ? 8 : 4);
  return made;
}

Expression Checker::named(const Expr& expression) {
  const std::string& name = expression.name.text;
  const bool isParameter = parameters_.contains(name);
  if (isParameter || iterators_.contains(name)) {
    diagnostics_.report(iteratorValue, expression.location, name, isParameter ? "a parameter" : "an iterator")
        .help(isParameter
                  ? "declare a scalar input for the value"
                  : "define a variable that counts: 'c[" + name + "] = c[" + name + " - 1] + 1 if " + name + " > 0'");
    throw CheckError();
  }
  Expression made;
  made.kind = Expression::Kind::Element;
  made.location = expression.location;
  const SystemVariable& variable = resolve(expression.name, made.variable);
  made.index = indices(expression, variable);
  made.type = variable.type;
  return made;
}

/// Of a number without a type, the number as one of that type; else a conversion.
Expression Checker::converted(Expression operand, const ElementType& type, const Location& where) {
  if (isLiteral(operand) && !isBool(type)) {
    if (isFloat(operand.type) && isInteger(type)) {
      diagnostics_.report(losesValue, where, "real number", type.text());
      throw CheckError();
    }
    if (isInteger(type) && !fits(operand.constant.integer, type)) {
      diagnostics_.report(numberRange, where, operand.constant.integer, type.text());
      throw CheckError();
    }
    operand.type = type;
    if (isFloat(type) && type.bytes == 4)
      operand.constant.real = static_cast<double>(static_cast<float>(operand.constant.real));
    operand.operandType = type;
    return operand;
  }
  if (operand.type == type)
    return operand;
  return operationOf(Operation::Convert, type, {std::move(operand)}, where);
}

void Checker::unify(Expression& left, Expression& right, const Location& where) {
  const bool isLeft = isLiteral(left), isRight = isLiteral(right);
  ElementType type = isLeft == isRight ? common(left.type, right.type) : promoted(isLeft ? right.type : left.type);
  if (isLeft != isRight && isFloat((isLeft ? left : right).type) && !isFloat(type))
    type = ElementType::floating(8); // C's: an integer beside a real
  const Location leftPlace = left.location, rightPlace = right.location;
  left = converted(std::move(left), type, leftPlace.valid() ? leftPlace : where);
  right = converted(std::move(right), type, rightPlace.valid() ? rightPlace : where);
}

/// A bool: a comparison with zero where the expression is a number.
Expression Checker::truth(const Expr& expression) {
  Expression made = value(expression);
  if (isBool(made.type))
    return made;
  Expression zero;
  zero.type = made.type;
  zero.operandType = made.type;
  const Location where = made.location;
  return operationOf(Operation::NotEqual, ElementType::boolean(), {std::move(made), std::move(zero)}, where);
}

Expression Checker::unary(const Expr& expression) {
  if (expression.op == Operator::Not) {
    Expression no;
    no.type = no.operandType = ElementType::boolean();
    return operationOf(Operation::Equal, ElementType::boolean(), {truth(*expression.operands[0]), no},
                       expression.location);
  }
  Expression operand = value(*expression.operands[0]);
  if (isLiteral(operand) && expression.op == Operator::Negate) {
    operand.constant.integer = -operand.constant.integer;
    operand.constant.real = -operand.constant.real;
    return operand;
  }
  if (expression.op == Operator::Complement && !isInteger(promoted(operand.type))) {
    diagnostics_.report(badOperand, expression.location, "~", operand.type.text());
    throw CheckError();
  }
  const ElementType type = promoted(operand.type);
  operand = converted(std::move(operand), type, expression.operands[0]->location);
  if (expression.op == Operator::Plus)
    return operand;
  return operationOf(expression.op == Operator::Negate ? Operation::Negate : Operation::Not, type, {std::move(operand)},
                     expression.location);
}

Expression Checker::binary(const Expr& expression) {
  const Operator op = expression.op;
  const Location& where = expression.location;
  if (cfamily::isLogical(op))
    return operationOf(op == Operator::LogicalAnd ? Operation::And : Operation::Or, ElementType::boolean(),
                       {truth(*expression.operands[0]), truth(*expression.operands[1])}, where);
  Expression left = value(*expression.operands[0]), right = value(*expression.operands[1]);
  if (cfamily::needsIntegers(op))
    for (const Expression* operand : {&left, &right})
      if (!isInteger(promoted(operand->type))) {
        diagnostics_.report(badOperand, operand->location, cfamily::operatorText(op), operand->type.text());
        throw CheckError();
      }
  if (cfamily::isShift(op)) {
    const ElementType type = promoted(left.type);
    left = converted(std::move(left), type, where);
    right = converted(std::move(right), type, where);
    return operationOf(op == Operator::ShiftLeft ? Operation::ShiftLeft : Operation::ShiftRight, type,
                       {std::move(left), std::move(right)}, where);
  }
  unify(left, right, where);
  const ElementType type = left.type;
  if (const std::optional<Operation> found = arithmetic(op))
    return operationOf(*found, type, {std::move(left), std::move(right)}, where);
  if (op == Operator::Greater || op == Operator::GreaterEqual)
    std::swap(left, right);
  const Operation comparison = op == Operator::Equal                             ? Operation::Equal
                               : op == Operator::NotEqual                        ? Operation::NotEqual
                               : op == Operator::Less || op == Operator::Greater ? Operation::Less
                                                                                 : Operation::LessOrEqual;
  return operationOf(comparison, ElementType::boolean(), {std::move(left), std::move(right)}, where);
}

Expression Checker::conditional(const Expr& expression) {
  Expression condition = truth(*expression.operands[0]);
  Expression first = value(*expression.operands[1]), second = value(*expression.operands[2]);
  if (!(isBool(first.type) && isBool(second.type)))
    unify(first, second, expression.location);
  const ElementType type = first.type;
  return operationOf(Operation::Select, type, {std::move(condition), std::move(first), std::move(second)},
                     expression.location);
}

Expression Checker::call(const Expr& expression) {
  const std::string& name = expression.name.text;
  const auto need = [&](size_t count) {
    if (expression.operands.size() != count) {
      diagnostics_.report(argumentCount, expression.location, name, count, expression.operands.size());
      throw CheckError();
    }
  };
  static const std::map<std::string, Operation, std::less<>> functions = {{"min", Operation::Minimum},
                                                                          {"max", Operation::Maximum},
                                                                          {"abs", Operation::Absolute},
                                                                          {"sqrt", Operation::SquareRoot},
                                                                          {"fma", Operation::MultiplyAdd}};
  const auto found = functions.find(name);
  if (found == functions.end()) {
    // A conversion is called by its type's name.
    const unsigned before = diagnostics_.errorCount();
    static const std::vector<std::string> types = {"bool", "int8",  "int16",   "int32",  "int64",
                                                   "int",  "uint8", "uint16",  "uint32", "uint64",
                                                   "uint", "float", "float32", "double", "float64"};
    if (std::find(types.begin(), types.end(), name) == types.end() || before != diagnostics_.errorCount()) {
      std::vector<std::string> known = types;
      for (const auto& [each, operation] : functions)
        known.push_back(each);
      DiagnosticBuilder report = diagnostics_.report(unknownFunction, expression.name.location, name);
      proposeName(report, name, known);
      throw CheckError();
    }
    need(1);
    const ElementType type = typeOf(expression.name);
    if (isBool(type))
      return truth(*expression.operands[0]);
    Expression operand = value(*expression.operands[0]);
    if (isLiteral(operand) && isFloat(operand.type) && isInteger(type)) {
      operand.constant.integer = static_cast<int64_t>(std::trunc(operand.constant.real));
      operand.type = ElementType::signedInteger(8);
    }
    return converted(std::move(operand), type, expression.location);
  }
  need(found->second == Operation::MultiplyAdd                                      ? 3
       : found->second == Operation::Minimum || found->second == Operation::Maximum ? 2
                                                                                    : 1);
  std::vector<Expression> operands;
  for (const Expr* operand : expression.operands)
    operands.push_back(value(*operand));
  if (operands.size() == 1) {
    ElementType type = promoted(operands[0].type);
    if (found->second == Operation::SquareRoot && !isFloat(type)) {
      diagnostics_.report(badOperand, operands[0].location, name, operands[0].type.text())
          .help("convert it: 'sqrt(float(x))'");
      throw CheckError();
    }
    operands[0] = converted(std::move(operands[0]), type, expression.location);
    return operationOf(found->second, type, std::move(operands), expression.location);
  }
  unify(operands[0], operands[1], expression.location);
  if (operands.size() == 3) {
    unify(operands[0], operands[2], expression.location);
    unify(operands[1], operands[2], expression.location);
    if (!isFloat(operands[0].type)) {
      diagnostics_.report(badOperand, expression.location, name, operands[0].type.text())
          .help("write the product and the sum");
      throw CheckError();
    }
  }
  const ElementType type = operands[0].type;
  return operationOf(found->second, type, std::move(operands), expression.location);
}

Expression Checker::reduction(const Expr& expression) {
  Expression made;
  made.kind = Expression::Kind::Reduction;
  made.location = expression.location;
  const std::string& name = expression.name.text;
  made.operation = name == "sum"       ? Operation::Add
                   : name == "product" ? Operation::Multiply
                   : name == "min"     ? Operation::Minimum
                                       : Operation::Maximum;
  for (const NameSyntax& iterator : expression.iterators) {
    const auto found = iterators_.find(iterator.text);
    if (found == iterators_.end() ||
        std::find(made.iterators.begin(), made.iterators.end(), found->second) != made.iterators.end()) {
      diagnostics_.report(reducedOver, iterator.location, iterator.text);
      throw CheckError();
    }
    made.iterators.push_back(found->second);
  }
  Expression operand = value(*expression.operands[0]);
  const auto hasReduction = [](const auto& self, const Expression& inner) -> bool {
    return inner.kind == Expression::Kind::Reduction ||
           std::any_of(inner.operands.begin(), inner.operands.end(),
                       [&](const Expression& each) { return self(self, each); });
  };
  if (hasReduction(hasReduction, operand)) {
    diagnostics_.report(nestedReduction, operand.location)
        .help("name all iterators in one, as in 'sum[k, l](…)', or define a variable");
    throw CheckError();
  }
  made.type = promoted(operand.type);
  made.operands.push_back(converted(std::move(operand), made.type, expression.operands[0]->location));
  return made;
}

/// As C assigns, except where a value would be lost: integers are cut to the variable's size.
Expression Checker::assigned(Expression value, const ElementType& type, const Expr& syntax) {
  if (isLiteral(value) || value.type == type)
    return converted(std::move(value), type, syntax.location);
  const bool loses = (isFloat(value.type) && !isFloat(type)) ||
                     (isFloat(type) && isFloat(value.type) && value.type.bytes > type.bytes) ||
                     (isBool(type) && !isBool(value.type));
  if (loses) {
    diagnostics_.report(losesValue, syntax.location, value.type.text(), type.text())
        .help("convert it: '" + (isBool(type) ? std::string("x != 0") : type.text() + "(x)") + "'");
    throw CheckError();
  }
  return converted(std::move(value), type, syntax.location);
}

} // namespace strata::pla
