// Programs of a processor class made ready to run: registers, signals and outputs by places in lists of those that the
// class uses, operations as functions. Plain data; read by any number of threads.
#pragma once

#include "runtime/array/configuration.h"

namespace strata::array {

struct DecodedSource {
  enum class Kind : uint8_t {
    Immediate,
    Hold, // a register that keeps its value
    Take, // from a FIFO
    Same, // what the source number `place` has taken
  };
  Kind kind = Kind::Immediate;
  uint16_t place = 0; // in DecodedClass::registers
  uint64_t immediate = 0;
};

struct DecodedDestination {
  uint16_t place = 0; // in registers or outputs
  bool isOutput = false;
};

/// Where a program goes on: the nops on the way there are left out.
struct DecodedTarget {
  uint32_t slot = 0;
  uint32_t idle = 0; // how many nops
};

struct DecodedInstruction {
  enum class Result : uint8_t { ToRegister, ToOutput, Other };
  Evaluator evaluate = nullptr; // none: a nop
  DecodedSource source[3];
  uint32_t latency = 1;
  uint16_t destination = 0; // the place of the only one
  Result result = Result::Other;
  uint8_t sources = 0;
  uint32_t interval = 1;
  uint32_t firstDestination = 0, destinations = 0; // in DecodedClass::destinations
  uint32_t firstSignal = 0, signals = 0;           // in tests
  uint32_t firstTarget = 0;                        // for If, in targets
  DecodedTarget next;                              // for Next and Goto
  Branch::Kind branch = Branch::Kind::Next;
};

struct DecodedProgram {
  uint32_t unit = 0;      // the instance, over all units of the machine
  uint32_t unitClass = 0; // of the machine
  DecodedTarget begin;
  std::vector<DecodedInstruction> instructions;
};

struct DecodedClass {
  std::vector<Register> registers;      // general, feedback, input and flags that it names
  std::vector<uint16_t> outputs;        // numbers of the output registers that it writes
  std::vector<uint16_t> signals;        // numbers of those that it tests
  std::vector<DecodedProgram> programs; // of the units that it uses
  std::vector<DecodedDestination> destinations;
  std::vector<uint16_t> tests; // places in signals
  std::vector<DecodedTarget> targets;

  /// The place of an input register, or -1 when no instruction reads it.
  int64_t input(uint32_t index) const;
};

/// REQUIRES: checkConfiguration() found nothing wrong.
DecodedClass decode(const machine::ProcessorArray& array, const ProcessorClass& processorClass);

} // namespace strata::array
