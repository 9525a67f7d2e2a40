// Exact modulo scheduling: one formula for an interval, asked again with a wider horizon, then for shorter schedules.
// Offsets are in order encoding; units are a table of slots modulo the interval. See schedule.h.
#include "compiler/target/array/satisfiability.h"
#include "compiler/target/array/schedule.h"
#include "compiler/target/array/schedule_bounds.h"
#include "compiler/target/array/schedule_compact.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata::array {

namespace {

using Answer = Formula::Answer;

/// The formula of one interval and horizon.
class ScheduleFormula {
public:
  ScheduleFormula(const ScheduleProblem& problem, const std::vector<std::vector<bool>>& exclusive,
                  const IntervalBounds& bounds, int64_t interval, int64_t horizon)
      : problem_(problem), exclusive_(exclusive), bounds_(bounds), interval_(interval), horizon_(horizon) {}

  enum class Size : uint8_t { Fits, NoWindow, TooLarge };

  /// NoWindow: an operation has no cycle to begin in.
  Size build() {
    int64_t cycles = 0;
    for (size_t i = 0; i < problem_.operations.size(); ++i) {
      const int64_t last = std::min(bounds_.latest[i], horizon_ - bounds_.tail[i]);
      if (last < bounds_.earliest[i])
        return Size::NoWindow;
      cycles += last - bounds_.earliest[i] + interval_;
      if (cycles > mostCycles)
        return Size::TooLarge;
      offsets_.push_back(formula_.integer(bounds_.earliest[i], last));
    }
    if (problem_.operations.empty())
      return Size::Fits;
    addChoices();
    for (const ScheduleProblem::Constraint& each : problem_.constraints)
      if (!isSmall() || !addConstraint(each))
        return Size::TooLarge;
    addUnits();
    if (!isSmall())
      return Size::TooLarge;
    length_ = formula_.integer(bounds_.length, horizon_);
    for (uint32_t i = 0; i < offsets_.size(); ++i)
      for (const auto& [latency, literal] : latencies_[i])
        formula_.difference(offsets_[i], length_, latency, std::span(&literal, 1));
    return isSmall() ? Size::Fits : Size::TooLarge;
  }

  size_t clauses() const { return formula_.clauses(); }

  /// A schedule that is no longer than that.
  Answer solve(int64_t conflicts, int64_t length) {
    const Literal isLonger = problem_.operations.empty() ? -formula_.yes() : formula_.atLeast(length_, length + 1);
    const Literal isShort = -isLonger;
    return formula_.solve(conflicts, std::span(&isShort, 1));
  }

  /// REQUIRES: the last answer was Satisfiable.
  Schedule schedule() const {
    Schedule result;
    result.interval = interval_;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      Schedule::Slot slot{formula_.value(offsets_[i]), 0, 0};
      for (const Place& place : places_[i])
        if (formula_.value(place.literal)) {
          slot.choice = place.choice;
          slot.instance = place.instance;
        }
      result.slots.push_back(slot);
    }
    return result;
  }

private:
  /// The operation is executed on this instance.
  struct Place {
    uint32_t choice = 0, unit = 0, instance = 0;
    Literal literal = 0;
  };

  bool isSmall() const { return formula_.clauses() <= mostClauses; }
  const ScheduleProblem::Choice& choice(uint32_t operation, uint32_t number) const {
    return problem_.operations[operation].choices[number];
  }

