// Operators: the types that C gives them, and what may be assigned to.
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/check/suspects.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(operandTypes, Error, "sequoia-operand-types", "'{0}' cannot take {1}");
STRATA_DIAGNOSTIC(conditionalTypes, Error, "sequoia-conditional-types",
                  "the two values of '?:' have types '{0}' and '{1}'");
STRATA_DIAGNOSTIC(notAssignable, Error, "sequoia-not-assignable", "this is a value, and cannot be {0}");
STRATA_DIAGNOSTIC(readOnly, Error, "sequoia-read-only", "{0} '{1}' cannot be {2}");
STRATA_DIAGNOSTIC(innerElementWrite, Error, "sequoia-inner-element-write",
                  "an inner task cannot write an element of array '{0}'");
STRATA_DIAGNOSTIC(constMember, Error, "sequoia-const-member", "member '{0}' is const");
STRATA_DIAGNOSTIC(divisionByZero, Warning, "sequoia-division-by-zero", "division by zero");

namespace {

std::string kindText(const Variable& variable) {
  switch (variable.kind) {
  case VariableKind::SizeParameter:
    return "size parameter";
  case VariableKind::Tunable:
    return "tunable";
  case VariableKind::LoopVariable:
    return "loop variable";
  default:
    return variable.direction == Direction::In ? "'in' argument" : "const";
  }
}

} // namespace

Expr* Checker::unary(Expr* expr) {
  Expr* operand = value(expr->operands[0]);
  expr->operands[0] = operand;
  if (operand->type->isError())
    return wrong(expr);
  bool fits = expr->op == Operator::Complement ? operand->type->isInteger() : operand->type->isArithmetic();
  if (!fits) {
    diagnostics_.report(operandTypes, expr->location, operatorText(expr->op), "'" + typeName(operand->type) + "'");
    return wrong(expr);
  }
  if (expr->op == Operator::Not) {
    expr->type = program_.types.integer();
  } else {
    expr->type = program_.types.promoted(operand->type);
    expr->operands[0] = convert(operand, expr->type);
  }
  fold(*expr);
  return expr;
}

Expr* Checker::binary(Expr* expr) {
  Expr* left = value(expr->operands[0]);
  Expr* right = value(expr->operands[1]);
  expr->operands = {left, right};
  if (left->type->isError() || right->type->isError())
    return wrong(expr);
  bool fits = needsIntegers(expr->op) ? left->type->isInteger() && right->type->isInteger()
                                      : left->type->isArithmetic() && right->type->isArithmetic();
  if (!fits) {
    DiagnosticBuilder report =
        diagnostics_.report(operandTypes, expr->location, operatorText(expr->op),
                            "'" + typeName(left->type) + "' and '" + typeName(right->type) + "'");
    if (std::string_view help = cfamily::operandHelp(expr->op); !help.empty())
      report.help(std::string(help));
    return wrong(expr);
  }
  if (isShift(expr->op)) {
    expr->type = program_.types.promoted(left->type);
    expr->operands = {convert(left, expr->type), convert(right, program_.types.promoted(right->type))};
  } else {
    const Type* type = program_.types.common(left->type, right->type);
    if (isComparison(expr->op) && type->isInteger())
      warnOfDecidedComparison(*expr, *left, *right, type, diagnostics_);
    expr->operands = {convert(left, type), convert(right, type)};
    expr->type = isComparison(expr->op) ? program_.types.integer() : type;
  }
  if (isDivision(expr->op) && expr->operands[1]->kind == ExprKind::Integer && expr->operands[1]->integer == 0)
    diagnostics_.report(divisionByZero, expr->location);
  fold(*expr);
  return expr;
}

Expr* Checker::logical(Expr* expr) {
  expr->operands[0] = condition(expr->operands[0]);
  expr->operands[1] = condition(expr->operands[1]);
  if (expr->operands[0]->type->isError() || expr->operands[1]->type->isError())
    return wrong(expr);
  expr->type = program_.types.integer();
  fold(*expr);
  return expr;
}

