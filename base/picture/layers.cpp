// See layers.h. Edges over several rows are cut by points, which take part in the order of the rows between as boxes
// without width do.
#include "base/picture/layers.h"

#include "base/picture/svg.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>

namespace strata::picture {

namespace {

constexpr int orderSweeps = 24, placeSweeps = 12;
constexpr double pointWeight = 4; // how much straighter long edges are kept than boxes are centred

/// A box, or a point of a long edge, in its row.
struct Slot {
  double width = 0, height = 0;
  size_t row = 0;
  bool isPoint = false;
  double x = 0; // centre
  std::vector<size_t> above, below;
};

class Layers {
public:
  Layers(const std::vector<LayerNode>& nodes, const std::vector<LayerEdge>& edges, const LayerSpacing& spacing)
      : nodes_(nodes), edges_(edges), spacing_(spacing), reversed_(edges.size()) {}

  LayerDrawing draw() {
    breakCycles();
    assignRows();
    cutLongEdges();
    orderRows();
    placeAcross();
    return finish();
  }

private:
  size_t above(size_t edge) const { return reversed_[edge] ? edges_[edge].to : edges_[edge].from; }
  size_t below(size_t edge) const { return reversed_[edge] ? edges_[edge].from : edges_[edge].to; }

  /// A depth-first walk from nodes that nothing leads to, then from the others; edges to a node that the walk is in are
  /// turned round.
  void breakCycles() {
    std::vector<std::vector<size_t>> leaving(nodes_.size());
    std::vector<size_t> entering(nodes_.size());
    for (size_t i = 0; i < edges_.size(); ++i) {
      leaving[edges_[i].from].push_back(i);
      ++entering[edges_[i].to];
    }
    enum : uint8_t { New, Open, Done };
    std::vector<uint8_t> state(nodes_.size(), New);
    std::vector<std::pair<size_t, size_t>> path; // a node, and how many of its edges have been followed
    const auto walk = [&](size_t start) {
      if (state[start] != New)
        return;
      path.emplace_back(start, 0);
      state[start] = Open;
      while (!path.empty()) {
        auto& [node, followed] = path.back();
        if (followed == leaving[node].size()) {
          state[node] = Done;
          visited_.push_back(node);
          path.pop_back();
          continue;
        }
        const size_t edge = leaving[node][followed++];
        const size_t next = edges_[edge].to;
        if (state[next] == Open) {
          reversed_[edge] = true;
        } else if (state[next] == New) {
          state[next] = Open;
          path.emplace_back(next, 0);
        }
      }
    };
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (entering[i] == 0)
        walk(i);
    for (size_t i = 0; i < nodes_.size(); ++i)
      walk(i);
  }

  /// Below everything that leads here; what nothing leads to stands just above what it leads to.
  void assignRows() {
    std::vector<std::vector<size_t>> to(nodes_.size());
    std::vector<size_t> entering(nodes_.size());
    for (size_t i = 0; i < edges_.size(); ++i)
      if (above(i) != below(i)) {
        to[above(i)].push_back(below(i));
        ++entering[below(i)];
      }
    std::vector<bool> isFirst(nodes_.size());
    std::vector<size_t> ready;
    row_.assign(nodes_.size(), 0);
    for (size_t i = 0; i < nodes_.size(); ++i)
      if ((isFirst[i] = entering[i] == 0))
        ready.push_back(i);
    for (size_t at = 0; at < ready.size(); ++at)
      for (size_t next : to[ready[at]]) {
        row_[next] = std::max(row_[next], row_[ready[at]] + 1);
        if (--entering[next] == 0)
          ready.push_back(next);
      }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!isFirst[i] || to[i].empty())
        continue;
      size_t nearest = SIZE_MAX;
      for (size_t next : to[i])
        nearest = std::min(nearest, row_[next]);
      row_[i] = nearest - 1;
    }
  }