  void addChoices() {
    places_.resize(offsets_.size());
    latencies_.resize(offsets_.size());
    // Instances of a class are alike: an operation takes the first that no operation before it has, or one of theirs.
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Literal>> takenBy; // by class and instance
    for (uint32_t i = 0; i < offsets_.size(); ++i) {
      std::vector<Literal> all;
      std::map<int64_t, std::vector<Literal>> byLatency;
      for (const uint32_t number : bounds_.choices[i]) {
        const ScheduleProblem::Choice& each = choice(i, number);
        for (uint32_t instance = 0; instance < problem_.units[each.unit].count; ++instance) {
          if (instance > 0 && !takenBy.contains({each.unit, instance - 1}))
            break;
          const Literal literal = formula_.variable();
          places_[i].push_back({number, each.unit, instance, literal});
          all.push_back(literal);
          byLatency[each.latency].push_back(literal);
        }
      }
      for (const Place& place : places_[i])
        if (place.instance > 0) {
          std::vector<Literal> clause = takenBy[{place.unit, place.instance - 1}];
          clause.push_back(-place.literal);
          formula_.add(clause);
        }
      for (const Place& place : places_[i])
        takenBy[{place.unit, place.instance}].push_back(place.literal);
      formula_.exactlyOne(all);
      for (const auto& [latency, literals] : byLatency) {
        Literal has = byLatency.size() == 1 ? formula_.yes() : literals[0];
        if (byLatency.size() > 1 && literals.size() > 1) {
          has = formula_.variable();
          for (const Literal literal : literals)
            formula_.add({-literal, has});
        }
        latencies_[i].emplace_back(latency, has);
      }
    }
  }

  /// False if it takes too many clauses.
  bool addConstraint(const ScheduleProblem::Constraint& each) {
    if (each.from == each.to) {
      for (const auto& [latency, literal] : latencies_[each.from])
        if (offsetCycles(each, interval_, latency, latency) > 0)
          formula_.add({-literal});
      return true;
    }
    // Pairs of latencies by what they ask for; those that matter to one end only do not name the other's.
    using Latencies = std::vector<std::pair<int64_t, Literal>>;
    const Latencies any = {{0, formula_.yes()}};
    for (const auto& [from, isFrom] : each.fromArrival ? latencies_[each.from] : any)
      for (const auto& [to, isTo] : each.toArrival ? latencies_[each.to] : any) {
        const Literal conditions[] = {isFrom, isTo};
        formula_.difference(offsets_[each.from], offsets_[each.to], offsetCycles(each, interval_, from, to),
                            conditions);
        if (!isSmall())
          return false;
      }
    return true;
  }

  /// "Begins in this slot of the interval", by operation and slot; 0 for slots in which it cannot.
  std::vector<Literal> slotsOf(uint32_t operation) {
    std::vector<Literal> slots(static_cast<size_t>(interval_), 0);
    const BoundedInteger& offset = offsets_[operation];
    for (int64_t at = offset.first; at <= offset.last; ++at) {
      Literal& slot = slots[static_cast<size_t>(at % interval_)];
      if (slot == 0)
        slot = formula_.variable();
      formula_.add({-formula_.atLeast(offset, at), formula_.atLeast(offset, at + 1), slot});
    }
    return slots;
  }

  void addUnits() {
    std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<uint32_t, const Place*>>> users;
    for (uint32_t i = 0; i < places_.size(); ++i)
      for (const Place& place : places_[i])
        users[{place.unit, place.instance}].emplace_back(i, &place);
    std::vector<std::vector<Literal>> slots(places_.size());
    for (const auto& [instance, list] : users) {
      if (list.size() < 2)
        continue;
      // "Keeps the instance busy in this slot", by user and slot.
      std::vector<std::vector<Literal>> busy;
      for (const auto& [operation, place] : list) {
        if (slots[operation].empty())
          slots[operation] = slotsOf(operation);
        busy.push_back(busySlots(operation, *place, slots[operation]));
        if (!isSmall())
          return;
      }
      for (size_t i = 0; i < list.size(); ++i)
        for (size_t j = i + 1; j < list.size(); ++j)
          for (size_t slot = 0; slot < busy[i].size() && isSmall(); ++slot)
            if (busy[i][slot] != 0 && busy[j][slot] != 0)
              separate(list[i].first, list[j].first, busy[i][slot], busy[j][slot]);
    }
  }

  std::vector<Literal> busySlots(uint32_t operation, const Place& place, const std::vector<Literal>& slots) {
    const int64_t cycles = choice(operation, place.choice).busy;
    if (cycles == 1 && places_[operation].size() == 1)
      return slots;
    std::vector<Literal> busy(slots.size(), 0);
    for (size_t slot = 0; slot < slots.size(); ++slot)
      for (int64_t cycle = 0; cycle < cycles && slots[slot] != 0; ++cycle) {
        Literal& one = busy[(slot + static_cast<size_t>(cycle)) % slots.size()];
        if (one == 0)
          one = formula_.variable();
        formula_.add({-slots[slot], -place.literal, one});
      }
    return busy;
  }

