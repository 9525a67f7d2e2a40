// Statements: C's, plus tunable, copy and the three iteration statements.
#include "compiler/sequoia/syntax/parser.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(reduceRanges, Error, "sequoia-mapreduce-ranges", "mapreduce takes one range, not {0}");
STRATA_DIAGNOSTIC(mapBody, Error, "sequoia-map-body",
                  "the body of {0} is exactly one statement in braces: a nested iteration or one task call");

Stmt* Parser::statement() {
  Nesting nesting(*this);
  size_t start = at_, scopes = typedefs_.size();
  int nested = nesting_;
  try {
    return statementUnchecked();
  } catch (const SyntaxError&) {
    nesting_ = nested;
    typedefs_.resize(scopes);
    hidden_.resize(scopes);
    if (at_ == start)
      take();
    recover(start);
    return program_.newStmt(StmtKind::Empty, tokens_[start].location);
  }
}

Stmt* Parser::statementUnchecked() {
  item_ = at_;
  Location begin = token().location;
  if (is("{"))
    return compound();
  if (accept(";"))
    return program_.newStmt(StmtKind::Empty, begin);
  if (is("if"))
    return ifStatement();
  if (is("for"))
    return forStatement();
  if (accept("while")) {
    Stmt* loop = program_.newStmt(StmtKind::While, begin);
    loop->expression = inParentheses("'while'", "the condition");
    loop->body = statement();
    return loop;
  }
  if (accept("do")) {
    Stmt* loop = program_.newStmt(StmtKind::DoWhile, begin);
    loop->body = statement();
    expect("while", "the body of 'do'");
    loop->expression = inParentheses("'while'", "the condition");
    expect(";", "'do … while (…)'");
    return loop;
  }
  if (is("switch"))
    return switchStatement();
  if (is("break") || is("continue")) {
    bool isBreak = take().text == "break";
    expect(";", isBreak ? "'break'" : "'continue'");
    return program_.newStmt(isBreak ? StmtKind::Break : StmtKind::Continue, begin);
  }
  if (accept("return")) {
    Stmt* result = program_.newStmt(StmtKind::Return, begin);
    if (!is(";"))
      result->expression = expression();
    expect(";", "'return'");
    result->location = from(begin);
    return result;
  }
  if (is("case") || is("default")) {
    Stmt* label = program_.newStmt(StmtKind::CaseLabel, begin);
    if (take().text == "case")
      label->expression = conditional();
    expect(":", "the label");
    label->location = from(begin);
    return label;
  }
  if (is("tunable"))
    return tunables();
  if (is("copy"))
    return copyStatement();
  if (is("mappar") || is("mapseq") || is("mapreduce"))
    return mapStatement();
  if (is("typedef"))
    return localTypedef();
  refuseKeyword();
  if (startsType())
    return declaration();
  if (const std::string_view word = token().text; word == "elif" || word == "elsif" || word == "elseif")
    if (is("(", 1) && at_ > 0 && (spells(tokens_[at_ - 1], ";") || spells(tokens_[at_ - 1], "}"))) {
      reportWanted("a statement").help("write it as 'else if'");
      return ifStatement();
    }
  refuseMisspelt();
  return expressionStatement();
}

void Parser::refuseMisspelt() {
  static const std::vector<std::string> words = {"for",      "while",   "if",     "else",   "switch", "case",
                                                 "default",  "break",   "return", "mappar", "mapseq", "mapreduce",
                                                 "continue", "tunable", "copy",   "do",     "typedef"};
  if (!isName())
    return;
  const Token& next = token(1);
  const bool isValue = next.kind == TokenKind::Identifier || next.kind == TokenKind::Integer ||
                       next.kind == TokenKind::Real || next.kind == TokenKind::Keyword;
  const bool sameLine = placeOfMissing(token().location, next.location, false, diagnostics_.sources()) == next.location;
  if ((isValue && sameLine && !nearestName(token().text, words).empty()) || is("{", 1))
    failWord("a statement", words);
  if (next.kind == TokenKind::Identifier && sameLine)
    failType("a statement");
  if (!is("(", 1))
    return;
  // A call has no declaration in it, and nothing but an operator or the end of the statement stands behind it.
  size_t end = 1;
  bool hasColon = false, hasQuestion = false;
  for (int depth = 0; token(end).kind != TokenKind::End && !is("{", end) && !is("}", end); ++end) {
    depth += is("(", end) + is("[", end) - is(")", end) - is("]", end);
    hasQuestion |= is("?", end);
    hasColon |= depth == 1 && is(":", end) && !hasQuestion;
    if (depth == 0)
      break;
  }
  const TokenKind behind = token(end + 1).kind;
  const bool isHeader = is(")", end) && (is("{", end + 1) || behind == TokenKind::Identifier);
  if (!startsType(2) && !isHeader)
    return;
  if (!nearestName(token().text, words).empty())
    failWord("a statement", words);
  // Words of other languages: parfor, foreach, forall.
  const bool isLoop = startsType(2) || (hasColon && is("{", end + 1));
  if (isLoop) {
    reportWanted("a statement")
        .help(hasColon ? "iterations over a range are 'mappar', or 'mapseq' where they go one after another"
                       : "loops are 'for', 'while' and 'do'; iterations that call a task are 'mappar' and 'mapseq'");
    throw SyntaxError();
  }
}

