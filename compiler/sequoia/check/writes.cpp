// One walk over statements and what they are made of; tasks write what they are given as out or inout.
#include "compiler/sequoia/check/writes.h"

#include <algorithm>

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
    const bool out = stmt->kind == StmtKind::Copy ? i == 0 : argument.direction != Direction::In;
    if (writes(argument.value, variable) || (out && argument.value->variable == variable))
      return true;
  }
  return false;
}

bool begins(const Stmt* stmt, const Variable* variable) {
  if (!stmt)
    return false;
  auto isBegun = [&](const Stmt* part) { return begins(part, variable); };
  const Expr* first = stmt->kind == StmtKind::For && stmt->initial ? stmt->initial->expression : nullptr;
  return std::find(stmt->variables.begin(), stmt->variables.end(), variable) != stmt->variables.end() ||
         (stmt->loop && stmt->loop->variable == variable) ||
         (first && first->kind == ExprKind::Assign && first->op == Operator::None &&
          targetVariable(first->operands[0]) == variable) ||
         isBegun(stmt->initial) || isBegun(stmt->body) || isBegun(stmt->otherwise) ||
         std::any_of(stmt->statements.begin(), stmt->statements.end(), isBegun) ||
         std::any_of(stmt->sections.begin(), stmt->sections.end(), [&](const SwitchSection& section) {
           return std::any_of(section.statements.begin(), section.statements.end(), isBegun);
         });
}

} // namespace strata::sequoia
