// Programs against the symbolic configuration, iteration by iteration, for programs made by hand and for random ones.
#include "runtime/array/instantiate_test_support.h"

#include <algorithm>
#include <functional>
#include <random>

namespace strata::array::test {
namespace {

Configuration succeed(const Symbolic& symbolic, const machine::ProcessorArray& array,
                      const InstantiationOptions& options) {
  std::variant<Configuration, InstantiationError> result = instantiate(symbolic, array, options);
  if (const auto* error = std::get_if<InstantiationError>(&result)) {
    ADD_FAILURE() << error->message << "; " << error->help;
    return {};
  }
  return std::get<Configuration>(std::move(result));
}

TEST(Instantiate, BitsOnThreeElementsAreTheDocuments) {
  const Symbolic symbolic = bitExtraction();
  InstantiationOptions options;
  options.sizes = {16};
  options.columns = 3;
  const Configuration configuration = succeed(symbolic, testArray(1, 8), options);
  expectPrograms(symbolic, options, configuration);
  EXPECT_EQ(configuration.extents, (std::vector<int64_t>{7}));
  EXPECT_EQ(configuration.iterations, 16);
  EXPECT_EQ(configuration.classes.size(), 2u); // the last has four bits
  EXPECT_EQ(configuration.columnStart, 13);    // the sixth shift is written in cycle 12 and takes one more
  EXPECT_EQ(configuration.banks.size(), 4u);
}

TEST(Instantiate, ProductsHaveNineClassesAtMost) {
  const Symbolic symbolic = matrixProduct();
  machine::ProcessorArray array = testArray(4, 5);
  array.units[0].count = 4;
  for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{8, 10, 5}, {9, 7, 3}, {4, 5, 1}, {3, 11, 2}}) {
    InstantiationOptions options;
    options.sizes = sizes;
    options.rows = 4;
    options.columns = 5;
    const Configuration configuration = succeed(symbolic, array, options);
    expectPrograms(symbolic, options, configuration);
    EXPECT_LE(configuration.classes.size(), 9u);
  }
}

TEST(Instantiate, EqualInstructionsMakeNoClasses) {
  // v = 7 if i mod 2 == 0; v = 7 if not: in two instructions that differ in their iterations, and in what else is said.
  const auto classes = [](const std::function<void(SymbolicInstruction&)>& change) {
    Builder builder(1, {"N"}, 1);
    builder.loop(0, "i", size_t{0});
    builder.symbolic.columnLoop = 0;
    const Term even = builder.where(Kind::Divisible, builder.linear({1}, 0), 2);
    const Term odd = builder.where(Kind::NotDivisible, builder.linear({1}, 0), 2);
    const Register to = {Register::Kind::General, 0};
    builder.instruction("v", 0, 0, Opcode::Move, {even}, {to}, {{{}, 7}});
    change(builder.instruction("v", 0, 0, Opcode::Move, {odd}, {to}, {{{}, 7}}));
    InstantiationOptions options;
    options.sizes = {8};
    options.tile = {1};
    options.columns = 8;
    const Configuration configuration = succeed(builder.symbolic, testArray(1, 8), options);
    expectPrograms(builder.symbolic, options, configuration);
    return configuration.classes.size();
  };
  EXPECT_EQ(classes([](SymbolicInstruction&) {}), 1u);
  EXPECT_EQ(classes([](SymbolicInstruction& odd) { odd.operands[0][0].value.immediate = 8; }), 2u);
  EXPECT_EQ(classes([](SymbolicInstruction& odd) { odd.destinations[0].reg.index = 1; }), 2u);
  EXPECT_EQ(classes([](SymbolicInstruction& odd) { odd.opcode = Opcode::Negate; }), 2u);
  EXPECT_EQ(classes([](SymbolicInstruction& odd) { odd.operandType = Type::Int16; }), 2u);
  EXPECT_EQ(classes([](SymbolicInstruction& odd) { odd.unit = 1; }), 2u);
}

TEST(Instantiate, CostFollowsClassesAndNotElements) {
  const Symbolic symbolic = matrixProduct();
  machine::ProcessorArray array = testArray(1024, 1024);
  array.units[0].count = 4;
  std::vector<ProcessorClass> small;
  for (const uint32_t side : {32u, 1024u}) {
    InstantiationOptions options;
    options.sizes = {4 * side, 4 * side, 16};
    options.rows = options.columns = side;
    const auto result = instantiatePrograms(symbolic, array, options);
    ASSERT_TRUE(std::holds_alternative<Configuration>(result));
    const Configuration& configuration = std::get<Configuration>(result);
    EXPECT_EQ(configuration.classes.size(), 4u);
    EXPECT_LE(configuration.regions.size(), 9u);
    EXPECT_TRUE(small.empty() || small == configuration.classes);
    small = configuration.classes;
  }
}

