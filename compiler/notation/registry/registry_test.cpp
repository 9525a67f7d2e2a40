// Each notation is found by its files' ending, and says of itself what help and messages are made of.
#include "compiler/notation/registry/registry.h"

#include <gtest/gtest.h>

#include <set>

namespace strata::notation {
namespace {

TEST(Notations, AreFoundByTheEndingsOfTheirFiles) {
  for (const Notation* notation : allNotations())
    EXPECT_EQ(notationOf("folder/a" + notation->description().ending), notation);
  EXPECT_EQ(notationOf("a.mlir"), nullptr);
  EXPECT_EQ(notationOf("a.yaml"), nullptr);
  EXPECT_EQ(notationOf(""), nullptr);
}

TEST(Notations, DoNotShareNames) {
  std::set<std::string> names;
  for (const Notation* notation : allNotations()) {
    const Description& description = notation->description();
    EXPECT_TRUE(names.insert(description.name).second) << description.name;
    EXPECT_TRUE(names.insert(description.ending).second) << description.ending;
    for (const std::string& view : description.views)
      EXPECT_TRUE(names.insert(view).second) << view;
    if (description.interface)
      EXPECT_TRUE(names.insert(description.interface->name).second) << description.interface->name;
  }
}

TEST(Notations, DescribeThemselves) {
  for (const Notation* notation : allNotations()) {
    const Description& description = notation->description();
    EXPECT_TRUE(description.article == "a" || description.article == "an") << description.name;
    EXPECT_EQ(description.ending.front(), '.');
    EXPECT_FALSE(description.filesOfCAbout.empty()) << description.name;
    EXPECT_FALSE(description.functionsHelp.empty()) << description.name;
    for (const MappingForm& form : description.mappingForms)
      EXPECT_FALSE(form.endings.empty()) << form.name;
    for (const Examples& examples : description.examples)
      EXPECT_EQ(examples.lines.back(), '\n') << examples.command;
  }
}

/// A program of a notation without mapping files, which overrides as little as it can.
struct Bare : Program {
  std::string syntaxTree() const override { return ""; }
  std::vector<Picture> pictures(const Options&, llvm::function_ref<std::optional<Machine>()>,
                                DiagnosticEngine&) override {
    return {};
  }
  std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
  lower(const Options&, const Machine&, mlir::MLIRContext&, DiagnosticEngine&) override {
    return std::nullopt;
  }
};

TEST(Notations, MayHaveNoMappingFiles) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  Bare program;
  Options options;
  options.program = "a.bare";
  EXPECT_TRUE(program.readMapping(options, diagnostics));
  EXPECT_EQ(diagnostics.errorCount(), 0u);
  options.mapping = "a.map";
  EXPECT_FALSE(program.readMapping(options, diagnostics));
  options.program = "b.bare";
  EXPECT_EQ(program.mappingText(options, Machine(), diagnostics), "");
  ASSERT_EQ(diagnostics.all().size(), 2u);
  for (const Diagnostic& each : diagnostics.all())
    EXPECT_STREQ(each.kind->code, "driver-no-mapping");
}

} // namespace
} // namespace strata::notation
