// Formulas for exact solvers: clauses over truth values, bounded integers in order encoding, differences between them.
// Questions are limited by conflicts and never by time, so that answers are the same on every computer. Used by one
// thread.
//
// Source: the solver is CaDiCaL (Biere et al. 2020); order encoding is that of Tamura et al. 2009.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace CaDiCaL {
class Solver;
}

namespace strata::array {

/// A truth value or, negative, its opposite; never 0.
using Literal = int;

/// An integer of first to last, inclusive. Its literals belong to the formula that made it.
struct BoundedInteger {
  int64_t first = 0, last = 0;
  std::vector<Literal> above; // "it is at least first + 1 + position"
};

class Formula {
public:
  enum class Answer : uint8_t { Satisfiable, Unsatisfiable, Unknown };

  Formula();
  ~Formula();
  Formula(const Formula&) = delete;
  Formula& operator=(const Formula&) = delete;

  Literal variable();
  /// Is always true.
  Literal yes() const { return 1; }
  /// At least one of the literals.
  void add(std::initializer_list<Literal> clause) { add(std::span(clause.begin(), clause.size())); }
  void add(std::span<const Literal> clause);
  void atMostOne(std::span<const Literal> literals);
  void exactlyOne(std::span<const Literal> literals);
  /// At most `limit` of the literals.
  void atMost(std::span<const Literal> literals, size_t limit);

  /// REQUIRES: first <= last.
  BoundedInteger integer(int64_t first, int64_t last);
  /// value >= bound.
  Literal atLeast(const BoundedInteger& value, int64_t bound) const;
  /// If all conditions hold: to >= from + cycles.
  void difference(const BoundedInteger& from, const BoundedInteger& to, int64_t cycles,
                  std::span<const Literal> conditions = {});

  /// How many clauses were added: what memory grows with.
  size_t clauses() const { return clauses_; }

  /// Whether all clauses and the assumptions can hold; Unknown after that many conflicts, or fewer in a formula of more
  /// than 5,000 clauses.
  Answer solve(int64_t conflicts, std::span<const Literal> assumptions = {});
  /// REQUIRES (both): the last answer was Satisfiable, and nothing was added since.
  bool value(Literal literal) const;
  int64_t value(const BoundedInteger& integer) const;

private:
  std::unique_ptr<CaDiCaL::Solver> solver_;
  int variables_ = 0;
  size_t clauses_ = 0;
};

} // namespace strata::array
