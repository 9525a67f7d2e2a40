// What makes no sense in a configuration is refused before it runs, with its place: the running example, broken in one
// way each time, and in many ways at random.
#include "runtime/array/simulate_test_support.h"

#include <algorithm>
#include <random>

namespace strata::array::test {
namespace {

using enum Opcode;
using machine::Port;
using machine::Side;

class ConfigurationErrors : public Simulated {};

TEST_F(ConfigurationErrors, Shape) {
  configuration.columns = 4;
  expect("a region of 1 x 4 elements, the array has 1 x 3");
  configuration.columns = 3;
  configuration.interval = 0;
  expect("an initiation interval of 0 cycles");
  configuration.interval = 2;
  configuration.extents = {0};
  expect("a tile with extents that cannot be counted");
  configuration.extents = {int64_t{1} << 40, 8};
  expect("a tile with extents that cannot be counted");
  configuration.extents = {7};
  configuration.firstStart = -1;
  expect("element (0, 0) starts in cycle -1");
  configuration.firstStart = 20;
  configuration.columnStart = -13;
  expect("element (0, 2) starts in cycle -6");
  configuration = bits();
  configuration.feedbackDepths[1] = 9;
  expect("a feedback register of depth 9, the array's hold 8");
  configuration.feedbackDepths.clear();
  expect("depths of 0 feedback and 4 input registers, the array has 4 and 4");
  configuration = bits();
  configuration.inputDepths[1] = 5;
  expect("an input register of depth 5, the array's hold 4");
  configuration = bits();
  configuration.outputs[0].extents = {-1};
  expect("array 'bits' has an extent of -1");
}

TEST_F(ConfigurationErrors, Regions) {
  configuration.regions[0].columns.end = 1;
  expect("element (0, 1) is of no class");
  configuration.regions[0].columns.end = 3;
  expect("element (0, 2) is of two classes");
  configuration.regions[0].columns = {0, 4};
  expect("a class region outside of the elements");
  configuration.regions[0].processorClass = 2;
  expect("a region of class 2; there are 2");
  configuration.regions.clear();
  configuration.classes.clear();
  expect("element (0, 0) is of no class");
}

TEST_F(ConfigurationErrors, Programs) {
  const std::string where = "class 1, unit alu1, slot 2: ";
  const auto broken = [&](Instruction instruction, const std::string& message) {
    configuration = bits();
    program(1, 1)[2] = std::move(instruction);
    expect(where + message);
  };
  broken(compute(And, {from(general(4)), number(1)}, {output(1)}), "register rd4, the array has 4");
  broken(compute(And, {from(input(9)), number(1)}, {output(1)}), "register id9, the array has 4");
  broken(compute(And, {from(general(0)), number(1)}, {flag(2)}), "register f2, the array has 2");
  broken(compute(And, {from(general(0)), number(1)}, {flag(1)}), "flag f1 gets a value of int32");
  broken(compute(And, {from(output(0)), number(1)}, {output(1)}), "an output register is read");
  broken(compute(And, {from(general(0)), number(1)}, {input(0)}), "a destination that cannot be written");
  broken(compute(And, {from(general(0)), number(1)}, {output(1), output(1)}), "register od1 is written twice");
  broken(compute(And, {from(general(0)), number(1)}, {output(1), output(0), general(3)}),
         "3 destinations, instructions of the array have 2");
  broken(compute(And, {from(general(0))}, {output(1)}), "1 operands, 'and' has 2");
  broken({{And, Type::Int64, Type::Int64, {output(1)}, {from(general(0)), number(1)}}, {}},
         "a type wider than the array's words");
  broken({{SquareRoot, Type::Int32, Type::Int32, {output(1)}, {from(general(0))}}, {}},
         "'sqrt' has no meaning for int32");
  broken({{static_cast<Opcode>(99), Type::Int32, Type::Int32, {}, {}}, {}},
         "an operation or a type that does not exist");
  broken(compute(Move, {{{static_cast<Register::Kind>(9), 0}, 0}}, {}), "a register of no kind");
  broken(nop(jump(7)), "a branch to slot 7 of 7");
  broken(nop(choose(4, 0, 1)), "signal 4, there are 4");
  broken(nop({Branch::Kind::If, {0, 1}, {0, 1, 2, 3}}), "a branch on 2 signals with 4 targets");
  broken(nop({Branch::Kind::If, {0}, {0}}), "a branch on 1 signals with 1 targets");
  broken(nop({Branch::Kind::Goto, {}, {}}), "a goto without its target");
  broken(nop({static_cast<Branch::Kind>(7), {}, {}}), "a branch that does not exist");
  array.branchSignals = 2;
  broken(nop({Branch::Kind::If, {0, 1}, {0, 1, 2, 1}}), "a branch with 3 targets, the array's have 2");
  std::erase_if(array.units[0].operations, [](const machine::Operation& each) { return each.name == "and"; });
  configuration = bits();
  expect("class 0, unit alu1, slot 2: the unit has no operation 'and'");
}

TEST_F(ConfigurationErrors, ProgramsAsAWhole) {
  program(0, 1).back().branch = next();
  expect("class 0, unit alu1: the program goes on after its last slot");
  configuration = bits();
  array.units[0].instructions = 6;
  expect("class 0, unit alu1: 7 instructions, the memory holds 6");
  array.units[0].count = 3;
  expect("class 0 has programs for 2 units of 3");
}

TEST_F(ConfigurationErrors, Connections) {
  connect(configuration.data, {0, 1, {Side::North, 0}, {Side::Element, 0}});
  expect("data connections of element (0, 1) to element0: two sources for the port");
  configuration = bits();
  connect(configuration.data, {0, 1, {Side::North, 2}, {Side::Element, 1}});
  expect("data connection of element (0, 1) from north2 to element1: a port that does not exist");
  configuration = bits();
  connect(configuration.data, {1, 0, {Side::North, 0}, {Side::Element, 1}});
  expect("data connection of element (1, 0) from north0 to element1: outside of the region");
  configuration = bits();
  std::swap(configuration.data[0], configuration.data[1]);
  expect("data connections that are not in order");
  configuration = bits();
  array.data.fullyAdjacent = false;
  array.data.adjacent = {{{Side::North, 0}, {Side::Element, 0}}};
  expect("data connection of element (0, 0) from element0 to east0: the switch does not connect these ports");
  array.data.fullyAdjacent = true;
  connect(configuration.control, {0, 1, {Side::Element, 0}, {Side::South, 0}});
  expect("control connection of element (0, 1) from element0 to south0: a port that does not exist");
}

TEST_F(ConfigurationErrors, Banks) {
  const std::string where = "bank south1 of column 0: ";
  Bank& bank = configuration.banks[0];
  const Bank good = bank;
  const auto broken = [&](const std::string& message) {
    expect(message);
    bank = good;
  };
  bank.side = Side::Element;
  broken("a bank that is not at a border");
  bank.position = 3;
  broken("bank south1 of column 3: there is none; elements at this border have 2");
  bank.index = 2;
  broken("bank south2 of column 0: there is none; elements at this border have 2");
  bank.position = 1;
  broken("bank south1 of column 1: it is used twice");
  bank.array = 1;
  broken(where + "an array that does not exist");
  bank.strides.clear();
  broken(where + "strides or a block of the wrong dimension");
  bank.base = INT64_MAX;
  broken(where + "addresses that are too large");
  bank.block = {{0, 17}};
  broken(where + "a block that is not of 'bits'");
  bank.enable = {{{0, 8}}};
  broken(where + "iterations outside of the extents");
  bank.enable = {{{0, 1}, {0, 1}}};
  broken(where + "iterations of 2 dimensions");
  bank.enable = {{{0, 4}}, {{3, 6}}};
  broken("bank south1 of column 0, array 'bits': an iteration that is in two of its boxes");
  array.borders[2].capacity = 20;
  broken(where + "it holds 24 bytes, its capacity is 20");
  array.borders[2] = {3, 64, 0, {}};
  broken(where + "1 loops, its address generator counts 0");
  array.borders[2] = {3, 64, 1, {}};
  bank.index = 2;
  broken("bank south2 of column 0: wrappers have no such data port");
}

TEST_F(ConfigurationErrors, Signals) {
  configuration.signals.resize(5);
  expect("5 control signals, a controller makes 4");
  configuration = bits();
  configuration.corner = machine::Corner::SouthEast;
  expect("there is no controller in the corner");
  configuration = bits();
  configuration.signals[2].ones[0][0].end = 8;
  expect("signal 2: iterations outside of the extents");
  configuration = bits();
  configuration.signals[2].ones.push_back(configuration.signals[2].ones[0]);
  expect("signal 2: an iteration that is in two of its boxes");
  configuration = bits();
  array.controllerDimensions = 0;
  expect("control signals over 1 loops, a controller counts 0");
  array.controllerDimensions = 1;
  array.control.hop = 14;
  expect("signal 0 at element (0, 1): it comes in cycle 14, the element starts in cycle 13");
  array.control.hop = 1;
  disconnect(configuration.control, 1, {Side::West, 2}, {Side::East, 2});
  expect("signal 2 at element (0, 2): no connection from the controller");
  // What comes to the register of another signal is no signal 2.
  disconnect(configuration.control, 2, {Side::West, 3}, {Side::Element, 3});
  disconnect(configuration.control, 2, {Side::West, 2}, {Side::Element, 2});
  connect(configuration.control, {0, 2, {Side::West, 3}, {Side::Element, 2}});
  expect("signal 2 at element (0, 2): no connection from the controller");
}

TEST_F(ConfigurationErrors, AnythingIsAnErrorAndNoCrash) {
  std::mt19937 random(1);
  const auto below = [&](size_t end) { return random() % end; };
  const auto any = [&](const auto& list) { return below(std::size(list)); };
  const auto other = [&](auto& value) {
    using T = std::remove_reference_t<decltype(value)>;
    const int64_t values[] = {0, 1, 2, 3, 5, 7, -1, -2, 100, 0x7FFF, INT64_MAX, INT64_MIN};
    value = static_cast<T>(values[any(values)]);
  };
  const auto otherPort = [&](Port& port) {
    if (below(2))
      port.side = static_cast<Side>(below(6));
    else
      other(port.index);
  };
  const auto mutate = [&](Configuration& c) {
    switch (below(10)) {
    case 0: {
      Connection& each = below(2) ? c.data[any(c.data)] : c.control[any(c.control)];
      below(3) == 0 ? other(each.column) : otherPort(below(2) ? each.source : each.sink);
      std::ranges::sort(c.data);
      std::ranges::sort(c.control);
      break;
    }
    case 1: {
      Bank& bank = c.banks[any(c.banks)];
      int64_t* numbers[] = {&bank.start, &bank.base, bank.strides.data(), &bank.enable[0][0].first,
                            &bank.enable[0][0].end};
      other(*numbers[any(numbers)]);
      break;
    }
    case 2: {
      Bank& bank = c.banks[any(c.banks)];
      uint32_t* numbers[] = {&bank.position, &bank.index, &bank.array};
      other(*numbers[any(numbers)]);
      bank.side = static_cast<Side>(below(4));
      break;
    }
    case 3: {
      ClassRegion& region = c.regions[any(c.regions)];
      int64_t* numbers[] = {&region.rows.first, &region.rows.end, &region.columns.first, &region.columns.end};
      other(*numbers[any(numbers)]);
      break;
    }
    case 4:
      other(below(2) ? c.firstStart : c.columnStart);
      break;
    case 5:
      other(below(2) ? c.signals[any(c.signals)].ones[0][0].first : c.signals[any(c.signals)].ones[0][0].end);
      break;
    case 6:
      other(below(2) ? c.rows : c.columns);
      break;
    default: {
      std::vector<Program>& programs = c.classes[any(c.classes)].programs;
      Program& program = programs[any(programs)];
      Instruction& each = program[any(program)];
      if (below(4) == 0 && !each.branch.targets.empty())
        other(each.branch.targets[0]);
      else if (below(2))
        each.branch.kind = static_cast<Branch::Kind>(below(5));
      else if (below(2))
        each.functional.opcode = static_cast<Opcode>(below(opcodes + 1));
      else if (!each.functional.sources.empty())
        each.functional.sources[0].source = {static_cast<Register::Kind>(below(7)), static_cast<uint16_t>(below(6))};
      break;
    }
    }
  };
  size_t failed = 0;
  for (int run = 0; run < 3000; ++run) {
    configuration = bits();
    for (size_t i = 0; i <= below(3); ++i)
      mutate(configuration);
    const std::optional<SimulationError> error = simulate();
    failed += error.has_value();
    EXPECT_TRUE(!error || !error->message.empty());
  }
  EXPECT_GT(failed, 2000u);
}

} // namespace
} // namespace strata::array::test
