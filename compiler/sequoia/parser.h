// Parses the tokens of a Sequoia program into a Program whose names and types are not yet resolved. Recursive descent
// with a bound on nesting; after an error it goes on at the next statement or declaration, so that one run reports
// several.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/sequoia/ast.h"
#include "compiler/sequoia/lexer.h"

#include <set>
#include <vector>

namespace strata::sequoia {

/// Parses into `program`. Errors are in `diagnostics`; what could be parsed is in the program all the same.
void parse(const std::vector<Token>& tokens, Program& program, DiagnosticEngine& diagnostics);

/// The parser itself; only its own files use it.
class Parser {
public:
  Parser(const std::vector<Token>& tokens, Program& program, DiagnosticEngine& diagnostics)
      : tokens_(tokens), program_(program), diagnostics_(diagnostics) {}
  void run();

private:
  /// Thrown after a message has been given; caught where parsing can go on.
  struct SyntaxError {};
  /// Counts nesting while it lives.
  class Nesting {
  public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.nesting_; }

  private:
    Parser& parser_;
  };

  // Tokens.
  const Token& token(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is(std::string_view text, size_t ahead = 0) const { return token(ahead).code == spelling(text); }
  bool isName(size_t ahead = 0) const { return token(ahead).kind == TokenKind::Identifier; }
  bool accept(std::string_view text);
  void expect(std::string_view text, std::string_view after);
  const Token& expectName(std::string_view what);
  [[noreturn]] void fail(std::string_view wanted);
  /// The same where a type is wanted: a name that stands there may be a misspelt one.
  [[noreturn]] void failType(std::string_view wanted);
  /// The same where one of a few words is wanted.
  [[noreturn]] void failWord(std::string_view wanted, const std::vector<std::string>& words);
  Location from(const Location& begin) const;
  /// Skips to the end of the statement or declaration that began at token `start`.
  void recover(size_t start);

  // Declarations: parse_declarations.cpp.
  void topLevel();
  void taskOrPrototype();
  void inlineFunction();
  Variable* parameter(bool isTask);
  bool startsType(size_t ahead = 0) const;
  TypeSyntax* typeSpecifier();
  TypeSyntax* recordSpecifier();
  void members(TypeSyntax& type);
  /// A name with its array extents; `what` is what the message calls it when it is missing.
  Declarator declarator(TypeSyntax* type, std::string_view what);
  TypeSyntax* enumSpecifier();
  std::vector<Expr*> arrayExtents();
  void refuseKeyword();
  void refusePointer();

  // Statements: parse_statements.cpp.
  Stmt* statement();
  Stmt* statementUnchecked();
  Stmt* compound();
  Stmt* declaration();
  Stmt* localTypedef();
  std::vector<Declarator> typedefNames(TypeSyntax* type);
  Expr* initialValue();
  Stmt* tunables();
  Stmt* ifStatement();
  Stmt* forStatement();
  Stmt* switchStatement();
  Stmt* copyStatement();
  Stmt* mapStatement();
  Loop* mapRange(MapKind kind);
  Stmt* expressionStatement();

  // Expressions: parse_expressions.cpp.
  Expr* expression();
  Expr* assignment();
  Expr* conditional();
  Expr* binary(int lowest);
  Expr* unary();
  Expr* postfix();
  Expr* primary();
  Expr* subscript(Expr* base);
  Expr* reduceArgument();
  std::vector<Expr*> callArguments();
  Expr* make(ExprKind kind, const Location& begin, std::vector<Expr*> operands);

  const std::vector<Token>& tokens_;
  Program& program_;
  DiagnosticEngine& diagnostics_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::vector<std::set<std::string_view>> typedefs_{1}; // one set a scope
  std::vector<std::set<std::string_view>> hidden_{1};   // typedef names that a variable of the scope hides
};

} // namespace strata::sequoia
