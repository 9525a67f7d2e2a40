// Parses the tokens of a Sequoia program into a Program whose names and types are not yet resolved. Recursive descent
// with a bound on nesting; after an error it goes on at the next statement or declaration, so that one run reports
// several.
#pragma once

#include "compiler/cfamily/syntax/expression_reader.h"
#include "compiler/sequoia/syntax/ast.h"
#include "compiler/sequoia/syntax/lexer.h"

namespace strata::sequoia {

/// Parses into `program`. Errors are in `diagnostics`; what could be parsed is in the program all the same.
void parse(const std::vector<Token>& tokens, Program& program, DiagnosticEngine& diagnostics);

/// The parser itself; only its own files use it.
class Parser : cfamily::ExpressionReader<Parser, Token, Expr> {
public:
  Parser(const std::vector<Token>& tokens, Program& program, DiagnosticEngine& diagnostics);
  void run();

private:
  friend class cfamily::ExpressionReader<Parser, Token, Expr>;
  /// Deep enough for people; shallow enough for the stack with every sanitizer on.
  static constexpr int deepestNesting = 400;
  static constexpr uint16_t deepestTree = 2000;
  [[noreturn]] void refuseNesting();
  [[noreturn]] void refuseTree(const Location& begin);

  // Tokens.
  bool isName(size_t ahead = 0) const { return isWord(token(ahead)); }
  const Token& expectName(std::string_view what);
  /// Fails where a type is wanted: a name that stands there may be a misspelt one, or one of `words`.
  [[noreturn]] void failType(std::string_view wanted, const std::vector<std::string>& words = {});

  // Declarations: parse_declarations.cpp.
  void topLevel();
  /// A task, behind 'void task'.
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
  /// Reports that ';' is missing behind the definition of a type.
  void missingAfterDefinition(const TypeSyntax& type);
  void refuseKeyword();
  void refusePointer();

  // Statements: parse_statements.cpp.
  Stmt* statement();
  Stmt* statementUnchecked();
  /// Reports a name that begins a statement as no name can: a misspelt word of the language, or type.
  void refuseMisspelt();
  Stmt* compound();
  Stmt* declaration();
  Stmt* localTypedef();
  std::vector<Declarator> typedefNames(TypeSyntax* type);
  Expr* initialValue();
  Stmt* tunables();
  /// (expression)
  Expr* inParentheses(std::string_view before, std::string_view what);
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
  Expr* unary();
  Expr* postfix();
  Expr* primary();
  Expr* subscript(Expr* base);
  Expr* reduceArgument();
  std::vector<Expr*> callArguments();
  Expr* joined(Operator op, Expr* left, Expr* right);
  Expr* make(ExprKind kind, const Location& begin, std::vector<Expr*> operands);

  Program& program_;
  std::vector<std::set<std::string_view>> typedefs_{1}; // one set a scope
  std::vector<std::set<std::string_view>> hidden_{1};   // typedef names that a variable of the scope hides
};

} // namespace strata::sequoia
