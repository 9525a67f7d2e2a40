// Expressions: C's, plus the ranges of array blocks and reducearg.
#include "compiler/sequoia/syntax/parser.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(treeTooDeep, Error, "sequoia-expression-size",
                  "this expression has more than {0} operators in a row");

void Parser::refuseTree(const Location& begin) {
  diagnostics_.report(treeTooDeep, begin, deepestTree);
  throw SyntaxError();
}

Expr* Parser::make(ExprKind kind, const Location& begin, std::vector<Expr*> operands) {
  return withOperands(program_.newExpr(kind, from(begin)), begin, std::move(operands));
}

Expr* Parser::expression() {
  Nesting nesting(*this);
  Expr* left = assignment();
  while (is(",")) {
    take();
    Location begin = left->location;
    Expr* right = assignment();
    left = make(ExprKind::Comma, begin, {left, right});
  }
  return left;
}

Expr* Parser::assignment() {
  Nesting nesting(*this);
  Expr* left = conditional();
  const std::optional<Operator> op = acceptAssignment();
  if (!op)
    return left;
  Location begin = left->location;
  Expr* value = assignment();
  Expr* expr = make(ExprKind::Assign, begin, {left, value});
  expr->op = *op;
  return expr;
}

Expr* Parser::conditional() {
  Expr* condition = binary();
  if (!accept("?"))
    return condition;
  Nesting nesting(*this);
  Expr* yes = expression();
  expect(":", "the second operand of '?'");
  Expr* no = conditional();
  return make(ExprKind::Conditional, condition->location, {condition, yes, no});
}

Expr* Parser::joined(Operator op, Expr* left, Expr* right) {
  Expr* expr = make(cfamily::isLogical(op) ? ExprKind::Logical : ExprKind::Binary, left->location, {left, right});
  expr->op = op;
  return expr;
}

Expr* Parser::unary() {
  Nesting nesting(*this);
  Location begin = token().location;
  if (const std::optional<Operator> op = acceptPrefix()) {
    Expr* expr = make(ExprKind::Unary, begin, {unary()});
    expr->op = *op;
    return expr;
  }
  if (is("++") || is("--")) {
    Operator op = take().text == "++" ? Operator::Add : Operator::Subtract;
    Expr* expr = make(ExprKind::Increment, begin, {unary()});
    expr->op = op;
    expr->isPrefix = true;
    return expr;
  }
  if (is("*") && at_ > 0 && spells(tokens_[at_ - 1], "*") && tokens_[at_ - 1].location.end == begin.begin) {
    reportWanted("an expression").help("a power is pow(x, y)");
    throw SyntaxError();
  }
  if (is("&") || is("*")) {
    std::string_view name = take().text;
    Expr* expr = make(ExprKind::Forbidden, begin, {unary()});
    expr->name = name;
    return expr;
  }
  if (is("sizeof")) {
    take();
    if (is("(") && startsType(1)) {
      const size_t open = at_;
      take();
      TypeSyntax* type = typeSpecifier();
      refusePointer();
      expectClosing(")", open, "the type");
      Expr* expr = make(ExprKind::SizeofType, begin, {});
      expr->typeSyntax = type;
      return expr;
    }
    return make(ExprKind::SizeofExpr, begin, {unary()});
  }
  if (is("(") && startsType(1)) {
    const size_t open = at_;
    take();
    TypeSyntax* type = typeSpecifier();
    refusePointer();
    expectClosing(")", open, "the type");
    Expr* expr = make(ExprKind::CastSyntax, begin, {unary()});
    expr->typeSyntax = type;
    return expr;
  }
  return postfix();
}

Expr* Parser::postfix() {
  Expr* expr = primary();
  for (;;) {
    Location begin = expr->location;
    if (is("[")) {
      expr = subscript(expr);
    } else if (is(".") || is("->")) {
      bool arrow = take().text == "->";
      std::string_view field = expectName("a member's name").text;
      expr = make(arrow ? ExprKind::Forbidden : ExprKind::Member, begin, {expr});
      expr->name = arrow ? std::string_view("->") : field;
    } else if (is("++") || is("--")) {
      Operator op = take().text == "++" ? Operator::Add : Operator::Subtract;
      expr = make(ExprKind::Increment, begin, {expr});
      expr->op = op;
    } else {
      return expr;
    }
  }
}