  void cutLongEdges() {
    for (size_t i = 0; i < nodes_.size(); ++i)
      slots_.push_back({nodes_[i].width, nodes_[i].height, row_[i], false, 0, {}, {}});
    chains_.resize(edges_.size());
    for (size_t i = 0; i < edges_.size(); ++i) {
      std::vector<size_t>& chain = chains_[i];
      chain.push_back(above(i));
      for (size_t row = row_[above(i)] + 1; row < row_[below(i)]; ++row) {
        chain.push_back(slots_.size());
        slots_.push_back({0, 0, row, true, 0, {}, {}});
      }
      chain.push_back(below(i));
      for (size_t k = 0; k + 1 < chain.size() && chain.front() != chain.back(); ++k) {
        slots_[chain[k]].below.push_back(chain[k + 1]);
        slots_[chain[k + 1]].above.push_back(chain[k]);
      }
    }
    const size_t rows = row_.empty() ? 0 : *std::max_element(row_.begin(), row_.end()) + 1;
    rows_.resize(rows);
    // As the walk left them, which keeps what belongs together together; points beside where they come from.
    for (auto node = visited_.rbegin(); node != visited_.rend(); ++node)
      rows_[slots_[*node].row].push_back(*node);
    for (size_t i = nodes_.size(); i < slots_.size(); ++i)
      rows_[slots_[i].row].push_back(i);
  }

  std::vector<size_t> positions() const {
    std::vector<size_t> position(slots_.size());
    for (const auto& row : rows_)
      for (size_t k = 0; k < row.size(); ++k)
        position[row[k]] = k;
    return position;
  }

  /// Edges that cross between a row and the next, by counting inversions with a tree of sums.
  size_t crossings(const std::vector<size_t>& position) const {
    size_t count = 0;
    for (size_t r = 0; r + 1 < rows_.size(); ++r) {
      std::vector<size_t> sums(rows_[r + 1].size() + 1);
      size_t added = 0;
      for (size_t slot : rows_[r]) {
        std::vector<size_t> ends;
        for (size_t next : slots_[slot].below)
          ends.push_back(position[next]);
        for (size_t end : ends) {
          size_t before = 0;
          for (size_t at = end + 1; at > 0; at -= at & (~at + 1))
            before += sums[at];
          count += added - before;
        }
        for (size_t end : ends) {
          for (size_t at = end + 1; at < sums.size(); at += at & (~at + 1))
            ++sums[at];
          ++added;
        }
      }
    }
    return count;
  }

