// See print.h.
#include "compiler/equations/print.h"

#include "compiler/equations/polyhedra.h"

namespace strata::equations {

namespace {

std::string list(const Graph& graph, const std::vector<Affine>& index) {
  std::string result;
  for (const Affine& each : index)
    result += (result.empty() ? "" : ", ") + text(each, graph.iterators, graph.parameters);
  return "[" + result + "]";
}

std::string instance(const Graph& graph, const std::string& name, const std::vector<int64_t>& distance) {
  std::string result;
  for (size_t i = 0; i < graph.iterators.size(); ++i) {
    const int64_t step = i < distance.size() ? distance[i] : 0;
    result += (i ? ", " : "") + graph.iterators[i];
    if (step)
      result += (step > 0 ? " - " : " + ") + std::to_string(step > 0 ? step : -step);
  }
  return name + "[" + result + "]";
}

std::string operandText(const Graph& graph, const Operand& operand, const ElementType& type) {
  if (const Use* use = std::get_if<Use>(&operand))
    return instance(graph, graph.variables[use->variable].name, use->distance);
  if (const InputUse* use = std::get_if<InputUse>(&operand)) {
    const Array& input = graph.inputs[use->input];
    return input.name + (use->index.empty() ? "" : list(graph, use->index));
  }
  const Constant& constant = std::get<Constant>(operand);
  return type.kind == ElementType::Kind::Float ? std::to_string(constant.real) : std::to_string(constant.integer);
}

void declare(std::string& result, const char* what, const Graph& graph, const std::vector<Array>& arrays) {
  for (const Array& array : arrays)
    result += std::string(what) + " " + array.name + ": " + array.type.text() +
              (array.extents.empty() ? "" : list(graph, array.extents)) + "\n";
}

} // namespace

const char* operationText(Operation operation) {
  static constexpr const char* names[] = {
      "copy",     "add",         "subtract", "multiply",      "multiply_add", "divide",      "remainder", "negate",
      "and",      "or",          "xor",      "not",           "shift_left",   "shift_right", "minimum",   "maximum",
      "absolute", "square_root", "less",     "less_or_equal", "equal",        "not_equal",   "select",    "convert"};
  return names[static_cast<size_t>(operation)];
}

std::string print(const Graph& graph) {
  std::string result = "program " + graph.name + "\n";
  declare(result, "input", graph, graph.inputs);
  declare(result, "output", graph, graph.outputs);
  for (const Variable& variable : graph.variables)
    result += "variable " + variable.name + ": " + variable.type.text() + "\n";
  for (const Node& node : graph.nodes) {
    result += node.isOutput ? graph.outputs[node.target].name + list(graph, node.index)
                            : instance(graph, graph.variables[node.target].name, {});
    std::string operands;
    for (const Operand& operand : node.operands)
      operands += (operands.empty() ? "" : ", ") + operandText(graph, operand, node.operandType);
    result +=
        " = " + (node.operation == Operation::Copy ? operands
                                                   : std::string(operationText(node.operation)) + "(" + operands + ")");
    result += " if " + text(node.domain, graph.iterators, graph.parameters) + "\n";
  }
  return result;
}

} // namespace strata::equations
