// Parses the tokens of an HBIR program into a SyntaxTree. Recursive descent with a bound on nesting; after an error it
// goes on at the next statement or declaration, so that one run reports several. The mapping reader parses its places
// and expressions with it too. Used by one thread.
#pragma once

#include "compiler/hbir/ast.h"
#include "compiler/hbir/lexer.h"

namespace strata::hbir {

/// Parses into `tree`. Errors are in `diagnostics`; what could be parsed is in the tree all the same.
void parse(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics);

/// The parser itself; only its own files and the mapping reader use it.
class Parser {
public:
  Parser(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics)
      : tokens_(tokens), tree_(tree), diagnostics_(diagnostics) {}
  void run();

  /// Thrown after a message has been given; caught where parsing can go on.
  struct SyntaxError {};

  // Tokens.
  const Token& token(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is(std::string_view text, size_t ahead = 0) const {
    return token(ahead).kind != TokenKind::Text && token(ahead).text == text;
  }
  bool atEnd() const { return token().kind == TokenKind::End; }
  bool accept(std::string_view text);
  void expect(std::string_view text, std::string_view after);
  /// Expects the bracket that closes the one at token `open`.
  void expectClosing(std::string_view text, size_t open, std::string_view after);
  NameSyntax expectName(std::string_view what);
  /// Reports that something else is wanted; the place is the end of the line where that is missing. Leaves by a
  /// SyntaxError when what is wrong there has been reported.
  DiagnosticBuilder reportWanted(std::string_view wanted);
  [[noreturn]] void fail(std::string_view wanted);
  /// The same where one of a few words is wanted.
  [[noreturn]] void failWord(std::string_view wanted, const std::vector<std::string>& words);
  Location from(const Location& begin) const;
  /// Skips behind the next ';' or to the '}' that ends what surrounds the error.
  void recover(size_t start);
  size_t position() const { return at_; }

  Expr* expression();
  PathSyntax path();
  /// `[e][e]…`, perhaps none.
  std::vector<Expr*> bracketed(std::string_view what);

private:
  /// Nesting went too deep; nothing can be told of what follows.
  struct TooDeep {};
  /// Counts nesting while it lives.
  class Nesting {
  public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.nesting_; }

  private:
    Parser& parser_;
  };

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
  std::vector<Stmt*> braces();
  std::vector<Stmt*> bodyOf(std::string_view what);
  void declaration(std::vector<Stmt*>& into);
  Stmt* simple();
  Stmt* ifStatement();
  Stmt* forStatement();
  Stmt* rangeStatement();
  Stmt* print();

  // Expressions: parse_expressions.cpp.
  Expr* binary(int lowest);
  Expr* unary();
  Expr* primary();
  Expr* make(ExprKind kind, const Location& begin, std::vector<Expr*> operands);

  const std::vector<Token>& tokens_;
  SyntaxTree& tree_;
  DiagnosticEngine& diagnostics_;
  /// Whether the token at hand is likely to stand behind a bracket or a semicolon that is missing before it.
  bool mayFollowMissing(bool isBracket) const;

  size_t at_ = 0;
  size_t item_ = 0;                // where the statement or declaration at hand begins
  size_t reportedAt_ = ~size_t(0); // the token before which something missing was reported last
  int nesting_ = 0;
  bool mixed_ = false; // a mixture of forms has been reported
};

} // namespace strata::hbir