  /// Two operations are not busy in the same slot of an instance, unless they exclude each other and begin together.
  void separate(uint32_t a, uint32_t b, Literal aIsBusy, Literal bIsBusy) {
    if (!exclusive_[a][b]) {
      formula_.add({-aIsBusy, -bIsBusy});
      return;
    }
    Literal& together = together_[{a, b}];
    if (together == 0) {
      together = formula_.variable();
      formula_.difference(offsets_[a], offsets_[b], 0, std::span(&together, 1));
      formula_.difference(offsets_[b], offsets_[a], 0, std::span(&together, 1));
    }
    formula_.add({-aIsBusy, -bIsBusy, together});
  }

  static constexpr int64_t mostCycles = 1'000'000; // of all windows
  static constexpr size_t mostClauses = 4'000'000;
  const ScheduleProblem& problem_;
  const std::vector<std::vector<bool>>& exclusive_;
  const IntervalBounds& bounds_;
  const int64_t interval_, horizon_;
  Formula formula_;
  std::vector<BoundedInteger> offsets_;
  BoundedInteger length_; // at least the last arrival
  std::vector<std::vector<Place>> places_;
  std::vector<std::vector<std::pair<int64_t, Literal>>> latencies_; // by operation: a latency, and that it has it
  std::map<std::pair<uint32_t, uint32_t>, Literal> together_;
};

int64_t lengthOf(const ScheduleProblem& problem, const Schedule& schedule) {
  int64_t length = 0;
  for (size_t i = 0; i < schedule.slots.size(); ++i)
    length =
        std::max(length, schedule.slots[i].offset + problem.operations[i].choices[schedule.slots[i].choice].latency);
  return length;
}

class ScheduleSearch {
public:
  ScheduleSearch(const ScheduleProblem& problem, const ScheduleOptions& options)
      : problem_(problem), least_(options.leastInterval),
        largest_(std::min<int64_t>(options.largestInterval, int64_t{1} << 20)), conflicts_(options.conflicts),
        isShort_(options.isShort), exclusive_(exclusivePairs(problem)) {}

  std::optional<Schedule> run(std::string& why) {
    int64_t lowerBound = 1, searched = 0;
    for (int64_t interval = least_; interval <= largest_; ++interval) {
      const IntervalBounds bounds = boundsOf(problem_, exclusive_, interval);
      bool isExcluded = !bounds.impossible.empty();
      if (isExcluded) {
        why = bounds.impossible + ": no interval up to " + std::to_string(largest_);
      } else if (clauses_ > mostClausesInAll) {
        why = "none was found with an interval below " + std::to_string(interval) + "; larger ones were not searched";
        return std::nullopt;
      } else {
        if (std::optional<Schedule> found = search(bounds, interval, isExcluded)) {
          found->lowerBound = lowerBound;
          why.clear();
          return found;
        }
        why = "units and recurrences each allow an interval of " + std::to_string(interval) +
              (isExcluded ? ", together they do not" : ", none was found for both together");
        if (!isExcluded)
          conflicts_ /= 2; // larger intervals are easier, or it takes too long
        else if (++searched == 3 && !isPossible()) {
          why = "the constraints between operations of one iteration and the units contradict each other";
          return std::nullopt;
        }
      }
      if (isExcluded && lowerBound == interval)
        ++lowerBound;
    }
    return std::nullopt;
  }

private:
  /// With ever wider horizons; only the widest is a proof that there is none.
  std::optional<Schedule> search(const IntervalBounds& bounds, int64_t interval, bool& isExcluded) {
    int64_t sufficient = 0;
    for (size_t i = 0; i < problem_.operations.size(); ++i)
      for (const uint32_t choice : bounds.choices[i])
        sufficient = std::max(sufficient, bounds.latest[i] + problem_.operations[i].choices[choice].latency);
    sufficient = std::max(sufficient, bounds.length);
    std::set<int64_t> horizons = {sufficient};
    for (const int64_t intervals : {1, 4}) // not if it is about as wide as the widest
      if (bounds.length + 2 * intervals * interval < sufficient)
        horizons.insert(bounds.length + intervals * interval);
    for (const int64_t horizon : horizons) {
      const bool isLast = horizon == sufficient;
      ScheduleFormula formula(problem_, exclusive_, bounds, interval, horizon);
      const ScheduleFormula::Size size = formula.build();
      clauses_ += formula.clauses();
      Answer answer = size == ScheduleFormula::Size::NoWindow ? Answer::Unsatisfiable : Answer::Unknown;
      if (size == ScheduleFormula::Size::Fits)
        answer = formula.solve(isLast ? conflicts_ : conflicts_ / 8, horizon);
      if (answer == Answer::Satisfiable)
        return isShort_ ? shorten(formula, bounds.length) : formula.schedule();
      isExcluded = isLast && answer == Answer::Unsatisfiable;
    }
    return std::nullopt;
  }