  void orderRows() {
    std::vector<size_t> position = positions();
    auto best = rows_;
    size_t least = crossings(position);
    for (int sweep = 0; sweep < orderSweeps && least > 0; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t step = 1; step < rows_.size(); ++step) {
        std::vector<size_t>& row = rows_[down ? step : rows_.size() - 1 - step];
        std::vector<std::tuple<double, size_t, size_t>> keys; // where it is wanted, where it was, the slot
        for (size_t slot : row) {
          const std::vector<size_t>& neighbours = down ? slots_[slot].above : slots_[slot].below;
          double sum = 0;
          for (size_t next : neighbours)
            sum += static_cast<double>(position[next]) + 0.5;
          const auto size = static_cast<double>((down ? rows_[step - 1] : rows_[rows_.size() - step]).size());
          const double own = (static_cast<double>(position[slot]) + 0.5) * size / static_cast<double>(row.size());
          keys.emplace_back(neighbours.empty() ? own : sum / static_cast<double>(neighbours.size()), position[slot],
                            slot);
        }
        std::sort(keys.begin(), keys.end());
        for (size_t k = 0; k < row.size(); ++k)
          position[row[k] = std::get<2>(keys[k])] = k;
      }
      if (const size_t count = crossings(position); count < least) {
        least = count;
        best = rows_;
      }
    }
    rows_ = std::move(best);
  }

  /// How far apart the centres of two neighbours in a row are at least.
  double apart(size_t a, size_t b) const {
    const double gap = slots_[a].isPoint && slots_[b].isPoint ? spacing_.across / 2 : spacing_.across;
    return (slots_[a].width + slots_[b].width) / 2 + gap;
  }

  /// The places of a row's slots nearest to where they are wanted.
  void placeRow(const std::vector<size_t>& row, const std::vector<double>& wanted) {
    struct Pool {
      double sum, weight;
      size_t count;
      double value() const { return sum / weight; }
    };
    std::vector<Pool> pools;
    std::vector<double> offsets;
    for (size_t k = 0; k < row.size(); ++k) {
      offsets.push_back(k == 0 ? 0 : offsets.back() + apart(row[k - 1], row[k]));
      const double weight = slots_[row[k]].isPoint ? pointWeight : 1;
      pools.push_back({(wanted[k] - offsets[k]) * weight, weight, 1});
      while (pools.size() > 1 && pools[pools.size() - 2].value() >= pools.back().value()) {
        const Pool last = pools.back();
        pools.pop_back();
        pools.back().sum += last.sum;
        pools.back().weight += last.weight;
        pools.back().count += last.count;
      }
    }
    size_t k = 0;
    for (const Pool& pool : pools)
      for (size_t i = 0; i < pool.count; ++i, ++k)
        slots_[row[k]].x = pool.value() + offsets[k];
  }

  void placeAcross() {
    for (const auto& row : rows_)
      placeRow(row, std::vector<double>(row.size(), 0));
    for (int sweep = 0; sweep < placeSweeps; ++sweep) {
      const bool down = sweep % 2 == 0;
      for (size_t step = 0; step < rows_.size(); ++step) {
        const std::vector<size_t>& row = rows_[down ? step : rows_.size() - 1 - step];
        std::vector<double> wanted;
        for (size_t slot : row) {
          const std::vector<size_t>& neighbours = down ? slots_[slot].above : slots_[slot].below;
          double sum = 0;
          for (size_t next : neighbours)
            sum += slots_[next].x;
          wanted.push_back(neighbours.empty() ? slots_[slot].x : sum / static_cast<double>(neighbours.size()));
        }
        placeRow(row, wanted);
      }
    }
  }

  LayerDrawing finish() {
    LayerDrawing drawing;
    double left = 0;
    for (const Slot& slot : slots_)
      left = std::min(left, slot.x - slot.width / 2);
    std::vector<double> top, bottom;
    double y = 0;
    for (const auto& row : rows_) {
      double height = 0;
      for (size_t slot : row)
        height = std::max(height, slots_[slot].height);
      top.push_back(y);
      bottom.push_back(y + height);
      y += height + spacing_.down;
    }
    for (Slot& slot : slots_) {
      slot.x -= left;
      drawing.width = std::max(drawing.width, slot.x + slot.width / 2);
    }
    drawing.height = bottom.empty() ? 0 : bottom.back();
    for (size_t i = 0; i < nodes_.size(); ++i)
      drawing.nodes.push_back({slots_[i].x - slots_[i].width / 2, top[row_[i]]});
    findPorts();
    for (size_t i = 0; i < edges_.size(); ++i) {
      const std::vector<size_t>& chain = chains_[i];
      if (chain.front() == chain.back()) {
        drawing.edges.push_back(loopAt(chain.front(), drawing.nodes[chain.front()]));
        continue;
      }
      std::vector<Point> points{{leaves_[i], drawing.nodes[chain.front()].y + nodes_[chain.front()].height}};
      for (size_t k = 1; k + 1 < chain.size(); ++k) {
        points.push_back({slots_[chain[k]].x, top[slots_[chain[k]].row]});
        points.push_back({slots_[chain[k]].x, bottom[slots_[chain[k]].row]});
      }
      points.push_back({enters_[i], drawing.nodes[chain.back()].y});
      if (reversed_[i])
        std::reverse(points.begin(), points.end());
      drawing.edges.push_back(std::move(points));
    }
    return drawing;
  }

  /// An edge from a box to itself, beside it.
  std::vector<Point> loopAt(size_t node, const Point& corner) const {
    const double right = corner.x + nodes_[node].width, height = nodes_[node].height;
    return {{right, corner.y + 0.7 * height},
            {right + spacing_.across / 2, corner.y + 0.5 * height},
            {right, corner.y + 0.3 * height}};
  }

  /// Where edges leave a box at its bottom and enter one at its top: side by side, in the order of their other ends.
  void findPorts() {
    leaves_.resize(edges_.size());
    enters_.resize(edges_.size());
    std::vector<std::vector<size_t>> out(nodes_.size()), in(nodes_.size());
    for (size_t i = 0; i < edges_.size(); ++i) {
      if (chains_[i].front() == chains_[i].back())
        continue;
      out[chains_[i].front()].push_back(i);
      in[chains_[i].back()].push_back(i);
    }
    const auto spread = [&](size_t node, std::vector<size_t>& edges, std::vector<double>& places, auto other) {
      std::sort(edges.begin(), edges.end(),
                [&](size_t a, size_t b) { return std::pair(other(a), a) < std::pair(other(b), b); });
      const double step = std::min(18.0, slots_[node].width / static_cast<double>(edges.size() + 1));
      for (size_t k = 0; k < edges.size(); ++k)
        places[edges[k]] =
            slots_[node].x + (static_cast<double>(k) - (static_cast<double>(edges.size()) - 1) / 2) * step;
    };
    for (size_t i = 0; i < nodes_.size(); ++i) {
      spread(i, out[i], leaves_, [&](size_t edge) { return slots_[chains_[edge][1]].x; });
      spread(i, in[i], enters_, [&](size_t edge) { return slots_[chains_[edge][chains_[edge].size() - 2]].x; });
    }
  }

  const std::vector<LayerNode>& nodes_;
  const std::vector<LayerEdge>& edges_;
  const LayerSpacing spacing_;
  std::vector<bool> reversed_;
  std::vector<size_t> visited_;             // nodes in the order in which the walk left them
  std::vector<size_t> row_;                 // of nodes
  std::vector<Slot> slots_;                 // the nodes, then the points of long edges
  std::vector<std::vector<size_t>> chains_; // of each edge, from above
  std::vector<std::vector<size_t>> rows_;   // slots from left to right
  std::vector<double> leaves_, enters_;     // where each edge meets its upper and its lower box
};

