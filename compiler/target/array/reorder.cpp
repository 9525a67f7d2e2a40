// Directions of loops are tried one by one, and hyperplanes: there are few loops. See reorder.h.
#include "compiler/target/array/reorder.h"

#include <algorithm>
#include <numeric>

namespace strata::array {

using equations::Affine;
using equations::Dependence;
using equations::Graph;

bool isLegal(const LoopOrder& order, const std::vector<Dependence>& dependences) {
  return std::all_of(dependences.begin(), dependences.end(), [&](const Dependence& each) {
    for (size_t i = 0; i < order.loops.size(); ++i) {
      const int64_t step = each.distance[order.loops[i]];
      if (step != 0)
        return (step > 0) != order.isBackward[i];
    }
    return true;
  });
}

std::optional<LoopOrder> legalOrder(const std::vector<uint32_t>& wished, const std::vector<Dependence>& dependences) {
  const size_t count = wished.size();
  // With these directions, the first in alphabetical order of `wished`. A loop along which none of the dependences that
  // are left goes back may always come next: it leaves fewer of them.
  const auto inDirections = [&](uint64_t backward) -> std::optional<LoopOrder> {
    LoopOrder order;
    std::vector<bool> isTaken(count, false), isKept(dependences.size(), false);
    while (order.loops.size() < count) {
      size_t place = 0;
      const auto isNext = [&] {
        const bool back = place < 8 && ((backward >> place) & 1) != 0;
        for (size_t i = 0; i < dependences.size(); ++i) {
          const int64_t step = dependences[i].distance[wished[place]];
          if (!isKept[i] && step != 0 && (step > 0) == back)
            return false;
        }
        return true;
      };
      while (place < count && (isTaken[place] || !isNext()))
        ++place;
      if (place == count)
        return std::nullopt;
      isTaken[place] = true;
      order.loops.push_back(wished[place]);
      order.isBackward.push_back(place < 8 && ((backward >> place) & 1) != 0);
      for (size_t i = 0; i < dependences.size(); ++i)
        isKept[i] = isKept[i] || dependences[i].distance[wished[place]] != 0;
    }
    return order;
  };
  for (uint64_t backward = 0; backward < (uint64_t{1} << std::min<size_t>(count, 8)); ++backward)
    if (std::optional<LoopOrder> order = inDirections(backward))
      return order;
  return std::nullopt;
}

std::vector<Dependence> skewed(std::vector<Dependence> dependences, const std::vector<Skew>& skews) {
  for (const Skew& skew : skews)
    for (Dependence& each : dependences)
      each.distance[skew.loop] += skew.factor * each.distance[skew.by];
  return dependences;
}

std::optional<std::vector<Skew>> skewsForOrder(const std::vector<uint32_t>& wished,
                                               const std::vector<Dependence>& dependences) {
  if (legalOrder(wished, dependences))
    return std::nullopt;
  const size_t count = wished.size();
  if (count < 2 || count > 8)
    return std::nullopt;
  // A hyperplane behind which nothing lies is the outermost loop of a legal order. One with a coefficient of 1 comes of
  // skewing that loop by the others.
  constexpr int64_t largest[] = {0, 0, 16, 8, 5, 3, 2, 1, 1};
  const int64_t most = largest[count];
  std::vector<std::vector<int64_t>> planes;
  std::vector<int64_t> plane(count, -most);
  for (;;) {
    const bool hasOne = std::ranges::find(plane, 1) != plane.end();
    if (hasOne && std::ranges::all_of(dependences, [&](const Dependence& each) {
          return std::inner_product(plane.begin(), plane.end(), each.distance.begin(), int64_t{0}) >= 0;
        }))
      planes.push_back(plane);
    size_t i = 0;
    while (i < count && plane[i] == most)
      plane[i++] = -most;
    if (i == count)
      break;
    ++plane[i];
  }
  const auto size = [](const std::vector<int64_t>& each) {
    int64_t sum = 0;
    for (const int64_t value : each)
      sum += std::abs(value);
    return sum;
  };
  std::ranges::sort(planes, {}, [&](const std::vector<int64_t>& each) { return std::pair(size(each), each); });
  for (const std::vector<int64_t>& each : planes)
    for (uint32_t loop = 0; loop < count; ++loop) {
      if (each[loop] != 1)
        continue;
      std::vector<Skew> skews;
      for (uint32_t by = 0; by < count; ++by)
        if (by != loop && each[by] != 0)
          skews.push_back({loop, by, each[by]});
      if (legalOrder(wished, skewed(dependences, skews)))
        return skews;
    }
  return std::nullopt;
}

std::optional<std::vector<Skew>> skewsForTiles(const LoopOrder& order, const std::vector<uint32_t>& distributed,
                                               const std::vector<Dependence>& unskewed) {
  std::vector<Dependence> dependences = unskewed;
  std::vector<Skew> skews;
  for (const uint32_t loop : distributed) {
    const auto at = static_cast<size_t>(std::ranges::find(order.loops, loop) - order.loops.begin());
    const int64_t direction = order.isBackward[at] ? -1 : 1;
    // By the innermost of the outer loops that all of the negative distances go along.
    std::optional<Skew> found;
    bool isNegative = false;
    for (size_t outer = at; outer-- > 0 && !found;) {
      const uint32_t by = order.loops[outer];
      const int64_t way = order.isBackward[outer] ? -1 : 1;
      int64_t factor = 0;
      bool helps = true;
      for (const Dependence& each : dependences) {
        const int64_t back = -direction * each.distance[loop], forth = way * each.distance[by];
        if (back <= 0)
          continue;
        isNegative = true;
        helps &= forth > 0;
        if (forth > 0)
          factor = std::max(factor, (back + forth - 1) / forth);
      }
      // Others must not become negative by it.
      for (const Dependence& each : dependences)
        helps &= direction * each.distance[loop] + factor * way * each.distance[by] >= 0;
      if (helps && factor > 0)
        found = Skew{loop, by, factor * way * direction};
    }
    if (isNegative && !found)
      return std::nullopt;
    if (found) {
      skews.push_back(*found);
      dependences = skewed(std::move(dependences), {*found});
    }
  }
  return skews.empty() ? std::nullopt : std::optional(skews);
}

namespace {

/// Every vector of distances by one function, every vector of coefficients by another.
template <typename Distance, typename Coefficients>
void change(Graph& graph, Distance distance, Coefficients coefficients) {
  for (equations::Node& node : graph.nodes) {
    for (equations::Operand& operand : node.operands) {
      if (auto* use = std::get_if<equations::Use>(&operand))
        distance(use->distance);
      else if (auto* input = std::get_if<equations::InputUse>(&operand))
        for (Affine& each : input->index)
          coefficients(each.iterators);
    }
    for (Affine& each : node.index)
      coefficients(each.iterators);
    for (std::vector<equations::Constraint>& piece : node.domain.pieces)
      for (equations::Constraint& each : piece)
        coefficients(each.value.iterators);
  }
}

} // namespace

Graph skewed(const Graph& graph, const std::vector<Skew>& skews) {
  Graph made = graph;
  const size_t count = graph.iterators.size();
  for (const Skew& skew : skews)
    change(
        made, [&](std::vector<int64_t>& distance) { distance[skew.loop] += skew.factor * distance[skew.by]; },
        [&](std::vector<int64_t>& values) {
          values.resize(count, 0);
          values[skew.by] -= skew.factor * values[skew.loop];
        });
  return made;
}

Graph reordered(const Graph& graph, const LoopOrder& order) {
  Graph made = graph;
  const size_t count = order.loops.size();
  const auto move = [&](std::vector<int64_t>& values) {
    values.resize(count, 0);
    std::vector<int64_t> moved(count);
    for (size_t i = 0; i < count; ++i)
      moved[i] = order.isBackward[i] ? -values[order.loops[i]] : values[order.loops[i]];
    values = std::move(moved);
  };
  for (size_t i = 0; i < count; ++i) {
    made.iterators[i] = graph.iterators[order.loops[i]] + (order.isBackward[i] ? "_backward" : "");
    if (order.loops[i] < graph.iteratorPlaces.size() && i < made.iteratorPlaces.size())
      made.iteratorPlaces[i] = graph.iteratorPlaces[order.loops[i]];
  }
  change(made, move, move);
  return made;
}

} // namespace strata::array
