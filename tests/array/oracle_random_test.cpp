// The second implementation of instantiation on symbolic configurations made at random, against the same questions
// asked of every iteration; and configurations made from what it says, right and then changed in one place.
#include "runtime/array/by_day_testing.h"
#include "tests/array/oracle.h"

#include <gtest/gtest.h>

#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace strata::array::oracle {
namespace {

using Point = std::vector<int64_t>;

/// Random but sound: instructions of one unit in one slot are disjoint, and each operand is one value.
class Generator {
public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  int64_t between(int64_t first, int64_t last) { return std::uniform_int_distribution<int64_t>(first, last)(random_); }

  Symbolic symbolic(uint32_t units) {
    made_ = {};
    made_.parameters = {"N"};
    made_.interval = between(1, 3);
    const auto loops = static_cast<size_t>(between(1, 3));
    for (size_t i = 0; i < loops; ++i) {
      const int64_t lower = between(-2, 2), divisor = between(1, 2);
      made_.loops.push_back({"i", {{{{}, {0}, lower}, 1}}, {{{{}, {1}, divisor * lower + between(0, 4)}, divisor}}, 1});
    }
    if (between(0, 3) != 0)
      made_.rowLoop = static_cast<uint32_t>(between(0, static_cast<int64_t>(loops) - 1));
    const auto column = static_cast<uint32_t>(between(0, static_cast<int64_t>(loops) - 1));
    if (column != made_.rowLoop)
      made_.columnLoop = column;
    for (uint32_t unit = 0; unit < units; ++unit)
      for (int64_t slot = 0; slot < made_.interval; ++slot) {
        const int64_t offset = slot + made_.interval * between(0, 2);
        const Condition condition = this->condition();
        if (between(0, 2) != 0)
          instruction(unit, offset, {condition}, Opcode::Add);
        if (between(0, 2) != 0)
          instruction(unit, offset, {opposite(condition)}, between(0, 1) != 0 ? Opcode::Add : Opcode::Multiply);
      }
    return made_;
  }

private:
  Condition condition() {
    Condition made;
    made.kind = static_cast<Condition::Kind>(between(0, 9) < 7 ? 0 : between(2, 3));
    for (size_t i = 0; i < made_.loops.size(); ++i)
      made.value.loops.push_back(between(0, 2) == 0 ? between(-2, 2) : 0);
    if (between(0, 5) != 0)
      made.value.loops[static_cast<size_t>(between(0, static_cast<int64_t>(made_.loops.size()) - 1))] =
          between(0, 1) != 0 ? 1 : -1;
    made.value.parameters = {between(0, 3) == 0 ? between(-1, 1) : 0};
    made.value.constant = between(-4, 4);
    made.modulus = made.kind == Condition::Kind::NotNegative ? 0 : between(2, 3);
    return made;
  }
  static Condition opposite(Condition condition) {
    if (condition.kind == Condition::Kind::Divisible) {
      condition.kind = Condition::Kind::NotDivisible;
    } else if (condition.kind == Condition::Kind::NotDivisible) {
      condition.kind = Condition::Kind::Divisible;
    } else {
      for (int64_t& value : condition.value.loops)
        value = -value;
      condition.value.parameters[0] = -condition.value.parameters[0];
      condition.value.constant = -condition.value.constant - 1;
    }
    return condition;
  }
  Term term(std::vector<Condition> conditions) {
    std::vector<uint32_t> piece;
    for (Condition& each : conditions) {
      piece.push_back(static_cast<uint32_t>(made_.conditions.size()));
      made_.conditions.push_back(std::move(each));
    }
    made_.spaces.push_back({{piece}});
    return {static_cast<uint32_t>(made_.spaces.size() - 1), Point(made_.loops.size(), 0), {}, {}};
  }
  /// With all that terms can have: a second piece, a shift, a crossing.
  Term wildTerm() {
    Term made = term({condition()});
    if (between(0, 2) == 0)
      made_.spaces.back().pieces.push_back({made_.spaces.back().pieces[0][0], 0});
    if (between(0, 2) == 0)
      made_.spaces.back().pieces.push_back({0});
    for (int64_t& value : made.shift)
      value = between(-1, 1);
    if (between(0, 1) != 0)
      for (uint32_t i = 0; i < made_.loops.size(); ++i) {
        made.step.push_back(between(-2, 2));
        made.crossing.push_back(i == made_.rowLoop || i == made_.columnLoop ? between(-1, 1) : 0);
      }
    return made;
  }
  void instruction(uint32_t unit, int64_t offset, std::vector<Condition> conditions, Opcode opcode) {
    SymbolicInstruction made;
    made.unit = unit;
    made.offset = offset;
    made.opcode = opcode;
    made.when = {term(std::move(conditions))};
    for (int64_t i = between(0, 2); i-- > 0;) {
      made.destinations.push_back({{Register::Kind::Output, static_cast<uint16_t>(between(0, 1))}, {wildTerm()}});
      if (between(0, 1) != 0)
        made.destinations.back().when.push_back(wildTerm());
    }
    if (made.destinations.size() == 2 && made.destinations[0].reg == made.destinations[1].reg)
      made.destinations.pop_back();
    for (int i = 0; i < 2; ++i) {
      const Condition condition = this->condition();
      const auto index = static_cast<uint16_t>(between(0, 2));
      made.operands.push_back({{{{Register::Kind::General, index}}, {term({condition})}},
                               {{{}, static_cast<uint64_t>(between(1, 2))}, {term({opposite(condition)})}}});
    }
    made_.instructions.push_back(std::move(made));
  }

