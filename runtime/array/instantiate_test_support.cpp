// See the header. Everything is evaluated point by point, and nothing is shared with what is tested.
#include "runtime/array/instantiate_test_support.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace strata::array::test {

Builder::Builder(size_t loops, std::vector<std::string> parameters, int64_t interval) {
  symbolic.program = "test";
  symbolic.parameters = std::move(parameters);
  symbolic.loops.resize(loops);
  symbolic.interval = interval;
}

void Builder::loop(size_t number, const std::string& name, size_t parameter) {
  std::vector<int64_t> factors(symbolic.parameters.size(), 0);
  factors[parameter] = 1;
  symbolic.loops[number] = {name, {{linear({}, 0), 1}}, {{linear({}, -1, factors), 1}}, 1};
}

void Builder::loop(size_t number, const std::string& name, int64_t lower, int64_t upper) {
  symbolic.loops[number] = {name, {{linear({}, lower), 1}}, {{linear({}, upper), 1}}, 1};
}

Linear Builder::linear(std::vector<int64_t> loops, int64_t constant, std::vector<int64_t> parameters) const {
  loops.resize(symbolic.loops.size(), 0);
  parameters.resize(symbolic.parameters.size(), 0);
  return {std::move(loops), std::move(parameters), constant};
}

uint32_t Builder::condition(Kind kind, const Linear& value, int64_t modulus) {
  symbolic.conditions.push_back({kind, value, modulus});
  return static_cast<uint32_t>(symbolic.conditions.size() - 1);
}

uint32_t Builder::space(std::vector<std::vector<uint32_t>> pieces) {
  symbolic.spaces.push_back({std::move(pieces)});
  return static_cast<uint32_t>(symbolic.spaces.size() - 1);
}

Term Builder::in(uint32_t space) const {
  return {space, std::vector<int64_t>(symbolic.loops.size(), 0), {}, {}};
}

Term Builder::where(Kind kind, const Linear& value, int64_t modulus) {
  return in(space({{condition(kind, value, modulus)}}));
}

Term Builder::always() {
  return in(space({{}}));
}

SymbolicInstruction& Builder::instruction(const std::string& name, uint32_t unit, int64_t offset, Opcode opcode,
                                          std::vector<Term> when, std::vector<Register> destinations,
                                          std::vector<Operand> operands) {
  SymbolicInstruction& result = symbolic.instructions.emplace_back();
  result.name = name;
  result.unit = unit;
  result.offset = offset;
  result.opcode = opcode;
  result.when = when;
  for (const Register reg : destinations)
    result.destinations.push_back({reg, when});
  for (const Operand& operand : operands)
    result.operands.push_back({{operand, when}});
  return result;
}

machine::ProcessorArray testArray(uint64_t rows, uint64_t columns) {
  machine::ProcessorArray array;
  array.rows = rows;
  array.columns = columns;
  array.units = {{"alu", 2, {{"add", 1, 1, {}}}, 4000, {}}};
  array.registers = {16, 8, 4096, 8, 4096, 8, 512, {}};
  array.destinations = 4;
  array.flags = 4;
  array.branchTargets = 2;
  array.branchSignals = 1;
  array.data.inputs = array.data.outputs = {4, 4, 4, 4};
  array.control.inputs = array.control.outputs = {512, 512, 512, 512};
  array.controllers = {machine::Corner::NorthWest, machine::Corner::NorthEast, machine::Corner::SouthEast,
                       machine::Corner::SouthWest};
  array.controllerSignals = 512;
  array.controllerDimensions = 8;
  array.borders.fill({4, 1 << 20, 8, {}});
  return array;
}

