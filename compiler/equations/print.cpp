// See print.h.
#include "compiler/equations/print.h"

#include "compiler/equations/polyhedra.h"

namespace strata::equations {

namespace {

std::string element(const System& system, uint32_t variable, const std::vector<Affine>& index) {
  std::string list;
  for (const Affine& each : index)
    list += (list.empty() ? "[" : ", ") + text(each, system.iterators, system.parameters);
  return system.variables[variable].name + (list.empty() ? "" : list + "]");
}

} // namespace

const char* operationText(Operation operation) {
  static constexpr const char* names[] = {
      "copy",     "add",         "subtract", "multiply",      "multiply_add", "divide",      "remainder", "negate",
      "and",      "or",          "xor",      "not",           "shift_left",   "shift_right", "minimum",   "maximum",
      "absolute", "square_root", "less",     "less_or_equal", "equal",        "not_equal",   "select",    "convert"};
  return names[static_cast<size_t>(operation)];
}

namespace {

/// `type` is that of a constant.
std::string text(const System& system, const Expression& expression, const ElementType& type) {
  if (expression.kind == Expression::Kind::Element)
    return element(system, expression.variable, expression.index);
  if (expression.kind == Expression::Kind::Constant)
    return type.kind == ElementType::Kind::Float ? std::to_string(expression.constant.real)
                                                 : std::to_string(expression.constant.integer);
  std::string operands;
  for (size_t i = 0; i < expression.operands.size(); ++i)
    operands += (i ? ", " : "") + text(system, expression.operands[i], typeOfOperand(expression, i));
  return std::string(operationText(expression.operation)) + "(" + operands + ")";
}

} // namespace

std::string text(const System& system, const Expression& expression) {
  return text(system, expression, expression.type);
}

std::string print(const System& system) {
  std::string result = "program " + system.name + "\n";
  for (const Role role : {Role::Input, Role::Output, Role::Internal})
    for (const SystemVariable& variable : system.variables) {
      if (variable.role != role)
        continue;
      result += role == Role::Input ? "input " : role == Role::Output ? "output " : "variable ";
      std::string extents;
      for (const Affine& each : variable.extents)
        extents += (extents.empty() ? "[" : ", ") + text(each, system.iterators, system.parameters);
      result += variable.name + ": " + variable.type.text() + (extents.empty() ? "" : extents + "]") + "\n";
    }
  for (const Equation& equation : system.equations)
    result += element(system, equation.variable, equation.index) + " = " + text(system, equation.value) + " if " +
              text(equation.guard, system.iterators, system.parameters) + "\n";
  return result;
}

std::string print(const Graph& graph) {
  return print(systemOf(graph));
}

} // namespace strata::equations
