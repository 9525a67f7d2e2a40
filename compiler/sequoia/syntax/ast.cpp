// Node making, and the spelling of keywords.
#include "compiler/sequoia/syntax/ast.h"

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
  const auto found = named_.find(variant);
  return found == named_.end() ? nullptr : found->second;
}

void Task::add(TaskVariant* variant) {
  variants.push_back(variant);
  named_.emplace(variant->name, variant);
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
