// The picture of a mapping. What an instance has at one level of the machine is a card: its arrays where their memory
// is, its loops and calls where the processor is that executes them. Arrows lead from each call to the instances that
// it may become; a bar beside each level shows how much of one instance of the memory is taken. A mapping of many
// instances is drawn in parts; then a dashed card stands for an instance of another part.
#include "base/machine/quantity.h"
#include "base/picture/groups.h"
#include "base/picture/svg.h"
#include "compiler/sequoia/draw/draw.h"
#include "compiler/sequoia/draw/instance_cards.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace strata::sequoia {

using picture::coordinate, picture::lengthOf, picture::shorten, picture::Svg;

namespace {

constexpr double margin = 24, gutter = 250, line = 19, columnGap = 72, cardGap = 14, padding = 10;
constexpr double character = Svg::characterWidth;
constexpr size_t mostWords = 56;

const char* const style =
    ".band{fill:var(--card)}.rule{stroke:var(--rule);fill:none}"
    ".inner{fill:var(--inner);stroke:var(--inner-line)}.leaf{fill:var(--leaf);stroke:var(--leaf-line)}"
    ".external{fill:var(--external);stroke:var(--external-line)}.body{fill:var(--paper);stroke:var(--line)}"
    ".control{fill:var(--control);stroke:var(--control-line)}.data{fill:var(--data);stroke:var(--data-line)}"
    ".call{fill:none;stroke:var(--line);stroke-width:1.5}.call:hover{stroke:var(--ink);stroke-width:3}"
    ".belongs{fill:none;stroke:var(--line);stroke-dasharray:2 4}.tip{fill:var(--line);stroke:none}"
    ".outside{fill:var(--paper);stroke:var(--line);stroke-dasharray:4 3}"
    ".name{font-weight:bold}.full{fill:var(--wait);stroke:var(--wait-line)}.bar{fill:var(--paper);stroke:var(--line)}";

constexpr size_t mostInstances = 40; // of one drawing in a page

/// A card and where it stands.
struct PlacedCard : Card {
  std::string sheet = {}; // of an instance of another part: where that is drawn
  double x = 0, y = 0, width = 0, height = 0;
  double rowY(size_t row) const { return y + headHeight() + static_cast<double>(row) * line + line / 2; }
  double headHeight() const { return note.empty() ? 26 : 42; }
};

class InstancePicture {
public:
  InstancePicture(const InstanceGraph& graph, const Machine& machine, const std::vector<LevelDemand>& demand,
                  const std::string& title)
      : graph_(graph), machine_(machine), demand_(demand), title_(title) {}

  void add(const Card& card, const std::string& sheet = "") {
    columnOf_.try_emplace(card.instance, columnOf_.size());
    cards_.push_back(measured(card));
    cards_.back().sheet = sheet;
  }

  std::string draw() {
    place();
    svg_.text(margin, 34, title_, "title");
    for (unsigned level = 0; level < machine_.levels.size(); ++level)
      drawLevel(level);
    for (size_t index = 0; index < cards_.size(); ++index)
      drawLinks(index);
    for (const PlacedCard& card : cards_)
      drawCard(card);
    legend();
    return svg_.document(title_, bottom_ + 60, style);
  }

private:
  // ---- where the cards stand ----

  static PlacedCard measured(const Card& made) {
    PlacedCard card{made};
    double width = static_cast<double>(std::max(lengthOf(card.heading), lengthOf(card.note))) * character;
    for (Row& row : card.rows) {
      row.words = shorten(row.words, mostWords);
      double marks = 0;
      for (const std::string& mark : row.marks)
        marks += static_cast<double>(lengthOf(mark)) * character + 18;
      width = std::max(width, static_cast<double>(lengthOf(row.words) + 2 * row.indent) * character + marks);
    }
    card.width = width + 2 * padding;
    card.height = card.headHeight() + static_cast<double>(card.rows.size()) * line + 8;
    return card;
  }

