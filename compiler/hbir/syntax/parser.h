// Parses the tokens of an HBIR program into a SyntaxTree. Recursive descent with a bound on nesting; after an error it
// goes on at the next statement or declaration, so that one run reports several. The mapping reader parses its places
// and expressions with it too. Used by one thread.
#pragma once

#include "compiler/cfamily/syntax/expression_reader.h"
#include "compiler/hbir/syntax/ast.h"
#include "compiler/hbir/syntax/lexer.h"

namespace strata::hbir {

/// Parses into `tree`. Errors are in `diagnostics`; what could be parsed is in the tree all the same.
void parse(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics);

/// The parser itself; only its own files and the mapping reader use it.
class Parser : public cfamily::ExpressionReader<Parser, Token, Expr> {
public:
  Parser(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics);
  void run();

  NameSyntax expectName(std::string_view what);
  Expr* expression();
  PathSyntax path();
  /// `[e][e]…`, perhaps none.
  std::vector<Expr*> bracketed(std::string_view what);

private:
  /// Nesting went too deep; nothing can be told of what follows.
  struct TooDeep {};

  friend class cfamily::ExpressionReader<Parser, Token, Expr>;
  static constexpr int deepestNesting = 256;
  static constexpr uint16_t deepestTree = 1000;
  [[noreturn]] void refuseNesting();
  [[noreturn]] void refuseTree(const Location& begin);

  // Segments: parse_segments.cpp.
  void segments();
  void segment(std::string_view name);
  void skipBraces();
  void mixed(const Location& where, Form form, std::string_view what);
  void notAForm(const Location& where, std::string_view what, bool ok, Form form);
  template <typename Function>
  void items(std::string_view segment, Function&& item);
  void targetItem();
  MemorySyntax memory();
  int64_t memoryNumber(std::string_view field);
  void configItem();
  GroupSyntax* group();
  void groupOfFormA(GroupSyntax& group);
  void groupOfArrangement(GroupSyntax& group);
  RangeSyntax range();
  std::vector<NameSyntax> sizeNames();
  void dataItem();
  ScalarType type(std::string_view what);
  bool startsType() const;
  void array(std::optional<NameSyntax> direction);
  void layoutOfFormA(ArraySyntax& array);
  void locationAndLayout(ArraySyntax& array);

  // The code segment: parse_code.cpp.
  void codeItem();
  bool startsBlock() const;
  void block();
  void externFunction();

  // Statements: parse_statements.cpp.
  void statement(std::vector<Stmt*>& into);
  void statementUnchecked(std::vector<Stmt*>& into);
  /// Reports a name that begins a statement as no name can: a misspelt word of the language.
  void refuseMisspelt();
  std::vector<Stmt*> braces();
  std::vector<Stmt*> bodyOf(std::string_view what);
  void declaration(std::vector<Stmt*>& into);
  Stmt* simple();
  /// (condition)
  Expr* conditionInParentheses(std::string_view before);
  /// Reports an assignment behind a condition, where `wanted` should be.
  void refuseAssignment(std::string_view wanted);
  Stmt* ifStatement();
  Stmt* forStatement();
  Stmt* rangeStatement();
  Stmt* print();

  // Expressions: parse_expressions.cpp.
  Expr* unary();
  Expr* primary();
  Expr* joined(Operator op, Expr* left, Expr* right);
  Expr* make(ExprKind kind, const Location& begin, std::vector<Expr*> operands);

  SyntaxTree& tree_;
  bool mixed_ = false; // a mixture of forms has been reported
};

} // namespace strata::hbir