  std::mt19937_64 random_;
  Symbolic made_;
};

int64_t floorDivision(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0);
}

/// Each question answered for one iteration of one element.
class Reference {
public:
  Reference(const Symbolic& symbolic, const InstantiationOptions& options) : symbolic_(symbolic), options_(options) {
    for (size_t i = 0; i < symbolic.loops.size(); ++i) {
      const Loop& loop = symbolic.loops[i];
      lower.push_back(loop.lower[0].value.constant);
      upper.push_back(floorDivision(options.sizes[0] + loop.upper[0].value.constant, loop.upper[0].divisor));
      const int64_t count = i == symbolic.rowLoop ? options.rows : i == symbolic.columnLoop ? options.columns : 1;
      tile.push_back((upper[i] - lower[i] + count) / count);
      if (i < options.tile.size() && options.tile[i] != 0)
        tile[i] = options.tile[i];
    }
  }
  /// All instructions that the kernel of iteration `number` issues.
  std::vector<Functional> kernel(int64_t row, int64_t column, uint32_t unit, int64_t number) const {
    std::vector<Functional> made(static_cast<size_t>(symbolic_.interval));
    for (const SymbolicInstruction& each : symbolic_.instructions) {
      const int64_t origin = number - each.offset / symbolic_.interval;
      if (each.unit != unit || !isIn(each.when, row, column, origin))
        continue;
      Functional functional{each.opcode, each.type, each.operandType, {}, {}};
      for (const Destination& destination : each.destinations)
        if (isIn(destination.when, row, column, origin))
          functional.destinations.push_back(destination.reg);
      std::sort(functional.destinations.begin(), functional.destinations.end());
      for (const std::vector<Source>& alternatives : each.operands)
        for (const Source& source : alternatives)
          if (isIn(source.when, row, column, origin))
            functional.sources.push_back(source.value);
      EXPECT_EQ(made[static_cast<size_t>(each.offset % symbolic_.interval)], Functional());
      made[static_cast<size_t>(each.offset % symbolic_.interval)] = functional;
    }
    return made;
  }

  Point lower, upper, tile;

private:
  bool holds(const Condition& condition, const Point& at) const {
    int64_t value = condition.value.constant + condition.value.parameters[0] * options_.sizes[0];
    value += std::inner_product(at.begin(), at.end(), condition.value.loops.begin(), int64_t{0});
    switch (condition.kind) {
    case Condition::Kind::NotNegative:
      return value >= 0;
    case Condition::Kind::Zero:
      return value == 0;
    case Condition::Kind::Divisible:
      return value % condition.modulus == 0;
    case Condition::Kind::NotDivisible:
      return value % condition.modulus != 0;
    }
    return false;
  }
  bool isIn(const std::vector<Term>& terms, int64_t row, int64_t column, int64_t number) const {
    if (number < 0)
      return false;
    Point inTile(tile.size()), at(tile.size());
    for (size_t i = tile.size(); i-- > 0; number /= tile[i]) {
      inTile[i] = i == 0 ? number : number % tile[i];
      at[i] = lower[i] + inTile[i] + tile[i] * (i == symbolic_.rowLoop ? row : i == symbolic_.columnLoop ? column : 0);
      if (inTile[i] >= tile[i] || at[i] > upper[i])
        return false;
    }
    return std::any_of(terms.begin(), terms.end(), [&](const Term& term) {
      Point shifted = at;
      for (size_t i = 0; i < at.size(); ++i) {
        shifted[i] += term.shift[i];
        if (!term.crossing.empty() && (i == symbolic_.rowLoop || i == symbolic_.columnLoop) &&
            floorDivision(inTile[i] + term.step[i], tile[i]) != term.crossing[i])
          return false;
      }
      const std::vector<std::vector<uint32_t>>& pieces = symbolic_.spaces[term.space].pieces;
      return std::any_of(pieces.begin(), pieces.end(), [&](const std::vector<uint32_t>& piece) {
        return std::all_of(piece.begin(), piece.end(),
                           [&](uint32_t each) { return holds(symbolic_.conditions[each], shifted); });
      });
    });
  }

