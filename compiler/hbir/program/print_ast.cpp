// The printed form follows the language where it can; casts are written as int{…}.
#include "compiler/hbir/program/print_ast.h"

#include "compiler/cfamily/syntax/literal.h"

namespace strata::hbir {

using cfamily::realText;

namespace {

const char* typeName(ScalarType type) {
  return type == ScalarType::Int ? "int" : type == ScalarType::Float ? "float" : "bool";
}

const char* layoutName(LayoutKind kind) {
  static constexpr const char* names[] = {"block", "chunked", "striped", "replicated"};
  return names[static_cast<size_t>(kind)];
}

std::string inBrackets(const std::vector<int64_t>& extents) {
  std::string text;
  for (int64_t extent : extents)
    text += "[" + std::to_string(extent) + "]";
  return text;
}

std::string quoted(const std::string& text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string result = "\"";
  for (char c : text) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else if (c == '\n')
      result += "\\n";
    else if (byte < 32 || byte > 126)
      result += std::string("\\x") + hex[byte >> 4] + hex[byte & 15];
    else
      result += c;
  }
  return result + "\"";
}

std::string list(const std::vector<ExpressionPtr>& operands) {
  std::string text;
  for (const ExpressionPtr& operand : operands)
    text += (text.empty() ? "" : ", ") + printExpression(operand.get());
  return text;
}

class Printer {
public:
  std::string run(const Program& program) {
    line(std::string("form ") + static_cast<char>('A' + static_cast<int>(program.form)));
    target(program.target);
    line("config");
    for (const Group& each : program.groups)
      group(each);
    line("data");
    for (const Constant& constant : program.constants)
      line("  " + constant.name + " = " + std::to_string(constant.value));
    for (const Array& each : program.arrays)
      array(each);
    line("code");
    ++indent_;
    for (const Extern& each : program.externs)
      function(each);
    for (const Symbol* global : program.globals)
      line("global " + declaration(*global));
    statements(program.start);
    for (const CodeBlock& each : program.blocks)
      block(each);
    return std::move(text_);
  }

private:
  void line(const std::string& text) { text_ += std::string(indent_ * 2, ' ') + text + "\n"; }

  void memory(const MemoryClass& memory) {
    auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : "?"; };
    line("memory " + memory.name + "[" + std::to_string(memory.count) + "] size " + number(memory.size) + " width " +
         number(memory.width));
  }

  void target(const Target& target) {
    line("target");
    ++indent_;
    for (const MemoryClass& each : target.memories)
      if (!each.local)
        memory(each);
    line("tile " + target.tiles + inBrackets(target.extents));
    ++indent_;
    for (const MemoryClass& each : target.memories)
      if (each.local)
        memory(each);
    indent_ -= 2;
  }

  void group(const Group& group) {
    std::string text = "  group " + pathOf(group);
    for (const GroupIndex& index : group.indices)
      text += " " + index.name + "<" + std::to_string(index.extent);
    if (!group.tile.empty()) {
      std::vector<std::string> names;
      for (const GroupIndex& index : variablesOf(group))
        names.push_back(index.name);
      text += " tile";
      for (const IndexExpression& coordinate : group.tile)
        text += "[" + coordinate.text(names) + "]";
    }
    line(text);
  }

  void array(const Array& array) {
    static constexpr const char* directions[] = {"", "in ", "out "};
    std::vector<std::string> names;
    for (size_t i = 0; i < array.layout.pieces.size(); ++i)
      names.push_back("p" + std::to_string(i));
    line("  " + std::string(directions[static_cast<size_t>(array.direction)]) + array.name + " : " +
         typeName(array.type) + inBrackets(array.extents) + " " + layoutName(array.layout.kind) +
         inBrackets(array.layout.pieces) + " in " + (array.layout.memory ? array.layout.memory->name : "?") + "[" +
         array.layout.instance.text(names) + "]");
  }

  void function(const Extern& function) {
    std::string text = "extern " + function.name + "(";
    for (size_t i = 0; i < function.parameters.size(); ++i)
      text += std::string(i ? ", " : "") + typeName(function.parameters[i]);
    line(text + ") : " + (function.result ? typeName(*function.result) : "void"));
  }

