// What the passes of a compilation did: how long each took, and the module as one of them left it (--time-passes,
// --emit=after:PASS). One compilation, one thread.
#pragma once

#include "compiler/ir/svm.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace strata::driver {

class PassWatch {
public:
  /// Keeps the module as the pass of this name leaves it: after its run of this number, from 1; 0: after its last one.
  void keepAfter(std::string pass, unsigned run) {
    wanted_ = std::move(pass);
    wantedRun_ = run;
  }
  /// From here on passes are watched. A pass that runs on each kernel counts as one run.
  void watch(mlir::PassManager& passes);
  /// A part of the compilation that is no pass begins, and the one before it ends.
  void begin(std::string phase);
  /// The part that began last ends.
  void end();

  /// The module after the wanted pass; empty: that has not run so often.
  const std::string& text() const { return text_; }
  /// The names of all passes that have run, each once, in the order of their first runs.
  std::vector<std::string> names() const;
  /// Seconds of each phase and of each pass in it, in order: as a table for people, or as one JSON object a line, with
  /// "phase" or "pass" and "seconds".
  std::string report(bool asJson) const;

private:
  class Instrumentation;
  struct Row {
    std::string name;
    bool isPass = false;
    double seconds = 0;
  };

  std::vector<Row> rows_;
  std::map<std::string, unsigned> runs_; // so far, by pass
  std::string wanted_, text_;
  unsigned wantedRun_ = 0;
  double began_ = 0;
  bool isOpen_ = false;
};

} // namespace strata::driver
