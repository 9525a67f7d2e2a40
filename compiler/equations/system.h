// A loop program as affine equations: what a program says before it is brought into uniform form (uniform.h). Inside of
// one iteration space, variables of any dimension are defined and used at affine indices, by expressions that may hold
// reductions. Plain data without isl; the owner owns all of it.
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

} // namespace strata::equations
