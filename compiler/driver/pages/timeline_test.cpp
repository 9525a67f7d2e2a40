// Traces read, the shares that follow from them, and what is no trace.
#include "compiler/driver/pages/timeline.h"

#include <gtest/gtest.h>

using namespace strata;
using namespace strata::driver;

namespace {

struct TimelineTest : testing::Test {
  SourceManager sources;
  strata::DiagnosticEngine diagnostics{sources};
  int count = 0;

  std::optional<Timeline> read(const std::string& text) {
    return readTrace(sources.add("run" + std::to_string(++count) + ".json", text, SourceKind::Data), diagnostics);
  }
  std::string code() const { return diagnostics.all().empty() ? "" : std::string(diagnostics.all().back().kind->code); }
};

std::string process(int number, const std::string& name) {
  return R"({"ph":"M","name":"process_name","pid":)" + std::to_string(number) + R"(,"tid":0,"args":{"name":")" + name +
         "\"}},";
}

std::string span(const std::string& kind, int process, int thread, double start, double length,
                 const std::string& rest = "") {
  return R"({"ph":"X","cat":")" + kind + R"(","name":"a <b>","pid":)" + std::to_string(process) +
         ",\"tid\":" + std::to_string(thread) + ",\"ts\":" + std::to_string(start) +
         ",\"dur\":" + std::to_string(length) + rest + "}";
}

TEST_F(TimelineTest, ProcessorsComeWithTheirMoves) {
  const std::string way = R"(,"args":{"bytes":1024,"way":"main -> ls","instance":1})";
  auto timeline = read("{\"traceEvents\":[" + process(1, "spe") + process(2, "spe moves") + process(3, "caller") +
                       span("run", 1, 1, 100, 40) + "," + span("wait", 1, 1, 140, 10) + "," +
                       span("run", 1, 0, 100, 5) + "," + span("move", 2, 64, 120, 40, way) + "," +
                       span("move", 2, 65, 130, 40, way) + "," + span("wait", 3, 0, 100, 100) + "]}");
  ASSERT_TRUE(timeline) << diagnostics.render({});
  std::vector<std::string> names;
  for (const TimelineRow& row : timeline->rows)
    names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"caller", "spe 0", "spe 1", "moves 1", "moves 2"}));
  EXPECT_EQ(timeline->length, 100);
  EXPECT_EQ(timeline->rows[3].spans[0].start, 20);
  auto shares = sharesOf(*timeline);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_DOUBLE_EQ(shares[0].waiting, 1);
  EXPECT_DOUBLE_EQ(shares[2].running, .4);
  EXPECT_DOUBLE_EQ(shares[2].waiting, .1);
  EXPECT_DOUBLE_EQ(shares[2].moving, .5);
  EXPECT_DOUBLE_EQ(shares[2].hidden, .2);
  EXPECT_EQ(shares[2].bytes, 2048);
  EXPECT_EQ(shares[2].moves, 2u);
}

TEST_F(TimelineTest, ProcessesTheirMessagesAndWhatGoesBetweenThem) {
  const auto end = [](const char* phase, int id, int process, int thread, double time) {
    return std::string(R"({"ph":")") + phase + R"(","cat":"message","name":"begin","id":)" + std::to_string(id) +
           ",\"pid\":" + std::to_string(process) + ",\"tid\":" + std::to_string(thread) +
           ",\"ts\":" + std::to_string(time) + "}";
  };
  const auto in = [](int process) { return ",\"args\":{\"process\":" + std::to_string(process) + "}"; };
  auto timeline = read(
      "{\"traceEvents\":[" + process(1, "caller") + process(2, "rank") + span("wait", 1, 0, 100, 50, in(0)) + "," +
      span("run", 2, 0, 100, 20, in(0)) + "," + span("run", 2, 4, 110, 20, in(1)) + "," + end("s", 0, 1, 0, 101) + "," +
      end("f", 0, 2, 4, 109) + "," + end("s", 1, 2, 4, 131) + "," + end("f", 1, 1, 0, 140) + "," +
      end("s", 2, 2, 4, 131) + "," + end("f", 3, 7, 0, 1) + "," + end("f", 4, 2, 9, 1) + "," + end("s", 4, 2, 0, 1) +
      "]," + R"("processes":[{"from":0,"to":1,"bytes":1500,"copies":2,"messages":3},{"from":1,"to":0,"bytes":60},)" +
      R"({"from":-1,"to":0},{"from":0,"to":99999},7,{}]})");
  ASSERT_TRUE(timeline) << diagnostics.render({});
  std::vector<std::string> names;
  for (const TimelineRow& row : timeline->rows)
    names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"caller (process 0)", "rank 0 (process 0)", "rank 4 (process 1)"}));
  ASSERT_EQ(timeline->arrows.size(), 2u) << "of the others an end is missing, or its row";
  EXPECT_EQ(timeline->arrows[0].from, 0u);
  EXPECT_EQ(timeline->arrows[0].to, 2u);
  EXPECT_DOUBLE_EQ(timeline->arrows[0].begin, 1);
  EXPECT_DOUBLE_EQ(timeline->arrows[0].end, 9);
  EXPECT_EQ(timeline->arrows[1].from, 2u);
  EXPECT_DOUBLE_EQ(timeline->arrows[1].end, 40);
  ASSERT_EQ(timeline->traffic.size(), 2u);
  EXPECT_EQ(timeline->traffic[0].copies, 2);
  const std::string page = timelinePage(*timeline, "a run");
  EXPECT_NE(page.find("Between processes"), std::string::npos);
  EXPECT_NE(page.find("title=\"1500 bytes in 2 copies, 3 messages\">1.5 kB<"), std::string::npos);
  EXPECT_NE(page.find("[[0,1.0,2,9.0],[2,31.0,0,40.0]]"), std::string::npos);
}

