// One walk over statements and what they are made of; tasks write what they are given as out or inout.
#include "compiler/sequoia/check/writes.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace strata::sequoia {

const Variable* targetVariable(const Expr* target) {
  while (target->kind == ExprKind::Member || target->kind == ExprKind::MemberIndex)
    target = target->operands[0];
  return target->kind == ExprKind::Variable || target->kind == ExprKind::Element ? target->variable : nullptr;
}

namespace {

/// Visits every write of a statement or expression until `found`, given the variable, says that it has seen enough.
class Writes {
public:
  explicit Writes(std::function<bool(const Variable*)> found) : found_(std::move(found)) {}

  bool in(const Expr* expr) {
    if (!expr)
      return false;
    const bool writes = expr->kind == ExprKind::Assign || expr->kind == ExprKind::Increment;
    if (const Variable* target = writes ? targetVariable(expr->operands[0]) : nullptr; target && found_(target))
      return true;
    auto isFound = [&](const Expr* part) { return in(part); };
    return std::any_of(expr->operands.begin(), expr->operands.end(), isFound) ||
           std::any_of(expr->ranges.begin(), expr->ranges.end(), [&](const BlockRange& range) {
             return in(range.start) || in(range.end) || in(range.stride) || in(range.max);
           });
  }

  bool in(const Stmt* stmt) {
    if (!stmt)
      return false;
    auto isFound = [&](const auto* part) { return in(part); };
    return in(stmt->expression) || in(stmt->step) || in(stmt->initial) || in(stmt->body) || in(stmt->otherwise) ||
           std::any_of(stmt->statements.begin(), stmt->statements.end(), isFound) ||
           std::any_of(stmt->sections.begin(), stmt->sections.end(),
                       [&](const SwitchSection& section) {
                         return std::any_of(section.statements.begin(), section.statements.end(), isFound);
                       }) ||
           std::any_of(stmt->variables.begin(), stmt->variables.end(),
                       [&](const Variable* local) {
                         return in(local->initializer) ||
                                std::any_of(local->stores.begin(), local->stores.end(), isFound);
                       }) ||
           (stmt->loop && (in(stmt->loop->start) || in(stmt->loop->end))) || inArguments(*stmt);
  }

private:
  /// A task writes what it is given as out or inout, a copy its first argument.
  bool inArguments(const Stmt& stmt) {
    for (size_t i = 0; i < stmt.arguments.size(); ++i) {
      const Argument& argument = stmt.arguments[i];
      const bool isOut = stmt.kind == StmtKind::Copy ? i == 0 : argument.direction != Direction::In;
      if (in(argument.value) || (isOut && argument.value->variable && found_(argument.value->variable)))
        return true;
    }
    return false;
  }

  const std::function<bool(const Variable*)> found_;
};

template <typename Node>
std::set<const Variable*> allWritten(const Node* node) {
  std::set<const Variable*> all;
  auto note = [&](const Variable* each) {
    all.insert(each);
    return false;
  };
  Writes(note).in(node);
  return all;
}

} // namespace

bool writes(const Expr* expr, const Variable* variable) {
  auto isIt = [&](const Variable* each) { return each == variable; };
  return Writes(isIt).in(expr);
}

bool writes(const Stmt* stmt, const Variable* variable) {
  auto isIt = [&](const Variable* each) { return each == variable; };
  return Writes(isIt).in(stmt);
}

std::set<const Variable*> written(const Stmt* stmt) {
  return allWritten(stmt);
}

std::set<const Variable*> written(const Expr* expr) {
  return allWritten(expr);
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
