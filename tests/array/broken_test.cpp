// Mappings of loop programs that are broken on purpose: one schedule, register, route, program and signal, each found
// by what verifies it and, as the same defect, by the simulator. Then changes at random: what the verifier of symbolic
// configurations lets pass has to run right.
#include "compiler/target/array/registers.h"
#include "compiler/target/array/reorder.h"
#include "compiler/target/array/routes.h"
#include "compiler/target/array/schedule.h"
#include "compiler/target/array/verify_meaning.h"
#include "runtime/array/by_day_testing.h"
#include "tests/array/attempt.h"
#include "tests/array/oracle.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

namespace strata::array {
namespace {

class Broken : public testing::Test {
protected:
  machine::ProcessorArray arrayOf(const std::string& name) {
    const Machine machine = *loadMachine(name, {STRATA_SOURCE_DIR "/machines"}, diagnostics);
    for (const machine::Processor& each : machine.processors)
      if (!each.array.empty())
        return each.array[0];
    return {};
  }
  /// A program of examples/pla, mapped.
  void take(const std::string& program) {
    std::ifstream file(STRATA_SOURCE_DIR "/examples/pla/" + program + "/" + program + ".pla");
    std::ostringstream text;
    text << file.rdbuf();
    std::string messages;
    graph = *graphOf(text.str(), program, messages);
    attempt = mapped(graph, array, {});
    ASSERT_EQ(attempt.end, Attempt::End::Right) << attempt.message;
    symbolic = *attempt.symbolic;
    std::vector<uint32_t> loops;
    for (const Loop& loop : symbolic.loops)
      loops.push_back(static_cast<uint32_t>(std::ranges::find(graph.iterators, loop.name) - graph.iterators.begin()));
    ordered = reordered(graph, {loops, std::vector<bool>(loops.size(), false)});
  }
  /// Runs the configuration that the changed symbolic one gives, or the changed one.
  Attempt run(const InstantiationOptions& options) {
    Attempt result;
    result.symbolic = symbolic;
    execute(result, graph, array, options, 1, false);
    return result;
  }
  void expectWrong(const Attempt& result, const std::string& said) {
    EXPECT_EQ(result.end, Attempt::End::Wrong);
    EXPECT_NE(result.message.find(said), std::string::npos) << result.message;
  }
  void expectBroken(const std::string& verdict, const std::string& said) {
    EXPECT_NE(verdict.find(said), std::string::npos) << "'" << verdict << "'";
  }
  static InstantiationOptions sized(std::vector<int64_t> sizes, uint32_t rows, uint32_t columns) {
    InstantiationOptions options;
    options.sizes = std::move(sizes);
    options.rows = rows;
    options.columns = columns;
    return options;
  }
  SymbolicInstruction& named(const std::string& name, Opcode opcode) {
    for (SymbolicInstruction& each : symbolic.instructions)
      if (each.name == name && each.opcode == opcode)
        return each;
    ADD_FAILURE() << "no instruction " << name;
    return symbolic.instructions[0];
  }
  int64_t intervalOf(const SymbolicInstruction& each) const {
    uint32_t first = 0;
    for (const machine::FunctionalUnit& unit : array.units) {
      if (each.unit < first + unit.count)
        for (const machine::Operation& operation : unit.operations)
          if (operation.name == name(each.opcode))
            return static_cast<int64_t>(operation.interval);
      first += static_cast<uint32_t>(unit.count);
    }
    return 1;
  }

  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  machine::ProcessorArray array = arrayOf("array-4x4");
  equations::Graph graph, ordered; // as it is written; with its loops in the order of the mapping
  Attempt attempt;
  Symbolic symbolic;
  const InstantiationOptions pipeline = sized({9, 5}, 3, 2);
};

TEST_F(Broken, Nothing) {
  take("pipeline");
  const Attempt result = run(pipeline);
  EXPECT_EQ(result.end, Attempt::End::Right) << result.message;
}

/// The problem of an instruction that reads what others of its iteration write in rd registers.
ScheduleProblem scheduleOf(const Symbolic& symbolic, const std::vector<int64_t>& busy, Schedule& schedule) {
  ScheduleProblem problem;
  schedule.interval = symbolic.interval;
  for (uint32_t i = 0; i < symbolic.instructions.size(); ++i) {
    const SymbolicInstruction& each = symbolic.instructions[i];
    problem.units.push_back({"unit", 1}); // one for each, what units share is not asked here
    problem.operations.push_back({each.name, {{i, busy[i], each.latency}}});
    schedule.slots.push_back({each.offset, 0, 0});
    for (const std::vector<Source>& operand : each.operands)
      for (const Source& source : operand)
        for (uint32_t j = 0; j < symbolic.instructions.size(); ++j)
          for (const Destination& destination : symbolic.instructions[j].destinations)
            if (source.value.source.kind == Register::Kind::General && destination.reg == source.value.source)
              problem.constraints.push_back({j, i, true, false, 0, 0});
  }
  return problem;
}

TEST_F(Broken, Schedule) {
  take("pipeline");
  const auto verdict = [&] {
    Schedule schedule;
    std::vector<int64_t> busy;
    for (const SymbolicInstruction& each : symbolic.instructions)
      busy.push_back(intervalOf(each));
    const ScheduleProblem problem = scheduleOf(symbolic, busy, schedule);
    return verify(problem, schedule);
  };
  EXPECT_EQ(verdict(), "");
  // The product is begun before its factors are there.
  SymbolicInstruction& product = named("value3", Opcode::Multiply);
  --product.offset;
  expectBroken(verdict(), "'value3' is at 0, 1 cycles too early");
  expectBroken(verify(symbolic, array).broken, "reads rd0, in which nothing has arrived in this iteration");
  expectWrong(run(pipeline), "is read before it is written");
}

TEST_F(Broken, Register) {
  take("pipeline");
  const auto verdict = [&] {
    RegisterProblem problem{symbolic.interval, static_cast<uint32_t>(array.registers.general), {}, {}};
    RegisterAllocation allocation;
    for (const SymbolicInstruction& each : symbolic.instructions)
      for (const Destination& destination : each.destinations)
        if (destination.reg.kind == Register::Kind::General) {
          problem.values.push_back({each.name, each.offset + each.latency, 1});
          allocation.registers.push_back(destination.reg.index);
          allocation.used = std::max<uint32_t>(allocation.used, destination.reg.index + 1u);
        }
    return verify(problem, allocation);
  };
  EXPECT_EQ(verdict(), "");
  // Both factors of the product in one register. The last register becomes the one that is free, so that none is left
  // out.
  const auto merge = [&](Register& reg) {
    if (reg.kind == Register::Kind::General)
      reg.index = reg.index == 0 ? 0 : static_cast<uint16_t>(reg.index - 1);
  };
  for (SymbolicInstruction& each : symbolic.instructions) {
    for (Destination& destination : each.destinations)
      merge(destination.reg);
    for (std::vector<Source>& operand : each.operands)
      for (Source& source : operand)
        merge(source.value.source);
  }
  expectBroken(verdict(), "values 'v' and 'w' are both alive in register 0");
  expectBroken(verify(symbolic, array).broken, "write rd0 at once");
  expectWrong(run(pipeline), "two values arrive at once in general register rd0");
}

TEST_F(Broken, Route) {
  take("pipeline");
  const auto verdict = [&] {
    RouteProblem problem{
        array.data, static_cast<uint32_t>(array.registers.input), static_cast<uint32_t>(array.registers.output), {}, 0,
        0};
    RouteAllocation allocation;
    for (const Channel& each : symbolic.channels) {
      problem.channels.push_back({"channel", each.rowStep, each.columnStep});
      allocation.paths.push_back(each.path);
      allocation.hops += each.path.size() / 2 - 1;
    }
    return verify(problem, allocation);
  };
  EXPECT_EQ(verdict(), "");
  // A channel of weights begins at the port of values, so that both are heard at both ends.
  std::vector<Channel>& channels = symbolic.channels;
  ASSERT_EQ(channels[0].rowStep, channels[3].rowStep);
  channels[3].path.front() = channels[0].path.front();
  expectBroken(verdict(), "port element0 is taken twice");
  expectBroken(verify(symbolic, array).broken, "channel 3 takes a port that is in a path already");
  EXPECT_EQ(run(pipeline).end, Attempt::End::Wrong) << run(pipeline).message;
  // One that leads to another neighbour.
  channels[3] = attempt.symbolic->channels[3];
  for (const size_t at : {size_t{1}, size_t{2}})
    channels[3].path[at].side = at == 1 ? machine::Side::East : machine::Side::West;
  expectBroken(verdict(), "leads 0 rows and 1 columns on, not 1 and 0");
  expectBroken(verify(symbolic, array).broken, "channel 3 ");
  EXPECT_EQ(run(pipeline).end, Attempt::End::Wrong) << run(pipeline).message;
}

class BrokenConfiguration : public Broken {
protected:
  /// What the second implementation says of the changed configuration, and the simulator.
  void expectBoth(const std::string& differs, const std::string& error) {
    expectBroken(oracle::compare(symbolic, array, pipeline, *attempt.configuration), differs);
    simulated(attempt, graph, array, pipeline.sizes, 1);
    expectWrong(attempt, error);
  }
  void SetUp() override {
    take("pipeline");
    execute(attempt, graph, array, pipeline, 1, true);
    ASSERT_EQ(attempt.end, Attempt::End::Right) << attempt.message;
  }
};

TEST_F(BrokenConfiguration, Program) {
  // The first sum of some class becomes a difference.
  for (ProcessorClass& each : attempt.configuration->classes)
    for (Program& program : each.programs)
      for (Instruction& instruction : program)
        if (instruction.functional.opcode == Opcode::Add) {
          instruction.functional.opcode = Opcode::Subtract;
          expectBoth("expected add", "output 'y' differs");
          return;
        }
  FAIL() << "no sum";
}

TEST_F(BrokenConfiguration, ProgramThatGoesElsewhere) {
  for (ProcessorClass& each : attempt.configuration->classes)
    for (Program& program : each.programs)
      for (Instruction& instruction : program)
        if (instruction.branch.kind == Branch::Kind::If &&
            instruction.branch.targets[0] != instruction.branch.targets[1]) {
          std::swap(instruction.branch.targets[0], instruction.branch.targets[1]);
          expectBoth("iteration", "cycle");
          return;
        }
  FAIL() << "no branch";
}

TEST_F(BrokenConfiguration, Signal) {
  // Each signal an iteration later.
  ASSERT_FALSE(attempt.configuration->signals.empty());
  for (size_t i = 0; i < attempt.configuration->signals.size(); ++i) {
    const Signal before = attempt.configuration->signals[i];
    for (Box& box : attempt.configuration->signals[i].ones) {
      ++box.back().first;
      ++box.back().end;
    }
    expectBoth("iteration", "");
    attempt.configuration->signals[i] = before;
  }
}

/// One change at random: times, units, where values go and come from, in which iterations, operations, constants,
/// conditions, elements.
class Mutation {
public:
  Mutation(Symbolic& symbolic, uint64_t seed) : symbolic_(symbolic), random_(seed) {}

