// Folding, kernels and edges. Kernel 0 does nothing; in the joined functions 0 stands for what comes after the last
// iteration with an instruction.
#include "runtime/array/control_flow.h"
#include "runtime/array/variables.h"

#include <algorithm>
#include <utility>

namespace strata::array {

namespace {

/// What tells kernels apart.
void describe(const Functional& functional, std::vector<uint64_t>& key) {
  key.push_back((uint64_t{static_cast<uint8_t>(functional.opcode)} << 16) |
                (uint64_t{static_cast<uint8_t>(functional.type)} << 8) | static_cast<uint8_t>(functional.operandType));
  const auto number = [](Register reg) { return (uint64_t{static_cast<uint8_t>(reg.kind)} << 16) | reg.index; };
  key.push_back(functional.destinations.size());
  for (const Register reg : functional.destinations)
    key.push_back(number(reg));
  key.push_back(functional.sources.size());
  for (const Operand& operand : functional.sources) {
    key.push_back(number(operand.source));
    key.push_back(operand.immediate);
  }
}

/// The kernels of one unit by the values of all its folded sets.
class Kernels {
public:
  Kernels(std::span<const PlacedInstruction> instructions, std::span<const Diagrams::Set> sets, int64_t interval,
          Diagrams& diagrams)
      : interval_(interval), diagrams_(diagrams) {
    std::map<std::pair<uint32_t, int64_t>, uint32_t> known; // by set and stage
    for (const PlacedInstruction& placed : instructions) {
      const int64_t offset = placed.first().offset, stage = offset / interval;
      const auto fold = [&](uint32_t number) {
        const auto [found, isNew] = known.try_emplace({sets[number], stage}, static_cast<uint32_t>(parts_.size()));
        if (isNew)
          parts_.push_back(stage == 0 ? sets[number] : diagrams.successors(sets[number], stage));
        return found->second;
      };
      Folded& folded = folded_.emplace_back();
      folded.placed = &placed;
      folded.slot = static_cast<size_t>(offset % interval);
      folded.when = fold(placed.when);
      for (const auto& [reg, number] : placed.destinations)
        folded.destinations.emplace_back(reg, fold(number));
      for (const std::map<Operand, uint32_t>& alternatives : placed.operands)
        for (auto& numbers = folded.operands.emplace_back(); const auto& [value, number] : alternatives)
          numbers.emplace_back(value, fold(number));
    }
    intern(std::vector<Functional>(static_cast<size_t>(interval)));
  }

  /// The number of the kernel at each iteration.
  Diagrams::Set join() {
    return diagrams_.join(parts_, [this](std::span<const uint32_t> values) { return evaluate(values); });
  }
  std::vector<std::vector<Functional>>& kernels() { return kernels_; }
  const std::string& problem() const { return problem_; }

private:
  struct Folded {
    const PlacedInstruction* placed = nullptr;
    size_t slot = 0;
    uint32_t when = 0;
    std::vector<std::pair<Register, uint32_t>> destinations;
    std::vector<std::vector<std::pair<Operand, uint32_t>>> operands;
  };

  static std::string nameOf(const PlacedInstruction& placed) {
    std::vector<std::string> names;
    for (const SymbolicInstruction* each : placed.instructions)
      addVariable(names, *each);
    return formatNames(names.size() == 1 ? "the instruction for" : "the instructions for", names);
  }

  uint32_t intern(std::vector<Functional> kernel) {
    std::vector<uint64_t> key;
    for (const Functional& functional : kernel)
      describe(functional, key);
    const auto [found, isNew] = known_.try_emplace(std::move(key), static_cast<uint32_t>(kernels_.size()));
    if (isNew)
      kernels_.push_back(std::move(kernel));
    return found->second;
  }

