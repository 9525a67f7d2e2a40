// Making the nodes of the syntax tree, and names for people.
#include "compiler/hbir/syntax/ast.h"

namespace strata::hbir {

std::string dottedName(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::string_view name : names)
    text += (text.empty() ? "" : ".") + std::string(name);
  return text;
}

Expr* SyntaxTree::newExpr(ExprKind kind, const Location& where) {
  Expr& expr = exprNodes_.emplace_back();
  expr.kind = kind;
  expr.where = where;
  return &expr;
}

Stmt* SyntaxTree::newStmt(StatementKind kind, const Location& where) {
  Stmt& stmt = stmtNodes_.emplace_back();
  stmt.kind = kind;
  stmt.where = where;
  return &stmt;
}

std::string formName(Form form) {
  return std::string(1, static_cast<char>('A' + static_cast<int>(form)));
}

} // namespace strata::hbir
