// Statements: C's, `for i in [low:high]`, printf and bsg_finish.
#include "compiler/hbir/syntax/parser.h"

namespace strata::hbir {

STRATA_DIAGNOSTIC(severalFirst, Error, "hbir-for-declaration", "a for loop declares one variable");

namespace {

const std::vector<std::string> statementWords = {"if",    "else", "for",   "while",  "break", "int",
                                                 "float", "bool", "print", "printf", "extern"};

} // namespace

void Parser::statement(std::vector<Stmt*>& into) {
  Nesting nesting(*this);
  size_t start = at_;
  int nested = nesting_;
  try {
    statementUnchecked(into);
  } catch (const SyntaxError&) {
    nesting_ = nested;
    if (at_ == start && !is("}"))
      take();
    recover(start);
  }
}

void Parser::refuseMisspelt() {
  if (!isWord(token()))
    return;
  static constexpr std::pair<std::string_view, const char*> ofC[] = {
      {"return", "bsg_finish() ends a tile; a block ends at its end"},
      {"continue", "put what is left out of the round under an 'if'"},
      {"do", "write it as a 'while' loop"},
      {"switch", "write it as a chain of 'if' and 'else if'"},
      {"goto", "use loops, and 'break'"}};
  for (auto [word, help] : ofC)
    if (is(word) && !is("=", 1) && !is("[", 1) && !is(".", 1)) {
      reportWanted("a statement").note("HBIR has no '" + std::string(word) + "'").help(help);
      throw SyntaxError();
    }
  const bool isNear = !nearestName(token().text, statementWords).empty();
  const bool standsBeforeWord = isWord(token(1)) && onLineOfLast(1);
  if (is("{", 1) || (isNear && (standsBeforeWord || token(1).kind == TokenKind::Integer)))
    failWord("a statement", statementWords);
  if (standsBeforeWord && (is("=", 2) || is(";", 2) || is(",", 2) || is("[", 2) || isWord(token(2)))) {
    static constexpr std::pair<std::string_view, const char*> ofC[] = {
        {"double", "float"}, {"long", "int"}, {"short", "int"}, {"unsigned", "int"}, {"signed", "int"},
        {"size_t", "int"},   {"char", "int"}, {"auto", "int"},  {"_Bool", "bool"},   {"int32_t", "int"},
        {"int64_t", "int"},  {"var", "int"},  {"let", "int"},   {"uint32_t", "int"}};
    DiagnosticBuilder report = reportWanted("a type (int, float or bool)");
    for (auto [type, instead] : ofC)
      if (token().text == type)
        report.help("HBIR has no type " + std::string(type) + ": take " + instead);
    if (is("const"))
      report.help("leave 'const' out; a constant of the whole program stands in the data segment");
    throw SyntaxError();
  }
  if (!is("(", 1))
    return;
  // A call has no declaration in it, and no statement stands behind its arguments.
  size_t end = 1;
  bool declares = false;
  for (int depth = 0; token(end).kind != TokenKind::End && !is("{", end) && !is("}", end); ++end) {
    declares |= is("int", end) || is("float", end) || is("bool", end) || is(";", end);
    depth += is("(", end) - is(")", end);
    if (depth == 0)
      break;
  }
  if (is(")", end) && (declares || is("{", end + 1) || isWord(token(end + 1))) && isNear)
    failWord("a statement", statementWords);
}

void Parser::statementUnchecked(std::vector<Stmt*>& into) {
  item_ = at_;
  Location begin = token().location;
  if (accept(";"))
    return;
  Stmt* result = nullptr;
  if (is("{")) {
    result = tree_.newStmt(StatementKind::Compound, begin);
    result->body = braces();
  } else if (is("if")) {
    result = ifStatement();
  } else if (is("for")) {
    const bool isRange = !is("(", 1) && (is("in", 1) || is("in", 2) || is("[", 2));
    result = isRange ? rangeStatement() : forStatement();
  } else if (accept("while")) {
    result = tree_.newStmt(StatementKind::While, begin);
    result->condition = conditionInParentheses("'while'");
    result->where = from(begin);
    result->body = bodyOf("while");
  } else if (accept("break")) {
    result = tree_.newStmt(StatementKind::Break, begin);
    expect(";", "'break'");
  } else if (is("bsg_finish") && is("(", 1)) {
    take();
    take();
    result = tree_.newStmt(StatementKind::Finish, begin);
    expectClosing(")", at_ - 1, "'bsg_finish('");
    expect(";", "'bsg_finish()'");
  } else if ((is("printf") || is("print")) && is("(", 1)) {
    result = print();
  } else if (startsType()) {
    return declaration(into);
  } else {
    refuseMisspelt();
    result = simple();
    expect(";", "the statement");
  }
  into.push_back(result);
}

std::vector<Stmt*> Parser::braces() {
  std::vector<Stmt*> result;
  const size_t open = at_;
  expect("{", "this");
  while (!is("}") && !atEnd())
    statement(result);
  expectClosing("}", open, "the statements");
  return result;
}

std::vector<Stmt*> Parser::bodyOf(std::string_view what) {
  if (is("{"))
    return braces();
  if (startsType()) {
    item_ = at_; // the place is the declaration's
    fail("a statement or '{' after '" + std::string(what) + " (…)'; a declaration stands in braces");
  }
  std::vector<Stmt*> result;
  statement(result);
  return result;
}

void Parser::declaration(std::vector<Stmt*>& into) {
  ScalarType declared = type("a type");
  do {
    NameSyntax name = expectName("a variable's name");
    Stmt* result = tree_.newStmt(StatementKind::Declare, name.where);
    result->type = declared;
    result->name = name;
    result->extents = bracketed("the extent");
    if (accept("="))
      result->value = expression();
    into.push_back(result);
  } while (accept(","));
  expect(";", "the declaration");
}

/// An assignment, an increment or a call.
Stmt* Parser::simple() {
  Location begin = token().location;
  if (is("++") || is("--")) {
    Operator op = take().text == "++" ? Operator::Add : Operator::Subtract;
    Stmt* result = tree_.newStmt(StatementKind::Assign, begin);
    result->target = unary();
    result->compound = op;
    result->value = tree_.newExpr(ExprKind::Integer, begin);
    result->value->integer = 1;
    result->where = from(begin);
    return result;
  }
  Expr* left = unary();
  if (is("++") || is("--")) {
    Stmt* result = tree_.newStmt(StatementKind::Assign, begin);
    result->compound = is("++") ? Operator::Add : Operator::Subtract;
    result->value = tree_.newExpr(ExprKind::Integer, take().location);
    result->value->integer = 1;
    result->target = left;
    result->where = from(begin);
    return result;
  }
  if (const std::optional<Operator> op = acceptAssignment()) {
    Stmt* result = tree_.newStmt(StatementKind::Assign, begin);
    result->target = left;
    if (*op != Operator::None)
      result->compound = op;
    result->value = expression();
    result->where = from(begin);
    return result;
  }
  if (left->kind != ExprKind::Call) {
    // A word alone is likely to be a misspelt one of the language.
    const Token& word = tokens_[item_];
    DiagnosticBuilder report = reportWanted("'=' after what begins a statement");
    if (at_ == item_ + 1)
      proposeName(report, word.text, statementWords);
    throw SyntaxError();
  }
  Stmt* result = tree_.newStmt(StatementKind::Call, left->where);
  result->value = left;
  return result;
}

void Parser::refuseAssignment(std::string_view wanted) {
  if (!is("="))
    return;
  reportWanted(wanted).help("'==' compares two values; '=' is an assignment");
  throw SyntaxError();
}

Expr* Parser::conditionInParentheses(std::string_view before) {
  const size_t open = at_;
  expect("(", before);
  Expr* result = expression();
  refuseAssignment("')' after the condition");
  expectClosing(")", open, "the condition");
  return result;
}

Stmt* Parser::ifStatement() {
  // A chain of else-ifs nests to the right; each link counts as nesting, which bounds the depth of the tree.
  Stmt* result = tree_.newStmt(StatementKind::If, token().location);
  take();
  result->condition = conditionInParentheses("'if'");
  result->where = from(result->where);
  result->body = bodyOf("if");
  if (accept("else"))
    result->otherwise = bodyOf("else");
  return result;
}

Stmt* Parser::forStatement() {
  Stmt* loop = tree_.newStmt(StatementKind::For, take().location);
  const size_t open = at_;
  expect("(", "'for'");
  if (startsType()) {
    std::vector<Stmt*> declared;
    declaration(declared);
    if (declared.size() > 1)
      diagnostics_.report(severalFirst, declared[1]->where).help("declare the others before the loop");
    loop->first = declared[0];
  } else if (!accept(";")) {
    refuseMisspelt();
    loop->first = simple();
    expect(";", "the start of the loop");
  }
  if (!is(";"))
    loop->condition = expression();
  refuseAssignment("';' after the condition");
  expect(";", "the condition");
  if (!is(")"))
    loop->next = simple();
  expectClosing(")", open, "the step");
  loop->where = from(loop->where);
  loop->body = bodyOf("for");
  return loop;
}

Stmt* Parser::rangeStatement() {
  Stmt* loop = tree_.newStmt(StatementKind::Range, take().location);
  loop->name = expectName("'(' or the loop variable's name after 'for'");
  expect("in", "the loop variable");
  const size_t open = at_;
  expect("[", "'in'");
  loop->value = expression();
  expect(":", "the first value of the range");
  loop->upper = expression();
  expectClosing("]", open, "the range");
  loop->where = from(loop->where);
  notAForm(loop->where, "'for … in [low:high]'", tree_.form != Form::A, Form::B);
  loop->body = bodyOf("for");
  return loop;
}

Stmt* Parser::print() {
  Stmt* result = tree_.newStmt(StatementKind::Print, token().location);
  bool formatted = take().text == "printf";
  const size_t open = at_;
  take();
  if (token().kind == TokenKind::Text) {
    const Token& text = take();
    result->format = NameSyntax{text.text, text.location};
  } else if (formatted) {
    fail("the format, in quotes, after 'printf('");
  } else if (!is(")")) {
    result->arguments.push_back(expression());
  }
  while (accept(","))
    result->arguments.push_back(expression());
  expectClosing(")", open, "the arguments");
  expect(";", "the call");
  result->where = from(result->where);
  return result;
}

} // namespace strata::hbir
