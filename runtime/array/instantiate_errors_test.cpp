// What does not fit is named, with how much is needed, how much there is and what would help.
#include "runtime/array/instantiate_test_support.h"

namespace strata::array::test {
namespace {

class Refusal : public testing::Test {
protected:
  Refusal() : array(testArray(4, 4)) {
    array.units[0].count = 4;
    options.sizes = {8, 8, 3};
    options.rows = options.columns = 4;
  }

  void expect(const std::string& message) {
    const auto result = instantiate(symbolic, array, options);
    const auto* error = std::get_if<InstantiationError>(&result);
    ASSERT_NE(error, nullptr) << "no error, expected: " << message;
    EXPECT_EQ(error->message, message);
    EXPECT_FALSE(error->help.empty());
    for (const std::string& each : error->variables)
      EXPECT_NE(message.find("'" + each + "'"), std::string::npos) << each;
  }

  void compute() {
    const auto result = instantiate(symbolic, array, options);
    const auto* error = std::get_if<InstantiationError>(&result);
    EXPECT_EQ(error, nullptr) << error->message;
  }

  Builder builder{3, {"M", "N", "K"}, 1};
  Symbolic symbolic = matrixProduct();
  machine::ProcessorArray array;
  InstantiationOptions options;
};

TEST_F(Refusal, NothingOfWhatFits) {
  compute();
}

TEST_F(Refusal, SizesOutsideOfTheContext) {
  symbolic.context = {{Kind::NotNegative, builder.linear({}, -2, {1, -2, 0}), 0}};
  expect("the sizes M = 8, N = 8, K = 3 break 'M - 2 N - 2 >= 0'");
  symbolic.context = {{Kind::Divisible, builder.linear({}, 0, {0, 0, -1}), 2}};
  expect("the sizes M = 8, N = 8, K = 3 break '-K is a multiple of 2'");
  symbolic.context = {{Kind::Zero, builder.linear({}, 0, {0, 0, 1}), 0}};
  expect("the sizes M = 8, N = 8, K = 3 break 'K = 0'");
  symbolic.context = {{Kind::NotDivisible, builder.linear({}, 0, {1}), 4}};
  expect("the sizes M = 8, N = 8, K = 3 break 'M is no multiple of 4'");
  options.sizes = {8, 8};
  expect("'product' has 3 parameters, 2 sizes are given");
}

TEST_F(Refusal, RegionsThatDoNotFit) {
  options.rows = 5;
  expect("a region of 5 x 4 elements, the array has 4 x 4");
  options.rows = 0;
  expect("a region of 0 x 4 elements, the array has 4 x 4");
  options.rows = 4;
  symbolic.rowLoop = Symbolic::none;
  expect("a region of 4 x 4 elements, but no loop of 'product' is distributed over the rows");
  symbolic = matrixProduct();
  symbolic.columnLoop = Symbolic::none;
  expect("a region of 4 x 4 elements, but no loop of 'product' is distributed over the columns");
  symbolic = matrixProduct();
  array.controllers = {machine::Corner::SouthEast};
  expect("the array has no controller in the corner that is to control the program");
}

TEST_F(Refusal, TilesThatDoNotFit) {
  options.tile = {1, 2, 0};
  expect("4 tiles of 1 do not cover loop 'i' of 8 iterations");
  options.tile = {0, 0, 2};
  expect("1 tile of 2 does not cover loop 'k' of 3 iterations");
  options.tile = {2, 2, 3};
  compute();
  symbolic.loops[0].leastTile = 3;
  expect("a tile has 2 iterations of loop 'i', the schedule relies on at least 3");
  symbolic.loops[0].leastTile = 1;
  symbolic.arrivals.push_back({{3, 0, 0}, {1, 0, 0}, 100});
  expect("tiles of 2 iterations of loop 'i', but a value is used 3 iterations later");
}

TEST_F(Refusal, NumbersThatAreTooLarge) {
  options.sizes = {int64_t{1} << 40, 8, int64_t{1} << 40};
  expect("the number of iterations is not below 2^61");
  options.sizes = {8, 8, 3};
  options.tile = {INT64_MAX};
  expect("a tile of loop 'i' is not below 2^61");
  options.tile = {int64_t{1} << 60};
  expect("the time in which one element executes its tile is not below 2^61");
  options.tile.clear();
  symbolic.conditions[0].value.loops = {int64_t{1} << 40, 0, 0};
  options.sizes = {int64_t{1} << 40, 8, 3};
  expect("the value of a condition is not below 2^61");
}

TEST_F(Refusal, ConditionsThatMakeTooManyRanges) {
  symbolic.conditions[0] = {Kind::Divisible, builder.linear({1, 0, 0}, 0), 3};
  options.sizes = {int64_t{1} << 30, 8, 3};
  expect("'product' is too large to instantiate: its conditions cut tiles of 268435456 x 2 x 3 iterations into more "
         "than 262144 ranges");
  symbolic.conditions[0] = {Kind::NotNegative, builder.linear({1, -1000000, 0}, 0), 0};
  options.sizes = {int64_t{1} << 30, 1 << 12, 3};
  array.registers.feedbackDepth = 1 << 20;
  expect("'product' is too large to instantiate: its conditions cut tiles of 268435456 x 1024 x 3 iterations into more "
         "than 262144 ranges");
}

TEST_F(Refusal, DependencesInACircle) {
  symbolic.arrivals.push_back({{1, -1, 0}, {0, -1, 0}, -10});
  expect("elements would wait for each other in a circle: the dependences of distance (0, 1, 0) of 'a' and (1, -1, 0) "
         "cross "
         "tiles in opposite directions");
  symbolic = matrixProduct();
  symbolic.arrivals.push_back({{0, 0, 1}, {0, 0, 0}, -5});
  expect("a value of distance (0, 0, 1) is used 4 cycles before it is there, with tiles of 2 x 2 x 3");
}

TEST_F(Refusal, FifosThatAreTooShort) {
  array.registers.feedbackDepth = 5;
  expect("feedback register fd1 holds 6 values of 'b' with tiles of 2 x 2 x 3, the array's hold 5");
  array.registers.feedbackDepth = 6;
  compute();
  symbolic.fifos.push_back({{Register::Kind::Input, 1}, {{1, 0, 0}, {1, 0, 0}, 20}});
  array.registers.inputDepth = 5;
  expect("input register id1 holds 6 values of 'b' with tiles of 2 x 2 x 3, the array's hold 5");
}

TEST_F(Refusal, ProgramsThatAreTooLong) {
  array.units[0].instructions = 4;
  expect("the program of unit alu3 in processor class 0, which computes 'c', takes 5 instructions, the unit's memory "
         "holds 4");
  symbolic = bitExtraction();
  options.sizes = {64};
  options.rows = 1;
  Builder bits(1, {"N"}, 2);
  bits.symbolic = symbolic;
  SymbolicInstruction& chosen = bits.symbolic.instructions[0];
  chosen.operands[0].clear();
  for (int64_t i = 0; i < 5; ++i) // five kernels in turn, of which one may also be the last
    chosen.operands[0].push_back(
        {{{}, static_cast<uint64_t>(i)}, {bits.where(Kind::Divisible, bits.linear({1}, i), 5)}});
  symbolic = bits.symbolic;
  array.units[0].instructions = 9;
  expect("the program of unit alu0 in processor class 0, which computes 'x', takes 11 instructions, the unit's memory "
         "holds 9");
}

TEST_F(Refusal, BranchesWithTooFewTargets) {
  // After a kernel another one is next within the innermost loop, at its end, and at the end of the one around it.
  Builder made(3, {"N"}, 1);
  made.loop(0, "i", size_t{0});
  made.loop(1, "j", size_t{0});
  made.loop(2, "k", size_t{0});
  SymbolicInstruction& chosen =
      made.instruction("x", 0, 0, Opcode::Move, {made.always()}, {{Register::Kind::General, 0}}, {{{}, 0}});
  chosen.operands[0].clear();
  for (int64_t rest = 0; rest < 7; ++rest)
    chosen.operands[0].push_back(
        {{{}, static_cast<uint64_t>(rest)}, {made.where(Kind::Divisible, made.linear({2, 3, 5}, rest), 7)}});
  symbolic = made.symbolic;
  options.sizes = {8};
  options.rows = options.columns = 1;
  array.branchTargets = 8;
  array.branchSignals = 3;
  array.units[0].instructions = 8;
  compute();
  array.branchTargets = 2;
  array.branchSignals = 1;
  expect(
      "the program of unit alu0 in processor class 0, which computes 'x', takes more than 8 instructions, the unit's "
      "memory holds 8; branches of 2 targets make copies of its 7 kernels");
}

TEST_F(Refusal, SignalsThatAreTooMany) {
  array.controllerSignals = 2;
  expect("the programs need 3 control signals, the controller makes 2");
  array.controllerSignals = 100;
  array.registers.control = 1;
  expect("the programs need 3 control signals, an element has control registers for 1");
  array.registers.control = 100;
  array.controllerDimensions = 2;
  expect("a tile has 3 loops, the controller counts 2");
  array.controllerDimensions = 3;
  array.control.inputs[0] = 2;
  expect("the programs need 3 control signals, wrappers have 2 control inputs in the north");
  array.control.inputs[0] = 10;
  array.control.outputs[2] = 1;
  expect("the programs need 3 control signals, wrappers have 1 control outputs in the south");
  array.control.outputs[2] = 10;
  array.control.fullyAdjacent = false;
  expect("control signal 0 finds no way: wrappers do not connect the control input 0 in the north to that of the east");
}

TEST_F(Refusal, BanksThatDoNotSuffice) {
  array.borders[3].banks = 0;
  expect("input 'A' needs bank 0 at the west border; an element there has 0");
  array.borders[3].banks = 1;
  array.borders[0].dimensions = 1;
  expect("input 'B' is accessed in 2 loops of a tile; address generators at the north border count 1");
  array.borders[0].dimensions = 2;
  // Two blocks of one word are the least that a bank can hold.
  array.borders[3].capacity = 7;
  expect("input 'A' takes 8 bytes of a bank at the west border, which holds 7");
  array.borders[3].capacity = 24;
  array.borders[1].banks = array.borders[2].banks = 0;
  array.borders[0].banks = 1;
  expect("no free way between a border and register od2 of element (0, 0) for output 'C': all 8 banks of the region's "
         "borders are taken");
  array.borders[1].banks = 20;
  array.data.inputs = array.data.outputs = {2, 2, 2, 2};
  expect("no free way between a border and register od2 of element (1, 0) for output 'C': the wrapper ports in between "
         "are taken (4 of 16 banks are free)");
}

TEST_F(Refusal, IndicesOutsideOfArrays) {
  symbolic.accesses[0].index[0].constant = 1;
  expect("input 'A' is accessed at 7 to 8 in dimension 0, its extents are 8 x 3");
  symbolic.inputs[0].extents[0] = builder.linear({}, -9, {1});
  expect("array 'A' would have an extent of -1");
}

TEST_F(Refusal, BanksWithTwoKindsOfAddresses) {
  Access other = symbolic.accesses[0];
  other.when = {builder.in(symbolic.accesses[1].when[0].space)};
  symbolic.accesses.push_back(other); // the same addresses: one bank
  other.array = 1;
  symbolic.accesses[2].when = other.when;
  other.when = symbolic.accesses[0].when;
  symbolic.accesses.push_back(other);
  expect("input 'A' is accessed along a channel at element (0, 1), where the channel does not leave the region");
  symbolic = matrixProduct();
  symbolic.accesses.push_back(symbolic.accesses[0]);
  compute();
  symbolic.accesses.back().offset = 1;
  expect("bank 0 at position 0 of the west border would hold input 'A' and 'A' with addresses of different kinds");
}

TEST_F(Refusal, SymbolicConfigurationsThatContradictThemselves) {
  symbolic.instructions[1].unit = 0;
  expect("an operand of the instructions for 'a' and 'b' has two sources in some iteration");
  symbolic.instructions[1].opcode = Opcode::Negate;
  expect("the instructions for 'a' and 'b' meet in one slot");
  symbolic = matrixProduct();
  symbolic.instructions[3].operands[1].pop_back();
  expect("an operand of the instruction for 'c' has no source in some iteration");
}

} // namespace
} // namespace strata::array::test