  const Symbolic& symbolic_;
  const InstantiationOptions& options_;
};

/// The numbers of a set's iterations.
Point numbers(const isl::set& set, const Point& extents) {
  Point made;
  set.foreach_point([&](const isl::point& point) {
    int64_t number = 0;
    for (size_t i = 0; i < extents.size(); ++i)
      number = number * extents[i] +
               isl_val_get_num_si(
                   isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(i))).get());
    made.push_back(number);
  });
  return made;
}

/// Kernel after kernel as control flow has them, each choice by signals of its own.
Configuration configurationOf(const Symbolic& symbolic, const Result& result) {
  Configuration made;
  made.rows = result.rows;
  made.columns = result.columns;
  made.interval = symbolic.interval;
  made.extents = result.extents;
  const int64_t iterations =
      std::accumulate(made.extents.begin(), made.extents.end(), int64_t{1}, std::multiplies<int64_t>());
  for (int64_t row = 0; row < result.rows; ++row)
    for (int64_t column = 0; column < result.columns; ++column)
      made.regions.push_back(
          {{row, row + 1},
           {column, column + 1},
           static_cast<uint32_t>(result.classOf(static_cast<size_t>(row), static_cast<size_t>(column)))});
  for (const std::vector<UnitProgram>& units : result.programs) {
    ProcessorClass& processorClass = made.classes.emplace_back();
    for (const UnitProgram& unit : units) {
      Program& program = processorClass.programs.emplace_back();
      const auto position = [&](size_t kernel) {
        return static_cast<uint32_t>(kernel * static_cast<size_t>(made.interval));
      };
      for (size_t kernel = 0; kernel < unit.kernels.size(); ++kernel) {
        for (const Functional& each : unit.kernels[kernel].instructions)
          program.push_back({each, {}});
        std::vector<std::pair<uint32_t, Point>> ways;
        for (const Edge& edge : unit.edges)
          if (edge.from == kernel)
            ways.emplace_back(position(edge.to), numbers(edge.leaving, made.extents));
        const Point own = numbers(unit.kernels[kernel].iterations, made.extents);
        if (std::find(own.begin(), own.end(), iterations - 1) != own.end())
          ways.push_back({position(unit.kernels.size()), {iterations - 1}});
        Branch& branch = program.back().branch;
        branch.kind = ways.size() > 1 ? Branch::Kind::If : Branch::Kind::Goto;
        for (size_t bit = 0; ways.size() > size_t{1} << bit; ++bit) {
          branch.signals.push_back(static_cast<uint16_t>(made.signals.size()));
          Signal& signal = made.signals.emplace_back();
          for (size_t way = 0; way < ways.size(); ++way)
            for (const int64_t number : way >> bit & 1 ? ways[way].second : Point()) {
              Box box(made.extents.size());
              int64_t rest = number;
              for (size_t i = box.size(); i-- > 0; rest /= made.extents[i])
                box[i] = {rest % made.extents[i], rest % made.extents[i] + 1};
              signal.ones.push_back(box);
            }
        }
        for (size_t choice = 0; choice < size_t{1} << branch.signals.size(); ++choice)
          branch.targets.push_back(ways[choice < ways.size() ? choice : 0].first);
      }
      program.push_back({{}, {Branch::Kind::Halt, {}, {}}});
    }
  }
  return made;
}

