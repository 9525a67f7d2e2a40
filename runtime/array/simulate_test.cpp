// Runs of hand-written configurations: what comes out, when, and how much was done. What hardware would get wrong is in
// simulate_errors_test.cpp.
#include "runtime/array/print.h"
#include "runtime/array/simulate_test_support.h"

#include <algorithm>

namespace strata::array::test {
namespace {

using enum Opcode;
using machine::Side;

class Simulator : public Simulated {};

TEST_F(Simulator, ExtractsBits) {
  for (const uint32_t value : {0xB5C3u, 0u, 0xFFFFFFFFu, 0x8001u}) {
    in = value;
    expectRight();
  }
}

TEST_F(Simulator, NopsTakeCycles) {
  // A unit that waits between its operations, also when it comes to nops by a branch, and one that does not.
  const Instruction move = compute(Opcode::Move, {number(1)}, {});
  configuration = alone(array, {nop(), nop(jump(3)), nop(halt()), nop(), nop(), move, nop(), move, nop(), nop(halt())});
  configuration.classes[0].programs[1] = {move, move, compute(Opcode::Move, {number(2)}, {}, halt())};
  std::vector<std::pair<int64_t, uint32_t>> events;
  options.trace = [&](const TraceEvent& event) { events.emplace_back(event.cycle, event.unit); };
  const std::optional<SimulationError> error = simulate();
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(events, (std::vector<std::pair<int64_t, uint32_t>>{{0, 1}, {1, 1}, {2, 1}, {4, 0}, {6, 0}}));
  EXPECT_EQ(statistics.operations, 5);
  EXPECT_EQ(statistics.elementCycles, 9);
  EXPECT_EQ(statistics.cycles, 9);
}

TEST_F(Simulator, CountsWhatWasDone) {
  expectRight();
  // The last bit is computed in iteration 3 of the last element and arrives three cycles after its start.
  EXPECT_EQ(statistics.cycles, 26 + 2 * 3 + 3 + 1);
  EXPECT_EQ(statistics.operations, 2 * (6 + 6 + 6) + (4 + 3 + 4));
  EXPECT_EQ(statistics.unitOperations, std::vector<int64_t>{statistics.operations});
  EXPECT_EQ(statistics.elementCycles, 13 + 13 + 9);
  EXPECT_EQ(statistics.wordsIn, (std::array<int64_t, 4>{1, 0, 0, 0}));
  EXPECT_EQ(statistics.wordsOut, (std::array<int64_t, 4>{0, 0, 16, 0}));
  EXPECT_EQ(statistics.wordsFilled, 1);
  EXPECT_EQ(statistics.wordsEmptied, 16);
}

TEST_F(Simulator, TracesByCycle) {
  std::vector<TraceEvent> events;
  options.trace = [&](const TraceEvent& event) { events.push_back(event); };
  expectRight();
  ASSERT_EQ(static_cast<int64_t>(events.size()), statistics.operations);
  for (size_t i = 1; i < events.size(); ++i)
    EXPECT_LE(events[i - 1].cycle, events[i].cycle);
  EXPECT_EQ(events[0].cycle, 0);
  EXPECT_EQ(events[0].result, in);
  EXPECT_EQ(events[1].cycle, 1);
  EXPECT_EQ(events[1].unit, 1u);
  EXPECT_EQ(events[1].position, 1u);
  EXPECT_EQ(events[1].operands, (std::array<uint64_t, 3>{in, 1, 0}));
  EXPECT_EQ(events[1].result, in >> 1);
  // The second element has to wait for the first.
  const auto second =
      std::find_if(events.begin(), events.end(), [](const TraceEvent& each) { return each.column == 1; });
  ASSERT_NE(second, events.end());
  EXPECT_EQ(second->cycle, 13);
  EXPECT_EQ(second->result, in >> 6);
}

TEST_F(Simulator, StatesThatAreNotKeptAreMadeAgain) {
  expectRight();
  const SimulationStatistics before = statistics;
  options.mostStates = 0;
  expectRight();
  EXPECT_EQ(statistics.operations, before.operations);
  EXPECT_EQ(statistics.cycles, before.cycles);
  // Two units that repeat themselves after three and after four cycles come to twelve states.
  const Instruction move = compute(Opcode::Move, {number(1)}, {});
  configuration = alone(array, {move, move, compute(Opcode::Move, {number(2)}, {}, choose(0, 0, 3)), nop(halt())}, 24);
  configuration.classes[0].programs[1] = {move, move, move, compute(Opcode::Move, {number(3)}, {}, choose(0, 0, 4)),
                                          nop(halt())};
  configuration.signals = {{{{{23, 24}}}}};
  connect(configuration.control, {0, 0, {Side::North, 0}, {Side::Element, 0}});
  for (const size_t states : {0, 5, 1000}) {
    options.mostStates = states;
    const std::optional<SimulationError> error = simulate();
    ASSERT_FALSE(error) << error->message;
    EXPECT_EQ(statistics.operations, 48) << states;
    EXPECT_EQ(statistics.cycles, 25) << states;
  }
}

TEST_F(Simulator, AnyNumberOfSignals) {
  constexpr uint16_t signals = 70;
  array.controllerSignals = array.registers.control = signals;
  array.control.inputs = array.control.outputs = {signals, signals, signals, signals};
  array.units[0].instructions = signals + 1;
  for (const uint16_t one : {3, 63, 64, 69}) {
    // Each slot tests a signal of its own; where that is 1, the program ends.
    Program program;
    for (uint16_t i = 0; i < signals; ++i)
      program.push_back(compute(Opcode::Move, {number(i)}, {}, choose(i, i + 1u, signals)));
    program.push_back(nop(halt()));
    configuration = alone(array, program);
    configuration.signals.assign(signals, {{{{5, 6}}}}); // in a cycle that tests another one but for number 5
    for (uint16_t i = 0; i < signals; ++i)
      connect(configuration.control, {0, 0, {Side::North, i}, {Side::Element, i}});
    configuration.signals[5].ones.clear();
    configuration.signals[one].ones = {{{one, one + 1}}};
    const std::optional<SimulationError> error = simulate();
    ASSERT_FALSE(error) << error->message;
    EXPECT_EQ(statistics.operations, one + 1);
  }
  // One slot again and again, until a late signal is 1: what follows it is not the same each time.
  configuration.signals[69].ones = {{{7, 8}}};
  configuration.classes[0].programs[0][0].branch = choose(69, 0, signals);
  const std::optional<SimulationError> error = simulate();
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(statistics.operations, 8);
}

TEST_F(Simulator, LongHopsNeedLaterStarts) {
  array.data.hop = 3;
  configuration.columnStart += 2;
  for (Bank& bank : configuration.banks)
    bank.start += bank.isOutput ? 2 * bank.position : 0;
  expectRight();
  array.control.hop = 15;
  expectRight();
}

TEST_F(Simulator, WaitingElementsCostNothing) {
  configuration.columnStart += int64_t{1} << 38;
  for (Bank& bank : configuration.banks)
    bank.start += bank.isOutput ? bank.position * (int64_t{1} << 38) : 0;
  expectRight();
}

TEST_F(Simulator, KeepsFeedbackInOrder) {
  // Three values go round a FIFO; each is one more when it comes back.
  Program& program = (configuration = alone(array, {})).classes[0].programs[0];
  for (uint64_t i = 0; i < 3; ++i)
    program.push_back(compute(Move, {number(10 * i)}, {feedback(2)}));
  for (uint64_t i = 0; i < 3; ++i)
    program.push_back(compute(Add, {from(feedback(2)), number(1)}, {feedback(2)}));
  for (uint64_t i = 0; i < 3; ++i)
    program.push_back(compute(Add, {from(feedback(2)), from(feedback(2))}, {output(0)}));
  program.back().branch = halt();
  configuration.feedbackDepths[2] = 3;
  connect(configuration.data, {0, 0, {Side::Element, 0}, {Side::West, 1}});
  configuration.banks = {{Side::West, 0, 1, true, 0, 7, {{{0, 3}}}, {2}, 1, {{0, 16}}}};
  const std::optional<SimulationError> error = simulate();
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ((std::vector<int32_t>(out.begin(), out.begin() + 7)), (std::vector<int32_t>{-1, 2, -1, 22, -1, 42, -1}));
}

TEST_F(Simulator, WritesArriveAfterTheirLatency) {
  // A slow product and a fast sum arrive in the other order than they are issued; both words pass one port.
  for (machine::Operation& operation : array.units[0].operations)
    operation.latency = operation.name == "mul" ? 4 : 1;
  configuration = alone(array, {compute(Multiply, {number(6), number(7)}, {output(0), general(0)}),
                                compute(Add, {number(1), number(2)}, {output(0), general(1)}),
                                compute(Move, {from(general(1))}, {general(1)}), nop(),
                                compute(Add, {from(general(0)), from(general(1))}, {output(0)}, halt())});
  connect(configuration.data, {0, 0, {Side::Element, 0}, {Side::North, 0}});
  configuration.banks = {{Side::North, 0, 0, true, 0, 2, {{{0, 1}}, {{2, 4}}}, {1}, 0, {{0, 16}}}};
  const std::optional<SimulationError> error = simulate();
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ((std::vector<int32_t>(out.begin(), out.begin() + 4)), (std::vector<int32_t>{3, -1, 42, 45}));
  EXPECT_EQ(statistics.cycles, 6);
}

TEST_F(Simulator, OneOutputReachesSeveralInputs) {
  // The first element's word goes to the second element, which passes it to the third and adds its own reading.
  const Instruction wait = nop();
  configuration.classes.assign(2, {});
  for (ProcessorClass& each : configuration.classes)
    each.programs.resize(2);
  program(0, 0) = {compute(Move, {number(20)}, {output(0)}, halt())};
  program(1, 0) = {wait, wait, wait, wait, compute(Add, {from(input(0)), number(1)}, {output(1)}, halt())};
  configuration.regions = {{{0, 1}, {0, 1}, 0}, {{0, 1}, {1, 3}, 1}};
  configuration.columnStart = 0;
  connect(configuration.data, {0, 1, {Side::West, 0}, {Side::East, 1}});
  disconnect(configuration.data, 2, {Side::West, 0}, {Side::Element, 0});
  connect(configuration.data, {0, 2, {Side::West, 1}, {Side::Element, 0}});
  configuration.banks.erase(configuration.banks.begin());
  configuration.banks.pop_back();
  for (Bank& bank : configuration.banks) {
    bank.start = 5;
    bank.enable = {{{0, 1}}};
  }
  const std::optional<SimulationError> error = simulate();
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(out[6], 21);
  EXPECT_EQ(out[12], 21);
}

TEST_F(Simulator, LoadsAndStoresEveryType) {
  array.word = 8;
  for (unsigned type = 0; type < types; ++type) {
    Instruction move = compute(Move, {from(input(0))}, {output(0)}, halt());
    move.functional.type = move.functional.operandType = static_cast<Type>(type);
    configuration = alone(array, {move});
    configuration.inputs[0].type = configuration.outputs[0].type = static_cast<Type>(type);
    configuration.outputs[0].extents = {3};
    connect(configuration.data, {0, 0, {Side::West, 0}, {Side::Element, 0}});
    connect(configuration.data, {0, 0, {Side::Element, 0}, {Side::East, 0}});
    configuration.banks = {{Side::West, 0, 0, false, 0, 0, {{{0, 1}}}, {0}, 0, {}},
                           {Side::East, 0, 0, true, 0, 1, {{{0, 1}}}, {1}, 1, {{1, 2}}}};
    const uint64_t value = type == 0 ? 1 : 0xF1F2F3F4F5F6F7F8u;
    std::vector<uint64_t> result(3, 0x5555555555555555u);
    const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(&value)};
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(result.data())};
    uint64_t held = 0;
    options.trace = [&](const TraceEvent& event) { held = event.result; };
    const auto error = array::simulate(array, configuration, inputs, outputs, options, statistics);
    ASSERT_FALSE(error) << error->message;
    const unsigned size = bytes(static_cast<Type>(type));
    const auto* written = reinterpret_cast<const unsigned char*>(result.data());
    for (unsigned i = 0; i < 3 * size; ++i)
      EXPECT_EQ(written[i], i / size == 1 ? value >> 8 * (i % size) & 0xFF : 0x55u) << name(static_cast<Type>(type));
    const bool isSigned = static_cast<Type>(type) >= Type::Int8 && static_cast<Type>(type) <= Type::Int64;
    const uint64_t above = size == 8 ? 0 : ~uint64_t{0} << 8 * size;
    EXPECT_EQ(held, isSigned ? value | above : value & ~above) << name(static_cast<Type>(type));
  }
}