namespace {

int64_t floorOf(int64_t a, int64_t b) {
  int64_t result = a / b;
  while (result * b > a)
    --result;
  return result;
}

int64_t valueAt(const Linear& linear, std::span<const int64_t> loops, std::span<const int64_t> sizes) {
  int64_t value = linear.constant;
  for (size_t l = 0; l < loops.size(); ++l)
    value += linear.loops[l] * loops[l];
  for (size_t p = 0; p < sizes.size(); ++p)
    value += linear.parameters[p] * sizes[p];
  return value;
}

bool isIn(const Symbolic& symbolic, uint32_t space, std::span<const int64_t> loops, std::span<const int64_t> sizes) {
  for (const std::vector<uint32_t>& piece : symbolic.spaces[space].pieces) {
    bool all = true;
    for (const uint32_t number : piece) {
      const Condition& condition = symbolic.conditions[number];
      const int64_t value = valueAt(condition.value, loops, sizes);
      switch (condition.kind) {
      case Kind::NotNegative:
        all = all && value >= 0;
        break;
      case Kind::Zero:
        all = all && value == 0;
        break;
      case Kind::Divisible:
        all = all && value % condition.modulus == 0;
        break;
      case Kind::NotDivisible:
        all = all && value % condition.modulus != 0;
        break;
      }
    }
    if (all)
      return true;
  }
  return false;
}

std::vector<int64_t> pointOf(int64_t number, const std::vector<int64_t>& extents) {
  std::vector<int64_t> point(extents.size());
  for (size_t l = extents.size(); l-- > 0;) {
    point[l] = number % extents[l];
    number /= extents[l];
  }
  return point;
}

} // namespace

TestTiles tilesOf(const Symbolic& symbolic, const InstantiationOptions& options) {
  TestTiles result;
  for (size_t l = 0; l < symbolic.loops.size(); ++l) {
    const Loop& loop = symbolic.loops[l];
    int64_t lower = INT64_MIN, upper = INT64_MAX;
    for (const Bound& bound : loop.lower)
      lower = std::max(lower, -floorOf(-valueAt(bound.value, {}, options.sizes), bound.divisor));
    for (const Bound& bound : loop.upper)
      upper = std::min(upper, floorOf(valueAt(bound.value, {}, options.sizes), bound.divisor));
    const int64_t tiles = l == symbolic.rowLoop ? options.rows : l == symbolic.columnLoop ? options.columns : 1;
    int64_t tile = (upper - lower + tiles) / tiles;
    if (l < options.tile.size() && options.tile[l] != 0)
      tile = options.tile[l];
    result.lower.push_back(lower);
    result.upper.push_back(upper);
    result.tile.push_back(tile);
  }
  return result;
}

bool holds(const Symbolic& symbolic, const InstantiationOptions& options, const TestTiles& tiles,
           const std::vector<Term>& terms, int64_t row, int64_t column, std::span<const int64_t> point) {
  std::vector<int64_t> iteration(point.begin(), point.end());
  for (size_t l = 0; l < point.size(); ++l) {
    if (point[l] >= tiles.tile[l])
      return false;
    const int64_t k = l == symbolic.rowLoop ? row : l == symbolic.columnLoop ? column : 0;
    iteration[l] += tiles.lower[l] + k * tiles.tile[l];
    if (iteration[l] > tiles.upper[l])
      return false;
  }
  for (const Term& term : terms) {
    std::vector<int64_t> moved = iteration;
    bool crosses = true;
    for (size_t l = 0; l < moved.size(); ++l) {
      moved[l] += term.shift[l];
      if (!term.crossing.empty() && (l == symbolic.rowLoop || l == symbolic.columnLoop))
        crosses = crosses && floorOf(point[l] + term.step[l], tiles.tile[l]) == term.crossing[l];
    }
    if (crosses && isIn(symbolic, term.space, moved, options.sizes))
      return true;
  }
  return false;
}

namespace {

class Checker {
public:
  Checker(const Symbolic& symbolic, const InstantiationOptions& options, const Configuration& configuration)
      : symbolic_(symbolic), options_(options), configuration_(configuration), tiles_(tilesOf(symbolic, options)) {
    for (const int64_t extent : configuration.extents)
      iterations_ *= extent;
    for (const Signal& signal : configuration.signals) {
      std::vector<bool>& values = signals_.emplace_back(static_cast<size_t>(iterations_));
      for (int64_t n = 0; n < iterations_; ++n)
        values[static_cast<size_t>(n)] = isOne(signal, pointOf(n, configuration.extents));
    }
  }

