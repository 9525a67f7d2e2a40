// See groups.h.
#include "base/picture/groups.h"

#include "base/picture/svg.h"
#include "base/source/natural_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

namespace strata::picture {

namespace {

const std::string toName = " … ";

std::string firstOf(const std::string& name) {
  return name.substr(0, name.find(toName));
}

std::string lastOf(const std::string& name) {
  const size_t at = name.find(toName);
  return at == std::string::npos ? name : name.substr(at + toName.size());
}

/// "fir[0] … fir[79]": from the first name of one to the last of the other.
std::string rangeText(const std::string& from, const std::string& to) {
  const std::string first = firstOf(from), last = lastOf(to);
  return first == last ? first : first + toName + last;
}

/// Cuts a graph along a tree of first ways to each node. A part is cut off where the nodes below one become as many as
/// a group has; parts that hang on one node and are smaller are put together.
class Cutter {
public:
  Cutter(const std::vector<size_t>& nodes, const std::vector<std::string>& names, const std::vector<LayerEdge>& edges)
      : nodes_(nodes), names_(names), children_(nodes.size()), parents_(nodes.size()) {
    std::map<size_t, size_t> places;
    for (size_t i = 0; i < nodes.size(); ++i)
      places[nodes[i]] = i;
    std::vector<std::vector<size_t>> next(nodes.size());
    std::vector<bool> isReached(nodes.size(), false);
    for (const LayerEdge& edge : edges) {
      const auto from = places.find(edge.from), to = places.find(edge.to);
      if (from == places.end() || to == places.end() || from == to)
        continue;
      next[from->second].push_back(to->second);
      isReached[to->second] = true;
    }
    // Breadth first, from those that nothing leads to, and then from what only cycles lead to.
    std::vector<bool> isSeen(nodes.size(), false);
    const auto walk = [&](size_t from) {
      if (isSeen[from])
        return;
      isSeen[from] = true;
      roots_.push_back(from);
      size_t at = order_.size();
      for (order_.push_back(from); at < order_.size(); ++at)
        for (size_t to : next[order_[at]])
          if (!isSeen[to]) {
            isSeen[to] = true;
            parents_[to] = order_[at];
            children_[order_[at]].push_back(to);
            order_.push_back(to);
          }
    };
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!isReached[i])
        walk(i);
    for (size_t i = 0; i < nodes.size(); ++i)
      walk(i);
  }

  std::vector<Group> cut(size_t most) {
    groups_.clear();
    kept_.assign(nodes_.size(), {});
    for (size_t at = order_.size(); at-- > 0;)
      kept_[order_[at]] = join(order_[at], children_[order_[at]], most);
    std::vector<size_t> rest = join(std::nullopt, roots_, most);
    if (!rest.empty())
      add(std::move(rest));
    std::reverse(groups_.begin(), groups_.end());
    return std::move(groups_);
  }

private:
  /// What is left of the children's parts goes on with the node itself, as long as that fits a group.
  std::vector<size_t> join(std::optional<size_t> node, const std::vector<size_t>& children, size_t most) {
    std::vector<size_t> together;
    for (size_t child : children) {
      std::vector<size_t>& part = kept_[child];
      if (part.size() > most / 2) {
        add(std::move(part));
        continue;
      }
      if (together.size() + part.size() + (node ? 1 : 0) > most)
        add(std::exchange(together, {}));
      together.insert(together.end(), part.begin(), part.end());
    }
    if (node)
      together.insert(together.begin(), *node);
    return together;
  }

  void add(std::vector<size_t>&& part) {
    const std::set<size_t> places(part.begin(), part.end());
    std::vector<size_t> tops;
    Group group;
    for (size_t place : part) {
      group.nodes.push_back(nodes_[place]);
      if (!parents_[place] || !places.contains(*parents_[place]))
        tops.push_back(nodes_[place]);
    }
    group.name = rangeText(names_[tops.front()], names_[tops.back()]) + (tops.size() < part.size() ? " and below" : "");
    groups_.push_back(std::move(group));
  }

  const std::vector<size_t>& nodes_;
  const std::vector<std::string>& names_;
  std::vector<std::vector<size_t>> children_, kept_;
  std::vector<std::optional<size_t>> parents_;
  std::vector<size_t> roots_, order_;
  std::vector<Group> groups_;
};

constexpr double margin = 24, top = 64, lineHeight = 17, padding = 12;
constexpr size_t mostWords = 40;

constexpr size_t mostNeighbours = 60; // of one drawing, and of one node
constexpr size_t mostOfOne = 6;

class Sheets {
public:
  Sheets(const LargeGraph& graph, const Grouping& grouping)
      : graph_(graph), grouping_(grouping), sheetOf_(graph.names.size()), edgesOf_(graph.names.size()) {
    for (size_t i = 0; i < graph.edges.size(); ++i)
      for (size_t node : {graph.edges[i].from, graph.edges[i].to})
        edgesOf_[node].push_back(i);
  }

