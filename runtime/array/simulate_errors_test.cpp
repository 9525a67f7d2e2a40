// What hardware would get wrong is found, with its cycle and its place: the running example and small programs, each
// broken in one way.
#include "runtime/array/simulate_test_support.h"

namespace strata::array::test {
namespace {

using enum Opcode;
using machine::Side;

class SimulatorErrors : public Simulated {
protected:
  /// One element, one ALU, one cycle for an iteration.
  void run(Program program) { configuration = alone(array, std::move(program)); }
};

// ---- Registers ----

TEST_F(SimulatorErrors, ReadBeforeItIsWritten) {
  program(0, 0)[0].functional.destinations[0] = general(3);
  expect("cycle 1, element (0, 0), unit alu1: general register rd0 is read before it is written");
  run({compute(Add, {number(1), number(2)}, {general(0)}), compute(Move, {from(general(0))}, {general(1)}, halt())});
  array.units[0].operations[1].latency = 2;
  ASSERT_EQ(array.units[0].operations[1].name, "add");
  expect("cycle 1, element (0, 0), unit alu0: general register rd0 is read before it is written");
}

TEST_F(SimulatorErrors, OverwrittenUnread) {
  run({compute(Move, {number(1)}, {general(2)}), compute(Move, {number(2)}, {general(2)}), nop(),
       compute(Move, {from(general(2))}, {general(1)}, halt())});
  expect("cycle 2, element (0, 0): general register rd2 is overwritten before anybody has read it");
  // A value may be read in the cycle before the next arrives, and no later.
  run({compute(Move, {number(1)}, {general(2)}),
       compute(Add, {from(general(2)), number(2)}, {general(2)}, choose(0, 1, 2)), nop(halt())});
  configuration.signals = {{{{{20, 21}}}}};
  connect(configuration.control, {0, 0, {Side::North, 0}, {Side::Element, 0}});
  expect("cycle 22, element (0, 0): at the end general register rd2 holds a value that nobody has read");
}

TEST_F(SimulatorErrors, OverwrittenUnreadByManyValues) {
  run({compute(Move, {number(1)}, {general(2)}, choose(0, 0, 1)), nop(halt())});
  configuration.signals = {{{{{90, 91}}}}};
  connect(configuration.control, {0, 0, {Side::North, 0}, {Side::Element, 0}});
  expect("cycle 2, element (0, 0): general register rd2 is overwritten before anybody has read it");
}

TEST_F(SimulatorErrors, TwoArrivalsAtOnce) {
  for (machine::Operation& operation : array.units[0].operations)
    operation.latency = operation.name == "mul" ? 2 : 1;
  for (const Register reg : {general(0), feedback(1)}) {
    run({compute(Multiply, {number(1), number(1)}, {reg}), compute(Move, {number(2)}, {reg}, halt())});
    expect("cycle 2, element (0, 0): two values arrive at once in " +
           std::string(reg == general(0) ? "general register rd0" : "feedback register fd1"));
  }
}

TEST_F(SimulatorErrors, ReadWhileEmpty) {
  run({compute(Move, {number(1)}, {feedback(0)}), compute(Add, {from(feedback(0)), from(feedback(0))}, {general(0)}),
       compute(Add, {from(feedback(0)), from(general(0))}, {}, halt())});
  expect("cycle 2, element (0, 0), unit alu0: feedback register fd0 is read while it is empty");
  configuration = bits();
  configuration.columnStart = 12;
  expect("cycle 12, element (0, 1), unit alu0: input register id0 is read while it is empty");
}

TEST_F(SimulatorErrors, FifosThatHoldTooMuch) {
  Program program(4, compute(Move, {number(1)}, {feedback(0)}));
  program.resize(9, compute(Move, {from(feedback(0))}, {}));
  program.back() = nop(halt());
  run(program);
  configuration.feedbackDepths[0] = 4;
  EXPECT_FALSE(simulate());
  configuration.feedbackDepths[0] = 3;
  expect("cycle 4, element (0, 0): feedback register fd0 holds more than 3 values");
  // A value keeps its place in the cycle in which it is read.
  program.assign(2, compute(Move, {number(1)}, {feedback(0)}));
  program.insert(program.end(), 2, compute(Move, {from(feedback(0))}, {}));
  program.push_back(nop(halt()));
  run(program);
  configuration.feedbackDepths[0] = 1;
  expect("cycle 2, element (0, 0): feedback register fd0 holds more than 1 value");
}

TEST_F(SimulatorErrors, FifosThatNobodyReads) {
  // Found while it runs, so that they do not grow without end.
  run({compute(Move, {number(1)}, {feedback(0)}, jump(0))});
  expect("cycle 9, element (0, 0): feedback register fd0 holds more than 8 values");
  run({compute(Move, {number(1)}, {feedback(0)}), nop(halt())});
  expect("cycle 2, element (0, 0): at the end feedback register fd0 holds a value that nobody has read");
}

TEST_F(SimulatorErrors, FifosReadByTwoUnits) {
  run({compute(Move, {number(1)}, {feedback(0)}), compute(Move, {number(1)}, {feedback(0)}), nop(),
       compute(Move, {from(feedback(0))}, {}, halt())});
  program(0, 1) = {nop(), nop(), nop(), compute(Move, {from(feedback(0))}, {}, halt())};
  expect("cycle 3, element (0, 0), unit alu1: feedback register fd0 gives a value to two units at once");
}

// ---- Ports and banks ----

TEST_F(SimulatorErrors, ValuesThatGoNowhere) {
  disconnect(configuration.data, 1, {Side::Element, 0}, {Side::East, 0});
  expect("cycle 24, element (0, 1), unit alu1: what is written to od0 goes nowhere");
  configuration = bits();
  disconnect(configuration.data, 2, {Side::West, 0}, {Side::Element, 0});
  expect("cycle 24, element (0, 1), unit alu1: what is written to od0 goes nowhere");
  configuration = bits();
  configuration.banks.erase(configuration.banks.begin() + 1);
  expect("cycle 15, element (0, 1), unit alu1: what is written to od1 goes nowhere");
}

TEST_F(SimulatorErrors, ValuesThatNobodyReads) {
  disconnect(configuration.data, 1, {Side::West, 0}, {Side::Element, 0});
  connect(configuration.data, {0, 1, {Side::West, 0}, {Side::Element, 3}});
  expect("cycle 13, element (0, 1): id3 gets a value, but no instruction reads it");
  configuration = bits();
  disconnect(configuration.data, 0, {Side::North, 0}, {Side::Element, 0});
  connect(configuration.data, {0, 0, {Side::North, 0}, {Side::Element, 3}});
  expect("bank north0 of column 0, array 'in': no instruction of element (0, 0) reads id3");
  configuration = bits();
  configuration.banks[3].enable = {{{0, 2}}};
  expect("cycle 35, bank north0 of column 0, array 'in': the word of cycle 2 is never read");
}

TEST_F(SimulatorErrors, InputBanksWithoutAWay) {
  disconnect(configuration.data, 0, {Side::North, 0}, {Side::Element, 0});
  expect("bank north0 of column 0, array 'in': its words lead nowhere");
  connect(configuration.data, {0, 0, {Side::North, 0}, {Side::West, 0}});
  expect("bank north0 of column 0, array 'in': its words leave the region again");
}

TEST_F(SimulatorErrors, WordsAtTheWrongTime) {
  const std::string where = "bank south1 of column 1, array 'bits': ";
  configuration.banks[1].start += 1;
  expect("cycle 16, " + where + "a word comes; it expects the next in cycle 17");
  configuration.banks[1].start -= 3;
  expect("cycle 14, " + where + "no word comes");
  configuration.banks[1].start += 2;
  configuration.banks[1].enable = {{{0, 5}}};
  expect("cycle 26, " + where + "a word comes; it expects none");
  configuration.banks[1].enable = {{{0, 7}}};
  expect("cycle 28, " + where + "no word comes");
}

TEST_F(SimulatorErrors, WordsOfOnePortAtOnce) {
  for (machine::Operation& operation : array.units[0].operations)
    operation.latency = operation.name == "mul" ? 2 : 1;
  run({compute(Multiply, {number(1), number(1)}, {output(0)}), compute(Move, {number(2)}, {output(0)}, halt())});
  connect(configuration.data, {0, 0, {Side::Element, 0}, {Side::East, 0}});
  configuration.banks = {{Side::East, 0, 0, true, 0, 2, {{{0, 2}}}, {1}, 0, {{0, 16}}}};
  expect("cycle 2, bank east0 of row 0, array 'bits': a word comes; it expects the next in cycle 3");
  configuration.banks[0].start = 1;
  configuration.interval = 3;
  expect("cycle 1, bank east0 of row 0, array 'bits': no word comes");
}

TEST_F(SimulatorErrors, AddressesOutsideOfTheBlock) {
  configuration.banks[1].block = {{6, 11}};
  expect("cycle 26, bank south1 of column 1, array 'bits': element 11 is not in its block");
  configuration.banks[1].block = {{6, 12}};
  configuration.banks[1].strides = {-2};
  expect("cycle 18, bank south1 of column 1, array 'bits': element 4 is not in its block");
  configuration = bits();
  configuration.banks[3].base = 1;
  expect("cycle 0, bank north0 of column 0, array 'in': element 1 is not in its block");
}

// ---- Signals ----

TEST_F(SimulatorErrors, SignalsAtTheWrongTime) {
  const auto shifted = [&](size_t signal, int64_t later) {
    configuration = bits();
    Range& ones = configuration.signals[signal].ones[0][0];
    ones = {ones.first + later, ones.end + later};
  };
  for (size_t signal = 0; signal < configuration.signals.size(); ++signal)
    for (const int64_t later : {-1, 1}) {
      shifted(signal, later);
      EXPECT_TRUE(simulate()) << "signal " << signal << " by " << later;
    }
  // The loop of alu1 is left late, and sends late what the next element begins with; that of the last element's alu1
  // sends a bit too many.
  shifted(1, 1);
  expect("cycle 13, element (0, 1), unit alu0: input register id0 is read while it is empty");
  shifted(3, 1);
  expect("cycle 37, bank south1 of column 2, array 'bits': a word comes; it expects none");
  shifted(3, -1);
  expect("cycle 35, bank south1 of column 2, array 'bits': no word comes");
  configuration = bits();
  disconnect(configuration.control, 1, {Side::West, 0}, {Side::Element, 0});
  expect("signal 0 at element (0, 1): no connection from the controller");
}

// ---- Units ----

TEST_F(SimulatorErrors, OperationsWithoutResult) {
  array.word = 8;
  Program program{compute(Divide, {number(7), number(0)}, {}, halt())};
  run(program);
  expect("cycle 0, element (0, 0), unit alu0: 'div' of int32: a division by zero (of 7, 0)", true);
  program[0].functional.sources = {number(static_cast<uint64_t>(int64_t{INT32_MIN})), number(~uint64_t{0})};
  run(program);
  expect("cycle 0, element (0, 0), unit alu0: 'div' of int32: a quotient that int32 cannot hold (of -2147483648, -1)",
         true);
  program[0].functional = {Convert, Type::Int8, Type::Float64, {}, {number(0x4070000000000000)}}; // 256.0
  run(program);
  expect("cycle 0, element (0, 0), unit alu0: 'convert' of int8: a number that int8 cannot hold (of 256)", true);
}

TEST_F(SimulatorErrors, UnitsThatAreBusy) {
  for (machine::Operation& operation : array.units[0].operations)
    operation.interval = operation.name == "mul" ? 3 : 1;
  run({compute(Multiply, {number(1), number(1)}, {}), nop(), nop(), compute(Move, {number(1)}, {}, halt())});
  EXPECT_FALSE(simulate());
  program(0, 0).erase(program(0, 0).begin() + 1);
  expect("cycle 2, element (0, 0), unit alu0: an operation begins while the one before holds the unit until cycle 3");
}

TEST_F(SimulatorErrors, TellTheirElementAndHowLongItWent) {
  configuration.banks[1].start += 1;
  std::optional<SimulationError> error = simulate();
  ASSERT_TRUE(error);
  EXPECT_EQ(std::tuple(error->cycle, error->row, error->column), std::tuple(16, -1, -1)); // a bank's
  EXPECT_EQ(statistics.cycles, 16); // what arrives then has been sent before
  configuration = bits();
  disconnect(configuration.data, 0, {Side::North, 0}, {Side::Element, 0});
  configuration.banks.pop_back();
  error = simulate();
  ASSERT_TRUE(error);
  EXPECT_EQ(std::tuple(error->cycle, error->row, error->column), std::tuple(0, 0, 0));
  EXPECT_EQ(statistics.cycles, 1);
  configuration.rows = 99;
  error = simulate();
  ASSERT_TRUE(error);
  EXPECT_EQ(statistics.cycles, 0);
}

TEST_F(SimulatorErrors, ProgramsWithoutEnd) {
  configuration = alone(array, {nop(jump(0))}, 5);
  expect("cycle 6, element (0, 0), unit alu0: its program goes on after the last iteration");
  // Whether it sleeps then or not.
  configuration = alone(array, {nop(), nop(), nop(jump(0))}, 5);
  expect("cycle 6, element (0, 0), unit alu0: its program goes on after the last iteration");
  configuration = alone(array, Program(9, nop()), 5);
  configuration.classes[0].programs[0].push_back(nop(halt()));
  expect("cycle 6, element (0, 0), unit alu0: its program goes on after the last iteration");
  EXPECT_EQ(statistics.cycles, 7);
}

} // namespace
} // namespace strata::array::test
