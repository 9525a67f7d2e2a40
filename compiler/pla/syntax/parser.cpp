// Recursive descent over the grammar in parser.h.
#include "compiler/pla/syntax/parser.h"

#include "compiler/cfamily/syntax/expression_reader.h"

#include <algorithm>
#include <array>

namespace strata::pla {

STRATA_DIAGNOSTIC(syntax, Error, "pla-syntax", "expected {0}, found {1}");
STRATA_DIAGNOSTIC(tooDeep, Error, "pla-too-deep", "an expression is nested more than {0} deep");
STRATA_DIAGNOSTIC(reservedName, Error, "pla-reserved-name",
                  "'{0}' is a word of the language, which nothing can be named");

namespace {

constexpr std::array<std::string_view, 14> reserved = {"program",  "parameter", "assume", "input", "output",
                                                       "variable", "for",       "where",  "if",    "and",
                                                       "or",       "not",       "mod",    "sum"};
const std::vector<std::string> itemWords = {"program", "parameter", "assume", "input", "output", "variable", "for"};

class PlaParser : public cfamily::ExpressionReader<PlaParser, Token, Expr> {
public:
  PlaParser(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics)
      : ExpressionReader(tokens, diagnostics, syntax), tree_(tree) {
    hasOperators_ = false; // `and` and `or` are operators here
  }

  void run() {
    try {
      while (!atEnd()) {
        const size_t start = item_ = position();
        try {
          item();
        } catch (const SyntaxError&) {
          recover(start);
          if (is("}")) // what closes nothing
            take();
        }
      }
    } catch (const TooDeep&) {
    }
  }

private:
  struct TooDeep {};

  friend class cfamily::ExpressionReader<PlaParser, Token, Expr>;
  static constexpr int deepestNesting = 200;
  static constexpr uint16_t deepestTree = 1000;

  [[noreturn]] void refuseNesting() {
    diagnostics_.report(tooDeep, token().location, deepestNesting);
    throw TooDeep();
  }
  [[noreturn]] void refuseTree(const Location& begin) {
    diagnostics_.report(tooDeep, from(begin), deepestTree);
    throw TooDeep();
  }

  NameSyntax name(std::string_view what) {
    if (!isWord(token()))
      fail(what);
    NameSyntax found{std::string(token().text), token().location};
    if (isReserved(found.text))
      diagnostics_.report(reservedName, found.location, found.text);
    take();
    return found;
  }

  std::vector<NameSyntax> names(std::string_view what) {
    std::vector<NameSyntax> found{name(what)};
    while (accept(","))
      found.push_back(name(what));
    return found;
  }

  void item() {
    if (accept("program")) {
      tree_.name = name("the program's name");
      expect(";", "the program's name");
    } else if (accept("parameter")) {
      do
        parameter();
      while (accept(","));
      expect(";", "the parameters");
    } else if (accept("assume")) {
      tree_.assumptions.push_back(expression());
      expect(";", "the condition");
    } else if (accept("input")) {
      declarations(Direction::Input);
    } else if (accept("output")) {
      declarations(Direction::Output);
    } else if (accept("variable")) {
      declarations(Direction::Variable);
    } else if (is("for")) {
      loop();
    } else {
      failWord("a declaration, or 'for'", itemWords);
    }
  }

  /// A bound is that of all names before it which have none yet.
  void parameter() {
    const size_t first = tree_.parameters.size();
    do
      tree_.parameters.push_back({name("a parameter's name"), std::nullopt});
    while (accept(","));
    if (!accept(">="))
      return;
    const bool isNegative = accept("-");
    if (token().kind != TokenKind::Integer || token().integer > INT32_MAX)
      fail("the least value of '" + tree_.parameters.back().name.text + "', a number of at most 2147483647");
    const auto value = static_cast<int64_t>(token().integer);
    for (size_t i = first; i < tree_.parameters.size(); ++i)
      tree_.parameters[i].least = isNegative ? -value : value;
    take();
  }

  void declarations(Direction direction) {
    do {
      const std::vector<NameSyntax> found = names("a name");
      if (!accept(":"))
        fail("':' and a type after the name");
      const TypeSyntax of = type();
      for (const NameSyntax& each : found)
        tree_.declarations.push_back({direction, each, of});
    } while (accept(","));
    expect(";", "the declaration");
  }

  TypeSyntax type() {
    TypeSyntax found;
    if (!isWord(token()))
      fail("a type");
    found.name = {std::string(token().text), token().location};
    take();
    if (is("["))
      found.extents = brackets("the extents");
    return found;
  }

  std::vector<Expr*> brackets(std::string_view what) {
    const size_t open = position();
    take();
    std::vector<Expr*> found{expression()};
    while (accept(","))
      found.push_back(expression());
    expectClosing("]", open, what);
    return found;
  }

