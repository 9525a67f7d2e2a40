// Helpers of the lowering's tests: a program is lowered with a mapping (its own, or the default one) and executed by
// the interpreter of the dialect. Single-threaded.
#pragma once

#include "compiler/cfamily/lower/lower_testing.h"
#include "compiler/sequoia/lower/lower.h"
#include "compiler/sequoia/sequoia_testing.h"

#include <limits>
#include <numeric>

namespace strata::sequoia::testing {

using cfamily::testing::array;
using cfamily::testing::matrix;
using cfamily::testing::number;
using cfamily::testing::reference;
using interpret::Argument;

struct LoweredProgram : Session {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::optional<Lowered> lowered;
  std::string failure; // the code of the last run's failed check

  /// An empty mapping stands for the default one.
  explicit LoweredProgram(const std::string& text, const std::string& map = "", const std::string& machineName = "host",
                          std::string_view entry = "") {
    diagnostics.enableRemarks(false);
    read(text);
    EXPECT_TRUE(program) << rendered();
    if (!program)
      return;
    Machine target = machine(machineName);
    std::optional<Mapping> mapping =
        map.empty() ? defaultMapping(*program, target, entry, {}, diagnostics) : readMap(map);
    EXPECT_TRUE(mapping) << rendered();
    std::optional<InstanceGraph> graph =
        mapping ? resolve(*program, *mapping, target, entry, diagnostics) : std::nullopt;
    EXPECT_TRUE(graph) << rendered();
    if (graph)
      lowered = lower(*program, *graph, target, context, diagnostics);
    // The code of external tasks is not there yet.
    if (lowered && !lowered->externals.empty())
      cfamily::testing::expectReadsBack(*lowered->module);
    else if (lowered)
      cfamily::testing::expectLogical(*lowered->module);
  }

  std::string text() { return lowered ? cfamily::testing::printed(*lowered->module) : ""; }

  bool run(const std::vector<Argument>& arguments) {
    if (!lowered) {
      ADD_FAILURE() << rendered();
      return false;
    }
    const std::string entry = cfamily::testing::entryOf(*lowered->module);
    cfamily::testing::Run run = cfamily::testing::execute(*lowered->module, entry, arguments, diagnostics);
    failure = run.failure;
    return run.good;
  }
};

/// Runs the statements of a leaf over in ints a and b and in doubles x and y; `r` is the result, of the type given.
template <typename T>
T evaluate(const std::string& type, const std::string& statements, int a = 0, int b = 0, double x = 0, double y = 0,
           const std::string& before = "", std::string* failure = nullptr) {
  const std::string signature = "(in int a, in int b, in double x, in double y, out " + type + " r)";
  LoweredProgram subject(before + "void task T" + signature + ";\nvoid task<leaf> T::L" + signature + " {\n" +
                         statements + "\n}\n");
  T result{};
  bool good = subject.run({number(a), number(b), Argument::real(x), Argument::real(y), reference(result)});
  if (failure)
    *failure = subject.failure;
  else
    EXPECT_TRUE(good) << subject.rendered() << subject.text();
  return result;
}

} // namespace strata::sequoia::testing
