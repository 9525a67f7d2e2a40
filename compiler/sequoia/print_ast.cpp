// Prints the syntax tree as indented text.
#include "compiler/sequoia/print_ast.h"

#include <charconv>

namespace strata::sequoia {

namespace {

std::string realText(double value) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

std::string integerText(const Expr& expr) {
  return expr.type->isSigned() ? std::to_string(expr.signedValue()) : std::to_string(expr.integer) + "u";
}

std::string operandList(const Expr& expr) {
  std::string text = "(";
  for (const Expr* operand : expr.operands)
    text += (operand == expr.operands[0] ? "" : ", ") + printExpr(operand);
  return text + ")";
}

std::string blockText(const Expr& block) {
  std::string text(block.variable->name);
  if (!block.operands.empty())
    return text + "[" + printExpr(block.operands[0]) + "]";
  for (const BlockRange& range : block.ranges) {
    text += "[" + printExpr(range.start);
    if (range.end)
      text += " : " + printExpr(range.end);
    if (range.stride)
      text += " : " + printExpr(range.stride);
    text += range.max ? "; " + printExpr(range.max) + "]" : ";]";
  }
  return text;
}

class Printer {
public:
  std::string run(const Program& program) {
    for (const Function& each : program.functions)
      function(each);
    for (const Task& task : program.tasks) {
      if (task.prototype)
        variant(*task.prototype);
      for (const TaskVariant* each : task.variants)
        variant(*each);
    }
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += std::string(indent_ * 2, ' ') + text + "\n"; }

  static std::string variableText(const Variable& variable) {
    std::string text =
        variable.direction == Direction::None ? "" : std::string(directionText(variable.direction)) + " ";
    text += typeName(variable.type) + " " + std::string(variable.name);
    for (const Extent& extent : variable.extents)
      text += "[" + printExpr(extent.expression) + "]";
    return text;
  }

  void function(const Function& function) {
    std::string header = "inline " + typeName(function.result) + " " + std::string(function.name) + "(";
    for (const Variable* parameter : function.parameters)
      header += (parameter == function.parameters[0] ? "" : ", ") + variableText(*parameter);
    line(header + ")");
    body(function.body);
  }

  void variant(const TaskVariant& variant) {
    std::string header =
        variant.kind == TaskKind::Prototype ? "prototype " : "task<" + std::string(taskKindText(variant.kind)) + "> ";
    header += variant.taskName;
    if (!variant.name.empty())
      header += "::" + std::string(variant.name);
    header += "(";
    for (const Variable* parameter : variant.parameters)
      header += (parameter == variant.parameters[0] ? "" : ", ") + variableText(*parameter);
    line(header + ")");
    ++indent_;
    std::string sizes;
    for (const Variable* size : variant.sizeParameters)
      sizes += " " + std::string(size->name);
    if (!sizes.empty())
      line("sizes" + sizes);
    --indent_;
    if (variant.body)
      body(variant.body);
  }

  void body(const Stmt* stmt) {
    ++indent_;
    statement(stmt);
    --indent_;
  }

  void statement(const Stmt* stmt) {
    if (!stmt)
      return;
    switch (stmt->kind) {
    case StmtKind::Empty:
    case StmtKind::CaseLabel:
      return line("empty");
    case StmtKind::Expression:
      return line("do " + printExpr(stmt->expression));
    case StmtKind::Declaration:
      for (const Variable* variable : stmt->variables) {
        line((variable->kind == VariableKind::Tunable ? "tunable " : "let ") + variableText(*variable) +
             (variable->initializer ? " = " + printExpr(variable->initializer) : ""));
        for (const Expr* each : variable->stores)
          line("do " + printExpr(each));
      }
      return;
    case StmtKind::Compound:
      for (const Stmt* each : stmt->statements)
        statement(each);
      return;
    case StmtKind::If:
      line("if " + printExpr(stmt->expression));
      body(stmt->body);
      if (stmt->otherwise) {
        line("else");
        body(stmt->otherwise);
      }
      return;
    case StmtKind::While:
      line("while " + printExpr(stmt->expression));
      return body(stmt->body);
    case StmtKind::DoWhile:
      line("do-while " + printExpr(stmt->expression));
      return body(stmt->body);
    case StmtKind::For:
      line("for");
      ++indent_;
      statement(stmt->initial);
      if (stmt->expression)
        line("condition " + printExpr(stmt->expression));
      if (stmt->step)
        line("step " + printExpr(stmt->step));
      body(stmt->body);
      --indent_;
      return;
    case StmtKind::Switch:
      return switchStatement(*stmt);
    case StmtKind::Break:
      return line("break");
    case StmtKind::Continue:
      return line("continue");
    case StmtKind::Return:
      return line(stmt->expression ? "return " + printExpr(stmt->expression) : "return");
    case StmtKind::TaskCall:
      return call(*stmt);
    case StmtKind::Copy:
      return line("copy " + printExpr(stmt->arguments[0].value) + " from " + printExpr(stmt->arguments[1].value));
    case StmtKind::Map: {
      const Loop& loop = *stmt->loop;
      line(std::string(mapText(loop.kind)) + " " + typeName(loop.variable->type) + " " +
           std::string(loop.variable->name) + " = " + printExpr(loop.start) + " : " + printExpr(loop.end));
      return body(stmt->body);
    }
    }
  }