Stmt* Parser::compound() {
  const size_t open = at_;
  Stmt* block = program_.newStmt(StmtKind::Compound, take().location);
  typedefs_.emplace_back();
  hidden_.emplace_back();
  while (!is("}") && token().kind != TokenKind::End)
    block->statements.push_back(statement());
  typedefs_.pop_back();
  hidden_.pop_back();
  expectClosing("}", open, "the statements");
  return block;
}

Stmt* Parser::declaration() {
  Stmt* result = program_.newStmt(StmtKind::Declaration, token().location);
  TypeSyntax* type = typeSpecifier();
  if (accept(";")) { // a struct, union or enum alone
    Variable* unnamed = program_.newVariable();
    unnamed->typeSyntax = type;
    unnamed->location = result->location;
    result->variables.push_back(unnamed);
    return result;
  }
  if (type->isDefinition && mayFollowMissing(false)) {
    missingAfterDefinition(*type);
    return result;
  }
  do {
    refusePointer();
    const Token& name = expectName("a variable's name");
    Variable* variable = program_.newVariable();
    variable->name = name.text;
    variable->location = name.location;
    variable->kind = VariableKind::Local;
    variable->typeSyntax = type;
    variable->isConst = type->isConst;
    for (Expr* extent : arrayExtents())
      variable->extents.push_back({extent, {}});
    hidden_.back().insert(name.text);
    if (accept("="))
      variable->initializer = initialValue();
    result->variables.push_back(variable);
  } while (accept(","));
  expect(";", "the declaration");
  result->location = from(result->location);
  return result;
}

Stmt* Parser::localTypedef() {
  Stmt* result = program_.newStmt(StmtKind::Declaration, take().location);
  if (!startsType())
    failType("a type");
  result->typedefs = typedefNames(typeSpecifier());
  result->location = from(result->location);
  return result;
}

Expr* Parser::initialValue() {
  if (!is("{"))
    return assignment();
  Nesting nesting(*this);
  const size_t open = at_;
  Location begin = take().location;
  std::vector<Expr*> values;
  do
    values.push_back(initialValue());
  while (accept(",") && !is("}"));
  expectClosing("}", open, "the initial values");
  return make(ExprKind::Braces, begin, std::move(values));
}

Stmt* Parser::tunables() {
  Stmt* result = program_.newStmt(StmtKind::Declaration, take().location);
  do {
    if (startsType() && !is(",", 1) && !is(";", 1)) {
      reportWanted("a tunable's name")
          .help("a tunable has no type: write 'tunable " + std::string(token(1).text) + ";'");
      typeSpecifier();
      reportedAt_ = at_;
    }
    const Token& name = expectName("a tunable's name");
    Variable* variable = program_.newVariable();
    variable->name = name.text;
    variable->location = name.location;
    variable->kind = VariableKind::Tunable;
    hidden_.back().insert(name.text);
    result->variables.push_back(variable);
  } while (accept(","));
  expect(";", "the tunables (a tunable has no type and no value; the mapping sets it)");
  return result;
}

Expr* Parser::inParentheses(std::string_view before, std::string_view what) {
  const size_t open = at_;
  expect("(", before);
  Expr* result = expression();
  expectClosing(")", open, what);
  return result;
}

Stmt* Parser::ifStatement() {
  // A chain of else-ifs nests to the right; each link counts as nesting, which bounds the depth of the tree.
  Stmt* result = program_.newStmt(StmtKind::If, take().location);
  result->expression = inParentheses("'if'", "the condition");
  result->body = statement();
  if (accept("else"))
    result->otherwise = statement();
  return result;
}

Stmt* Parser::forStatement() {
  Stmt* loop = program_.newStmt(StmtKind::For, take().location);
  typedefs_.emplace_back();
  hidden_.emplace_back();
  const size_t open = at_;
  const bool isOver = isName() && (token(1).text == "in" || is("=", 1));
  if (isOver || (is("(") && startsType(1) && isName(2) && is(":", 3))) {
    const Token& variable = token(isOver ? 0 : 2);
    if (!isOver)
      at_ += 3;
    reportWanted(isOver ? "'(' after 'for'" : "'=' after the loop variable")
        .help("write it as 'for (long " + std::string(variable.text) + " = 0; " + std::string(variable.text) +
              " < N; " + std::string(variable.text) + "++)'");
    throw SyntaxError();
  }
  expect("(", "'for'");
  if (!startsType() && isName() && isName(1))
    failType("the first expression of 'for'");
  if (!accept(";"))
    loop->initial = startsType() ? declaration() : expressionStatement();
  if (!is(";"))
    loop->expression = expression();
  expect(";", "the condition");
  if (!is(")"))
    loop->step = expression();
  expectClosing(")", open, "the step");
  loop->body = statement();
  typedefs_.pop_back();
  hidden_.pop_back();
  return loop;
}

