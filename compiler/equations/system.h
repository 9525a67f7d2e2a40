// A loop program as affine equations. Inside of one iteration space, variables of any dimension are defined and used at
// affine indices, by expressions. A notation's may hold reductions; without them (reduce.h) it is what kernels in the
// dialect hold, what verify() checks and interpret() executes, and what processors with a memory make loops of.
// Processor arrays bring it into uniform form (uniform.h). Plain data without isl; the owner owns all of it.
//
// Source: piecewise linear algorithms, "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 4,
// equation (1); Thiele and Roychowdhury 1991.
#pragma once

#include "compiler/equations/graph.h"

#include <vector>

namespace strata::equations {

struct Expression {
  enum class Kind {
    Constant,
    Element,   // an instance of a variable, at `index`
    Operation, // of `operands`
    Reduction, // of the one operand, over `iterators`, one after the other from the last to the first
  };
  Kind kind = Kind::Constant;
  ElementType type;
  Constant constant;
  uint32_t variable = 0;
  std::vector<Affine> index;
  Operation operation = Operation::Copy; // of a reduction: Add, Multiply, Minimum or Maximum
  ElementType operandType;               // as in Node
  std::vector<uint32_t> iterators;
  std::vector<Expression> operands;
  Location location;
};

enum class Role { Input, Output, Internal };

/// `rank` is how many indices it takes. Extents are those of inputs and outputs; `isPartial` is that of an output.
struct SystemVariable {
  std::string name;
  ElementType type;
  Role role = Role::Internal;
  unsigned rank = 0;
  std::vector<Affine> extents;
  Location location;
  bool isPartial = false;
};

/// variable[index] = value, in the iterations of `guard` within the system's space.
struct Equation {
  uint32_t variable = 0;
  std::vector<Affine> index;
  Expression value; // of the variable's type
  Space guard;
  Location location, targetLocation;
};

struct System {
  std::string name;
  std::vector<std::string> iterators, parameters;
  std::vector<Location> iteratorPlaces, parameterPlaces;
  std::vector<Constraint> context;
  std::vector<Location> contextPlaces; // as in Graph
  std::vector<SystemVariable> variables;
  Space space;
  std::vector<Equation> equations;
  Location location;
};

/// Each iterator by itself: where an instance has the numbers of its own iteration.
std::vector<Affine> identity(size_t iterators);
/// Whether an index is that, whatever is left out of its lists.
bool isIdentity(const std::vector<Affine>& index, size_t iterators);

/// The type that an operation takes an operand as; a constant among them is of that type.
inline ElementType typeOfOperand(const Expression& operation, size_t operand) {
  if (operation.operation == Operation::Select)
    return operand == 0 ? ElementType::boolean() : operation.type;
  return operation.operandType;
}

/// Calls `visit` for each element of internal variables, inputs and outputs that an expression is made of.
template <typename Visit>
void eachElement(const Expression& expression, const Visit& visit) {
  if (expression.kind == Expression::Kind::Element)
    visit(expression);
  for (const Expression& operand : expression.operands)
    eachElement(operand, visit);
}

/// A graph as a system: an equation for each node, in their order; inputs, outputs and variables in theirs.
System systemOf(const Graph& graph);

} // namespace strata::equations