TEST_F(Simulator, SignalsFollowBoxesOfSeveralLoops) {
  // A tile of 5 x 4 and a signal that is 1 in two blocks, of which one has whole rows.
  configuration =
      alone(array, {nop(choose(0, 0, 1)), compute(Move, {number(1)}, {output(0)}, choose(0, 2, 1)),
                    nop(choose(0, 2, 3)), compute(Move, {number(2)}, {output(0)}, choose(1, 3, 4)), nop(halt())});
  configuration.extents = {5, 4};
  configuration.loops = {"i", "j"};
  configuration.signals = {{{{{1, 3}, {0, 4}}, {{4, 5}, {1, 3}}}}, {{{{4, 5}, {2, 3}}}}};
  for (uint32_t signal = 0; signal < 2; ++signal)
    connect(configuration.control, {0, 0, {Side::North, signal}, {Side::Element, signal}});
  connect(configuration.data, {0, 0, {Side::Element, 0}, {Side::East, 0}});
  // Slot 1 is executed in iterations 5 to 12, slot 3 in 18.
  configuration.banks = {{Side::East, 0, 0, true, 0, 1, {}, {4, 1}, -5, {{0, 16}}}};
  configuration.banks[0].enable = {{{1, 2}, {1, 4}}, {{2, 3}, {0, 4}}, {{3, 4}, {0, 1}}, {{4, 5}, {2, 3}}};
  const std::optional<SimulationError> error = simulate();
  ASSERT_FALSE(error) << error->message;
  EXPECT_EQ(out, (std::vector<int32_t>{1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, 2, -1, -1}));
}

