// What a user reads when something is wrong: the excerpts with their markers, in every file concerned, whatever bytes
// the files hold; and what a tool reads, as JSON.
#include "base/source/diagnostic.h"
#include "base/source/display.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata {
namespace {

STRATA_DIAGNOSTIC(tooLarge, Error, "test-too-large", "block '{0}' needs {1} bytes");
STRATA_DIAGNOSTIC(suspect, Warning, "test-suspect", "loop runs {0} times");
STRATA_DIAGNOSTIC(elided, Remark, "test-elided", "copy elided");

struct Diagnostics : testing::Test {
  SourceManager sources;
  DiagnosticEngine engine{sources};

  BufferId program(std::string text) { return sources.add("p.sq", std::move(text), SourceKind::Program); }
  std::string text() const { return engine.render({}); }
};

TEST_F(Diagnostics, PointAtTheWords) {
  const BufferId p = program("task f() {\n  g(A);\n}\n");
  engine.report(tooLarge, {p, 15, 16}, "A", 4096).label("this block").note("it is copied").help("make it smaller");
  EXPECT_EQ(text(), "error[test-too-large]: block 'A' needs 4096 bytes\n"
                    " --> p.sq:2:5\n"
                    "  |\n"
                    "2 |   g(A);\n"
                    "  |     ^ this block\n"
                    "  |\n"
                    "  = note: it is copied\n"
                    "  = help: make it smaller\n");
}

TEST_F(Diagnostics, ShowEveryFileConcernedAndSayWhatItIs) {
  const BufferId p = program("g(A);\n");
  const BufferId m = sources.add("cell.yaml", "\n\nsize: 256\n", SourceKind::Machine);
  const BufferId map = sources.add("a.map", "x = 10;", SourceKind::Mapping);
  engine.report(tooLarge, {p, 2, 3}, "A", 4096)
      .label({m, 8, 11}, "the memory's capacity")
      .label({map, 0, 6}, "set here");
  EXPECT_EQ(text(), "error[test-too-large]: block 'A' needs 4096 bytes\n"
                    " --> p.sq:1:3 (program)\n"
                    "  |\n"
                    "1 | g(A);\n"
                    "  |   ^\n"
                    "  |\n"
                    " ::: cell.yaml:3:7 (machine)\n"
                    "  |\n"
                    "3 | size: 256\n"
                    "  |       --- the memory's capacity\n"
                    "  |\n"
                    " ::: a.map:1:1 (mapping)\n"
                    "  |\n"
                    "1 | x = 10;\n"
                    "  | ------ set here\n"
                    "  |\n");
}

TEST_F(Diagnostics, SeveralLabelsShareALine) {
  const BufferId p = program("copy(A, B, C);");
  engine.report(tooLarge, {p, 8, 9}, "B", 1).label("two").label({p, 5, 6}, "one").label({p, 11, 12}, "three");
  EXPECT_EQ(text(), "error[test-too-large]: block 'B' needs 1 bytes\n"
                    " --> p.sq:1:9\n"
                    "  |\n"
                    "1 | copy(A, B, C);\n"
                    "  |      -  ^  - three\n"
                    "  |      |  |\n"
                    "  |      |  two\n"
                    "  |      one\n"
                    "  |\n");
}

TEST_F(Diagnostics, OverlappingLabelsKeepTheirWords) {
  const BufferId p = program("abcdef");
  engine.report(tooLarge, {p, 2, 4}, "B", 1).label("inner").label({p, 0, 6}, "outer");
  EXPECT_EQ(text(), "error[test-too-large]: block 'B' needs 1 bytes\n"
                    " --> p.sq:1:3\n"
                    "  |\n"
                    "1 | abcdef\n"
                    "  | --^^--\n"
                    "  | | |\n"
                    "  | | inner\n"
                    "  | outer\n"
                    "  |\n");
}

TEST_F(Diagnostics, LinesBetweenLabelsAreLeftOut) {
  const BufferId p = program("a\nb\nc\nd\ne\nf\ng\n");
  engine.report(tooLarge, {p, 0, 1}, "B", 1).label({p, 4, 5}, "near").label({p, 12, 13}, "far");
  EXPECT_EQ(text(), "error[test-too-large]: block 'B' needs 1 bytes\n"
                    " --> p.sq:1:1\n"
                    "  |\n"
                    "1 | a\n"
                    "  | ^\n"
                    "2 | b\n"
                    "3 | c\n"
                    "  | - near\n"
                    "...\n"
                    "7 | g\n"
                    "  | - far\n"
                    "  |\n");
}

TEST_F(Diagnostics, ALabelOverSeveralLinesMarksBothEnds) {
  const BufferId p = program("x = f(a,\n  b,\n  c,\n  d);\n");
  engine.report(tooLarge, {p, 4, 23}, "B", 1).label("this call");
  EXPECT_EQ(text(), "error[test-too-large]: block 'B' needs 1 bytes\n"
                    " --> p.sq:1:5\n"
                    "  |\n"
                    "1 | x = f(a,\n"
                    "  |     ^^^^\n"
                    "...\n"
                    "4 |   d);\n"
                    "  |   ^^ this call\n"
                    "  |\n");
}

TEST_F(Diagnostics, TabsAndWideCharactersKeepMarkersInPlace) {
  const BufferId p = program("\tx\ty = \"\xE4\xBD\xA0\xC3\xA9\" + z;");
  const std::string_view line = sources.buffer(p).text();
  const uint32_t z = static_cast<uint32_t>(line.find('z'));
  engine.report(tooLarge, {p, z, z + 1}, "z", 1).label("here");
  EXPECT_EQ(text(), "error[test-too-large]: block 'z' needs 1 bytes\n"
                    " --> p.sq:1:18\n"
                    "  |\n"
                    "1 |     x   y = \"\xE4\xBD\xA0\xC3\xA9\" + z;\n"
                    "  |                     ^ here\n"
                    "  |\n");
}

TEST_F(Diagnostics, BytesThatDoNotPrintAreSpeltOut) {
  const BufferId p = program(std::string("a\x1b[2J\xff\0\xE2\x80\xAE!", 11));
  engine.report(tooLarge, {p, 10, 11}, "\x1b]0;title\x07", 1);
  const std::string shown = text();
  EXPECT_EQ(shown, "error[test-too-large]: block '<1B>]0;title<07>' needs 1 bytes\n"
                   " --> p.sq:1:11\n"
                   "  |\n"
                   "1 | a<1B>[2J<FF><00><U+202E>!\n"
                   "  |                         ^\n"
                   "  |\n");
}

TEST_F(Diagnostics, LongLinesAreCutAroundThePlace) {
  const std::string long1(100000, 'x');
  const BufferId p = program(long1 + "HERE" + long1);
  engine.report(tooLarge, {p, 100000, 100004}, "B", 1).label("this");
  const std::string shown = text();
  EXPECT_LT(shown.size(), 600u);
  EXPECT_NE(shown.find("1 | …xxx"), std::string::npos) << shown;
  EXPECT_NE(shown.find("xHEREx"), std::string::npos);
  EXPECT_NE(shown.find("x…\n"), std::string::npos);
  const std::string markers = shown.substr(shown.find("x…\n") + 5);
  EXPECT_EQ(markers.find("^^^^ this"), std::string("  | ").size() + 1 + 50);
}

TEST_F(Diagnostics, EmptyFilesAndEndsOfFilesArePlaces) {
  const BufferId empty = sources.add("empty", "", SourceKind::Machine);
  const BufferId p = program("abc\n");
  engine.report(tooLarge, {empty, 0, 0}, "A", 1).label("nothing here").label({p, 4, 4}, "ends");
  engine.report(tooLarge, {p, 3, 3}, "B", 1);
  engine.report(tooLarge, {p, 4000, 2}, "C", 1);
  EXPECT_EQ(text(), "error[test-too-large]: block 'A' needs 1 bytes\n"
                    " --> empty:1:1 (machine)\n"
                    "  |\n"
                    "1 |\n"
                    "  | ^ nothing here\n"
                    "  |\n"
                    " ::: p.sq:2:1 (program)\n"
                    "  |\n"
                    "2 |\n"
                    "  | - ends\n"
                    "  |\n"
                    "\n"
                    "error[test-too-large]: block 'B' needs 1 bytes\n"
                    " --> p.sq:1:4\n"
                    "  |\n"
                    "1 | abc\n"
                    "  |    ^\n"
                    "  |\n"
                    "\n"
                    "error[test-too-large]: block 'C' needs 1 bytes\n"
                    " --> p.sq:2:1\n"
                    "  |\n"
                    "2 |\n"
                    "  | ^\n"
                    "  |\n");
}

TEST_F(Diagnostics, WithoutAPlaceTheWordsRemain) {
  engine.report(tooLarge, Location(), "A", 1).label("words").label(Location(), "more words").note("two\nlines");
  EXPECT_EQ(text(), "error[test-too-large]: block 'A' needs 1 bytes\n"
                    "  = note: words\n"
                    "  = note: more words\n"
                    "  = note: two\n"
                    "          lines\n");
}

TEST_F(Diagnostics, AreSortedAndCapped) {
  const BufferId p = program("a\nb\nc\nd\n");
  const BufferId m = sources.add("m.yaml", "a\n", SourceKind::Machine);
  engine.report(tooLarge, {m, 0, 1}, "machine", 1);
  engine.report(tooLarge, {p, 4, 5}, "late", 1);
  engine.report(suspect, {p, 2, 3}, 7);
  engine.report(tooLarge, {p, 0, 1}, "early", 1);
  engine.report(tooLarge, Location(), "placeless", 1);
  RenderOptions options;
  options.limit = 2;
  const std::string shown = engine.render(options);
  EXPECT_LT(shown.find("placeless"), shown.find("early"));
  EXPECT_LT(shown.find("early"), shown.find("loop runs 7 times"));
  EXPECT_EQ(shown.find("late"), std::string::npos);
  EXPECT_TRUE(shown.ends_with("\n2 more errors not shown\n")) << shown;
  options.limit = 0;
  const std::string everything = engine.render(options);
  EXPECT_LT(everything.find("late"), everything.find("machine"));
  EXPECT_EQ(everything.find("not shown"), std::string::npos);
  EXPECT_EQ(engine.errorCount(), 4u);
}

TEST_F(Diagnostics, RemarksAreAllShown) {
  const BufferId p = program(std::string(60, 'a'));
  engine.enableRemarks(true);
  for (uint32_t i = 0; i < 50; ++i)
    engine.report(elided, {p, i, i + 1});
  EXPECT_EQ(text().find("not shown"), std::string::npos);
  EXPECT_NE(text().find("p.sq:1:50"), std::string::npos);
}

TEST_F(Diagnostics, RepeatsAreDropped) {
  const BufferId p = program("ab");
  for (int i = 0; i < 3; ++i)
    engine.report(tooLarge, {p, 0, 1}, "A", 1);
  engine.report(tooLarge, {p, 1, 2}, "A", 1);
  EXPECT_EQ(engine.all().size(), 2u);
  engine.clear();
  EXPECT_FALSE(engine.hasErrors());
  engine.report(tooLarge, {p, 0, 1}, "A", 1);
  EXPECT_EQ(engine.errorCount(), 1u);
}

TEST_F(Diagnostics, WarningsBecomeErrorsAndRemarksAppearOnRequest) {
  const BufferId p = program("ab");
  engine.report(suspect, {p, 0, 1}, 1);
  engine.report(elided, {p, 0, 1});
  EXPECT_FALSE(engine.hasErrors());
  EXPECT_EQ(engine.all().size(), 1u);
  engine.promoteWarnings("test-suspect");
  engine.enableRemarks(true);
  engine.report(suspect, {p, 1, 2}, 2);
  engine.report(elided, {p, 0, 1});
  EXPECT_EQ(engine.errorCount(), 1u);
  ASSERT_EQ(engine.all().size(), 3u);
  EXPECT_EQ(engine.all()[0].severity, Severity::Warning);
  EXPECT_EQ(engine.all()[1].severity, Severity::Error);
  EXPECT_EQ(engine.all()[2].severity, Severity::Remark);
  EXPECT_NE(text().find("error[test-suspect]: loop runs 2 times"), std::string::npos);
  EXPECT_NE(text().find("warning[test-suspect]: loop runs 1 times"), std::string::npos);
  EXPECT_NE(text().find("remark[test-elided]"), std::string::npos);
}

TEST_F(Diagnostics, ColourIsOnlyAddedToTheSameText) {
  const BufferId p = program("copy(A, B, C);");
  engine.report(tooLarge, {p, 8, 9}, "B", 1).label("two").label({p, 5, 6}, "one").note("why");
  RenderOptions options;
  options.color = true;
  std::string shown = engine.render(options);
  EXPECT_NE(shown.find("\x1b[1;31merror[test-too-large]\x1b[0m"), std::string::npos);
  for (size_t at = shown.find('\x1b'); at != std::string::npos; at = shown.find('\x1b'))
    shown.erase(at, shown.find('m', at) - at + 1);
  EXPECT_EQ(shown, text());
}

TEST_F(Diagnostics, JsonIsOneObjectALine) {
  const BufferId p = program("f(\n A\xff);");
  engine.report(tooLarge, {p, 4, 5}, "A\xff\"", 9).label({p, 0, 4}, "whole").note("n").help("h");
  engine.report(suspect, Location(), 3);
  RenderOptions options;
  options.json = true;
  options.limit = 1;
  std::istringstream lines(engine.render(options));
  std::string line;
  std::vector<nlohmann::json> objects;
  while (std::getline(lines, line))
    objects.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(objects.size(), 2u);
  EXPECT_EQ(objects[0]["severity"], "warning");
  EXPECT_EQ(objects[0]["labels"].size(), 0u);
  EXPECT_EQ(objects[1]["severity"], "error");
  EXPECT_EQ(objects[1]["code"], "test-too-large");
  EXPECT_EQ(objects[1]["message"], "block 'A\xEF\xBF\xBD\"' needs 9 bytes");
  EXPECT_EQ(objects[1]["labels"][0], nlohmann::json::parse(R"({"file":"p.sq","kind":"program","line":2,"column":2,
                                                              "endLine":2,"endColumn":3,"text":""})"));
  EXPECT_EQ(objects[1]["labels"][1]["endLine"], 2);
  EXPECT_EQ(objects[1]["notes"][0], "n");
  EXPECT_EQ(objects[1]["helps"][0], "h");
}

TEST_F(Diagnostics, AnyBytesAndAnyRangesRender) {
  // Deterministic noise in place of a file, every range of it in place of a label.
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 300; ++i) {
    state = state * 1664525 + 1013904223;
    noise += static_cast<char>(state >> 24);
  }
  const BufferId p = program(noise);
  for (uint32_t begin = 0; begin < 310; begin += 3)
    for (uint32_t end = 0; end < 310; end += 7)
      engine.report(tooLarge, {p, begin, end}, "x", begin).label("a").label({p, end, begin}, "b\nc");
  RenderOptions options;
  options.limit = 0;
  const std::string shown = engine.render(options);
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
  EXPECT_EQ(nlohmann::json(shown).dump().empty(), false); // throws when it is not valid UTF-8
}