  std::vector<Sheet> make() {
    std::vector<size_t> all(graph_.names.size());
    std::iota(all.begin(), all.end(), size_t(0));
    plan({grouping_.title, std::move(all)}, grouping_.id);
    std::vector<Sheet> made;
    for (const Planned& planned : plan_) {
      const std::string title = made.empty() ? graph_.title + ", " + grouping_.title : planned.group.name;
      Sheet sheet{planned.id, planned.group.name, "", {}, made.empty()};
      if (planned.inner.empty()) {
        sheet.drawing = graph_.draw(planned.group.nodes, neighboursOf(planned), title);
        for (size_t node : planned.group.nodes)
          sheet.names.push_back(graph_.names[node]);
      } else {
        sheet.drawing = drawGroups(planned, title);
        for (size_t inner : planned.inner)
          sheet.names.push_back(plan_[inner].group.name);
      }
      made.push_back(std::move(sheet));
    }
    return made;
  }

private:
  struct Planned {
    Group group;
    std::string id;
    std::vector<size_t> inner; // the groups in it, by their places in the plan; empty: nodes are drawn
  };

  std::vector<Group> groupsOf(const std::vector<size_t>& nodes) const {
    if (grouping_.keys.empty())
      return groupsByEdges(nodes, graph_.names, graph_.edges, graph_.sizes);
    // One group for each key where there is room for all; large ones are cut when they are opened.
    std::set<std::string> keys;
    for (size_t node : nodes)
      keys.insert(grouping_.keys[node]);
    GroupSizes sizes = graph_.sizes;
    if (keys.size() > 1 && keys.size() <= sizes.groups)
      sizes.nodes = nodes.size();
    return groupsByKey(nodes, graph_.names, grouping_.keys, sizes);
  }

  size_t plan(Group&& group, const std::string& id) {
    const size_t place = plan_.size();
    plan_.push_back({std::move(group), id, {}});
    // At the top there are groups even of few nodes; that is what the grouping was chosen for.
    std::vector<Group> inner;
    if (place == 0 || plan_[place].group.nodes.size() > graph_.sizes.nodes)
      inner = groupsOf(plan_[place].group.nodes);
    if (inner.size() < 2) {
      for (size_t node : plan_[place].group.nodes)
        sheetOf_[node] = id;
      return place;
    }
    for (size_t number = 0; number < inner.size(); ++number) {
      const size_t at = plan(std::move(inner[number]), id + "." + std::to_string(number));
      plan_[place].inner.push_back(at);
    }
    return place;
  }

  std::vector<Neighbour> neighboursOf(const Planned& planned) const {
    std::vector<Neighbour> neighbours;
    std::vector<bool> isTaken(graph_.names.size(), false);
    for (size_t node : planned.group.nodes)
      isTaken[node] = true;
    for (size_t node : planned.group.nodes) {
      size_t ofOne = 0;
      for (size_t number : edgesOf_[node]) {
        const LayerEdge& edge = graph_.edges[number];
        const size_t other = edge.from == node ? edge.to : edge.from;
        if (isTaken[other])
          continue;
        if (ofOne == mostOfOne || neighbours.size() == mostNeighbours)
          break;
        isTaken[other] = true;
        ++ofOne;
        neighbours.emplace_back(other, sheetOf_[other]);
      }
    }
    return neighbours;
  }

