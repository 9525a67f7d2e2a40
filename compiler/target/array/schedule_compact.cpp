// A descent: the sum of all lives, then of all offsets, becomes smaller with every move. See schedule_compact.h.
#include "compiler/target/array/schedule_compact.h"

#include <algorithm>
#include <utility>

namespace strata::array {

namespace {

class Compactor {
public:
  Compactor(const ScheduleProblem& problem, const std::vector<std::vector<bool>>& exclusive, int64_t length,
            Schedule& schedule)
      : problem_(problem), exclusive_(exclusive), length_(length), slots_(schedule.slots), interval_(schedule.interval),
        at_(problem.operations.size()), written_(problem.operations.size()) {
    for (const ScheduleProblem::Constraint& each : problem.constraints) {
      at_[each.from].push_back(&each);
      if (each.to != each.from)
        at_[each.to].push_back(&each);
      if (isRead(each))
        written_[each.to].push_back(each.from);
    }
    for (uint32_t i = 0; i < written_.size(); ++i) {
      written_[i].push_back(i);
      std::ranges::sort(written_[i]);
      written_[i].erase(std::ranges::unique(written_[i]).begin(), written_[i].end());
    }
  }

  void run() {
    constexpr size_t rounds = 50;
    bool isChanged = true;
    for (size_t round = 0; round < rounds && isChanged; ++round) {
      isChanged = false;
      for (uint32_t i = 0; i < slots_.size(); ++i)
        isChanged |= move(i);
    }
  }

private:
  const ScheduleProblem::Choice& choice(uint32_t operation) const {
    return problem_.operations[operation].choices[slots_[operation].choice];
  }
  int64_t latency(uint32_t operation, bool isArrival) const { return isArrival ? choice(operation).latency : 0; }
  /// How long before the constraint is broken.
  int64_t slack(const ScheduleProblem::Constraint& each) const {
    return slots_[each.to].offset + latency(each.to, each.toArrival) + interval_ * each.iterations -
           slots_[each.from].offset - latency(each.from, each.fromArrival) - each.cycles;
  }

  /// Of the values that the operation reads and writes.
  int64_t lives(uint32_t operation) const {
    int64_t sum = 0;
    for (const uint32_t writer : written_[operation])
      sum += life(writer);
    return sum;
  }
  int64_t life(uint32_t writer) const {
    int64_t longest = 0;
    for (const ScheduleProblem::Constraint* each : at_[writer])
      if (isRead(*each) && each->from == writer)
        longest = std::max(longest, slack(*each));
    return longest;
  }
  static bool isRead(const ScheduleProblem::Constraint& each) { return each.fromArrival && !each.toArrival; }

  bool isFree(uint32_t operation) const {
    const Schedule::Slot& slot = slots_[operation];
    for (uint32_t other = 0; other < slots_.size(); ++other) {
      const Schedule::Slot& there = slots_[other];
      if (other == operation || choice(other).unit != choice(operation).unit || there.instance != slot.instance ||
          (exclusive_[operation][other] && there.offset == slot.offset))
        continue;
      const int64_t after = (there.offset - slot.offset) % interval_;
      const int64_t until = after < 0 ? after + interval_ : after; // from the operation to the other one
      if (until < choice(operation).busy || (interval_ - until) % interval_ < choice(other).busy)
        return false;
    }
    return true;
  }

  bool move(uint32_t operation) {
    Schedule::Slot& slot = slots_[operation];
    int64_t first = 0, last = length_ - choice(operation).latency;
    for (const ScheduleProblem::Constraint* each : at_[operation]) {
      if (each->from == each->to)
        continue;
      if (each->to == operation)
        first = std::max(first, slot.offset - slack(*each));
      else
        last = std::min(last, slot.offset + slack(*each));
    }
    const Schedule::Slot before = slot;
    Schedule::Slot best = slot;
    int64_t least = lives(operation);
    for (int64_t offset = first; offset <= last && offset < first + widest; ++offset)
      for (uint32_t instance = 0; instance < problem_.units[choice(operation).unit].count; ++instance) {
        slot.offset = offset;
        slot.instance = instance;
        const int64_t sum = lives(operation);
        if (std::pair(sum, offset) < std::pair(least, best.offset) && isFree(operation)) {
          least = sum;
          best = slot;
        }
      }
    slot = best;
    return best.offset != before.offset;
  }

  static constexpr int64_t widest = 10'000;
  const ScheduleProblem& problem_;
  const std::vector<std::vector<bool>>& exclusive_;
  const int64_t length_;
  std::vector<Schedule::Slot>& slots_;
  const int64_t interval_;
  std::vector<std::vector<const ScheduleProblem::Constraint*>> at_; // constraints by operation
  std::vector<std::vector<uint32_t>> written_; // by operation: who writes what it reads, and itself
};

} // namespace

void compact(const ScheduleProblem& problem, const std::vector<std::vector<bool>>& exclusive, int64_t length,
             Schedule& schedule) {
  Compactor(problem, exclusive, length, schedule).run();
}

} // namespace strata::array
