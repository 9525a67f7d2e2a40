// Proofs by refutation: the facts that share symbols with the goal, directly or through others, together with the
// goal's negation, are given to the exact simplex of MLIR's Presburger library; no rational solution means that the
// goal holds. Facts that hold with some values of what nothing else mentions are left out. Facts are divided by the
// common divisor of their coefficients first, constants rounded down, which is what integers add to it here. Where
// alternatives matter, each combination of them has to be refuted. Values that satisfy all of it are tried before: most
// goals that do not follow are false at a corner of the symbols' bounds, which takes no simplex to see.
#include "compiler/transform/linear_facts.h"

#include "mlir/Analysis/Presburger/Simplex.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using llvm::DynamicAPInt;

namespace strata::transform {
namespace {

constexpr size_t maximumTerms = 32;

constexpr int64_t smallest = std::numeric_limits<int64_t>::min(), largest = std::numeric_limits<int64_t>::max();

/// One refutation: a simplex over the symbols that matter.
class Refutation {
public:
  explicit Refutation(llvm::ArrayRef<Symbol> symbols) : simplex_(symbols.size()) {
    for (auto [column, symbol] : llvm::enumerate(symbols))
      columns_[symbol] = column;
  }

  void add(const Linear& nonNegative) {
    llvm::SmallVector<DynamicAPInt, 16> row(columns_.size() + 1);
    for (auto [symbol, coefficient] : nonNegative.terms()) {
      auto column = columns_.find(symbol);
      if (column == columns_.end())
        return;
      row[column->second] = DynamicAPInt(coefficient);
    }
    row.back() = DynamicAPInt(nonNegative.constant());
    simplex_.addInequality(row);
  }

  /// Whether every choice among the alternatives from `next` on is refuted.
  bool succeeds(llvm::ArrayRef<const Alternatives*> next) {
    if (simplex_.isEmpty())
      return true;
    if (next.empty())
      return false;
    for (const Conjunction& alternative : *next.front()) {
      unsigned snapshot = simplex_.getSnapshot();
      for (const Linear& fact : alternative)
        add(fact);
      bool refuted = succeeds(next.drop_front());
      simplex_.rollback(snapshot);
      if (!refuted)
        return false;
    }
    return true;
  }

private:
  mlir::presburger::Simplex simplex_;
  llvm::DenseMap<Symbol, unsigned> columns_;
};

/// Values of symbols at which a goal is false, though facts hold: the goal does not follow from them.
class Counterexample {
public:
  using Bounds = llvm::DenseMap<Symbol, Interval>;
  /// Starts where the goal is smallest.
  Counterexample(const Linear& goal, const Bounds& bounds) : bounds_(bounds) {
    for (auto [symbol, coefficient] : goal.terms()) {
      const Interval known = bounds_.lookup(symbol);
      if (const std::optional<WideInteger>& extreme = coefficient > 0 ? known.lower : known.upper)
        values_[symbol] = *extreme;
    }
    holds_ = values_.size() == goal.terms().size() && isFalse(goal);
  }

  /// Chooses values by which one of the alternatives holds.
  void satisfy(const Alternatives& alternatives) {
    auto isSatisfied = [&](const Conjunction& facts) { return satisfies(facts); };
    holds_ = holds_ && llvm::any_of(alternatives, isSatisfied);
  }

  /// Whether it is one, where the facts hold.
  bool holds(llvm::ArrayRef<const Linear*> facts) {
    return holds_ && llvm::all_of(facts, [&](const Linear* fact) {
             for (auto [symbol, coefficient] : fact->terms())
               if (!values_.contains(symbol))
                 values_[symbol] = within(0, bounds_.lookup(symbol));
             return isTrue(*fact);
           });
  }

private:
  static WideInteger within(WideInteger value, const Interval& bounds) {
    value = bounds.lower ? std::max(value, *bounds.lower) : value;
    return bounds.upper ? std::min(value, *bounds.upper) : value;
  }

