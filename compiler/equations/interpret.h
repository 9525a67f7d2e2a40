// Executes a system of equations by its definition: an output's element is asked for, and with it every instance that
// it depends on, each computed once. It knows no order, no schedule and no isl: what everything else that is made of
// equations is compared with. Used by one thread; what it calls back belongs to the caller.
#pragma once

#include "compiler/equations/system.h"

#include <functional>
#include <optional>
#include <string>

namespace strata::equations {

/// A number of some element type: an integer as 64 bits, extended by its type's sign; a real rounded to its type.
struct Value {
  int64_t integer = 0;
  double real = 0;
};

/// What ended a run.
struct Failure {
  std::string message; // "a division by zero"
  Location location;   // of the equation
};

/// An operation on values of its operands' types, by the meaning that graph.h states. Nothing for a division by zero or
/// one that overflows, and a conversion that an integer type cannot hold.
std::optional<Value> evaluate(Operation operation, const ElementType& type, const ElementType& operandType,
                              const std::vector<Value>& operands);

/// Of an input's element, by its number among the inputs and its indices.
using Read = std::function<Value(uint32_t input, const std::vector<int64_t>& index)>;
using Write = std::function<void(uint32_t output, const std::vector<int64_t>& index, const Value& value)>;

/// REQUIRES: the system (the graph) verifies, the sizes (one for each parameter) keep its context. What has been
/// written before a failure stays.
std::optional<Failure> interpret(const System& system, const std::vector<int64_t>& sizes, const Read& read,
                                 const Write& write);
std::optional<Failure> interpret(const Graph& graph, const std::vector<int64_t>& sizes, const Read& read,
                                 const Write& write);

} // namespace strata::equations