Expr* Checker::conditional(Expr* expr) {
  Expr* test = condition(expr->operands[0]);
  Expr* yes = value(expr->operands[1]);
  Expr* no = value(expr->operands[2]);
  expr->operands = {test, yes, no};
  if (test->type->isError() || yes->type->isError() || no->type->isError())
    return wrong(expr);
  if (yes->type->isArithmetic() && no->type->isArithmetic()) {
    expr->type = program_.types.common(yes->type, no->type);
    expr->operands = {test, convert(yes, expr->type), convert(no, expr->type)};
  } else if (yes->type == no->type) {
    expr->type = yes->type;
  } else {
    diagnostics_.report(conditionalTypes, expr->location, typeName(yes->type), typeName(no->type));
    return wrong(expr);
  }
  fold(*expr);
  return expr;
}

bool Checker::writable(Expr* target, std::string_view how) {
  for (const Expr* each = target;; each = each->operands[0]) {
    if (each->kind == ExprKind::Error)
      return false;
    if (each->kind == ExprKind::Member) {
      const Field& field = each->operands[0]->type->fields[each->fieldIndex];
      if (field.isConst) {
        diagnostics_.report(constMember, target->location, field.name).label(field.location, "declared here");
        return false;
      }
      continue;
    }
    if (each->kind == ExprKind::MemberIndex)
      continue;
    if (each->kind != ExprKind::Variable && each->kind != ExprKind::Element) {
      diagnostics_.report(notAssignable, target->location, how);
      return false;
    }
    Variable& variable = *each->variable;
    if (variable.isReadOnly()) {
      diagnostics_.report(readOnly, target->location, kindText(variable), variable.name, how)
          .label(variable.location, "declared here");
      return false;
    }
    if (each->kind == ExprKind::Element && variant_ && variant_->kind == TaskKind::Inner) {
      diagnostics_.report(innerElementWrite, target->location, variable.name)
          .help("write it in a leaf task that this task calls");
      return false;
    }
    variable.isAssigned = true;
    return true;
  }
}

bool Checker::checkArrayWritable(const Variable& array, const Location& where, std::string_view how) {
  if (!array.isReadOnly())
    return true;
  diagnostics_.report(readOnly, where, array.direction == Direction::In ? "'in' argument" : "const", array.name, how)
      .label(array.location, "declared here");
  return false;
}

Expr* Checker::assign(Expr* expr) {
  Expr* target = value(expr->operands[0]);
  Expr* source = value(expr->operands[1]);
  expr->operands = {target, source};
  if (!writable(target, "assigned") || source->type->isError())
    return wrong(expr);
  expr->type = target->type;
  if (expr->op == Operator::None) {
    expr->operands[1] = convertTo(source, target->type, "the assigned value");
    return expr;
  }
  bool fits = needsIntegers(expr->op) ? target->type->isInteger() && source->type->isInteger()
                                      : target->type->isArithmetic() && source->type->isArithmetic();
  if (!fits) {
    diagnostics_.report(operandTypes, expr->location, std::string(operatorText(expr->op)) + "=",
                        "'" + typeName(target->type) + "' and '" + typeName(source->type) + "'");
    return wrong(expr);
  }
  if (isShift(expr->op)) {
    expr->computeType = program_.types.promoted(target->type);
    expr->operands[1] = convert(source, program_.types.promoted(source->type));
  } else {
    expr->computeType = program_.types.common(target->type, source->type);
    expr->operands[1] = convert(source, expr->computeType);
  }
  return expr;
}

Expr* Checker::increment(Expr* expr) {
  Expr* target = value(expr->operands[0]);
  expr->operands[0] = target;
  std::string_view how = expr->op == Operator::Add ? "incremented" : "decremented";
  if (!writable(target, how))
    return wrong(expr);
  if (!target->type->isArithmetic()) {
    diagnostics_.report(operandTypes, expr->location, expr->op == Operator::Add ? "++" : "--",
                        "'" + typeName(target->type) + "'");
    return wrong(expr);
  }
  expr->type = target->type;
  return expr;
}

} // namespace strata::sequoia