  void check() {
    std::vector<std::vector<uint32_t>> classes(configuration_.rows,
                                               std::vector<uint32_t>(configuration_.columns, UINT32_MAX));
    for (const ClassRegion& region : configuration_.regions)
      for (int64_t r = region.rows.first; r < region.rows.end; ++r)
        for (int64_t c = region.columns.first; c < region.columns.end; ++c) {
          uint32_t& known = classes[static_cast<size_t>(r)][static_cast<size_t>(c)];
          ASSERT_EQ(known, UINT32_MAX) << "two classes";
          known = region.processorClass;
        }
    std::map<Work, uint32_t> known;
    for (uint32_t r = 0; r < configuration_.rows; ++r)
      for (uint32_t c = 0; c < configuration_.columns; ++c) {
        ASSERT_LT(classes[r][c], configuration_.classes.size());
        ASSERT_EQ(known.try_emplace(work(r, c), classes[r][c]).first->second, classes[r][c])
            << "element (" << r << ", " << c << ") is of a second class for the same work";
        const std::vector<Program>& programs = configuration_.classes[classes[r][c]].programs;
        for (uint32_t unit = 0; unit < programs.size(); ++unit) {
          SCOPED_TRACE("element (" + std::to_string(r) + ", " + std::to_string(c) + ") unit " + std::to_string(unit));
          const std::vector<Functional> wanted = asked(r, c, unit), found = executed(programs[unit]);
          for (size_t i = 0; i < wanted.size(); ++i)
            ASSERT_EQ(wanted[i], found[i]) << "iteration " << static_cast<int64_t>(i) / symbolic_.interval << " slot "
                                           << static_cast<int64_t>(i) % symbolic_.interval;
          if (testing::Test::HasFatalFailure())
            return;
        }
      }
  }

private:
  using Work = std::map<std::tuple<int64_t, int64_t, uint32_t>, Functional>;

  static bool isOne(const Signal& signal, const std::vector<int64_t>& point) {
    int boxes = 0;
    for (const Box& box : signal.ones) {
      bool inside = true;
      for (size_t l = 0; l < point.size(); ++l)
        inside = inside && point[l] >= box[l].first && point[l] < box[l].end;
      boxes += inside ? 1 : 0;
    }
    EXPECT_LE(boxes, 1) << "boxes meet";
    return boxes != 0;
  }

  /// By iteration, offset and unit; what the symbolic configuration says.
  Work work(int64_t row, int64_t column) const {
    Work result;
    for (int64_t n = 0; n < iterations_; ++n) {
      const std::vector<int64_t> point = pointOf(n, configuration_.extents);
      const auto is = [&](const std::vector<Term>& terms) {
        return holds(symbolic_, options_, tiles_, terms, row, column, point);
      };
      for (const SymbolicInstruction& instruction : symbolic_.instructions) {
        if (!is(instruction.when))
          continue;
        Functional functional = {instruction.opcode, instruction.type, instruction.operandType, {}, {}};
        for (const Destination& destination : instruction.destinations)
          if (is(destination.when))
            functional.destinations.push_back(destination.reg);
        std::ranges::sort(functional.destinations);
        const auto repeated = std::ranges::unique(functional.destinations);
        functional.destinations.erase(repeated.begin(), repeated.end());
        for (const std::vector<Source>& operand : instruction.operands)
          for (const Source& source : operand)
            if (is(source.when))
              functional.sources.push_back(source.value);
        result.emplace(std::tuple(n, instruction.offset, instruction.unit), functional);
      }
    }
    return result;
  }

  /// That by cycle from the element's start.
  std::vector<Functional> asked(int64_t row, int64_t column, uint32_t unit) const {
    std::vector<Functional> result(static_cast<size_t>(iterations_ * symbolic_.interval));
    for (const auto& [place, functional] : work(row, column))
      if (const auto [iteration, offset, executes] = place; executes == unit)
        result.at(static_cast<size_t>(iteration * symbolic_.interval + offset)) = functional;
    return result;
  }

  /// The same by following the program.
  std::vector<Functional> executed(const Program& program) const {
    std::vector<Functional> result(static_cast<size_t>(iterations_ * symbolic_.interval + 1));
    for (size_t cycle = 0, at = 0; at < program.size(); ++cycle) {
      if (cycle >= result.size()) {
        ADD_FAILURE() << "the program does not halt";
        return result;
      }
      result[cycle] = program[at].functional;
      const Branch& branch = program[at].branch;
      if (branch.kind == Branch::Kind::Halt)
        return result;
      if (branch.kind == Branch::Kind::If) {
        EXPECT_LE(branch.targets.size(), size_t{1} << branch.signals.size());
        size_t code = 0;
        for (size_t i = 0; i < branch.signals.size(); ++i)
          code |=
              static_cast<size_t>(signals_.at(branch.signals[i]).at(cycle / static_cast<size_t>(symbolic_.interval)))
              << i;
        at = branch.targets.at(code);
      } else
        at = branch.kind == Branch::Kind::Goto ? branch.targets.at(0) : at + 1;
      EXPECT_LT(at, program.size());
    }
    return result;
  }

