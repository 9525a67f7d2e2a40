// What the functional units of a processor array execute: registers, operations, instructions and the programs that
// they form. Plain data without LLVM; a register is 64 bits wide here whatever the array's word is: integers are sign
// or zero extended, a 32-bit float is its bits.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 2.1 and figures 1 and 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::array {

/// A register of one element, by its class.
struct Register {
  enum class Kind : uint8_t {
    None,
    General,  // rd: holds one value
    Feedback, // fd: a FIFO within the element
    Input,    // id: a FIFO fed by the data port of the same number
    Output,   // od: sends what is written to it through the data port of the same number
    Flag,     // one bit, shared by the units of an element
  };
  Kind kind = Kind::None;
  uint16_t index = 0;
  friend auto operator<=>(const Register&, const Register&) = default;
};

/// As the operations of equations (compiler/equations/graph.h), with the same results in every bit.
enum class Opcode : uint8_t {
  Nop,
  Move,
  Add,
  Subtract,
  Multiply,
  MultiplyAdd,
  Divide,
  Remainder,
  Negate,
  And,
  Or,
  Xor,
  Not,
  ShiftLeft,
  ShiftRight,
  Minimum,
  Maximum,
  Absolute,
  SquareRoot,
  Less, // of two operands of `operandType`, to a bool
  LessOrEqual,
  Equal,
  NotEqual,
  Select,  // the first operand is a bool
  Convert, // from `operandType`
};
inline constexpr unsigned opcodes = static_cast<unsigned>(Opcode::Convert) + 1;

enum class Type : uint8_t { Bool, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64, Float32, Float64 };
inline constexpr unsigned types = static_cast<unsigned>(Type::Float64) + 1;

constexpr unsigned bytes(Type type) {
  constexpr unsigned char all[types] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
  return all[static_cast<unsigned>(type)];
}
std::string_view name(Type type);
/// As machine files name the operation: "add", "muladd", …
std::string_view name(Opcode opcode);
/// How many sources the operation has; 0 for Nop.
unsigned operands(Opcode opcode);
/// "rd0", "fd3", "id0", "od1", "f2"; empty for none.
std::string name(Register reg);

/// A source of an instruction: a register, or with kind None the immediate value.
struct Operand {
  Register source;
  uint64_t immediate = 0;
  friend auto operator<=>(const Operand&, const Operand&) = default;
};

/// What one instruction computes. Nop has neither sources nor destinations.
struct Functional {
  Opcode opcode = Opcode::Nop;
  Type type = Type::Int32, operandType = Type::Int32;
  std::vector<Register> destinations;
  std::vector<Operand> sources;
  friend auto operator<=>(const Functional&, const Functional&) = default;
};

/// What is executed next.
struct Branch {
  enum class Kind : uint8_t {
    Next, // the following slot
    Goto, // targets[0]
    If,   // targets[n], where n is the sum of 2^i over those signals[i] that are 1
    Halt,
  };
  Kind kind = Kind::Next;
  std::vector<uint16_t> signals;
  std::vector<uint32_t> targets;
  friend bool operator==(const Branch&, const Branch&) = default;
};

/// One slot of a functional unit's instruction memory.
struct Instruction {
  Functional functional;
  Branch branch;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// Of one functional unit; it begins at slot 0.
using Program = std::vector<Instruction>;

/// "andi rd0, fd1 -> od0, fd2; if c0 goto 4, 7": as the document's figures write them, one line.
std::string print(const Instruction& instruction);

/// Of the operand number `operand`, and of the result.
Type operandType(const Functional& functional, size_t operand);
Type resultType(const Functional& functional);
/// A register's bits as a number of a type: "-3", "true"; floats as short as they are exact.
std::string print(uint64_t bits, Type type);

/// What an operation gives: nothing for a division by zero and a conversion out of range.
struct Evaluated {
  uint64_t value = 0;
  bool isDefined = true;
};
/// How an operation computes: up to three sources (others are ignored) to a result.
using Evaluator = Evaluated (*)(uint64_t a, uint64_t b, uint64_t c);
/// nullptr when the operation does not exist for these types.
Evaluator evaluator(Opcode opcode, Type type, Type operandType);

} // namespace strata::array