TEST(Instantiate, WithoutIterationsThereIsNothingToDo) {
  InstantiationOptions options;
  options.sizes = {0};
  options.columns = 3;
  const Configuration configuration = succeed(bitExtraction(), testArray(1, 8), options);
  EXPECT_EQ(configuration.iterations, 0);
  EXPECT_EQ(configuration.classes, (std::vector<ProcessorClass>{{{{}, {}}}}));
  EXPECT_TRUE(configuration.banks.empty() && configuration.signals.empty());
}

TEST(Instantiate, KernelsAreSplitWhereBranchesHaveFewTargets) {
  // One kernel is followed by itself or, once in a while, by one of many others.
  for (const int64_t kinds : {2, 3, 5, 8}) {
    Builder builder(2, {"N"}, 1);
    builder.loop(0, "i", size_t{0});
    builder.loop(1, "j", int64_t{0}, 11);
    const Term all = builder.always();
    SymbolicInstruction& instruction =
        builder.instruction("x", 0, 0, Opcode::Move, {all}, {{Register::Kind::General, 0}}, {});
    std::vector<Source> sources;
    const uint32_t last = builder.condition(Kind::Zero, builder.linear({0, 1}, -11));
    for (int64_t i = 0; i < kinds; ++i) {
      const uint32_t turn = builder.condition(Kind::Divisible, builder.linear({1}, i), kinds);
      sources.push_back({{{}, static_cast<uint64_t>(i)}, {builder.in(builder.space({{last, turn}}))}});
    }
    sources.push_back({{{}, 99}, {builder.where(Kind::NotNegative, builder.linear({0, -1}, 10))}});
    instruction.operands = {sources};
    InstantiationOptions options;
    options.sizes = {40};
    std::vector<size_t> lengths;
    for (const uint64_t signals : {1, 2, 4}) {
      machine::ProcessorArray array = testArray(1, 1);
      array.branchSignals = signals;
      array.branchTargets = uint64_t{1} << signals;
      const Configuration configuration = succeed(builder.symbolic, array, options);
      expectPrograms(builder.symbolic, options, configuration);
      lengths.push_back(configuration.classes.at(0).programs[0].size());
    }
    EXPECT_LE(lengths[2], static_cast<size_t>(kinds) + 2); // a slot to halt in
    EXPECT_LE(lengths[0], static_cast<size_t>(3 * kinds)); // a tree of decisions in front of them
  }
}

// Random symbolic configurations. Conditions couple two loops at most.
class Random {
public:
  explicit Random(unsigned seed) : random_(seed) {}

  Symbolic symbolic() {
    const auto loops = static_cast<size_t>(number(1, 3));
    Builder builder(loops, {"N"}, number(1, 3));
    Symbolic& result = builder.symbolic;
    for (size_t l = 0; l < loops; ++l) {
      const int64_t lower = number(-2, 2);
      if (number(0, 2) == 0)
        result.loops[l] = {
            "l", {{builder.linear({}, 2 * lower), 2}}, {{builder.linear({}, lower, {1}), number(1, 2)}}, 1};
      else
        builder.loop(l, "l", lower, lower + number(0, loops == 1 ? 20 : 6));
    }
    std::vector<uint32_t> order = {0, 1, 2};
    std::ranges::shuffle(order, random_);
    if (order[0] < loops && number(0, 3) != 0)
      result.rowLoop = order[0];
    if (order[1] < loops && number(0, 3) != 0)
      result.columnLoop = order[1];
    for (uint32_t unit = 0; unit < 2; ++unit)
      for (int64_t slot = 0; slot < result.interval; ++slot)
        instructions(builder, unit, slot + result.interval * number(0, 3));
    return std::move(builder.symbolic);
  }

  InstantiationOptions options(const Symbolic& symbolic) {
    InstantiationOptions options;
    options.sizes = {number(4, 9)};
    options.rows = symbolic.rowLoop == Symbolic::none ? 1 : static_cast<uint32_t>(number(1, 4));
    options.columns = symbolic.columnLoop == Symbolic::none ? 1 : static_cast<uint32_t>(number(1, 4));
    options.corner = static_cast<machine::Corner>(number(0, 3));
    if (number(0, 1) == 0) {
      options.tile = tilesOf(symbolic, options).tile;
      for (size_t l = 0; l < options.tile.size(); ++l)
        if (l == symbolic.rowLoop || l == symbolic.columnLoop)
          options.tile[l] += number(0, 3);
    }
    return options;
  }

private:
  int64_t number(int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(random_); }

