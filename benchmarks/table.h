// The rows of the table that strata-bench prints, and their form as JSON. A row is filled by the work that it belongs
// to and only read here.
#pragma once

#include "benchmarks/measure.h"

namespace strata::bench {

enum class Unit { Seconds, Nanoseconds, Mebibytes, Instructions };

struct Row {
  std::string work;   ///< what was done, with its sizes
  std::string method; ///< what must be known to read the figures: inlined or opaque, threads, tolerance; empty: nothing
  std::string peer;   ///< who the peer is, with version and flags
  Unit unit = Unit::Seconds;
  Goal goal{Goal::Kind::RatioAtLeast, 1.0};
  Pairs pairs;
  std::string limit;   ///< our figure as a part of what this computer can do; empty: no such limit applies
  std::string failure; ///< why there is no result; empty: there is one
};

/// The table, with one line a row and its remarks below.
std::string tableText(const std::vector<Row>& rows);
/// The same rows as a JSON array, with all samples.
std::string tableJson(const std::vector<Row>& rows);

} // namespace strata::bench
