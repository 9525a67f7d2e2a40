// What a body does to its variables and where control leaves its statements: one walk over checked statements.
#include "compiler/sequoia/check/writes.h"
#include "compiler/sequoia/lower/lower_module.h"

namespace strata::sequoia {

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
