// The picture of a mapping. What an instance has at one level of the machine is a card: its arrays where their memory
// is, its loops and calls where the processor is that executes them. Arrows lead from each call to the instances that
// it may become; a bar beside each level shows how much of one instance of the memory is taken.
#include "base/machine/quantity.h"
#include "base/picture/svg.h"
#include "compiler/sequoia/draw.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace strata::sequoia {

using picture::coordinate, picture::lengthOf, picture::shorten, picture::Svg;

namespace {

constexpr double margin = 24, gutter = 250, line = 19, columnGap = 72, cardGap = 14, padding = 10;
constexpr double character = Svg::wideCharacter;
constexpr size_t mostWords = 56;

const char* const style =
    ".band{fill:var(--card)}.rule{stroke:var(--rule);fill:none}"
    ".inner{fill:var(--inner);stroke:var(--inner-line)}.leaf{fill:var(--leaf);stroke:var(--leaf-line)}"
    ".external{fill:var(--external);stroke:var(--external-line)}.body{fill:var(--paper);stroke:var(--line)}"
    ".control{fill:var(--control);stroke:var(--control-line)}.data{fill:var(--data);stroke:var(--data-line)}"
    ".call{fill:none;stroke:var(--line);stroke-width:1.5}.call:hover{stroke:var(--ink);stroke-width:3}"
    ".belongs{fill:none;stroke:var(--line);stroke-dasharray:2 4}.tip{fill:var(--line);stroke:none}"
    ".name{font-weight:bold}.full{fill:var(--wait);stroke:var(--wait-line)}.bar{fill:var(--paper);stroke:var(--line)}";

/// Bytes as people read them: "64 KiB", "1.5 MiB".
std::string bytesText(uint64_t bytes) {
  static const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units))
    value /= 1024, ++unit;
  char text[40];
  std::snprintf(text, sizeof text,
                unit == 0 || value == static_cast<double>(static_cast<uint64_t>(value)) ? "%.0f %s" : "%.1f %s", value,
                units[unit]);
  return text;
}

/// A line of a card: words, and marks behind them.
struct Row {
  enum class Kind { Tunable, Array, Loop, Call } kind = Kind::Tunable;
  std::string words, title;
  std::vector<std::string> marks;
  size_t indent = 0;
  std::vector<std::pair<uint32_t, std::string>> targets; // instances that a call may become, with the arrow's words
  bool combines = false;
};

/// What one instance has at one level.
struct Card {
  uint32_t instance = 0;
  unsigned level = 0;
  bool isHome = false; // carries the instance's name
  std::string heading, note;
  std::vector<Row> rows;
  double x = 0, y = 0, width = 0, height = 0;
  double rowY(size_t row) const { return y + headHeight() + static_cast<double>(row) * line + line / 2; }
  double headHeight() const { return note.empty() ? 26 : 42; }
};

class InstancePicture {
public:
  InstancePicture(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes,
                  const std::string& title)
      : graph_(graph), machine_(machine), sizes_(sizes), demand_(measureDemand(graph, machine, sizes)), title_(title) {}

  std::string draw() {
    for (uint32_t number = 0; number < graph_.instances.size(); ++number)
      makeCards(number);
    place();
    svg_.text(margin, 34, title_, "title");
    for (unsigned level = 0; level < machine_.levels.size(); ++level)
      drawLevel(level);
    for (size_t index = 0; index < cards_.size(); ++index)
      drawLinks(index);
    for (const Card& card : cards_)
      drawCard(card);
    legend();
    return svg_.document(title_, bottom_ + 60, style);
  }

private:
  // ---- what stands on the cards ----

  std::string boundText(const Bound& bound) const { return bound.value ? "≤ " + std::to_string(*bound.value) : "any"; }

