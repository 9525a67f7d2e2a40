// C text through Clang: what comes back, and where errors point.
#include "base/process/temporary_folder.h"
#include "compiler/clang/clang.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>

namespace {

using namespace strata;
using namespace strata::clang;

struct ClangTest : testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};

  std::string only() {
    EXPECT_EQ(diagnostics.all().size(), 1u) << diagnostics.render({});
    return diagnostics.all().empty() ? "" : diagnostics.all()[0].kind->code;
  }
};

TEST_F(ClangTest, CBecomesLlvmThatIsNotOptimisedYet) {
  Source source;
  source.text = "#include \"array.h\"\nint twice(Array *a) { int n = (int)a->extents[0]; return n + n; }\n";
  source.headers["array.h"] = "typedef struct { long extents[2]; } Array;\n";
  auto text = compileToLlvm(source, diagnostics);
  ASSERT_TRUE(text) << diagnostics.render({});
  EXPECT_NE(text->find("@twice("), std::string::npos);
  EXPECT_NE(text->find("alloca"), std::string::npos);
  EXPECT_EQ(text->find("optnone"), std::string::npos);
}

TEST_F(ClangTest, AnErrorPointsIntoTheFileThatTheTextNames) {
  sources.add("user.c", "int f(void) {\n  return missing;\n}\n", SourceKind::Program);
  Source source;
  source.text = "# 1 \"user.c\"\nint f(void) {\n  return missing;\n}\n";
  EXPECT_FALSE(compileToLlvm(source, diagnostics));
  EXPECT_EQ(only(), "clang-error");
  ASSERT_EQ(diagnostics.all()[0].labels.size(), 1u);
  EXPECT_EQ(sources.lineColumn(diagnostics.all()[0].labels[0].location), (LineColumn{2, 10}));
}

TEST_F(ClangTest, AWarningIsNoError) {
  Source source;
  source.text = "#warning \"take care\"\n";
  EXPECT_TRUE(compileToObject(source, diagnostics));
  EXPECT_EQ(only(), "clang-warning");
}

TEST_F(ClangTest, AMissingClangIsSaidSo) {
  setenv("STRATA_CLANG", "/nowhere/clang", 1);
  EXPECT_FALSE(compileToLlvm({}, diagnostics));
  unsetenv("STRATA_CLANG");
  EXPECT_EQ(only(), "clang-failed");
  EXPECT_NE(diagnostics.render({}).find("install the package clang-19"), std::string::npos);
}

TEST_F(ClangTest, NoPlaceForFilesIsSaidSo) {
  const char* before = std::getenv("TMPDIR");
  std::string saved = before ? before : "";
  setenv("TMPDIR", "/nowhere", 1);
  EXPECT_FALSE(compileToLlvm({}, diagnostics));
  before ? setenv("TMPDIR", saved.c_str(), 1) : unsetenv("TMPDIR");
  EXPECT_EQ(only(), "clang-no-folder");
}

TEST_F(ClangTest, ASharedLibraryShowsWhatItExports) {
  Source source;
  source.text = "int shown(void) { return 42; }\nint hidden(void) { return 1; }\n";
  auto object = compileToObject(source, diagnostics);
  ASSERT_TRUE(object);
  auto bytes = linkShared({"shown.so", *object, {}, {"shown"}}, diagnostics);
  ASSERT_TRUE(bytes) << diagnostics.render({});
  TemporaryFolder folder;
  ASSERT_TRUE(folder.write("shown.so", *bytes));
  void* library = dlopen(folder.path("shown.so").c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  auto* function = reinterpret_cast<int (*)()>(dlsym(library, "shown"));
  ASSERT_TRUE(function);
  EXPECT_EQ(function(), 42);
  EXPECT_FALSE(dlsym(library, "hidden"));
}

TEST_F(ClangTest, AnUnknownSymbolIsAnError) {
  Source source;
  source.text = "int missing(void);\nint shown(void) { return missing(); }\n";
  auto object = compileToObject(source, diagnostics);
  ASSERT_TRUE(object);
  EXPECT_FALSE(linkShared({"shown.so", *object, {}, {"shown"}}, diagnostics));
  EXPECT_NE(diagnostics.render({}).find("missing"), std::string::npos) << diagnostics.render({});
}

} // namespace