Expr* Parser::subscript(Expr* base) {
  const size_t open = at_;
  Location begin = take().location;
  if (is("]") || is(":") || is(";"))
    fail("the start of the range or an index");
  Expr* first = expression();
  // Only these go on with an array block, and a semicolon at the end of a line ends the statement.
  const bool endsStatement = is(";") && !(placeOfMissing(token().location, token(1).location, false,
                                                         diagnostics_.sources()) == token(1).location);
  if (endsStatement || !(is(":") || is(";"))) {
    expectClosing("]", open, "the index");
    return make(ExprKind::Subscript, base->location, {base, first});
  }
  BlockRange range;
  range.start = first;
  if (accept(":")) {
    range.end = expression();
    if (accept(":"))
      range.stride = expression();
  }
  expect(";", "the range of an array block (its last field is '; max', where max may be left out)");
  if (!is("]"))
    range.max = expression();
  expectClosing("]", open, "the range");
  range.location = from(begin);
  Expr* expr = make(ExprKind::Subscript, base->location, {base});
  for (const Expr* part : {range.start, range.end, range.stride, range.max})
    if (part)
      deepen(expr, part);
  expr->ranges.push_back(range);
  return expr;
}

Expr* Parser::reduceArgument() {
  Location begin = take().location;
  if (is("(")) {
    reportWanted("'<' after 'reducearg'").help("write it as reducearg<argument, Combiner>");
    throw SyntaxError();
  }
  expect("<", "'reducearg'");
  Expr* argument = postfix();
  expect(",", "the reduced argument");
  if (token().kind == TokenKind::Punctuator) {
    reportWanted("the name of the combining task")
        .help("a combiner is a task of the program with the arguments (in T, inout T), such as one that adds");
    throw SyntaxError();
  }
  const Token& combiner = expectName("the name of the combining task");
  Expr* name = program_.newExpr(ExprKind::Name, combiner.location);
  name->name = combiner.text;
  expect(">", "the combining task");
  return make(ExprKind::ReduceArgument, begin, {argument, name});
}

std::vector<Expr*> Parser::callArguments() {
  std::vector<Expr*> arguments;
  const size_t open = at_;
  expect("(", "the name");
  if (accept(")"))
    return arguments;
  do
    arguments.push_back(is("reducearg") ? reduceArgument() : assignment());
  while (accept(","));
  expectClosing(")", open, "the arguments");
  return arguments;
}

Expr* Parser::primary() {
  const Token& first = token();
  Location begin = first.location;
  switch (first.kind) {
  case TokenKind::Integer: {
    take();
    Expr* expr = program_.newExpr(ExprKind::Integer, begin);
    expr->integer = first.integer;
    // A character is an int, whatever its sign has made of its bits.
    expr->type = first.text.starts_with('\'') ? program_.types.integer()
                                              : program_.types.get(cfamily::typeOfLiteral(
                                                    first.integer, first.isDecimal, first.isUnsigned, first.isLong));
    return expr;
  }
  case TokenKind::Real: {
    take();
    Expr* expr = program_.newExpr(ExprKind::Real, begin);
    expr->real = first.real;
    expr->type = program_.types.get(first.isFloat ? TypeKind::Float : TypeKind::Double);
    return expr;
  }
  case TokenKind::Identifier: {
    take();
    if (is("(")) {
      Expr* expr = make(ExprKind::CallSyntax, begin, callArguments());
      expr->name = first.text;
      return expr;
    }
    Expr* expr = program_.newExpr(ExprKind::Name, begin);
    expr->name = first.text;
    return expr;
  }
  default:
    break;
  }
  if (accept("(")) {
    const size_t open = at_ - 1;
    Expr* expr = expression();
    expectClosing(")", open, "the expression");
    expr->parenthesized = true;
    return expr;
  }
  refuseKeyword();
  fail("an expression");
}

} // namespace strata::sequoia
