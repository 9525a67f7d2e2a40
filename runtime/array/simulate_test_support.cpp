// See simulate_test_support.h.
#include "runtime/array/simulate_test_support.h"

#include <algorithm>

namespace strata::array::test {

using machine::Port;
using machine::Side;

namespace {

constexpr int64_t apart = 13; // cycles between the starts of neighbours

} // namespace

Instruction compute(Opcode opcode, std::vector<Operand> sources, std::vector<Register> destinations, Branch branch) {
  return {{opcode, Type::Int32, Type::Int32, std::move(destinations), std::move(sources)}, std::move(branch)};
}

Instruction nop(Branch branch) {
  return {{}, std::move(branch)};
}

machine::ProcessorArray bitsArray() {
  machine::ProcessorArray array;
  array.rows = 1;
  array.columns = 3;
  machine::FunctionalUnit& unit = array.units.emplace_back();
  unit.name = "alu";
  unit.count = 2;
  unit.instructions = 16;
  for (unsigned i = 1; i < opcodes; ++i)
    unit.operations.push_back({std::string(name(static_cast<Opcode>(i))), 1, 1, {}});
  array.registers = {4, 4, 8, 4, 4, 4, 4, {}};
  array.destinations = 2;
  array.flags = 2;
  array.branchTargets = 2;
  array.branchSignals = 1;
  array.data.inputs = array.data.outputs = {2, 2, 2, 2};
  array.control.inputs = array.control.outputs = {4, 4, 4, 4};
  array.controllers = {machine::Corner::NorthWest};
  array.controllerSignals = 4;
  array.controllerDimensions = 2;
  for (machine::Border& border : array.borders)
    border = {2, 64, 2, {}};
  return array;
}

Configuration bits() {
  using enum Opcode;
  const Operand one = number(1);
  const auto classOf = [&](int64_t iterations, uint16_t signal) {
    const bool isLast = iterations < 6;
    ProcessorClass made;
    made.programs = {{compute(Move, {from(input(0))}, {general(0)}), nop(jump(2)),
                      compute(Move, {from(general(1))}, {general(0)}), nop(choose(signal, 2, 4)), nop(halt())},
                     {nop(), compute(ShiftRight, {from(general(0)), one}, {general(1)}),
                      compute(And, {from(general(0)), one}, {output(1)}),
                      compute(ShiftRight, {from(general(0)), one}, {general(1)}, choose(signal + 1, 2, 4)),
                      compute(And, {from(general(0)), one}, {output(1)}),
                      isLast ? nop() : compute(ShiftRight, {from(general(0)), one}, {output(0)}),
                      compute(And, {from(general(0)), one}, {output(1)}, halt())}};
    return made;
  };
  Configuration c;
  c.program = "bits";
  c.columns = 3;
  c.interval = 2;
  c.loops = {"j"};
  c.extents = {7};
  c.iterations = 16;
  c.classes = {classOf(6, 0), classOf(4, 2)};
  c.regions = {{{0, 1}, {0, 2}, 0}, {{0, 1}, {2, 3}, 1}};
  c.columnStart = apart;
  for (const int64_t last : {5, 4, 3, 2})
    c.signals.push_back({{{{last, last + 1}}}});
  for (uint32_t column = 0; column < 3; ++column) {
    const bool isFirst = column == 0;
    c.data.push_back({0, column, {isFirst ? Side::North : Side::West, 0}, {Side::Element, 0}});
    if (column < 2)
      c.data.push_back({0, column, {Side::Element, 0}, {Side::East, 0}});
    c.data.push_back({0, column, {Side::Element, 1}, {Side::South, 1}});
    for (uint32_t signal = 0; signal < 4; ++signal) {
      const Port source{isFirst ? Side::North : Side::West, signal};
      if (column < 2)
        c.control.push_back({0, column, source, {Side::East, signal}});
      c.control.push_back({0, column, source, {Side::Element, signal}});
    }
    c.banks.push_back({Side::South,
                       column,
                       1,
                       true,
                       0,
                       column * apart + 3,
                       {{{0, column < 2 ? 6 : 4}}},
                       {1},
                       column * 6,
                       {{column * 6, std::min<int64_t>(column * 6 + 6, 16)}}});
  }
  c.banks.push_back({Side::North, 0, 0, false, 0, 0, {{{0, 1}}}, {0}, 0, {}});
  c.feedbackDepths.assign(4, 0);
  c.inputDepths = {1, 0, 0, 0};
  c.inputs = {{"in", Type::Uint32, {}}};
  c.outputs = {{"bits", Type::Int32, {16}}};
  return c;
}

Configuration alone(const machine::ProcessorArray& array, Program program, int64_t iterations) {
  Configuration c;
  c.loops = {"j"};
  c.extents = {iterations};
  c.classes.resize(1);
  c.classes[0].programs.resize(2);
  c.classes[0].programs[0] = std::move(program);
  c.regions = {{{0, 1}, {0, 1}, 0}};
  c.feedbackDepths.assign(array.registers.feedback, array.registers.feedbackDepth);
  c.inputDepths.assign(array.registers.input, array.registers.inputDepth);
  c.inputs = {{"in", Type::Uint32, {}}};
  c.outputs = {{"bits", Type::Int32, {16}}};
  return c;
}

std::optional<SimulationError> Simulated::simulate() {
  const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(&in)};
  std::byte* outputs[] = {reinterpret_cast<std::byte*>(out.data())};
  std::optional<SimulationError> error = array::simulate(array, configuration, inputs, outputs, options, statistics);
  EXPECT_TRUE(error || !statistics.isRepeated);
  return error;
}

void Simulated::expectRight() {
  const std::optional<SimulationError> error = simulate();
  ASSERT_FALSE(error) << error->message;
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], (in >> i) & 1) << "bit " << i;
}

void Simulated::expect(const std::string& message, bool isUsers) {
  const std::optional<SimulationError> error = simulate();
  ASSERT_TRUE(error) << "no error, expected: " << message;
  EXPECT_EQ(error->message, message);
  EXPECT_EQ(error->isUsers, isUsers);
  if (message.starts_with("cycle "))
    EXPECT_EQ(error->cycle, std::stoll(message.substr(6)));
}

void Simulated::connect(std::vector<Connection>& layer, Connection connection) {
  layer.insert(std::ranges::upper_bound(layer, connection), connection);
}

void Simulated::disconnect(std::vector<Connection>& layer, uint32_t column, Port source, Port sink) {
  ASSERT_EQ(std::erase(layer, Connection{0, column, source, sink}), 1u);
}

} // namespace strata::array::test
