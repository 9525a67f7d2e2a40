// Functions from points to numbers, on the nodes of sets: a function's diagram ends in its values. All that is known of
// an iteration is joined into one function, and what follows an iteration is the same function moved by one.
#include "runtime/array/diagrams_list.h"

#include <algorithm>
#include <array>
#include <utility>

namespace strata::array {

Diagrams::Set Diagrams::constant(uint32_t value) {
  if (value <= end)
    return value;
  const auto [found, isNew] = constants_.try_emplace(value, static_cast<Set>(nodes_.size()));
  if (isNew)
    nodes_.push_back({static_cast<uint32_t>(extents_.size()), value, 0, 1});
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
    result = fromPieces(level, std::array{std::pair(Range{0, at}, everything), std::pair(Range{at, at + 1}, result)});
    List list(*this);
    list.add(extents_[level], everything);
    everything = list.make(level);
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
    List list(*this);
    for (const Branch& branch : from.branches(at))
      list.add(branch.end, visit(branch.next));
    return known[at] = list.make(node.level);
  };
  return visit(set);
}

/// What a call of join() knows: the results of all nodes' tuples that it has met, and room for what it looks at.
struct Diagrams::Joining {
  Joining(const std::function<uint32_t(std::span<const uint32_t>)>& given, size_t count, size_t levels)
      : value(given), parts(count), at(levels * count), next(levels * count), numbers(count), places(64, 0) {}

  const std::function<uint32_t(std::span<const uint32_t>)>& value;
  size_t parts;
  std::vector<uint32_t> at; // by level and part, the branch that holds the coordinate
  std::vector<Set> next;    // by level and part, where it leads
  std::vector<uint32_t> numbers;
  std::vector<Set> tuples;      // one after the other. They have a level, unless all are none.
  std::vector<Set> results;     // by tuple
  std::vector<uint32_t> places; // of tuples plus 1 by their hashes; a power of two, 0 where it is free

  uint32_t& place(std::span<const Set> tuple) {
    uint64_t hash = tuple.size();
    for (const Set each : tuple)
      hash = (hash ^ each) * 0x9E3779B97F4A7C15u + (hash >> 29);
    size_t at = (hash ^ hash >> 32) & (places.size() - 1);
    while (places[at] != 0 &&
           !std::equal(tuple.begin(), tuple.end(), tuples.begin() + static_cast<ptrdiff_t>((places[at] - 1) * parts)))
      at = (at + 1) & (places.size() - 1);
    return places[at];
  }
  Set add(std::span<const Set> tuple, Set result) {
    tuples.insert(tuples.end(), tuple.begin(), tuple.end());
    results.push_back(result);
    if (2 * results.size() > places.size()) {
      places.assign(2 * places.size(), 0);
      for (uint32_t i = 0; i < results.size(); ++i)
        place(std::span(tuples).subspan(i * parts, parts)) = i + 1;
    } else {
      place(tuple) = static_cast<uint32_t>(results.size());
    }
    return result;
  }
};

Diagrams::Set Diagrams::join(std::span<const Set> parts,
                             const std::function<uint32_t(std::span<const uint32_t>)>& value) {
  Joining state(value, parts.size(), extents_.size());
  return joined(0, parts, state);
}

Diagrams::Set Diagrams::joined(uint32_t level, std::span<const Set> parts, Joining& state) {
  if (std::ranges::all_of(parts, [](Set part) { return part == none; }))
    return none;
  if (const uint32_t found = state.place(parts); found != 0)
    return state.results[found - 1];
  if (level == extents_.size()) {
    for (size_t i = 0; i < parts.size(); ++i)
      state.numbers[i] = nodes_[parts[i]].firstBranch;
    return state.add(parts, constant(state.value(state.numbers)));
  }
  const std::span at = std::span(state.at).subspan(level * parts.size(), parts.size());
  const std::span next = std::span(state.next).subspan(level * parts.size(), parts.size());
  std::ranges::fill(at, 0);
  List list(*this);
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
    list.add(to, joined(level + 1, next, state));
    from = to;
  }
  return state.add(parts, list.make(level));
}

Diagrams::Set Diagrams::following(Set function) {
  if (extents_.empty())
    return none;
  Scratch scratch;
  std::pmr::map<std::pair<uint64_t, uint32_t>, Set> known(scratch());
  return shifted(0, function, 0, known);
}

/// `after` is the value that follows the last point.
Diagrams::Set Diagrams::shifted(uint32_t level, Set function, uint32_t after,
                                std::pmr::map<std::pair<uint64_t, uint32_t>, Set>& known) {
  if (level == extents_.size())
    return constant(after);
  if (function == none && after == 0)
    return none;
  const auto [found, isNew] = known.try_emplace({(uint64_t{level} << 32) | function, after}, none);
  if (!isNew)
    return found->second;
  // What is made on the way may move the branches, which are therefore looked up by position.
  const Node node = nodes_[function];
  const uint32_t count = function == none ? 1 : node.branches;
  const auto branch = [&](uint32_t i) {
    return function == none ? Branch{extents_[level], none} : branches_[node.firstBranch + i];
  };
  List list(*this);
  int64_t first = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Branch each = branch(i);
    // All of the range but its last coordinate is followed by the range itself.
    if (each.end - 1 > first)
      list.add(each.end - 1, shifted(level + 1, each.next, firstValue(each.next), known));
    const uint32_t next = i + 1 < count ? firstValue(branch(i + 1).next) : after;
    list.add(each.end, shifted(level + 1, each.next, next, known));
    first = each.end;
  }
  return found->second = list.make(level);
}

std::vector<std::pair<uint32_t, Diagrams::Set>> Diagrams::values(Set function) {
  using Values = std::pmr::vector<std::pair<uint32_t, Set>>;
  Scratch scratch;
  std::pmr::unordered_map<Set, Values> known(scratch());
  const std::function<const Values&(Set)> visit = [&](Set at) -> const Values& {
    if (const auto found = known.find(at); found != known.end())
      return found->second;
    const Node node = nodes_[at];
    Values result(scratch());
    if (node.branches == 0) {
      if (at != none)
        result.push_back({node.firstBranch, end});
      return known[at] = std::move(result);
    }
    struct Piece {
      uint32_t value;
      Range range;
      Set set;
    };
    std::pmr::vector<Piece> pieces(scratch());
    int64_t from = 0;
    for (uint32_t i = 0; i < node.branches; ++i) {
      const Branch branch = branches_[node.firstBranch + i];
      for (const auto& [value, set] : visit(branch.next))
        pieces.push_back({value, {from, branch.end}, set});
      from = branch.end;
    }
    std::ranges::sort(pieces, {}, [](const Piece& each) { return std::pair(each.value, each.range.first); });
    for (size_t i = 0; i < pieces.size();) {
      const uint32_t value = pieces[i].value;
      List list(*this);
      for (; i < pieces.size() && pieces[i].value == value; ++i)
        list.add(pieces[i].range, pieces[i].set);
      list.finish(node.level);
      result.push_back({value, list.make(node.level)});
    }
    return known[at] = std::move(result);
  };
  const Values& all = visit(function);
  return {all.begin(), all.end()};
}

} // namespace strata::array
