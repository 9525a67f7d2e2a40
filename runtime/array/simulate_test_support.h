// For tests of the simulator: the document's running example, written by hand. Three elements of two ALUs each extract
// the bits of a number; an iteration every two cycles, six iterations for an element, of which the last has four.
#pragma once

#include "runtime/array/simulate.h"

#include <gtest/gtest.h>

namespace strata::array::test {

inline Register general(uint16_t index) {
  return {Register::Kind::General, index};
}
inline Register feedback(uint16_t index) {
  return {Register::Kind::Feedback, index};
}
inline Register input(uint16_t index) {
  return {Register::Kind::Input, index};
}
inline Register output(uint16_t index) {
  return {Register::Kind::Output, index};
}
inline Register flag(uint16_t index) {
  return {Register::Kind::Flag, index};
}
inline Operand number(uint64_t value) {
  return {{}, value};
}
inline Operand from(Register reg) {
  return {reg, 0};
}

inline Branch next() {
  return {};
}
inline Branch halt() {
  return {Branch::Kind::Halt, {}, {}};
}
inline Branch jump(uint32_t target) {
  return {Branch::Kind::Goto, {}, {target}};
}
/// Slot `zero` or `one`, as the signal is.
inline Branch choose(uint16_t signal, uint32_t zero, uint32_t one) {
  return {Branch::Kind::If, {signal}, {zero, one}};
}

/// An instruction on int32.
Instruction compute(Opcode opcode, std::vector<Operand> sources, std::vector<Register> destinations,
                    Branch branch = {});
Instruction nop(Branch branch = {});

/// A row of three elements with two ALUs, whose operations take one cycle, and what the running example needs of all
/// else; two destinations, four signals, two data ports and four control ports at each side.
machine::ProcessorArray bitsArray();
/// Sixteen bits of the input scalar, on bitsArray().
Configuration bits();
/// The same array and a program of one element for one ALU, without loops or banks but with `iterations` iterations of
/// one cycle. Depths are those of the array.
Configuration alone(const machine::ProcessorArray& array, Program program, int64_t iterations = 100);

class Simulated : public testing::Test {
protected:
  machine::ProcessorArray array = bitsArray();
  Configuration configuration = bits();
  uint32_t in = 0xB5C3;
  std::vector<int32_t> out = std::vector<int32_t>(16, -1);
  SimulationOptions options;
  SimulationStatistics statistics;

  std::optional<SimulationError> simulate();
  /// Runs, and compares what is written with the bits of the input.
  void expectRight();
  /// Runs, and expects this error.
  void expect(const std::string& message, bool isUsers = false);

  // What the errors are made of.
  Program& program(size_t processorClass, size_t unit) { return configuration.classes[processorClass].programs[unit]; }
  void connect(std::vector<Connection>& layer, Connection connection);
  void disconnect(std::vector<Connection>& layer, uint32_t column, machine::Port source, machine::Port sink);
};

} // namespace strata::array::test
