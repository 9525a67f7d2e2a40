// Node making, and the spelling of operators, functions and keywords.
#include "compiler/sequoia/ast.h"

namespace strata::sequoia {

const char* operatorText(Operator op) {
  switch (op) {
  case Operator::None:
    return "";
  case Operator::Add:
  case Operator::Plus:
    return "+";
  case Operator::Subtract:
  case Operator::Negate:
    return "-";
  case Operator::Multiply:
    return "*";
  case Operator::Divide:
    return "/";
  case Operator::Remainder:
    return "%";
  case Operator::ShiftLeft:
    return "<<";
  case Operator::ShiftRight:
    return ">>";
  case Operator::Less:
    return "<";
  case Operator::Greater:
    return ">";
  case Operator::LessEqual:
    return "<=";
  case Operator::GreaterEqual:
    return ">=";
  case Operator::Equal:
    return "==";
  case Operator::NotEqual:
    return "!=";
  case Operator::BitAnd:
    return "&";
  case Operator::BitXor:
    return "^";
  case Operator::BitOr:
    return "|";
  case Operator::LogicalAnd:
    return "&&";
  case Operator::LogicalOr:
    return "||";
  case Operator::Not:
    return "!";
  case Operator::Complement:
    return "~";
  }
  return "";
}

const char* builtinName(Builtin builtin) {
  static constexpr const char* names[] = {"sqrt",  "rsqrt", "cbrt", "exp",  "exp2",  "log",  "log2",  "log10",
                                          "sin",   "cos",   "tan",  "asin", "acos",  "atan", "sinh",  "cosh",
                                          "tanh",  "atan2", "pow",  "fmod", "hypot", "fabs", "floor", "ceil",
                                          "trunc", "round", "fmin", "fmax", "fma",   "abs",  "min",   "max"};
  return names[static_cast<size_t>(builtin)];
}

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
