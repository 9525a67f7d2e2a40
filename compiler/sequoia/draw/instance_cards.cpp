// See instance_cards.h.
#include "compiler/sequoia/draw/instance_cards.h"

#include "base/picture/svg.h"

#include <algorithm>
#include <map>

namespace strata::sequoia {

namespace {

class Cards {
public:
  Cards(const InstanceGraph& graph, const std::vector<InstanceSizes>& sizes) : graph_(graph), sizes_(sizes) {}

  std::vector<Card> make() {
    for (uint32_t number = 0; number < graph_.instances.size(); ++number)
      makeCards(number);
    return std::move(cards_);
  }

private:
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
    row.marks.push_back(bytes ? picture::bytesText(*bytes) : "any size");
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
      row.marks.push_back("distributed");
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
      row.title += ", distributed over processors " + std::to_string(loop.spmd->first) + " to " +
                   std::to_string(loop.spmd->last - 1);
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
    if (site.targets.size() == 1)
      row.words += " → " + graph_.instances[site.targets[0].instance].name;
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
          card.note += ", scratch " + picture::bytesText(static_cast<uint64_t>(instance.scratch));
      } else {
        const bool controls = std::any_of(card.rows.begin(), card.rows.end(), [](const Row& row) {
          return row.kind == Row::Kind::Loop || row.kind == Row::Kind::Call;
        });
        card.heading = (controls ? "control of " : "data of ") + instance.name;
      }
      const size_t indent = mostIndent(card);
      for (Row& row : card.rows)
        row.indent -= std::min(row.indent, indent);
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

  const InstanceGraph& graph_;
  const std::vector<InstanceSizes>& sizes_;
  std::vector<Card> cards_;
};

} // namespace

std::vector<Card> makeCards(const InstanceGraph& graph, const std::vector<InstanceSizes>& sizes) {
  return Cards(graph, sizes).make();
}

} // namespace strata::sequoia
