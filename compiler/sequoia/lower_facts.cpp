// What a body does to its variables and where control leaves its statements: one walk over checked statements.
#include "compiler/sequoia/lower_module.h"

namespace strata::sequoia {

const Variable* targetVariable(const Expr* target) {
  while (target->kind == ExprKind::Member || target->kind == ExprKind::MemberIndex)
    target = target->operands[0];
  return target->kind == ExprKind::Variable || target->kind == ExprKind::Element ? target->variable : nullptr;
}

bool writes(const Expr* expr, const Variable* variable) {
  if (!expr)
    return false;
  if ((expr->kind == ExprKind::Assign || expr->kind == ExprKind::Increment) &&
      targetVariable(expr->operands[0]) == variable)
    return true;
  for (const Expr* operand : expr->operands)
    if (writes(operand, variable))
      return true;
  for (const BlockRange& range : expr->ranges)
    for (const Expr* part : {range.start, range.end, range.stride, range.max})
      if (writes(part, variable))
        return true;
  return false;
}

bool writes(const Stmt* stmt, const Variable* variable) {
  if (!stmt)
    return false;
  if (writes(stmt->expression, variable) || writes(stmt->step, variable) || writes(stmt->initial, variable) ||
      writes(stmt->body, variable) || writes(stmt->otherwise, variable))
    return true;
  for (const Stmt* each : stmt->statements)
    if (writes(each, variable))
      return true;
  for (const SwitchSection& section : stmt->sections)
    for (const Stmt* each : section.statements)
      if (writes(each, variable))
        return true;
  for (const Variable* local : stmt->variables)
    if (writes(local->initializer, variable) || std::any_of(local->stores.begin(), local->stores.end(),
                                                            [&](const Expr* each) { return writes(each, variable); }))
      return true;
  if (stmt->loop && (writes(stmt->loop->start, variable) || writes(stmt->loop->end, variable)))
    return true;
  for (size_t i = 0; i < stmt->arguments.size(); ++i) {
    const Argument& argument = stmt->arguments[i];
    bool out = stmt->kind == StmtKind::Copy ? i == 0 : argument.direction != Direction::In;
    if (writes(argument.value, variable) || (out && argument.value->variable == variable))
      return true;
  }
  return false;
}

void BodyFacts::analyze(const Stmt* body) {
  if (body && analyzed_.insert(body).second)
    statement(body, false);
}

void BodyFacts::expression(const Expr* expr) {
  if (!expr)
    return;
  if (expr->kind == ExprKind::Assign || expr->kind == ExprKind::Increment)
    if (const Variable* variable = targetVariable(expr->operands[0]))
      written_.insert(variable);
  if (expr->kind == ExprKind::Call)
    calls_.push_back(expr->function);
  for (const Expr* operand : expr->operands)
    expression(operand);
  for (const BlockRange& range : expr->ranges)
    for (const Expr* part : {range.start, range.end, range.stride, range.max})
      expression(part);
}

void BodyFacts::declaration(const Stmt& stmt, bool mayBeSkipped) {
  for (const Variable* variable : stmt.variables) {
    if (variable->kind != VariableKind::Local)
      continue;
    locals_.push_back(variable);
    expression(variable->initializer);
    for (const Expr* each : variable->stores)
      expression(each);
    for (const Extent& extent : variable->extents)
      expression(extent.expression);
    if (mayBeSkipped || !variable->initializer)
      stored_.insert(variable);
  }
}

unsigned BodyFacts::sequence(const std::vector<Stmt*>& statements, bool mayBeSkipped) {
  unsigned jumps = NoJump;
  for (const Stmt* each : statements)
    jumps |= statement(each, mayBeSkipped || jumps != NoJump);
  return jumps;
}

unsigned BodyFacts::statement(const Stmt* stmt, bool mayBeSkipped) {
  if (!stmt)
    return NoJump;
  unsigned jumps = NoJump;
  expression(stmt->expression);
  expression(stmt->step);
  switch (stmt->kind) {
  case StmtKind::Declaration:
    declaration(*stmt, mayBeSkipped);
    break;
  case StmtKind::Compound:
    // Storage is asked for by what stands in the same list, or around a guarded part of it, only.
    jumps = sequence(stmt->statements, false);
    break;
  case StmtKind::If:
    jumps = statement(stmt->body, false) | statement(stmt->otherwise, false);
    break;
  case StmtKind::While:
  case StmtKind::DoWhile:
  case StmtKind::For:
    statement(stmt->initial, false);
    jumps = statement(stmt->body, false) & ReturnJump;
    break;
  case StmtKind::Switch:
    for (const SwitchSection& section : stmt->sections)
      jumps |= sequence(section.statements, true);
    jumps &= ~BreakJump;
    break;
  case StmtKind::Break:
    jumps = BreakJump;
    break;
  case StmtKind::Continue:
    jumps = ContinueJump;
    break;
  case StmtKind::Return:
    jumps = ReturnJump;
    break;
  case StmtKind::Map:
    expression(stmt->loop->start);
    expression(stmt->loop->end);
    statement(stmt->body, false);
    break;
  case StmtKind::TaskCall:
  case StmtKind::Copy:
    for (const Argument& argument : stmt->arguments) {
      expression(argument.value);
      if (stmt->kind == StmtKind::TaskCall && argument.direction != Direction::In) {
        written_.insert(argument.value->variable);
        if (argument.value->kind == ExprKind::Variable)
          passed_.insert(argument.value->variable);
      }
    }
    break;
  default:
    break;
  }
  jumps_[stmt] = jumps;
  return jumps;
}

} // namespace strata::sequoia
