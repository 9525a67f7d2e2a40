// Helpers of the tests in this folder: programs and mappings as text in, diagnostics by code out.
#pragma once

#include "compiler/sequoia/check/frontend.h"
#include "compiler/sequoia/syntax/print_ast.h"
#include "compiler/sequoia/tune/default_mapping.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace strata::sequoia::testing {

/// The program of a folder of examples/sequoia.
inline std::string exampleText(const std::string& name) {
  std::ifstream file(std::string(STRATA_SOURCE_DIR) + "/examples/sequoia/" + name + "/" + name + ".sq");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

/// One compilation: sources, diagnostics and what was made of them.
struct Session {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
  std::unique_ptr<Program> program;

  Session() { diagnostics.enableRemarks(true); }
  explicit Session(const std::string& text) : Session() { read(text); }

  Program* read(const std::string& text) {
    program = readProgram(sources.add("test.sq", text, SourceKind::Program), diagnostics);
    return program.get();
  }
  std::optional<Mapping> readMap(const std::string& text) {
    return readMapping(sources.add("test.map", text, SourceKind::Mapping), diagnostics);
  }
  Machine machine(const std::string& name) {
    std::optional<Machine> loaded = loadMachine(name, {std::string(STRATA_SOURCE_DIR) + "/machines"}, diagnostics);
    EXPECT_TRUE(loaded) << rendered();
    return loaded.value_or(Machine());
  }
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

/// A program that provokes a diagnostic, and one that nearly does.
struct Rule {
  const char* code;
  std::string wrong;
  std::string right;
};

inline void testRule(const Rule& rule) {
  SCOPED_TRACE(rule.code);
  Session wrong(rule.wrong);
  EXPECT_TRUE(wrong.find(rule.code)) << rule.wrong << "\n" << wrong.rendered();
  if (rule.right.empty())
    return;
  Session right(rule.right);
  EXPECT_EQ(right.codes(), "") << rule.right << "\n" << right.rendered();
}

/// A leaf task `T` with the statements given: arrays A (in), B (inout) of N floats, an in int x and an inout int y.
inline std::string leaf(const std::string& statements) {
  return "void task T(in float A[N], inout float B[N], in int x, inout int y);\n"
         "void task<leaf> T::L(in float A[N], inout float B[N], in int x, inout int y) {\n" +
         statements + "\n}\n";
}

/// The same as an inner task, with leaf tasks to call: Copy (in S[N], out D[N]), Two (in S[M][N], out D[M][N]),
/// Scale (in int k, inout float D[N]), Count (in S[N], inout int n), Plus (in int a, inout int b), Add (in S[N], inout
/// D[N]).
inline std::string inner(const std::string& statements, const std::string& before = "") {
  return before +
         "void task Copy(in float S[N], out float D[N]);\n"
         "void task<leaf> Copy::L(in float S[N], out float D[N]) { for (long i = 0; i < N; i++) D[i] = S[i]; }\n"
         "void task Two(in float S[M][N], out float D[M][N]);\n"
         "void task<leaf> Two::L(in float S[M][N], out float D[M][N]) { D[0][0] = S[0][0]; }\n"
         "void task Scale(in int k, inout float D[N]);\n"
         "void task<leaf> Scale::L(in int k, inout float D[N]) { D[0] *= k; }\n"
         "void task Count(in float S[N], inout int n);\n"
         "void task<leaf> Count::L(in float S[N], inout int n) { n += N; }\n"
         "void task Plus(in int a, inout int b);\n"
         "void task<leaf> Plus::L(in int a, inout int b) { b += a; }\n"
         "void task Add(in float S[N], inout float D[N]);\n"
         "void task<leaf> Add::L(in float S[N], inout float D[N]) { for (long i = 0; i < N; i++) D[i] += S[i]; }\n"
         "void task T(in float A[N], inout float B[N], in int x, inout int y);\n"
         "void task<inner> T::I(in float A[N], inout float B[N], in int x, inout int y) {\n" +
         statements + "\n}\n";
}

} // namespace strata::sequoia::testing