  std::string make() {
    switch (below(20)) {
    case 0: {
      SymbolicInstruction& each = any(symbolic_.instructions);
      each.offset = std::max<int64_t>(0, each.offset + step());
      return "offset of " + each.name;
    }
    case 1: {
      SymbolicInstruction& each = any(symbolic_.instructions);
      each.unit = any(symbolic_.instructions).unit;
      return "unit of " + each.name;
    }
    case 2: {
      SymbolicInstruction& each = any(symbolic_.instructions);
      if (each.destinations.empty())
        return "";
      any(each.destinations).reg.index = static_cast<uint16_t>(below(6));
      return "destination of " + each.name;
    }
    case 3: {
      SymbolicInstruction& each = any(symbolic_.instructions);
      if (each.destinations.empty())
        return "";
      each.destinations.erase(each.destinations.begin() + static_cast<ptrdiff_t>(below(each.destinations.size())));
      return "no destination of " + each.name;
    }
    case 4: {
      Operand& value = any(any(any(symbolic_.instructions).operands)).value;
      if (value.source.kind == Register::Kind::None)
        return "";
      value.source.index = static_cast<uint16_t>(below(value.source.kind == Register::Kind::Flag ? 2 : 6));
      return "source";
    }
    case 5:
      return term(any(any(any(symbolic_.instructions).operands)).when) + " of a source";
    case 6: {
      SymbolicInstruction& each = any(symbolic_.instructions);
      return each.destinations.empty() ? "" : term(any(each.destinations).when) + " of a destination";
    }
    case 7:
      return term(any(symbolic_.accesses).when) + " of an access";
    case 8: {
      if (symbolic_.arrivals.empty())
        return "";
      any(symbolic_.arrivals).slack += step();
      return "slack of an arrival";
    }
    case 9: {
      if (symbolic_.fifos.empty())
        return "";
      Arrival& each = any(symbolic_.fifos).arrival;
      if (often())
        each.slack += step();
      else
        any(each.distance) += step();
      return "a FIFO";
    }
    case 10: {
      if (symbolic_.channels.empty())
        return "";
      Channel& each = any(symbolic_.channels);
      if (often()) {
        machine::Port& end = often() ? each.path.front() : each.path.back();
        end.index = static_cast<uint32_t>(below(6));
      } else {
        const uint32_t index = static_cast<uint32_t>(below(4));
        each.path[1].index = each.path[2].index = index;
      }
      return "a route";
    }
    case 11: {
      Access& each = any(symbolic_.accesses);
      each.offset = std::max<int64_t>(0, each.offset + step());
      return "offset of an access";
    }
    case 12: {
      Access& each = any(symbolic_.accesses);
      if (often())
        each.reg.index = static_cast<uint16_t>(below(6));
      else
        each.channel = Access::ownRoute;
      return "place of an access";
    }
    case 14: {
      SymbolicInstruction& each = any(symbolic_.instructions);
      each.opcode = any(symbolic_.instructions).opcode;
      return "operation of " + each.name;
    }
    case 15: {
      Operand& value = any(any(any(symbolic_.instructions).operands)).value;
      if (value.source.kind != Register::Kind::None)
        return "";
      value.immediate += static_cast<uint64_t>(step());
      return "a constant";
    }
    case 16: {
      Linear& value = any(symbolic_.conditions).value;
      (often() ? value.constant : any(value.loops)) += step();
      return "a condition";
    }
    case 17: {
      std::vector<Linear>& index = any(symbolic_.accesses).index;
      if (index.empty())
        return "";
      Linear& value = any(index);
      (often() ? value.constant : any(value.loops)) += step();
      return "an index";
    }
    case 18: {
      std::vector<std::vector<Source>>& operands = any(symbolic_.instructions).operands;
      if (operands.size() < 2)
        return "";
      std::swap(operands[0], operands[1]);
      return "operands";
    }
    case 13:
      symbolic_.interval = std::max<int64_t>(symbolic_.lowerBound, symbolic_.interval + step());
      return "interval";
    default: {
      SymbolicInstruction& each = any(symbolic_.instructions);
      return term(each.when) + " of " + each.name;
    }
    }
  }