  /// A condition, and the pieces of its opposite.
  std::pair<uint32_t, std::vector<std::vector<uint32_t>>> condition(Builder& builder) {
    std::vector<int64_t> factors(builder.symbolic.loops.size(), 0);
    for (int i = 0; i < number(1, 2); ++i)
      factors[static_cast<size_t>(number(0, static_cast<int64_t>(factors.size()) - 1))] = number(-2, 2);
    Linear value = builder.linear(factors, number(-5, 5), {number(-1, 1)});
    Linear below = value, above = value; // -value - 1 and value - 1
    for (std::vector<int64_t>* list : {&below.loops, &below.parameters})
      for (int64_t& each : *list)
        each = -each;
    below.constant = -below.constant - 1;
    above.constant -= 1;
    const int64_t modulus = number(2, 4);
    switch (number(0, 3)) {
    case 0:
      return {builder.condition(Kind::Zero, value),
              {{builder.condition(Kind::NotNegative, below)}, {builder.condition(Kind::NotNegative, above)}}};
    case 1:
      return {builder.condition(Kind::Divisible, value, modulus),
              {{builder.condition(Kind::NotDivisible, value, modulus)}}};
    default:
      return {builder.condition(Kind::NotNegative, value), {{builder.condition(Kind::NotNegative, below)}}};
    }
  }

  /// A space and its complement.
  std::pair<Term, Term> halves(Builder& builder) {
    const auto [holds, fails] = condition(builder);
    Term first = builder.in(builder.space({{holds}})), second = builder.in(builder.space(fails));
    for (int64_t& shift : first.shift)
      shift = number(-1, 1);
    second.shift = first.shift;
    return {first, second};
  }

  std::vector<Term> terms(Builder& builder) {
    std::vector<Term> result;
    for (int64_t i = number(1, 2); i > 0; --i) {
      std::vector<std::vector<uint32_t>> pieces;
      for (int64_t p = number(1, 2); p > 0; --p) {
        pieces.emplace_back();
        for (int64_t c = number(0, 2); c > 0; --c)
          pieces.back().push_back(condition(builder).first);
      }
      Term term = builder.in(builder.space(pieces));
      if (number(0, 1) == 0)
        for (size_t l = 0; l < term.shift.size(); ++l) {
          term.step.push_back(number(-1, 1));
          const bool isDistributed = l == builder.symbolic.rowLoop || l == builder.symbolic.columnLoop;
          term.crossing.push_back(isDistributed ? number(-1, 1) : 0);
        }
      result.push_back(std::move(term));
    }
    return result;
  }

  /// One instruction, or two of which each iteration has one.
  void instructions(Builder& builder, uint32_t unit, int64_t offset) {
    const std::pair<Term, Term> both = halves(builder);
    for (const Term& when : {both.first, both.second}) {
      if (number(0, 2) == 0)
        continue;
      SymbolicInstruction& instruction =
          builder.instruction("x", unit, offset, number(0, 1) == 0 ? Opcode::Add : Opcode::Multiply, {when}, {}, {});
      for (int64_t d = number(1, 2); d > 0; --d)
        instruction.destinations.push_back(
            {{Register::Kind::General, static_cast<uint16_t>(number(0, 3))}, terms(builder)});
      for (int operand = 0; operand < 2; ++operand) {
        const std::pair<Term, Term> sources = halves(builder);
        instruction.operands.push_back({{{{}, static_cast<uint64_t>(number(0, 3))}, {sources.first}},
                                        {{{}, static_cast<uint64_t>(number(0, 3))}, {sources.second}}});
      }
    }
  }

  std::mt19937 random_;
};

TEST(Instantiate, RandomProgramsDoWhatTheSymbolicConfigurationSays) {
  int made = 0, tooLong = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Symbolic symbolic = random.symbolic();
    InstantiationOptions options = random.options(symbolic);
    machine::ProcessorArray array = testArray(4, 4);
    array.branchTargets = seed % 4 == 0 ? 3 + seed % 3 : 2;
    array.branchSignals = seed % 4 == 0 ? 2 : 1;
    const std::variant<Configuration, InstantiationError> result = instantiate(symbolic, array, options);
    options.threads = 3;
    const std::variant<Configuration, InstantiationError> parallel = instantiate(symbolic, array, options);
    if (const auto* error = std::get_if<InstantiationError>(&result)) {
      EXPECT_NE(error->message.find("branches of 2 targets"), std::string::npos) << error->message;
      EXPECT_EQ(error->message, std::get<InstantiationError>(parallel).message);
      ++tooLong;
      continue;
    }
    ++made;
    EXPECT_EQ(std::get<Configuration>(result), std::get<Configuration>(parallel));
    expectPrograms(symbolic, options, std::get<Configuration>(result));
    if (HasFatalFailure())
      return;
  }
  RecordProperty("tooLong", tooLong);
  EXPECT_GT(made, 300) << tooLong;
}

} // namespace
} // namespace strata::array::test
