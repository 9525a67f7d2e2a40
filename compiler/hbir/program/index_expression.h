// Integer expressions of index variables, by which groups say where their tiles are and layouts say where elements are.
// Trees of values, owned by whoever holds the root; evaluated exactly, with overflow reported and never wrapped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::hbir {

struct IndexExpression {
  enum class Kind : uint8_t {
    Constant, // `value`
    Variable, // number `value` of the variables in scope, which the holder lists
    Add,
    Subtract,
    Multiply,
    Divide, // rounds down
    Modulo, // never negative for a positive divisor
    Minimum
  };
  Kind kind = Kind::Constant;
  int64_t value = 0;
  std::vector<IndexExpression> operands; // two, for everything but constants and variables

  static IndexExpression constant(int64_t value) { return {Kind::Constant, value, {}}; }
  static IndexExpression variable(unsigned number) { return {Kind::Variable, number, {}}; }
  /// Folds constants, the neutral elements of the operation, and quotients with their remainders; leaves alone what
  /// would overflow or divide by zero.
  static IndexExpression make(Kind kind, IndexExpression left, IndexExpression right);

  bool isConstant() const { return kind == Kind::Constant; }
  /// Nothing when a result does not fit 64 bits or a divisor is zero.
  std::optional<int64_t> evaluate(const std::vector<int64_t>& variables) const;
  /// The expression with every variable replaced.
  IndexExpression substitute(const std::vector<IndexExpression>& replacements) const;
  /// As in C, with the names given for the variables.
  std::string text(const std::vector<std::string>& names) const;

  friend bool operator==(const IndexExpression&, const IndexExpression&) = default;
};

} // namespace strata::hbir
