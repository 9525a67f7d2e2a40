// Traces are compared with what the simulator told while they were written: events, configurations, figures.
#include "runtime/array/simulate_test_support.h"
#include "runtime/array/trace.h"

#include <bit>
#include <limits>
#include <random>

namespace strata::array::test {
namespace {

class Traces : public Simulated {
protected:
  std::string bytes;
  std::vector<std::vector<TraceEvent>> told; // by run, in the order of traces

  /// Of the present configuration, so many runs.
  void record(size_t runs) {
    bytes.clear();
    TraceWriter writer([this](std::string_view piece) { return bytes.append(piece), true; }, "three", array);
    for (size_t run = 0; run < runs; ++run) {
      in = static_cast<uint32_t>(0xB5C3 + run * 0x12345);
      told.emplace_back();
      writer.beginRun({0, 0, static_cast<int64_t>(1000 * run)}, configuration);
      options.trace = [&](const TraceEvent& event) {
        told.back().push_back(event);
        writer.add(event);
      };
      expectRight();
      writer.endRun(statistics);
      std::ranges::sort(told.back(), {}, [](const TraceEvent& each) {
        return std::tuple(each.cycle, each.row, each.column, each.unit);
      });
    }
    EXPECT_TRUE(writer.finish());
  }

  TraceReader opened() const {
    auto reader = TraceReader::open(bytes);
    if (const auto* error = std::get_if<FileError>(&reader))
      throw std::runtime_error(print(*error));
    return std::get<TraceReader>(std::move(reader));
  }
};

std::vector<TraceEvent> eventsOf(const TraceReader& reader, size_t run, int64_t first = 0,
                                 int64_t last = std::numeric_limits<int64_t>::max()) {
  std::vector<TraceEvent> result;
  const auto configuration = reader.configuration(run);
  const auto error = reader.events(run, std::get<Configuration>(configuration), first, last,
                                   [&](const TraceEvent& event) { return result.push_back(event), true; });
  EXPECT_FALSE(error) << print(*error);
  return result;
}

void expectSame(const std::vector<TraceEvent>& found, const std::vector<TraceEvent>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::tie(found[i].cycle, found[i].row, found[i].column, found[i].unit, found[i].position),
              std::tie(expected[i].cycle, expected[i].row, expected[i].column, expected[i].unit, expected[i].position));
    EXPECT_EQ(found[i].operands, expected[i].operands) << i;
    EXPECT_EQ(found[i].result, expected[i].result) << i;
  }
}

TEST_F(Traces, HoldWhatTheSimulatorTold) {
  record(3);
  const TraceReader reader = opened();
  EXPECT_EQ(reader.machine(), "three");
  EXPECT_EQ(reader.array(), array);
  ASSERT_EQ(reader.runs().size(), 3u);
  for (size_t run = 0; run < 3; ++run) {
    const TraceRun& each = reader.runs()[run];
    EXPECT_EQ(each.place, (TracePlace{0, 0, static_cast<int64_t>(1000 * run)}));
    EXPECT_EQ(each.program, configuration.program);
    EXPECT_EQ(each.columns, 3u);
    EXPECT_EQ(each.events, told[run].size());
    EXPECT_EQ(each.statistics.cycles, statistics.cycles);
    EXPECT_EQ(each.statistics.unitOperations, statistics.unitOperations);
    EXPECT_EQ(each.statistics.wordsOut, statistics.wordsOut);
    const auto read = reader.configuration(run);
    ASSERT_TRUE(std::holds_alternative<Configuration>(read)) << print(std::get<FileError>(read));
    EXPECT_EQ(std::get<Configuration>(read), configuration);
    expectSame(eventsOf(reader, run), told[run]);
  }
}

TEST_F(Traces, RangesOfCycles) {
  record(1);
  const TraceReader reader = opened();
  for (int64_t first = 0; first < 40; first += 3)
    for (int64_t last = first; last < 40; last += 5) {
      std::vector<TraceEvent> expected;
      for (const TraceEvent& event : told[0])
        if (event.cycle >= first && event.cycle <= last)
          expected.push_back(event);
      expectSame(eventsOf(reader, 0, first, last), expected);
    }
  size_t seen = 0;
  EXPECT_FALSE(reader.events(0, configuration, 0, 100, [&](const TraceEvent&) { return ++seen < 3; }));
  EXPECT_EQ(seen, 3u);
}

TEST_F(Traces, RunsThatFail) {
  disconnect(configuration.data, 1, {machine::Side::West, 0}, {machine::Side::Element, 0});
  TraceWriter writer([this](std::string_view piece) { return bytes.append(piece), true; }, "three", array);
  told.emplace_back();
  options.trace = [&](const TraceEvent& event) {
    told[0].push_back(event);
    writer.add(event);
  };
  writer.beginRun({}, configuration);
  const std::optional<SimulationError> error = simulate();
  ASSERT_TRUE(error);
  writer.failRun(statistics, *error);
  // One whose text is longer than what is read.
  writer.beginRun({}, configuration);
  writer.failRun({}, {std::string(5000, 'x')});
  EXPECT_TRUE(writer.finish());
  const TraceReader reader = opened();
  ASSERT_EQ(reader.runs().size(), 2u);
  const TraceRun& run = reader.runs()[0];
  EXPECT_EQ(run.failure, error);
  EXPECT_GT(run.failure->cycle, 0);
  EXPECT_EQ(run.failure->column, 0); // what it sends goes nowhere
  EXPECT_EQ(run.statistics.cycles, error->cycle + 1);
  EXPECT_EQ(run.events, told[0].size());
  EXPECT_GT(run.events, 10u);
  std::ranges::sort(told[0], {},
                    [](const TraceEvent& each) { return std::tuple(each.cycle, each.row, each.column, each.unit); });
  expectSame(eventsOf(reader, 0), told[0]);
  EXPECT_EQ(reader.runs()[1].failure->message, std::string(4096, 'x'));
  EXPECT_EQ(reader.runs()[1].failure->row, -1);
}

