// Boxes are laid out in layers; uses in the same direction at the same distance are one arrow. See dependences.h.
#include "compiler/pla/draw/dependences.h"

#include "base/picture/layers.h"
#include "base/picture/svg.h"
#include "compiler/equations/polyhedra.h"
#include "compiler/equations/print.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata::pla {

using equations::Graph;
using equations::InputUse;
using equations::Node;
using equations::Use;

namespace {

constexpr const char* style = R"(
.array{fill:var(--data);stroke:var(--data-line)}
.variable{fill:var(--leaf);stroke:var(--leaf-line)}
.use{fill:none;stroke:var(--control-line)}
.tip{fill:var(--control-line)}
.name{font-weight:600}
)";
constexpr double lineHeight = 17, padding = 10, margin = 24;
constexpr size_t mostLines = 8, mostCharacters = 64;

struct Box {
  std::string title, kind;
  std::vector<std::string> lines, tips;
};

class Drawing {
public:
  explicit Drawing(const Graph& graph) : graph_(graph) {}

  std::string draw() {
    collect();
    std::vector<picture::LayerNode> nodes;
    for (const Box& box : boxes_)
      nodes.push_back({widthOf(box), heightOf(box)});
    std::vector<picture::LayerEdge> edges;
    for (const auto& [ends, labels] : arrows_)
      edges.push_back({ends.first, ends.second});
    const picture::LayerDrawing layout = picture::drawLayers(nodes, edges, {40, 56});
    picture::Svg svg;
    size_t at = 0;
    for (const auto& [ends, labels] : arrows_)
      arrow(svg, layout, at++, ends.first == ends.second, labels);
    for (size_t i = 0; i < boxes_.size(); ++i)
      draw(svg, boxes_[i], layout.nodes[i].x + margin, layout.nodes[i].y + margin);
    svg.reach(layout.width + 2 * margin + 60);
    return svg.document("dependences of " + graph_.name, layout.height + 2 * margin, style);
  }

private:
  static double widthOf(const Box& box) {
    size_t longest = picture::lengthOf(box.title);
    for (const std::string& line : box.lines)
      longest = std::max(longest, picture::lengthOf(line));
    return picture::Svg::characterWidth * static_cast<double>(std::min(longest, mostCharacters)) + 2 * padding;
  }
  static double heightOf(const Box& box) { return lineHeight * static_cast<double>(1 + box.lines.size()) + padding; }

  std::string textOf(const equations::Operand& operand) const {
    if (const auto* use = std::get_if<Use>(&operand)) {
      std::string text = graph_.variables[use->variable].name + "[";
      for (size_t i = 0; i < use->distance.size(); ++i) {
        const int64_t distance = use->distance[i];
        text += (i ? ", " : "") + graph_.iterators[i];
        if (distance != 0)
          text += (distance > 0 ? " - " : " + ") + std::to_string(std::abs(distance));
      }
      return text + "]";
    }
    if (const auto* input = std::get_if<InputUse>(&operand)) {
      std::string text = graph_.inputs[input->input].name;
      for (size_t i = 0; i < input->index.size(); ++i)
        text += (i ? ", " : "[") + equations::text(input->index[i], graph_.iterators, graph_.parameters);
      return input->index.empty() ? text : text + "]";
    }
    const auto& constant = std::get<equations::Constant>(operand);
    std::string real = std::to_string(constant.real);
    return constant.real != 0 ? real : std::to_string(constant.integer);
  }

  std::string distanceText(const std::vector<int64_t>& distance) const {
    if (std::all_of(distance.begin(), distance.end(), [](int64_t value) { return value == 0; }))
      return "";
    std::string text;
    for (const int64_t value : distance)
      text += (text.empty() ? "(" : ", ") + std::to_string(value);
    return text + ")";
  }

