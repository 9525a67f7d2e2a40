// Groups of equations by Tarjan's algorithm, those that share loops put together, and a direction for each, level by
// level. See order.h.
#include "compiler/equations/order.h"

#include "compiler/equations/direction.h"

#include "compiler/equations/polyhedra.h"

#include <algorithm>
#include <functional>

namespace strata::equations {

namespace {

using Vector = std::vector<int64_t>;

/// Whether the vectors are linearly independent, by elimination without fractions.
bool isIndependent(std::vector<Vector> rows) {
  size_t rank = 0;
  const size_t columns = rows.empty() ? 0 : rows[0].size();
  for (size_t column = 0; column < columns && rank < rows.size(); ++column) {
    const auto pivot = std::find_if(rows.begin() + static_cast<ptrdiff_t>(rank), rows.end(),
                                    [&](const Vector& row) { return row[column] != 0; });
    if (pivot == rows.end())
      continue;
    std::swap(rows[rank], *pivot);
    for (size_t i = rank + 1; i < rows.size(); ++i) {
      const int64_t a = rows[i][column], b = rows[rank][column];
      for (size_t j = 0; j < columns; ++j)
        rows[i][j] = rows[i][j] * b - rows[rank][j] * a;
    }
    ++rank;
  }
  return rank == rows.size();
}

/// Directions to try: along each iterator, against it, then skewed ones by the size of their factors.
std::vector<Vector> candidates(size_t dimensions) {
  std::vector<Vector> found;
  for (const int64_t sign : {1, -1})
    for (size_t i = 0; i < dimensions; ++i) {
      found.emplace_back(dimensions, 0);
      found.back()[i] = sign;
    }
  if (dimensions > 4)
    return found;
  std::vector<Vector> skewed;
  Vector vector(dimensions, -3);
  const std::function<void(size_t)> extend = [&](size_t at) {
    if (at == dimensions) {
      if (std::count_if(vector.begin(), vector.end(), [](int64_t value) { return value != 0; }) > 1)
        skewed.push_back(vector);
      return;
    }
    for (int64_t value = -3; value <= 3; ++value) {
      vector[at] = value;
      extend(at + 1);
    }
  };
  extend(0);
  const auto size = [](const Vector& each) {
    int64_t sum = 0;
    for (const int64_t value : each)
      sum += value < 0 ? -value : value;
    return sum;
  };
  std::sort(skewed.begin(), skewed.end(),
            [&](const Vector& a, const Vector& b) { return size(a) != size(b) ? size(a) < size(b) : a > b; });
  found.insert(found.end(), skewed.begin(), skewed.end());
  return found;
}

/// Groups of nodes that reach each other, each before those that depend on it.
std::vector<std::vector<uint32_t>> groups(size_t count, const std::vector<std::vector<uint32_t>>& successors) {
  std::vector<std::vector<uint32_t>> found;
  std::vector<int> index(count, -1), low(count, 0);
  std::vector<bool> isOpen(count);
  std::vector<uint32_t> open;
  int next = 0;
  struct Frame {
    uint32_t node;
    size_t successor;
  };
  for (uint32_t root = 0; root < count; ++root) {
    if (index[root] >= 0)
      continue;
    std::vector<Frame> stack{{root, 0}};
    while (!stack.empty()) {
      Frame& frame = stack.back();
      const uint32_t node = frame.node;
      if (frame.successor == 0) {
        index[node] = low[node] = next++;
        open.push_back(node);
        isOpen[node] = true;
      }
      bool descends = false;
      while (frame.successor < successors[node].size()) {
        const uint32_t to = successors[node][frame.successor++];
        if (index[to] < 0) {
          stack.push_back({to, 0});
          descends = true;
          break;
        }
        if (isOpen[to])
          low[node] = std::min(low[node], index[to]);
      }
      if (descends)
        continue;
      if (frame.successor == 0)
        frame.successor = 1; // a node without successors has been begun
      if (low[node] == index[node]) {
        std::vector<uint32_t>& group = found.emplace_back();
        uint32_t member = 0;
        do {
          member = open.back();
          open.pop_back();
          isOpen[member] = false;
          group.push_back(member);
        } while (member != node);
        std::sort(group.begin(), group.end());
      }
      stack.pop_back();
      if (!stack.empty())
        low[stack.back().node] = std::min(low[stack.back().node], low[node]);
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

/// A flow on its way through the levels.
struct Link : Wait {
  isl::map iterations; // those that no direction has gone ahead along

  /// weight * shift + direction · vector, of one of the distances.
  static int64_t along(const Vector& distance, const Vector& direction, int64_t shift) {
    int64_t sum = distance[0] * shift;
    for (size_t i = 0; i < direction.size(); ++i)
      sum += distance[i + 1] * direction[i];
    return sum;
  }
  bool neverGoesBack(const Vector& direction) const {
    return std::all_of(distances.begin(), distances.end(),
                       [&](const Vector& each) { return along(each, direction, 0) >= 0; });
  }
  bool goesAhead(const Vector& direction) const {
    return std::any_of(distances.begin(), distances.end(),
                       [&](const Vector& each) { return along(each, direction, 0) > 0; });
  }
  bool isZero() const {
    return distances.size() == 1 &&
           std::all_of(distances[0].begin() + 1, distances[0].end(), [](int64_t value) { return value == 0; });
  }
};

/// Gives times to equations level by level. At each, equations that do not wait for each other in a circle are computed
/// one group after the other, those that can share all loops together; a circle needs a direction along which no
/// distance goes back, and loses those that go ahead. Whichever directions are taken, there is one for what is left of
/// constant distances as long as there is an order: what has not gone ahead along those before has a direction of its
/// own in any order.
class Scheduler {
public:
  Scheduler(size_t equations, size_t dimensions, const Polyhedra& polyhedra)
      : times_(equations), dimensions_(dimensions), polyhedra_(polyhedra), candidates_(candidates(dimensions)) {}

  bool run(const std::vector<uint32_t>& nodes, const std::vector<Link>& left) {
    // All together where one direction suits them all: one loop is better than several.
    const size_t level = times_[nodes.front()].directions.size();
    if (level < dimensions_)
      if (const Vector* direction = directionFor(nodes, left)) {
        const std::vector<Link> rest = without(left, *direction);
        if (fits(nodes, rest, level + 1))
          return descend(nodes, rest, *direction, 0);
      }
    return apart(nodes, left);
  }

  std::vector<Time> take() { return std::move(times_); }
  const Circle& circle() const { return circle_; }

private:
  /// Equations that stand in the same loop of this level.
  struct Group {
    std::vector<uint32_t> nodes;
    bool fits = false; // in loops around all of them, from here on
  };

  /// Groups that wait for each other in a circle, together with what goes along with them.
  bool apart(const std::vector<uint32_t>& nodes, const std::vector<Link>& left) {
    const std::vector<std::vector<uint32_t>> parts = groupsOf(nodes, left);
    if (times_[nodes.front()].directions.size() == dimensions_) {
      for (size_t place = 0; place < parts.size(); ++place) {
        if (const std::vector<Link> own = within(parts[place], left); !own.empty())
          return fail(parts[place], own);
        times_[parts[place].front()].places.push_back(place);
      }
      return true;
    }
    const std::vector<Group> sharing = joined(parts, left);
    for (size_t place = 0; place < sharing.size(); ++place) {
      const std::vector<uint32_t>& part = sharing[place].nodes;
      const std::vector<Link> own = within(part, left);
      if (const Vector* direction = directionFor(part, own)) {
        if (!descend(part, without(own, *direction), *direction, place))
          return false;
        continue;
      }
      const std::optional<Direction> direction =
          findDirection(part, std::vector<Wait>(own.begin(), own.end()), dimensions_);
      if (!direction)
        return fail(part, own);
      if (!descend(part, without(own, direction->factors, &direction->shifts), direction->factors, place,
                   &direction->shifts))
        return false;
    }
    return true;
  }

  /// Parts in one loop after the other, each as early as what it waits for allows. It joins others where all loops can
  /// be shared; and where it waits for them, or they for it, and one of the two is taken apart further in anyway.
  std::vector<Group> joined(const std::vector<std::vector<uint32_t>>& parts, const std::vector<Link>& left) {
    std::vector<Group> made;
    std::vector<size_t> groupOf(times_.size(), SIZE_MAX);
    for (const std::vector<uint32_t>& part : parts) {
      size_t earliest = 0;
      std::vector<bool> isNear(made.size());
      for (const Link& each : touching(part, left)) {
        const uint32_t other = isIn(part, each.to) ? each.from : each.to;
        if (groupOf[other] == SIZE_MAX)
          continue;
        isNear[groupOf[other]] = true;
        earliest = std::max(earliest, groupOf[other]);
      }
      const bool fitsAlone = suits(part, left) == Suit::AllLoops;
      size_t into = made.size();
      for (size_t at = earliest; at < made.size() && into == made.size(); ++at) {
        std::vector<uint32_t> both = made[at].nodes;
        both.insert(both.end(), part.begin(), part.end());
        const Suit suit = suits(both, left);
        if (suit == Suit::AllLoops || (suit == Suit::OneLoop && isNear[at] && !(fitsAlone && made[at].fits)))
          into = at;
        if (into == at) {
          std::sort(both.begin(), both.end());
          made[at] = {both, suit == Suit::AllLoops};
        }
      }
      if (into == made.size())
        made.push_back({part, fitsAlone});
      for (const uint32_t node : part)
        groupOf[node] = into;
    }
    return made;
  }

  enum class Suit { No, OneLoop, AllLoops };
  /// How many loops of this level and those inside can be around all of these.
  Suit suits(const std::vector<uint32_t>& nodes, const std::vector<Link>& left) {
    const std::vector<Link> own = within(nodes, left);
    const Vector* direction = directionFor(nodes, own);
    if (!direction)
      return Suit::No;
    const size_t level = times_[nodes.front()].directions.size();
    return fits(nodes, without(own, *direction), level + 1) ? Suit::AllLoops : Suit::OneLoop;
  }

  bool fail(const std::vector<uint32_t>& part, const std::vector<Link>& own) {
    circle_.equations = part;
    circle_.isProved = std::all_of(own.begin(), own.end(), [](const Link& each) { return each.distances.size() == 1; });
    return false;
  }

  bool descend(const std::vector<uint32_t>& nodes, const std::vector<Link>& left, const Vector& direction, size_t place,
               const std::map<uint32_t, int64_t>* shifts = nullptr) {
    const Vector copy = direction;
    for (const uint32_t node : nodes) {
      times_[node].places.push_back(place);
      times_[node].directions.push_back(copy);
      times_[node].shifts.push_back(shifts ? shifts->at(node) : 0);
    }
    return run(nodes, left);
  }

  /// Whether these equations can still be put in order by loops around all of them, from a level on.
  bool fits(const std::vector<uint32_t>& nodes, std::vector<Link> left, size_t level) {
    for (; level < dimensions_ && !left.empty(); ++level) {
      const auto found = std::find_if(candidates_.begin(), candidates_.end(), [&](const Vector& each) {
        return std::all_of(left.begin(), left.end(), [&](const Link& one) { return one.neverGoesBack(each); }) &&
               std::any_of(left.begin(), left.end(), [&](const Link& one) { return one.goesAhead(each); });
      });
      if (found == candidates_.end())
        break;
      left = without(left, *found);
    }
    return std::all_of(left.begin(), left.end(), [](const Link& each) { return each.isZero(); }) &&
           groupsOf(nodes, left).size() == nodes.size();
  }

  const Vector* directionFor(const std::vector<uint32_t>& nodes, const std::vector<Link>& left) const {
    for (const Vector& candidate : candidates_) {
      if (!std::all_of(left.begin(), left.end(), [&](const Link& each) { return each.neverGoesBack(candidate); }))
        continue;
      std::vector<Vector> extended = times_[nodes.front()].directions;
      extended.push_back(candidate);
      if (isIndependent(extended))
        return &candidate;
    }
    return nullptr;
  }

  /// What of the links does not go ahead along a direction, with shifts of the equations.
  std::vector<Link> without(const std::vector<Link>& all, const Vector& direction,
                            const std::map<uint32_t, int64_t>* shifts = nullptr) const {
    std::vector<Link> rest;
    for (const Link& each : all) {
      const int64_t shift = shifts ? shifts->at(each.to) - shifts->at(each.from) : 0;
      bool isAhead = true, isStill = true;
      for (const Vector& distance : each.distances) {
        const int64_t along = Link::along(distance, direction, shift);
        isAhead &= along > 0 || distance[0] == 0;
        isStill &= along == 0;
      }
      if (isStill)
        rest.push_back(each);
      if (isStill || isAhead)
        continue;
      Link part = each;
      part.iterations = each.iterations.intersect(still(direction, shift));
      if (part.iterations.is_empty())
        continue;
      part.distances = Polyhedra::hull(part.iterations.deltas());
      rest.push_back(std::move(part));
    }
    return rest;
  }

  /// From iterations to those that come at the same time along a direction.
  isl::map still(const Vector& direction, int64_t shift) const {
    std::string from, to, sum = std::to_string(shift);
    for (size_t i = 0; i < dimensions_; ++i) {
      const std::string number = std::to_string(i);
      from += (i ? ", i" : "i") + number;
      to += (i ? ", j" : "j") + number;
      if (direction[i] != 0)
        sum +=
            " + " + std::to_string(direction[i]) + "*j" + number + " - " + std::to_string(direction[i]) + "*i" + number;
    }
    return polyhedra_.parsedMap("{ [" + from + "] -> [" + to + "] : " + sum + " = 0 }");
  }

  static bool isIn(const std::vector<uint32_t>& nodes, uint32_t node) {
    return std::binary_search(nodes.begin(), nodes.end(), node);
  }

  std::vector<bool> marks(const std::vector<uint32_t>& nodes) const {
    std::vector<bool> has(times_.size());
    for (const uint32_t node : nodes)
      has[node] = true;
    return has;
  }
  std::vector<Link> within(const std::vector<uint32_t>& nodes, const std::vector<Link>& all) const {
    const std::vector<bool> has = marks(nodes);
    std::vector<Link> own;
    for (const Link& each : all)
      if (has[each.from] && has[each.to])
        own.push_back(each);
    return own;
  }
  std::vector<Link> touching(const std::vector<uint32_t>& nodes, const std::vector<Link>& all) const {
    const std::vector<bool> has = marks(nodes);
    std::vector<Link> found;
    for (const Link& each : all)
      if (has[each.from] != has[each.to])
        found.push_back(each);
    return found;
  }

  std::vector<std::vector<uint32_t>> groupsOf(const std::vector<uint32_t>& nodes, const std::vector<Link>& left) const {
    std::vector<std::vector<uint32_t>> successors(nodes.size());
    std::vector<uint32_t> numbers(times_.size());
    for (uint32_t i = 0; i < nodes.size(); ++i)
      numbers[nodes[i]] = i;
    for (const Link& each : within(nodes, left))
      successors[numbers[each.from]].push_back(numbers[each.to]);
    std::vector<std::vector<uint32_t>> found = groups(nodes.size(), successors);
    for (std::vector<uint32_t>& group : found)
      for (uint32_t& node : group)
        node = nodes[node];
    return found;
  }

  std::vector<Time> times_;
  size_t dimensions_;
  const Polyhedra& polyhedra_;
  std::vector<Vector> candidates_;
  Circle circle_;
};

} // namespace

std::vector<Dependence> dependences(const Graph& graph) {
  const Polyhedra polyhedra(graph.iterators.size(), graph.parameters.size());
  const isl::set context = polyhedra.context(graph.context);
  std::vector<isl::set> domains;
  for (const Node& node : graph.nodes)
    domains.push_back(polyhedra.set(node.domain).intersect(context));
  std::vector<Dependence> found;
  for (uint32_t to = 0; to < graph.nodes.size(); ++to)
    for (const Operand& operand : graph.nodes[to].operands) {
      const Use* use = std::get_if<Use>(&operand);
      if (!use)
        continue;
      for (uint32_t from = 0; from < graph.nodes.size(); ++from) {
        if (graph.nodes[from].isOutput || graph.nodes[from].target != use->variable)
          continue;
        const isl::set reached = domains[from].apply(polyhedra.translation(use->distance));
        if (!reached.intersect(domains[to]).is_empty())
          found.push_back({from, to, use->distance});
      }
    }
  return found;
}

std::vector<Flow> flows(const System& system, const Polyhedra& polyhedra) {
  const isl::set space = polyhedra.set(system.space).intersect(polyhedra.context(system.context));
  std::vector<isl::set> domains;
  std::vector<isl::map> indices;
  for (const Equation& equation : system.equations) {
    domains.push_back(polyhedra.set(equation.guard).intersect(space));
    indices.push_back(polyhedra.map(equation.index).intersect_domain(domains.back()));
  }
  std::vector<Flow> found;
  for (uint32_t to = 0; to < system.equations.size(); ++to)
    eachElement(system.equations[to].value, [&](const Expression& element) {
      if (system.variables[element.variable].role != Role::Internal)
        return;
      const isl::map users = polyhedra.map(element.index).intersect_domain(domains[to]).reverse();
      for (uint32_t from = 0; from < system.equations.size(); ++from) {
        if (system.equations[from].variable != element.variable)
          continue;
        const isl::map iterations = indices[from].apply_range(users);
        if (!iterations.is_empty())
          found.push_back({from, to, iterations, &element});
      }
    });
  return found;
}

std::optional<std::vector<Time>> order(const System& system, const Polyhedra& polyhedra, const std::vector<Flow>& flows,
                                       Circle& circle) {
  if (system.equations.empty())
    return std::vector<Time>();
  Scheduler scheduler(system.equations.size(), system.iterators.size(), polyhedra);
  std::vector<uint32_t> nodes(system.equations.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    nodes[i] = i;
  std::vector<Link> links;
  for (const Flow& each : flows)
    links.push_back({{each.from, each.to, Polyhedra::hull(each.iterations.deltas())}, each.iterations});
  if (!scheduler.run(nodes, links)) {
    circle = scheduler.circle();
    return std::nullopt;
  }
  return scheduler.take();
}

} // namespace strata::equations
