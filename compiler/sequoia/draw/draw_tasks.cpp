// The picture of a program alone: a box for each task, with its signature and variants, tasks that call above those
// that are called. Arrows to other tasks go between the boxes; recursion is drawn as arrows that go back up. A
// program of many tasks is drawn in parts; then a dashed box stands for a task of another part.
#include "base/picture/groups.h"
#include "base/picture/svg.h"
#include "compiler/sequoia/draw/draw.h"

#include <algorithm>
#include <map>

namespace strata::sequoia {

using picture::coordinate, picture::lengthOf, picture::shorten, picture::Svg;

namespace {

constexpr double margin = 24, line = 17, gap = 28, layerGap = 64, top = 56, padding = 12;
constexpr double character = Svg::characterWidth;
constexpr size_t mostWords = 60;

const char* const style =
    ".task{fill:var(--card);stroke:var(--rule)}.inner{fill:var(--inner);stroke:var(--inner-line)}"
    ".leaf{fill:var(--leaf);stroke:var(--leaf-line)}"
    ".external{fill:var(--external);stroke:var(--external-line)}"
    ".call{fill:none;stroke:var(--line);stroke-width:1.5}.call:hover{stroke:var(--ink);stroke-width:3}"
    ".combine{stroke-dasharray:5 4}.tip{fill:var(--line);stroke:none}"
    ".name{font-weight:bold}.outside{fill:var(--paper);stroke:var(--line);stroke-dasharray:4 3}";

constexpr size_t mostTasks = 60; // of one drawing in a page

const char* styleOf(TaskKind kind) {
  return kind == TaskKind::Leaf ? "leaf" : kind == TaskKind::External ? "external" : "inner";
}

/// "2*M + N - 1".
std::string sizeText(const LinearSize& size) {
  std::string text;
  const auto add = [&](int64_t value, const std::string& factor) {
    text += text.empty() ? (value < 0 ? "-" : "") : value < 0 ? " - " : " + ";
    const std::string number = std::to_string(value).substr(value < 0);
    text += factor.empty() ? number : number == "1" ? factor : number + "*" + factor;
  };
  for (const auto& [coefficient, parameter] : size.terms)
    add(coefficient, std::string(parameter->name));
  if (size.constant != 0 || size.terms.empty())
    add(size.constant, "");
  return text;
}

std::string parameterText(const Variable& parameter) {
  std::string text = std::string(directionText(parameter.direction)) + " " + typeName(parameter.type) + " " +
                     std::string(parameter.name);
  for (const Extent& extent : parameter.extents)
    text += "[" + sizeText(extent.linear) + "]";
  return text;
}

/// "mappar i, mapseq k" for a call inside of these loops.
std::string loopsAround(const Callsite& site) {
  std::string text;
  for (const Loop* loop = site.loop; loop; loop = loop->parent)
    text =
        std::string(mapText(loop->kind)) + " " + std::string(loop->variable->name) + (text.empty() ? "" : ", ") + text;
  return text;
}

std::string callText(const Callsite& site) {
  std::string loops = loopsAround(site);
  return (site.isCombiner ? "combines by " : "calls ") + std::string(site.callee->name) +
         (loops.empty() ? "" : " in " + loops);
}

struct Node {
  const TaskVariant* variant = nullptr;
  double x = 0, y = 0, width = 0, height = 0; // relative to the task's box until that is placed
  double centre() const { return x + width / 2; }
  double bottom() const { return y + height; }
};

struct TaskBox {
  const Task* task = nullptr;
  std::vector<std::string> signature;
  std::vector<Node> nodes;
  std::string sheet; // of a task of another part: where that is drawn
  double x = 0, y = 0, width = 0, height = 0;
};

/// The tasks that are drawn: a prototype alone says nothing.
std::vector<const Task*> tasksOf(const Program& program) {
  std::vector<const Task*> tasks;
  for (const Task& task : program.tasks)
    if (!task.variants.empty())
      tasks.push_back(&task);
  return tasks;
}

class TaskPicture {
public:
  explicit TaskPicture(const std::string& title) : title_(title) {}

  void add(const Task* task, const std::string& sheet = "") {
    indexOf_[task] = boxes_.size();
    boxes_.push_back({});
    boxes_.back().task = task;
    boxes_.back().sheet = sheet;
  }

