// The outermost loop that a value outlives an iteration of decides: loops around it need no room, and of it a few
// steps. See storage.h.
#include "compiler/equations/dialect/storage.h"

#include "compiler/equations/polyhedra.h"

#include <algorithm>

namespace strata::equations {

namespace {

/// The iterator that a loop runs over; nothing where it runs backwards or over a sum of them.
std::optional<unsigned> iteratorOf(const std::vector<int64_t>& direction) {
  const auto at = std::find(direction.begin(), direction.end(), 1);
  if (at == direction.end() ||
      std::count(direction.begin(), direction.end(), 0) + 1 != static_cast<ptrdiff_t>(direction.size()))
    return std::nullopt;
  return static_cast<unsigned>(at - direction.begin());
}

class Planner {
public:
  Planner(const Graph& graph, const std::vector<Time>& times, const std::vector<Dependence>& dependences)
      : graph_(graph), times_(times), dependences_(dependences),
        sets_(graph.iterators.size(), graph.parameters.size()) {
    for (const Node& node : graph.nodes)
      domains_.push_back(sets_.set(node.domain));
  }

  Storage plan(uint32_t variable) const {
    std::vector<const Dependence*> uses;
    for (const Dependence& each : dependences_)
      if (graph_.nodes[each.from].target == variable && !graph_.nodes[each.from].isOutput)
        uses.push_back(&each);
    if (uses.empty())
      return {};
    Storage all;
    for (unsigned i = 0; i < graph_.iterators.size(); ++i)
      all.dimensions.push_back(i);
    // Definitions that do not share a use's loops, or are shifted, have times of their own, which are not looked into
    // further.
    for (uint32_t node = 0; node < graph_.nodes.size(); ++node)
      if (defines(node, variable))
        for (const Dependence* use : uses)
          if (times_[node].directions != times_[use->to].directions || times_[node].shifts != times_[use->to].shifts)
            return all;
    std::vector<unsigned> loops;
    for (const std::vector<int64_t>& direction : times_[uses[0]->from].directions) {
      const std::optional<unsigned> iterator = iteratorOf(direction);
      if (!iterator)
        return all;
      loops.push_back(*iterator);
    }
    return fold(variable, uses, loops);
  }

private:
  bool defines(uint32_t node, uint32_t variable) const {
    return !graph_.nodes[node].isOutput && graph_.nodes[node].target == variable;
  }

  /// The outermost loop whose iteration a value outlives: that the use moves along, or that the two do not share.
  size_t levelOf(const Dependence& use, const std::vector<unsigned>& loops) const {
    size_t level = 0;
    while (level < loops.size() && use.distance[loops[level]] == 0 && isShared(use.from, use.to, level))
      ++level;
    return level;
  }
  bool isShared(uint32_t a, uint32_t b, size_t level) const {
    return times_[a].places[level] == times_[b].places[level];
  }

  Storage fold(uint32_t variable, const std::vector<const Dependence*>& uses,
               const std::vector<unsigned>& loops) const {
    size_t outermost = loops.size();
    for (const Dependence* use : uses)
      outermost = std::min(outermost, levelOf(*use, loops));
    if (outermost == loops.size())
      return {};
    Storage made;
    made.dimensions.assign(loops.begin() + static_cast<ptrdiff_t>(outermost), loops.end());
    int64_t farthest = 0;
    bool areUsesFirst = true;
    for (const Dependence* use : uses) {
      if (!isShared(use->from, use->to, outermost))
        return made; // used when the loop has come to its end: all steps
      const int64_t steps = use->distance[loops[outermost]];
      farthest = std::max(farthest, steps);
      if (steps != 0)
        areUsesFirst &= comesFirst(*use, variable, loops, outermost);
    }
    made.steps = farthest + (areUsesFirst ? 0 : 1);
    return made;
  }

  /// Whether a value of so many steps ago is read in front of every definition of this step that would take its place.
  bool comesFirst(const Dependence& use, uint32_t variable, const std::vector<unsigned>& loops,
                  size_t outermost) const {
    for (uint32_t node = 0; node < graph_.nodes.size(); ++node) {
      if (!defines(node, variable) || node == use.to)
        continue;
      const std::vector<size_t>& own = times_[node].places;
      const std::vector<size_t>& other = times_[use.to].places;
      const size_t differs =
          static_cast<size_t>(std::mismatch(own.begin(), own.end(), other.begin()).first - own.begin());
      const bool isBefore = other[differs] < own[differs];
      if (differs < loops.size() && differs > outermost) {
        if (!isBefore)
          return false;
        continue; // all of this step's reads stand in front of all its definitions
      }
      // In one loop: cell by cell.
      if (!isBefore && !domains_[node].intersect(domains_[use.to]).is_empty())
        return false;
    }
    // A read at another place of the inner loops may come when that place has been written.
    for (size_t level = outermost + 1; level < loops.size(); ++level)
      if (use.distance[loops[level]] != 0)
        return false;
    return true;
  }

  const Graph& graph_;
  const std::vector<Time>& times_;
  const std::vector<Dependence>& dependences_;
  Polyhedra sets_;
  std::vector<isl::set> domains_;
};

} // namespace

std::vector<Storage> planStorage(const Graph& graph, const std::vector<Time>& times,
                                 const std::vector<Dependence>& dependences) {
  const Planner planner(graph, times, dependences);
  std::vector<Storage> plans;
  for (uint32_t variable = 0; variable < graph.variables.size(); ++variable)
    plans.push_back(planner.plan(variable));
  return plans;
}

} // namespace strata::equations