  const Symbolic& symbolic_;
  const InstantiationOptions& options_;
  const Configuration& configuration_;
  TestTiles tiles_;
  int64_t iterations_ = 1;
  std::vector<std::vector<bool>> signals_;
};

} // namespace

void expectPrograms(const Symbolic& symbolic, const InstantiationOptions& options, const Configuration& configuration) {
  Checker(symbolic, options, configuration).check();
}

Symbolic matrixProduct() {
  Builder builder(3, {"M", "N", "K"}, 1);
  builder.loop(0, "i", 0);
  builder.loop(1, "j", 1);
  builder.loop(2, "k", 2);
  Symbolic& result = builder.symbolic;
  result.program = "product";
  result.rowLoop = 0;
  result.columnLoop = 1;
  using R = Register::Kind;
  const Term all = builder.always();
  const Term firstK = builder.where(Kind::Zero, builder.linear({0, 0, 1}, 0));
  const Term laterK = builder.where(Kind::NotNegative, builder.linear({0, 0, 1}, -1));
  const Term lastK = builder.where(Kind::Zero, builder.linear({0, 0, 1}, 1, {0, 0, -1}));
  const uint32_t notLastColumn =
      builder.space({{builder.condition(Kind::NotNegative, builder.linear({0, -1, 0}, -2, {0, 1, 0}))}});
  const uint32_t notLastRow =
      builder.space({{builder.condition(Kind::NotNegative, builder.linear({-1, 0, 0}, -2, {1, 0, 0}))}});
  const auto term = [](uint32_t space, std::vector<int64_t> step, std::vector<int64_t> crossing) {
    return Term{space, {0, 0, 0}, std::move(step), std::move(crossing)};
  };
  const uint32_t everywhere = all.space;
  // a goes east and b south; at the tile's west and north face they come from the neighbour or the border.
  SymbolicInstruction& a = builder.instruction("a", 0, 0, Opcode::Move, {all}, {{R::General, 0}}, {});
  a.destinations.push_back({{R::Output, 0}, {term(notLastColumn, {0, 1, 0}, {0, 1, 0})}});
  a.destinations.push_back({{R::Feedback, 0}, {term(notLastColumn, {0, 1, 0}, {0, 0, 0})}});
  a.operands.push_back({{{{R::Input, 0}, 0}, {term(everywhere, {0, -1, 0}, {0, -1, 0})}},
                        {{{R::Feedback, 0}, 0}, {term(everywhere, {0, -1, 0}, {0, 0, 0})}}});
  SymbolicInstruction& b = builder.instruction("b", 1, 0, Opcode::Move, {all}, {{R::General, 1}}, {});
  b.destinations.push_back({{R::Output, 1}, {term(notLastRow, {1, 0, 0}, {1, 0, 0})}});
  b.destinations.push_back({{R::Feedback, 1}, {term(notLastRow, {1, 0, 0}, {0, 0, 0})}});
  b.operands.push_back({{{{R::Input, 1}, 0}, {term(everywhere, {-1, 0, 0}, {-1, 0, 0})}},
                        {{{R::Feedback, 1}, 0}, {term(everywhere, {-1, 0, 0}, {0, 0, 0})}}});
  SymbolicInstruction& product = builder.instruction("p", 2, 1, Opcode::Multiply, {all}, {{R::General, 2}},
                                                     {{{R::General, 0}, 0}, {{R::General, 1}, 0}});
  static_cast<void>(product);
  SymbolicInstruction& sum = builder.instruction("c", 3, 2, Opcode::Add, {all}, {}, {{{R::General, 2}, 0}});
  const Term notLastK = builder.where(Kind::NotNegative, builder.linear({0, 0, -1}, -2, {0, 0, 1}));
  sum.destinations.push_back({{R::General, 3}, {notLastK}});
  sum.destinations.push_back({{R::Output, 2}, {lastK}});
  sum.operands.push_back({{{{}, 0}, {firstK}}, {{{R::General, 3}, 0}, {laterK}}});
  const machine::Port east0 = {machine::Side::East, 0}, west0 = {machine::Side::West, 0};
  const machine::Port south0 = {machine::Side::South, 0}, north0 = {machine::Side::North, 0};
  const auto element = [](uint32_t index) { return machine::Port{machine::Side::Element, index}; };
  result.channels = {{0, 1, {element(0), east0, west0, element(0)}}, {1, 0, {element(1), south0, north0, element(1)}}};
  const Arrival acrossColumns = {{0, 1, 0}, {0, 1, 0}, -2}, acrossRows = {{1, 0, 0}, {1, 0, 0}, -2};
  result.arrivals = {acrossColumns, acrossRows};
  result.fifos = {{{R::Input, 0}, acrossColumns},
                  {{R::Input, 1}, acrossRows},
                  {{R::Feedback, 0}, {{0, 1, 0}, {0, 0, 0}, -1}},
                  {{R::Feedback, 1}, {{1, 0, 0}, {0, 0, 0}, -1}}};
  result.inputs = {{"A", Type::Int32, {builder.linear({}, 0, {1}), builder.linear({}, 0, {0, 0, 1})}},
                   {"B", Type::Int32, {builder.linear({}, 0, {0, 0, 1}), builder.linear({}, 0, {0, 1})}}};
  result.outputs = {{"C", Type::Int32, {builder.linear({}, 0, {1}), builder.linear({}, 0, {0, 1})}}};
  const Term firstColumn = builder.where(Kind::Zero, builder.linear({0, 1, 0}, 0));
  const Term firstRow = builder.where(Kind::Zero, builder.linear({1, 0, 0}, 0));
  result.accesses = {
      {false, 0, {R::Input, 0}, 0, 0, {firstColumn}, {builder.linear({1}, 0), builder.linear({0, 0, 1}, 0)}},
      {false, 1, {R::Input, 1}, 1, 0, {firstRow}, {builder.linear({0, 0, 1}, 0), builder.linear({0, 1}, 0)}},
      {true, 0, {R::Output, 2}, Access::ownRoute, 3, {lastK}, {builder.linear({1}, 0), builder.linear({0, 1}, 0)}}};
  return result;
}

