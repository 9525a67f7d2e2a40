// Longest ways through the constraints with the least latencies, and cliques of operations that need units of their
// own. See schedule_bounds.h.
#include "compiler/target/array/schedule_bounds.h"

#include "compiler/target/array/clique.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace strata::array {

int64_t offsetCycles(const ScheduleProblem::Constraint& constraint, int64_t interval, int64_t fromLatency,
                     int64_t toLatency) {
  return constraint.cycles - interval * constraint.iterations + (constraint.fromArrival ? fromLatency : 0) -
         (constraint.toArrival ? toLatency : 0);
}

std::vector<std::vector<bool>> exclusivePairs(const ScheduleProblem& problem) {
  const size_t count = problem.operations.size();
  std::vector<std::vector<bool>> pairs(count, std::vector<bool>(count, false));
  for (const auto& [a, b] : problem.exclusive)
    pairs[a][b] = pairs[b][a] = true;
  return pairs;
}

namespace {

class BoundsFinder {
public:
  BoundsFinder(const ScheduleProblem& problem, const std::vector<std::vector<bool>>& exclusive, int64_t interval)
      : problem_(problem), exclusive_(exclusive), interval_(interval), count_(problem.operations.size()) {}

  IntervalBounds run() {
    if (!fillChoices() || !hasUnits() || !fillEarliest())
      return bounds_;
    fillTail();
    fillLatest();
    fillLength();
    return bounds_;
  }

private:
  static constexpr int64_t none = std::numeric_limits<int64_t>::min();

  struct Latencies {
    int64_t least = 0, most = 0;
  };
  /// Operations that need so many instances one after the other.
  struct Crowd {
    int64_t instances = 0, cycles = 0;
    std::vector<std::pair<uint32_t, int64_t>> operations; // and how long each is busy at least
  };

  const std::string& name(size_t operation) const { return problem_.operations[operation].name; }

  bool fillChoices() {
    for (size_t i = 0; i < count_; ++i) {
      const std::vector<ScheduleProblem::Choice>& all = problem_.operations[i].choices;
      std::vector<uint32_t> fitting;
      std::string missing;
      int64_t shortest = std::numeric_limits<int64_t>::max();
      Latencies latencies{std::numeric_limits<int64_t>::max(), 0};
      for (uint32_t choice = 0; choice < all.size(); ++choice) {
        if (problem_.units[all[choice].unit].count == 0) {
          missing += (missing.empty() ? "" : " or ") + problem_.units[all[choice].unit].name;
          continue;
        }
        shortest = std::min(shortest, all[choice].busy);
        if (all[choice].busy > interval_)
          continue;
        fitting.push_back(choice);
        latencies.least = std::min(latencies.least, all[choice].latency);
        latencies.most = std::max(latencies.most, all[choice].latency);
      }
      if (fitting.empty()) {
        bounds_.impossible = shortest == std::numeric_limits<int64_t>::max()
                                 ? "'" + name(i) + "' needs a unit " + missing + ", the array has none"
                                 : "'" + name(i) + "' keeps its unit busy for " + std::to_string(shortest) + " cycles";
        return false;
      }
      bounds_.choices.push_back(std::move(fitting));
      latencies_.push_back(latencies);
    }
    return true;
  }

  /// Classes by which operations can be executed, and unions of them: those within which there may be too few units.
  std::set<std::vector<uint32_t>> classSets() const {
    constexpr size_t many = 128;
    std::set<std::vector<uint32_t>> sets;
    for (size_t i = 0; i < count_; ++i)
      sets.insert(classesOf(i));
    std::vector<std::vector<uint32_t>> list(sets.begin(), sets.end());
    const size_t single = list.size();
    for (size_t i = 0; i < list.size(); ++i)
      for (size_t j = 0; j < single && list.size() < many; ++j) {
        std::vector<uint32_t> both;
        std::ranges::set_union(list[i], list[j], std::back_inserter(both));
        if (sets.insert(both).second)
          list.push_back(both);
      }
    return sets;
  }

  std::vector<uint32_t> classesOf(size_t operation) const {
    std::vector<uint32_t> classes;
    for (const uint32_t choice : bounds_.choices[operation])
      classes.push_back(problem_.operations[operation].choices[choice].unit);
    std::ranges::sort(classes);
    return classes;
  }

