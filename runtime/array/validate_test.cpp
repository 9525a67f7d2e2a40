// What validate() says: one mistake at a time in a configuration that is sound. And what fingerprints depend on.
#include "runtime/array/files_testing.h"

#include <gtest/gtest.h>

#include <functional>

namespace strata::array {

using test::fileArray;
using test::fileSample;

namespace {

constexpr size_t tooMany = (1 << 16) + 1;

struct Mistake {
  const char* message;
  std::function<void(Symbolic&)> make;
};

void expectMessages(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    Symbolic symbolic = fileSample();
    mistake.make(symbolic);
    EXPECT_EQ(validate(symbolic, fileArray()), mistake.message);
  }
}

} // namespace

TEST(Validate, TooMuch) {
  expectMessages({
      {"33 parameters, at most 32 are possible", [](Symbolic& s) { s.parameters.resize(33); }},
      {"33 loops, at most 32 are possible", [](Symbolic& s) { s.loops.resize(33); }},
      {"65537 conditions of parameters, at most 65536 are possible", [](Symbolic& s) { s.context.resize(tooMany); }},
      {"65538 arrays, at most 65536 are possible", [](Symbolic& s) { s.inputs.resize(tooMany - 1); }},
      {"65537 conditions, at most 65536 are possible", [](Symbolic& s) { s.conditions.resize(tooMany); }},
      {"65537 spaces, at most 65536 are possible", [](Symbolic& s) { s.spaces.resize(tooMany); }},
      {"65537 instructions, at most 65536 are possible", [](Symbolic& s) { s.instructions.resize(tooMany); }},
      {"65537 channels, at most 65536 are possible", [](Symbolic& s) { s.channels.resize(tooMany); }},
      {"65537 arrivals, at most 65536 are possible", [](Symbolic& s) { s.arrivals.resize(tooMany); }},
      {"65537 FIFOs, at most 65536 are possible", [](Symbolic& s) { s.fifos.resize(tooMany); }},
      {"65537 accesses, at most 65536 are possible", [](Symbolic& s) { s.accesses.resize(tooMany); }},
      {"4097 characters of a name, at most 4096 are possible", [](Symbolic& s) { s.parameters[0].resize(4097); }},
      {"65538 bounds, at most 65536 are possible", [](Symbolic& s) { s.loops[0].lower.resize(tooMany); }},
      {"65537 extents, at most 65536 are possible", [](Symbolic& s) { s.inputs[0].extents.resize(tooMany); }},
      {"65537 pieces, at most 65536 are possible", [](Symbolic& s) { s.spaces[0].pieces.resize(tooMany); }},
      {"65537 conditions of pieces, at most 65536 are possible",
       [](Symbolic& s) { s.spaces[0].pieces[0].resize(tooMany); }},
      {"65537 destinations, at most 65536 are possible",
       [](Symbolic& s) { s.instructions[0].destinations.resize(tooMany); }},
      {"65537 operands, at most 65536 are possible", [](Symbolic& s) { s.instructions[0].operands.resize(tooMany); }},
      {"65537 sources, at most 65536 are possible", [](Symbolic& s) { s.instructions[0].operands[0].resize(tooMany); }},
      {"65537 terms, at most 65536 are possible", [](Symbolic& s) { s.instructions[0].when.resize(tooMany); }},
      {"65537 ports, at most 65536 are possible", [](Symbolic& s) { s.channels[0].path.resize(tooMany); }},
      {"65537 indices, at most 65536 are possible", [](Symbolic& s) { s.accesses[0].index.resize(tooMany); }},
  });
}

TEST(Validate, Numbers) {
  expectMessages({
      {"condition 1: an expression over 2 loops and 2 parameters instead of 3 and 2",
       [](Symbolic& s) { s.conditions[1].value.loops.pop_back(); }},
      {"condition 0: coefficient 2147483649 is not from -2147483648 to 2147483648",
       [](Symbolic& s) { s.conditions[0].value.loops[1] = (int64_t{1} << 31) + 1; }},
      {"condition 0: coefficient -2147483649 is not from -2147483648 to 2147483648",
       [](Symbolic& s) { s.conditions[0].value.parameters[1] = -(int64_t{1} << 31) - 1; }},
      {"condition 0: constant 1099511627777 is not from -1099511627776 to 1099511627776",
       [](Symbolic& s) { s.conditions[0].value.constant = (int64_t{1} << 40) + 1; }},
      {"condition 0: there is no condition of kind 4", [](Symbolic& s) { s.conditions[0].kind = Condition::Kind(4); }},
      {"condition 2: modulus 1 is not from 2 to 2147483648", [](Symbolic& s) { s.conditions[2].modulus = 1; }},
      {"condition 0: modulus 2 of a condition that needs none", [](Symbolic& s) { s.conditions[0].modulus = 2; }},
      {"context 0: loop k' in an expression of parameters", [](Symbolic& s) { s.context[0].value.loops[2] = 1; }},
      {"initiation interval 0 is not from 1 to 4096", [](Symbolic& s) { s.interval = 0; }},
      {"initiation interval 4097 is not from 1 to 4096", [](Symbolic& s) { s.interval = 4097; }},
      {"lower bound of the initiation interval 4 is not from 1 to 3", [](Symbolic& s) { s.lowerBound = 4; }},
      {"it was made for another array, one of machine 'array-4x4'", [](Symbolic& s) { s.fingerprint ^= 1; }},
  });
}

