// Symbolic mapping: a loop program in uniform form onto a processor array of which only the elements are known, and not
// how many there will be, nor the program's sizes. Tells the whole way: choice of loops, rewriting for registers with
// limited readers, instruction selection, modulo scheduling, registers, routes, access mappings.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 5.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/equations/graph.h"
#include "runtime/array/symbolic.h"
#include "runtime/array/transfers.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::array {

struct MapOptions {
  /// Loops that are distributed over the rows and the columns of elements, by name: "" for none. Nothing: chosen, of
  /// several mappings, by the estimated cycles (estimate.h).
  std::optional<std::string> rowLoop, columnLoop;
  /// The region that instances will have, where it is known: both, one or none of its rows and columns are several, and
  /// so are the loops that are chosen.
  std::optional<std::pair<uint32_t, uint32_t>> region;
  /// Other programs are on the array, too: two loops are chosen only if all data then pass the borders by themselves.
  bool isShared = false;
  /// Through which the array's buffers are filled and emptied; it counts in these cycles.
  HostLink link;
  /// Loops in the order in which an element executes them, the outermost first. Empty: the program's, or the first
  /// legal one.
  std::vector<std::string> order;
  /// Loops that are skewed before all else: `loop` counts from `factor` times `by` on, so that a distance d becomes
  /// d[loop] + factor · d[by]. What crosses tiles in both directions crosses them in one then.
  struct Skew {
    std::string loop, by;
    int64_t factor = 1;
  };
  std::vector<Skew> skews; // empty: those without which there is no legal order
  /// Beside that, whatever lets no value cross tiles against its loop's direction: elements never wait for each other
  /// in a circle then, and take more iterations.
  bool isForward = false;
  /// Tile sizes that the schedule may rely on, by loop; 1 for others. Smaller tiles are refused when sizes are known.
  std::map<std::string, int64_t> leastTiles;
  /// What is made is compared with the equations, too (verify_meaning.h); what that cannot decide is a remark.
  bool isCompared = false;
};

/// Nothing on errors (reported, with the equation's place). REQUIRES: the graph verifies.
std::optional<Symbolic> map(const equations::Graph& graph, const std::string& machineName,
                            const machine::ProcessorArray& array, const MapOptions& options,
                            DiagnosticEngine& diagnostics);

} // namespace strata::array