  void collect() {
    std::map<uint32_t, size_t> inputs, variables, outputs;
    const auto boxOf = [&](std::map<uint32_t, size_t>& known, uint32_t number, const std::string& title,
                           const char* kind) {
      const auto [found, isNew] = known.try_emplace(number, boxes_.size());
      if (isNew)
        boxes_.push_back({title, kind, {}, {}});
      return found->second;
    };
    for (const Node& node : graph_.nodes) {
      const size_t box = node.isOutput
                             ? boxOf(outputs, node.target, "output " + graph_.outputs[node.target].name, "array")
                             : boxOf(variables, node.target, graph_.variables[node.target].name, "variable");
      std::string line = node.operation == equations::Operation::Copy ? "" : equations::operationText(node.operation);
      for (size_t i = 0; i < node.operands.size(); ++i) {
        line += (i ? ", " : line.empty() ? "" : " ") + textOf(node.operands[i]);
        size_t from = 0;
        std::string label;
        if (const auto* use = std::get_if<Use>(&node.operands[i])) {
          from = boxOf(variables, use->variable, graph_.variables[use->variable].name, "variable");
          label = distanceText(use->distance);
        } else if (const auto* input = std::get_if<InputUse>(&node.operands[i])) {
          from = boxOf(inputs, input->input, "input " + graph_.inputs[input->input].name, "array");
        } else {
          continue;
        }
        arrows_[{from, box}].insert(label);
      }
      if (boxes_[box].lines.size() < mostLines)
        boxes_[box].lines.push_back(picture::shorten("= " + line, mostCharacters));
      else
        boxes_[box].lines.back() = "…";
      boxes_[box].tips.push_back("= " + line + " if " +
                                 equations::text(node.domain, graph_.iterators, graph_.parameters));
    }
  }

  static void draw(picture::Svg& svg, const Box& box, double x, double y) {
    std::string tip;
    for (const std::string& each : box.tips)
      tip += (tip.empty() ? "" : "\n") + each;
    svg.rectangle(x, y, widthOf(box), heightOf(box), "rx=\"6\" class=\"" + box.kind + "\"", tip);
    svg.text(x + padding, y + lineHeight, box.title, "name");
    for (size_t i = 0; i < box.lines.size(); ++i)
      svg.text(x + padding, y + lineHeight * static_cast<double>(i + 2), box.lines[i]);
  }

  void arrow(picture::Svg& svg, const picture::LayerDrawing& layout, size_t at, bool isLoop,
             const std::set<std::string>& labels) {
    std::string label;
    for (const std::string& each : labels)
      if (!each.empty())
        label += (label.empty() ? "" : " ") + each;
    if (isLoop) {
      // Beside its box: out at the right, and back in further down.
      const size_t box = loopAt(at);
      const double x = layout.nodes[box].x + margin + widthOf(boxes_[box]);
      const double y = layout.nodes[box].y + margin + heightOf(boxes_[box]) / 2;
      const auto number = [](double value) { return picture::coordinate(value); };
      svg.path("M" + number(x) + "," + number(y - 8) + " C" + number(x + 26) + "," + number(y - 14) + " " +
                   number(x + 26) + "," + number(y + 14) + " " + number(x) + "," + number(y + 8),
               "class=\"use\"", label);
      svg.text(x + 22, y + 4, label);
      return;
    }
    const std::vector<picture::Point>& points = layout.edges[at];
    svg.path(picture::curveAlong(points, margin, margin), "class=\"use\"", label);
    const picture::Point end = points.back();
    const double up = points[points.size() - 2].y < end.y ? -1 : 1;
    const auto number = [](double value) { return picture::coordinate(value + margin); };
    svg.path("M" + number(end.x) + "," + number(end.y) + " L" + number(end.x - 4) + "," + number(end.y + 8 * up) +
                 " L" + number(end.x + 4) + "," + number(end.y + 8 * up) + " Z",
             "class=\"tip\"");
    const picture::Point middle = points[points.size() / 2];
    if (!label.empty())
      svg.text((points.front().x + middle.x) / 2 + margin + 6, (points.front().y + middle.y) / 2 + margin + 4, label);
  }

  size_t loopAt(size_t number) const {
    auto each = arrows_.begin();
    std::advance(each, number);
    return each->first.first;
  }

  const Graph& graph_;
  std::vector<Box> boxes_;
  std::map<std::pair<size_t, size_t>, std::set<std::string>> arrows_; // labels by ends
};

} // namespace

std::string drawDependences(const Graph& graph) {
  return Drawing(graph).draw();
}

} // namespace strata::pla
