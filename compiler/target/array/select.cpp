// Tables between the operations of equations and those of units. See select.h.
#include "compiler/target/array/select.h"

#include <bit>

namespace strata::array {

Opcode opcodeOf(equations::Operation operation) {
  using enum equations::Operation;
  switch (operation) {
  case Copy:
    return Opcode::Move;
  case Add:
    return Opcode::Add;
  case Subtract:
    return Opcode::Subtract;
  case Multiply:
    return Opcode::Multiply;
  case MultiplyAdd:
    return Opcode::MultiplyAdd;
  case Divide:
    return Opcode::Divide;
  case Remainder:
    return Opcode::Remainder;
  case Negate:
    return Opcode::Negate;
  case And:
    return Opcode::And;
  case Or:
    return Opcode::Or;
  case Xor:
    return Opcode::Xor;
  case Not:
    return Opcode::Not;
  case ShiftLeft:
    return Opcode::ShiftLeft;
  case ShiftRight:
    return Opcode::ShiftRight;
  case Minimum:
    return Opcode::Minimum;
  case Maximum:
    return Opcode::Maximum;
  case Absolute:
    return Opcode::Absolute;
  case SquareRoot:
    return Opcode::SquareRoot;
  case Less:
    return Opcode::Less;
  case LessOrEqual:
    return Opcode::LessOrEqual;
  case Equal:
    return Opcode::Equal;
  case NotEqual:
    return Opcode::NotEqual;
  case Select:
    return Opcode::Select;
  case Convert:
    return Opcode::Convert;
  }
  return Opcode::Nop;
}

Type typeOf(const ElementType& type) {
  const auto sized = [&](Type one, Type two, Type four, Type eight) {
    return type.bytes == 1 ? one : type.bytes == 2 ? two : type.bytes == 4 ? four : eight;
  };
  switch (type.kind) {
  case ElementType::Kind::Bool:
    return Type::Bool;
  case ElementType::Kind::UnsignedInteger:
    return sized(Type::Uint8, Type::Uint16, Type::Uint32, Type::Uint64);
  case ElementType::Kind::Float:
    return type.bytes == 4 ? Type::Float32 : Type::Float64;
  default:
    return sized(Type::Int8, Type::Int16, Type::Int32, Type::Int64);
  }
}

uint64_t bitsOf(const equations::Constant& constant, const ElementType& type) {
  switch (typeOf(type)) {
  case Type::Bool:
    return constant.integer != 0;
  case Type::Int8:
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int8_t>(constant.integer)));
  case Type::Int16:
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int16_t>(constant.integer)));
  case Type::Int32:
    return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(constant.integer)));
  case Type::Uint8:
    return static_cast<uint8_t>(constant.integer);
  case Type::Uint16:
    return static_cast<uint16_t>(constant.integer);
  case Type::Uint32:
    return static_cast<uint32_t>(constant.integer);
  case Type::Float32:
    return std::bit_cast<uint32_t>(static_cast<float>(constant.real));
  case Type::Float64:
    return std::bit_cast<uint64_t>(constant.real);
  default:
    return static_cast<uint64_t>(constant.integer);
  }
}

const ElementType& operandTypeOf(equations::Operation operation, const ElementType& type,
                                 const ElementType& operandType) {
  using enum equations::Operation;
  return operation == Convert || (operation >= Less && operation <= NotEqual) ? operandType : type;
}

std::vector<UnitOperation> unitsOf(const machine::ProcessorArray& array, Opcode opcode) {
  std::vector<UnitOperation> found;
  for (uint32_t unit = 0; unit < array.units.size(); ++unit)
    for (const machine::Operation& each : array.units[unit].operations)
      if (each.name == name(opcode))
        found.push_back({unit, static_cast<int64_t>(each.latency), static_cast<int64_t>(each.interval)});
  return found;
}

std::string unitsText(const machine::ProcessorArray& array) {
  std::string units;
  for (const machine::FunctionalUnit& unit : array.units) {
    units += (units.empty() ? "" : "; ") + unit.name + ":";
    for (const machine::Operation& each : unit.operations)
      units += " " + each.name;
  }
  return units;
}

uint32_t firstInstance(const machine::ProcessorArray& array, uint32_t unit) {
  uint32_t first = 0;
  for (uint32_t i = 0; i < unit; ++i)
    first += static_cast<uint32_t>(array.units[i].count);
  return first;
}

} // namespace strata::array
