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

using equations::Affine;
using equations::Equation;
using equations::Expression;
using equations::Role;
using equations::System;
using equations::SystemVariable;

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
  explicit Drawing(const System& system) : system_(system) {}

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
    return svg.document("dependences of " + system_.name, layout.height + 2 * margin, style);
  }

private:
  static double widthOf(const Box& box) {
    size_t longest = picture::lengthOf(box.title);
    for (const std::string& line : box.lines)
      longest = std::max(longest, picture::lengthOf(line));
    return picture::Svg::characterWidth * static_cast<double>(std::min(longest, mostCharacters)) + 2 * padding;
  }
  static double heightOf(const Box& box) { return lineHeight * static_cast<double>(1 + box.lines.size()) + padding; }

  /// Whether a variable's instances have the numbers of the iterations that define them.
  bool isAtHome(uint32_t variable) const {
    return std::all_of(system_.equations.begin(), system_.equations.end(), [&](const Equation& each) {
      return each.variable != variable || equations::isIdentity(each.index, system_.iterators.size());
    });
  }

  /// "(0, 1)" where a use is so far from its definition, "[j, 0]" where that changes; nothing within an iteration.
  std::string label(const Expression& use) const {
    if (system_.variables[use.variable].role == Role::Input)
      return "";
    std::string distance, index;
    std::vector<Affine> there = use.index;
    bool isZero = true;
    for (Affine& each : there) {
      index += (index.empty() ? "[" : ", ") + equations::text(each, system_.iterators, system_.parameters);
      distance += (distance.empty() ? "(" : ", ") + std::to_string(-each.constant);
      isZero &= each.constant == 0;
      each.constant = 0;
    }
    if (isAtHome(use.variable) && equations::isIdentity(there, system_.iterators.size()))
      return isZero ? "" : distance + ")";
    return index.empty() ? "" : index + "]";
  }

  void collect() {
    std::map<uint32_t, size_t> known;
    const auto boxOf = [&](uint32_t variable) {
      const SystemVariable& of = system_.variables[variable];
      const auto [found, isNew] = known.try_emplace(variable, boxes_.size());
      if (isNew)
        boxes_.push_back({of.role == Role::Input    ? "input " + of.name
                          : of.role == Role::Output ? "output " + of.name
                                                    : of.name,
                          of.role == Role::Internal ? "variable" : "array",
                          {},
                          {}});
      return found->second;
    };
    for (const Equation& equation : system_.equations) {
      const size_t box = boxOf(equation.variable);
      equations::eachElement(equation.value,
                             [&](const Expression& use) { arrows_[{boxOf(use.variable), box}].insert(label(use)); });
      const std::string line = "= " + equations::text(system_, equation.value);
      if (boxes_[box].lines.size() < mostLines)
        boxes_[box].lines.push_back(picture::shorten(line, mostCharacters));
      else
        boxes_[box].lines.back() = "…";
      boxes_[box].tips.push_back(line + " if " +
                                 equations::text(equation.guard, system_.iterators, system_.parameters));
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

  const System& system_;
  std::vector<Box> boxes_;
  std::map<std::pair<size_t, size_t>, std::set<std::string>> arrows_; // labels by ends
};

} // namespace

std::string drawDependences(const System& system) {
  return Drawing(system).draw();
}

} // namespace strata::pla