  Row arrayRow(uint32_t number, const Variable& array) const {
    Row row{Row::Kind::Array, {}, {}, {}, 0, {}, false};
    row.words = (array.direction == Direction::None ? "local" : std::string(directionText(array.direction))) + " " +
                typeName(array.type) + " " + std::string(array.name);
    std::optional<uint64_t> bytes = array.type->size;
    for (const Bound& bound : sizes_[number].extents[array.index]) {
      row.words += "[" + boundText(bound) + "]";
      uint64_t product = 0;
      bytes = bytes && bound.value && !__builtin_mul_overflow(*bytes, static_cast<uint64_t>(*bound.value), &product)
                  ? std::optional(product)
                  : std::nullopt;
    }
    row.marks.push_back(bytes ? bytesText(*bytes) : "any size");
    row.title =
        row.words + (bytes ? ", at most " + std::to_string(*bytes) + " bytes" : ", of a size known when it runs");
    const Instance& instance = graph_.instances[number];
    for (const ResolvedPrecondition& condition : instance.preconditions)
      if (condition.array == &array)
        row.title += ", stated to have " + conditionText(condition.bound) + " elements";
    for (const ResolvedPrecondition& condition : instance.pitchPreconditions)
      if (condition.array == &array)
        row.title += ", stated to have pitch " + conditionText(condition.bound);
    for (const ResolvedSpaceShare& share : instance.spaceShare)
      if (std::find(share.arrays.begin(), share.arrays.end(), &array) != share.arrays.end())
        row.marks.push_back("shared");
    if (array.index < instance.blockCyclic.size() && instance.blockCyclic[array.index])
      row.marks.push_back("dealt");
    return row;
  }

  Row loopRow(const ResolvedLoop& loop) const {
    Row row{Row::Kind::Loop, {}, {}, {}, 0, {}, false};
    row.words = std::string(mapText(loop.loop->kind)) + " " + std::string(loop.loop->variable->name);
    for (const Loop* outer = loop.loop->parent; outer; outer = outer->parent)
      ++row.indent;
    row.title = "loop " + std::string(loop.loop->variable->name) + ", executed at level " + std::to_string(loop.level);
    if (loop.spmd) {
      row.marks.push_back(loop.spmd->ways ? "spmd " + std::to_string(loop.spmd->ways) : "spmd auto");
      row.title +=
          ", dealt to processors " + std::to_string(loop.spmd->first) + " to " + std::to_string(loop.spmd->last - 1);
      if (loop.spmd->iterationBlock)
        row.title += ", " + std::to_string(loop.spmd->iterationBlock) + " iterations at a time";
    }
    if (loop.pipelineStages > 1) {
      row.marks.push_back("swp " + std::to_string(loop.pipelineStages));
      row.title += ", up to " + std::to_string(loop.pipelineStages) + " iterations under way at once";
    }
    if (loop.unroll > 1) {
      row.marks.push_back("unroll " + std::to_string(loop.unroll));
      row.title += ", unrolled " + std::to_string(loop.unroll) + " times";
    }
    if (loop.flatten) {
      row.marks.push_back("flat");
      row.title += ", no loop remains";
    }
    return row;
  }

  Row callRow(const Instance& instance, const ResolvedCallsite& site) const {
    Row row{Row::Kind::Call, {}, {}, {}, 0, {}, site.callsite->isCombiner};
    row.words = (row.combines ? "combine by " : "call ") + std::string(site.callsite->callee->name);
    for (const Loop* outer = site.callsite->loop; outer; outer = outer->parent)
      ++row.indent;
    size_t order = 0;
    for (const ResolvedTarget& target : site.targets) {
      const std::string& name = graph_.instances[target.instance].name;
      std::string words = instance.name + (row.combines ? " combines by " : " calls ") + name;
      if (site.targets.size() > 1)
        words += ", tried as number " + std::to_string(++order);
      for (const ResolvedCondition& condition : target.conditions)
        words += (condition.array ? ", if " + std::string(condition.array->name) + " has " : ", if selected ") +
                 conditionText(condition.bound) + (condition.array ? " elements" : " times");
      if (target.dynamic)
        words += ", as a call when it runs";
      for (uint32_t argument : target.forcedCopies)
        words += ", argument " + std::to_string(argument + 1) + " copied";
      row.targets.emplace_back(target.instance, words);
    }
    row.title = row.targets.size() == 1 ? row.targets[0].second : "";
    if (site.targets.size() > 1)
      row.marks.push_back(std::to_string(site.targets.size()) + " targets");
    return row;
  }

