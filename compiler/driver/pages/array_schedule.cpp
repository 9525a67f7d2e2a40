// Programs are followed iteration by iteration; as long as no signal changes that the program tests, an iteration that
// leads to itself is repeated, and the whole stretch is taken at once.
#include "compiler/driver/pages/array_schedule.h"

#include <algorithm>

namespace strata::driver {

using array::Branch, array::Opcode, array::Program, array::Range;

uint32_t IterationTrees::make(size_t level, const Node& node) {
  const auto [found, isNew] = unique_.try_emplace({level, node}, static_cast<uint32_t>(nodes_.size()));
  if (isNew)
    nodes_.push_back(node);
  return found->second;
}

uint32_t IterationTrees::at(uint32_t root, std::span<const int64_t> point) const {
  for (const int64_t x : point)
    root = std::ranges::upper_bound(nodes_[root], x, {}, &Branch::end)->next;
  return root;
}

uint32_t IterationTrees::join(const std::vector<uint32_t>& parts,
                              const std::function<uint32_t(const std::vector<uint32_t>&)>& combine) {
  std::map<std::pair<size_t, std::vector<uint32_t>>, uint32_t> known;
  const std::function<uint32_t(size_t, const std::vector<uint32_t>&)> joined = [&](size_t level,
                                                                                   const std::vector<uint32_t>& all) {
    if (level == extents_.size())
      return combine(all);
    if (const auto found = known.find({level, all}); found != known.end())
      return found->second;
    Node result;
    std::vector<size_t> where(all.size(), 0);
    std::vector<uint32_t> next(all.size());
    for (int64_t end = 0; end < extents_[level];) {
      int64_t nearest = extents_[level];
      for (size_t i = 0; i < all.size(); ++i) {
        const Branch& branch = nodes_[all[i]][where[i]];
        nearest = std::min(nearest, branch.end);
        next[i] = branch.next;
      }
      const uint32_t to = joined(level + 1, next);
      if (!result.empty() && result.back().next == to)
        result.back().end = nearest;
      else
        result.push_back({nearest, to});
      for (size_t i = 0; i < all.size(); ++i)
        where[i] += nodes_[all[i]][where[i]].end == nearest;
      end = nearest;
    }
    return known[{level, all}] = make(level, result);
  };
  return joined(0, parts);
}

std::map<uint32_t, int64_t> IterationTrees::count(uint32_t root) const {
  std::map<uint32_t, int64_t> now = {{root, 1}};
  for (size_t level = 0; level < extents_.size(); ++level) {
    std::map<uint32_t, int64_t> next;
    for (const auto& [node, times] : now) {
      int64_t from = 0;
      for (const Branch& branch : nodes_[node]) {
        next[branch.next] += times * (branch.end - from);
        from = branch.end;
      }
    }
    now = std::move(next);
  }
  return now;
}

std::pair<int64_t, int64_t> IterationTrees::reach(uint32_t root, uint32_t number) const {
  std::vector<int64_t> inner(extents_.size() + 1, 1); // iterations of one step of a dimension
  for (size_t level = extents_.size(); level-- > 0;)
    inner[level] = inner[level + 1] * extents_[level];
  std::map<std::pair<size_t, uint32_t>, std::pair<int64_t, int64_t>> known;
  const std::function<std::pair<int64_t, int64_t>(size_t, uint32_t)> within = [&](size_t level, uint32_t node) {
    if (level == extents_.size())
      return node == number ? std::pair<int64_t, int64_t>(0, 0) : std::pair<int64_t, int64_t>(-1, -1);
    if (const auto found = known.find({level, node}); found != known.end())
      return found->second;
    std::pair<int64_t, int64_t> result = {-1, -1};
    int64_t from = 0;
    for (const Branch& branch : nodes_[node]) {
      const auto [first, last] = within(level + 1, branch.next);
      if (last >= 0) {
        if (result.first < 0)
          result.first = from * inner[level + 1] + first;
        result.second = (branch.end - 1) * inner[level + 1] + last;
      }
      from = branch.end;
    }
    return known[{level, node}] = result;
  };
  return within(0, root);
}

void IterationTrees::Writer::add(size_t level, uint32_t next, int64_t times) {
  if (times <= 0)
    return;
  Node& node = open_[level];
  const int64_t end = (node.empty() ? 0 : node.back().end) + times;
  if (!node.empty() && node.back().next == next)
    node.back().end = end;
  else
    node.push_back({end, next});
  if (end < trees_.extents_[level])
    return;
  const uint32_t made = trees_.make(level, node);
  node.clear();
  if (level == 0)
    root_ = made;
  else
    add(level - 1, made, 1);
}

uint32_t IterationTrees::Writer::finish(uint32_t number) {
  uint32_t next = number;
  for (size_t level = open_.size(); level-- > 0 && !root_;) {
    const int64_t extent = trees_.extents_[level];
    add(level, next, extent - (open_[level].empty() ? 0 : open_[level].back().end));
    next = trees_.make(level, {{extent, next}});
  }
  return *root_;
}

namespace {

/// Follows the program of one unit through all iterations.
class Follower {
public:
  Follower(const array::Configuration& configuration, const Program& program, ArraySchedule& schedule, int64_t& steps)
      : configuration_(configuration), program_(program), schedule_(schedule), steps_(steps),
        ranges_(configuration.signals.size()) {
    for (const array::Instruction& instruction : program)
      for (const uint16_t signal : instruction.branch.signals)
        if (signal < ranges_.size())
          tested_.push_back(signal);
    std::ranges::sort(tested_);
    tested_.erase(std::unique(tested_.begin(), tested_.end()), tested_.end());
  }

