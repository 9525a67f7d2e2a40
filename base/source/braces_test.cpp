// Tests of the search for missing braces: every brace of a few texts is removed in turn, and the search has to say
// where.
#include "base/source/braces.h"
#include "base/source/characters.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace strata {
namespace {

std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (isWordCharacter(text[at]) && end < text.size() && isWordCharacter(text[end]))
      ++end;
    if (text[at] != ' ' && text[at] != '\n' && text[at] != '\t')
      words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

size_t lineOf(std::string_view text, size_t offset) {
  return static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n')) + 1;
}

constexpr std::string_view texts[] = {R"(task a(x,
       y) {
  if (b) {
    c = d;
    for (e; f; g) {
      h = i[j:k;];
    }
  } else {
    l = m;
  }
  switch (n) {
  case 1:
    o = p;
    break;
  default:
    q = r;
  }
}

task s(t)
{
  while (u)
  {
    v = w;
  }
  x = y;
}
)",
                                      R"(task M {
	instance a(level 0) {
		tunable t = 1;
		control(level 0) {
			loop i(level 0) { spmd { ways = 1; } }
		}
	}
	instance b(level 0) {
		data(level 0) {
		}
	}
}
)"};

TEST(Braces, MatchingOnesNeedNothing) {
  for (std::string_view text : texts)
    EXPECT_TRUE(findMissingBraces(text, wordsOf(text)).empty());
}

TEST(Braces, EveryMissingOneIsFoundInItsLine) {
  for (std::string_view text : texts) {
    for (size_t at = text.find_first_of("{}"); at != text.npos; at = text.find_first_of("{}", at + 1)) {
      const std::string_view whole = text;
      std::string changed(text);
      changed[at] = ' ';
      const std::vector<std::string_view> words = wordsOf(changed);
      const std::vector<BraceRepair> repairs = findMissingBraces(changed, words);
      ASSERT_EQ(repairs.size(), 1u) << changed;
      EXPECT_EQ(repairs[0].brace, text[at]) << changed;
      ASSERT_NE(repairs[0].before, BraceRepair::Nowhere) << changed;
      // The word before the brace that is gone, and the one before the brace that is proposed, end on the same line.
      const std::string_view last = words[repairs[0].before - 1];
      const size_t found = lineOf(changed, static_cast<size_t>(last.data() - changed.data()));
      const size_t lastWord = text.find_last_not_of(" \t\n", at - 1);
      EXPECT_EQ(found, lineOf(whole, lastWord)) << changed;
    }
  }
}

TEST(Braces, OneThatClosesNothingIsLeftOut) {
  const std::string_view text = "a {\n  b;\n}\n  }\n";
  const std::vector<BraceRepair> repairs = findMissingBraces(text, wordsOf(text));
  ASSERT_EQ(repairs.size(), 1u);
  EXPECT_EQ(repairs[0].partner, 5u);
}

struct Word {
  std::string_view text;
  Location location;
};

/// What is said about a text, and its words when the braces are put right.
std::string repaired(std::string_view text, std::string& codes) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  const BufferId file = sources.add("test", std::string(text), SourceKind::Program);
  const std::string_view kept = sources.buffer(file).text();
  std::vector<Word> words;
  for (std::string_view word : wordsOf(kept)) {
    const uint32_t begin = static_cast<uint32_t>(word.data() - kept.data());
    words.push_back({word, {file, begin, begin + static_cast<uint32_t>(word.size())}});
  }
  words.push_back({});
  repairBraces(kept, words, diagnostics, [](std::string_view brace, const Location& last) {
    return Word{brace, {last.buffer, last.end, last.end}};
  });
  codes.clear();
  for (const Diagnostic& each : diagnostics.all()) {
    const LineColumn place = sources.lineColumn(each.labels[0].location);
    codes += std::string(each.kind->code) + " " + std::to_string(place.line) + ":" + std::to_string(place.column);
  }
  std::string result;
  for (const Word& word : words)
    result += word.text;
  return result;
}

TEST(Braces, WhatIsMissingIsReportedAndPutThere) {
  std::string codes;
  EXPECT_EQ(repaired("a {\n  b {\n    c;\n}\n", codes), "a{b{c;}}");
  EXPECT_EQ(codes, "source-missing-closing-brace 3:7");
  EXPECT_EQ(repaired("a\n  b {\n    c;\n  }\n}\n", codes), "a{b{c;}}");
  EXPECT_EQ(codes, "source-missing-opening-brace 1:2");
  EXPECT_EQ(repaired("a {\n  b;\n}\n  }\n", codes), "a{b;}");
  EXPECT_EQ(codes, "source-stray-brace 4:3");
  EXPECT_EQ(repaired("a {\n  b;\n}\n", codes), "a{b;}");
  EXPECT_EQ(codes, "");
}

TEST(Braces, WithoutIndentationTheEndIsTheGuess) {
  const std::string_view text = "a {\nb {\nc;\n}\n";
  const std::vector<BraceRepair> repairs = findMissingBraces(text, wordsOf(text));
  ASSERT_EQ(repairs.size(), 1u);
  EXPECT_EQ(repairs[0].before, 7u);
  EXPECT_EQ(repairs[0].partner, 1u);
}

} // namespace
} // namespace strata