TEST(Registry, HoldsEveryKindByCode) {
  const std::vector<const DiagnosticKind*> kinds = DiagnosticKind::all();
  for (const char* code : {"test-too-large", "test-suspect", "test-elided"})
    EXPECT_EQ(std::count_if(kinds.begin(), kinds.end(), [&](auto* kind) { return std::string(kind->code) == code; }),
              1);
  EXPECT_TRUE(
      std::is_sorted(kinds.begin(), kinds.end(), [](auto* a, auto* b) { return std::string_view(a->code) < b->code; }));
}

TEST(Messages, TakeTheirArguments) {
  EXPECT_EQ(formatMessage("{0} of {1}, {0}", {"a", "b"}), "a of b, a");
  EXPECT_EQ(formatMessage("{2} { {} {x} {0", {"a"}), "{2} { {} {x} {0");
  EXPECT_EQ(formatMessage("{0}", {"{1}", "no"}), "{1}"); // what is filled in is not filled again
}

TEST(NearestName, FindsSlipsAndNothingElse) {
  const std::vector<std::string> names = {"capacity", "latency", "bandwidth", "ls"};
  EXPECT_EQ(nearestName("capcity", names), "capacity");
  EXPECT_EQ(nearestName("latnecy", names), "latency");
  EXPECT_EQ(nearestName("Bandwidth", names), "bandwidth");
  EXPECT_EQ(nearestName("sl", names), "ls");
  EXPECT_EQ(nearestName("x", names), "");
  EXPECT_EQ(nearestName("colour", names), "");
  EXPECT_EQ(nearestName("", names), "");
  // What is not written to its end is nearer than other letters; of two, the one with less to write.
  EXPECT_EQ(nearestName("Scale_Mult", {"Scale_Cut", "Scale_Multiply"}), "Scale_Multiply");
  EXPECT_EQ(nearestName("Scal", {"Scalar_Product", "Scale"}), "Scale");
  EXPECT_EQ(nearestName("Scale", {"Scale"}), ""); // the name itself is no other
  EXPECT_EQ(nearestName("in", {"integral"}), "");
  EXPECT_EQ(nearestName("anything", {}), "");
  EXPECT_EQ(nearestName(std::string(100000, 'a'), names), "");
}

} // namespace
} // namespace strata
