// Connections and banks, followed wire by wire from a border to the register and back.
#include "runtime/array/instantiate_test_support.h"

#include <algorithm>
#include <set>

namespace strata::array::test {
namespace {

using machine::Port, machine::Side;

struct End {
  int64_t row = 0, column = 0;
  Port port;
  int64_t hops = 0;
};

/// All sinks that get a source's values: of elements, and at borders.
class Wires {
public:
  Wires(const std::vector<Connection>& connections, int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {
    EXPECT_TRUE(std::ranges::is_sorted(connections));
    std::set<std::tuple<uint32_t, uint32_t, Port>> sinks;
    for (const Connection& connection : connections) {
      EXPECT_TRUE(sinks.insert({connection.row, connection.column, connection.sink}).second) << "a sink of two sources";
      sinks_[{connection.row, connection.column, connection.source}].push_back(connection.sink);
    }
  }

  std::vector<End> follow(const End& from) const {
    std::vector<End> open = {from}, result;
    for (size_t i = 0; i < open.size(); ++i) {
      const End at = open[i];
      const auto found = sinks_.find({static_cast<uint32_t>(at.row), static_cast<uint32_t>(at.column), at.port});
      if (found == sinks_.end())
        continue;
      for (const Port sink : found->second) {
        const int64_t row = at.row + (sink.side == Side::South) - (sink.side == Side::North);
        const int64_t column = at.column + (sink.side == Side::East) - (sink.side == Side::West);
        if (sink.side == Side::Element || row < 0 || column < 0 || row >= rows_ || column >= columns_)
          result.push_back({at.row, at.column, sink, at.hops});
        else
          open.push_back(
              {row, column, {static_cast<Side>((static_cast<unsigned>(sink.side) + 2) % 4), sink.index}, at.hops + 1});
      }
    }
    return result;
  }

private:
  int64_t rows_, columns_;
  std::map<std::tuple<uint32_t, uint32_t, Port>, std::vector<Port>> sinks_;
};

/// Every access of every iteration finds its word at its time; and no bank does anything else.
void expectBanks(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options,
                 const Configuration& configuration) {
  const Wires wires(configuration.data, configuration.rows, configuration.columns);
  const TestTiles tiles = tilesOf(symbolic, options);
  const auto hop = static_cast<int64_t>(array.data.hop);
  /// By array, whether it is an output, register, element and cycle: the address.
  std::map<std::tuple<uint32_t, bool, uint32_t, int64_t, int64_t, int64_t>, int64_t> wanted, found;
  int64_t iterations = 1;
  for (const int64_t extent : configuration.extents)
    iterations *= extent;
  const auto point = [&](int64_t n) {
    std::vector<int64_t> result(configuration.extents.size());
    for (size_t l = result.size(); l-- > 0; n /= configuration.extents[l])
      result[l] = n % configuration.extents[l];
    return result;
  };
  for (const Access& access : symbolic.accesses) {
    const ArrayLayout& layout = (access.isOutput ? configuration.outputs : configuration.inputs)[access.array];
    for (int64_t row = 0; row < configuration.rows; ++row)
      for (int64_t column = 0; column < configuration.columns; ++column)
        for (int64_t n = 0; n < iterations; ++n) {
          const std::vector<int64_t> at = point(n);
          if (!holds(symbolic, options, tiles, access.when, row, column, at))
            continue;
          int64_t address = 0;
          for (size_t d = 0; d < access.index.size(); ++d) {
            int64_t index = access.index[d].constant;
            for (size_t p = 0; p < options.sizes.size(); ++p)
              index += access.index[d].parameters[p] * options.sizes[p];
            for (size_t l = 0; l < at.size(); ++l) {
              const int64_t k = l == symbolic.rowLoop ? row : l == symbolic.columnLoop ? column : 0;
              index += access.index[d].loops[l] * (at[l] + tiles.lower[l] + k * tiles.tile[l]);
            }
            address = address * layout.extents[d] + index;
          }
          const int64_t cycle = configuration.start(row, column) + access.offset + n * symbolic.interval;
          wanted[{access.array, access.isOutput, access.reg.index, row, column, cycle}] = address;
        }
  }
  std::set<std::tuple<Side, uint32_t, uint32_t>> ports;
  for (const Bank& bank : configuration.banks) {
    EXPECT_TRUE(ports.insert({bank.side, bank.position, bank.index}).second) << "two banks at a port";
    EXPECT_GE(bank.start, 0);
    const bool isColumn = bank.side == Side::North || bank.side == Side::South;
    const int64_t row = !isColumn ? bank.position : bank.side == Side::North ? 0 : configuration.rows - 1;
    const int64_t column = isColumn ? bank.position : bank.side == Side::West ? 0 : configuration.columns - 1;
    const Port port = {bank.side, bank.index};
    std::vector<End> ends; // registers
    if (!bank.isOutput) {
      for (const End& end : wires.follow({row, column, port, 0}))
        if (end.port.side == Side::Element)
          ends.push_back(end);
    } else
      for (int64_t r = 0; r < configuration.rows; ++r)
        for (int64_t c = 0; c < configuration.columns; ++c)
          for (uint32_t reg = 0; reg < array.registers.output; ++reg)
            for (const End& end : wires.follow({r, c, {Side::Element, reg}, 0}))
              if (end.row == row && end.column == column && end.port == port)
                ends.push_back({r, c, {Side::Element, reg}, end.hops});
    ASSERT_EQ(ends.size(), 1u);
    const End& end = ends[0];
    for (const Box& box : bank.enable) {
      for (int64_t n = 0; n < iterations; ++n) {
        const std::vector<int64_t> at = point(n);
        int64_t address = bank.base;
        bool isInside = true;
        for (size_t l = 0; l < at.size(); ++l) {
          isInside = isInside && at[l] >= box[l].first && at[l] < box[l].end;
          address += bank.strides[l] * at[l];
        }
        const int64_t cycle = bank.start + n * symbolic.interval + (bank.isOutput ? -1 : 1) * end.hops * hop;
        if (isInside)
          EXPECT_TRUE(
              found.insert({{bank.array, bank.isOutput, end.port.index, end.row, end.column, cycle}, address}).second);
      }
    }
  }
  EXPECT_EQ(wanted, found);
}

/// Control signal s reaches every element's register s, and none starts before.
void expectControl(const machine::ProcessorArray& array, const InstantiationOptions& options,
                   const Configuration& configuration) {
  const Wires wires(configuration.control, configuration.rows, configuration.columns);
  const bool isSouth = options.corner == machine::Corner::SouthWest || options.corner == machine::Corner::SouthEast;
  const bool isEast = options.corner == machine::Corner::NorthEast || options.corner == machine::Corner::SouthEast;
  for (uint32_t signal = 0; signal < configuration.signals.size(); ++signal) {
    std::set<std::pair<int64_t, int64_t>> reached;
    for (const End& end : wires.follow({isSouth ? configuration.rows - 1 : 0,
                                        isEast ? configuration.columns - 1 : 0,
                                        {isSouth ? Side::South : Side::North, signal},
                                        0})) {
      EXPECT_EQ(end.port, (Port{Side::Element, signal}));
      reached.insert({end.row, end.column});
      EXPECT_LE(end.hops * static_cast<int64_t>(array.control.hop), configuration.start(end.row, end.column));
    }
    EXPECT_EQ(reached.size(), size_t{configuration.rows} * configuration.columns);
  }
}

void expectPeriphery(const Symbolic& symbolic, const machine::ProcessorArray& array,
                     const InstantiationOptions& options) {
  const auto result = instantiate(symbolic, array, options);
  if (const auto* error = std::get_if<InstantiationError>(&result))
    FAIL() << error->message;
  const Configuration& configuration = std::get<Configuration>(result);
  expectPrograms(symbolic, options, configuration);
  expectBanks(symbolic, array, options, configuration);
  expectControl(array, options, configuration);
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

} // namespace
} // namespace strata::array::test