  void switchStatement(const Stmt& stmt) {
    line("switch " + printExpr(stmt.expression));
    ++indent_;
    for (const SwitchSection& section : stmt.sections) {
      std::string labels;
      for (int64_t value : section.values)
        labels += " " + std::to_string(value);
      line("case" + labels + (section.isDefault ? " default" : ""));
      ++indent_;
      for (const Stmt* each : section.statements)
        statement(each);
      --indent_;
    }
    --indent_;
  }

  void call(const Stmt& stmt) {
    line("call " + std::string(stmt.callsite->callee->name));
    ++indent_;
    for (const Argument& argument : stmt.arguments)
      line(std::string(directionText(argument.direction)) + " " + printExpr(argument.value) +
           (argument.combiner ? " reduced with " + std::string(argument.combiner->callee->name) : ""));
    --indent_;
  }

  std::string text_;
  size_t indent_ = 0;
};

} // namespace

std::string printExpr(const Expr* expr) {
  if (!expr)
    return "";
  switch (expr->kind) {
  case ExprKind::Integer:
    return integerText(*expr) + (expr->type->kind == TypeKind::Int || expr->type->kind == TypeKind::UnsignedInt
                                     ? ""
                                     : ":" + typeName(expr->type));
  case ExprKind::Real:
    return realText(expr->real) + ":" + typeName(expr->type);
  case ExprKind::Variable:
    return std::string(expr->variable->name);
  case ExprKind::Element: {
    std::string text(expr->variable->name);
    for (const Expr* index : expr->operands)
      text += "[" + printExpr(index) + "]";
    return text;
  }
  case ExprKind::MemberIndex:
    return printExpr(expr->operands[0]) + "[" + printExpr(expr->operands[1]) + "]";
  case ExprKind::Member:
    return printExpr(expr->operands[0]) + "." + std::string(expr->name);
  case ExprKind::Unary:
    return operatorText(expr->op) + printExpr(expr->operands[0]);
  case ExprKind::Binary:
  case ExprKind::Logical:
    return "(" + printExpr(expr->operands[0]) + " " + operatorText(expr->op) + " " + printExpr(expr->operands[1]) + ")";
  case ExprKind::Conditional:
    return "(" + printExpr(expr->operands[0]) + " ? " + printExpr(expr->operands[1]) + " : " +
           printExpr(expr->operands[2]) + ")";
  case ExprKind::Comma:
    return "(" + printExpr(expr->operands[0]) + ", " + printExpr(expr->operands[1]) + ")";
  case ExprKind::Assign:
    return printExpr(expr->operands[0]) + " " + operatorText(expr->op) + "= " + printExpr(expr->operands[1]) +
           (expr->computeType && expr->computeType != expr->type ? " in " + typeName(expr->computeType) : "");
  case ExprKind::Increment: {
    std::string sign = expr->op == Operator::Add ? "++" : "--";
    return expr->isPrefix ? sign + printExpr(expr->operands[0]) : printExpr(expr->operands[0]) + sign;
  }
  case ExprKind::Cast:
    return (expr->isImplicit ? "{" : "(") + typeName(expr->type) + (expr->isImplicit ? "}" : ")") +
           printExpr(expr->operands[0]);
  case ExprKind::Call:
    return std::string(expr->function->name) + operandList(*expr);
  case ExprKind::BuiltinCall:
    return std::string(builtinName(expr->builtin)) + ":" + typeName(expr->type) + operandList(*expr);
  case ExprKind::Block:
    return blockText(*expr);
  default:
    return "<error>";
  }
}

std::string printAst(const Program& program) {
  return Printer().run(program);
}

} // namespace strata::sequoia