  static std::string conditionText(const SizeBound& bound) {
    std::string text = relationText(bound.relation);
    for (size_t i = 0; i < bound.values.size(); ++i)
      text += (i ? "," : " ") + std::to_string(bound.values[i]);
    return text;
  }

  void makeCards(uint32_t number) {
    const Instance& instance = graph_.instances[number];
    std::map<unsigned, Card> byLevel;
    unsigned home = instance.variant->arrays.empty() ? instance.scalarLevel : 0;
    for (const Variable* array : instance.variant->arrays)
      home = std::max(home, instance.arrayLevels[array->index]);
    byLevel[home].isHome = true;
    for (const Variable* tunable : instance.variant->tunables)
      byLevel[home].rows.push_back(
          {Row::Kind::Tunable,
           std::string(tunable->name) + " = " + std::to_string(instance.tunables[tunable->index]),
           "tunable " + std::string(tunable->name),
           {},
           0,
           {},
           false});
    for (const Variable* array : instance.variant->arrays)
      byLevel[instance.arrayLevels[array->index]].rows.push_back(arrayRow(number, *array));
    // Loops and calls in the order of the program: a call stands behind the loop that is around it.
    std::vector<bool> said(instance.callsites.size(), false);
    const auto calls = [&](const Loop* around) {
      for (const ResolvedCallsite& site : instance.callsites)
        if (site.callsite->loop == around && !said[site.callsite->index]) {
          said[site.callsite->index] = true;
          byLevel[site.level].rows.push_back(callRow(instance, site));
        }
    };
    for (const ResolvedLoop& loop : instance.loops) {
      byLevel[loop.level].rows.push_back(loopRow(loop));
      calls(loop.loop);
    }
    calls(nullptr);
    for (auto& [level, card] : byLevel) {
      card.instance = number;
      card.level = level;
      if (card.isHome) {
        card.heading = instance.name;
        card.note = std::string(instance.variant->taskName) + "::" + std::string(instance.variant->name);
        if (!instance.externalFile.empty())
          card.note += ", " + instance.externalFile;
        if (instance.scratch)
          card.note += ", scratch " + bytesText(static_cast<uint64_t>(instance.scratch));
      } else {
        const bool controls = std::any_of(card.rows.begin(), card.rows.end(), [](const Row& row) {
          return row.kind == Row::Kind::Loop || row.kind == Row::Kind::Call;
        });
        card.heading = (controls ? "control of " : "data of ") + instance.name;
      }
      size_t indent = mostIndent(card);
      double width = static_cast<double>(std::max(lengthOf(card.heading), lengthOf(card.note))) * character;
      for (Row& row : card.rows) {
        row.indent -= std::min(row.indent, indent);
        row.words = shorten(row.words, mostWords);
        double marks = 0;
        for (const std::string& mark : row.marks)
          marks += static_cast<double>(lengthOf(mark)) * character + 18;
        width = std::max(width, static_cast<double>(lengthOf(row.words) + 2 * row.indent) * character + marks);
      }
      card.width = width + 2 * padding;
      card.height = card.headHeight() + static_cast<double>(card.rows.size()) * line + 8;
      cards_.push_back(card);
    }
  }

  /// Indentation that all loops and calls of a card have.
  static size_t mostIndent(const Card& card) {
    size_t least = SIZE_MAX;
    for (const Row& row : card.rows)
      if (row.kind == Row::Kind::Loop || row.kind == Row::Kind::Call)
        least = std::min(least, row.indent);
    return least == SIZE_MAX ? 0 : least;
  }

  // ---- where the cards stand ----