  bool hasUnits() {
    for (const std::vector<uint32_t>& classes : classSets()) {
      std::vector<uint32_t> members;
      std::vector<int64_t> busy;
      for (uint32_t i = 0; i < count_; ++i) {
        if (!std::ranges::includes(classes, classesOf(i)))
          continue;
        members.push_back(i);
        busy.push_back(std::numeric_limits<int64_t>::max());
        for (const uint32_t choice : bounds_.choices[i])
          busy.back() = std::min(busy.back(), problem_.operations[i].choices[choice].busy);
      }
      std::vector<std::vector<bool>> together(members.size(), std::vector<bool>(members.size(), false));
      for (size_t i = 0; i < members.size(); ++i)
        for (size_t j = 0; j < members.size(); ++j)
          together[i][j] = i != j && !exclusive_[members[i]][members[j]];
      int64_t instances = 0;
      for (const uint32_t unit : classes)
        instances += problem_.units[unit].count;
      const std::vector<uint32_t> clique = heavyClique(together, busy);
      int64_t sum = 0;
      for (const uint32_t one : clique)
        sum += busy[one];
      bool isTooMuch = sum > instances * interval_;
      // Long operations leave gaps: an instance executes only so many of those that take this long or longer.
      for (const uint32_t one : clique) {
        const auto longer = std::ranges::count_if(clique, [&](uint32_t other) { return busy[other] >= busy[one]; });
        isTooMuch |= longer > instances * (interval_ / busy[one]);
      }
      if (!isTooMuch) {
        Crowd crowd{instances, sum, {}};
        for (const uint32_t one : clique)
          crowd.operations.emplace_back(members[one], busy[one]);
        crowds_.push_back(std::move(crowd));
        continue;
      }
      std::string units;
      for (const uint32_t unit : classes)
        units += (units.empty() ? "" : " and ") + problem_.units[unit].name;
      bounds_.impossible = "units " + units + ", of which there are " + std::to_string(instances) + ", have " +
                           std::to_string(clique.size()) + " operations of " + std::to_string(sum) +
                           " cycles to execute in each iteration";
      return false;
    }
    return true;
  }

  /// The least cycles from the constraint's `from` to its `to`.
  int64_t least(const ScheduleProblem::Constraint& each) const {
    if (each.from != each.to)
      return offsetCycles(each, interval_, latencies_[each.from].least, latencies_[each.to].most);
    int64_t result = std::numeric_limits<int64_t>::max();
    for (const uint32_t choice : bounds_.choices[each.from]) {
      const int64_t latency = problem_.operations[each.from].choices[choice].latency;
      result = std::min(result, offsetCycles(each, interval_, latency, latency));
    }
    return result;
  }

  bool fillEarliest() {
    std::vector<int64_t>& earliest = bounds_.earliest;
    earliest.assign(count_, 0);
    std::vector<std::optional<size_t>> by(count_); // the constraint that gave the time
    std::optional<size_t> changed;
    for (size_t round = 0; round <= count_; ++round) {
      changed.reset();
      for (size_t i = 0; i < problem_.constraints.size(); ++i) {
        const ScheduleProblem::Constraint& each = problem_.constraints[i];
        const int64_t time = earliest[each.from] + least(each);
        if (time <= earliest[each.to])
          continue;
        earliest[each.to] = time;
        by[each.to] = i;
        changed = each.to;
      }
      if (!changed)
        return true;
    }
    // After as many rounds as there are operations, the way back leads into a circle.
    size_t at = *changed;
    for (size_t i = 0; i < count_; ++i)
      at = problem_.constraints[*by[at]].from;
    int64_t cycles = 0, iterations = 0;
    std::string way = "'" + name(at) + "'";
    size_t operation = at;
    do {
      const ScheduleProblem::Constraint& each = problem_.constraints[*by[operation]];
      cycles += least(each) + interval_ * each.iterations;
      iterations += each.iterations;
      operation = each.from;
      way = "'" + name(operation) + "', " + way;
    } while (operation != at);
    bounds_.impossible = "each waits for the one before it: " + way + "; that takes " + std::to_string(cycles) +
                         " cycles in " + std::to_string(iterations) + (iterations == 1 ? " iteration" : " iterations");
    return false;
  }

  void fillTail() {
    std::vector<int64_t>& tail = bounds_.tail;
    for (size_t i = 0; i < count_; ++i)
      tail.push_back(latencies_[i].least);
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (const ScheduleProblem::Constraint& each : problem_.constraints) {
        const int64_t time = tail[each.to] + least(each);
        if (time <= tail[each.from])
          continue;
        tail[each.from] = time;
        isChanged = true;
      }
    }
  }

  void fillLength() {
    for (size_t i = 0; i < count_; ++i)
      bounds_.length = std::max(bounds_.length, bounds_.earliest[i] + bounds_.tail[i]);
    // One of a crowd's instances has the average to do or more; after its last operation has begun comes what follows
    // that.
    for (const Crowd& crowd : crowds_) {
      int64_t first = std::numeric_limits<int64_t>::max(), after = first;
      for (const auto& [operation, busy] : crowd.operations) {
        first = std::min(first, bounds_.earliest[operation]);
        after = std::min(after, bounds_.tail[operation] - busy);
      }
      if (!crowd.operations.empty())
        bounds_.length =
            std::max(bounds_.length, first + (crowd.cycles + crowd.instances - 1) / crowd.instances + after);
    }
  }