TEST(Validate, LoopsAndArrays) {
  expectMessages({
      {"two parameters with the name 'N'", [](Symbolic& s) { s.parameters[1] = "N"; }},
      {"loop i: a lower and an upper bound are needed", [](Symbolic& s) { s.loops[0].upper.clear(); }},
      {"loop j: divisor 0 is not from 1 to 2147483648", [](Symbolic& s) { s.loops[1].lower[0].divisor = 0; }},
      {"loop j: loop i in an expression of parameters", [](Symbolic& s) { s.loops[1].upper[0].value.loops[0] = -1; }},
      {"loop i: tile size 0 is not from 1 to 2147483648", [](Symbolic& s) { s.loops[0].leastTile = 0; }},
      {"loop 3 is distributed, there are 3", [](Symbolic& s) { s.columnLoop = 3; }},
      {"loop j is distributed over rows and over columns", [](Symbolic& s) { s.columnLoop = 1; }},
      {"input x: there is no type 11", [](Symbolic& s) { s.inputs[0].type = Type(11); }},
      {"output y: loop j in an expression of parameters", [](Symbolic& s) { s.outputs[0].extents[0].loops[1] = 1; }},
      {"space 2: condition 4, there are 4", [](Symbolic& s) { s.spaces[2].pieces[0][1] = 4; }},
  });
  machine::ProcessorArray narrow = fileArray();
  narrow.word = 4;
  EXPECT_EQ(validate(fileSample(), narrow), "input x: type float64 has 8 bytes, a register of the array 4");
}

TEST(Validate, Terms) {
  expectMessages({
      {"instruction 0: space 5, there are 5", [](Symbolic& s) { s.instructions[0].when[0].space = 5; }},
      {"instruction 0: 2 numbers of a shift for 3 loops",
       [](Symbolic& s) { s.instructions[0].when[0].shift.pop_back(); }},
      {"instruction 0: shift 2147483649 is not from -2147483648 to 2147483648",
       [](Symbolic& s) { s.instructions[0].when[0].shift[0] = (int64_t{1} << 31) + 1; }},
      {"instruction 1: a term with one of step and crossing, and not the other",
       [](Symbolic& s) { s.instructions[1].when[1].crossing.clear(); }},
      {"instruction 1: 2 numbers of a step for 3 loops",
       [](Symbolic& s) { s.instructions[1].when[1].step.pop_back(); }},
      {"instruction 1: 4 numbers of a crossing for 3 loops",
       [](Symbolic& s) { s.instructions[1].when[1].crossing.push_back(0); }},
      {"instruction 1: crossing 2 is not from -1 to 1", [](Symbolic& s) { s.instructions[1].when[1].crossing[0] = 2; }},
      {"instruction 1: crossing 1 of loop k', which is not distributed",
       [](Symbolic& s) { s.instructions[1].when[1].crossing[2] = 1; }},
  });
}

