// Nodes are kept once each, by level and branches: what is made twice is found. Results of operations are remembered,
// so that no pair of nodes is combined twice.
#include "runtime/array/diagrams.h"

#include <algorithm>
#include <utility>

namespace strata::array {

Diagrams::Diagrams(std::vector<int64_t> extents) : extents_(std::move(extents)) {
  const auto leaf = static_cast<uint32_t>(extents_.size());
  nodes_ = {{leaf, 0, 0}, {leaf, 1, 0}};
  all_ = end;
  for (uint32_t level = leaf; level-- > 0;) {
    std::vector<Branch> list = {{extents_[level], all_}};
    all_ = make(level, list);
  }
}

/// The node of these ranges, which come in order up to the extent; ranges that lead to the same set become one.
Diagrams::Set Diagrams::make(uint32_t level, std::vector<Branch>& list) {
  size_t kept = 0;
  for (const Branch& branch : list) {
    if (kept != 0 && list[kept - 1].next == branch.next)
      list[kept - 1].end = branch.end;
    else
      list[kept++] = branch;
  }
  list.resize(kept);
  if (kept == 1 && list[0].next == none)
    return none;
  if (2 * nodes_.size() >= places_.size())
    grow();
  size_t place = hash(level, list) & (places_.size() - 1);
  for (; places_[place] != none; place = (place + 1) & (places_.size() - 1))
    if (nodes_[places_[place]].level == level && std::ranges::equal(branches(places_[place]), list))
      return places_[place];
  const auto result = places_[place] = static_cast<Set>(nodes_.size());
  nodes_.push_back({level, static_cast<uint32_t>(branches_.size()), static_cast<uint32_t>(kept)});
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
  places_.assign(std::max<size_t>(256, 2 * places_.size()), none);
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
    result = fromPieces(level, {{{first, last}, result}});
  }
  return result;
}

/// Sets at ranges that do not meet and come in order; none elsewhere.
Diagrams::Set Diagrams::fromPieces(uint32_t level, const std::vector<std::pair<Range, Set>>& pieces) {
  std::vector<Branch> list;
  int64_t at = 0;
  for (const auto& [range, next] : pieces) {
    if (range.first >= range.end)
      continue;
    if (range.first > at)
      list.push_back({range.first, none});
    list.push_back({range.end, next});
    at = range.end;
  }
  if (at < extents_[level])
    list.push_back({extents_[level], none});
  return make(level, list);
}

Diagrams::Set Diagrams::notNegative(std::span<const int64_t> coefficients, int64_t constant) {
  std::map<std::pair<uint32_t, int64_t>, Set> known;
  return affine(0, coefficients, constant, 0, true, known);
}

Diagrams::Set Diagrams::divisible(std::span<const int64_t> coefficients, int64_t constant, int64_t modulus) {
  std::map<std::pair<uint32_t, int64_t>, Set> known;
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
                               bool isInequality, std::map<std::pair<uint32_t, int64_t>, Set>& known) {
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
  std::vector<Branch> list;
  if (first > 0)
    list.push_back({first, next(0)});
  for (int64_t x = first; x < last; ++x)
    list.push_back({x + 1, next(x)});
  if (last < extent)
    list.push_back({extent, next(extent - 1)});
  return known[{level, value}] = make(level, list);
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
  auto& results = results_[static_cast<size_t>(operation)];
  const uint64_t key = (uint64_t{a} << 32) | b;
  if (const auto found = results.find(key); found != results.end())
    return found->second;
  // What is made on the way may move the branches, which are therefore looked up by position.
  const Node first = nodes_[a], second = nodes_[b];
  std::vector<Branch> list;
  for (uint32_t i = 0, j = 0; i < first.branches && j < second.branches;) {
    const Branch left = branches_[first.firstBranch + i], right = branches_[second.firstBranch + j];
    const Set next = combine(operation, left.next, right.next);
    list.push_back({std::min(left.end, right.end), next});
    i += left.end <= right.end;
    j += right.end <= left.end;
  }
  const Set result = make(first.level, list);
  results.emplace(key, result);
  return result;
}

Diagrams::Set Diagrams::successors(Set set, int64_t steps) {
  std::vector<int64_t> digits(extents_.size());
  for (size_t i = extents_.size(); i-- > 0;) {
    digits[i] = steps % extents_[i];
    steps /= extents_[i];
  }
  if (steps != 0)
    return none;
  std::unordered_map<Set, std::pair<Set, Set>> known;
  return moved(0, set, digits, known).first;
}

/// The sum of each point's inner coordinates and the digits, as numbers in a mixed radix: those that do not carry into
/// the next outer dimension, and those that do.
std::pair<Diagrams::Set, Diagrams::Set> Diagrams::moved(uint32_t level, Set set, const std::vector<int64_t>& digits,
                                                        std::unordered_map<Set, std::pair<Set, Set>>& known) {
  if (set == none || set == end)
    return {set, none};
  if (const auto found = known.find(set); found != known.end())
    return found->second;
  const int64_t extent = extents_[level];
  const Node node = nodes_[set];
  // What stays in this dimension and what carries into the next, of inner points that did not carry and that did. Each
  // of the four is in order.
  std::vector<std::pair<Range, Set>> pieces[2][2];
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

int64_t Diagrams::size(Set set) const {
  std::unordered_map<Set, int64_t> known;
  const std::function<int64_t(Set)> count = [&](Set each) -> int64_t {
    if (each == none || each == end)
      return each == end ? 1 : 0;
    if (const auto found = known.find(each); found != known.end())
      return found->second;
    int64_t sum = 0, from = 0;
    for (const Branch& branch : branches(each)) {
      sum += (branch.end - from) * count(branch.next);
      from = branch.end;
    }
    return known[each] = sum;
  };
  return count(set);
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