  std::string drawGroups(const Planned& planned, const std::string& title) const {
    struct Box {
      std::vector<std::string> lines;
      double width = 0, height = 0;
    };
    std::vector<Box> boxes;
    std::vector<LayerNode> layerNodes;
    std::vector<std::optional<size_t>> groupOf(graph_.names.size());
    for (size_t inner : planned.inner) {
      const Group& group = plan_[inner].group;
      for (size_t node : group.nodes)
        groupOf[node] = boxes.size();
      Box box;
      box.lines = {group.name, std::to_string(group.nodes.size()) + " " + graph_.kind};
      if (graph_.describe)
        for (std::string& line : graph_.describe(group.nodes))
          box.lines.push_back(std::move(line));
      size_t longest = 14;
      for (std::string& line : box.lines)
        longest = std::max(longest, lengthOf(line = shorten(line, mostWords)));
      box.width = static_cast<double>(longest) * Svg::characterWidth + 2 * padding;
      box.height = static_cast<double>(box.lines.size()) * lineHeight + padding + 8;
      layerNodes.push_back({box.width, box.height});
      boxes.push_back(std::move(box));
    }
    std::map<std::pair<size_t, size_t>, size_t> between;
    for (const LayerEdge& edge : graph_.edges)
      if (groupOf[edge.from] && groupOf[edge.to] && groupOf[edge.from] != groupOf[edge.to])
        ++between[{*groupOf[edge.from], *groupOf[edge.to]}];
    std::vector<LayerEdge> layerEdges;
    for (const auto& [ends, count] : between)
      layerEdges.push_back({ends.first, ends.second});
    const LayerDrawing drawing = drawLayers(layerNodes, layerEdges);
    Svg svg;
    svg.text(margin, 34, title, "title");
    svg.text(margin, 54,
             std::to_string(planned.group.nodes.size()) + " " + graph_.kind + " in " + std::to_string(boxes.size()) +
                 " groups; a click on a group shows what is in it",
             "note");
    size_t way = 0;
    for (const auto& [ends, count] : between) {
      const std::vector<Point>& points = drawing.edges[way++];
      svg.path(curveAlong(points, margin, top), "class=\"way\"",
               plan_[planned.inner[ends.first]].group.name + " to " + plan_[planned.inner[ends.second]].group.name +
                   ": " + std::to_string(count) + " " + graph_.relation);
      const double up = points[points.size() - 2].y < points.back().y ? -7 : 7;
      svg.path("M" + coordinate(margin + points.back().x) + " " + coordinate(top + points.back().y) + "l-4 " +
                   coordinate(up) + "h8z",
               "class=\"tip\"");
    }
    for (size_t i = 0; i < boxes.size(); ++i) {
      const double x = margin + drawing.nodes[i].x, y = top + drawing.nodes[i].y;
      const Planned& inner = plan_[planned.inner[i]];
      // What is drawn behind it gives it the look of a pile.
      svg.rectangle(x + 4, y + 4, boxes[i].width, boxes[i].height, "rx=\"6\" class=\"pile\"");
      svg.rectangle(x, y, boxes[i].width, boxes[i].height,
                    "rx=\"6\" class=\"group\" data-sheet=\"" + escape(inner.id) + "\"" +
                        (i == 0 ? std::string(startMark) : ""),
                    "a click shows the " + graph_.kind + " of " + inner.group.name);
      double line = y + padding + 8;
      for (size_t number = 0; number < boxes[i].lines.size(); ++number, line += lineHeight)
        svg.text(x + padding, line, boxes[i].lines[number], number == 0 ? "name" : number == 1 ? "" : "note");
    }
    svg.reach(margin + drawing.width);
    return svg.document(title, top + drawing.height + margin,
                        ".group,.pile{fill:var(--card);stroke:var(--inner-line)}.group:hover{fill:var(--inner)}"
                        ".name{font-weight:bold}.way{fill:none;stroke:var(--line);stroke-width:1.5}"
                        ".way:hover{stroke:var(--ink);stroke-width:3}.tip{fill:var(--line);stroke:none}");
  }

  const LargeGraph& graph_;
  const Grouping& grouping_;
  std::vector<Planned> plan_; // the whole first
  std::vector<std::string> sheetOf_;
  std::vector<std::vector<size_t>> edgesOf_;
};

} // namespace

std::string stemOf(const std::string& name) {
  size_t end = name.find_first_of("0123456789");
  if (end == std::string::npos || end == 0)
    return name;
  while (end > 1 && std::string(" _-.[(#").find(name[end - 1]) != std::string::npos)
    --end;
  return name.substr(0, end);
}

std::vector<Group> groupsByKey(const std::vector<size_t>& nodes, const std::vector<std::string>& names,
                               const std::vector<std::string>& keys, const GroupSizes& sizes) {
  std::map<std::string, std::vector<size_t>, decltype(&naturalLess)> members(&naturalLess);
  for (size_t node : nodes)
    members[keys[node]].push_back(node);
  std::vector<Group> groups;
  for (auto& [key, all] : members) {
    std::sort(all.begin(), all.end(),
              [&](size_t a, size_t b) { return names[a] == names[b] ? a < b : naturalLess(names[a], names[b]); });
    const size_t parts = (all.size() + sizes.nodes - 1) / sizes.nodes;
    for (size_t part = 0; part < parts; ++part) {
      const auto begin = all.begin() + static_cast<ptrdiff_t>(all.size() * part / parts),
                 end = all.begin() + static_cast<ptrdiff_t>(all.size() * (part + 1) / parts);
      groups.push_back({parts == 1 ? key : names[*begin] + toName + names[*(end - 1)], {begin, end}});
    }
  }
  // Neighbours become one while they fit a drawing, and then regardless of it.
  for (size_t most = sizes.nodes; groups.size() > sizes.groups; most *= 2) {
    std::vector<Group> joined;
    for (Group& group : groups) {
      if (joined.empty() || joined.back().nodes.size() + group.nodes.size() > most) {
        joined.push_back(std::move(group));
        continue;
      }
      Group& before = joined.back();
      before.nodes.insert(before.nodes.end(), group.nodes.begin(), group.nodes.end());
      before.name = rangeText(before.name, group.name);
    }
    groups = std::move(joined);
  }
  return groups;
}

std::vector<Group> groupsByEdges(const std::vector<size_t>& nodes, const std::vector<std::string>& names,
                                 const std::vector<LayerEdge>& edges, const GroupSizes& sizes) {
  Cutter cutter(nodes, names, edges);
  std::vector<Group> groups = cutter.cut(sizes.nodes);
  for (size_t most = 2 * sizes.nodes; groups.size() > sizes.groups; most *= 2)
    groups = cutter.cut(most);
  return groups;
}

std::vector<Sheet> sheetsOf(const LargeGraph& graph, const std::vector<Grouping>& groupings) {
  std::vector<Sheet> sheets;
  for (const Grouping& grouping : groupings)
    for (Sheet& sheet : Sheets(graph, grouping).make())
      sheets.push_back(std::move(sheet));
  return sheets;
}

} // namespace strata::picture
