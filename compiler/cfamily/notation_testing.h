// What the tests of a notation share: one compilation with its sources and diagnostics, found by their codes, and pairs
// of programs for a rule. A notation's Session derives from this one and reads a text when it is made of one.
// Single-threaded.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace strata::cfamily::testing {

/// The text of a file of examples/.
inline std::string exampleFile(const std::string& path) {
  std::ifstream file(std::string(STRATA_SOURCE_DIR) + "/examples/" + path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

struct Session {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};

  /// One of those that ship.
  Machine machine(const std::string& name) {
    std::optional<Machine> loaded = loadMachine(name, {std::string(STRATA_SOURCE_DIR) + "/machines"}, diagnostics);
    EXPECT_TRUE(loaded) << rendered();
    return loaded.value_or(Machine());
  }
  /// Of all diagnostics, in order.
  std::string codes() const {
    std::string text;
    for (const Diagnostic& each : diagnostics.all())
      text += (text.empty() ? "" : " ") + std::string(each.kind->code);
    return text;
  }
  std::string rendered() const { return diagnostics.render({}); }
  const Diagnostic* find(std::string_view code) const {
    for (const Diagnostic& each : diagnostics.all())
      if (each.kind->code == code)
        return &each;
    return nullptr;
  }
};

/// A program that provokes a diagnostic, and one that nearly does; "": there is none.
struct Rule {
  const char* code;
  std::string wrong;
  std::string right;
};

/// The diagnostic has a place, and the program that nearly provokes it provokes nothing.
template <typename NotationSession>
void testRule(const Rule& rule) {
  SCOPED_TRACE(rule.code);
  NotationSession wrong(rule.wrong);
  const Diagnostic* found = wrong.find(rule.code);
  EXPECT_TRUE(found) << rule.wrong << "\n" << wrong.rendered();
  if (found)
    EXPECT_FALSE(found->labels.empty()) << found->message;
  if (rule.right.empty())
    return;
  NotationSession right(rule.right);
  EXPECT_EQ(right.codes(), "") << rule.right << "\n" << right.rendered();
}

} // namespace strata::cfamily::testing
