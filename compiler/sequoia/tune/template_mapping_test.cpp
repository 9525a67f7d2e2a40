// Templates of mappings: they list everything, are refused while blank, and read back and resolve once filled in.
#include "compiler/sequoia/sequoia_testing.h"
#include "compiler/sequoia/tune/template_mapping.h"

namespace strata::sequoia::testing {
namespace {

const char* tasksText = R"(
void task Add(in float S[N], inout float D[N]);
void task<leaf> Add::Leaf(in float S[N], inout float D[N]) { for (long i = 0; i < N; i++) D[i] += S[i]; }
void task<inner> Add::Cut(in float S[N], inout float D[N]) {
  tunable block;
  float buffer[block];
  mappar (long i = 0 : (N + block - 1) / block) { Add(S[i * block; block], D[i * block; block]); }
  mapseq (long i = 0 : 1) { Add(S[0; block], D[0; block]); }
}
)";

std::string filled(std::string text, const std::vector<std::string>& values) {
  for (const std::string& value : values) {
    // Behind the comments, each question mark in turn.
    size_t at = text.find('?', text.starts_with("<?xml") ? text.find("<machine") : 0);
    EXPECT_NE(at, std::string::npos) << text;
    if (at == std::string::npos)
      return text;
    text.replace(at, 1, value);
  }
  return text;
}

TEST(SequoiaTemplateMapping, ListsEverythingAndReadsBackOnceFilled) {
  for (MappingForm form : {MappingForm::Braces, MappingForm::Xml}) {
    Session session(tasksText);
    ASSERT_TRUE(session.program) << session.rendered();
    Machine cell = session.machine("cell");
    std::optional<Mapping> made = templateMapping(*session.program, cell, "", session.diagnostics);
    ASSERT_TRUE(made) << session.rendered();
    std::string text = writeMapping(*made, form);
    EXPECT_FALSE(session.readMap(text));
    EXPECT_TRUE(session.find("sequoia-mapping-blank")) << text << session.rendered();
    session.diagnostics.clear();
    // The entry point; the leaf's level and arrays; the other's level, tunable, arrays, loops and targets.
    std::vector<std::string> values = {"Add_Cut", "0", "0", "0", "2",        "64",      "2",
                                       "2",       "2", "0", "0", "Add_Leaf", "Add_Leaf"};
    std::string complete = filled(text, values);
    EXPECT_EQ(complete.find(form == MappingForm::Braces ? "?" : "> ?"), std::string::npos) << complete;
    std::optional<Mapping> read = session.readMap(complete);
    ASSERT_TRUE(read) << complete << session.rendered();
    std::optional<InstanceGraph> graph = resolve(*session.program, *read, cell, "", session.diagnostics);
    ASSERT_TRUE(graph) << complete << session.rendered();
    EXPECT_EQ(graph->instances[0].tunables, std::vector<int64_t>{64});
    EXPECT_EQ(graph->instances[0].callsites[1].targets[0].instance, 1u);
    EXPECT_EQ(read->findInstance("Add_Cut")->control[0].loops[1].name.lexnum, 1u);
  }
}

TEST(SequoiaTemplateMapping, NeedsAClearEntry) {
  Session session(std::string(tasksText) + "void task Other(in float S[N], inout float D[N]);\n"
                                           "void task<leaf> Other::L(in float S[N], inout float D[N]) { }\n");
  Machine host = session.machine("host");
  EXPECT_FALSE(templateMapping(*session.program, host, "", session.diagnostics));
  EXPECT_TRUE(session.find("sequoia-entry-unclear"));
  std::optional<Mapping> made = templateMapping(*session.program, host, "Other", session.diagnostics);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->tasks.size(), 1u);
}

} // namespace
} // namespace strata::sequoia::testing
