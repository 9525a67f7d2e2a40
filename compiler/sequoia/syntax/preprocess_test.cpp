// The preprocessor: when it runs, and that messages point at the files as the user wrote them.
#include "compiler/sequoia/sequoia_testing.h"
#include "compiler/sequoia/syntax/preprocess.h"

#include <filesystem>
#include <unistd.h>

namespace strata::sequoia::testing {
namespace {

class SequoiaPreprocessor : public ::testing::Test {
protected:
  SequoiaPreprocessor()
      : folder_(std::filesystem::temp_directory_path() / ("strata_sequoia_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~SequoiaPreprocessor() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& text) {
    std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  bool read(Session& session, const std::string& path, const PreprocessOptions& options = {}) {
    std::string error;
    BufferId file = session.sources.load(path, SourceKind::Program, error);
    EXPECT_TRUE(file.valid()) << error;
    session.program = readProgram(file, session.diagnostics, options);
    return session.program != nullptr;
  }
  /// "file:line:column" of the first diagnostic, and the text that it marks.
  static std::string place(const Session& session) {
    if (session.diagnostics.all().empty() || session.diagnostics.all()[0].labels.empty())
      return "nowhere";
    Location where = session.diagnostics.all()[0].labels[0].location;
    const SourceBuffer& buffer = session.sources.buffer(where.buffer);
    LineColumn at = buffer.lineColumn(where.begin);
    return std::filesystem::path(buffer.name()).filename().string() + ":" + std::to_string(at.line) + ":" +
           std::to_string(at.column) + " " + std::string(buffer.text().substr(where.begin, where.end - where.begin));
  }
  std::filesystem::path folder_;
};

TEST_F(SequoiaPreprocessor, RunsOnlyWhenThereIsSomethingToDo) {
  EXPECT_FALSE(needsPreprocessor("void task T(in int A[N]);\n// comment\nint a;\n"));
  EXPECT_TRUE(needsPreprocessor("#define A 1\n"));
  EXPECT_TRUE(needsPreprocessor("int a;\n  # define A 1\n"));
  EXPECT_TRUE(needsPreprocessor("/* x */ #define A 1\n"));
  EXPECT_TRUE(needsPreprocessor("int \\\n a;"));
  EXPECT_TRUE(needsPreprocessor("int a = __LINE__;"));
  EXPECT_FALSE(needsPreprocessor("int a__LINE__;"));
}

TEST_F(SequoiaPreprocessor, ErrorsPointIntoTheFileAndIntoHeaders) {
  write("part.h", "// a header\ninline int half(int a) { return a / two; }\n");
  std::string path =
      write("main.sq", "#include \"part.h\"\n#define SIZE 64\n"
                       "void task T(in int A[SIZE]);\n"
                       "void task<leaf> T::L(in int A[SIZE]) {   int b = half(SIZE);   c = SIZE + b; }\n");
  Session session;
  EXPECT_FALSE(read(session, path));
  ASSERT_EQ(session.codes(), "sequoia-undeclared sequoia-undeclared") << session.rendered();
  EXPECT_EQ(place(session), "part.h:2:37 two");
  const Location& second = session.diagnostics.all()[1].labels[0].location;
  LineColumn at = session.sources.lineColumn(second);
  EXPECT_EQ(at.line, 4u);
  EXPECT_EQ(session.sources.buffer(second.buffer).text().substr(second.begin, second.end - second.begin), "c");
}

TEST_F(SequoiaPreprocessor, ConditionalsSeeTheDefinedName) {
  std::string path = write("main.sq", "#ifdef __SEQUOIA__\nvoid task T(in int A[N]);\n#else\n@\n#endif\n");
  Session session;
  EXPECT_TRUE(read(session, path)) << session.rendered();
}

TEST_F(SequoiaPreprocessor, ItsOwnErrorsAndWarningsAreReported) {
  std::string path = write("main.sq", "void task T(in int A[N]);\n#include \"missing.h\"\n");
  Session session;
  EXPECT_FALSE(read(session, path));
  EXPECT_EQ(session.codes(), "sequoia-preprocessor") << session.rendered();
  EXPECT_EQ(place(session).substr(0, 12), "main.sq:2:10");

  Session warned;
  EXPECT_TRUE(read(warned, write("warn.sq", "#warning careful\nvoid task T(in int A[N]);\n")));
  EXPECT_EQ(warned.codes(), "sequoia-preprocessor-warning") << warned.rendered();
}

TEST_F(SequoiaPreprocessor, AMissingPreprocessorIsReported) {
  PreprocessOptions options;
  options.command = "no-such-preprocessor";
  Session session;
  EXPECT_FALSE(read(session, write("main.sq", "#define A 1\n"), options));
  EXPECT_EQ(session.codes(), "sequoia-preprocessor-failed") << session.rendered();
}

TEST_F(SequoiaPreprocessor, AMacroBombEnds) {
  std::string text = "#define A0 x x x x x x x x x x\n";
  for (int i = 1; i < 12; ++i) {
    text += "#define A" + std::to_string(i);
    for (int j = 0; j < 10; ++j)
      text += " A" + std::to_string(i - 1);
    text += "\n";
  }
  PreprocessOptions options;
  options.timeoutSeconds = 2;
  Session session;
  EXPECT_FALSE(read(session, write("main.sq", text + "A11\n"), options));
  EXPECT_TRUE(session.find("sequoia-preprocessor-failed")) << session.rendered();
}

} // namespace
} // namespace strata::sequoia::testing