TEST_F(TimelineTest, ManyProcessesHaveNoMatrix) {
  std::string ways;
  for (int from = 0; from < 130; ++from)
    ways += (from ? "," : "") + std::string("{\"from\":") + std::to_string(from) +
            ",\"to\":65535,\"bytes\":" + std::to_string(1000 + from) + "}";
  auto timeline = read("{\"traceEvents\":[" + span("run", 1, 0, 5, 5) + "],\"processes\":[" + ways +
                       R"(,{"from":1,"to":2,"bytes":-5},{"from":1,"to":2,"bytes":1e300}]})");
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->traffic.size(), 131u) << "but for the one that is less than nothing";
  const std::string page = timelinePage(*timeline, "a run");
  EXPECT_NE(page.find("process 129 to 65535"), std::string::npos);
  EXPECT_NE(page.find("and 31 with less"), std::string::npos);
  EXPECT_LT(page.size(), 100000u);
}

TEST_F(TimelineTest, APageHoldsAllSpansAndNoTagsOfTheirNames) {
  auto timeline = read("[" + span("run", 1, 0, 5, 5) + "," + span("wait", 1, 0, 6, 2) + "]");
  ASSERT_TRUE(timeline);
  EXPECT_DOUBLE_EQ(sharesOf(*timeline)[0].running, .6); // the wait is within the run
  const std::string page = timelinePage(*timeline, "a <run>");
  EXPECT_NE(page.find("a &lt;run&gt;"), std::string::npos);
  EXPECT_NE(page.find("a \\u003cb>"), std::string::npos);
  EXPECT_EQ(page.find("a <b>"), std::string::npos);
  EXPECT_NE(page.find("process 1"), std::string::npos);
}

std::string part(int process, int thread, const std::string& name) {
  return R"({"ph":"M","name":"thread_name","pid":)" + std::to_string(process) + ",\"tid\":" + std::to_string(thread) +
         R"(,"args":{"name":")" + name + "\",\"part\":true}},";
}

TEST_F(TimelineTest, PartsOfAProgramAreRowsAndSayWhatTheyWaitFor) {
  const std::string named = process(1, "p 1, core") + part(1, 4, "p 1, stage soften") + part(1, 8, "p 1, stage differ");
  auto timeline = read("[" + named + span("run", 1, 4, 0, 6) + "," + span("wait", 1, 8, 0, 6) + "," +
                       span("run", 1, 8, 6, 4) + "]");
  ASSERT_TRUE(timeline);
  ASSERT_EQ(timeline->rows.size(), 2u);
  EXPECT_EQ(timeline->rows[0].name, "p 1, stage soften");
  EXPECT_EQ(timeline->rows[1].name, "p 1, stage differ");
  EXPECT_EQ(sharesOf(*timeline)[0].waitsFor, "");
  EXPECT_EQ(sharesOf(*timeline)[1].waitsFor, "a <b>");
  const std::string page = timelinePage(*timeline, "run");
  EXPECT_NE(page.find("<th>stage</th><th>running</th><th>waiting</th><th>mostly</th><th>runs</th></tr>"),
            std::string::npos);
  EXPECT_NE(page.find("<td>p 1, stage differ</td><td>40.0%</td><td>60.0%</td><td>a &lt;b&gt;</td><td>1</td>"),
            std::string::npos);
  EXPECT_EQ(page.find("moving data</span>"), std::string::npos);
  // Names of threads that are of no part are Chrome's own affair.
  timeline = read("[" + process(1, "core") + R"({"ph":"M","name":"thread_name","pid":1,"tid":0,"args":{"name":"x"}},)" +
                  span("run", 1, 0, 0, 1) + "]");
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->rows[0].name, "core");
  EXPECT_NE(timelinePage(*timeline, "run").find("<th>processor</th><th>running</th><th>waiting</th><th>runs</th></tr>"),
            std::string::npos);
}

TEST_F(TimelineTest, WhatIsNoTrace) {
  for (const char* text :
       {"", "{", "[1, {\"ph\":", "{}", "[]", "3", "[{\"ph\":\"X\"}]", "{\"traceEvents\":{}}",
        R"([{"ph":"X","ts":1e300,"dur":1}])", R"([{"ph":"X","ts":1,"dur":-1}])", "[{\"ph\":1}]", "[1e999]"}) {
    EXPECT_FALSE(read(text)) << text;
    EXPECT_EQ(code(), "show-not-a-trace") << text;
  }
  EXPECT_FALSE(loadTrace("/nowhere/run.json", diagnostics).valid());
  EXPECT_EQ(code(), "show-cannot-read");
  EXPECT_FALSE(read(std::string(100000, '[')));
}

TEST_F(TimelineTest, OddFieldsAreNotTrusted) {
  EXPECT_TRUE(read(R"([{"ph":"M","name":"process_name"},{"ph":"M","name":"process_name","args":{"name":7}},
    {"ph":"X","ts":0,"dur":0,"name":7,"cat":3,"pid":"x","tid":null,"args":{"bytes":"many","way":1}}, 5, null])"));
}

} // namespace
