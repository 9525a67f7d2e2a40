// Nodes are kept once each, by level and branches: what is made twice is found. Results of operations are remembered,
// so that no pair of nodes is combined twice.
#include "runtime/array/diagrams_list.h"

#include <algorithm>
#include <utility>

namespace strata::array {

Diagrams::Diagrams(std::vector<int64_t> extents) : extents_(std::move(extents)) {
  const auto leaf = static_cast<uint32_t>(extents_.size());
  nodes_ = {{leaf, 0, 0, 0}, {leaf, 1, 0, 1}};
  all_ = end;
  for (uint32_t level = leaf; level-- > 0;) {
    List list(*this);
    list.add(extents_[level], all_);
    all_ = list.make(level);
  }
}

/// The node of these ranges, which come in order up to the extent; ranges that lead to the same set become one.
Diagrams::Set Diagrams::make(uint32_t level, std::span<Branch> list) {
  size_t kept = 0;
  for (const Branch& branch : list) {
    if (kept != 0 && list[kept - 1].next == branch.next)
      list[kept - 1].end = branch.end;
    else
      list[kept++] = branch;
  }
  list = list.first(kept);
  if (kept == 1 && list[0].next == none)
    return none;
  if (2 * nodes_.size() >= places_.size())
    grow();
  size_t place = hash(level, list) & (places_.size() - 1);
  for (; places_[place] != none; place = (place + 1) & (places_.size() - 1))
    if (nodes_[places_[place]].level == level && std::ranges::equal(branches(places_[place]), list))
      return places_[place];
  const auto result = places_[place] = static_cast<Set>(nodes_.size());
  int64_t size = 0, from = 0;
  for (const Branch& branch : list) {
    size += (branch.end - from) * nodes_[branch.next].size;
    from = branch.end;
  }
  nodes_.push_back({level, static_cast<uint32_t>(branches_.size()), static_cast<uint32_t>(kept), size});
  branches_.insert(branches_.end(), list.begin(), list.end());
  return result;
}

size_t Diagrams::hash(uint32_t level, std::span<const Branch> list) const {
  uint64_t result = level;
  for (const Branch& branch : list) {
    result = (result ^ static_cast<uint64_t>(branch.end) ^ (uint64_t{branch.next} << 32)) * 0x9E3779B97F4A7C15u;
    result ^= result >> 29;
  }
  return result;
}

/// Places for twice as many nodes, or the first.
void Diagrams::grow() {
  places_.assign(std::max<size_t>(1024, 2 * places_.size()), none);
  for (Set set = 0; set < nodes_.size(); ++set) {
    if (nodes_[set].branches == 0)
      continue;
    size_t place = hash(nodes_[set].level, branches(set)) & (places_.size() - 1);
    while (places_[place] != none)
      place = (place + 1) & (places_.size() - 1);
    places_[place] = set;
  }
}

Diagrams::Set Diagrams::box(std::span<const Range> ranges) {
  Set result = end;
  for (auto level = static_cast<uint32_t>(extents_.size()); level-- > 0 && result != none;) {
    const int64_t first = std::clamp<int64_t>(ranges[level].first, 0, extents_[level]);
    const int64_t last = std::clamp<int64_t>(ranges[level].end, first, extents_[level]);
    const std::pair<Range, Set> piece = {{first, last}, result};
    result = fromPieces(level, {&piece, 1});
  }
  return result;
}

/// Sets at ranges that do not meet and come in order; none elsewhere.
Diagrams::Set Diagrams::fromPieces(uint32_t level, std::span<const std::pair<Range, Set>> pieces) {
  List list(*this);
  for (const auto& [range, next] : pieces)
    list.add(range, next);
  list.finish(level);
  return list.make(level);
}

Diagrams::Set Diagrams::notNegative(std::span<const int64_t> coefficients, int64_t constant) {
  Scratch scratch;
  std::pmr::map<std::pair<uint32_t, int64_t>, Set> known(scratch());
  return affine(0, coefficients, constant, 0, true, known);
}

Diagrams::Set Diagrams::divisible(std::span<const int64_t> coefficients, int64_t constant, int64_t modulus) {
  Scratch scratch;
  std::pmr::map<std::pair<uint32_t, int64_t>, Set> known(scratch());
  return affine(0, coefficients, constant, modulus, false, known);
}

namespace {

/// Rounded down. REQUIRES: divisor > 0.
int64_t quotient(int64_t dividend, int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

/// The x of 0 to extent - 1 with factor · x + summand >= 0. REQUIRES: factor != 0.
Range whereNotNegative(int64_t factor, int64_t summand, int64_t extent) {
  if (factor > 0)
    return {std::clamp<int64_t>(-quotient(summand, factor), 0, extent), extent};
  return {0, std::clamp<int64_t>(quotient(summand, -factor) + 1, 0, extent)};
}

} // namespace

/// `value` is the constant and what the outer coordinates give. Coordinates that decide the condition, whatever comes
/// after them, are found by a division and not one by one.
Diagrams::Set Diagrams::affine(uint32_t level, std::span<const int64_t> coefficients, int64_t value, int64_t modulus,
                               bool isInequality, std::pmr::map<std::pair<uint32_t, int64_t>, Set>& known) {
  if (modulus != 0)
    value = ((value % modulus) + modulus) % modulus;
  if (level == extents_.size())
    return (isInequality ? value >= 0 : value == 0) ? end : none;
  const auto [found, isNew] = known.try_emplace({level, value}, none);
  if (!isNew)
    return found->second;
  const int64_t factor = coefficients[level], extent = extents_[level];
  int64_t least = value, most = value; // with what the inner coordinates can add
  for (size_t i = level + 1; i < extents_.size(); ++i) {
    const int64_t far = coefficients[i] * (extents_[i] - 1);
    (far < 0 ? least : most) += far;
  }
  const auto next = [&](int64_t x) {
    return affine(level + 1, coefficients, value + factor * x, modulus, isInequality, known);
  };
  // Outside of [first, last) the answer is one and the same for all that comes before, and for all that comes after.
  int64_t first = 0, last = extent;
  if (modulus != 0 ? factor % modulus == 0 : factor == 0)
    last = 0;
  else if (modulus == 0) {
    const Range canHold = whereNotNegative(factor, most, extent);
    const Range other =
        isInequality ? whereNotNegative(factor, least, extent) : whereNotNegative(-factor, -least, extent);
    if (isInequality) { // holds in `other`, which is the far part of `canHold`
      first = factor > 0 ? canHold.first : other.end;
      last = factor > 0 ? other.first : canHold.end;
    } else {
      first = std::max(canHold.first, other.first);
      last = std::max(first, std::min(canHold.end, other.end));
    }
  }
  if (static_cast<uint64_t>(last - first) > mostRanges - ranges_)
    throw TooManyRanges();
  ranges_ += static_cast<size_t>(last - first);
  List list(*this);
  if (first > 0)
    list.add(first, next(0));
  for (int64_t x = first; x < last; ++x)
    list.add(x + 1, next(x));
  if (last < extent)
    list.add(extent, next(extent - 1));
  return known[{level, value}] = list.make(level);
}

Diagrams::Set Diagrams::combine(Operation operation, Set a, Set b) {
  if (a == b)
    return operation == Operation::Without ? none : a;
  if (a == none)
    return operation == Operation::Or ? b : none;
  if (b == none)
    return operation == Operation::And ? none : a;
  if (operation != Operation::Without && a > b)
    std::swap(a, b);
  Results& results = results_[static_cast<size_t>(operation)];
  const uint64_t pair = (uint64_t{a} << 32) | b;
  if (const Set found = results[pair]; found != unknown)
    return found;
  // What is made on the way may move the branches, which are therefore looked up by position.
  const Node first = nodes_[a], second = nodes_[b];
  List list(*this);
  for (uint32_t i = 0, j = 0; i < first.branches && j < second.branches;) {
    const Branch left = branches_[first.firstBranch + i], right = branches_[second.firstBranch + j];
    list.add(std::min(left.end, right.end), combine(operation, left.next, right.next));
    i += left.end <= right.end;
    j += right.end <= left.end;
  }
  return results[pair] = list.make(first.level);
}

Diagrams::Set& Diagrams::Results::operator[](uint64_t pair) {
  const auto find = [&](uint64_t wanted) -> Entry& {
    size_t place = (wanted * 0x9E3779B97F4A7C15u) >> 32 & (entries_.size() - 1);
    while (entries_[place].pair != 0 && entries_[place].pair != wanted)
      place = (place + 1) & (entries_.size() - 1);
    return entries_[place];
  };
  if (2 * used_ >= entries_.size()) {
    const std::vector<Entry> before =
        std::exchange(entries_, std::vector<Entry>(std::max<size_t>(512, 2 * entries_.size())));
    for (const Entry& entry : before)
      if (entry.pair != 0)
        find(entry.pair) = entry;
  }
  Entry& entry = find(pair);
  used_ += entry.pair == 0;
  entry.pair = pair;
  return entry.result;
}

Diagrams::Set Diagrams::successors(Set set, int64_t steps) {
  std::vector<int64_t> digits(extents_.size());
  for (size_t i = extents_.size(); i-- > 0;) {
    digits[i] = steps % extents_[i];
    steps /= extents_[i];
  }
  if (steps != 0)
    return none;
  Scratch scratch;
  std::pmr::unordered_map<Set, std::pair<Set, Set>> known(scratch());
  return moved(0, set, digits, known).first;
}

/// The sum of each point's inner coordinates and the digits, as numbers in a mixed radix: those that do not carry into
/// the next outer dimension, and those that do.
std::pair<Diagrams::Set, Diagrams::Set> Diagrams::moved(uint32_t level, Set set, const std::vector<int64_t>& digits,
                                                        std::pmr::unordered_map<Set, std::pair<Set, Set>>& known) {
  if (set == none || set == end)
    return {set, none};
  if (const auto found = known.find(set); found != known.end())
    return found->second;
  const int64_t extent = extents_[level];
  const Node node = nodes_[set];
  // What stays in this dimension and what carries into the next, of inner points that did not carry and that did. Each
  // of the four is in order.
  using Pieces = std::pmr::vector<std::pair<Range, Set>>;
  Scratch scratch;
  Pieces pieces[2][2] = {{Pieces(scratch()), Pieces(scratch())}, {Pieces(scratch()), Pieces(scratch())}};
  int64_t from = 0;
  for (uint32_t i = 0; i < node.branches; ++i) {
    const Branch branch = branches_[node.firstBranch + i];
    const std::pair<Set, Set> inner = moved(level + 1, branch.next, digits, known);
    for (const int64_t carry : {0, 1}) {
      const int64_t by = digits[level] + carry, first = from + by, last = branch.end + by;
      const Set next = carry == 0 ? inner.first : inner.second;
      pieces[carry][0].push_back({{first, std::min(last, extent)}, next});
      pieces[carry][1].push_back({{std::max<int64_t>(first - extent, 0), last - extent}, next});
    }
    from = branch.end;
  }
  const std::pair result = {unite(fromPieces(level, pieces[0][0]), fromPieces(level, pieces[1][0])),
                            unite(fromPieces(level, pieces[0][1]), fromPieces(level, pieces[1][1]))};
  known.emplace(set, result);
  return result;
}

bool Diagrams::contains(Set set, std::span<const int64_t> point) const {
  for (size_t i = 0; i < extents_.size() && set != none; ++i) {
    if (point[i] < 0 || point[i] >= extents_[i])
      return false;
    const std::span<const Branch> list = branches(set);
    set = std::ranges::upper_bound(list, point[i], {}, &Branch::end)->next;
  }
  return set != none;
}

std::optional<std::vector<int64_t>> Diagrams::first(Set set) const {
  if (set == none)
    return std::nullopt;
  std::vector<int64_t> point;
  while (point.size() < extents_.size()) {
    const std::span<const Branch> list = branches(set);
    const bool isLater = list[0].next == none; // two ranges that follow each other differ
    point.push_back(isLater ? list[0].end : 0);
    set = list[isLater ? 1 : 0].next;
  }
  return point;
}

void Diagrams::boxes(Set set, const std::function<void(std::span<const Range>)>& each) const {
  std::vector<Range> ranges;
  const std::function<void(Set)> visit = [&](Set at) {
    if (at == none)
      return;
    if (ranges.size() == extents_.size())
      return each(ranges);
    int64_t from = 0;
    const Node node = nodes_[at];
    for (uint32_t i = 0; i < node.branches; ++i) {
      const Branch branch = branches_[node.firstBranch + i]; // a copy: who is called may make sets
      ranges.push_back({from, branch.end});
      visit(branch.next);
      ranges.pop_back();
      from = branch.end;
    }
  };
  visit(set);
}

} // namespace strata::array
