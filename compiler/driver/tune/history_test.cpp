// What is told of a search: only what differs, and drawings in which every trial has its mark.
#include "compiler/driver/tune/history.h"

#include <gtest/gtest.h>

namespace strata::driver {
namespace {

History someHistory() {
  History history;
  history.program = "a \"b\".sq";
  history.entry = "Cut";
  history.machine = "m";
  history.version = "1";
  history.sizes = {{"N", 100}};
  history.choices = {{"Cut", "block", 8, {4, 8, 16}}, {"Cut", "loop i: swp", 1, {1, 2}}};
  history.tried = {{{8, 1}, 0.002, ""}, {{16, 1}, 0.001, ""}, {{16, 2}, std::nullopt, "does not fit"}};
  history.best = 1;
  history.before = 0.002;
  history.after = 0.001;
  history.ended = "after 1 s";
  return history;
}

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(History, NamesWhatDiffers) {
  const History history = someHistory();
  EXPECT_EQ(valuesText(history, {8, 1}), "block of Cut 8, loop i: swp of Cut 1");
  EXPECT_EQ(valuesText(history, {16, 1}, {8, 1}), "block of Cut 8 -> 16");
  EXPECT_EQ(valuesText(history, {8, 1}, {8, 1}), "");
}

TEST(History, IsARecordThatPeopleRead) {
  const std::string text = historyYaml(someHistory());
  EXPECT_NE(text.find("program: \"a \\\"b\\\".sq\"\n"), std::string::npos);
  EXPECT_NE(text.find("sizes: {\"N\": 100}\n"), std::string::npos);
  EXPECT_NE(text.find("  - {values: [16, 1], seconds: 0.001}\n"), std::string::npos);
  EXPECT_NE(text.find("  - {values: [16, 2], refused: \"does not fit\"}\n"), std::string::npos);
}

TEST(History, IsDrawnWithAMarkForEachTrial) {
  const std::string drawing = historyPicture(someHistory());
  EXPECT_EQ(countOf(drawing, "class=\"trial\""), 1u);
  EXPECT_EQ(countOf(drawing, "class=\"best\""), 1u);
  EXPECT_EQ(countOf(drawing, "class=\"refused\""), 1u);
  EXPECT_NE(drawing.find("trial 3: does not fit"), std::string::npos);
  EXPECT_EQ(drawing.find("nan"), std::string::npos);
  History alone = someHistory();
  alone.tried.resize(1);
  alone.best = 0;
  EXPECT_EQ(historyPicture(alone).find("nan"), std::string::npos);
}

} // namespace
} // namespace strata::driver
