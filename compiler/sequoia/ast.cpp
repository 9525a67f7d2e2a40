// Node making, and the spelling of keywords.
#include "compiler/sequoia/ast.h"

namespace strata::sequoia {

const char* directionText(Direction direction) {
  static constexpr const char* names[] = {"", "in", "out", "inout"};
  return names[static_cast<size_t>(direction)];
}

const char* mapText(MapKind kind) {
  static constexpr const char* names[] = {"mappar", "mapseq", "mapreduce"};
  return names[static_cast<size_t>(kind)];
}

const char* taskKindText(TaskKind kind) {
  static constexpr const char* names[] = {"prototype", "inner", "leaf", "ext"};
  return names[static_cast<size_t>(kind)];
}

const TaskVariant* Task::find(std::string_view variant) const {
  for (const TaskVariant* candidate : variants)
    if (candidate->name == variant)
      return candidate;
  return nullptr;
}

Task* Program::findTask(std::string_view name) {
  for (Task& task : tasks)
    if (task.name == name)
      return &task;
  return nullptr;
}

Expr* Program::newExpr(ExprKind kind, const Location& location) {
  Expr& expr = exprs_.emplace_back();
  expr.kind = kind;
  expr.location = location;
  return &expr;
}

Stmt* Program::newStmt(StmtKind kind, const Location& location) {
  Stmt& stmt = stmts_.emplace_back();
  stmt.kind = kind;
  stmt.location = location;
  return &stmt;
}

} // namespace strata::sequoia