  /// The sum of an expression's terms but one, with its constant; nothing when a value is missing or does not fit.
  std::optional<WideInteger> sum(const Linear& expression, std::optional<Symbol> without = std::nullopt) const {
    WideInteger result = expression.constant();
    for (auto [symbol, coefficient] : expression.terms()) {
      if (symbol == without)
        continue;
      auto value = values_.find(symbol);
      WideInteger product;
      if (value == values_.end() || __builtin_mul_overflow(value->second, WideInteger(coefficient), &product) ||
          __builtin_add_overflow(result, product, &result))
        return std::nullopt;
    }
    return result;
  }
  bool isTrue(const Linear& nonNegative) const {
    const std::optional<WideInteger> value = sum(nonNegative);
    return value && *value >= 0;
  }
  bool isFalse(const Linear& nonNegative) const {
    const std::optional<WideInteger> value = sum(nonNegative);
    return value && *value < 0;
  }

  /// Whether facts hold, after one symbol without a value got one.
  bool satisfies(const Conjunction& facts) {
    std::optional<Symbol> open;
    for (const Linear& fact : facts)
      for (auto [symbol, coefficient] : fact.terms())
        if (!values_.contains(symbol) && symbol != open) {
          if (open)
            return false;
          open = symbol;
        }
    if (open) {
      Interval fitting = bounds_.lookup(*open);
      for (const Linear& fact : facts)
        for (auto [symbol, coefficient] : fact.terms())
          if (const std::optional<WideInteger> rest = symbol == open ? sum(fact, open) : std::nullopt) {
            if (coefficient == 1)
              fitting.lower = fitting.lower ? std::max(*fitting.lower, -*rest) : -*rest;
            else if (coefficient == -1)
              fitting.upper = fitting.upper ? std::min(*fitting.upper, *rest) : *rest;
          }
      if (fitting.lower && fitting.upper && *fitting.lower > *fitting.upper)
        return false;
      values_[*open] = within(0, fitting);
    }
    const bool result = llvm::all_of(facts, [&](const Linear& fact) { return isTrue(fact); });
    if (!result && open)
      values_.erase(*open);
    return result;
  }

  const Bounds& bounds_;
  llvm::DenseMap<Symbol, WideInteger> values_;
  bool holds_ = false;
};

} // namespace

// ---- expressions ----

Linear Linear::of(Symbol symbol) {
  Linear result;
  result.terms_.push_back({symbol, 1});
  return result;
}

std::optional<Linear> Linear::combine(int64_t factor, const Linear& other, int64_t otherFactor) const {
  Linear result;
  auto sum = [&](int64_t a, int64_t b) -> std::optional<int64_t> {
    WideInteger value = WideInteger(a) * factor;
    WideInteger otherValue = WideInteger(b) * otherFactor;
    if (value < smallest || value > largest || otherValue < smallest || otherValue > largest)
      return std::nullopt;
    value += otherValue;
    if (value < smallest || value > largest)
      return std::nullopt;
    return static_cast<int64_t>(value);
  };
  std::optional<int64_t> constant = sum(constant_, other.constant_);
  if (!constant)
    return std::nullopt;
  result.constant_ = *constant;
  size_t i = 0, j = 0;
  while (i < terms_.size() || j < other.terms_.size()) {
    bool here = i < terms_.size() && (j == other.terms_.size() || terms_[i].first <= other.terms_[j].first);
    Symbol symbol = here ? terms_[i].first : other.terms_[j].first;
    bool there = j < other.terms_.size() && other.terms_[j].first == symbol;
    std::optional<int64_t> coefficient = sum(here ? terms_[i].second : 0, there ? other.terms_[j].second : 0);
    if (!coefficient)
      return std::nullopt;
    if (*coefficient)
      result.terms_.push_back({symbol, *coefficient});
    i += here;
    j += there;
  }
  if (result.terms_.size() > maximumTerms)
    return std::nullopt;
  return result;
}

std::strong_ordering Linear::operator<=>(const Linear& other) const {
  if (auto order = constant_ <=> other.constant_; order != 0)
    return order;
  return std::lexicographical_compare_three_way(terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end());
}

// ---- facts ----

void LinearFacts::clear() {
  facts_.clear();
  alternatives_.clear();
  readings_.clear();
  bounds_.clear();
  occurrences_.clear();
  constants_.clear();
}

static Linear tightened(const Linear& fact) {
  uint64_t divisor = 0;
  for (auto [symbol, coefficient] : fact.terms())
    divisor =
        std::gcd(divisor, coefficient < 0 ? -static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient));
  if (divisor <= 1 || divisor > static_cast<uint64_t>(largest))
    return fact;
  auto by = static_cast<int64_t>(divisor);
  int64_t constant = fact.constant() / by - (fact.constant() % by < 0);
  Linear result(constant);
  for (auto [symbol, coefficient] : fact.terms())
    result = *result.combine(1, Linear::of(symbol), coefficient / by);
  return result;
}

