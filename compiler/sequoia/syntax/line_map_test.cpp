// Places in lines that macros have rewritten.
#include "compiler/sequoia/syntax/line_map.h"

#include <gtest/gtest.h>

namespace strata::sequoia {
namespace {

TEST(SequoiaLineMap, AlignsRewrittenLines) {
  SourceManager sources;
  BufferId file = sources.add("a.sq", "first\n  y = A[i*BLK;BLK]   + z;\n", SourceKind::Program);
  std::string text = "  y = A[i*64;64] + z;\n";
  LineMap map;
  map.addLine(0, file, 2);
  auto marked = [&](const char* token, size_t from = 0) {
    size_t at = text.find(token, from);
    Location where =
        map.locate(sources, text, static_cast<uint32_t>(at), static_cast<uint32_t>(at + std::string(token).size()));
    return std::string(sources.buffer(file).text().substr(where.begin, where.end - where.begin)) + "@" +
           std::to_string(sources.lineColumn(where).column);
  };
  EXPECT_EQ(marked("A"), "A@7");
  EXPECT_EQ(marked("64"), "BLK@11");
  EXPECT_EQ(marked("64", 12), "BLK@15");
  EXPECT_EQ(marked("z"), "z@24");
}

TEST(SequoiaLineMap, IdentityIsExact) {
  SourceManager sources;
  BufferId file = sources.add("a.sq", "abc", SourceKind::Program);
  EXPECT_EQ(LineMap::identity(file).locate(sources, "abc", 1, 2), (Location{file, 1, 2}));
  EXPECT_FALSE(LineMap().locate(sources, "abc", 1, 2).valid());
}

} // namespace
} // namespace strata::sequoia