  uint32_t evaluate(std::span<const uint32_t> values) {
    std::vector<Functional> kernel(static_cast<size_t>(interval_));
    std::vector<const SymbolicInstruction*> occupants(kernel.size(), nullptr);
    for (const Folded& folded : folded_) {
      if (values[folded.when] == 0)
        continue;
      const SymbolicInstruction& instruction = folded.placed->first();
      if (const SymbolicInstruction* other = std::exchange(occupants[folded.slot], &instruction))
        problem_ = "the instructions for '" + other->name + "' and '" + instruction.name + "' meet in one slot";
      Functional& result = kernel[folded.slot];
      result = {instruction.opcode, instruction.type, instruction.operandType, {}, {}};
      for (const auto& [reg, number] : folded.destinations)
        if (values[number] != 0)
          result.destinations.push_back(reg);
      for (const auto& alternatives : folded.operands) {
        const auto isOn = [&](const auto& each) { return values[each.second] != 0; };
        const auto chosen = std::ranges::find_if(alternatives, isOn);
        if (std::ranges::count_if(alternatives, isOn) > 1)
          problem_ = "an operand of" + nameOf(*folded.placed) + " has two sources in some iteration";
        if (chosen == alternatives.end())
          problem_ = "an operand of" + nameOf(*folded.placed) + " has no source in some iteration";
        result.sources.push_back(chosen == alternatives.end() ? Operand{} : chosen->first);
      }
    }
    return intern(std::move(kernel));
  }

