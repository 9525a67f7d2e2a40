// What all parts of the grammar share: tokens, names, places, and C's expressions.
#include "compiler/hbir/syntax/parser.h"

#include <algorithm>

namespace strata::hbir {

STRATA_DIAGNOSTIC(syntax, Error, "hbir-syntax", "expected {0}, found {1}");
STRATA_DIAGNOSTIC(tooDeep, Error, "hbir-nesting", "this is nested more than {0} deep");
STRATA_DIAGNOSTIC(treeTooDeep, Error, "hbir-expression-size", "this expression has more than {0} operators in a row");
STRATA_DIAGNOSTIC(strayUnit, Error, "hbir-unit", "'{0}' has a unit; only the sizes of memories do");

namespace {

bool isReserved(std::string_view word) {
  static constexpr std::string_view words[] = {"int",  "float", "bool",  "void",  "if",     "else", "while", "for",
                                               "true", "false", "break", "const", "extern", "in",   "out"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

} // namespace

Parser::Parser(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics)
    : ExpressionReader(tokens, diagnostics, syntax), tree_(tree) {}

void Parser::refuseNesting() {
  diagnostics_.report(tooDeep, token().location, deepestNesting);
  throw TooDeep();
}

void Parser::refuseTree(const Location& begin) {
  diagnostics_.report(treeTooDeep, begin, deepestTree);
  throw SyntaxError();
}

NameSyntax Parser::expectName(std::string_view what) {
  if (token().kind != TokenKind::Word || isReserved(token().text))
    fail(what);
  const Token& name = take();
  return {name.text, name.location};
}

Expr* Parser::make(ExprKind kind, const Location& begin, std::vector<Expr*> operands) {
  return withOperands(tree_.newExpr(kind, from(begin)), begin, std::move(operands));
}

std::vector<Expr*> Parser::bracketed(std::string_view what) {
  std::vector<Expr*> result;
  while (accept("[")) {
    const size_t open = at_ - 1;
    result.push_back(expression());
    if (is(",")) {
      reportWanted("']' after " + std::string(what)).help("each dimension has brackets of its own: [i][j]");
      throw SyntaxError();
    }
    expectClosing("]", open, what);
  }
  return result;
}

PathSyntax Parser::path() {
  PathSyntax result;
  Location begin = token().location;
  do {
    PathSyntax::Part& part = result.parts.emplace_back();
    part.name = expectName("a name");
    part.indices = bracketed("the index");
  } while (accept("."));
  result.where = from(begin);
  return result;
}

Expr* Parser::expression() {
  Nesting nesting(*this);
  Expr* condition = binary();
  if (!accept("?"))
    return condition;
  Expr* yes = expression();
  expect(":", "the second operand of '?'");
  Expr* no = expression();
  return make(ExprKind::Conditional, condition->where, {condition, yes, no});
}

Expr* Parser::joined(Operator op, Expr* left, Expr* right) {
  Expr* expr = make(ExprKind::Binary, left->where, {left, right});
  expr->op = op;
  return expr;
}

Expr* Parser::unary() {
  Nesting nesting(*this);
  Location begin = token().location;
  const std::optional<Operator> op = acceptPrefix();
  if (op == Operator::Plus)
    return unary();
  if (op) {
    Expr* expr = make(ExprKind::Unary, begin, {unary()});
    expr->op = *op;
    return expr;
  }
  return primary();
}

Expr* Parser::primary() {
  const Token& first = token();
  Location begin = first.location;
  if (first.kind == TokenKind::Integer) {
    take();
    if (!first.unit.empty())
      diagnostics_.report(strayUnit, begin, first.text);
    Expr* expr = tree_.newExpr(ExprKind::Integer, begin);
    expr->integer = first.integer;
    return expr;
  }
  if (first.kind == TokenKind::Real) {
    take();
    Expr* expr = tree_.newExpr(ExprKind::Real, begin);
    expr->real = first.real;
    return expr;
  }
  if (is("true") || is("false")) {
    Expr* expr = tree_.newExpr(ExprKind::Boolean, begin);
    expr->integer = take().text == "true";
    return expr;
  }
  if (accept("(")) {
    const size_t open = at_ - 1;
    Expr* expr = expression();
    expectClosing(")", open, "the expression");
    return expr;
  }
  if (is("*") || is("&")) {
    const bool isPower = is("*") && at_ > 0 && spells(tokens_[at_ - 1], "*");
    reportWanted("an expression")
        .help(isPower ? "a power is pow(x, y)" : "HBIR has no pointers; an element of an array is A[i]");
    throw SyntaxError();
  }
  std::vector<std::string_view> names{expectName("an expression").text};
  if (accept("(")) {
    const size_t open = at_ - 1;
    std::vector<Expr*> arguments;
    while (!is(")")) {
      arguments.push_back(expression());
      if (!accept(","))
        break;
    }
    expectClosing(")", open, "the arguments");
    Expr* expr = make(ExprKind::Call, begin, std::move(arguments));
    expr->names = std::move(names);
    return expr;
  }
  while (accept("."))
    names.push_back(expectName("a name").text);
  std::vector<Expr*> indices = bracketed("the index");
  Expr* expr = make(indices.empty() ? ExprKind::Name : ExprKind::Element, begin, std::move(indices));
  expr->names = std::move(names);
  return expr;
}

} // namespace strata::hbir