  void place() {
    const size_t levels = machine_.levels.size();
    std::vector<double> widths(columnOf_.size(), 0), heights(levels, 84);
    for (const PlacedCard& card : cards_) {
      double& width = widths[columnOf_.at(card.instance)];
      width = std::max(width, card.width);
      heights[card.level] = std::max(heights[card.level], card.height + 2 * cardGap);
    }
    std::vector<double> columns;
    double x = margin + gutter + 24;
    for (double width : widths) {
      columns.push_back(x);
      x += width + columnGap;
    }
    right_ = x - columnGap + 24;
    svg_.reach(right_);
    tops_.assign(levels, 0);
    double y = 56;
    for (size_t level = levels; level-- > 0;) {
      tops_[level] = y;
      y += heights[level] + 10;
    }
    heights_ = std::move(heights);
    bottom_ = y;
    for (size_t index = 0; index < cards_.size(); ++index) {
      PlacedCard& card = cards_[index];
      card.x = columns[columnOf_.at(card.instance)];
      card.y = tops_[card.level] + cardGap;
      if (card.isHome)
        homes_[card.instance] = index;
    }
  }

  // ---- drawing ----

  void drawLevel(unsigned number) {
    const machine::Level& level = machine_.levels[number];
    const machine::Memory& memory = machine_[level.memory];
    const double y = tops_[number];
    svg_.rectangle(margin, y, right_ - margin, heights_[number], "rx=\"8\" class=\"band\"");
    svg_.path("M" + coordinate(margin + gutter) + " " + coordinate(y + 10) + "v" + coordinate(heights_[number] - 20),
              "class=\"rule\"");
    const auto room = static_cast<size_t>((gutter - 24) / character);
    std::string head = "level " + std::to_string(number) + ": " +
                       (memory.count > 1 ? std::to_string(memory.count) + " × " : "") + memory.name;
    svg_.text(margin + 12, y + 22, shorten(head, room), "head");
    const machine::ProcessorId controller = machine_.controllerOf(number);
    std::string who = controller.valid() ? "run by " + machine_[controller].name : "run by nobody";
    if (controller.valid() && machine_[controller].count > 1)
      who += ", " + std::to_string(machine_[controller].count) + " of them";
    svg_.text(margin + 12, y + 40, shorten(who, room), "note");
    drawCapacity(number, y + 52, room);
  }

  /// What takes a part of a memory.
  struct Part {
    std::optional<uint64_t> bytes; // nothing: not bounded
    std::string title;
  };

  std::vector<Part> partsOf(unsigned level) const {
    std::vector<Part> parts;
    Part others{0, ""};
    size_t arraysOfOthers = 0;
    for (const LevelDemand& demand : demand_)
      for (size_t i = 0; demand.level == level && i < demand.demands.size(); ++i) {
        const Demand& each = demand.demands[i];
        if (!homes_.contains(each.instance)) {
          ++arraysOfOthers;
          uint64_t sum = 0;
          others.bytes = others.bytes && each.bytes && !__builtin_add_overflow(*others.bytes, *each.bytes, &sum)
                             ? std::optional(sum)
                             : std::nullopt;
          continue;
        }
        const std::string name = std::string(each.array->name) + " of " + graph_.instances[each.instance].name;
        const std::string size = each.bytes ? std::to_string(*each.bytes) + " bytes" : "any size";
        parts.push_back({each.bytes, name + each.why + ": " + size});
      }
    if (arraysOfOthers) {
      others.title = std::to_string(arraysOfOthers) + " arrays of other instances: " +
                     (others.bytes ? std::to_string(*others.bytes) + " bytes" : "any size");
      parts.push_back(others);
    }
    return parts;
  }

