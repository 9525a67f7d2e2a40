// Prints the syntax tree as indented text.
#include "compiler/sequoia/syntax/print_ast.h"

#include "compiler/cfamily/syntax/literal.h"

namespace strata::sequoia {

using cfamily::realText;

namespace {

std::string integerText(const Expr& expr) {
  return expr.type->isSigned() ? std::to_string(expr.signedValue()) : std::to_string(expr.integer) + "u";
}

/// Appends expressions to a text. Trees may be thousands of operators deep (chains of additions), so the function that
/// recurs holds no text of its own.
class ExprPrinter {
public:
  explicit ExprPrinter(std::string& text) : text_(text) {}

  void print(const Expr* expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case ExprKind::Element:
      text_ += expr->variable->name;
      for (const Expr* index : expr->operands)
        bracketed(index);
      return;
    case ExprKind::MemberIndex:
      print(expr->operands[0]);
      return bracketed(expr->operands[1]);
    case ExprKind::Member:
      print(expr->operands[0]);
      text_ += '.';
      text_ += expr->name;
      return;
    case ExprKind::Unary:
      sign(expr->op);
      return print(expr->operands[0]);
    case ExprKind::Binary:
    case ExprKind::Logical:
      text_ += '(';
      print(expr->operands[0]);
      text_ += ' ';
      sign(expr->op);
      text_ += ' ';
      print(expr->operands[1]);
      text_ += ')';
      return;
    case ExprKind::Conditional:
      return list(*expr, " ? ", " : ");
    case ExprKind::Comma:
      return list(*expr, ", ", ", ");
    case ExprKind::Assign:
      print(expr->operands[0]);
      text_ += ' ';
      sign(expr->op);
      text_ += "= ";
      print(expr->operands[1]);
      if (expr->computeType && expr->computeType != expr->type) {
        text_ += " in ";
        type(expr->computeType);
      }
      return;
    case ExprKind::Increment: {
      const char* sign = expr->op == Operator::Add ? "++" : "--";
      if (expr->isPrefix)
        text_ += sign;
      print(expr->operands[0]);
      if (!expr->isPrefix)
        text_ += sign;
      return;
    }
    case ExprKind::Cast:
      text_ += expr->isImplicit ? '{' : '(';
      type(expr->type);
      text_ += expr->isImplicit ? '}' : ')';
      return print(expr->operands[0]);
    case ExprKind::Call:
      text_ += expr->function->name;
      return list(*expr, ", ", ", ");
    case ExprKind::BuiltinCall:
      text_ += builtinName(expr->builtin);
      text_ += ':';
      type(expr->type);
      return list(*expr, ", ", ", ");
    case ExprKind::Block:
      return block(*expr);
    default:
      return leaf(*expr);
    }
  }

private:
  [[gnu::noinline]] void sign(Operator op) { text_ += operatorText(op); }
  [[gnu::noinline]] void type(const Type* type) { text_ += typeName(type); }

  void bracketed(const Expr* expr) {
    text_ += '[';
    print(expr);
    text_ += ']';
  }

  void list(const Expr& expr, const char* first, const char* further) {
    text_ += '(';
    for (size_t number = 0; number < expr.operands.size(); ++number) {
      if (number)
        text_ += number == 1 ? first : further;
      print(expr.operands[number]);
    }
    text_ += ')';
  }

  void block(const Expr& block) {
    text_ += block.variable->name;
    if (!block.operands.empty())
      return bracketed(block.operands[0]);
    for (const BlockRange& range : block.ranges) {
      text_ += '[';
      print(range.start);
      for (const Expr* further : {range.end, range.stride})
        if (further) {
          text_ += " : ";
          print(further);
        }
      text_ += range.max ? "; " : ";";
      print(range.max);
      text_ += ']';
    }
  }

  [[gnu::noinline]] void leaf(const Expr& expr) {
    switch (expr.kind) {
    case ExprKind::Integer:
      text_ += integerText(expr);
      if (expr.type->kind != TypeKind::Int && expr.type->kind != TypeKind::UnsignedInt)
        text_ += ":" + typeName(expr.type);
      return;
    case ExprKind::Real:
      text_ += realText(expr.real) + ":" + typeName(expr.type);
      return;
    case ExprKind::Variable:
      text_ += expr.variable->name;
      return;
    default:
      text_ += "<error>";
    }
  }

  std::string& text_;
};

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
  std::string text;
  ExprPrinter(text).print(expr);
  return text;
}

std::string printAst(const Program& program) {
  return Printer().run(program);
}

} // namespace strata::sequoia
