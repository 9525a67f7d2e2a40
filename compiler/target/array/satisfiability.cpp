// Order encoding and at-most-one constraints as clauses for CaDiCaL. See satisfiability.h.
#include "compiler/target/array/satisfiability.h"

#include <algorithm>
#include <cadical.hpp>
#include <climits>

namespace strata::array {

Formula::Formula() : solver_(std::make_unique<CaDiCaL::Solver>()) {
  solver_->set("quiet", 1);
  add({variable()}); // yes()
}

Formula::~Formula() = default;

Literal Formula::variable() {
  return ++variables_;
}

void Formula::add(std::span<const Literal> clause) {
  if (std::ranges::find(clause, yes()) != clause.end() && variables_ > 1)
    return;
  for (const Literal literal : clause)
    if (literal != -yes())
      solver_->add(literal);
  solver_->add(0);
  ++clauses_;
}

void Formula::atMostOne(std::span<const Literal> literals) {
  constexpr size_t few = 5;
  if (literals.size() <= few) {
    for (size_t i = 0; i < literals.size(); ++i)
      for (size_t j = i + 1; j < literals.size(); ++j)
        add({-literals[i], -literals[j]});
    return;
  }
  // Part by part; a new variable says that one of the parts so far has it.
  std::vector<Literal> part;
  for (const Literal literal : literals) {
    part.push_back(literal);
    if (part.size() < few)
      continue;
    atMostOne(part);
    const Literal before = variable();
    for (const Literal each : part)
      add({-each, before});
    part = {before};
  }
  atMostOne(part);
}

void Formula::exactlyOne(std::span<const Literal> literals) {
  add(literals);
  atMostOne(literals);
}

void Formula::atMost(std::span<const Literal> literals, size_t limit) {
  if (limit >= literals.size())
    return;
  // counted[n]: more than n of the literals so far are true.
  std::vector<Literal> counted;
  for (const Literal literal : literals) {
    std::vector<Literal> next;
    for (size_t n = 0; n < std::min(counted.size() + 1, limit); ++n)
      next.push_back(variable());
    for (size_t n = 0; n < counted.size(); ++n) {
      add({-counted[n], next[n]});
      if (n + 1 < next.size())
        add({-counted[n], -literal, next[n + 1]});
      else
        add({-counted[n], -literal});
    }
    if (limit == 0)
      add({-literal});
    else
      add({-literal, next[0]});
    counted = std::move(next);
  }
}

BoundedInteger Formula::integer(int64_t first, int64_t last) {
  BoundedInteger result{first, last, {}};
  for (int64_t value = first; value < last; ++value) {
    result.above.push_back(variable());
    if (value > first)
      add({-result.above[result.above.size() - 1], result.above[result.above.size() - 2]});
  }
  return result;
}

Literal Formula::atLeast(const BoundedInteger& value, int64_t bound) const {
  if (bound <= value.first)
    return yes();
  return bound > value.last ? -yes() : value.above[static_cast<size_t>(bound - value.first - 1)];
}

void Formula::difference(const BoundedInteger& from, const BoundedInteger& to, int64_t cycles,
                         std::span<const Literal> conditions) {
  std::vector<Literal> clause;
  for (int64_t at = std::max(from.first, to.first - cycles + 1); at <= from.last; ++at)
    if (at == from.first || at + cycles <= to.last + 1) {
      clause = {-atLeast(from, at), atLeast(to, at + cycles)};
      for (const Literal condition : conditions)
        clause.push_back(-condition);
      add(clause);
    } else {
      break;
    }
}

Formula::Answer Formula::solve(int64_t conflicts, std::span<const Literal> assumptions) {
  solver_->reserve(variables_);
  for (const Literal literal : assumptions)
    solver_->assume(literal);
  // A conflict takes longer the more clauses there are.
  constexpr int64_t mostWork = 1'000'000'000; // conflicts times clauses: seconds
  conflicts = std::min(conflicts, mostWork / static_cast<int64_t>(std::max<size_t>(clauses_, 1)));
  solver_->limit("conflicts", static_cast<int>(std::clamp<int64_t>(conflicts, 0, INT_MAX)));
  switch (solver_->solve()) {
  case 10:
    return Answer::Satisfiable;
  case 20:
    return Answer::Unsatisfiable;
  default:
    return Answer::Unknown;
  }
}

bool Formula::value(Literal literal) const {
  return solver_->val(literal) > 0;
}

int64_t Formula::value(const BoundedInteger& integer) const {
  int64_t result = integer.first;
  while (result < integer.last && value(atLeast(integer, result + 1)))
    ++result;
  return result;
}

} // namespace strata::array
