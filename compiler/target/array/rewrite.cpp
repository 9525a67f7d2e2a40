// The passes, in the order in which map.cpp runs them. See rewrite.h.
#include "compiler/target/array/rewrite.h"
#include "compiler/equations/interpret.h"
#include "compiler/target/array/select.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

namespace strata::array {

using equations::Affine;
using equations::Constant;
using equations::InputUse;
using equations::Operation;
using equations::Use;

namespace {

bool isFloat(const ElementType& type) {
  return type.kind == ElementType::Kind::Float;
}

/// Replaces a cell by select(condition, first, second) of its own operands, the condition computed by `compare`.
void replaceBySelect(Network& network, size_t at, Operation comparison,
                     const std::function<std::vector<equations::Operand>(const Alternative&)>& compared,
                     const std::function<std::vector<equations::Operand>(const Alternative&)>& chosen) {
  const ElementType boolean = ElementType::boolean();
  const std::string name = network.variables[network.cells[at].variable].name + ".test";
  const uint32_t condition = network.addVariable(name, boolean, network.variables[network.cells[at].variable].location);
  Cell& cell = network.cells[at];
  Cell test{condition, comparison, boolean, cell.type, {}};
  for (Alternative& each : cell.alternatives) {
    test.alternatives.push_back({each.domain, compared(each), each.location});
    std::vector<equations::Operand> operands = {Use{condition, network.zero()}};
    const std::vector<equations::Operand> values = chosen(each);
    operands.insert(operands.end(), values.begin(), values.end());
    each.operands = std::move(operands);
  }
  cell.operation = Operation::Select;
  cell.operandType = cell.type;
  network.cells.push_back(std::move(test));
}

} // namespace

void replaceOperations(Network& network, const machine::ProcessorArray& array) {
  const Constant zero{0, 0}, ones{-1, 0};
  for (size_t at = 0; at < network.cells.size(); ++at) {
    Cell& cell = network.cells[at];
    const auto has = [&](Operation operation) { return !unitsOf(array, opcodeOf(operation)).empty(); };
    if (has(cell.operation))
      continue;
    const auto in = [](size_t first, size_t second) {
      return [=](const Alternative& each) {
        return std::vector<equations::Operand>{each.operands[first], each.operands[second]};
      };
    };
    switch (cell.operation) {
    case Operation::Minimum: // second < first ? second : first
    case Operation::Maximum: // first < second ? second : first
      if (has(Operation::Less) && has(Operation::Select))
        replaceBySelect(network, at, Operation::Less, cell.operation == Operation::Minimum ? in(1, 0) : in(0, 1),
                        in(1, 0));
      break;
    case Operation::Absolute: // x < 0 ? 0 - x : x
      if (!isFloat(cell.type) && has(Operation::Less) && has(Operation::Select) && has(Operation::Subtract)) {
        const uint32_t negative = network.addVariable(network.variables[cell.variable].name + ".negative", cell.type,
                                                      network.variables[cell.variable].location);
        Cell subtraction{negative, Operation::Subtract, cell.type, cell.type, {}};
        for (const Alternative& each : cell.alternatives)
          subtraction.alternatives.push_back({each.domain, {zero, each.operands[0]}, each.location});
        network.cells.push_back(std::move(subtraction));
        replaceBySelect(
            network, at, Operation::Less,
            [&](const Alternative& each) { return std::vector<equations::Operand>{each.operands[0], zero}; },
            [&](const Alternative& each) {
              return std::vector<equations::Operand>{Use{negative, network.zero()}, each.operands[0]};
            });
      }
      break;
    case Operation::Negate:
      if (!isFloat(cell.type) && has(Operation::Subtract)) {
        cell.operation = Operation::Subtract;
        for (Alternative& each : cell.alternatives)
          each.operands.insert(each.operands.begin(), zero);
      }
      break;
    case Operation::Not:
      if (has(Operation::Xor)) {
        cell.operation = Operation::Xor;
        const bool isBool = cell.type.kind == ElementType::Kind::Bool;
        for (Alternative& each : cell.alternatives)
          each.operands.push_back(isBool ? Constant{1, 0} : ones);
      }
      break;
    case Operation::Copy:
      if (!isFloat(cell.type) && has(Operation::Or)) {
        cell.operation = Operation::Or;
        for (Alternative& each : cell.alternatives)
          each.operands.push_back(zero);
      }
      break;
    default:
      break;
    }
  }
}

void foldConstants(Network& network) {
  for (Cell& cell : network.cells) {
    const ElementType& type = operandTypeOf(cell.operation, cell.type, cell.operandType);
    std::vector<Constant> results;
    for (const Alternative& each : cell.alternatives) {
      std::vector<equations::Value> values;
      for (const equations::Operand& operand : each.operands)
        if (const Constant* constant = std::get_if<Constant>(&operand))
          values.push_back({constant->integer, constant->real});
      std::optional<equations::Value> result;
      if (cell.operation != Operation::Copy && values.size() == each.operands.size())
        result = equations::evaluate(cell.operation, cell.type, type, values);
      if (!result)
        break;
      results.push_back({result->integer, result->real});
    }
    if (results.size() != cell.alternatives.size())
      continue;
    cell.operation = Operation::Copy;
    cell.operandType = cell.type;
    for (size_t i = 0; i < results.size(); ++i)
      cell.alternatives[i].operands = {results[i]};
  }
}

void trim(Network& network) {
  const std::vector<Reading> readings = network.readings();
  std::vector<isl::set> needed(network.variables.size(), network.polyhedra.empty());
  for (const Reading& each : readings)
    needed[each.variable] = needed[each.variable].unite(network.before(each.domain, each.distance));
  for (size_t i = 0; i < needed.size(); ++i)
    for (const OutputWrite& write : network.variables[i].writes)
      needed[i] = needed[i].unite(write.domain);
  for (Cell& cell : network.cells) {
    std::vector<Alternative> kept;
    for (Alternative& each : cell.alternatives)
      if (!each.domain.is_subset(needed[cell.variable])) {
        each.domain = equations::coalesced(each.domain.intersect(needed[cell.variable]));
        if (!each.domain.is_empty())
          kept.push_back(each);
      } else {
        kept.push_back(each);
      }
    cell.alternatives = std::move(kept);
  }
  std::erase_if(network.cells, [](const Cell& cell) { return cell.alternatives.empty(); });
}

void forwardCopies(Network& network) {
  // Readers of an instance in the same iteration take what it is a copy of, in the iterations in which it is one.
  for (size_t round = 0; round < 8; ++round) {
    bool hasChanged = false;
    for (size_t at = 0; at < network.cells.size() && !hasChanged; ++at) {
      if (network.cells[at].operation != Operation::Copy)
        continue;
      const uint32_t variable = network.cells[at].variable;
      if (!network.variables[variable].writes.empty())
        continue;
      size_t readers = 0;
      bool isNear = true, readsItself = false;
      for (const Reading& each : network.readings())
        if (each.variable == variable) {
          ++readers;
          isNear &= isZero(each.distance);
          readsItself |= each.cell == at;
        }
      if (!isNear || readsItself || readers == 0)
        continue;
      // All alternatives, or none: the cell goes as a whole.
      const std::vector<Alternative> copies = network.cells[at].alternatives;
      bool isGood = true;
      for (const Alternative& copy : copies) {
        const Use* use = std::get_if<Use>(&copy.operands[0]);
        isGood &= std::holds_alternative<Constant>(copy.operands[0]) ||
                  (use && use->variable != variable && (isZero(use->distance) || readers == 1));
      }
      if (!isGood)
        continue;
      for (Cell& cell : network.cells) {
        std::vector<Alternative> made;
        for (const Alternative& each : cell.alternatives) {
          const auto reads = [&](const equations::Operand& operand) {
            const Use* use = std::get_if<Use>(&operand);
            return use && use->variable == variable;
          };
          if (std::none_of(each.operands.begin(), each.operands.end(), reads)) {
            made.push_back(each);
            continue;
          }
          isl::set rest = each.domain;
          for (const Alternative& copy : copies) {
            Alternative part = each;
            part.domain = equations::coalesced(each.domain.intersect(copy.domain));
            rest = rest.subtract(copy.domain);
            if (part.domain.is_empty())
              continue;
            for (equations::Operand& operand : part.operands)
              if (reads(operand))
                operand = copy.operands[0];
            made.push_back(std::move(part));
          }
          rest = equations::coalesced(rest);
          if (!rest.is_empty()) {
            made.push_back(each);
            made.back().domain = rest;
          }
        }
        cell.alternatives = std::move(made);
      }
      network.cells.erase(network.cells.begin() + static_cast<ptrdiff_t>(at));
      hasChanged = true;
    }
    if (!hasChanged)
      return;
  }
}

void passInputs(Network& network, const std::vector<LoopRange>& ranges, const std::vector<uint32_t>& distributed) {
  if (distributed.size() < 2)
    return;
  struct Chain {
    uint32_t input;
    std::vector<Affine> index;
    uint32_t variable;
    isl::set wanted;
    std::string key;
  };
  for (const uint32_t loop : {distributed[1], distributed[0]}) {
    std::vector<int64_t> step = network.zero(), back = network.zero();
    step[loop] = 1;
    back[loop] = -1;
    std::vector<Chain> chains;
    const auto keyOf = [&](const InputUse& use) {
      std::string key = std::to_string(use.input);
      for (const Affine& each : use.index)
        key += "|" + equations::text(each, network.graph.iterators, network.graph.parameters);
      return key;
    };
    for (Cell& cell : network.cells)
      for (Alternative& each : cell.alternatives)
        for (equations::Operand& operand : each.operands) {
          const InputUse* use = std::get_if<InputUse>(&operand);
          if (!use || std::any_of(use->index.begin(), use->index.end(), [&](const Affine& index) {
                return loop < index.iterators.size() && index.iterators[loop] != 0;
              }))
            continue;
          // What is read at the first iterations only is at the border already.
          const isl::set later = ranges[loop].above.apply(network.polyhedra.translation(step));
          if (each.domain.intersect(later).is_empty())
            continue;
          const std::string key = keyOf(*use);
          auto chain = std::find_if(chains.begin(), chains.end(), [&](const Chain& known) { return known.key == key; });
          if (chain == chains.end()) {
            const equations::Array& array = network.graph.inputs[use->input];
            const uint32_t variable =
                network.addVariable(array.name + ".along." + network.graph.iterators[loop], array.type, each.location);
            chain = chains.insert(chains.end(), Chain{use->input, use->index, variable, each.domain, key});
          } else {
            chain->wanted = chain->wanted.unite(each.domain);
          }
          operand = Use{chain->variable, network.zero()};
        }
    for (const Chain& chain : chains) {
      // From the first iteration of the loop to the last one that wants the element.
      std::string names, primed, conditions;
      for (size_t i = 0; i < network.loops(); ++i) {
        names += (i ? ", i" : "i") + std::to_string(i);
        primed += (i ? ", o" : "o") + std::to_string(i);
        conditions += (i ? " and o" : "o") + std::to_string(i) + (i == loop ? " <= i" : " = i") + std::to_string(i);
      }
      const isl::map earlier =
          network.polyhedra.parsedMap("{ [" + names + "] -> [" + primed + "] : " + conditions + " }");
      const isl::set all = equations::coalesced(chain.wanted.apply(earlier).intersect(ranges[loop].above));
      const isl::set handed = equations::coalesced(all.intersect(all.apply(network.polyhedra.translation(step))));
      const isl::set first = equations::coalesced(all.subtract(handed));
      const ElementType& type = network.graph.inputs[chain.input].type;
      const Location& where = network.variables[chain.variable].location;
      Cell cell{chain.variable, Operation::Copy, type, type, {}};
      cell.alternatives.push_back({first, {InputUse{chain.input, chain.index}}, where});
      if (!handed.is_empty())
        cell.alternatives.push_back({handed, {Use{chain.variable, step}}, where});
      network.cells.push_back(std::move(cell));
    }
  }
}

namespace {

/// What an instance of a variable is written to: a register for its users in the same iteration (no reader), a FIFO for
/// another user, or an output.
struct Holder {
  enum class Kind { Register, Queue, Output } kind = Kind::Register;
  isl::set domain; // of the variable's instances
  size_t reading = 0, write = 0;
};

std::vector<Holder> holdersOf(const Network& network, const std::vector<Reading>& readings, uint32_t variable) {
  std::vector<Holder> list;
  isl::set near = network.polyhedra.empty();
  for (size_t i = 0; i < readings.size(); ++i) {
    const Reading& each = readings[i];
    if (each.variable != variable)
      continue;
    if (isZero(each.distance) && !network.queued.contains({variable, each.cell}))
      near = near.unite(each.domain);
    else
      list.push_back({Holder::Kind::Queue, network.before(each.domain, each.distance), i, 0});
  }
  if (!near.is_empty())
    list.insert(list.begin(), {Holder::Kind::Register, near, 0, 0});
  const std::vector<OutputWrite>& writes = network.variables[variable].writes;
  for (size_t i = 0; i < writes.size(); ++i)
    list.push_back({Holder::Kind::Output, writes[i].domain, 0, i});
  return list;
}

/// Whether some instance is in more than `limit` of the sets.
bool exceeds(const std::vector<isl::set>& sets, uint64_t limit, size_t from, const isl::set& within, uint64_t depth) {
  for (size_t i = from; i < sets.size(); ++i) {
    const isl::set both = within.intersect(sets[i]);
    if (both.is_empty())
      continue;
    if (depth == limit || exceeds(sets, limit, i + 1, both, depth + 1))
      return true;
  }
  return false;
}

bool exceeds(const Network& network, const std::vector<Holder>& holders, uint64_t limit) {
  std::vector<isl::set> sets;
  for (const Holder& each : holders)
    sets.push_back(each.domain);
  return sets.size() > limit && exceeds(sets, limit, 0, network.context, 0);
}

void redirect(Network& network, uint32_t cell, uint32_t from, const std::vector<int64_t>& distance, uint32_t to,
              const std::vector<int64_t>& newDistance) {
  for (Alternative& each : network.cells[cell].alternatives)
    for (equations::Operand& operand : each.operands)
      if (Use* use = std::get_if<Use>(&operand); use && use->variable == from && use->distance == distance)
        *use = {to, newDistance};
}

} // namespace

std::vector<UseGroup> limitDestinations(Network& network, uint64_t limit, const Slack& slack,
                                        const std::set<UseGroup>& apart) {
  std::vector<UseGroup> together;
  std::map<uint32_t, int64_t> slackOfCopies; // by cell
  const auto slackOf = [&](const Reading& reading) {
    const auto copy = slackOfCopies.find(reading.cell);
    return copy == slackOfCopies.end() ? slack(reading) : copy->second;
  };
  std::vector<Reading> readings = network.readings();
  for (uint32_t variable = 0; variable < network.variables.size(); ++variable) {
    std::vector<Holder> holders = holdersOf(network, readings, variable);
    if (!exceeds(network, holders, limit))
      continue;
    const std::string name = network.variables[variable].name;
    const ElementType type = network.variables[variable].type;
    const Location where = network.variables[variable].location;
    // Several users of one instance at one distance: a copy at that distance has them all in its own iteration.
    for (size_t i = 0; i < readings.size(); ++i) {
      if (readings[i].variable != variable || isZero(readings[i].distance))
        continue;
      size_t end = i;
      isl::set domain = network.polyhedra.empty();
      bool isShared = false;
      int64_t least = std::numeric_limits<int64_t>::max();
      while (end < readings.size() && readings[end].variable == variable &&
             readings[end].distance == readings[i].distance) {
        isShared |= !domain.is_disjoint(readings[end].domain);
        least = std::min(least, slackOf(readings[end]));
        domain = domain.unite(readings[end++].domain);
      }
      const UseGroup group{variable, readings[i].distance};
      if (isShared && !apart.contains(group)) {
        together.push_back(group);
        slackOfCopies[static_cast<uint32_t>(network.cells.size())] = least - 1; // the copy's own cycle
        const uint32_t copy = network.addCopy(name + ".late", type, equations::coalesced(domain),
                                              Use{variable, readings[i].distance}, where);
        for (size_t j = i; j < end; ++j)
          redirect(network, readings[j].cell, variable, readings[i].distance, copy, network.zero());
      }
      i = end - 1;
    }
    readings = network.readings();
    holders = holdersOf(network, readings, variable);
    if (!exceeds(network, holders, limit))
      continue;
    // The register stays, which copies read, and as many others as there is room for, those first that a recurrence
    // waits for; copies take the rest.
    if (holders[0].kind == Holder::Kind::Register)
      holders.erase(holders.begin());
    std::vector<std::pair<int64_t, size_t>> order; // slack and place
    for (const Holder& each : holders)
      order.emplace_back(each.kind == Holder::Kind::Queue ? slackOf(readings[each.reading])
                                                          : std::numeric_limits<int64_t>::max(),
                         order.size());
    std::ranges::sort(order);
    std::vector<Holder> waiting;
    for (const auto& [cycles, place] : order)
      waiting.push_back(holders[place]);
    const auto takeFrom = [&](uint64_t most) {
      std::vector<Holder> taken, rest;
      for (Holder& each : waiting) {
        taken.push_back(each);
        if (!exceeds(network, taken, most))
          continue;
        taken.pop_back();
        rest.push_back(std::move(each));
      }
      waiting = std::move(rest);
      return taken;
    };
    const std::vector<OutputWrite> allWrites = network.variables[variable].writes;
    std::vector<OutputWrite> writes;
    for (const Holder& each : takeFrom(limit - 1))
      if (each.kind == Holder::Kind::Output)
        writes.push_back(allWrites[each.write]);
    while (!waiting.empty()) {
      const std::vector<Holder> taken = takeFrom(limit);
      isl::set domain = network.polyhedra.empty();
      for (const Holder& each : taken)
        domain = domain.unite(each.domain);
      const uint32_t copy =
          network.addCopy(name + ".copy", type, equations::coalesced(domain), Use{variable, network.zero()}, where);
      for (const Holder& each : taken) {
        if (each.kind == Holder::Kind::Output) {
          network.variables[copy].writes.push_back(allWrites[each.write]);
          continue;
        }
        const Reading& reading = readings[each.reading];
        redirect(network, reading.cell, variable, reading.distance, copy, reading.distance);
        if (isZero(reading.distance) && network.queued.erase({variable, reading.cell}) != 0)
          network.queued.insert({copy, reading.cell});
      }
    }
    network.variables[variable].writes = std::move(writes);
    readings = network.readings();
  }
  return together;
}

} // namespace strata::array
