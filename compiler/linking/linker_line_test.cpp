// Files are told from options and their values, as Clang and people write them.
#include "compiler/linking/linker_line.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace strata::linking {
namespace {

using Words = std::vector<std::string>;

struct LinkerLine : testing::Test {
  const std::string folder = testing::TempDir() + "linker_line";
  LinkerLine() { std::filesystem::create_directories(folder); }
  ~LinkerLine() override { std::filesystem::remove_all(folder); }
  std::string file(const std::string& name, const std::string& text = "") const {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  }
};

TEST_F(LinkerLine, FilesAreWordsThatAreNoOptions) {
  EXPECT_EQ(linkedFiles({"-z", "relro", "-m", "elf_x86_64", "-o", "out.o", "crt1.o", "a.o", "-L/nowhere", "-lm", "b.a",
                         "--start-group", "c.a", "--end-group", "-soname", "x.so"}),
            (Words{"crt1.o", "a.o", "b.a", "c.a"}));
}

TEST_F(LinkerLine, LibrariesAreArchivesWhereTheyAreNotShared) {
  const std::string archive = file("libone.a");
  file("libtwo.a");
  file("libtwo.so");
  EXPECT_EQ(linkedFiles({"-L" + folder, "-lone", "-ltwo", "-lthree"}), Words{archive});
  EXPECT_EQ(linkedFiles({"-L" + folder, "-lone", "-ltwo", "-lthree"}, true), (Words{archive, folder + "/libtwo.so"}));
  EXPECT_EQ(linkedFiles({"-L", folder, "-l:libtwo.a", "--library=one", "--library", "two", "-l:libtwo.so"}),
            (Words{folder + "/libtwo.a", archive}));
  EXPECT_EQ(linkedFiles({"--library-path=" + folder, "-l:libtwo.so", "-l:none.a"}, true), Words{folder + "/libtwo.so"});
  EXPECT_EQ(linkedFiles({"-Bstatic", "-ltwo", "-Bdynamic", "-L", folder, "-l", "two"}), Words{folder + "/libtwo.a"});
}

TEST_F(LinkerLine, SymbolsMayBeReplaced) {
  EXPECT_EQ(replacedSymbols({"a.o", "--wrap=one", "--wrap", "two", "-o", "--wrapped", "-wrap", "three",
                             "--defsym=four=f+1", "-defsym", "five=0"}),
            (Words{"one", "two", "three", "four", "five"}));
}

TEST_F(LinkerLine, ObjectsStandBehindTheUsers) {
  const std::string object = file("a.o", std::string("\x7f"
                                                     "ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0",
                                                     18)),
                    text = file("b", "INPUT(c)");
  EXPECT_EQ(withObjects({"-o", object, "crt1.o", "-la", object, text, "-lb", "crtend.o"}, {"x", "y"}),
            (Words{"-o", object, "crt1.o", "-la", object, "x", "y", text, "-lb", "crtend.o"}));
  EXPECT_EQ(withObjects({"@list", "-lb"}, {"x"}), (Words{"x", "@list", "-lb"}));
}

TEST_F(LinkerLine, ArgumentsMayStandInAFile) {
  const std::string list = file("list", "a.o 'b c.o'\n-o d.o");
  EXPECT_EQ(linkedFiles({"@" + list, "e.o"}), (Words{"a.o", "b c.o", "e.o"}));
}

TEST_F(LinkerLine, LibrariesStandBeforeThoseOfTheLanguage) {
  EXPECT_EQ(
      withLibraries({"a.o", "-lmine", "-lstdc++", "-lm", "-lgcc", "--as-needed", "-lc", "/x/crtn.o"}, "-L/l b\n-lo"),
      (Words{"a.o", "-lmine", "-L/l b", "-lo", "-lstdc++", "-lm", "-lgcc", "--as-needed", "-lc", "/x/crtn.o"}));
  EXPECT_EQ(withLibraries({"a.o"}, ""), (Words{"a.o"}));
}

TEST_F(LinkerLine, JoinedObjectsAreKnown) {
  EXPECT_TRUE(joinsObjects({"-r", "a.o"}));
  EXPECT_FALSE(joinsObjects({"-rpath", "r", "a.o"}));
}

} // namespace
} // namespace strata::linking