void LinearFacts::assume(const Linear& nonNegative) {
  const auto position = static_cast<unsigned>(facts_.size());
  facts_.push_back(tightened(nonNegative));
  for (auto [symbol, coefficient] : facts_.back().terms())
    occurrences_[symbol].facts.push_back(position);
  if (facts_.back().isConstant())
    constants_.push_back(position);
}

void LinearFacts::assumeOneOf(Alternatives alternatives) {
  for (Conjunction& alternative : alternatives)
    for (Linear& fact : alternative)
      fact = tightened(fact);
  const auto position = static_cast<unsigned>(alternatives_.size());
  alternatives_.push_back(std::move(alternatives));
  for (const Conjunction& alternative : alternatives_.back())
    for (const Linear& fact : alternative)
      for (auto [symbol, coefficient] : fact.terms())
        if (auto& known = occurrences_[symbol].alternatives; known.empty() || known.back() != position)
          known.push_back(position);
}

void LinearFacts::assumeReadings(Symbol a, Symbol b, Alternatives readings) {
  readings_[static_cast<unsigned>(alternatives_.size())] = {a, b};
  assumeOneOf(std::move(readings));
}

bool LinearFacts::isBounded(const Linear& fact) const {
  const Interval values = intervalOf(fact);
  return values.lower && *values.lower >= 0;
}

bool LinearFacts::isIdleFact(unsigned position, Symbol from, const llvm::DenseSet<Symbol>& matter) const {
  Linear others = facts_[position];
  WideInteger best = 0;
  for (auto [symbol, coefficient] : facts_[position].terms()) {
    auto known = occurrences_.find(symbol);
    const Symbol own = symbol;
    if (symbol == from || matter.contains(symbol) || known->second.facts.size() != 1 ||
        !llvm::all_of(known->second.alternatives, [&](unsigned each) { return isIdle(each, own, matter); }))
      continue;
    const Interval bounds = bounds_.lookup(symbol);
    const std::optional<WideInteger> extreme = coefficient > 0 ? bounds.upper : bounds.lower;
    if (!extreme)
      return true;
    WideInteger product;
    std::optional<Linear> rest = others.combine(1, Linear::of(symbol), -coefficient);
    if (!rest || __builtin_mul_overflow(*extreme, WideInteger(coefficient), &product) ||
        __builtin_add_overflow(best, product, &best))
      return false;
    others = *rest;
  }
  const Interval values = intervalOf(others);
  return values.lower && *values.lower >= -best;
}

bool LinearFacts::isIdle(unsigned position, Symbol from, const llvm::DenseSet<Symbol>& matter) const {
  auto reading = readings_.find(position);
  if (reading == readings_.end())
    return false;
  const auto [a, b] = reading->second;
  auto other = occurrences_.find(from == a ? b : a);
  return !matter.contains(other->first) && other->second.alternatives.size() == 1 &&
         llvm::all_of(other->second.facts, [&](unsigned fact) { return isBounded(facts_[fact]); });
}

Interval LinearFacts::intervalOf(const Linear& expression) const {
  Interval result{expression.constant(), expression.constant()};
  for (auto [symbol, coefficient] : expression.terms()) {
    auto found = bounds_.find(symbol);
    Interval bounds = found == bounds_.end() ? Interval() : found->second;
    if (coefficient < 0)
      std::swap(bounds.lower, bounds.upper);
    auto add = [&](std::optional<WideInteger>& sum, std::optional<WideInteger> bound) {
      // Bounds are below 2^65 and coefficients below 2^64: the product can leave 128 bits, and then counts as no bound.
      WideInteger product;
      if (!sum || !bound || __builtin_mul_overflow(*bound, WideInteger(coefficient), &product) ||
          __builtin_add_overflow(*sum, product, &product))
        sum = std::nullopt;
      else
        sum = product;
    };
    add(result.lower, bounds.lower);
    add(result.upper, bounds.upper);
  }
  return result;
}

