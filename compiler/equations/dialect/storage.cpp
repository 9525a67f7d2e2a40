// See storage.h.
#include "compiler/equations/dialect/storage.h"

#include <algorithm>

namespace strata::equations {

namespace {

/// The dimension of a nest's loops, outermost first; nothing where they are not the iterators themselves.
std::optional<std::vector<unsigned>> iteratorsOf(const Nest& nest) {
  std::vector<unsigned> found;
  for (const std::vector<int64_t>& direction : nest.directions) {
    const auto at = std::find(direction.begin(), direction.end(), 1);
    if (at == direction.end() || std::count(direction.begin(), direction.end(), 0) + 1 != static_cast<ptrdiff_t>(direction.size()))
      return std::nullopt;
    found.push_back(static_cast<unsigned>(at - direction.begin()));
  }
  return found;
}

struct Position {
  size_t nest = 0, place = 0;
};

class Planner {
public:
  Planner(const Graph& graph, const std::vector<Nest>& nests, const std::vector<Dependence>& dependences)
      : graph_(graph), nests_(nests), dependences_(dependences), positions_(graph.nodes.size()) {
    for (size_t nest = 0; nest < nests.size(); ++nest)
      for (size_t place = 0; place < nests[nest].nodes.size(); ++place)
        positions_[nests[nest].nodes[place]] = {nest, place};
  }

  Storage plan(uint32_t variable) const {
    Storage all;
    for (unsigned i = 0; i < graph_.iterators.size(); ++i)
      all.dimensions.push_back(i);
    std::vector<const Dependence*> uses;
    for (const Dependence& each : dependences_)
      if (graph_.nodes[each.from].target == variable && !graph_.nodes[each.from].isOutput)
        uses.push_back(&each);
    if (uses.empty())
      return {};
    const size_t nest = positions_[uses[0]->from].nest;
    for (const Dependence* use : uses)
      if (positions_[use->from].nest != nest || positions_[use->to].nest != nest)
        return all; // kept for a later nest
    const std::optional<std::vector<unsigned>> loops = iteratorsOf(nests_[nest]);
    return loops ? fold(uses, *loops) : all;
  }

private:
  Storage fold(const std::vector<const Dependence*>& uses, const std::vector<unsigned>& loops) const {
    // The outermost loop that a use moves along.
    size_t outermost = loops.size();
    for (const Dependence* use : uses)
      for (size_t level = 0; level < loops.size(); ++level)
        if (use->distance[loops[level]] != 0) {
          outermost = std::min(outermost, level);
          break;
        }
    if (outermost == loops.size())
      return {};
    int64_t farthest = 0;
    bool areUsesFirst = true;
    for (const Dependence* use : uses) {
      const int64_t steps = use->distance[loops[outermost]];
      farthest = std::max(farthest, steps);
      bool isElsewhere = false; // a use that moves along inner loops, too, needs the step before to be whole
      for (size_t level = outermost + 1; level < loops.size(); ++level)
        isElsewhere |= use->distance[loops[level]] != 0;
      if (steps != 0)
        areUsesFirst &= !isElsewhere && comesBeforeAll(use->to, graph_.nodes[use->from].target);
    }
    Storage made;
    made.steps = farthest + (areUsesFirst ? 0 : 1);
    made.dimensions.assign(loops.begin() + static_cast<ptrdiff_t>(outermost), loops.end());
    return made;
  }

  /// Whether a node is computed in front of every definition of the variable in one iteration.
  bool comesBeforeAll(uint32_t node, uint32_t variable) const {
    for (uint32_t other = 0; other < graph_.nodes.size(); ++other)
      if (!graph_.nodes[other].isOutput && graph_.nodes[other].target == variable && other != node &&
          positions_[other].place < positions_[node].place)
        return false;
    return true;
  }

  const Graph& graph_;
  const std::vector<Nest>& nests_;
  const std::vector<Dependence>& dependences_;
  std::vector<Position> positions_;
};

} // namespace

std::vector<Storage> planStorage(const Graph& graph, const std::vector<Nest>& nests,
                                 const std::vector<Dependence>& dependences) {
  const Planner planner(graph, nests, dependences);
  std::vector<Storage> plans;
  for (uint32_t variable = 0; variable < graph.variables.size(); ++variable)
    plans.push_back(planner.plan(variable));
  return plans;
}

} // namespace strata::equations
