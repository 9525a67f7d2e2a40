// Expressions: C's, plus the ranges of array blocks and reducearg.
#include "compiler/sequoia/syntax/parser.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(treeTooDeep, Error, "sequoia-expression-size",
                  "this expression has more than {0} operators in a row");

namespace {

constexpr uint16_t deepestTree = 2000;

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

struct AssignOperator {
  std::string_view text;
  Operator op;
};

constexpr AssignOperator assignOperators[] = {
    {"=", Operator::None},    {"+=", Operator::Add},       {"-=", Operator::Subtract},   {"*=", Operator::Multiply},
    {"/=", Operator::Divide}, {"%=", Operator::Remainder}, {"<<=", Operator::ShiftLeft}, {">>=", Operator::ShiftRight},
    {"&=", Operator::BitAnd}, {"^=", Operator::BitXor},    {"|=", Operator::BitOr}};

const BinaryOperator* findBinary(const Token& token) {
  if (token.kind == TokenKind::Punctuator)
    for (const BinaryOperator& candidate : binaryOperators)
      if (token.code == spelling(candidate.text))
        return &candidate;
  return nullptr;
}

} // namespace

Expr* Parser::make(ExprKind kind, const Location& begin, std::vector<Expr*> operands) {
  Expr* expr = program_.newExpr(kind, from(begin));
  expr->operands = std::move(operands);
  for (const Expr* operand : expr->operands)
    expr->depth = std::max<uint16_t>(expr->depth, operand->depth + 1);
  if (expr->depth > deepestTree) {
    diagnostics_.report(treeTooDeep, begin, deepestTree);
    throw SyntaxError();
  }
  return expr;
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
  if (token().kind != TokenKind::Punctuator)
    return left;
  for (const AssignOperator& candidate : assignOperators) {
    if (token().code != spelling(candidate.text))
      continue;
    take();
    Location begin = left->location;
    Expr* value = assignment();
    Expr* expr = make(ExprKind::Assign, begin, {left, value});
    expr->op = candidate.op;
    return expr;
  }
  return left;
}

Expr* Parser::conditional() {
  Expr* condition = binary(1);
  if (!accept("?"))
    return condition;
  Nesting nesting(*this);
  Expr* yes = expression();
  expect(":", "the second operand of '?'");
  Expr* no = conditional();
  return make(ExprKind::Conditional, condition->location, {condition, yes, no});
}

Expr* Parser::binary(int lowest) {
  Expr* left = unary();
  while (const BinaryOperator* found = findBinary(token())) {
    if (found->precedence < lowest)
      break;
    take();
    Expr* right = binary(found->precedence + 1);
    bool logical = found->op == Operator::LogicalAnd || found->op == Operator::LogicalOr;
    left = make(logical ? ExprKind::Logical : ExprKind::Binary, left->location, {left, right});
    left->op = found->op;
  }
  return left;
}

Expr* Parser::unary() {
  Nesting nesting(*this);
  Location begin = token().location;
  static constexpr std::pair<std::string_view, Operator> prefixes[] = {
      {"+", Operator::Plus}, {"-", Operator::Negate}, {"!", Operator::Not}, {"~", Operator::Complement}};
  for (auto [text, op] : prefixes) {
    if (!accept(text))
      continue;
    Expr* expr = make(ExprKind::Unary, begin, {unary()});
    expr->op = op;
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
      expr->depth = std::max<uint16_t>(expr->depth, part->depth + 1);
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
    // C99 6.4.4.1: the first of these types that holds the value; decimal literals without u are never unsigned.
    bool isCharacter = first.text.starts_with('\'');
    bool fitsInt = isCharacter || first.integer <= (first.isUnsigned ? UINT32_MAX : INT32_MAX);
    bool fitsUnsigned = !first.isDecimal && first.integer <= UINT32_MAX;
    bool fitsLong = first.integer <= INT64_MAX;
    TypeKind kind = TypeKind::UnsignedLong;
    if (!first.isLong && fitsInt)
      kind = first.isUnsigned ? TypeKind::UnsignedInt : TypeKind::Int;
    else if (!first.isLong && !first.isUnsigned && fitsUnsigned)
      kind = TypeKind::UnsignedInt;
    else if (!first.isUnsigned && fitsLong)
      kind = TypeKind::Long;
    expr->type = program_.types.get(kind);
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
