// Traces read, the shares that follow from them, and what is no trace.
#include "compiler/driver/timeline.h"

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