  /// Halves what lies between the bound and the length so far, after the bound itself.
  Schedule shorten(ScheduleFormula& formula, int64_t least) {
    Schedule best = formula.schedule();
    int64_t length = lengthOf(problem_, best), asked = least;
    while (least < length) {
      if (formula.solve(conflicts_ / 20, asked) == Answer::Satisfiable) {
        best = formula.schedule();
        length = lengthOf(problem_, best);
      } else {
        least = asked + 1;
      }
      asked = least + (length - least) / 2;
    }
    compact(problem_, exclusive_, length, best);
    return best;
  }

  /// Whether one iteration has a schedule when no other is in its way.
  bool isPossible() {
    ScheduleProblem alone = problem_;
    std::erase_if(alone.constraints, [](const ScheduleProblem::Constraint& each) { return each.iterations > 0; });
    for (ScheduleProblem::Constraint& each : alone.constraints) {
      each.cycles -= each.iterations; // an interval is at least 1
      each.iterations = 0;
    }
    // In an interval that no schedule fills, slots are offsets.
    int64_t interval = 1;
    for (const ScheduleProblem::Operation& operation : alone.operations) {
      int64_t most = 0;
      for (const ScheduleProblem::Choice& choice : operation.choices)
        most = std::max(most, choice.busy + choice.latency);
      interval += most;
    }
    for (const ScheduleProblem::Constraint& each : alone.constraints)
      interval += std::max<int64_t>(each.cycles, 0);
    if (interval > int64_t{1} << 12)
      return true;
    IntervalBounds bounds = boundsOf(alone, exclusive_, interval);
    if (!bounds.impossible.empty())
      return false;
    for (int64_t& latest : bounds.latest)
      latest = interval - 1;
    int64_t horizon = 0;
    for (const ScheduleProblem::Operation& operation : alone.operations)
      for (const ScheduleProblem::Choice& choice : operation.choices)
        horizon = std::max(horizon, interval + choice.latency);
    int64_t busy = 1;
    for (const ScheduleProblem::Operation& operation : alone.operations)
      for (const ScheduleProblem::Choice& choice : operation.choices)
        busy = std::max(busy, choice.busy);
    ScheduleFormula formula(alone, exclusive_, bounds, interval + busy, horizon);
    if (formula.build() != ScheduleFormula::Size::Fits)
      return true;
    clauses_ += formula.clauses();
    return formula.solve(conflicts_, horizon) != Answer::Unsatisfiable;
  }

  static constexpr size_t mostClausesInAll = 40'000'000;
  const ScheduleProblem& problem_;
  const int64_t least_, largest_;
  int64_t conflicts_; // of one question
  const bool isShort_;
  const std::vector<std::vector<bool>> exclusive_;
  size_t clauses_ = 0; // of all formulas
};

} // namespace

std::optional<Schedule> solve(const ScheduleProblem& problem, const ScheduleOptions& options, std::string& why) {
  why = problem.check();
  if (!why.empty())
    return std::nullopt;
  return ScheduleSearch(problem, options).run(why);
}

} // namespace strata::array
