// Indices that stay where they are, and graphs as systems. See system.h.
#include "compiler/equations/system.h"

#include <algorithm>

namespace strata::equations {

std::vector<Affine> identity(size_t iterators) {
  std::vector<Affine> index(iterators);
  for (size_t i = 0; i < iterators; ++i) {
    index[i].iterators.assign(iterators, 0);
    index[i].iterators[i] = 1;
  }
  return index;
}

bool isIdentity(const std::vector<Affine>& index, size_t iterators) {
  if (index.size() != iterators)
    return false;
  for (size_t i = 0; i < iterators; ++i) {
    const Affine& each = index[i];
    const auto isZero = [](int64_t value) { return value == 0; };
    if (each.constant != 0 || !std::all_of(each.parameters.begin(), each.parameters.end(), isZero))
      return false;
    for (size_t j = 0; j < iterators; ++j)
      if ((j < each.iterators.size() ? each.iterators[j] : 0) != (i == j ? 1 : 0))
        return false;
  }
  return true;
}

namespace {

class FromGraph {
public:
  explicit FromGraph(const Graph& graph) : graph_(graph) {}

  System run() {
    System made;
    made.name = graph_.name;
    made.iterators = graph_.iterators;
    made.parameters = graph_.parameters;
    made.iteratorPlaces = graph_.iteratorPlaces;
    made.parameterPlaces = graph_.parameterPlaces;
    made.context = graph_.context;
    made.location = graph_.location;
    made.space.pieces.emplace_back();
    const auto add = [&](const std::vector<Array>& arrays, Role role) {
      for (const Array& each : arrays)
        made.variables.push_back({each.name, each.type, role, static_cast<unsigned>(each.extents.size()), each.extents,
                                  each.location, each.isPartial});
    };
    add(graph_.inputs, Role::Input);
    add(graph_.outputs, Role::Output);
    for (const Variable& each : graph_.variables)
      made.variables.push_back({each.name,
                                each.type,
                                Role::Internal,
                                static_cast<unsigned>(graph_.iterators.size()),
                                {},
                                each.location,
                                false});
    for (const Node& node : graph_.nodes)
      made.equations.push_back({node.isOutput ? outputOf(node.target) : internalOf(node.target),
                                node.isOutput ? node.index : identity(graph_.iterators.size()), valueOf(node),
                                node.domain, node.location, node.location});
    return made;
  }

private:
  uint32_t outputOf(uint32_t output) const { return static_cast<uint32_t>(graph_.inputs.size()) + output; }
  uint32_t internalOf(uint32_t variable) const {
    return static_cast<uint32_t>(graph_.inputs.size() + graph_.outputs.size()) + variable;
  }

  Expression valueOf(const Node& node) const {
    std::vector<Expression> operands;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const bool isCondition = node.operation == Operation::Select && i == 0;
      operands.push_back(operandOf(node.operands[i], isCondition ? ElementType::boolean() : node.operandType));
      operands.back().location = i < node.operandLocations.size() && node.operandLocations[i].valid()
                                     ? node.operandLocations[i]
                                     : node.location;
    }
    if (node.operation == Operation::Copy)
      return operands[0];
    Expression made;
    made.kind = Expression::Kind::Operation;
    made.operation = node.operation;
    made.type = node.type;
    made.operandType = node.operandType;
    made.operands = std::move(operands);
    made.location = node.location;
    return made;
  }

  Expression operandOf(const Operand& operand, const ElementType& type) const {
    Expression made;
    made.type = made.operandType = type;
    if (const Constant* constant = std::get_if<Constant>(&operand)) {
      made.constant = *constant;
      return made;
    }
    made.kind = Expression::Kind::Element;
    if (const InputUse* input = std::get_if<InputUse>(&operand)) {
      made.variable = input->input;
      made.index = input->index;
      return made;
    }
    const Use& use = std::get<Use>(operand);
    made.variable = internalOf(use.variable);
    made.index = identity(graph_.iterators.size());
    for (size_t i = 0; i < use.distance.size(); ++i)
      made.index[i].constant = -use.distance[i];
    return made;
  }

  const Graph& graph_;
};

} // namespace

System systemOf(const Graph& graph) {
  return FromGraph(graph).run();
}

} // namespace strata::equations
