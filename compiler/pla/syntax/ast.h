// The syntax tree of a loop program. A tree owns its expressions; names are not resolved yet. Plain data, used by one
// thread while it is made.
#pragma once

#include "base/source/source.h"
#include "compiler/cfamily/syntax/operators.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace strata::pla {

using cfamily::Operator;

struct NameSyntax {
  std::string text;
  Location location;
};

enum class ExprKind : uint8_t {
  Integer,
  Real,
  Name,        // a parameter, an iterator, or a scalar
  Element,     // name[operands…]
  Unary,       // op operand
  Binary,      // operand op operand
  Conditional, // operand ? operand : operand
  Call,        // name(operands…): a function or a conversion
  Reduction,   // name[iterators…](operand): sum, product, min or max
};

struct Expr {
  ExprKind kind = ExprKind::Integer;
  Operator op = Operator::None;
  uint16_t depth = 1;
  uint64_t integer = 0;
  double real = 0;
  bool isFloat = false;
  bool isParenthesized = false;
  NameSyntax name;
  std::vector<NameSyntax> iterators;
  std::vector<Expr*> operands;
  Location location;
};

struct TypeSyntax {
  NameSyntax name;
  std::vector<Expr*> extents;
};

enum class Direction : uint8_t { Input, Output, Variable };

struct DeclarationSyntax {
  Direction direction = Direction::Variable;
  NameSyntax name;
  TypeSyntax type;
};

struct ParameterSyntax {
  NameSyntax name;
  std::optional<int64_t> least; // NAME >= least
};

struct EquationSyntax {
  Expr* target = nullptr; // a name or an element
  Expr* value = nullptr;
  Expr* guard = nullptr; // null: none
  Location location;
};

struct LoopSyntax {
  std::vector<NameSyntax> iterators;
  Expr* space = nullptr; // a condition
  std::vector<EquationSyntax> equations;
  Location location;
};

struct SyntaxTree {
  NameSyntax name; // of the program; empty: the file's
  std::vector<ParameterSyntax> parameters;
  std::vector<Expr*> assumptions; // conditions on parameters
  std::vector<DeclarationSyntax> declarations;
  std::vector<LoopSyntax> loops;

  Expr* make() { return &expressions_.emplace_back(); }

private:
  std::deque<Expr> expressions_;
};

/// The tree as text, for --emit=ast and tests: one item a line, expressions with all parentheses.
std::string printTree(const SyntaxTree& tree);
/// An expression of it.
std::string printExpression(const Expr& expression);

} // namespace strata::pla
