// Connections and banks of three configurations made by hand, followed wire by wire from a border to the register and
// back by the second implementation; and what it says of wrong ones.
#include "runtime/array/instantiate_test_support.h"
#include "tests/array/oracle.h"

#include <functional>

namespace strata::array::test {
namespace {

using machine::Port, machine::Side;

void expectPeriphery(const Symbolic& symbolic, const machine::ProcessorArray& array,
                     const InstantiationOptions& options) {
  const auto result = instantiate(symbolic, array, options);
  if (const auto* error = std::get_if<InstantiationError>(&result))
    FAIL() << error->message;
  const Configuration& configuration = std::get<Configuration>(result);
  expectPrograms(symbolic, options, configuration);
  EXPECT_EQ(oracle::comparePeriphery(symbolic, array, options, configuration), "");
}

TEST(Periphery, WordsOfProductsPassBordersInTime) {
  const Symbolic symbolic = matrixProduct();
  machine::ProcessorArray array = testArray(4, 5);
  array.units[0].count = 4;
  for (const machine::Corner corner : array.controllers)
    for (const int64_t hop : {1, 3}) {
      array.control.hop = array.data.hop = static_cast<uint64_t>(hop);
      InstantiationOptions options;
      options.sizes = {9, 10, 3};
      options.rows = 4;
      options.columns = 5;
      options.corner = corner;
      expectPeriphery(symbolic, array, options);
    }
}

TEST(Periphery, BitsComeFromEveryElement) {
  InstantiationOptions options;
  options.sizes = {23};
  options.columns = 7;
  expectPeriphery(bitExtraction(), testArray(1, 8), options);
}

TEST(Periphery, EveryElementReadsAndWritesItsOwnPart) {
  Builder builder(3, {"N"}, 2);
  builder.loop(0, "i", size_t{0});
  builder.loop(1, "j", int64_t{2}, 9);
  builder.loop(2, "k", int64_t{-1}, 1);
  Symbolic& symbolic = builder.symbolic;
  symbolic.rowLoop = 1;
  symbolic.columnLoop = 0;
  using R = Register::Kind;
  const Term triangle = builder.where(Kind::NotNegative, builder.linear({1, -1, 0}, 4));
  builder.instruction("y", 0, 1, Opcode::Move, {triangle}, {{R::Output, 3}}, {{{R::Input, 5}, 0}});
  symbolic.inputs = {{"X", Type::Int16, {builder.linear({}, 3), builder.linear({}, 1, {2}), builder.linear({}, 9)}}};
  symbolic.outputs = {{"Y", Type::Int16, {builder.linear({}, 0, {1}), builder.linear({}, 24)}}};
  symbolic.accesses = {{false,
                        0,
                        {R::Input, 5},
                        Access::ownRoute,
                        1,
                        {triangle},
                        {builder.linear({0, 0, 1}, 1), builder.linear({2, 0, 1}, 0), builder.linear({0, -1, 0}, 10)}},
                       {true,
                        0,
                        {R::Output, 3},
                        Access::ownRoute,
                        2,
                        {triangle},
                        {builder.linear({1}, 0), builder.linear({0, 3, 1}, -5)}}};
  // X is read at 2 i + k, which is -1 at first: an extent too early.
  InstantiationOptions options;
  options.sizes = {6};
  options.rows = options.columns = 3;
  const auto result = instantiate(symbolic, testArray(4, 4), options);
  ASSERT_TRUE(std::holds_alternative<InstantiationError>(result));
  EXPECT_NE(std::get<InstantiationError>(result).message.find("is accessed at -1 to "), std::string::npos)
      << std::get<InstantiationError>(result).message;
  symbolic.accesses[0].index[1].constant = 1;
  for (const int64_t size : {6, 7, 11}) {
    options.sizes = {size};
    expectPeriphery(symbolic, testArray(4, 4), options);
  }
  machine::ProcessorArray mesh = testArray(4, 4);
  mesh.data.fullyAdjacent = false; // straight on, and to and from the element
  for (const unsigned side : {0u, 1u, 2u, 3u})
    for (uint32_t index = 0; index < 4; ++index) {
      const Port in = {static_cast<Side>(side), index};
      mesh.data.adjacent.push_back({in, {static_cast<Side>((side + 2) % 4), index}});
      for (uint32_t reg = 0; reg < 8; ++reg) {
        mesh.data.adjacent.push_back({in, {Side::Element, reg}});
        mesh.data.adjacent.push_back({{Side::Element, reg}, in});
      }
    }
  mesh.data.hop = 2;
  expectPeriphery(symbolic, mesh, options);
}

TEST(Periphery, WrongConnectionsAndBanks) {
  const Symbolic symbolic = matrixProduct();
  machine::ProcessorArray array = testArray(3, 3);
  array.units[0].count = 4;
  InstantiationOptions options;
  options.sizes = {7, 9, 3};
  options.rows = options.columns = 3;
  const Configuration right = std::get<Configuration>(instantiate(symbolic, array, options));
  using Change = std::pair<std::function<void(Configuration&)>, const char*>;
  const auto inputBank = [](Configuration& made) -> Bank& {
    return *std::ranges::find(made.banks, false, &Bank::isOutput);
  };
  const auto outputBank = [](Configuration& made) -> Bank& {
    return *std::ranges::find(made.banks, true, &Bank::isOutput);
  };
  const Change changes[] = {
      {[](Configuration&) {}, ""},
      {[](Configuration& made) { std::swap(made.data[0], made.data[1]); }, "connections are not sorted"},
      {[](Configuration& made) { made.data.back().row = 5; }, "a connection outside of the region"},
      {[](Configuration& made) {
         made.data.erase(
             std::ranges::find(made.data, Side::Element, [](const Connection& each) { return each.source.side; }));
       },
       "has 0 ends"},
      {[](Configuration& made) { made.data.insert(made.data.begin() + 1, made.data[0]); }, "two sources of"},
      {[&](Configuration& made) { inputBank(made).start += 1; }, "no bank has element"},
      {[&](Configuration& made) { outputBank(made).start += 1; }, "of output 0 at od"},
      {[&](Configuration& made) { inputBank(made).base += 1; }, "other elements pass than its block says"},
      {[&](Configuration& made) { inputBank(made).strides.back() += 1; }, "no bank has element"},
      {[&](Configuration& made) { inputBank(made).enable.pop_back(); }, "no bank has element"},
      {[&](Configuration& made) { outputBank(made).enable.push_back(outputBank(made).enable[0]); }, "enabled twice"},
      {[&](Configuration& made) { inputBank(made).start = -9; }, "it starts at cycle -9"},
      {[&](Configuration& made) { std::erase_if(made.banks, [](const Bank& bank) { return bank.isOutput; }); },
       "no bank has element"},
      {[&](Configuration& made) { outputBank(made).position = outputBank(made).position == 0; }, "no bank has element"},
      {[&](Configuration& made) { outputBank(made).index = 3; }, "there are 0 registers at its wire"},
      {[](Configuration& made) { made.control.pop_back(); }, "reaches 8 elements"},
      {[](Configuration& made) { made.control.clear(); }, "signal 0 reaches 0 elements"},
      {[](Configuration& made) { made.firstStart -= 3; }, "after the element has started"},
      {[](Configuration& made) { made.corner = machine::Corner::SouthEast; }, "in another corner"},
  };
  for (const auto& [change, expected] : changes) {
    Configuration made = right;
    change(made);
    const std::string said = oracle::comparePeriphery(symbolic, array, options, made);
    EXPECT_NE(said.find(expected), std::string::npos) << "\"" << expected << "\" is not in:\n" << said;
    EXPECT_EQ(said.empty(), *expected == 0) << said;
  }
}

} // namespace
} // namespace strata::array::test
