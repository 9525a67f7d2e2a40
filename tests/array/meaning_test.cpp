// Whether a symbolic configuration computes what its program says: mappings of programs whose operations an array has
// and has not, and the same with one thing changed, each with what is said of it.
#include "compiler/target/array/verify_meaning.h"
#include "tests/array/attempt.h"

#include <gtest/gtest.h>

#include <functional>

namespace strata::array {
namespace {

class Meaning : public testing::Test {
protected:
  Meaning() {
    const Machine machine = *loadMachine("array-4x4", {STRATA_SOURCE_DIR "/machines"}, diagnostics);
    for (const machine::Processor& each : machine.processors)
      if (!each.array.empty())
        array = each.array[0];
  }
  /// Maps a program of one loop, which stays as it is.
  void take(const std::string& text) {
    std::string messages;
    const std::optional<equations::Graph> made = graphOf(text, "test", messages);
    ASSERT_TRUE(made) << messages;
    graph = *made;
    const Attempt attempt = mapped(graph, array, {});
    ASSERT_EQ(attempt.end, Attempt::End::Right) << attempt.message;
    right = *attempt.symbolic;
  }
  using Change = std::function<void(Symbolic&)>;
  void expect(const Change& change, const std::string& said) {
    Symbolic symbolic = right;
    change(symbolic);
    EXPECT_FALSE(symbolic == right && !said.empty());
    const Verdict verdict = verifyMeaning(graph, symbolic);
    EXPECT_TRUE(verdict.isDecided);
    EXPECT_NE(verdict.broken.find(said), std::string::npos) << "'" << verdict.broken << "' and not '" << said << "'";
    EXPECT_EQ(verdict.broken.empty(), said.empty()) << verdict.broken;
  }
  static SymbolicInstruction& the(Symbolic& symbolic, Opcode opcode) {
    const auto found = std::ranges::find(symbolic.instructions, opcode, &SymbolicInstruction::opcode);
    EXPECT_NE(found, symbolic.instructions.end());
    return found == symbolic.instructions.end() ? symbolic.instructions[0] : *found;
  }
  bool has(Opcode opcode) const {
    return std::ranges::find(right.instructions, opcode, &SymbolicInstruction::opcode) != right.instructions.end();
  }

  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  machine::ProcessorArray array;
  equations::Graph graph;
  Symbolic right;
};

// What `v` computes is `w`, too, but not in all iterations, although the sum takes all.
TEST_F(Meaning, CopiesInSomeIterations) {
  take(R"(parameter N, M >= 1;
input a: int32[N, M];
output s: int32[M];
variable v, w: int32;
for i, j where 0 <= i < N and 0 <= j < M {
  v[i, j] = a[i, j] + a[i, j];
  w[i, j] = v[i, j] if i >= 2 and j >= 1;
  w[i, j] = v[i, j] * (-5) if i < 2 or j < 1;
  s[j] = sum[i](w[i, j]);
}
)");
  expect([](Symbolic&) {}, "");
}

constexpr const char* operations = R"(parameter N >= 1;
input a, b: int32[N];
output low, high, size, less, other: int32[N];
for i where 0 <= i < N {
  low[i] = min(a[i], b[i]);
  high[i] = max(a[i], b[i]);
  size[i] = abs(a[i]);
  less[i] = -a[i];
  other[i] = ~a[i];
}
)";

TEST_F(Meaning, OperationsThatTheArrayHas) {
  take(operations);
  EXPECT_TRUE(has(Opcode::Minimum) && has(Opcode::Absolute) && has(Opcode::Negate));
  expect([](Symbolic& made) { the(made, Opcode::Minimum).opcode = Opcode::Maximum; },
         "has another operation than the program (as in i = 0 for N = 1)");
  expect([](Symbolic& made) { the(made, Opcode::Absolute).type = Type::Uint32; }, "has another operation or type");
  expect(
      [](Symbolic& made) { std::swap(the(made, Opcode::Maximum).operands[0], the(made, Opcode::Maximum).operands[1]); },
      "an element of 'b' is taken for another one of 'a'");
}

TEST_F(Meaning, OperationsThatTheArrayHasNot) {
  for (machine::FunctionalUnit& unit : array.units)
    std::erase_if(unit.operations, [](const machine::Operation& each) {
      return each.name == "min" || each.name == "max" || each.name == "abs" || each.name == "neg" || each.name == "not";
    });
  take(operations);
  EXPECT_FALSE(has(Opcode::Minimum) || has(Opcode::Absolute) || has(Opcode::Negate) || has(Opcode::Not));
  expect([](Symbolic&) {}, "");
  expect([](Symbolic& made) { the(made, Opcode::Select).opcode = Opcode::Add; }, "has another operation");
  expect(
      [](Symbolic& made) { std::swap(the(made, Opcode::Select).operands[1], the(made, Opcode::Select).operands[2]); },
      "is taken for another one of");
  expect([](Symbolic& made) { std::swap(the(made, Opcode::Less).operands[0], the(made, Opcode::Less).operands[1]); },
         "is taken for another one of");
  expect([](Symbolic& made) { the(made, Opcode::Less).operandType = Type::Uint32; }, "has another operation or type");
  expect([](Symbolic& made) { the(made, Opcode::Xor).operands[1][0].value.immediate ^= 1; },
         "a constant is taken for another one");
  expect([](Symbolic& made) { the(made, Opcode::Subtract).operands[0][0].value.immediate = 1; },
         "a constant is taken for another one");
}

TEST_F(Meaning, ValuesOfOtherIterations) {
  take(R"(parameter N >= 1;
input a: float[N];
output b: float[N];
variable all, twice: float;
for i where 0 <= i < N {
  twice[i] = a[i] * 2;
  all[i] = 0.0 + twice[i]        if i == 0;
  all[i] = all[i - 1] + twice[i] if i > 0;
  b[i] = all[i];
}
)");
  expect([](Symbolic&) {}, "");
  expect([](Symbolic& made) { the(made, Opcode::Multiply).operands[1][0].value.immediate += 1; },
         "a constant is taken for another one (as in i = 0 for N = 1)");
  const auto access = [](Symbolic& made, bool isOutput) -> Access& {
    return *std::ranges::find(made.accesses, isOutput, &Access::isOutput);
  };
  expect([&](Symbolic& made) { access(made, false).index[0].constant = 1; },
         "an element of 'a' is taken for another one of 'a' (as in i = 0 for N = 1)");
  expect([&](Symbolic& made) { access(made, false).index[0].loops[0] = -1; }, "is taken for another one of 'a' (as in");
  expect([&](Symbolic& made) { access(made, true).index[0].constant = -1; },
         "no access writes 'b' (as in i = 0 for N = 1)");
  expect(
      [&](Symbolic& made) {
        made.accesses.erase(made.accesses.begin() + (&access(made, true) - made.accesses.data()));
      },
      "no access writes 'b'");
  expect(
      [&](Symbolic& made) {
        for (Fifo& each : made.fifos)
          each.arrival.distance[0] = 2;
      },
      "is taken for 'all' (as in i = ");
  // Where the sum begins, an iteration later.
  expect(
      [](Symbolic& made) {
        for (Condition& each : made.conditions)
          if (each.kind == Condition::Kind::Zero)
            each.value.constant -= 1;
      },
      "(as in i = ");
}

TEST_F(Meaning, ProgramsOfAnotherShape) {
  take("parameter N >= 1;\ninput a: float[N];\noutput b: float[N];\nfor i where 0 <= i < N { b[i] = a[i]; }\n");
  expect([](Symbolic&) {}, "");
  graph.iterators.push_back("j");
  expect([](Symbolic& made) { made.program = "other"; }, "a program of other loops, inputs or outputs");
}

} // namespace
} // namespace strata::array