  std::string draw() {
    for (TaskBox& box : boxes_)
      measure(box);
    place();
    svg_.text(margin, 34, title_, "title");
    for (const TaskBox& box : boxes_)
      drawBox(box);
    for (const TaskBox& box : boxes_)
      for (const Node& node : box.nodes)
        drawCalls(node);
    for (const TaskBox& box : boxes_)
      if (!box.sheet.empty())
        drawCallsFromOutside(box);
    legend();
    return svg_.document(title_, bottom_ + 60, style);
  }

private:
  void measure(TaskBox& box) {
    if (!box.sheet.empty()) {
      box.width = static_cast<double>(lengthOf(box.task->name)) * 8.5 + 2 * padding;
      box.height = 34;
      return;
    }
    for (const Variable* parameter : box.task->prototype->parameters)
      box.signature.push_back(shorten(parameterText(*parameter), mostWords));
    double width = static_cast<double>(lengthOf(box.task->name)) * 8.5;
    for (const std::string& each : box.signature)
      width = std::max(width, static_cast<double>(lengthOf(each)) * character);
    double below = 28 + static_cast<double>(box.signature.size()) * line + 14;
    // Variants that call stand above those that do not.
    for (bool calling : {true, false}) {
      double x = padding, row = 0;
      for (const TaskVariant* variant : box.task->variants) {
        if ((variant->kind == TaskKind::Inner) != calling)
          continue;
        Node node{variant, x, below, 0, 44};
        size_t longest = std::max<size_t>(lengthOf(variant->name), 10);
        for (const Callsite* site : variant->callsites)
          longest = std::max(longest, std::min(mostWords, lengthOf(callText(*site))));
        node.width = static_cast<double>(longest) * character + 20;
        node.height += static_cast<double>(variant->callsites.size()) * line;
        row = std::max(row, node.height);
        x += node.width + gap;
        box.nodes.push_back(node);
      }
      width = std::max(width, x - gap - padding);
      if (row > 0)
        below += row + (calling ? 44 : 0);
    }
    box.width = width + 2 * padding + 26; // room for arrows that go back up
    box.height = below - (box.nodes.back().variant->kind == TaskKind::Inner ? 44 : 0) + padding;
  }

  /// Boxes in rows, and the ways of arrows from task to task between them.
  void place() {
    std::vector<picture::LayerNode> nodes;
    std::vector<picture::LayerEdge> edges;
    for (size_t from = 0; from < boxes_.size(); ++from) {
      nodes.push_back({boxes_[from].width, boxes_[from].height});
      for (const TaskVariant* variant : boxes_[from].task->variants)
        for (const Callsite* site : variant->callsites)
          if (auto to = indexOf_.find(site->callee); to != indexOf_.end() && to->second != from &&
                                                     (boxes_[from].sheet.empty() || boxes_[to->second].sheet.empty()) &&
                                                     ways_.try_emplace({from, to->second}, edges.size()).second)
            edges.push_back({from, to->second});
    }
    drawing_ = picture::drawLayers(nodes, edges, {gap, layerGap});
    for (size_t i = 0; i < boxes_.size(); ++i) {
      TaskBox& box = boxes_[i];
      box.x = margin + drawing_.nodes[i].x;
      box.y = top + drawing_.nodes[i].y;
      for (Node& node : box.nodes) {
        node.x += box.x;
        node.y += box.y;
        nodeOf_[node.variant] = &node;
      }
    }
    bottom_ = top + drawing_.height;
    svg_.reach(margin + drawing_.width);
  }

  void drawBox(const TaskBox& box) {
    if (!box.sheet.empty()) {
      svg_.rectangle(box.x, box.y, box.width, box.height,
                     "rx=\"8\" class=\"outside\" data-sheet=\"" + picture::escape(box.sheet) + "\"",
                     "a click shows " + std::string(box.task->name) + " among its own");
      svg_.text(box.x + padding, box.y + 22, box.task->name, "note");
      return;
    }
    svg_.rectangle(box.x, box.y, box.width, box.height,
                   "rx=\"8\" class=\"task\"" + std::string(&box == start() ? picture::startMark : ""));
    svg_.text(box.x + padding, box.y + 22, box.task->name, "head");
    double y = box.y + 26;
    for (const std::string& each : box.signature)
      svg_.text(box.x + padding, y += line, each, "note");
    for (const Node& node : box.nodes) {
      std::string whole = "task<" + std::string(taskKindText(node.variant->kind)) + "> " +
                          std::string(node.variant->taskName) + "::" + std::string(node.variant->name);
      for (const Variable* tunable : node.variant->tunables)
        whole += ", tunable " + std::string(tunable->name);
      svg_.rectangle(node.x, node.y, node.width, node.height,
                     std::string("rx=\"6\" class=\"") + styleOf(node.variant->kind) + "\"", whole);
      svg_.text(node.x + 10, node.y + 18, node.variant->name, "name", whole);
      const char* kind = node.variant->kind == TaskKind::External ? "external" : taskKindText(node.variant->kind);
      svg_.text(node.x + 10, node.y + 35, kind, "note");
      double row = node.y + 35;
      for (const Callsite* site : node.variant->callsites)
        svg_.text(node.x + 10, row += line, shorten(callText(*site), mostWords));
    }
  }

