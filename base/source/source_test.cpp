// What a user sees of files and places: lines and columns counted as an editor counts them, and reasons why a file
// cannot be read.
#include "base/source/source.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace strata {
namespace {

TEST(Source, LinesAndColumnsBeginAtOne) {
  const SourceBuffer file("a.sq", "one\ntwo\r\n\nfour", SourceKind::Program);
  EXPECT_EQ(file.lineCount(), 4u);
  EXPECT_EQ(file.line(1), "one");
  EXPECT_EQ(file.line(2), "two"); // the carriage return belongs to the line break
  EXPECT_EQ(file.line(3), "");
  EXPECT_EQ(file.line(4), "four");
  EXPECT_EQ(file.line(0), "");
  EXPECT_EQ(file.line(5), "");
  EXPECT_EQ(file.lineBegin(4), 10u);
  EXPECT_EQ(file.lineBegin(9), 14u);
  EXPECT_EQ(file.lineColumn(0), (LineColumn{1, 1}));
  EXPECT_EQ(file.lineColumn(3), (LineColumn{1, 4}));
  EXPECT_EQ(file.lineColumn(4), (LineColumn{2, 1}));
  EXPECT_EQ(file.lineColumn(14), (LineColumn{4, 5}));
  EXPECT_EQ(file.lineColumn(4000), (LineColumn{4, 5})); // beyond the file: its end
}

TEST(Source, AnEmptyFileHasOneEmptyLine) {
  const SourceBuffer file("empty", "", SourceKind::Data);
  EXPECT_EQ(file.lineCount(), 1u);
  EXPECT_EQ(file.line(1), "");
  EXPECT_EQ(file.lineColumn(0), (LineColumn{1, 1}));
}

TEST(Source, PlacesKnownAsNumbersAreClampedToTheFile) {
  SourceManager sources;
  const BufferId id = sources.add("a", "ab\ncd\n", SourceKind::Program);
  EXPECT_EQ(sources.at(id, 2, 2), (Location{id, 4, 5}));
  EXPECT_EQ(sources.at(id, 1, 99), (Location{id, 2, 3}));
  EXPECT_EQ(sources.at(id, 99, 1), (Location{id, 6, 6}));
  EXPECT_EQ(sources.at(id, 0, 0), (Location{id, 0, 1}));
  EXPECT_EQ(sources.lineColumn(sources.at(id, 2, 2)), (LineColumn{2, 2}));
}

TEST(Source, FilesAreFoundByNameAndStayWhereTheyAre) {
  SourceManager sources;
  const BufferId a = sources.add("a", "first", SourceKind::Program);
  const SourceBuffer& first = sources.buffer(a);
  for (int i = 0; i < 100; ++i)
    sources.add("other" + std::to_string(i), "", SourceKind::Data);
  EXPECT_EQ(&first, &sources.buffer(a));
  EXPECT_EQ(sources.find("a"), a);
  EXPECT_FALSE(sources.find("nowhere").valid());
  EXPECT_EQ(sources.buffer(BufferId()).text(), "");
}

TEST(Source, LoadReadsAFileOrSaysWhyNot) {
  SourceManager sources;
  std::string error;
  const std::string path = testing::TempDir() + "strata_source_test_" + std::to_string(getpid());
  std::ofstream(path) << "x = 1\n";
  const BufferId id = sources.load(path, SourceKind::Machine, error);
  ASSERT_TRUE(id.valid());
  EXPECT_EQ(error, "");
  EXPECT_EQ(sources.buffer(id).text(), "x = 1\n");
  EXPECT_EQ(sources.buffer(id).kind(), SourceKind::Machine);
  std::remove(path.c_str());
  EXPECT_FALSE(sources.load(path, SourceKind::Machine, error).valid());
  EXPECT_EQ(error, "no such file or directory");
  EXPECT_FALSE(sources.load(testing::TempDir(), SourceKind::Machine, error).valid());
  EXPECT_EQ(error, "is a directory");
  EXPECT_FALSE(sources.load("", SourceKind::Machine, error).valid());
  EXPECT_FALSE(sources.load(std::string("/dev/null\0x", 11), SourceKind::Machine, error).valid());
}

TEST(SourceBuffer, AByteOrderMarkOfAProgramIsBlank) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(SourceBuffer("a.sq", mark + "void", SourceKind::Program).text(), "   void");
  EXPECT_EQ(SourceBuffer("a.npy", mark + "void", SourceKind::Data).text(), mark + "void");
}

} // namespace
} // namespace strata