TEST_F(Traces, AFailureIsInAnElementOrInNone) {
  for (const auto& [row, column] : {std::pair(0, 3), std::pair(1, 0), std::pair(-1, 0), std::pair(-2, -2)}) {
    bytes.clear();
    TraceWriter writer([this](std::string_view piece) { return bytes.append(piece), true; }, "three", array);
    writer.beginRun({}, configuration);
    writer.failRun({}, {"why", false, 1, false, row, column});
    EXPECT_TRUE(writer.finish());
    const auto reader = TraceReader::open(bytes);
    ASSERT_TRUE(std::holds_alternative<FileError>(reader));
    EXPECT_NE(std::get<FileError>(reader).message.find("which there is not"), std::string::npos);
  }
}

TEST_F(Traces, AnyValueOfAnyType) {
  std::mt19937_64 random(3);
  const Type all[] = {Type::Bool,   Type::Int8,   Type::Int16,  Type::Int32,   Type::Int64,  Type::Uint8,
                      Type::Uint16, Type::Uint32, Type::Uint64, Type::Float32, Type::Float64};
  array.word = 8;
  Program program;
  for (const Type type : all) {
    program.push_back({{Opcode::Move, type, type, {general(0)}, {from(general(1))}}, {}});
    program.push_back({{Opcode::Equal, type, type, {general(0)}, {from(general(1)), from(general(2))}}, {}});
    program.push_back(
        {{Opcode::Select, type, type, {general(0)}, {from(general(1)), from(general(2)), number(7)}}, {}});
    program.push_back(
        {{Opcode::MultiplyAdd, type, type, {general(0)}, {from(general(1)), from(general(1)), from(general(2))}}, {}});
  }
  array.units[0].instructions = program.size();
  program.back().branch = halt();
  configuration = alone(array, program);
  TraceWriter writer([this](std::string_view piece) { return bytes.append(piece), true; }, "m", array);
  writer.beginRun({}, configuration);
  told.emplace_back();
  // Enough for several records.
  for (int64_t cycle = 0; cycle < 20000; ++cycle) {
    TraceEvent event;
    event.cycle = 3 * cycle;
    event.position = static_cast<uint32_t>(random() % program.size());
    const Functional& f = program[event.position].functional;
    const auto any = [&] {
      return random() % 3 == 0 ? random() : random() % 2 == 0 ? random() >> (random() % 64) : ~uint64_t{0};
    };
    for (size_t k = 0; k < f.sources.size(); ++k)
      event.operands[k] = f.sources[k].source.kind == Register::Kind::None ? 7 : any();
    if (f.opcode == Opcode::MultiplyAdd)
      event.operands[1] = event.operands[0];
    event.result = any();
    told[0].push_back(event);
    writer.add(event);
  }
  writer.endRun({});
  EXPECT_TRUE(writer.finish());
  const TraceReader reader = opened();
  expectSame(eventsOf(reader, 0), told[0]);
  expectSame(eventsOf(reader, 0, 3 * 15000, 3 * 15000 + 5), {told[0][15000], told[0][15001]});
}

TEST_F(Traces, AreSmall) {
  record(1);
  const size_t one = bytes.size();
  record(2);
  // 47 events in 27 cycles, their values of 16 bits.
  EXPECT_LT(bytes.size() - one, 1200u);
}

TEST_F(Traces, AWriterStopsWhereItsSinkDoes) {
  size_t pieces = 0;
  TraceWriter writer([&](std::string_view) { return ++pieces < 3; }, "m", array);
  writer.beginRun({}, configuration);
  options.trace = [&](const TraceEvent& event) { writer.add(event); };
  expectRight();
  writer.endRun(statistics);
  EXPECT_FALSE(writer.finish());
  EXPECT_EQ(pieces, 3u);
}

TEST_F(Traces, ReadAsTextByPeople) {
  record(1);
  const TraceText text(array, configuration);
  EXPECT_EQ(text(told[0][0]), "(0, 0) alu0 0: move id0 -> rd0: 46531 -> 46531");
  EXPECT_EQ(text(told[0][1]), "(0, 0) alu1 1: shri rd0, 1 -> rd1: 46531, 1 -> 23265");
  EXPECT_EQ(print(std::bit_cast<uint32_t>(0.1f), Type::Float32), "0.1");
  EXPECT_EQ(print(std::bit_cast<uint64_t>(-2.5), Type::Float64), "-2.5");
  EXPECT_EQ(print(~uint64_t{0}, Type::Int8), "-1");
  EXPECT_EQ(print(255, Type::Uint8), "255");
  EXPECT_EQ(print(1, Type::Bool), "true");
}

} // namespace
} // namespace strata::array::test