constexpr double pageWidth = 1000; // that rows of boxes without edges fill, unless the rest is wider

/// Nodes that an edge leads to or from. An edge from a node to itself counts.
std::vector<bool> joined(size_t nodes, const std::vector<LayerEdge>& edges) {
  std::vector<bool> is(nodes);
  for (const LayerEdge& edge : edges)
    is[edge.from] = is[edge.to] = true;
  return is;
}

} // namespace

LayerDrawing drawLayers(const std::vector<LayerNode>& nodes, const std::vector<LayerEdge>& edges,
                        const LayerSpacing& spacing) {
  const std::vector<bool> isJoined = joined(nodes.size(), edges);
  std::vector<size_t> numbers(nodes.size()); // among the nodes with edges
  std::vector<LayerNode> some;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (isJoined[i]) {
      numbers[i] = some.size();
      some.push_back(nodes[i]);
    }
  std::vector<LayerEdge> between;
  between.reserve(edges.size());
  for (const LayerEdge& edge : edges)
    between.push_back({numbers[edge.from], numbers[edge.to]});
  LayerDrawing drawing = Layers(some, between, spacing).draw();
  // The others in rows below.
  const double most = std::max(drawing.width, pageWidth);
  double x = 0, y = some.empty() ? 0 : drawing.height + spacing.down, row = 0;
  std::vector<Point> places;
  places.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (isJoined[i]) {
      places.push_back(drawing.nodes[numbers[i]]);
      continue;
    }
    if (x > 0 && x + nodes[i].width > most) {
      x = 0;
      y += row + spacing.across;
      row = 0;
    }
    places.push_back({x, y});
    row = std::max(row, nodes[i].height);
    drawing.width = std::max(drawing.width, x + nodes[i].width);
    drawing.height = std::max(drawing.height, y + row);
    x += nodes[i].width + spacing.across;
  }
  drawing.nodes = std::move(places);
  return drawing;
}

std::string curveAlong(const std::vector<Point>& points, double x, double y) {
  const auto text = [&](double atX, double atY) { return coordinate(x + atX) + " " + coordinate(y + atY); };
  std::string path = "M" + text(points.front().x, points.front().y);
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &a = points[i - 1], &b = points[i];
    const double middle = (a.y + b.y) / 2;
    path += std::abs(a.x - b.x) < 0.5 ? "L" + text(b.x, b.y)
                                      : "C" + text(a.x, middle) + " " + text(b.x, middle) + " " + text(b.x, b.y);
  }
  return path;
}

} // namespace strata::picture
