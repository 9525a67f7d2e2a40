// Drawings and pages are well-formed whatever text they are given.
#include "base/picture/html.h"
#include "base/picture/svg.h"

#include <gtest/gtest.h>

namespace strata::picture {
namespace {

TEST(Picture, WordsAreEscapedEverywhere) {
  Svg svg;
  svg.text(0, 10, "a < b & \"c\"", "note", "title <");
  svg.rectangle(0, 0, 5, 5, "class=\"x\"", "<&>");
  svg.path("M0 0L1 1", "class=\"y\"", "a & b");
  const std::string text = svg.document("<title>", 20);
  EXPECT_NE(text.find("a &lt; b &amp; &quot;c&quot;"), std::string::npos);
  EXPECT_NE(text.find("<title>&lt;title&gt;</title>"), std::string::npos);
  EXPECT_NE(text.find("<title>&lt;&amp;&gt;</title></rect>"), std::string::npos);
  EXPECT_NE(text.find("<title>a &amp; b</title></path>"), std::string::npos);
  EXPECT_EQ(svg.shapes(), 3u);
}

TEST(Picture, WordsAreCountedInCharacters) {
  EXPECT_EQ(lengthOf("8 × spé"), 7u);
  EXPECT_EQ(shorten("8 × spé", 7), "8 × spé");
  EXPECT_EQ(shorten("8 × spé and more", 5), "8 × …");
  EXPECT_EQ(coordinate(2.04), "2");
  EXPECT_EQ(coordinate(2.25), "2.2");
}

TEST(Picture, ADrawingIsAsWideAsItsWords) {
  Svg svg;
  svg.text(100, 10, "0123456789");
  EXPECT_GE(svg.right(), 100 + 10 * 7.2);
  svg.text(5000, 10, "ends here", "end");
  EXPECT_LT(svg.right(), 300);
  svg.reach(400);
  EXPECT_EQ(svg.right(), 400);
}

TEST(Picture, BytesAreForPeople) {
  EXPECT_EQ(bytesText(64), "64 B");
  EXPECT_EQ(bytesText(1 << 20), "1 MiB");
  EXPECT_EQ(bytesText(15165644ull << 10), "14.5 GiB");
}

// Programs that know no variables of CSS draw the light colours.
TEST(Picture, ColoursHaveAFallback) {
  Svg svg;
  const std::string text =
      svg.document("d", 10, ".a{fill:var(--inner);stroke-width:2}.b{stroke:var(--wait-line)}.c{x:1}");
  for (const char* words :
       {".a{fill:#dce9fb;fill:var(--inner);stroke-width:2}", "stroke:#c0452c;stroke:var(--wait-line)}.c{x:1}",
        "text{font:12px monospace;fill:#1d2430;fill:var(--ink)}", "svg{background:#ffffff;background:var(--paper)}"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

// Shrunk to three quarters at most, so that its words can still be read.
TEST(Picture, PagesFitDrawingsToTheWindow) {
  Svg svg;
  svg.reach(980);
  const std::string text = page("p", {{"", "", svg.document("d", 10), false}});
  EXPECT_NE(text.find("style=\"--least:750px\""), std::string::npos) << text;
  EXPECT_NE(text.find("min-width:var(--least)"), std::string::npos);
}

TEST(Picture, PagesHoldTheirSections) {
  Svg svg;
  const std::string text =
      page("p & q", {{"one", "about <one>", svg.document("d", 10), false}, {"two", "", preformatted("x < y"), true}},
           ".extra{}", "let a = 1;");
  for (const char* words : {"<!DOCTYPE html>", "<h1>p &amp; q</h1>", "<h2>one</h2>", "about &lt;one&gt;",
                            "<div class=\"picture\" style=\"--least:", "<details><summary>two</summary>", "x &lt; y",
                            ".extra{}", "<script>\nlet a = 1;", "prefers-color-scheme:dark"})
    EXPECT_NE(text.find(words), std::string::npos) << words;
}

} // namespace
} // namespace strata::picture