  void drawCalls(const Node& from) {
    const auto& sites = from.variant->callsites;
    double step = from.width / static_cast<double>(sites.size() + 1), x = from.x;
    for (const Callsite* site : sites) {
      x += step;
      const std::string words = std::string(from.variant->taskName) + "::" + std::string(from.variant->name) + " " +
                                callText(*site) + ", which may be ";
      // A call of another task leads to its box: each variant there may be meant.
      if (auto box = indexOf_.find(site->callee); site->callee != from.variant->task && box != indexOf_.end()) {
        const TaskBox& to = boxes_[box->second];
        std::string variants;
        for (const TaskVariant* variant : to.task->variants)
          variants += (variants.empty() ? "" : " or ") + std::string(variant->name);
        const std::string title = words + std::string(site->callee->name) + "::" + variants;
        const std::vector<picture::Point>& way =
            drawing_.edges[ways_.at({indexOf_.at(from.variant->task), box->second})];
        if (way.front().y < way.back().y)
          drawWay(from, x, way, site->isCombiner, title);
        else
          drawArrow(from, x, {nullptr, to.x, to.y, std::min(to.width, 160.0), 40}, site->isCombiner, title);
        continue;
      }
      for (const TaskVariant* variant : site->callee->variants)
        if (auto to = nodeOf_.find(variant); to != nodeOf_.end())
          drawArrow(from, x, *to->second, site->isCombiner,
                    words + std::string(variant->taskName) + "::" + std::string(variant->name));
    }
  }

  /// The box of a task that none of the others calls, the first one otherwise.
  const TaskBox* start() const {
    const TaskBox* first = nullptr;
    for (const TaskBox& box : boxes_)
      if (box.sheet.empty() && (!first || box.y < first->y))
        first = &box;
    return first;
  }

  void drawCallsFromOutside(const TaskBox& from) {
    const Node whole{nullptr, from.x, from.y, from.width, from.height};
    for (const auto& [ends, way] : ways_) {
      if (&boxes_[ends.first] != &from)
        continue;
      const TaskBox& to = boxes_[ends.second];
      const std::string title = std::string(from.task->name) + " calls " + std::string(to.task->name);
      const std::vector<picture::Point>& points = drawing_.edges[way];
      if (points.front().y < points.back().y)
        drawWay(whole, whole.centre(), points, false, title);
      else
        drawArrow(whole, whole.centre(), {nullptr, to.x, to.y, std::min(to.width, 160.0), 40}, false, title);
    }
  }

  /// Down to a task of a lower row, past the boxes of the rows between.
  void drawWay(const Node& from, double x, const std::vector<picture::Point>& way, bool combines,
               const std::string& words) {
    const auto c = [](double value) { return coordinate(value) + " "; };
    double atX = x, atY = from.bottom();
    std::string data = "M" + c(atX) + c(atY);
    for (size_t i = 0; i < way.size(); ++i) {
      const double toX = margin + way[i].x, toY = top + way[i].y - (i + 1 == way.size() ? 6 : 0);
      const double middle = (atY + toY) / 2;
      data += "C" + c(atX) + c(middle) + c(toX) + c(middle) + c(toX) + c(toY);
      atX = toX;
      atY = toY;
    }
    svg_.path(data, combines ? "class=\"call combine\"" : "class=\"call\"", words);
    svg_.path("M" + c(atX) + c(atY + 5) + "l-4 -8h8z", "class=\"tip\"");
  }

