// How pieces of one array lie behind each other where several fall to one instance. The rank of a piece among those of
// its instance is guessed as a formula of its number, from the shape of the instance's own formula, and then proved:
// for few pieces by counting, for many with isl. See pieces.h.
#include "compiler/hbir/layout/pieces.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace strata::hbir {

namespace {

using Kind = IndexExpression::Kind;

constexpr int64_t mostCounted = 1 << 16; // pieces that are counted one by one
constexpr int64_t mostTabulated = 256;   // pieces whose ranks may stand in the formula one by one
constexpr size_t mostCandidates = 4096;

IndexExpression make(Kind kind, IndexExpression left, IndexExpression right) {
  return IndexExpression::make(kind, std::move(left), std::move(right));
}
IndexExpression constant(int64_t value) {
  return IndexExpression::constant(value);
}

/// Divisors in the expression, which are the lengths of runs and periods.
void collectDivisors(const IndexExpression& expression, std::set<int64_t>& divisors) {
  if (expression.operands.empty())
    return;
  const IndexExpression& right = expression.operands[1];
  if ((expression.kind == Kind::Divide || expression.kind == Kind::Modulo) && right.isConstant() && right.value > 1)
    divisors.insert(right.value);
  for (const IndexExpression& operand : expression.operands)
    collectDivisors(operand, divisors);
}

/// A coordinate that may be part of a rank, and how many values it has.
struct Digit {
  IndexExpression value;
  int64_t extent = 1;
};

class Stacker {
public:
  Stacker(const Pieces& pieces, const Polyhedra& polyhedra) : pieces_(pieces), polyhedra_(polyhedra) {
    total_ = *product(pieces.extents);
  }

  Stacking run() {
    Stacking result;
    if (total_ == 0)
      return result;
    count();
    for (const IndexExpression& rank : candidates())
      if (agrees(rank) && (counted() || proved(rank))) {
        result.rank = rank;
        measure(result);
        return result;
      }
    if (total_ <= mostTabulated) {
      result.rank = table();
      measure(result);
      return result;
    }
    result.rank = flatten(variables(pieces_.extents.size()), pieces_.extents);
    result.exact = false;
    result.length = total_ * pieces_.elements;
    return result;
  }

private:
  bool counted() const { return static_cast<int64_t>(ranks_.size()) == total_; }

  std::vector<int64_t> numberOf(int64_t flat) const {
    std::vector<int64_t> number(pieces_.extents.size());
    for (size_t d = number.size(); d-- > 0; flat /= pieces_.extents[d])
      number[d] = flat % pieces_.extents[d];
    return number;
  }

  /// The ranks of the first pieces, of all of them if they are few.
  void count() {
    const int64_t limit = total_ <= mostCounted ? total_ : 4096;
    std::unordered_map<int64_t, int64_t> seen;
    for (int64_t flat = 0; flat < limit; ++flat) {
      const std::optional<int64_t> instance = pieces_.instance.evaluate(numberOf(flat));
      if (!instance)
        return;
      ranks_.push_back(seen[*instance]++);
    }
  }

  std::vector<IndexExpression> candidates() const {
    std::set<int64_t> divisors;
    collectDivisors(pieces_.instance, divisors);
    while (divisors.size() > 4)
      divisors.erase(divisors.begin());
    const std::vector<IndexExpression> numbers = variables(pieces_.extents.size());
    const IndexExpression flat = flatten(numbers, pieces_.extents);
    std::vector<IndexExpression> result{constant(0), flat};
    const auto digits = [&](const IndexExpression& value, int64_t extent) {
      std::vector<Digit> choices{{constant(0), 1}, {value, extent}};
      for (int64_t divisor : divisors) {
        if (divisor >= extent)
          continue;
        choices.push_back({make(Kind::Divide, value, constant(divisor)), (extent - 1) / divisor + 1});
        choices.push_back({make(Kind::Modulo, value, constant(divisor)), divisor});
      }
      return choices;
    };
    for (const Digit& digit : digits(flat, total_))
      result.push_back(digit.value);
    // Every choice of one digit for each coordinate, of the number itself and of the layout's coordinates.
    std::vector<Digit> coordinates;
    if (pieces_.extents.size() > 1)
      for (size_t d = 0; d < numbers.size(); ++d)
        coordinates.push_back({numbers[d], pieces_.extents[d]});
    else
      for (const IndexExpression& coordinate : pieces_.layout)
        if (const std::optional<Interval> range = rangeOf(coordinate, pieces_.extents))
          coordinates.push_back({coordinate, range->most + 1});
    std::vector<Digit> ranks{{constant(0), 1}};
    for (const Digit& coordinate : coordinates) {
      std::vector<Digit> longer;
      for (const Digit& rank : ranks)
        for (const Digit& digit : digits(coordinate.value, coordinate.extent)) {
          const std::optional<int64_t> extent = product({rank.extent, digit.extent});
          if (extent && longer.size() < mostCandidates)
            longer.push_back(
                {make(Kind::Add, make(Kind::Multiply, rank.value, constant(digit.extent)), digit.value), *extent});
        }
      ranks = std::move(longer);
    }
    for (Digit& rank : ranks)
      result.push_back(std::move(rank.value));
    return result;
  }

