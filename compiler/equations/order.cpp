// Groups of nodes by Tarjan's algorithm, directions by trying. See order.h.
#include "compiler/equations/order.h"

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
  std::sort(skewed.begin(), skewed.end(), [&](const Vector& a, const Vector& b) {
    return size(a) != size(b) ? size(a) < size(b) : a > b;
  });
  found.insert(found.end(), skewed.begin(), skewed.end());
  return found;
}

/// Directions, outermost first, along which all distances are positive in lexicographic order.
std::optional<std::vector<Vector>> directionsFor(std::vector<Vector> distances, size_t dimensions) {
  std::vector<Vector> chosen;
  const std::vector<Vector> all = candidates(dimensions);
  while (chosen.size() < dimensions) {
    bool isFound = false;
    for (const Vector& candidate : all) {
      if (!std::all_of(distances.begin(), distances.end(), [&](const Vector& each) { return product(candidate, each) >= 0; }))
        continue;
      std::vector<Vector> extended = chosen;
      extended.push_back(candidate);
      if (!isIndependent(extended))
        continue;
      chosen = std::move(extended);
      std::erase_if(distances, [&](const Vector& each) { return product(candidate, each) > 0; });
      isFound = true;
      break;
    }
    if (!isFound)
      return std::nullopt;
  }
  return distances.empty() ? std::optional(chosen) : std::nullopt;
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

/// Nodes of one iteration, each behind those whose values of the same iteration it uses; by number where nothing says
/// else. Nothing where they wait for each other.
std::optional<std::vector<uint32_t>> within(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& all) {
  std::vector<uint32_t> result, left = nodes;
  while (!left.empty()) {
    const auto ready = std::find_if(left.begin(), left.end(), [&](uint32_t node) {
      return std::none_of(all.begin(), all.end(), [&](const Dependence& each) {
        return each.to == node && isZero(each.distance) && std::find(left.begin(), left.end(), each.from) != left.end();
      });
    });
    if (ready == left.end())
      return std::nullopt;
    result.push_back(*ready);
    left.erase(ready);
  }
  return result;
}

std::optional<Nest> nestOf(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& all, size_t dimensions) {
  std::vector<Vector> distances;
  const auto has = [&](uint32_t node) { return std::find(nodes.begin(), nodes.end(), node) != nodes.end(); };
  for (const Dependence& each : all)
    if (has(each.from) && has(each.to) && !isZero(each.distance))
      distances.push_back(each.distance);
  std::optional<std::vector<Vector>> directions = directionsFor(std::move(distances), dimensions);
  std::optional<std::vector<uint32_t>> ordered = within(nodes, all);
  if (!directions || !ordered)
    return std::nullopt;
  return Nest{std::move(*directions), std::move(*ordered)};
}

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

std::optional<std::vector<Nest>> order(const Graph& graph, uint32_t& stuck) {
  const std::vector<Dependence> all = dependences(graph);
  const size_t dimensions = graph.iterators.size();
  std::vector<uint32_t> nodes(graph.nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i)
    nodes[i] = i;
  if (std::optional<Nest> one = nestOf(nodes, all, dimensions))
    return std::vector<Nest>{std::move(*one)};
  std::vector<std::vector<uint32_t>> successors(nodes.size());
  for (const Dependence& each : all)
    successors[each.from].push_back(each.to);
  std::vector<Nest> nests;
  for (const std::vector<uint32_t>& group : groups(nodes.size(), successors)) {
    std::optional<Nest> nest = nestOf(group, all, dimensions);
    if (!nest) {
      stuck = group.front();
      return std::nullopt;
    }
    nests.push_back(std::move(*nest));
  }
  return nests;
}

} // namespace strata::equations