  void drawArrow(const Node& from, double x, const Node& to, bool combines, const std::string& words) {
    std::string data, tip;
    const auto c = [](double value) { return coordinate(value) + " "; };
    if (to.y > from.bottom()) {
      double y = from.bottom(), end = to.y - 1, bend = std::max(20.0, (end - y) / 2);
      data =
          "M" + c(x) + c(y) + "C" + c(x) + c(y + bend) + c(to.centre()) + c(end - bend) + c(to.centre()) + c(end - 6);
      tip = "M" + c(to.centre()) + c(end) + "l-4 -8h8z";
    } else {
      // Back up, or to the side: around the right edges.
      double right = std::max(from.x + from.width, to.x + to.width) + 18 + 4 * static_cast<double>(returns_++ % 4);
      double y = from.y + from.height - 12, end = to.y + 14;
      data = "M" + c(from.x + from.width) + c(y) + "C" + c(right + 10) + c(y) + c(right + 10) + c(end) +
             c(to.x + to.width + 6) + c(end);
      tip = "M" + c(to.x + to.width + 1) + c(end) + "l8 -4v8z";
      svg_.reach(right + 10);
    }
    svg_.path(data, combines ? "class=\"call combine\"" : "class=\"call\"", words);
    svg_.path(tip, "class=\"tip\"");
  }

  void legend() {
    double x = margin, y = bottom_ + 20;
    for (const char* kind : {"inner", "leaf", "external"}) {
      svg_.rectangle(x, y, 18, 14, std::string("rx=\"3\" class=\"") + kind + "\"");
      svg_.text(x + 25, y + 11, kind, "note");
      x += 45 + static_cast<double>(lengthOf(kind)) * character;
    }
    for (bool combines : {false, true}) {
      const std::string words = combines ? "combines partial results by" : "may call";
      svg_.path("M" + coordinate(x) + " " + coordinate(y + 7) + "h26",
                combines ? "class=\"call combine\"" : "class=\"call\"");
      svg_.path("M" + coordinate(x + 34) + " " + coordinate(y + 7) + "l-8 -4v8z", "class=\"tip\"");
      svg_.text(x + 41, y + 11, words, "note");
      x += 61 + static_cast<double>(lengthOf(words)) * character;
    }
  }

  std::string title_;
  std::vector<TaskBox> boxes_;
  std::map<const Task*, size_t> indexOf_;
  std::map<const TaskVariant*, const Node*> nodeOf_;
  std::map<std::pair<size_t, size_t>, size_t> ways_; // of two boxes: the edge of the drawing
  picture::LayerDrawing drawing_;
  Svg svg_;
  double bottom_ = 0;
  size_t returns_ = 0;
};

} // namespace

std::string drawTasks(const Program& program, const std::string& title) {
  TaskPicture picture(title);
  for (const Task* task : tasksOf(program))
    picture.add(task);
  return picture.draw();
}

std::vector<picture::Sheet> taskSheets(const Program& program, const std::string& title) {
  const std::vector<const Task*> tasks = tasksOf(program);
  if (tasks.size() <= mostTasks)
    return {};
  picture::LargeGraph graph;
  graph.title = title;
  graph.kind = "tasks";
  graph.relation = "calls";
  graph.sizes = {40, 40};
  std::map<const Task*, size_t> numbers;
  for (const Task* task : tasks)
    numbers.try_emplace(task, numbers.size());
  picture::Grouping byCalls{"tasks-calls", "by who calls them", {}}, byName{"tasks-names", "by name", {}};
  for (size_t number = 0; number < tasks.size(); ++number) {
    graph.names.emplace_back(tasks[number]->name);
    byName.keys.push_back(picture::stemOf(graph.names.back()));
    for (const TaskVariant* variant : tasks[number]->variants)
      for (const Callsite* site : variant->callsites)
        if (auto to = numbers.find(site->callee); to != numbers.end() && to->second != number)
          graph.edges.push_back({number, to->second});
  }
  graph.draw = [&](const std::vector<size_t>& nodes, const std::vector<picture::Neighbour>& neighbours,
                   const std::string& words) {
    TaskPicture picture(words);
    for (size_t node : nodes)
      picture.add(tasks[node]);
    for (const auto& [node, sheet] : neighbours)
      picture.add(tasks[node], sheet);
    return picture.draw();
  };
  graph.describe = [&](const std::vector<size_t>& nodes) {
    std::map<std::string, size_t> kinds;
    for (size_t node : nodes)
      for (const TaskVariant* variant : tasks[node]->variants)
        ++kinds[styleOf(variant->kind)];
    std::string words;
    for (const char* kind : {"inner", "leaf", "external"})
      if (kinds[kind])
        words += (words.empty() ? "" : ", ") + std::to_string(kinds[kind]) + " " + kind;
    return std::vector<std::string>{words};
  };
  return picture::sheetsOf(graph, {byCalls, byName});
}

} // namespace strata::sequoia