  bool agrees(const IndexExpression& rank) const {
    for (size_t flat = 0; flat < ranks_.size(); ++flat)
      if (rank.evaluate(numberOf(static_cast<int64_t>(flat))) != ranks_[flat])
        return false;
    return !ranks_.empty() && rangeOf(rank, pieces_.extents).has_value();
  }

  /// A formula is the rank when no two pieces have the same instance and rank, none is negative, and before every piece
  /// of a rank above 0 there is one of the same instance with the rank below.
  bool proved(const IndexExpression& rank) const {
    try {
      const isl::set domain = polyhedra_.box(pieces_.extents);
      const IndexExpression flat = flatten(variables(pieces_.extents.size()), pieces_.extents);
      const std::optional<isl::map> place = polyhedra_.map({pieces_.instance, rank}, domain);
      if (!place || !place->is_injective())
        return false;
      if (rank == constant(0))
        return true;
      const std::optional<isl::map> ranks = polyhedra_.map({rank}, domain);
      const isl::set above = polyhedra_.box(std::vector<Interval>{{1, total_}});
      const isl::set all = polyhedra_.box(std::vector<Interval>{{0, total_}});
      if (!ranks->range().is_subset(all))
        return false;
      const isl::set later = ranks->intersect_range(above).domain();
      const std::optional<isl::map> below =
          polyhedra_.map({pieces_.instance, make(Kind::Subtract, rank, constant(1))}, later);
      if (!below)
        return false;
      const isl::map order = isl::manage(isl_map_lex_gt(isl_set_get_space(domain.get())));
      const isl::map before = below->apply_range(place->reverse()).intersect(order);
      return later.is_subset(before.domain());
    } catch (const std::exception&) { // isl gave up
      return false;
    }
  }

  /// The ranks written out: rank_k * (1 - min(1, (number - k)^2)), summed up.
  IndexExpression table() const {
    const IndexExpression flat = flatten(variables(pieces_.extents.size()), pieces_.extents);
    std::vector<IndexExpression> terms;
    for (size_t k = 0; k < ranks_.size(); ++k) {
      if (ranks_[k] == 0)
        continue;
      const IndexExpression distance = make(Kind::Subtract, flat, constant(static_cast<int64_t>(k)));
      const IndexExpression other = make(Kind::Minimum, constant(1), make(Kind::Multiply, distance, distance));
      terms.push_back(make(Kind::Multiply, constant(ranks_[k]), make(Kind::Subtract, constant(1), other)));
    }
    while (terms.size() > 1) { // in pairs, which keeps the tree flat
      std::vector<IndexExpression> sums;
      for (size_t i = 0; i < terms.size(); i += 2)
        sums.push_back(i + 1 < terms.size() ? make(Kind::Add, terms[i], terms[i + 1]) : terms[i]);
      terms = std::move(sums);
    }
    return terms.empty() ? constant(0) : terms.front();
  }

  /// What the fullest instance takes.
  void measure(Stacking& result) const {
    if (counted())
      return measureByCounting(result);
    const std::optional<Interval> bound = rangeOf(result.rank, pieces_.extents);
    try {
      for (const PieceShape& shape : pieces_.shapes) {
        const isl::set domain = polyhedra_.box(shape.box);
        if (domain.is_empty())
          continue;
        const isl::map ranks = *polyhedra_.map({result.rank}, domain);
        const int64_t most = *Polyhedra::greatest(ranks.range(), 0);
        const int64_t length = most * pieces_.elements + shape.span;
        if (length <= result.length)
          continue;
        result.length = length;
        result.fullest =
            Polyhedra::first(ranks.intersect_range(polyhedra_.box(std::vector<Interval>{{most, most + 1}})).domain());
      }
    } catch (const std::exception&) { // isl gave up: a bound
      result.length = (bound->most + 1) * pieces_.elements;
      result.exact = false;
    }
  }

  void measureByCounting(Stacking& result) const {
    for (int64_t flat = 0; flat < total_; ++flat) {
      const std::vector<int64_t> number = numberOf(flat);
      for (const PieceShape& shape : pieces_.shapes) {
        bool inside = true;
        for (size_t d = 0; d < number.size(); ++d)
          inside = inside && number[d] >= shape.box[d].least && number[d] < shape.box[d].most;
        const int64_t length = ranks_[static_cast<size_t>(flat)] * pieces_.elements + shape.span;
        if (inside && length > result.length) {
          result.length = length;
          result.fullest = number;
        }
      }
    }
  }

  const Pieces& pieces_;
  const Polyhedra& polyhedra_;
  int64_t total_ = 0;
  std::vector<int64_t> ranks_; // of the first pieces
};

} // namespace

Stacking stack(const Pieces& pieces, const Polyhedra& polyhedra) {
  return Stacker(pieces, polyhedra).run();
}

} // namespace strata::hbir