  ArraySchedule::Unit follow() {
    const std::vector<int64_t>& extents = schedule_.trees.extents();
    const int64_t inner = extents.back();
    IterationTrees::Writer writer(schedule_.trees);
    std::vector<int64_t> outer(extents.size() - 1, 0);
    const uint32_t nothing = numberOf(std::vector<uint32_t>(interval(), ArraySchedule::halted));
    uint32_t at = program_.empty() ? ArraySchedule::halted : 0;
    for (int64_t n = 0; n < schedule_.iterations && at != ArraySchedule::halted; n += inner) {
      enterRow(outer);
      for (int64_t x = 0; x < inner && at != ArraySchedule::halted;) {
        if (--steps_ < 0) {
          schedule_.isComplete = false;
          at = ArraySchedule::halted;
          break;
        }
        const uint32_t start = at;
        const uint32_t number = numberOf(iteration(at, x));
        const int64_t end = at == start ? nextChange(x) : x + 1;
        writer.add(number, std::min(end, inner) - x);
        x = std::min(end, inner);
      }
      for (size_t l = outer.size(); l-- > 0 && ++outer[l] == extents[l];)
        outer[l] = 0;
    }
    unit_.root = writer.finish(nothing);
    return std::move(unit_);
  }

private:
  size_t interval() const { return static_cast<size_t>(configuration_.interval); }

  /// Which of the signals' ones lie in the row with these outer coordinates.
  void enterRow(const std::vector<int64_t>& outer) {
    for (const uint16_t signal : tested_) {
      ranges_[signal].clear();
      steps_ -= static_cast<int64_t>(configuration_.signals[signal].ones.size()) / 64;
      for (const array::Box& box : configuration_.signals[signal].ones) {
        bool isIn = box.size() == outer.size() + 1;
        for (size_t l = 0; l < outer.size() && isIn; ++l)
          isIn = box[l].first <= outer[l] && outer[l] < box[l].end;
        if (isIn)
          ranges_[signal].push_back(box.back());
      }
    }
  }

  bool isOne(uint16_t signal, int64_t x) const {
    return signal < ranges_.size() &&
           std::ranges::any_of(ranges_[signal], [x](const Range& range) { return range.first <= x && x < range.end; });
  }

  /// The next iteration of the row for which a signal may differ.
  int64_t nextChange(int64_t x) const {
    int64_t result = schedule_.trees.extents().back();
    for (const uint16_t signal : tested_)
      for (const Range& range : ranges_[signal])
        for (const int64_t edge : {range.first, range.end})
          if (edge > x)
            result = std::min(result, edge);
    return result;
  }

  uint32_t next(uint32_t at, int64_t x) const {
    const Branch& branch = program_[at].branch;
    size_t target = 0;
    switch (branch.kind) {
    case Branch::Kind::Halt:
      return ArraySchedule::halted;
    case Branch::Kind::Next:
      return at + 1 < program_.size() ? at + 1 : ArraySchedule::halted;
    case Branch::Kind::If:
      for (size_t i = 0; i < branch.signals.size() && i < 32; ++i)
        target |= size_t{isOne(branch.signals[i], x)} << i;
      break;
    case Branch::Kind::Goto:
      break;
    }
    return target < branch.targets.size() && branch.targets[target] < program_.size() ? branch.targets[target]
                                                                                      : ArraySchedule::halted;
  }