  void drawCapacity(unsigned number, double y, size_t room) {
    const machine::Capacity capacity = machine_.capacityOf(machine_.levels[number].memory);
    const bool bounded = capacity.kind == machine::Capacity::Kind::Bytes && capacity.bytes > 0;
    const std::vector<Part> parts = partsOf(number);
    std::optional<uint64_t> total = 0;
    for (const Part& part : parts) {
      uint64_t sum = 0;
      total =
          total && part.bytes && !__builtin_add_overflow(*total, *part.bytes, &sum) ? std::optional(sum) : std::nullopt;
    }
    std::string words = total ? picture::bytesText(*total) : "any size";
    if (bounded) {
      const double width = gutter - 36, begin = margin + 12, all = static_cast<double>(capacity.bytes);
      svg_.rectangle(begin, y, width, 10, "rx=\"3\" class=\"bar\"",
                     memory(number) + " holds " + std::to_string(capacity.bytes) + " bytes");
      double x = begin;
      for (const Part& part : parts) {
        // An array without a bound takes all of a memory that programs divide, and is no matter for another.
        const double share = part.bytes ? static_cast<double>(*part.bytes) / all : isLimited(machine_, number) ? 1 : 0;
        const double wide = std::min(share * width, begin + width - x);
        if (wide > 0)
          svg_.rectangle(x, y, wide, 10,
                         !isLimited(machine_, number) || (total && *total <= capacity.bytes) ? "class=\"data\""
                                                                                             : "class=\"full\"",
                         part.title);
        x += std::max(wide, 0.0);
      }
      char percent[32] = "";
      if (total)
        std::snprintf(percent, sizeof percent, " (%.0f%%)", 100.0 * static_cast<double>(*total) / all);
      words += (total ? " of " : ", of ") + picture::bytesText(capacity.bytes) + percent;
      y += 26;
    } else {
      words += capacity.kind == machine::Capacity::Kind::Available ? ", of this computer" : ", capacity unknown";
      y += 10;
    }
    svg_.text(margin + 12, y, shorten(words, room), "note");
  }

  std::string memory(unsigned level) const { return machine_[machine_.levels[level].memory].name; }

  const char* styleOf(const Instance& instance) const {
    return instance.variant->kind == TaskKind::Leaf       ? "leaf"
           : instance.variant->kind == TaskKind::External ? "external"
                                                          : "inner";
  }

  void drawCard(const PlacedCard& card) {
    const Instance& instance = graph_.instances[card.instance];
    const std::string whole =
        std::string(instance.variant->taskName) + "::" + std::string(instance.variant->name) + " as " + instance.name;
    if (!card.sheet.empty()) {
      svg_.rectangle(card.x, card.y, card.width, card.height,
                     "rx=\"6\" class=\"outside\" data-sheet=\"" + picture::escape(card.sheet) + "\"",
                     whole + "; a click shows it among its own");
    } else {
      svg_.rectangle(card.x, card.y, card.width, card.height,
                     "rx=\"6\" class=\"body\"" + std::string(&card == &cards_.front() ? picture::startMark : ""));
      svg_.rectangle(card.x, card.y, card.width, card.headHeight() - 4,
                     std::string("rx=\"6\" class=\"") + styleOf(instance) + "\"", whole);
    }
    svg_.text(card.x + padding, card.y + 16, card.heading, card.isHome ? "name" : "");
    if (!card.note.empty())
      svg_.text(card.x + padding, card.y + 32, card.note, "note");
    for (size_t index = 0; index < card.rows.size(); ++index) {
      const Row& row = card.rows[index];
      const double y = card.rowY(index) + 5;
      double x = card.x + padding + static_cast<double>(2 * row.indent) * character;
      svg_.text(x, y, row.words, row.kind == Row::Kind::Tunable ? "note" : "", row.title);
      double end = card.x + card.width - padding;
      for (size_t mark = row.marks.size(); mark-- > 0;) {
        const double width = static_cast<double>(lengthOf(row.marks[mark])) * character + 10;
        end -= width;
        svg_.rectangle(end, y - 12.5, width, 16,
                       std::string("rx=\"4\" class=\"") + (row.kind == Row::Kind::Array ? "data" : "control") + "\"",
                       row.title);
        svg_.centred(end, y, width, row.marks[mark]);
        end -= 6;
      }
    }
  }

