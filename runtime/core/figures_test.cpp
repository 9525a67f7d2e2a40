// Counters and traces.
#include "runtime/core/testing.h"
#include "runtime/core/trace.h"

#include <fstream>
#include <sstream>
#include <string>

namespace strata::runtime {
namespace {

using Figures = WithThreads;
STRATA_WITH_THREADS(Figures);

const StrataProcessor processors[] = {processorOf("lane \"a\"", 8, 2)};
const StrataMachine machine = machineOf("simd", nullptr, processors, 0, 1);

TEST_P(Figures, CountersAddUpByNameOverThreads) {
  static const char moved[] = "bytes moved", movedToo[] = "bytes moved", runs[] = "kernel runs";
  resetCounters();
  spmd(1000, false, [](int64_t i) {
    strata_count(i % 2 ? moved : movedToo, i);
    strata_count(runs, 1);
  });
  EXPECT_EQ(counters(), (std::map<std::string, int64_t>{{"bytes moved", 499500}, {"kernel runs", 1000}}));
  resetCounters();
  EXPECT_TRUE(counters().empty());
}

TEST_P(Figures, ManyCountersFit) {
  static std::vector<std::string> names;
  if (names.empty())
    for (int i = 0; i < 500; ++i)
      names.push_back("counter " + std::to_string(i));
  resetCounters();
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 500; ++i)
      strata_count(names[i].c_str(), i);
  const auto totals = counters();
  EXPECT_EQ(totals.size(), 499u);
  EXPECT_EQ(totals.at("counter 499"), 3 * 499);
  resetCounters();
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_P(Figures, SpansCarryProcessorAndInstance) {
  clearTrace();
  strata_machine(&machine);
  strata_trace_begin("program");
  spmd(
      4, true,
      [](int64_t) {
        strata_trace_begin("outer");
        strata_trace_begin("inner");
        strata_barrier(); // the spans outlive a change of fibre
        strata_trace_end();
        strata_trace_end();
      },
      0);
  strata_trace_end();
  strata_trace_end(); // one too many is ignored
  const std::string path = ::testing::TempDir() + "trace.json";
  ASSERT_TRUE(writeTrace(path));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string json = text.str();
  EXPECT_EQ(occurrences(json, "\"name\":\"outer\""), 4u);
  EXPECT_EQ(occurrences(json, "\"name\":\"inner\""), 4u);
  EXPECT_EQ(occurrences(json, "\"args\":{\"name\":\"lane \\\"a\\\"\"}"), 1u);
  // Four parts of eight processors: each has two, of which it is the first. (Who of them waits at the barrier is
  // chance.)
  for (const char* span : {"outer", "inner"})
    EXPECT_EQ(occurrences(json, std::string("\"cat\":\"run\",\"name\":\"") + span + "\",\"pid\":2,\"tid\":6,"), 1u)
        << json;
  EXPECT_EQ(occurrences(json, "\"name\":\"program\",\"pid\":1,\"tid\":0,\"ts\":0.000"), 1u) << json;
  clearTrace();
  EXPECT_EQ(occurrences(traceJson(), "\"ph\":\"X\""), 0u);
  EXPECT_FALSE(writeTrace("/nowhere/trace.json"));
}

TEST_P(Figures, SpansAndMessagesOfOtherProcessesAreShown) {
  clearTrace();
  strata_machine(&machine);
  spmd(1, false, [](int64_t) {
    strata_trace_begin("here");
    strata_trace_end();
  });
  EXPECT_EQ(occurrences(traceJson(), "\"process\":"), 0u) << "one process has no number";
  const int64_t now = traceClock();
  Span there{Span::Run, "there", machine.processors[0].name, 3, now, now + 1000};
  there.rank = 1;
  Span move{Span::Move, "x", machine.processors[0].name, 3, now, now + 500, nullptr, nullptr, 64};
  move.rank = 1;
  addSpans({there, move}, {{"begin", nullptr, 0, now - 100, machine.processors[0].name, 3, now},
                           {"end", machine.processors[0].name, 3, now + 1000, "nobody", 0, now + 1200}});
  const std::string json = traceJson("\"processes\":[]");
  EXPECT_EQ(occurrences(json, "\"name\":\"there\""), 1u);
  EXPECT_EQ(occurrences(json, "\"args\":{\"process\":1}"), 1u);
  EXPECT_EQ(occurrences(json, "\"args\":{\"process\":1,\"bytes\":64,"), 1u);
  EXPECT_GE(occurrences(json, "\"args\":{\"process\":0}"), 1u);
  EXPECT_EQ(occurrences(json, "{\"ph\":\"s\",\"cat\":\"message\""), 2u);
  EXPECT_EQ(occurrences(json, "{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"message\""), 2u);
  EXPECT_EQ(occurrences(json, "\n],\"processes\":[],\n\"displayTimeUnit\""), 1u);
  clearTrace();
  EXPECT_EQ(occurrences(traceJson(), "\"ph\":\"s\""), 0u);
}

TEST_P(Figures, SpansOfOneNameAddUp) {
  spmd(1, false, [&](int64_t) {
    for (int64_t instances : {3, -1, 4}) {
      strata_trace_begin_instances("node", instances);
      strata_trace_begin("node/inner");
      strata_trace_end();
      strata_trace_end();
    }
    strata_trace_wait_begin("node");
    strata_trace_end();
  });
  const auto totals = spanTotals();
  ASSERT_TRUE(totals.contains("node") && totals.contains("node/inner"));
  EXPECT_EQ(totals.at("node").runs, 3);
  EXPECT_EQ(totals.at("node").instances, 7);
  EXPECT_EQ(totals.at("node/inner").runs, 3);
  EXPECT_EQ(totals.at("node/inner").instances, 0);
  EXPECT_GE(totals.at("node").nanoseconds, totals.at("node/inner").nanoseconds);
  clearTrace();
}

} // namespace
} // namespace strata::runtime