  /// The positions of one iteration; `at` is moved to where the next one begins.
  std::vector<uint32_t> iteration(uint32_t& at, int64_t x) const {
    std::vector<uint32_t> slots(interval(), ArraySchedule::halted);
    for (uint32_t& slot : slots) {
      if (at == ArraySchedule::halted)
        break;
      slot = at;
      at = next(at, x);
    }
    return slots;
  }

  uint32_t numberOf(const std::vector<uint32_t>& slots) {
    const auto [found, isNew] = numbers_.try_emplace(slots, static_cast<uint32_t>(unit_.slots.size()));
    if (isNew) {
      unit_.slots.push_back(slots);
      steps_ -= static_cast<int64_t>(slots.size());
    }
    return found->second;
  }

  const array::Configuration& configuration_;
  const Program& program_;
  ArraySchedule& schedule_;
  int64_t& steps_;
  std::vector<uint16_t> tested_;           // the signals that decide branches
  std::vector<std::vector<Range>> ranges_; // by signal: where it is 1 in this row
  ArraySchedule::Unit unit_;
  std::map<std::vector<uint32_t>, uint32_t> numbers_;
};

/// The operations of an iteration, by unit and slot.
std::vector<Opcode> operationsOf(const array::ProcessorClass& processorClass, const ArraySchedule::Class& each,
                                 const std::vector<uint32_t>& together) {
  std::vector<Opcode> result;
  for (size_t u = 0; u < each.units.size(); ++u)
    for (const uint32_t position : each.units[u].slots[together[u]])
      result.push_back(position == ArraySchedule::halted ? Opcode::Nop
                                                         : processorClass.programs[u][position].functional.opcode);
  return result;
}

/// What the units execute together, and what of that is the kernel.
void addTogether(ArraySchedule& schedule, const array::ProcessorClass& processorClass, ArraySchedule::Class& each) {
  std::vector<uint32_t> roots;
  for (const ArraySchedule::Unit& unit : each.units)
    roots.push_back(unit.root);
  if (roots.empty())
    return;
  std::map<std::vector<uint32_t>, uint32_t> numbers;
  each.root = schedule.trees.join(roots, [&](const std::vector<uint32_t>& parts) {
    const auto [found, isNew] = numbers.try_emplace(parts, static_cast<uint32_t>(each.together.size()));
    if (isNew)
      each.together.push_back(parts);
    return found->second;
  });
  for (const auto& [number, times] : schedule.trees.count(each.root)) {
    bool isActive = false;
    for (size_t u = 0; u < each.units.size(); ++u)
      isActive |= each.units[u].slots[each.together[number][u]][0] != ArraySchedule::halted;
    if (isActive && times > each.times) {
      each.kernel = number;
      each.times = times;
    }
  }
  if (each.times == 0)
    return;
  const std::vector<Opcode> wanted = operationsOf(processorClass, each, each.together[each.kernel]);
  const uint32_t isLike = schedule.trees.join({each.root}, [&](const std::vector<uint32_t>& number) {
    return operationsOf(processorClass, each, each.together[number[0]]) == wanted ? 1U : 0U;
  });
  std::tie(each.first, each.last) = schedule.trees.reach(isLike, 1);
}

} // namespace

ArraySchedule scheduleOf(const array::Configuration& configuration, int64_t steps) {
  std::vector<int64_t> extents = configuration.extents;
  if (extents.empty())
    extents.push_back(1);
  bool isSound = configuration.interval >= 1 && configuration.interval <= 1 << 20;
  int64_t iterations = 1;
  for (const int64_t extent : extents) {
    isSound = isSound && extent >= 1 && extent < (int64_t{1} << 62) / iterations;
    iterations = isSound ? iterations * extent : 1;
  }
  if (!isSound)
    return {IterationTrees({1}), 1, {}, false};
  ArraySchedule schedule = {IterationTrees(std::move(extents)), iterations, {}, true};
  for (const array::ProcessorClass& processorClass : configuration.classes) {
    ArraySchedule::Class each;
    for (const Program& program : processorClass.programs)
      each.units.push_back(Follower(configuration, program, schedule, steps).follow());
    addTogether(schedule, processorClass, each);
    schedule.classes.push_back(std::move(each));
  }
  return schedule;
}

} // namespace strata::driver
