// Groups of nodes by Tarjan's algorithm, a direction for each, level by level. See order.h.
#include "compiler/equations/order.h"

#include "compiler/equations/direction.h"

#include "compiler/equations/polyhedra.h"

#include <algorithm>
#include <functional>

namespace strata::equations {

namespace {

using Vector = std::vector<int64_t>;

int64_t product(const Vector& a, const Vector& b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

bool isZero(const Vector& vector) {
  return std::all_of(vector.begin(), vector.end(), [](int64_t value) { return value == 0; });
}

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

/// Gives times to nodes level by level. At each, nodes that do not wait for each other in a circle are computed one
/// group after the other; a circle needs a direction along which no dependence goes back, and loses those that go
/// ahead. Whichever directions are taken, there is one for what is left as long as there is an order: what has not gone
/// ahead along those before has a direction of its own in any order.
class Scheduler {
public:
  Scheduler(size_t nodes, size_t dimensions)
      : times_(nodes), dimensions_(dimensions), candidates_(candidates(dimensions)) {}

  bool run(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& left) {
    // All together where one direction suits them all: one loop is better than several.
    const size_t level = times_[nodes.front()].directions.size();
    if (level < dimensions_)
      if (const Vector* direction = directionFor(nodes, left)) {
        const std::vector<Dependence> rest = without(left, *direction);
        if (fits(nodes, rest, level + 1))
          return descend(nodes, rest, *direction, 0);
      }
    return apart(nodes, left);
  }

  std::vector<Time> take() { return std::move(times_); }
  const std::vector<uint32_t>& stuck() const { return stuck_; }

private:
  /// Groups that wait for each other in a circle, each with a loop of its own.
  bool apart(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& left) {
    const std::vector<std::vector<uint32_t>> parts = groupsOf(nodes, left);
    const size_t level = times_[nodes.front()].directions.size();
    for (size_t place = 0; place < parts.size(); ++place) {
      const std::vector<uint32_t>& part = parts[place];
      const std::vector<Dependence> own = within(part, left);
      if (level == dimensions_) {
        if (!own.empty())
          return fail(part);
        times_[part.front()].places.push_back(place);
        continue;
      }
      if (const Vector* direction = directionFor(part, own)) {
        if (!descend(part, without(own, *direction), *direction, place))
          return false;
        continue;
      }
      const std::optional<Direction> direction = findDirection(part, own, dimensions_);
      if (!direction)
        return fail(part);
      std::vector<Dependence> rest = own;
      std::erase_if(rest, [&](const Dependence& each) {
        return product(direction->factors, each.distance) + direction->shifts.at(each.to) >
               direction->shifts.at(each.from);
      });
      if (!descend(part, rest, direction->factors, place, &direction->shifts))
        return false;
    }
    return true;
  }

  bool fail(const std::vector<uint32_t>& part) {
    stuck_ = part;
    return false;
  }

  bool descend(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& left, const Vector& direction,
               size_t place, const std::map<uint32_t, int64_t>* shifts = nullptr) {
    for (const uint32_t node : nodes) {
      times_[node].places.push_back(place);
      times_[node].directions.push_back(direction);
      times_[node].shifts.push_back(shifts ? shifts->at(node) : 0);
    }
    return run(nodes, left);
  }

  /// Whether these nodes can still be put in order by loops around all of them, from a level on.
  bool fits(const std::vector<uint32_t>& nodes, std::vector<Dependence> left, size_t level) {
    std::vector<Vector> chosen = times_[nodes.front()].directions;
    for (; level < dimensions_ && !left.empty(); ++level) {
      const auto found = std::find_if(candidates_.begin(), candidates_.end(), [&](const Vector& each) {
        return std::all_of(left.begin(), left.end(),
                           [&](const Dependence& one) { return product(each, one.distance) >= 0; }) &&
               std::any_of(left.begin(), left.end(),
                           [&](const Dependence& one) { return product(each, one.distance) > 0; });
      });
      if (found == candidates_.end())
        break;
      left = without(left, *found);
    }
    return std::all_of(left.begin(), left.end(), [](const Dependence& each) { return isZero(each.distance); }) &&
           groupsOf(nodes, left).size() == nodes.size();
  }

  const Vector* directionFor(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& left) const {
    for (const Vector& candidate : candidates_) {
      if (!std::all_of(left.begin(), left.end(),
                       [&](const Dependence& each) { return product(candidate, each.distance) >= 0; }))
        continue;
      std::vector<Vector> extended = times_[nodes.front()].directions;
      extended.push_back(candidate);
      if (isIndependent(extended))
        return &candidate;
    }
    return nullptr;
  }

  static std::vector<Dependence> without(const std::vector<Dependence>& all, const Vector& direction) {
    std::vector<Dependence> rest;
    for (const Dependence& each : all)
      if (product(direction, each.distance) == 0)
        rest.push_back(each);
    return rest;
  }

  static std::vector<Dependence> within(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& all) {
    const auto has = [&](uint32_t node) { return std::find(nodes.begin(), nodes.end(), node) != nodes.end(); };
    std::vector<Dependence> own;
    for (const Dependence& each : all)
      if (has(each.from) && has(each.to))
        own.push_back(each);
    return own;
  }

  std::vector<std::vector<uint32_t>> groupsOf(const std::vector<uint32_t>& nodes,
                                              const std::vector<Dependence>& left) const {
    std::vector<std::vector<uint32_t>> successors(nodes.size());
    const auto number = [&](uint32_t node) {
      return static_cast<uint32_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    for (const Dependence& each : within(nodes, left))
      successors[number(each.from)].push_back(number(each.to));
    std::vector<std::vector<uint32_t>> found = groups(nodes.size(), successors);
    for (std::vector<uint32_t>& group : found)
      for (uint32_t& node : group)
        node = nodes[node];
    return found;
  }

  std::vector<Time> times_;
  size_t dimensions_;
  std::vector<Vector> candidates_;
  std::vector<uint32_t> stuck_;
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

std::optional<std::vector<Time>> order(const Graph& graph, std::vector<uint32_t>& stuck) {
  if (graph.nodes.empty())
    return std::vector<Time>();
  Scheduler scheduler(graph.nodes.size(), graph.iterators.size());
  std::vector<uint32_t> nodes(graph.nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    nodes[i] = i;
  if (!scheduler.run(nodes, dependences(graph))) {
    stuck = scheduler.stuck();
    return std::nullopt;
  }
  return scheduler.take();
}

} // namespace strata::equations
