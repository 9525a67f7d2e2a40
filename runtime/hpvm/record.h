// What the launches of a program that is linked to record leave behind: when each node ran, for STRATA_RECORD, and how
// often and how long, for STRATA_STATS. Programs that are linked otherwise have neither, and pay nothing.
#pragma once

#include "runtime/core/runtime.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace strata::hpvm {

/// Of one process. Any thread.
class Record {
public:
  /// Adds what the caller's run context holds: a call of a graph's code that took so long and executed the graph for so
  /// many items. `stages`: of a streaming one, what its instances are.
  void add(const std::string& graph, int64_t items, int64_t nanoseconds, const std::vector<std::string>& stages);
  /// Writes what the environment asks for, and says what is missing. Figures go to the standard error, or to the file
  /// that is named.
  void write();

private:
  struct Figures {
    int64_t launches = 0, items = 0, nanoseconds = 0;
    std::map<std::string, runtime::SpanTotal> nodes; // by the names of the nodes from the root on: "layer/dense"
  };

  std::string text() const;
  std::string json() const;
  void writeTrace(const std::string& file);
  void writeFigures(const std::string& form);

  runtime::TraceOfCalls trace_;
  mutable std::mutex lock_; // of the rest
  int64_t launches_ = 0;    // of all graphs
  std::map<std::string, Figures> graphs_;
};

/// Whether the environment asks for figures in a form that there is, or for none. Its value otherwise is an error of
/// the program's user.
bool isStatsFormKnown();

} // namespace strata::hpvm