  int64_t interval_;
  Diagrams& diagrams_;
  std::vector<Diagrams::Set> parts_;
  std::vector<Folded> folded_;
  std::vector<std::vector<Functional>> kernels_;
  std::map<std::vector<uint64_t>, uint32_t> known_;
  std::string problem_;
};

/// The larger first; of two of one size, that to the first node.
void sortEdges(ControlFlow::Node& node, Diagrams& diagrams) {
  std::vector<std::tuple<int64_t, uint32_t, Diagrams::Set>> sized;
  for (const ControlFlow::Edge& edge : node.edges)
    sized.push_back({-diagrams.size(edge.when), edge.to, edge.when});
  std::ranges::sort(sized);
  for (size_t i = 0; i < sized.size(); ++i)
    node.edges[i] = {std::get<1>(sized[i]), std::get<2>(sized[i])};
}

/// By first iterations, edges by size.
void sortNodes(ControlFlow& flow, Diagrams& diagrams) {
  std::vector<std::pair<std::vector<int64_t>, uint32_t>> order;
  for (uint32_t i = 0; i < flow.nodes.size(); ++i) {
    Diagrams::Set all = Diagrams::none;
    for (const ControlFlow::Edge& edge : flow.nodes[i].edges)
      all = diagrams.unite(all, edge.when);
    order.push_back({diagrams.first(all).value_or(std::vector<int64_t>{}), i});
  }
  std::ranges::sort(order);
  std::vector<uint32_t> position(order.size());
  std::vector<ControlFlow::Node> sorted;
  for (uint32_t i = 0; i < order.size(); ++i) {
    position[order[i].second] = i;
    sorted.push_back(std::move(flow.nodes[order[i].second]));
  }
  for (ControlFlow::Node& node : sorted) {
    for (ControlFlow::Edge& edge : node.edges)
      if (edge.to != ControlFlow::halt)
        edge.to = position[edge.to];
    sortEdges(node, diagrams);
  }
  flow.nodes = std::move(sorted);
}

} // namespace

std::variant<ControlFlow, InstantiationError> makeControlFlow(std::span<const PlacedInstruction> instructions,
                                                              std::span<const Diagrams::Set> sets, int64_t interval,
                                                              Diagrams& diagrams) {
  Kernels kernels(instructions, sets, interval, diagrams);
  const Diagrams::Set busy = kernels.join();
  if (!kernels.problem().empty())
    return InstantiationError{kernels.problem(), "this is a mistake in the symbolic configuration: compile it again",
                              false, true};
  ControlFlow flow;
  flow.kernels = std::move(kernels.kernels());
  const std::optional<std::vector<int64_t>> last = diagrams.last(busy);
  if (!last)
    return flow;
  const Diagrams::Set both[] = {busy, diagrams.upTo(*last)};
  const Diagrams::Set now = diagrams.join(both, [](auto values) { return values[1] == 0 ? 0 : values[0] + 1; });
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbers;
  std::vector<std::pair<uint32_t, uint32_t>> pairs = {{0, 0}};
  const Diagrams::Set steps[] = {now, diagrams.following(now)};
  const Diagrams::Set edges = diagrams.join(steps, [&](auto values) {
    const auto [found, isNew] = numbers.try_emplace({values[0], values[1]}, static_cast<uint32_t>(pairs.size()));
    if (isNew)
      pairs.push_back({values[0], values[1]});
    return found->second;
  });
  std::map<uint32_t, uint32_t> nodes; // by kernel + 1
  for (size_t i = 1; i < pairs.size(); ++i)
    if (const auto [found, isNew] = nodes.try_emplace(pairs[i].first, static_cast<uint32_t>(flow.nodes.size())); isNew)
      flow.nodes.push_back({pairs[i].first - 1, {}});
  for (const auto& [number, set] : diagrams.values(edges)) {
    const auto [from, to] = pairs[number];
    flow.nodes[nodes[from]].edges.push_back({to == 0 ? ControlFlow::halt : nodes[to], set});
  }
  sortNodes(flow, diagrams);
  return flow;
}

namespace {

/// One part for each copy that a node with too many edges becomes. What follows mostly, if there is such, is kept
/// apart, so that the rest decides as late as it can; else they are filled one after the other.
std::vector<std::vector<ControlFlow::Edge>> groups(const ControlFlow::Node& node, size_t most, bool keepsApart,
                                                   Diagrams& diagrams) {
  int64_t rest = 0;
  for (size_t i = 1; i < node.edges.size(); ++i)
    rest += diagrams.size(node.edges[i].when);
  std::vector<std::vector<ControlFlow::Edge>> result;
  size_t i = 0;
  if (keepsApart && diagrams.size(node.edges[0].when) > rest)
    result.push_back({node.edges[i++]});
  for (; i < node.edges.size(); i += most)
    result.emplace_back(node.edges.begin() + static_cast<ptrdiff_t>(i),
                        node.edges.begin() + static_cast<ptrdiff_t>(std::min(i + most, node.edges.size())));
  return result;
}

/// The node becomes several; nodes before it choose among them.
void split(ControlFlow& flow, uint32_t number, size_t most, bool keepsApart, Diagrams& diagrams) {
  const std::vector<std::vector<ControlFlow::Edge>> parts = groups(flow.nodes[number], most, keepsApart, diagrams);
  std::vector<std::pair<uint32_t, Diagrams::Set>> copies; // with the iterations before them
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto copy = i == 0 ? number : static_cast<uint32_t>(flow.nodes.size());
    if (i != 0)
      flow.nodes.push_back({flow.nodes[number].kernel, {}});
    flow.nodes[copy].edges = parts[i];
    Diagrams::Set all = Diagrams::none;
    for (const ControlFlow::Edge& edge : parts[i])
      all = diagrams.unite(all, edge.when);
    copies.push_back({copy, diagrams.following(all)});
  }
  for (ControlFlow::Node& node : flow.nodes) {
    const auto entry = std::ranges::find(node.edges, number, &ControlFlow::Edge::to);
    if (entry == node.edges.end())
      continue;
    const Diagrams::Set when = entry->when;
    node.edges.erase(entry);
    for (const auto& [copy, before] : copies)
      if (const Diagrams::Set chosen = diagrams.intersect(when, before); chosen != Diagrams::none)
        node.edges.push_back({copy, chosen});
    sortEdges(node, diagrams);
  }
}

bool splitAll(ControlFlow& flow, size_t most, size_t limit, bool keepsApart, Diagrams& diagrams) {
  for (bool isDone = false; !isDone;) {
    isDone = true;
    for (uint32_t i = 0; i < flow.nodes.size(); ++i) {
      if (flow.nodes[i].edges.size() <= most)
        continue;
      isDone = false;
      split(flow, i, most, keepsApart, diagrams);
      if (flow.nodes.size() > limit)
        return false;
    }
  }
  sortNodes(flow, diagrams);
  return true;
}

} // namespace

bool limitEdges(ControlFlow& flow, size_t most, size_t limit, Diagrams& diagrams) {
  if (std::ranges::all_of(flow.nodes, [&](const ControlFlow::Node& node) { return node.edges.size() <= most; }))
    return true;
  ControlFlow other = flow;
  if (splitAll(flow, most, limit, true, diagrams))
    return true;
  flow = std::move(other);
  return splitAll(flow, most, limit, false, diagrams);
}

} // namespace strata::array