TEST_F(Simulator, PrintsForPeople) {
  const std::string text = print(configuration, array);
  for (const char* line : {
           "program bits\n",
           "region 1 x 3 elements\n",
           "start of element (r, c): 0 + 0 r + 13 c\n",
           "class 0, elements (0, 0..1)\n",
           "  alu0:\n",
           "    in j = 0; then 2\n      0  move id0 -> rd0\n",
           "    in 1 <= j < 6; then 2 in 1 <= j < 5; then 4 in j = 5\n      2  move rd1 -> rd0\n",
           "    in j = 6; then halts\n      6  andi rd0, 1 -> od1; halt\n",
           "      3  nop; if c0 goto 2, 4\n",
           "      6  andi rd0, 1 -> od1; halt\n",
           "  c1 = 1 in j = 4\n",
           "  (0, 0): north0 -> element0, element0 -> east0, element1 -> south1\n",
           "  south1 of column 2: takes bits[12..15], word 12 + 1 j at cycle 29 + 2 n, in 0 <= j < 4\n",
       })
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
}

TEST_F(Simulator, MeasuresConfigurations) {
  // 12 slots for each element; 8 data and 20 control connections; four signals; three banks over one loop and one more.
  const uint64_t instruction = 2 + 2 + 3 + 4 + 1 + 2 * 2;
  EXPECT_EQ(configurationBytes(configuration, array),
            3 * (12 * instruction + 4 + 2) + (8 + 20) * 2 + 4 * 8 + 4 * (4 + 4 + 4 + 8));
}

} // namespace
} // namespace strata::array::test
