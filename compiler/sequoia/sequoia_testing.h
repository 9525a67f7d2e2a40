// Helpers of the tests in this folder: programs and mappings as text in, diagnostics by code out.
#pragma once

#include "compiler/cfamily/notation_testing.h"
#include "compiler/sequoia/check/frontend.h"
#include "compiler/sequoia/syntax/print_ast.h"
#include "compiler/sequoia/tune/default_mapping.h"

namespace strata::sequoia::testing {

using cfamily::testing::Rule;

/// The text of a file of examples/sequoia/, and of the program of a folder there.
inline std::string exampleFile(const std::string& path) {
  return cfamily::testing::exampleFile("sequoia/" + path);
}
inline std::string exampleText(const std::string& name) {
  return exampleFile(name + "/" + name + ".sq");
}

/// One compilation and what was made of it.
struct Session : cfamily::testing::Session {
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
};

inline void testRule(const Rule& rule) {
  cfamily::testing::testRule<Session>(rule);
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
