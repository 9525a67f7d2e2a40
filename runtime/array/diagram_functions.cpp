// Functions from points to numbers, on the nodes of sets: a function's diagram ends in its values. All that is known of
// an iteration is joined into one function, and what follows an iteration is the same function moved by one.
#include "runtime/array/diagrams.h"

#include <algorithm>
#include <utility>

namespace strata::array {

Diagrams::Set Diagrams::constant(uint32_t value) {
  if (value <= end)
    return value;
  const auto [found, isNew] = constants_.try_emplace(value, static_cast<Set>(nodes_.size()));
  if (isNew)
    nodes_.push_back({static_cast<uint32_t>(extents_.size()), value, 0});
  return found->second;
}

uint32_t Diagrams::firstValue(Set function) const {
  while (nodes_[function].branches != 0)
    function = branches(function)[0].next;
  return nodes_[function].firstBranch;
}

std::optional<std::vector<int64_t>> Diagrams::last(Set set) const {
  if (set == none)
    return std::nullopt;
  std::vector<int64_t> point;
  while (point.size() < extents_.size()) {
    const std::span<const Branch> list = branches(set);
    const bool isEarlier = list.back().next == none;
    const Branch& branch = list[list.size() - (isEarlier ? 2 : 1)];
    point.push_back(branch.end - 1);
    set = branch.next;
  }
  return point;
}

Diagrams::Set Diagrams::upTo(std::span<const int64_t> point) {
  Set result = end, everything = end;
  for (auto level = static_cast<uint32_t>(extents_.size()); level-- > 0;) {
    const int64_t at = point[level];
    result = fromPieces(level, {{{0, at}, everything}, {{at, at + 1}, result}});
    std::vector<Branch> list = {{extents_[level], everything}};
    everything = make(level, list);
  }
  return result;
}

Diagrams::Set Diagrams::copy(const Diagrams& from, Set set) {
  std::unordered_map<Set, Set> known;
  const std::function<Set(Set)> visit = [&](Set at) -> Set {
    const Node node = from.nodes_[at];
    if (node.branches == 0)
      return constant(node.firstBranch);
    if (const auto found = known.find(at); found != known.end())
      return found->second;
    std::vector<Branch> list;
    for (const Branch& branch : from.branches(at))
      list.push_back({branch.end, visit(branch.next)});
    return known[at] = make(node.level, list);
  };
  return visit(set);
}

namespace {

struct HashOfSets {
  size_t operator()(const std::vector<uint32_t>& sets) const {
    uint64_t hash = sets.size();
    for (const uint32_t each : sets)
      hash = (hash ^ each) * 0x9E3779B97F4A7C15u + (hash >> 29);
    return hash;
  }
};

} // namespace

struct Diagrams::Joining {
  const std::function<uint32_t(std::span<const uint32_t>)>& value;
  // By the parts' nodes. They have a level, unless all are none.
  std::unordered_map<std::vector<Set>, Set, HashOfSets> known;
};

Diagrams::Set Diagrams::join(std::span<const Set> parts,
                             const std::function<uint32_t(std::span<const uint32_t>)>& value) {
  Joining state{value, {}};
  return joined(0, {parts.begin(), parts.end()}, state);
}

Diagrams::Set Diagrams::joined(uint32_t level, const std::vector<Set>& parts, Joining& state) {
  if (std::ranges::all_of(parts, [](Set part) { return part == none; }))
    return none;
  if (const auto found = state.known.find(parts); found != state.known.end())
    return found->second;
  Set result = none;
  if (level == extents_.size()) {
    std::vector<uint32_t> numbers(parts.size());
    for (size_t i = 0; i < parts.size(); ++i)
      numbers[i] = nodes_[parts[i]].firstBranch;
    result = constant(state.value(numbers));
  } else {
    std::vector<uint32_t> at(parts.size(), 0); // of each part, the branch that holds the coordinate
    std::vector<Set> next(parts.size());
    std::vector<Branch> list;
    for (int64_t from = 0; from < extents_[level];) {
      int64_t to = extents_[level];
      for (size_t i = 0; i < parts.size(); ++i) {
        next[i] = none;
        if (parts[i] == none)
          continue;
        const std::span<const Branch> each = branches(parts[i]);
        at[i] += each[at[i]].end == from ? 1 : 0;
        to = std::min(to, each[at[i]].end);
        next[i] = each[at[i]].next;
      }
      list.push_back({to, joined(level + 1, next, state)});
      from = to;
    }
    result = make(level, list);
  }
  state.known.emplace(parts, result);
  return result;
}

Diagrams::Set Diagrams::following(Set function) {
  if (extents_.empty())
    return none;
  std::map<std::pair<uint64_t, uint32_t>, Set> known;
  return shifted(0, function, 0, known);
}

/// `after` is the value that follows the last point.
Diagrams::Set Diagrams::shifted(uint32_t level, Set function, uint32_t after,
                                std::map<std::pair<uint64_t, uint32_t>, Set>& known) {
  if (level == extents_.size())
    return constant(after);
  if (function == none && after == 0)
    return none;
  const auto [found, isNew] = known.try_emplace({(uint64_t{level} << 32) | function, after}, none);
  if (!isNew)
    return found->second;
  std::vector<Branch> from = {{extents_[level], none}};
  if (function != none)
    from.assign(branches(function).begin(), branches(function).end());
  std::vector<Branch> list;
  int64_t first = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    // All of the range but its last coordinate is followed by the range itself.
    if (from[i].end - 1 > first)
      list.push_back({from[i].end - 1, shifted(level + 1, from[i].next, firstValue(from[i].next), known)});
    const uint32_t next = i + 1 < from.size() ? firstValue(from[i + 1].next) : after;
    list.push_back({from[i].end, shifted(level + 1, from[i].next, next, known)});
    first = from[i].end;
  }
  return found->second = make(level, list);
}

std::vector<std::pair<uint32_t, Diagrams::Set>> Diagrams::values(Set function) {
  using Values = std::vector<std::pair<uint32_t, Set>>;
  std::unordered_map<Set, Values> known;
  const std::function<const Values&(Set)> visit = [&](Set at) -> const Values& {
    if (const auto found = known.find(at); found != known.end())
      return found->second;
    const Node node = nodes_[at];
    Values result;
    if (node.branches == 0) {
      if (at != none)
        result.push_back({node.firstBranch, end});
      return known[at] = std::move(result);
    }
    std::map<uint32_t, std::vector<std::pair<Range, Set>>> pieces;
    int64_t from = 0;
    for (uint32_t i = 0; i < node.branches; ++i) {
      const Branch branch = branches_[node.firstBranch + i];
      for (const auto& [value, set] : visit(branch.next))
        pieces[value].push_back({{from, branch.end}, set});
      from = branch.end;
    }
    for (const auto& [value, list] : pieces)
      result.push_back({value, fromPieces(node.level, list)});
    return known[at] = std::move(result);
  };
  return visit(function);
}

} // namespace strata::array