  uint64_t below(uint64_t end) { return random_() % end; }

private:
  template <typename T>
  T& any(std::vector<T>& list) {
    return list[below(list.size())];
  }
  bool often() { return below(4) != 0; }
  int64_t step() {
    const auto size = static_cast<int64_t>(1 + below(2));
    return below(2) == 0 ? size : -size;
  }
  std::string term(std::vector<Term>& when) {
    Term& each = any(when);
    if (each.step.empty() || often()) {
      each.space = static_cast<uint32_t>(below(symbolic_.spaces.size()));
      return "iterations";
    }
    if (below(2) == 0) {
      any(each.step) += step();
      return "step";
    }
    int64_t& crossing = any(each.crossing);
    crossing = crossing == 0 ? 1 : 0;
    return "crossing";
  }

  Symbolic& symbolic_;
  std::mt19937_64 random_;
};

/// Sizes, a region and tiles at random.
InstantiationOptions anyRun(const equations::Graph& graph, const Symbolic& symbolic,
                            const machine::ProcessorArray& array, Mutation& random) {
  InstantiationOptions options;
  for (size_t tries = 0; tries < 100; ++tries) {
    options.sizes.clear();
    for (size_t i = 0; i < graph.parameters.size(); ++i)
      options.sizes.push_back(static_cast<int64_t>(1 + random.below(graph.iterators.size() > 2 ? 5 : 9)));
    if (areAllowed(graph, options.sizes))
      break;
  }
  const auto extent = [&](uint32_t loop, uint64_t most) {
    return loop == Symbolic::none ? 1 : static_cast<uint32_t>(1 + random.below(std::min<uint64_t>(most, 4)));
  };
  options.rows = extent(symbolic.rowLoop, array.rows);
  options.columns = extent(symbolic.columnLoop, array.columns);
  return options;
}

class Mutations : public Broken {
protected:
  /// How many changes were made; how many of them the verifier refused; how many of those ran wrong, and how many of
  /// the others ran at all.
  struct Counts {
    size_t made = 0, refused = 0, wrong = 0, ran = 0;
  };
  void mutate(uint64_t first, uint64_t count, Counts& counts) {
    for (uint64_t seed = first; seed < first + count; ++seed) {
      symbolic = *attempt.symbolic;
      Mutation mutation(symbolic, seed);
      const std::string what = mutation.make();
      if (symbolic == *attempt.symbolic || !validate(symbolic, array).empty())
        continue;
      ++counts.made;
      Verdict verdict = verify(symbolic, array);
      ASSERT_TRUE(verdict.isDecided);
      if (verdict.broken.empty())
        verdict = verifyMeaning(ordered, symbolic);
      const bool isRefused = !verdict.broken.empty() || !verdict.isDecided;
      counts.refused += isRefused;
      Attempt result;
      bool hasRun = false;
      for (size_t at = 0; at < 6 && result.end != Attempt::End::Wrong; ++at) {
        const InstantiationOptions options = anyRun(graph, symbolic, array, mutation);
        result.symbolic = symbolic;
        execute(result, graph, array, options, seed, false);
        hasRun |= result.end == Attempt::End::Right;
        if (!isRefused)
          EXPECT_NE(result.end, Attempt::End::Wrong)
              << graph.name << ", seed " << seed << ", " << what << ": " << result.message;
      }
      counts.wrong += isRefused && result.end == Attempt::End::Wrong;
      counts.ran += !isRefused && hasRun;
      if (std::getenv("STRATA_MUTATIONS"))
        std::cout << graph.name << " " << seed << ", " << what << ": " << (isRefused ? verdict.broken : "accepted")
                  << " / "
                  << (result.end == Attempt::End::Wrong ? result.message
                      : hasRun                          ? "right"
                                                        : "does not run")
                  << "\n";
    }
  }
};

TEST_F(Mutations, WhatTheVerifierLetsPassRunsRight) {
  const char* asked = std::getenv("STRATA_MUTATIONS"); // of each program; each is told then
  const uint64_t count = asked ? std::strtoull(asked, nullptr, 10) : byDay(25, 100);
  Counts counts;
  for (const char* program : {"pipeline", "iir", "matvec", "systolic", "seidel"}) {
    take(program);
    mutate(1, count, counts);
  }
  std::cout << counts.made << " mutations, " << counts.refused << " refused, of which " << counts.wrong
            << " run wrong for sizes that were tried; " << counts.ran << " others run right\n";
  EXPECT_GE(counts.made, 2 * count);
  EXPECT_GE(5 * counts.ran, count);
  EXPECT_GE(counts.wrong, counts.refused / 2); // else the verifier would refuse what works
}

} // namespace
} // namespace strata::array
