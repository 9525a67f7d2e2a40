// Instruction selection: which units of an array execute which operations of equations.
#pragma once

#include "base/machine/machine.h"
#include "compiler/equations/graph.h"
#include "runtime/array/instruction.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::array {

Opcode opcodeOf(equations::Operation operation);
/// REQUIRES: a boolean, an integer or a floating-point type.
Type typeOf(const ElementType& type);
/// Bits as a register holds them.
uint64_t bitsOf(const equations::Constant& constant, const ElementType& type);

/// Of a node's operands: its own type, but for comparisons and conversions. The condition of a selection is a boolean.
const ElementType& operandTypeOf(equations::Operation operation, const ElementType& type,
                                 const ElementType& operandType);

/// A class of units that has the operation.
struct UnitOperation {
  uint32_t unit = 0; // in machine::ProcessorArray::units
  int64_t latency = 1, interval = 1;
};
std::vector<UnitOperation> unitsOf(const machine::ProcessorArray& array, Opcode opcode);

/// "alu: move add; mul: mul", for messages.
std::string unitsText(const machine::ProcessorArray& array);

/// The number of a class's first instance, counted over all units.
uint32_t firstInstance(const machine::ProcessorArray& array, uint32_t unit);

} // namespace strata::array
