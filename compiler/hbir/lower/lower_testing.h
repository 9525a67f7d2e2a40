// Helpers of the lowering's tests: a program is read, lowered, verified, and executed by the interpreter of the
// dialect. Single-threaded.
#pragma once

#include "compiler/cfamily/lower/lower_testing.h"
#include "compiler/hbir/hbir_testing.h"
#include "compiler/hbir/lower/lower.h"

#include <numeric>

namespace strata::hbir::testing {

using cfamily::testing::array;
using cfamily::testing::matrix;
using interpret::Argument;

struct LoweredProgram : Session {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::optional<Machine> target;
  std::optional<Lowered> lowered;
  std::string failure; // the code of the last run's failed check
  std::string output;  // of the last run

  explicit LoweredProgram(const std::string& text, const std::string& machineName = "host") {
    read(text);
    if (program)
      lowerOnto(machineName);
  }

  void lowerOnto(const std::string& machineName) {
    target = machine(machineName);
    lowered = lower(*program, *target, context, diagnostics);
    if (lowered)
      cfamily::testing::expectLogical(*lowered->module);
  }

  std::string text() { return lowered ? cfamily::testing::printed(*lowered->module) : ""; }
  /// How often an operation stands in the module.
  template <typename Op>
  int count() {
    int found = 0;
    lowered->module->walk([&](Op) { ++found; });
    return found;
  }

  /// `checked`: reads of what nobody wrote are found.
  bool run(const std::vector<Argument>& arguments, bool checked = true) {
    if (!lowered) {
      ADD_FAILURE() << rendered();
      return false;
    }
    cfamily::testing::Run run = cfamily::testing::execute(*lowered->module, "main", arguments, diagnostics, checked);
    failure = run.failure;
    output = run.output;
    return run.good;
  }
};

/// A program of form A on four by four tiles, which one group has all of.
inline std::string onTiles(const std::string& data, const std::string& code) {
  return "target {\n  memory g[4] { size 64M; width 8B; };\n"
         "  tile t[4][4] { memory l { size 256K; width 8B; }; };\n}\n"
         "config { group tg[4][4] { tile target.t[x][y]; }; }\n"
         "data {\n" +
         data + "\n}\ncode {\n" + code + "\n}\n";
}

inline std::string example(const std::string& path) {
  return cfamily::testing::exampleFile("hbir/" + path);
}

} // namespace strata::hbir::testing