TEST(Validate, Instructions) {
  expectMessages({
      {"instruction 0: there is no operation 25", [](Symbolic& s) { s.instructions[0].opcode = Opcode(25); }},
      {"instruction 0: there is no type 11", [](Symbolic& s) { s.instructions[0].operandType = Type(11); }},
      {"instruction 3: there is no sqrt from float64 to int32",
       [](Symbolic& s) {
         s.instructions[3].opcode = Opcode::SquareRoot;
         s.instructions[3].type = Type::Int32;
       }},
      {"instruction 0: there is no nop from int64 to int64",
       [](Symbolic& s) { s.instructions[0].opcode = Opcode::Nop; }},
      {"instruction 0: functional unit 3, the array has 3", [](Symbolic& s) { s.instructions[0].unit = 3; }},
      {"instruction 0: functional unit alu has no operation mul",
       [](Symbolic& s) { s.instructions[0].opcode = Opcode::Multiply; }},
      {"instruction 0: latency 3, the array's add on alu has 1", [](Symbolic& s) { s.instructions[0].latency = 3; }},
      {"instruction 0: latency -1, the array's add on alu has 1", [](Symbolic& s) { s.instructions[0].latency = -1; }},
      {"instruction 0: offset -1 is not from 0 to 65535", [](Symbolic& s) { s.instructions[0].offset = -1; }},
      {"instruction 0: offset 65536 is not from 0 to 65535", [](Symbolic& s) { s.instructions[0].offset = 65536; }},
      {"instruction 0: a result for id0, which only reads",
       [](Symbolic& s) { s.instructions[0].destinations[0].reg = {Register::Kind::Input, 0}; }},
      {"instruction 0: no register where one is needed",
       [](Symbolic& s) { s.instructions[0].destinations[0].reg = {}; }},
      {"instruction 0: register rd8, the array has 8",
       [](Symbolic& s) { s.instructions[0].destinations[0].reg.index = 8; }},
      {"instruction 2: register fd4, the array has 4",
       [](Symbolic& s) { s.instructions[2].destinations[0].reg.index = 4; }},
      {"instruction 1: register f2, the array has 2",
       [](Symbolic& s) { s.instructions[1].destinations[0].reg.index = 2; }},
      {"instruction 1: register od4, the array has 4",
       [](Symbolic& s) { s.instructions[1].destinations[1].reg.index = 4; }},
      {"instruction 0: 1 operands of add, which has 2", [](Symbolic& s) { s.instructions[0].operands.pop_back(); }},
      {"instruction 0: operand 1: no source", [](Symbolic& s) { s.instructions[0].operands[1].clear(); }},
      {"instruction 0: operand 0: a source in od0, which only writes",
       [](Symbolic& s) { s.instructions[0].operands[0][0].value.source = {Register::Kind::Output, 0}; }},
      {"instruction 0: operand 0: register id4, the array has 4",
       [](Symbolic& s) { s.instructions[0].operands[0][0].value.source.index = 4; }},
      {"instruction 0: operand 0: a source that is a register and a value",
       [](Symbolic& s) { s.instructions[0].operands[0][0].value.immediate = 1; }},
      {"instruction 0: operand 1: a source that is a register and a value",
       [](Symbolic& s) { s.instructions[0].operands[1][0].value.source.index = 1; }},
  });
}

TEST(Validate, Channels) {
  using machine::Side;
  expectMessages({
      {"channel 0 leads 2 rows and 0 columns away; neighbours are at most one away",
       [](Symbolic& s) { s.channels[0].rowStep = 2; }},
      {"channel 0 leads from an element to itself", [](Symbolic& s) { s.channels[0].rowStep = 0; }},
      {"channel 0 has a path of 3 ports; an even number, at least 4, is needed",
       [](Symbolic& s) { s.channels[0].path.pop_back(); }},
      {"channel 0 has a port at no side", [](Symbolic& s) { s.channels[0].path[1].side = Side(5); }},
      {"channel 0 has a path that does not begin and end at an element",
       [](Symbolic& s) { s.channels[0].path[3].side = Side::East; }},
      {"channel 0 comes from element4, the array has 4 such ports",
       [](Symbolic& s) { s.channels[0].path[0].index = 4; }},
      {"channel 0 goes to south2, the array has 2 such ports", [](Symbolic& s) { s.channels[0].path[1].index = 2; }},
      {"channel 1 goes from west0 to west1, which the array's wrappers do not connect",
       [](Symbolic& s) { s.channels[1].path[3].side = Side::West; }},
      {"channel 1 passes through element0 before its end",
       [](Symbolic& s) { s.channels[1].path[3] = {Side::Element, 0}; }},
      {"channel 0 goes from south1 to north0, the wire leads to north1",
       [](Symbolic& s) { s.channels[0].path[2].index = 0; }},
      {"channel 0 has a path that leads 1 rows and 0 columns away instead of -1 and 0",
       [](Symbolic& s) { s.channels[0].rowStep = -1; }},
      {"channel 1 connects element0 to south1, to which element1 is connected",
       [](Symbolic& s) {
         s.channels[1] = s.channels[0];
         s.channels[0].path[0].index = 1;
       }},
      {"channel 1 ends at element0, as channel 0 does", [](Symbolic& s) { s.channels[1] = s.channels[0]; }},
  });
}

TEST(Validate, Timing) {
  expectMessages({
      {"arrival 0: 2 numbers of a distance for 3 loops", [](Symbolic& s) { s.arrivals[0].distance.pop_back(); }},
      {"arrival 0: 2 numbers of a crossing for 3 loops", [](Symbolic& s) { s.arrivals[0].crossing.pop_back(); }},
      {"arrival 0: slack -1099511627777 is not from -1099511627776 to 1099511627776",
       [](Symbolic& s) { s.arrivals[0].slack = -(int64_t{1} << 40) - 1; }},
      {"FIFO 0: a feedback or input register is needed",
       [](Symbolic& s) { s.fifos[0].reg.kind = Register::Kind::General; }},
      {"FIFO 0: register id4, the array has 4", [](Symbolic& s) { s.fifos[0].reg.index = 4; }},
      {"FIFO 1: a crossing of fd1, which stays in its element",
       [](Symbolic& s) { s.fifos[1].arrival.crossing[0] = 1; }},
  });
}