  void loop() {
    const Location begin = take().location;
    LoopSyntax made;
    made.iterators = names("an iterator's name");
    if (!accept("where"))
      fail("'where' and the bounds of the iterators, as in 'for i where 0 <= i < N'");
    made.space = expression();
    made.location = from(begin);
    const size_t open = position();
    expect("{", "the bounds");
    while (!is("}") && !atEnd()) {
      const size_t start = item_ = position();
      try {
        equation(made);
      } catch (const SyntaxError&) {
        recover(start);
      }
    }
    tree_.loops.push_back(std::move(made));
    expectClosing("}", open, "the equations");
  }

  void equation(LoopSyntax& loop) {
    const Location begin = token().location;
    EquationSyntax made;
    if (!isWord(token()) || isReserved(token().text))
      fail("an equation, such as 'y[i] = x[i] + 1'");
    made.target = primary();
    expect("=", "the variable that is defined");
    made.value = expression();
    if (accept("if"))
      made.guard = expression();
    made.location = from(begin);
    expect(";", "the equation");
    loop.equations.push_back(made);
  }

  // ---- expressions ----

  Expr* make(ExprKind kind, const Location& begin, std::vector<Expr*> operands) {
    Expr* made = withOperands(tree_.make(), begin, std::move(operands));
    made->kind = kind;
    made->location = from(begin);
    return made;
  }

  Expr* expression() {
    const Nesting nesting(*this);
    const Location begin = token().location;
    Expr* condition = binary();
    if (!accept("?"))
      return condition;
    Expr* first = expression();
    expect(":", "the value where the condition holds");
    return make(ExprKind::Conditional, begin, {condition, first, expression()});
  }

  Expr* joined(Operator op, Expr* left, Expr* right) {
    Expr* made = make(ExprKind::Binary, left->location, {left, right});
    made->op = op;
    return made;
  }

  Expr* unary() {
    const Nesting nesting(*this);
    const Location begin = token().location;
    const std::optional<Operator> op = acceptPrefix();
    if (!op)
      return primary();
    Expr* made = make(ExprKind::Unary, begin, {unary()});
    made->op = *op;
    return made;
  }

  Expr* primary() {
    const Token& here = token();
    const Location begin = here.location;
    if (here.kind == TokenKind::Integer || here.kind == TokenKind::Real) {
      take();
      Expr* made = make(here.kind == TokenKind::Integer ? ExprKind::Integer : ExprKind::Real, begin, {});
      made->integer = here.integer;
      made->real = here.real;
      made->isFloat = here.isFloat;
      return made;
    }
    if (is("(")) {
      const size_t open = position();
      take();
      Expr* inner = expression();
      expectClosing(")", open, "the expression");
      inner->isParenthesized = true;
      return inner;
    }
    if (!isWord(here) || (isReserved(here.text) && here.text != "sum"))
      fail("an expression");
    const NameSyntax found{std::string(here.text), begin};
    take();
    return named(found);
  }

  /// What follows a name: a reduction's iterators, indices, arguments, or nothing.
  Expr* named(const NameSyntax& found) {
    static constexpr std::array<std::string_view, 4> reductions = {"sum", "product", "min", "max"};
    if (is("[") && std::find(reductions.begin(), reductions.end(), found.text) != reductions.end())
      return reduction(found);
    Expr* made = nullptr;
    if (is("[")) {
      made = make(ExprKind::Element, found.location, brackets("the indices"));
    } else if (is("(")) {
      made = make(ExprKind::Call, found.location, arguments());
    } else {
      made = make(ExprKind::Name, found.location, {});
    }
    made->location = from(found.location);
    made->name = found;
    return made;
  }

  std::vector<Expr*> arguments() {
    const size_t open = position();
    take();
    std::vector<Expr*> found;
    if (!is(")")) {
      found.push_back(expression());
      while (accept(","))
        found.push_back(expression());
    }
    expectClosing(")", open, "the arguments");
    return found;
  }

  Expr* reduction(const NameSyntax& found) {
    const size_t open = position();
    take();
    std::vector<NameSyntax> over = names("the iterator that is reduced over");
    expectClosing("]", open, "the iterators");
    if (!is("("))
      fail("'(' and what is reduced, as in 'sum[k](a[i, k]*b[k, j])'");
    const size_t openValue = position();
    take();
    Expr* value = expression();
    expectClosing(")", openValue, "what is reduced");
    Expr* made = make(ExprKind::Reduction, found.location, {value});
    made->location = from(found.location);
    made->name = found;
    made->iterators = std::move(over);
    return made;
  }

  SyntaxTree& tree_;
};

} // namespace

bool isReserved(std::string_view word) {
  return std::find(reserved.begin(), reserved.end(), word) != reserved.end();
}

void parse(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics) {
  PlaParser(tokens, tree, diagnostics).run();
}

} // namespace strata::pla