Symbolic bitExtraction() {
  Builder builder(1, {"N"}, 2);
  builder.loop(0, "i", size_t{0});
  Symbolic& result = builder.symbolic;
  result.program = "bits";
  result.columnLoop = 0;
  using R = Register::Kind;
  const uint32_t all = builder.space({{}});
  const uint32_t first = builder.space({{builder.condition(Kind::Zero, builder.linear({1}, 0))}});
  const uint32_t later = builder.space({{builder.condition(Kind::NotNegative, builder.linear({1}, -1))}});
  const uint32_t notLast = builder.space({{builder.condition(Kind::NotNegative, builder.linear({-1}, -2, {1}))}});
  const auto term = [](uint32_t space, int64_t step, int64_t crossing) { return Term{space, {0}, {step}, {crossing}}; };
  // Unit 0 takes x, unit 1 shifts it and takes the bit.
  SymbolicInstruction& x = builder.instruction("x", 0, 0, Opcode::Move, {builder.in(all)}, {{R::General, 0}}, {});
  x.operands.push_back(
      {{{{R::Input, 0}, 0}, {builder.in(first), term(later, -1, -1)}}, {{{R::Feedback, 0}, 0}, {term(later, -1, 0)}}});
  SymbolicInstruction& shift =
      builder.instruction("y", 1, 1, Opcode::ShiftRight, {builder.in(all)}, {}, {{{R::General, 0}, 0}, {{}, 1}});
  shift.destinations = {{{R::Output, 0}, {term(notLast, 1, 1)}}, {{R::Feedback, 0}, {term(notLast, 1, 0)}}};
  builder.instruction("bit", 1, 2, Opcode::And, {builder.in(all)}, {{R::Output, 1}}, {{{R::General, 0}, 0}, {{}, 1}});
  result.channels = {
      {0,
       1,
       {{machine::Side::Element, 0}, {machine::Side::East, 0}, {machine::Side::West, 0}, {machine::Side::Element, 0}}}};
  const Arrival arrival = {{1}, {1}, -3};
  result.arrivals = {arrival};
  result.fifos = {{{R::Input, 0}, arrival}, {{R::Feedback, 0}, {{1}, {0}, -2}}};
  result.inputs = {{"in", Type::Int32, {}}};
  result.outputs = {{"bits", Type::Int32, {builder.linear({}, 0, {1})}}};
  result.accesses = {{false, 0, {R::Input, 0}, 0, 0, {builder.in(first)}, {}},
                     {true, 0, {R::Output, 1}, Access::ownRoute, 3, {builder.in(all)}, {builder.linear({1}, 0)}}};
  return result;
}

} // namespace strata::array::test
