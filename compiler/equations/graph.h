// A loop program as equations in single assignment, in uniform form: the reduced dependence graph that processor arrays
// are mapped from. Every equation is one operation in a condition space; internal variables are used at constant
// distances, inputs and outputs at affine indices. Plain data without LLVM or isl; whoever holds it owns all of it, and
// any number of threads may read one. compiler/pla/ makes it of programs, verify() (verify.h) says whether it keeps the
// rules below, interpret.h executes it.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 4; Thiele and Roychowdhury 1991.
#pragma once

#include "base/data/element_type.h"
#include "base/source/source.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace strata::equations {

/// A sum over iterators and parameters, by number, and a constant. Both lists may be shorter than there are iterators
/// or parameters: the rest is zero.
struct Affine {
  std::vector<int64_t> iterators, parameters;
  int64_t constant = 0;
};

struct Constraint {
  enum class Kind {
    NotNegative,  // value >= 0
    Zero,         // value == 0
    Divisible,    // value mod modulus == 0
    NotDivisible, // value mod modulus != 0
  };
  Kind kind = Kind::NotNegative;
  Affine value;
  int64_t modulus = 0; // at least 2, of the last two kinds
};

/// Iterations that satisfy all constraints of one of the pieces. No piece: none; a piece without constraints: all.
struct Space {
  std::vector<std::vector<Constraint>> pieces;
};

/// Operations on values of one type, `type` of the node, unless something else is said. As in C: integers of less than
/// 32 bits are computed with as 32 and cut to their size where they are assigned; but arithmetic wraps around.
enum class Operation {
  Copy,
  Add,
  Subtract,
  Multiply,
  MultiplyAdd, // first · second + third, rounded once
  Divide,
  Remainder,
  Negate,
  And,
  Or,
  Xor,
  Not,
  ShiftLeft,  // by the second mod the width
  ShiftRight, // arithmetic for signed types
  Minimum,    // second < first ? second : first
  Maximum,    // first < second ? second : first
  Absolute,
  SquareRoot,
  // The node's type is bool, its operands are of `operandType`.
  Less,
  LessOrEqual,
  Equal,
  NotEqual,
  Select,  // the first operand is a bool
  Convert, // from `operandType`
};

/// An instance of an internal variable, `distance` iterations ago: x[I - distance].
struct Use {
  uint32_t variable = 0;
  std::vector<int64_t> distance; // of every dimension
};

/// An element of an input array or scalar.
struct InputUse {
  uint32_t input = 0;
  std::vector<Affine> index; // one for each of its dimensions
};

/// A constant, in the operand's type: the bits of an integer (sign extended), of a double for floating-point types.
struct Constant {
  int64_t integer = 0;
  double real = 0;
};

using Operand = std::variant<Use, InputUse, Constant>;

/// An equation: in iterations I of `domain`, a variable's instance at I, or an element of an output, is the operation's
/// result.
struct Node {
  Operation operation = Operation::Copy;
  ElementType type, operandType;
  std::vector<Operand> operands;
  bool isOutput = false;
  uint32_t target = 0;       // an internal variable, or an output
  std::vector<Affine> index; // of an output's element
  Space domain;
  Location location;                      // of the equation
  std::vector<Location> operandLocations; // of each operand, as far as the source has them
};

struct Variable {
  std::string name;
  ElementType type;
  Location location;
};

/// An input or output, with its extents over the parameters; none: a scalar.
struct Array {
  std::string name;
  ElementType type;
  std::vector<Affine> extents;
  Location location;
  bool isPartial = false; // an output: elements that no equation defines keep what they have
};

struct Graph {
  std::string name;
  std::vector<std::string> iterators, parameters;
  std::vector<Location> iteratorPlaces, parameterPlaces;
  /// What is known of the parameters (such as N >= 1). Sizes that break it are refused before anything runs.
  std::vector<Constraint> context;
  std::vector<Location> contextPlaces; // of its constraints, by number, as far as the source has them
  std::vector<Variable> variables;     // internal ones
  std::vector<Array> inputs, outputs;
  std::vector<Node> nodes;
  Location location;
};

} // namespace strata::equations
