// Reads the step off a loop's text, then looks for what would make it another one.
#include "compiler/sequoia/check/stepping.h"

#include "compiler/sequoia/check/writes.h"

#include <algorithm>

namespace strata::sequoia {

namespace {

const Expr* withoutConversions(const Expr* expr) {
  while (expr->kind == ExprKind::Cast && expr->isImplicit && expr->type->isInteger() &&
         expr->operands[0]->type->isInteger())
    expr = expr->operands[0];
  return expr;
}

bool isUsed(const Expr* expr, const Variable* variable) {
  return expr && ((expr->kind == ExprKind::Variable && expr->variable == variable) ||
                  std::any_of(expr->operands.begin(), expr->operands.end(),
                              [&](const Expr* operand) { return isUsed(operand, variable); }));
}

/// Whether a statement of a loop's body has a jump of a kind that concerns that loop; returns always do.
bool jumps(const Stmt* stmt, StmtKind kind) {
  if (!stmt || stmt->kind == kind)
    return stmt != nullptr;
  const bool isLoop = stmt->kind == StmtKind::For || stmt->kind == StmtKind::While || stmt->kind == StmtKind::DoWhile;
  if (kind != StmtKind::Return && (isLoop || (kind == StmtKind::Break && stmt->kind == StmtKind::Switch)))
    return false;
  auto has = [&](const Stmt* part) { return jumps(part, kind); };
  return has(stmt->body) || has(stmt->otherwise) ||
         std::any_of(stmt->statements.begin(), stmt->statements.end(), has) ||
         std::any_of(stmt->sections.begin(), stmt->sections.end(), [&](const SwitchSection& section) {
           return std::any_of(section.statements.begin(), section.statements.end(), has);
         });
}

/// The statement of a while loop's body that is its step.
const Stmt* stepIn(const Stmt& loop) {
  if (!loop.body || loop.body->kind != StmtKind::Compound)
    return nullptr;
  for (const Stmt* each : loop.body->statements)
    if (each->kind == StmtKind::Expression)
      if (auto step = stepOf(each->expression); step && isUsed(loop.expression, step->variable))
        return each;
  return nullptr;
}

bool isInvariant(const Expr* expr, const Stmt& loop) {
  if (expr->kind == ExprKind::Variable && expr->variable->kind == VariableKind::Local &&
      (writes(loop.body, expr->variable) || writes(loop.step, expr->variable) || begins(loop.body, expr->variable)))
    return false;
  return expr->kind != ExprKind::Assign && expr->kind != ExprKind::Increment &&
         std::all_of(expr->operands.begin(), expr->operands.end(),
                     [&](const Expr* operand) { return isInvariant(operand, loop); });
}

} // namespace

const Variable* variableOf(const Expr* expr) {
  expr = withoutConversions(expr);
  return expr->kind == ExprKind::Variable ? expr->variable : nullptr;
}

std::optional<Stepping> stepOf(const Expr* expr) {
  if (!expr || (expr->kind != ExprKind::Increment && expr->kind != ExprKind::Assign) ||
      expr->operands[0]->kind != ExprKind::Variable)
    return std::nullopt;
  Stepping result;
  result.variable = expr->operands[0]->variable;
  Operator op = expr->op;
  if (expr->kind == ExprKind::Assign) {
    result.step = expr->operands[1];
    if (op == Operator::None) {
      const Expr* sum = withoutConversions(result.step);
      if (sum->kind != ExprKind::Binary)
        return std::nullopt;
      op = sum->op;
      const bool isFirst = variableOf(sum->operands[0]) == result.variable;
      if (!isFirst && (op != Operator::Add || variableOf(sum->operands[1]) != result.variable))
        return std::nullopt;
      result.step = sum->operands[isFirst ? 1 : 0];
    }
    if (!result.step->type->isInteger())
      return std::nullopt;
  }
  if (op != Operator::Add && op != Operator::Subtract)
    return std::nullopt;
  result.isDown = op == Operator::Subtract;
  return result;
}

std::optional<Stepping> steppingOf(const Stmt& loop) {
  const Expr* test = loop.expression;
  if (!test || test->kind != ExprKind::Binary || test->op < Operator::Less || test->op > Operator::NotEqual)
    return std::nullopt;
  std::optional<Stepping> result;
  const Stmt* inBody = nullptr;
  if (loop.kind == StmtKind::For)
    result = stepOf(loop.step);
  else if (inBody = stepIn(loop); inBody)
    result = stepOf(inBody->expression);
  if (!result)
    return std::nullopt;
  const Variable* variable = result->variable;
  if (variable->kind != VariableKind::Local || variable->isArray() || !variable->type->isInteger() ||
      (result->step && (!isInvariant(result->step, loop) || isUsed(result->step, variable))) || writes(test, variable))
    return std::nullopt;
  if (!inBody) {
    if (writes(loop.body, variable))
      return std::nullopt;
  } else {
    if (jumps(loop.body, StmtKind::Continue)) // may skip the step
      return std::nullopt;
    for (const Stmt* each : loop.body->statements)
      if (each != inBody && writes(each, variable))
        return std::nullopt;
  }
  result->mayLeave = jumps(loop.body, StmtKind::Break) || jumps(loop.body, StmtKind::Return);
  for (size_t side : {0, 1})
    if (variableOf(test->operands[side]) == variable && isInvariant(test->operands[1 - side], loop))
      result->bound = test->operands[1 - side];
  if (const Stmt* initial = loop.initial; initial && initial->kind == StmtKind::Declaration) {
    for (const Variable* each : initial->variables)
      if (each == variable)
        result->start = each->initializer;
  } else if (initial && initial->kind == StmtKind::Expression && initial->expression->kind == ExprKind::Assign &&
             initial->expression->op == Operator::None && variableOf(initial->expression->operands[0]) == variable) {
    result->start = initial->expression->operands[1];
  }
  return result;
}

} // namespace strata::sequoia
