// Exact colouring of circular arcs: cliques from below, first fit from above, satisfiability between. See registers.h.
#include "compiler/target/array/registers.h"

#include "compiler/target/array/clique.h"
#include "compiler/target/array/satisfiability.h"

#include <algorithm>
#include <numeric>

namespace strata::array {

namespace {

class Colouring {
public:
  explicit Colouring(const RegisterProblem& problem)
      : problem_(problem), count_(problem.values.size()), meets_(count_, std::vector<bool>(count_, false)) {
    for (uint32_t a = 0; a < count_; ++a)
      for (uint32_t b = 0; b < count_; ++b)
        meets_[a][b] = a != b && (isAlive(a, start(b)) || isAlive(b, start(a)));
    for (const auto& [a, b] : problem.compatible)
      meets_[a][b] = meets_[b][a] = false;
    clique_ = heavyClique(meets_, std::vector<int64_t>(count_, 1));
    firstFit();
  }

  std::optional<RegisterAllocation> run(uint32_t& needed) {
    auto lower = static_cast<uint32_t>(clique_.size());
    bool isProved = true;
    for (uint32_t registers = lower; registers < best_.used; ++registers) {
      const Formula::Answer answer = colour(registers);
      if (answer == Formula::Answer::Satisfiable)
        break;
      isProved &= answer == Formula::Answer::Unsatisfiable;
      if (isProved)
        lower = registers + 1;
    }
    needed = lower;
    best_.lowerBound = lower;
    if (best_.used > problem_.registers)
      return std::nullopt;
    return best_;
  }

private:
  int64_t start(uint32_t value) const {
    const int64_t first = problem_.values[value].first % problem_.interval;
    return first < 0 ? first + problem_.interval : first;
  }
  bool isAlive(uint32_t value, int64_t cycle) const {
    const int64_t since = cycle - start(value);
    return (since < 0 ? since + problem_.interval : since) < problem_.values[value].cycles;
  }

  /// Values in the order in which they begin, each in the first register that is free.
  void firstFit() {
    std::vector<uint32_t> order(count_);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](uint32_t value) { return std::pair(start(value), value); });
    std::vector<bool> isDone(count_, false);
    best_.registers.assign(count_, 0);
    for (const uint32_t value : order) {
      std::vector<bool> isTaken(count_, false);
      for (uint32_t other = 0; other < count_; ++other)
        if (isDone[other] && meets_[value][other])
          isTaken[best_.registers[other]] = true;
      const auto free = std::ranges::find(isTaken, false) - isTaken.begin();
      best_.registers[value] = static_cast<uint32_t>(free);
      best_.used = std::max(best_.used, best_.registers[value] + 1);
      isDone[value] = true;
    }
  }

  Formula::Answer colour(uint32_t registers) {
    constexpr int64_t conflicts = 200'000;
    constexpr size_t mostClauses = 4'000'000;
    Formula formula;
    std::vector<std::vector<Literal>> in(count_);
    for (std::vector<Literal>& list : in) {
      for (uint32_t i = 0; i < registers; ++i)
        list.push_back(formula.variable());
      formula.add(list);
    }
    // Registers are alike: the members of the clique have one each.
    for (uint32_t i = 0; i < clique_.size(); ++i)
      formula.add({in[clique_[i]][i]});
    for (uint32_t a = 0; a < count_; ++a)
      for (uint32_t b = a + 1; b < count_ && formula.clauses() < mostClauses; ++b)
        for (uint32_t i = 0; i < registers && meets_[a][b]; ++i)
          formula.add({-in[a][i], -in[b][i]});
    if (formula.clauses() >= mostClauses)
      return Formula::Answer::Unknown;
    const Formula::Answer answer = formula.solve(conflicts);
    if (answer != Formula::Answer::Satisfiable)
      return answer;
    std::vector<uint32_t> number(registers, registers); // in the order in which values come
    best_.used = 0;
    for (uint32_t value = 0; value < count_; ++value) {
      const auto found = std::ranges::find_if(in[value], [&](Literal literal) { return formula.value(literal); });
      uint32_t& one = number[static_cast<size_t>(found - in[value].begin())];
      if (one == registers)
        one = best_.used++;
      best_.registers[value] = one;
    }
    return answer;
  }

  const RegisterProblem& problem_;
  const size_t count_;
  std::vector<std::vector<bool>> meets_; // cannot share a register
  std::vector<uint32_t> clique_;
  RegisterAllocation best_;
};

} // namespace

std::optional<RegisterAllocation> solve(const RegisterProblem& problem, uint32_t& needed) {
  needed = 0;
  if (!problem.check().empty())
    return std::nullopt;
  return Colouring(problem).run(needed);
}

} // namespace strata::array