  /// From a card to its instance's name, and from each call to what it may become.
  void drawLinks(size_t index) {
    const PlacedCard& card = cards_[index];
    const auto c = [](double value) { return coordinate(value) + " "; };
    if (!card.isHome) {
      const PlacedCard& home = cards_[homes_[card.instance]];
      const double x = std::min(home.x + home.width, card.x + card.width) / 2 + card.x / 2;
      svg_.path("M" + c(x) + c(std::min(home.y + home.height, card.y + card.height)) + "V" +
                    c(std::max(home.y, card.y)),
                "class=\"belongs\"", "both belong to " + graph_.instances[card.instance].name);
    }
    for (size_t number = 0; number < card.rows.size(); ++number)
      for (const auto& [target, words] : card.rows[number].targets) {
        if (!homes_.contains(target))
          continue;
        const PlacedCard& to = cards_[homes_[target]];
        const double x = card.x + card.width, y = card.rowY(number);
        const double end = to.y + 18 + 5 * static_cast<double>(arrivals_[target]++ % 4);
        std::string data = "M" + c(x) + c(y), tip;
        if (columnOf_.at(to.instance) > columnOf_.at(card.instance) + 1) {
          // Below the cards that stand in between.
          const double lane =
              tops_[to.level] + heights_[to.level] - 5 - 3 * static_cast<double>(lanes_[to.level]++ % 3);
          data += "C" + c(x + 36) + c(y) + c(x + 4) + c(lane) + c(x + 40) + c(lane) + "H" + c(to.x - 44) + "C" +
                  c(to.x - 8) + c(lane) + c(to.x - 40) + c(end) + c(to.x - 7) + c(end);
          tip = "M" + c(to.x) + c(end) + "l-8 -4v8z";
        } else if (to.x > x) {
          const double bend = std::max(24.0, std::min(60.0, (to.x - x) / 2));
          data += "C" + c(x + bend) + c(y) + c(to.x - bend) + c(end) + c(to.x - 7) + c(end);
          tip = "M" + c(to.x) + c(end) + "l-8 -4v8z";
        } else {
          const double right = std::max(x, to.x + to.width);
          data += "C" + c(right + 40) + c(y) + c(right + 40) + c(end) + c(to.x + to.width + 7) + c(end);
          tip = "M" + c(to.x + to.width) + c(end) + "l8 -4v8z";
          svg_.reach(right + 40);
        }
        svg_.path(data, card.rows[number].combines ? "class=\"call\" stroke-dasharray=\"5 4\"" : "class=\"call\"",
                  words);
        svg_.path(tip, "class=\"tip\"");
      }
  }

  void legend() {
    double x = margin, y = bottom_ + 14;
    const auto words = [&](double room, const std::string& text) {
      svg_.text(x + room, y + 11, text, "note");
      x += room + static_cast<double>(lengthOf(text)) * character + 22;
    };
    for (const char* kind : {"inner", "leaf", "external"}) {
      svg_.rectangle(x, y, 18, 14, std::string("rx=\"3\" class=\"") + kind + "\"");
      words(25, kind);
    }
    svg_.rectangle(x, y, 18, 14, "rx=\"3\" class=\"data\"");
    words(25, "bytes, at most");
    svg_.rectangle(x, y, 18, 14, "rx=\"3\" class=\"control\"");
    words(25, "how a loop runs");
    svg_.path("M" + coordinate(x) + " " + coordinate(y + 7) + "h26", "class=\"call\"");
    svg_.path("M" + coordinate(x + 34) + " " + coordinate(y + 7) + "l-8 -4v8z", "class=\"tip\"");
    words(41, "call");
    svg_.path("M" + coordinate(x) + " " + coordinate(y + 7) + "h34", "class=\"belongs\"");
    words(41, "of one instance");
  }

  const InstanceGraph& graph_;
  const Machine& machine_;
  const std::vector<LevelDemand>& demand_;
  std::string title_;
  std::vector<PlacedCard> cards_;
  std::map<uint32_t, size_t> columnOf_, homes_, arrivals_; // of instances that are drawn
  std::vector<double> tops_, heights_;
  std::map<unsigned, size_t> lanes_;
  double right_ = 0, bottom_ = 0;
  Svg svg_;
};

} // namespace

