// Helpers of this folder's front-end tests: programs and mappings as text in, diagnostics by code out.
#pragma once

#include "compiler/cfamily/notation_testing.h"
#include "compiler/hbir/check/frontend.h"
#include "compiler/hbir/program/print_ast.h"

namespace strata::hbir::testing {

using cfamily::testing::Rule;

/// One compilation and what was made of it.
struct Session : cfamily::testing::Session {
  std::unique_ptr<Program> program;

  Session() = default;
  explicit Session(const std::string& text, const ReadOptions& options = {}) { read(text, options); }

  Program* read(const std::string& text, const ReadOptions& options = {}) {
    program = readProgram(sources.add("test.hbir", text, SourceKind::Program), diagnostics, options);
    return program.get();
  }
  /// Reads a program and then a mapping for it.
  Program* mapped(const std::string& text, const std::string& map) {
    std::optional<Mapping> mapping = readMapping(sources.add("test.map", map, SourceKind::Mapping), diagnostics);
    if (mapping)
      program = readProgram(sources.add("test.hbir", text, SourceKind::Program), diagnostics, {}, &*mapping);
    return program.get();
  }
};

inline void testRule(const Rule& rule) {
  cfamily::testing::testRule<Session>(rule);
}

/// A program of form A from the contents of its segments.
inline std::string formA(const std::string& code,
                         const std::string& data = "A : int[16] = block[4] { target.g[x]; host; };"
                                                   "B : float[4][4] = block[2][2] { target.g[x*2+y]; };"
                                                   "C : int[16] = block[4] { target.g[x]; device; };",
                         const std::string& config = "group tg[4][4] { tile target.t[x][y]; };",
                         const std::string& target = "memory g[4] { size 8G; width 8B; };"
                                                     "tile t[4][4] { memory l { size 1K; width 8B; }; };") {
  return "target {" + target + "}\nconfig {" + config + "}\ndata {" + data + "}\ncode {" + code + "}\n";
}

/// The body of a block that runs on every tile of form A's group.
inline std::string body(const std::string& statements) {
  return formA("int g; float h; bool ok; config.tg[x][y] {" + statements + "}");
}

inline std::string formB(const std::string& code,
                         const std::string& config = "arrange t as { group foo at (0:2, 0:4); }",
                         const std::string& data = "in A : int[16] { location : t.foo, layout : block }"
                                                   "out C : int[16] { location : target.g, layout : strided }") {
  return "target { memory g[4] { size : 1M, width : 8 } tile t[4][4] { memory l { size : 16K, width : 8 } } }\n"
         "config {" +
         config + "}\ndata { int n = 16; " + data + "}\ncode {" + code + "}\n";
}

inline std::string formC(const std::string& groups, const std::string& code = "", const std::string& data = "") {
  return "target { memory g[4] { size : 1M, width : 8 } tile t[8][8] { memory l { size : 16K, width : 8 } } }\n"
         "config { arrange t(rows, cols) as {" +
         groups + "} }\ndata {" + data + "}\ncode {" + code + "}\n";
}

} // namespace strata::hbir::testing