  void block(const CodeBlock& block) {
    std::string text = "block " + block.path + " runs on";
    std::vector<std::string> names;
    for (const GroupIndex& variable : block.variables) {
      names.push_back(variable.name);
      text += " " + variable.name + "<" + std::to_string(variable.extent);
    }
    text += " tile";
    for (const IndexExpression& coordinate : block.tile)
      text += "[" + coordinate.text(names) + "]";
    line(text);
    body(block.body);
  }

  static std::string declaration(const Symbol& symbol) {
    return typeName(symbol.type) + (" " + symbol.name) + inBrackets(symbol.extents);
  }

  void body(const std::vector<StatementPtr>& list) {
    ++indent_;
    statements(list);
    --indent_;
  }
  void statements(const std::vector<StatementPtr>& list) {
    for (const StatementPtr& each : list)
      line(*each);
  }

  void line(const Statement& statement) {
    switch (statement.kind) {
    case StatementKind::Declare:
      return line("let " + declaration(*statement.symbol) +
                  (statement.value ? " = " + printExpression(statement.value.get()) : ""));
    case StatementKind::Assign:
      return line(printExpression(statement.target.get()) + " " +
                  (statement.compound ? operatorText(*statement.compound) : "") + "= " +
                  printExpression(statement.value.get()));
    case StatementKind::Call:
      return line(printExpression(statement.value.get()));
    case StatementKind::If:
      line("if " + printExpression(statement.condition.get()));
      body(statement.body);
      if (!statement.otherwise.empty()) {
        line("else");
        body(statement.otherwise);
      }
      return;
    case StatementKind::While:
      line("while " + printExpression(statement.condition.get()) + (statement.waits ? " waits" : ""));
      return body(statement.body);
    case StatementKind::For:
      line(statement.waits ? "for waits" : "for");
      ++indent_;
      if (statement.first)
        line(*statement.first);
      if (statement.condition)
        line("condition " + printExpression(statement.condition.get()));
      if (statement.next) {
        line("step");
        ++indent_;
        line(*statement.next);
        --indent_;
      }
      --indent_;
      return body(statement.body);
    case StatementKind::Range:
      line("for " + statement.symbol->name + " in [" + printExpression(statement.value.get()) + " : " +
           printExpression(statement.upper.get()) + "]");
      return body(statement.body);
    case StatementKind::Compound:
      line("block");
      return body(statement.body);
    case StatementKind::Break:
      return line("break");
    case StatementKind::Finish:
      return line("finish");
    case StatementKind::Print: {
      std::string text = "print";
      for (size_t i = 0; i < statement.text.size(); ++i) {
        text += " " + quoted(statement.text[i]);
        if (i < statement.arguments.size())
          text +=
              " " + statement.arguments[i].conversion + "(" + printExpression(statement.arguments[i].value.get()) + ")";
      }
      return line(text);
    }
    }
  }

  std::string text_;
  size_t indent_ = 0;
};

} // namespace

std::string printExpression(const Expression* expression) {
  if (!expression)
    return "";
  const std::vector<ExpressionPtr>& operands = expression->operands;
  auto operand = [&](size_t i) { return printExpression(operands[i].get()); };
  switch (expression->kind) {
  case ExpressionKind::Integer:
    return std::to_string(expression->integer);
  case ExpressionKind::Real:
    return realText(expression->real);
  case ExpressionKind::Boolean:
    return expression->integer ? "true" : "false";
  case ExpressionKind::Variable:
    return expression->symbol->name;
  case ExpressionKind::Element: {
    std::string text = expression->symbol->name;
    for (size_t i = 0; i < operands.size(); ++i)
      text += "[" + operand(i) + "]";
    return text;
  }
  case ExpressionKind::Unary:
    return operatorText(expression->op) + operand(0);
  case ExpressionKind::Binary:
    return "(" + operand(0) + " " + operatorText(expression->op) + " " + operand(1) + ")";
  case ExpressionKind::Conditional:
    return "(" + operand(0) + " ? " + operand(1) + " : " + operand(2) + ")";
  case ExpressionKind::Cast:
    return typeName(expression->type) + ("{" + operand(0)) + "}";
  case ExpressionKind::Call:
    return expression->callee->name + "(" + list(operands) + ")";
  case ExpressionKind::BuiltinCall:
    return builtinName(expression->builtin) + ("(" + list(operands)) + ")";
  }
  return "";
}

std::string printAst(const Program& program) {
  return Printer().run(program);
}

} // namespace strata::hbir
