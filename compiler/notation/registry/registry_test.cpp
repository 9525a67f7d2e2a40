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
    ASSERT_FALSE(description.mappingForms.empty()) << description.name;
    for (const MappingForm& form : description.mappingForms)
      EXPECT_FALSE(form.endings.empty()) << form.name;
    for (const Examples& examples : description.examples)
      EXPECT_EQ(examples.lines.back(), '\n') << examples.command;
  }
}

} // namespace
} // namespace strata::notation