  void place() {
    const size_t levels = machine_.levels.size();
    std::vector<double> widths(graph_.instances.size(), 0), heights(levels, 84);
    for (const Card& card : cards_) {
      widths[card.instance] = std::max(widths[card.instance], card.width);
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
      Card& card = cards_[index];
      card.x = columns[card.instance];
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

  void drawCapacity(unsigned number, double y, size_t room) {
    const machine::Capacity capacity = machine_.capacityOf(machine_.levels[number].memory);
    const LevelDemand* demand = nullptr;
    for (const LevelDemand& each : demand_)
      if (each.level == number)
        demand = &each;
    const bool bounded = capacity.kind == machine::Capacity::Kind::Bytes && capacity.bytes > 0;
    const std::optional<uint64_t> total = demand ? demand->total : std::optional<uint64_t>(0);
    std::string words = total ? bytesText(*total) : "any size";
    const double width = gutter - 36;
    if (bounded) {
      svg_.rectangle(margin + 12, y, width, 10, "rx=\"3\" class=\"bar\"",
                     memory(number) + " holds " + std::to_string(capacity.bytes) + " bytes");
      double x = margin + 12, end = x + width;
      for (size_t i = 0; demand && i < demand->demands.size(); ++i) {
        const Demand& each = demand->demands[i];
        const double part = each.bytes ? static_cast<double>(*each.bytes) / static_cast<double>(capacity.bytes) : 1;
        const double wide = std::min(part * width, end - x);
        if (wide > 0)
          svg_.rectangle(x, y, wide, 10, total && *total <= capacity.bytes ? "class=\"data\"" : "class=\"full\"",
                         std::string(each.array->name) + " of " + graph_.instances[each.instance].name + ": " +
                             (each.bytes ? std::to_string(*each.bytes) + " bytes" : "no bound"));
        x += std::max(wide, 0.0);
      }
      if (total) {
        char percent[32];
        std::snprintf(percent, sizeof percent, " (%.0f%%)",
                      100.0 * static_cast<double>(*total) / static_cast<double>(capacity.bytes));
        words += " of " + bytesText(capacity.bytes) + percent;
      } else {
        words += ", of " + bytesText(capacity.bytes);
      }
      y += 26;
    } else {
      words += capacity.kind == machine::Capacity::Kind::Available ? ", of what there is" : ", capacity not stated";
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

  void drawCard(const Card& card) {
    const Instance& instance = graph_.instances[card.instance];
    svg_.rectangle(card.x, card.y, card.width, card.height, "rx=\"6\" class=\"body\"");
    svg_.rectangle(
        card.x, card.y, card.width, card.headHeight() - 4, std::string("rx=\"6\" class=\"") + styleOf(instance) + "\"",
        std::string(instance.variant->taskName) + "::" + std::string(instance.variant->name) + " as " + instance.name);
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
    const Card& card = cards_[index];
    const auto c = [](double value) { return coordinate(value) + " "; };
    if (!card.isHome) {
      const Card& home = cards_[homes_[card.instance]];
      const double x = std::min(home.x + home.width, card.x + card.width) / 2 + card.x / 2;
      svg_.path("M" + c(x) + c(std::min(home.y + home.height, card.y + card.height)) + "V" +
                    c(std::max(home.y, card.y)),
                "class=\"belongs\"", "both belong to " + graph_.instances[card.instance].name);
    }
    for (size_t number = 0; number < card.rows.size(); ++number)
      for (const auto& [target, words] : card.rows[number].targets) {
        const Card& to = cards_[homes_[target]];
        const double x = card.x + card.width, y = card.rowY(number);
        const double end = to.y + 18 + 5 * static_cast<double>(arrivals_[target]++ % 4);
        std::string data = "M" + c(x) + c(y), tip;
        if (to.instance > card.instance + 1) {
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
  const std::vector<InstanceSizes>& sizes_;
  std::vector<LevelDemand> demand_;
  std::string title_;
  std::vector<Card> cards_;
  std::map<uint32_t, size_t> homes_, arrivals_;
  std::vector<double> tops_, heights_;
  std::map<unsigned, size_t> lanes_;
  double right_ = 0, bottom_ = 0;
  Svg svg_{picture::Theme::Both};
};

} // namespace

std::string drawInstances(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes,
                          const std::string& title) {
  return InstancePicture(graph, machine, sizes, title).draw();
}

} // namespace strata::sequoia
