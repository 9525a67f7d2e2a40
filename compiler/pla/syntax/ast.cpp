// Syntax trees as text. See ast.h.
#include "compiler/pla/syntax/ast.h"

#include "compiler/cfamily/syntax/literal.h"

namespace strata::pla {

namespace {

std::string list(const std::vector<Expr*>& expressions) {
  std::string text;
  for (const Expr* each : expressions)
    text += (text.empty() ? "" : ", ") + printExpression(*each);
  return text;
}

std::string list(const std::vector<NameSyntax>& names) {
  std::string text;
  for (const NameSyntax& name : names)
    text += (text.empty() ? "" : ", ") + name.text;
  return text;
}

const char* directionText(Direction direction) {
  return direction == Direction::Input ? "input" : direction == Direction::Output ? "output" : "variable";
}

} // namespace

std::string printExpression(const Expr& expression) {
  const auto operand = [&](size_t i) { return printExpression(*expression.operands[i]); };
  switch (expression.kind) {
  case ExprKind::Integer:
    return std::to_string(expression.integer);
  case ExprKind::Real:
    return cfamily::realText(expression.real) + (expression.isFloat ? "f" : "");
  case ExprKind::Name:
    return expression.name.text;
  case ExprKind::Element:
    return expression.name.text + "[" + list(expression.operands) + "]";
  case ExprKind::Unary:
    return std::string(cfamily::operatorText(expression.op)) + operand(0);
  case ExprKind::Binary:
    return "(" + operand(0) + " " + cfamily::operatorText(expression.op) + " " + operand(1) + ")";
  case ExprKind::Conditional:
    return "(" + operand(0) + " ? " + operand(1) + " : " + operand(2) + ")";
  case ExprKind::Call:
    return expression.name.text + "(" + list(expression.operands) + ")";
  case ExprKind::Reduction:
    return expression.name.text + "[" + list(expression.iterators) + "](" + operand(0) + ")";
  }
  return "";
}

std::string printTree(const SyntaxTree& tree) {
  std::string text = "program " + tree.name.text + "\n";
  for (const ParameterSyntax& parameter : tree.parameters)
    text +=
        "parameter " + parameter.name.text + (parameter.least ? " >= " + std::to_string(*parameter.least) : "") + "\n";
  for (const Expr* assumption : tree.assumptions)
    text += "assume " + printExpression(*assumption) + "\n";
  for (const DeclarationSyntax& declared : tree.declarations)
    text += std::string(directionText(declared.direction)) + " " + declared.name.text + ": " + declared.type.name.text +
            (declared.type.extents.empty() ? "" : "[" + list(declared.type.extents) + "]") + "\n";
  for (const LoopSyntax& loop : tree.loops) {
    text += "for " + list(loop.iterators) + " where " + printExpression(*loop.space) + "\n";
    for (const EquationSyntax& equation : loop.equations)
      text += "  " + printExpression(*equation.target) + " = " + printExpression(*equation.value) +
              (equation.guard ? " if " + printExpression(*equation.guard) : "") + "\n";
  }
  return text;
}

} // namespace strata::pla
