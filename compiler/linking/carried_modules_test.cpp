// Objects with carried code are made by Clang and its assembler, whole ones and damaged ones.
#include "compiler/linking/carried_modules.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace strata::linking {
namespace {

struct CarriedModules : testing::Test {
  const std::string folder = testing::TempDir() + "carried_modules";
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  CarriedModules() { std::filesystem::create_directories(folder); }
  ~CarriedModules() override { std::filesystem::remove_all(folder); }

  /// An object whose section is so in assembly.
  std::string object(const std::string& name, const std::string& content) const {
    const std::string path = folder + "/" + name;
    std::ofstream(path + ".s") << ".section .strata.ir,\"e\",@progbits\n" << content << "\n";
    EXPECT_EQ(std::system(("clang-19 -c " + path + ".s -o " + path).c_str()), 0);
    return path;
  }
  static std::string module(const std::string& text, unsigned flags, unsigned version = 1) {
    return ".ascii \"STRATAIR\"\n.long " + std::to_string(version) + ", " + std::to_string(flags) + "\n.quad " +
           std::to_string(text.size()) + "\n.ascii \"" + text + "\"\n.balign 8\n";
  }
};

TEST_F(CarriedModules, OneBehindTheOtherAsLinkersJoinThem) {
  const auto found = carriedModules(object("a.o", module("first", 1) + module("second!!", 0)), diagnostics);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].code, "first");
  EXPECT_EQ(found[0].flags, 1u);
  EXPECT_EQ(found[1].code, "second!!");
  EXPECT_FALSE(diagnostics.hasErrors());
}

TEST_F(CarriedModules, OfTheMembersOfArchives) {
  const std::string a = object("a.o", module("a", 0)), b = object("b.o", module("b", 1));
  ASSERT_EQ(std::system(("ar rc " + folder + "/lib.a " + a + " " + b).c_str()), 0);
  const auto found = carriedModules(folder + "/lib.a", diagnostics);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].file, folder + "/lib.a(b.o)");
}

TEST_F(CarriedModules, OtherFilesHaveNone) {
  std::ofstream(folder + "/text") << "INPUT(-lm)\n";
  EXPECT_TRUE(carriedModules(folder + "/text", diagnostics).empty());
  EXPECT_TRUE(carriedModules(folder + "/missing", diagnostics).empty());
  EXPECT_FALSE(diagnostics.hasErrors());
}

TEST_F(CarriedModules, DamageIsSaid) {
  EXPECT_TRUE(carriedModules(object("a.o", ".ascii \"STRATAIR and nothing behind\""), diagnostics).empty());
  EXPECT_TRUE(carriedModules(object("b.o", ".ascii \"OTHERAIR\"\n.quad 1, 0"), diagnostics).empty());
  ASSERT_EQ(diagnostics.all().size(), 2u);
  EXPECT_EQ(std::string(diagnostics.all()[0].kind->code), "link-damaged-ir");
  EXPECT_EQ(std::string(diagnostics.all()[1].kind->code), "link-damaged-ir");
}

TEST_F(CarriedModules, AnotherVersionIsSaid) {
  EXPECT_TRUE(carriedModules(object("a.o", module("a", 0, 7)), diagnostics).empty());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(std::string(diagnostics.all()[0].kind->code), "link-other-version");
}

} // namespace
} // namespace strata::linking