std::string drawInstances(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes,
                          const std::string& title) {
  const std::vector<LevelDemand> demand = measureDemand(graph, machine, sizes);
  InstancePicture picture(graph, machine, demand, title);
  for (const Card& card : makeCards(graph, sizes))
    picture.add(card);
  return picture.draw();
}

namespace {

/// What a drawing of other instances shows of one: its name, and the calls that lead to them.
Card abridged(const std::vector<Card>& cards, const std::set<uint32_t>& members) {
  Card made;
  for (const Card& card : cards) {
    if (card.isHome) {
      made.instance = card.instance;
      made.level = card.level;
      made.isHome = true;
      made.heading = card.heading;
    }
    for (Row row : card.rows) {
      std::erase_if(row.targets, [&](const auto& target) { return !members.contains(target.first); });
      if (row.targets.empty())
        continue;
      row.indent = 0;
      made.rows.push_back(std::move(row));
    }
  }
  return made;
}

} // namespace

std::vector<picture::Sheet> instanceSheets(const InstanceGraph& graph, const Machine& machine,
                                           const std::vector<InstanceSizes>& sizes, const std::string& title) {
  if (graph.instances.size() <= mostInstances)
    return {};
  const std::vector<LevelDemand> demand = measureDemand(graph, machine, sizes);
  std::vector<std::vector<Card>> cards(graph.instances.size());
  for (Card& card : makeCards(graph, sizes))
    cards[card.instance].push_back(std::move(card));
  const auto levelText = [&](unsigned level) {
    const machine::ProcessorId controller = machine.controllerOf(level);
    return "level " + std::to_string(level) + ": " + machine[machine.levels[level].memory].name +
           (controller.valid() ? ", run by " + machine[controller].name : "");
  };
  picture::LargeGraph whole;
  whole.title = title;
  whole.kind = "instances";
  whole.relation = "calls";
  whole.sizes = {24, 24};
  picture::Grouping byCalls{"instances-calls", "by who calls them", {}}, byTask{"instances-tasks", "by task", {}},
      byLevel{"instances-levels", "by level and processor", {}};
  std::vector<unsigned> levels;
  for (uint32_t number = 0; number < graph.instances.size(); ++number) {
    const auto home =
        std::find_if(cards[number].begin(), cards[number].end(), [](const Card& card) { return card.isHome; });
    levels.push_back(home->level);
    whole.names.push_back(graph.instances[number].name);
    byTask.keys.emplace_back(graph.instances[number].variant->taskName);
    byLevel.keys.push_back(levelText(home->level));
    for (const Card& card : cards[number])
      for (const Row& row : card.rows)
        for (const auto& [target, words] : row.targets)
          whole.edges.push_back({number, target});
  }
  whole.draw = [&](const std::vector<size_t>& nodes, const std::vector<picture::Neighbour>& neighbours,
                   const std::string& words) {
    InstancePicture picture(graph, machine, demand, words);
    const std::set<uint32_t> members(nodes.begin(), nodes.end());
    std::map<uint32_t, std::string> shown;
    for (size_t node : nodes)
      shown[static_cast<uint32_t>(node)] = "";
    for (const auto& [node, sheet] : neighbours)
      shown[static_cast<uint32_t>(node)] = sheet;
    // In the order of the mapping, so that calls lead to the right.
    for (const auto& [number, sheet] : shown) {
      if (!sheet.empty())
        picture.add(abridged(cards[number], members), sheet);
      else
        for (const Card& card : cards[number])
          picture.add(card);
    }
    return picture.draw();
  };
  whole.describe = [&](const std::vector<size_t>& nodes) {
    std::map<unsigned, size_t> counts;
    for (size_t node : nodes)
      ++counts[levels[node]];
    std::vector<std::string> lines;
    for (auto at = counts.rbegin(); at != counts.rend(); ++at)
      lines.push_back(std::to_string(at->second) + " at " + levelText(at->first));
    return lines;
  };
  return picture::sheetsOf(whole, {byCalls, byTask, byLevel});
}

} // namespace strata::sequoia