Stmt* Parser::switchStatement() {
  Stmt* result = program_.newStmt(StmtKind::Switch, take().location);
  result->expression = inParentheses("'switch'", "the value");
  if (!is("{"))
    fail("'{'");
  result->statements = compound()->statements;
  return result;
}

Stmt* Parser::copyStatement() {
  Stmt* result = program_.newStmt(StmtKind::Copy, take().location);
  const size_t open = at_;
  expect("(", "'copy'");
  result->arguments.push_back({assignment(), Direction::Out, nullptr});
  expect(",", "the destination");
  result->arguments.push_back({assignment(), Direction::In, nullptr});
  expectClosing(")", open, "the source");
  expect(";", "the copy");
  result->location = from(result->location);
  return result;
}

Loop* Parser::mapRange(MapKind kind) {
  Loop* loop = program_.newLoop();
  loop->kind = kind;
  loop->location = token().location;
  refuseKeyword();
  if (!startsType())
    failType("the type of the loop variable");
  loop->typeSyntax = typeSpecifier();
  refusePointer();
  const Token& name = expectName("the loop variable's name");
  loop->variableName = name.text;
  loop->variableLocation = name.location;
  expect("=", "the loop variable");
  loop->start = conditional();
  expect(":", "the first value of the range");
  loop->end = conditional();
  loop->location = from(loop->location);
  return loop;
}

Stmt* Parser::mapStatement() {
  Location begin = token().location;
  std::string_view keyword = take().text;
  MapKind kind = keyword == "mappar" ? MapKind::Par : keyword == "mapseq" ? MapKind::Seq : MapKind::Reduce;
  const size_t open = at_;
  expect("(", keyword);
  std::vector<Loop*> loops;
  do
    loops.push_back(mapRange(kind));
  while (accept(","));
  expectClosing(")", open, "the ranges");
  if (kind == MapKind::Reduce && loops.size() > 1)
    diagnostics_.report(reduceRanges, loops[1]->location, loops.size());
  Location header = from(begin);

  // The braces hold exactly one statement. The rest of a wrong body is parsed for its own errors.
  Stmt* body = program_.newStmt(StmtKind::Empty, token().location);
  if (!is("{")) {
    diagnostics_.report(mapBody, token().location, keyword);
    throw SyntaxError();
  }
  const unsigned errorsBefore = diagnostics_.errorCount();
  Stmt* block = compound();
  const bool isWrong = diagnostics_.errorCount() != errorsBefore; // what is missing from it has been reported
  const Stmt* wrong = block->statements.size() > 1 ? block->statements[1] : block;
  if (isWrong) {
    // Nothing is known of the body.
  } else if (block->statements.size() != 1) {
    diagnostics_.report(mapBody, block->statements.empty() ? header : wrong->location, keyword)
        .label(header, "the iteration statement");
  } else {
    body = block->statements[0];
    bool call = body->kind == StmtKind::Expression && body->expression->kind == ExprKind::CallSyntax;
    if (!(call || (body->kind == StmtKind::Map && kind != MapKind::Reduce))) {
      DiagnosticBuilder report = diagnostics_.report(mapBody, body->location, keyword);
      const Expr* given = body->kind == StmtKind::Expression ? body->expression : nullptr;
      if (given && given->kind == ExprKind::Assign && given->operands[1]->kind == ExprKind::CallSyntax)
        report.help("a task returns nothing: give '" + std::string(given->operands[1]->name) +
                    "' an out argument, and pass it the block for the result");
      else if (given)
        report.help("what is computed from elements is the body of a leaf task; call that here");
      else if (kind == MapKind::Reduce)
        report.note("the body of mapreduce is one task call");
    }
  }
  for (size_t i = loops.size(); i-- > 0;) {
    Stmt* map = program_.newStmt(StmtKind::Map, header);
    map->loop = loops[i];
    map->body = body;
    loops[i]->statement = map;
    body = map;
  }
  return body;
}

Stmt* Parser::expressionStatement() {
  Stmt* result = program_.newStmt(StmtKind::Expression, token().location);
  result->expression = expression();
  expect(";", "the statement");
  result->location = result->expression->location;
  return result;
}

} // namespace strata::sequoia