  /// Longest ways between operations with the least latencies; `none` where there is none.
  std::vector<std::vector<int64_t>> ways() const {
    std::vector<std::vector<int64_t>> way(count_, std::vector<int64_t>(count_, none));
    for (size_t i = 0; i < count_; ++i)
      way[i][i] = 0;
    for (const ScheduleProblem::Constraint& each : problem_.constraints)
      way[each.from][each.to] = std::max(way[each.from][each.to], least(each));
    for (size_t k = 0; k < count_; ++k)
      for (size_t i = 0; i < count_; ++i)
        for (size_t j = 0; j < count_ && way[i][k] != none; ++j)
          if (way[k][j] != none)
            way[i][j] = std::max(way[i][j], way[i][k] + way[k][j]);
    return way;
  }

  /// Of any schedule keep the choices, the instances, the offsets modulo the interval and which offsets are equal. What
  /// is left are whole intervals that operations wait, and in the least solution each operation is at the end of a way
  /// that begins in the first interval. A constraint on it adds its cycles, rounded up to the slot of the next
  /// operation; equal offsets add nothing. Operations that wait for each other (a knot) are no further apart than the
  /// way back allows.
  void fillLatest() {
    const std::vector<std::vector<int64_t>> way = ways();
    const auto isKnot = [&](uint32_t a, uint32_t b) { return way[a][b] != none && way[b][a] != none; };
    // Groups: knots that lead to each other, if operations that exclude each other may have equal offsets.
    std::vector<std::vector<bool>> leads(count_, std::vector<bool>(count_, false));
    for (uint32_t a = 0; a < count_; ++a)
      for (uint32_t b = 0; b < count_; ++b)
        leads[a][b] = way[a][b] != none || (exclusive_[a][b] && canShare(a, b));
    for (size_t k = 0; k < count_; ++k)
      for (size_t i = 0; i < count_; ++i)
        for (size_t j = 0; j < count_ && leads[i][k]; ++j)
          if (leads[k][j])
            leads[i][j] = true;
    // What leads to an operation and not back has fewer that lead to it.
    std::vector<int64_t> before(count_, 0);
    for (size_t at = 0; at < count_; ++at)
      before[at] = std::ranges::count_if(leads, [&](const std::vector<bool>& from) { return from[at]; });
    std::vector<uint32_t> order(count_);
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](uint32_t at) { return std::pair(before[at], at); });
    std::vector<int64_t>& latest = bounds_.latest;
    latest.assign(count_, -1);
    for (const uint32_t start : order) {
      if (latest[start] >= 0)
        continue;
      std::vector<uint32_t> group;
      for (uint32_t i = 0; i < count_; ++i)
        if (leads[start][i] && leads[i][start])
          group.push_back(i);
      // When a way comes into the group, by operation; and what each knot adds to it in the group.
      std::vector<int64_t> entry(count_, interval_ - 1), step(count_, 0), spread(count_, 0); // the latter two by knot
      const auto knotOf = [&](uint32_t at) {
        return *std::ranges::find_if(group, [&](uint32_t other) { return isKnot(at, other); });
      };
      for (const ScheduleProblem::Constraint& each : problem_.constraints) {
        if (!leads[each.to][start] || !leads[start][each.to] || isKnot(each.from, each.to))
          continue;
        const int64_t most =
            offsetCycles(each, interval_, latencies_[each.from].most, latencies_[each.to].least) + interval_ - 1;
        if (leads[start][each.from]) {
          int64_t& longest = step[knotOf(each.from)];
          longest = std::max(longest, most);
        } else {
          entry[each.to] = std::max(entry[each.to], latest[each.from] + most);
        }
      }
      int64_t sum = 0, last = 0;
      for (const uint32_t a : group) {
        for (const uint32_t b : group)
          if (isKnot(a, b))
            spread[knotOf(a)] = std::max(spread[knotOf(a)], -way[b][a]);
        last = std::max(last, entry[a]);
      }
      const bool isOneKnot = std::ranges::all_of(group, [&](uint32_t at) { return isKnot(at, start); });
      for (const uint32_t at : group)
        sum += spread[at] + step[at];
      for (const uint32_t at : group) {
        latest[at] = isOneKnot ? 0 : last + sum;
        for (const uint32_t other : group)
          if (isOneKnot)
            latest[at] = std::max(latest[at], entry[other] - way[at][other]);
      }
    }
  }

  bool canShare(uint32_t a, uint32_t b) const {
    const std::vector<uint32_t> left = classesOf(a), right = classesOf(b);
    return std::ranges::find_first_of(left, right) != left.end();
  }

  const ScheduleProblem& problem_;
  const std::vector<std::vector<bool>>& exclusive_;
  const int64_t interval_;
  const size_t count_;
  std::vector<Latencies> latencies_; // by operation, of the choices that fit
  std::vector<Crowd> crowds_;
  IntervalBounds bounds_;
};

} // namespace

IntervalBounds boundsOf(const ScheduleProblem& problem, const std::vector<std::vector<bool>>& exclusive,
                        int64_t interval) {
  return BoundsFinder(problem, exclusive, interval).run();
}

} // namespace strata::array
