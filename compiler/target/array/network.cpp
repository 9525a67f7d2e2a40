// From a graph's nodes to cells, and what is asked of a network most. See network.h.
#include "compiler/target/array/network.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace strata::array {

using equations::Affine;
using equations::Constraint;
using equations::Node;
using equations::Operation;
using equations::Use;

bool isZero(const std::vector<int64_t>& distance) {
  return std::all_of(distance.begin(), distance.end(), [](int64_t value) { return value == 0; });
}

isl::set Cell::domain() const {
  isl::set all = alternatives[0].domain;
  for (size_t i = 1; i < alternatives.size(); ++i)
    all = all.unite(alternatives[i].domain);
  return equations::coalesced(all);
}

Network::Network(const equations::Graph& source)
    : owned_(std::make_shared<equations::Polyhedra>(source.iterators.size(), source.parameters.size())), graph(source),
      polyhedra(*owned_), context(polyhedra.context(source.context)) {
  for (const equations::Variable& each : graph.variables)
    variables.push_back({each.name, each.type, each.location, {}});
  const auto define = [&](uint32_t variable, const Node& node, const isl::set& domain) {
    const auto found = std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) {
      return cell.variable == variable && cell.operation == node.operation && cell.type.text() == node.type.text() &&
             cell.operandType.text() == node.operandType.text();
    });
    Cell& cell = found != cells.end()
                     ? *found
                     : cells.emplace_back(Cell{variable, node.operation, node.type, node.operandType, {}});
    cell.alternatives.push_back({domain, node.operands, node.location});
  };
  for (const Node& node : graph.nodes) {
    const isl::set domain = equations::coalesced(polyhedra.set(node.domain).intersect(context));
    if (domain.is_empty())
      continue;
    if (!node.isOutput) {
      define(node.target, node, domain);
      continue;
    }
    const Use* use = std::get_if<Use>(&node.operands[0]);
    uint32_t variable = 0;
    if (node.operation == Operation::Copy && use && isZero(use->distance)) {
      variable = use->variable;
    } else {
      variable = addVariable(graph.outputs[node.target].name, node.type, node.location);
      define(variable, node, domain);
    }
    variables[variable].writes.push_back({node.target, node.index, domain, node.location});
  }
}

uint32_t Network::addVariable(const std::string& name, const ElementType& type, const Location& location) {
  variables.push_back({name, type, location, {}});
  return static_cast<uint32_t>(variables.size() - 1);
}

uint32_t Network::addCopy(const std::string& name, const ElementType& type, const isl::set& domain,
                          equations::Operand operand, const Location& location) {
  const uint32_t variable = addVariable(name, type, location);
  cells.push_back({variable, Operation::Copy, type, type, {{domain, {std::move(operand)}, location}}});
  return variable;
}

std::vector<Reading> Network::readings() const {
  std::map<std::tuple<uint32_t, std::vector<int64_t>, uint32_t>, isl::set> found;
  for (uint32_t at = 0; at < cells.size(); ++at)
    for (const Alternative& alternative : cells[at].alternatives)
      for (const equations::Operand& operand : alternative.operands)
        if (const Use* use = std::get_if<Use>(&operand)) {
          const auto [entry, isNew] = found.try_emplace({use->variable, use->distance, at}, alternative.domain);
          if (!isNew)
            entry->second = entry->second.unite(alternative.domain);
        }
  std::vector<Reading> list;
  for (const auto& [key, domain] : found)
    list.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), equations::coalesced(domain)});
  return list;
}

isl::set Network::defined(uint32_t variable) const {
  isl::set all = polyhedra.empty();
  for (const Cell& cell : cells)
    if (cell.variable == variable)
      all = all.unite(cell.domain());
  return equations::coalesced(all);
}

std::vector<isl::set> Network::domains() const {
  std::vector<isl::set> all;
  for (const Cell& cell : cells)
    all.push_back(cell.domain());
  return all;
}

isl::set Network::before(const isl::set& set, const std::vector<int64_t>& distance) const {
  if (isZero(distance))
    return set;
  std::vector<int64_t> back;
  for (const int64_t value : distance)
    back.push_back(-value);
  return set.apply(polyhedra.translation(back));
}

std::optional<std::vector<LoopRange>> ranges(const Network& network) {
  isl::set all = network.polyhedra.empty();
  for (const Cell& cell : network.cells)
    all = all.unite(cell.domain());
  all = equations::coalesced(all);
  const size_t loops = network.loops();
  const isl::set sizes = isl::manage(isl_set_params(network.context.copy()));
  std::vector<LoopRange> result;
  for (size_t loop = 0; loop < loops; ++loop) {
    // Other loops are forgotten but keep their places, so that coefficients are found where they were.
    isl::set one = all;
    for (size_t other = 0; other < loops; ++other)
      if (other != loop)
        one = isl::manage(isl_set_eliminate(one.release(), isl_dim_set, static_cast<unsigned>(other), 1));
    one = isl::set(isl::manage(isl_set_polyhedral_hull(one.release())));
    one = isl::manage(isl_set_gist_params(one.release(), sizes.copy()));
    const std::optional<equations::Space> space = equations::Polyhedra::space(one);
    LoopRange range{{}, {}, network.polyhedra.universe(), network.polyhedra.universe()};
    if (space && space->pieces.size() == 1)
      for (const Constraint& each : space->pieces[0]) {
        const int64_t factor = loop < each.value.iterators.size() ? each.value.iterators[loop] : 0;
        if (factor == 0 || each.kind == Constraint::Kind::Divisible || each.kind == Constraint::Kind::NotDivisible)
          continue;
        const auto bound = [&](int64_t sign) {
          // factor · i + rest >= 0: i >= -rest / factor, or i <= rest / -factor.
          Linear value{std::vector<int64_t>(loops, 0), std::vector<int64_t>(network.graph.parameters.size(), 0),
                       sign * each.value.constant};
          for (size_t i = 0; i < each.value.parameters.size(); ++i)
            value.parameters[i] = sign * each.value.parameters[i];
          return Bound{value, std::abs(factor)};
        };
        const bool isEquality = each.kind == Constraint::Kind::Zero;
        if (factor > 0 || isEquality)
          range.lower.push_back(bound(factor > 0 ? -1 : 1));
        if (factor < 0 || isEquality)
          range.upper.push_back(bound(factor > 0 ? -1 : 1));
        for (const int64_t sign : {1, -1}) {
          // `above` takes conditions with a positive factor, `below` those with a negative one, an equality gives both.
          if (sign * factor < 0 && !isEquality)
            continue;
          Affine value{std::vector<int64_t>(loops, 0), each.value.parameters, each.value.constant};
          value.iterators[loop] = factor;
          if (sign * factor < 0) {
            for (int64_t& parameter : value.parameters)
              parameter = -parameter;
            value.constant = -value.constant;
            value.iterators[loop] = -factor;
          }
          isl::set& kept = sign > 0 ? range.above : range.below;
          kept = kept.intersect(network.polyhedra.context({{Constraint::Kind::NotNegative, value, 0}}));
        }
      }
    if (range.lower.empty() || range.upper.empty())
      return std::nullopt;
    result.push_back(std::move(range));
  }
  return result;
}

} // namespace strata::array
