// Linear arithmetic over symbols: expressions, facts of the form "expression >= 0", and proofs from them. A collection
// of facts belongs to one thread. Nothing is ever proved that does not follow; what follows may go unproved.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace strata::transform {

using Symbol = unsigned;
using WideInteger = __int128;

/// constant + sum of coefficient * symbol, symbols ascending, no coefficient 0.
class Linear {
public:
  Linear(int64_t constant = 0) : constant_(constant) {}
  static Linear of(Symbol symbol);

  int64_t constant() const { return constant_; }
  llvm::ArrayRef<std::pair<Symbol, int64_t>> terms() const { return terms_; }
  bool isConstant() const { return terms_.empty(); }

  /// this * factor + other * otherFactor; nothing when a number does not fit 64 bits or there are too many terms.
  std::optional<Linear> combine(int64_t factor, const Linear& other, int64_t otherFactor) const;
  std::optional<Linear> plus(const Linear& other) const { return combine(1, other, 1); }
  std::optional<Linear> minus(const Linear& other) const { return combine(1, other, -1); }
  std::optional<Linear> times(int64_t factor) const { return combine(factor, Linear(), 0); }

  std::strong_ordering operator<=>(const Linear& other) const;
  bool operator==(const Linear& other) const { return (*this <=> other) == 0; }

private:
  llvm::SmallVector<std::pair<Symbol, int64_t>, 4> terms_;
  int64_t constant_;
};

/// The values that something may have: lower <= x <= upper, each bound may be absent.
struct Interval {
  std::optional<WideInteger> lower, upper;
};

/// Facts that hold together: expressions that are >= 0.
using Conjunction = std::vector<Linear>;
/// At least one of the conjunctions holds.
using Alternatives = std::vector<Conjunction>;

class LinearFacts {
public:
  void clear();
  /// States the range of one symbol, in place of what was stated before.
  void setBounds(Symbol symbol, Interval bounds) { bounds_[symbol] = bounds; }
  void assume(const Linear& nonNegative);
  /// States nothing where the expression did not fit.
  void assume(const std::optional<Linear>& nonNegative) {
    if (nonNegative)
      assume(*nonNegative);
  }
  void assumeEqual(const Linear& a, const Linear& b) {
    assume(a.minus(b));
    assume(b.minus(a));
  }
  void assumeOneOf(Alternatives alternatives);
  /// States how two symbols go together, of which either may have any value in its bounds: the other has one to it.
  void assumeReadings(Symbol a, Symbol b, Alternatives readings);

  /// How much of what is known a proof looks at, nearest first. Either is a fixed number of facts, so that a proof
  /// takes the same time in a long program as in a short one.
  enum class Reach { Near, Far };

  /// The range that follows from the symbols' bounds alone.
  Interval intervalOf(const Linear& expression) const;
  bool isNonNegative(const Linear& expression, Reach reach = Reach::Near) const;
  bool isNonNegative(const std::optional<Linear>& expression, Reach reach = Reach::Near) const {
    return expression && isNonNegative(*expression, reach);
  }
  /// Whether lower <= expression <= upper.
  bool isWithin(const Linear& expression, WideInteger lower, WideInteger upper) const;

private:
  struct Limits;
  /// Whether it follows from the facts in reach; bounds alone are asked for before.
  bool isProved(const Linear& expression, Reach reach) const;
  /// Whether a fact follows from the symbols' bounds.
  bool isBounded(const Linear& fact) const;
  /// Whether a fact that is met from a symbol says nothing, since it holds with some values of those that nothing else
  /// is known of, whatever the others are.
  bool isIdleFact(unsigned position, Symbol from, const llvm::DenseSet<Symbol>& matter) const;
  /// Whether alternatives that are met from a symbol say nothing, since nothing else is known of the other one, nor is
  /// it among those that matter.
  bool isIdle(unsigned position, Symbol from, const llvm::DenseSet<Symbol>& matter) const;

  std::vector<Linear> facts_;
  std::vector<Alternatives> alternatives_;
  /// The two symbols of the alternatives that only state how they go together, by position.
  llvm::DenseMap<unsigned, std::pair<Symbol, Symbol>> readings_;
  llvm::DenseMap<Symbol, Interval> bounds_;
  /// Where a symbol occurs: positions in the two lists, ascending. Facts without symbols are kept apart.
  struct Occurrences {
    llvm::SmallVector<unsigned, 4> facts, alternatives;
  };
  llvm::DenseMap<Symbol, Occurrences> occurrences_;
  llvm::SmallVector<unsigned> constants_;
};

} // namespace strata::transform
