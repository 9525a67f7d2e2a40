// What all parts of the grammar share: tokens, names, places, and C's expressions.
#include "compiler/hbir/syntax/parser.h"

#include <algorithm>

namespace strata::hbir {

STRATA_DIAGNOSTIC(syntax, Error, "hbir-syntax", "expected {0}, found {1}");
STRATA_DIAGNOSTIC(tooDeep, Error, "hbir-nesting", "this is nested more than {0} deep");
STRATA_DIAGNOSTIC(treeTooDeep, Error, "hbir-expression-size", "this expression has more than {0} operators in a row");
STRATA_DIAGNOSTIC(strayUnit, Error, "hbir-unit", "'{0}' has a unit; only the sizes of memories do");

namespace {

constexpr int deepestNesting = 256;
constexpr uint16_t deepestTree = 1000;

struct BinaryOperator {
  std::string_view text;
  int precedence;
  Operator op;
};

constexpr BinaryOperator binaryOperators[] = {
    {"||", 1, Operator::LogicalOr},  {"&&", 2, Operator::LogicalAnd},   {"|", 3, Operator::BitOr},
    {"^", 4, Operator::BitXor},      {"&", 5, Operator::BitAnd},        {"==", 6, Operator::Equal},
    {"!=", 6, Operator::NotEqual},   {"<", 7, Operator::Less},          {">", 7, Operator::Greater},
    {"<=", 7, Operator::LessEqual},  {">=", 7, Operator::GreaterEqual}, {"<<", 8, Operator::ShiftLeft},
    {">>", 8, Operator::ShiftRight}, {"+", 9, Operator::Add},           {"-", 9, Operator::Subtract},
    {"*", 10, Operator::Multiply},   {"/", 10, Operator::Divide},       {"%", 10, Operator::Remainder}};

const BinaryOperator* findBinary(const Token& token) {
  if (token.kind == TokenKind::Punctuator)
    for (const BinaryOperator& candidate : binaryOperators)
      if (token.text == candidate.text)
        return &candidate;
  return nullptr;
}

bool isReserved(std::string_view word) {
  static constexpr std::string_view words[] = {"int",  "float", "bool",  "void",  "if",     "else", "while", "for",
                                               "true", "false", "break", "const", "extern", "in",   "out"};
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

} // namespace

Parser::Parser(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics)
    : TokenReader(tokens, diagnostics, syntax), tree_(tree) {}

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  if (++parser_.nesting_ > deepestNesting) {
    --parser_.nesting_;
    parser_.diagnostics_.report(tooDeep, parser_.token().location, deepestNesting);
    throw TooDeep();
  }
}

NameSyntax Parser::expectName(std::string_view what) {
  if (token().kind != TokenKind::Word || isReserved(token().text))
    fail(what);
  const Token& name = take();
  return {name.text, name.location};
}

Expr* Parser::make(ExprKind kind, const Location& begin, std::vector<Expr*> operands) {
  Expr* expr = tree_.newExpr(kind, from(begin));
  expr->operands = std::move(operands);
  for (const Expr* operand : expr->operands)
    expr->depth = std::max<uint16_t>(expr->depth, operand->depth + 1);
  if (expr->depth > deepestTree) {
    diagnostics_.report(treeTooDeep, begin, deepestTree);
    throw SyntaxError();
  }
  return expr;
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
  Expr* condition = binary(1);
  if (!accept("?"))
    return condition;
  Expr* yes = expression();
  expect(":", "the second operand of '?'");
  Expr* no = expression();
  return make(ExprKind::Conditional, condition->where, {condition, yes, no});
}

Expr* Parser::binary(int lowest) {
  Expr* left = unary();
  while (const BinaryOperator* found = findBinary(token())) {
    if (found->precedence < lowest)
      break;
    take();
    Expr* right = binary(found->precedence + 1);
    left = make(ExprKind::Binary, left->where, {left, right});
    left->op = found->op;
  }
  return left;
}

Expr* Parser::unary() {
  Nesting nesting(*this);
  Location begin = token().location;
  if (accept("+"))
    return unary();
  static constexpr std::pair<std::string_view, Operator> prefixes[] = {
      {"-", Operator::Negate}, {"!", Operator::Not}, {"~", Operator::Complement}};
  for (auto [text, op] : prefixes) {
    if (!accept(text))
      continue;
    Expr* expr = make(ExprKind::Unary, begin, {unary()});
    expr->op = op;
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