TEST(Validate, Accesses) {
  expectMessages({
      {"access 0: array 2, there are 2", [](Symbolic& s) { s.accesses[0].array = 2; }},
      {"access 0: an input register is needed", [](Symbolic& s) { s.accesses[0].reg.kind = Register::Kind::Output; }},
      {"access 2: an output register is needed", [](Symbolic& s) { s.accesses[2].reg.kind = Register::Kind::Input; }},
      {"access 1: register id4, the array has 4", [](Symbolic& s) { s.accesses[1].reg.index = 4; }},
      {"access 0: channel 2, there are 2", [](Symbolic& s) { s.accesses[0].channel = 2; }},
      {"access 0: register id2, channel 0 has id0", [](Symbolic& s) { s.accesses[0].channel = 0; }},
      {"access 2: register od0, channel 1 has od1", [](Symbolic& s) { s.accesses[2].reg.index = 0; }},
      {"access 0: offset -1 is not from 0 to 1114111", [](Symbolic& s) { s.accesses[0].offset = -1; }},
      {"access 0: space 9, there are 5", [](Symbolic& s) { s.accesses[0].when[0].space = 9; }},
      {"access 1: 1 indices of scale, which has 0 dimensions", [](Symbolic& s) { s.accesses[1].index.resize(1); }},
      {"access 0: an expression over 0 loops and 2 parameters instead of 3 and 2",
       [](Symbolic& s) { s.accesses[0].index[0].loops.clear(); }},
  });
}

TEST(Fingerprint, DependsOnAllButTheSize) {
  const uint64_t known = fingerprint(fileArray());
  machine::ProcessorArray larger = fileArray();
  larger.rows = 32;
  larger.columns = 1;
  larger.origin.fields.push_back({"rows", {}});
  EXPECT_EQ(fingerprint(larger), known);
  const std::function<void(machine::ProcessorArray&)> changes[] = {
      [](auto& a) { a.word = 4; },
      [](auto& a) { a.units.pop_back(); },
      [](auto& a) { a.units[0].name = "agu"; },
      [](auto& a) { a.units[0].count = 3; },
      [](auto& a) { a.units[0].operations.pop_back(); },
      [](auto& a) { a.units[0].operations[0].name = "sub"; },
      [](auto& a) { a.units[0].operations[0].latency = 2; },
      [](auto& a) { a.units[0].operations[0].interval = 2; },
      [](auto& a) { a.units[0].instructions = 65; },
      [](auto& a) { ++a.registers.general; },
      [](auto& a) { ++a.registers.feedback; },
      [](auto& a) { ++a.registers.feedbackDepth; },
      [](auto& a) { ++a.registers.input; },
      [](auto& a) { ++a.registers.inputDepth; },
      [](auto& a) { ++a.registers.output; },
      [](auto& a) { ++a.registers.control; },
      [](auto& a) { ++a.destinations; },
      [](auto& a) { ++a.flags; },
      [](auto& a) { ++a.branchTargets; },
      [](auto& a) { ++a.branchSignals; },
      [](auto& a) { ++a.data.inputs[1]; },
      [](auto& a) { ++a.data.outputs[2]; },
      [](auto& a) { a.data.fullyAdjacent = true; },
      [](auto& a) { a.data.adjacent.pop_back(); },
      [](auto& a) { ++a.data.adjacent[3].source.index; },
      [](auto& a) { a.data.adjacent[3].sink.side = machine::Side::Element; },
      [](auto& a) { ++a.data.hop; },
      [](auto& a) { ++a.control.hop; },
      [](auto& a) { a.controllers.push_back(machine::Corner::SouthEast); },
      [](auto& a) { a.controllers[0] = machine::Corner::SouthEast; },
      [](auto& a) { ++a.controllerSignals; },
      [](auto& a) { ++a.controllerDimensions; },
      [](auto& a) { ++a.borders[3].banks; },
      [](auto& a) { ++a.borders[0].capacity; },
      [](auto& a) { ++a.borders[1].dimensions; },
  };
  size_t number = 0;
  for (const auto& change : changes) {
    machine::ProcessorArray other = fileArray();
    change(other);
    EXPECT_NE(fingerprint(other), known) << "change " << number;
    ++number;
  }
}

} // namespace strata::array