/// Limits that keep one proof cheap. Leaving out a fact is sound: less is proved.
struct LinearFacts::Limits {
  size_t facts, symbols, splits;
};

bool LinearFacts::isWithin(const Linear& expression, WideInteger lower, WideInteger upper) const {
  Interval interval = intervalOf(expression);
  auto holds = [&](bool known, WideInteger bound, int64_t sign) {
    if (known || bound < smallest || bound > largest)
      return known;
    const std::optional<Linear> goal = expression.combine(sign, Linear(static_cast<int64_t>(bound)), -sign);
    return goal && isProved(*goal, Reach::Near);
  };
  return holds(interval.lower && *interval.lower >= lower, lower, 1) &&
         holds(interval.upper && *interval.upper <= upper, upper, -1);
}

bool LinearFacts::isNonNegative(const Linear& expression, Reach reach) const {
  const Interval interval = intervalOf(expression);
  return (interval.lower && *interval.lower >= 0) || isProved(expression, reach);
}

bool LinearFacts::isProved(const Linear& expression, Reach reach) const {
  constexpr Limits near{24, 16, 2}, far{160, 64, 6};
  const Limits& limits = reach == Reach::Near ? near : far;
  if (expression.isConstant() || expression.terms().size() > limits.symbols)
    return false;
  std::optional<Linear> negation = Linear(-1).minus(expression);
  if (!negation)
    return false;

  // What is connected with the goal, nearest first.
  llvm::SmallVector<Symbol> symbols;
  llvm::DenseSet<Symbol> seen;
  auto take = [&](const Linear& fact) {
    for (auto [symbol, coefficient] : fact.terms())
      if (symbols.size() < limits.symbols && seen.insert(symbol).second)
        symbols.push_back(symbol);
  };
  take(expression);
  llvm::SmallVector<const Linear*> facts;
  llvm::SmallVector<const Alternatives*> splits;
  llvm::DenseSet<unsigned> factsTaken, splitsTaken;
  for (unsigned position : constants_)
    if (facts.size() < limits.facts)
      facts.push_back(&facts_[position]);
  for (size_t next = 0; next < symbols.size() && (facts.size() < limits.facts || splits.size() < limits.splits);
       ++next) {
    auto found = occurrences_.find(symbols[next]);
    if (found == occurrences_.end())
      continue;
    // What was learnt last is nearest to the point.
    for (unsigned position : llvm::reverse(found->second.facts))
      if (facts.size() == limits.facts)
        break;
      else if (!isIdleFact(position, symbols[next], seen) && factsTaken.insert(position).second) {
        facts.push_back(&facts_[position]);
        take(facts_[position]);
      }
    for (unsigned position : llvm::reverse(found->second.alternatives))
      if (splits.size() == limits.splits)
        break;
      else if (!isIdle(position, symbols[next], seen) && splitsTaken.insert(position).second) {
        splits.push_back(&alternatives_[position]);
        for (const Conjunction& part : alternatives_[position])
          llvm::for_each(part, take);
      }
  }

  if (facts.empty() && splits.empty())
    return false; // bounds alone do not tell
  Counterexample counterexample(expression, bounds_);
  for (const Alternatives* alternatives : splits)
    counterexample.satisfy(*alternatives);
  if (counterexample.holds(facts))
    return false;

  Refutation refutation(symbols);
  refutation.add(*negation);
  for (Symbol symbol : symbols) {
    auto found = bounds_.find(symbol);
    if (found == bounds_.end())
      continue;
    auto [lower, upper] = found->second;
    if (lower && *lower >= -largest && *lower <= largest)
      refutation.add(*Linear::of(symbol).combine(1, Linear(static_cast<int64_t>(*lower)), -1));
    if (upper && *upper >= -largest && *upper <= largest)
      refutation.add(*Linear::of(symbol).combine(-1, Linear(static_cast<int64_t>(*upper)), 1));
  }
  for (const Linear* fact : facts)
    refutation.add(*fact);
  return refutation.succeeds(splits);
}

} // namespace strata::transform