TEST(ArrayOracle, RandomConfigurationsAgainstEveryIteration) {
  constexpr uint32_t units = 2;
  machine::ProcessorArray array;
  array.rows = array.columns = 4;
  array.units.push_back({"alu", units, {}, 64, {}});
  size_t several = 0, multidimensional = 0;
  for (uint64_t seed = 0; seed < byDay(6, 24); ++seed) {
    SCOPED_TRACE(seed);
    Generator generator(seed);
    const Symbolic symbolic = generator.symbolic(units);
    InstantiationOptions options;
    options.sizes = {generator.between(3, 9)};
    if (symbolic.rowLoop != Symbolic::none)
      options.rows = static_cast<uint32_t>(generator.between(1, 4));
    if (symbolic.columnLoop != Symbolic::none)
      options.columns = static_cast<uint32_t>(generator.between(1, 4));
    const Reference least(symbolic, options);
    for (const int64_t size : least.tile)
      options.tile.push_back(generator.between(0, 3) == 0 ? size + 1 : 0);
    const Reference reference(symbolic, options);

    const Result result = oracle::instantiate(symbolic, array, options);
    ASSERT_EQ(result.error, "");
    ASSERT_EQ(result.tile, reference.tile);
    const int64_t iterations =
        std::accumulate(result.extents.begin(), result.extents.end(), int64_t{1}, std::multiplies<int64_t>());
    std::vector<std::pair<std::vector<std::vector<Functional>>, size_t>> classes;
    for (uint32_t row = 0; row < result.rows; ++row)
      for (uint32_t column = 0; column < result.columns; ++column) {
        std::vector<std::vector<Functional>> all;
        const size_t processorClass = result.classOf(row, column);
        for (uint32_t unit = 0; unit < units; ++unit) {
          const UnitProgram& program = result.programs[processorClass][unit];
          std::vector<size_t> kernels(static_cast<size_t>(iterations) + 1, SIZE_MAX);
          for (size_t kernel = 0; kernel < program.kernels.size(); ++kernel)
            for (const int64_t number : numbers(program.kernels[kernel].iterations, result.extents))
              kernels[static_cast<size_t>(number)] = kernel;
          for (int64_t number = 0; number < iterations; ++number) {
            all.push_back(reference.kernel(row, column, unit, number));
            ASSERT_EQ(program.kernels[kernels[static_cast<size_t>(number)]].instructions, all.back());
          }
          // Nothing is lost after the end.
          for (int64_t number = iterations; number < iterations + 4; ++number)
            for (const Functional& each : reference.kernel(row, column, unit, number))
              ASSERT_EQ(each, Functional());
          for (const Edge& edge : program.edges)
            for (const int64_t number : numbers(edge.leaving, result.extents)) {
              ASSERT_EQ(kernels[static_cast<size_t>(number)], edge.from);
              ASSERT_EQ(kernels[static_cast<size_t>(number) + 1], edge.to);
            }
        }
        const auto known =
            std::find_if(classes.begin(), classes.end(), [&](const auto& each) { return each.first == all; });
        if (known == classes.end())
          classes.emplace_back(all, processorClass);
        else
          ASSERT_EQ(known->second, processorClass);
      }
    ASSERT_EQ(classes.size(), result.classes());
    several += result.classes() > 1;
    multidimensional += result.extents.size() > 1 && result.classes() > 1;

    // What it says, as a configuration, is right, and wrong after a change.
    Configuration made = configurationOf(symbolic, result);
    ASSERT_EQ(compare(symbolic, result, made), "");
    std::vector<Instruction*> instructions;
    for (ProcessorClass& each : made.classes)
      for (Program& program : each.programs)
        for (Instruction& instruction : program)
          if (instruction.functional.opcode != Opcode::Nop)
            instructions.push_back(&instruction);
    for (int change = 0; change < 3 && !instructions.empty(); ++change) {
      Instruction& changed =
          *instructions[static_cast<size_t>(generator.between(0, static_cast<int64_t>(instructions.size()) - 1))];
      const Instruction kept = changed;
      changed.functional.sources[0].immediate += 7;
      ASSERT_NE(compare(symbolic, result, made), "");
      changed = kept;
    }
    if (result.classes() > 1) {
      for (ClassRegion& each : made.regions)
        each.processorClass = (each.processorClass + 1) % static_cast<uint32_t>(result.classes());
      ASSERT_NE(compare(symbolic, result, made), "");
    }
  }
  EXPECT_GT(several, byDay(2, 12));
  EXPECT_GT(multidimensional, byDay(1, 8));
}

} // namespace
} // namespace strata::array::oracle
