// Downward propagation of array sizes through an instance graph, and what follows from it: how much of each memory the
// arrays of a program can take. Takes graphs from resolve() or from a mapping under construction; changes nothing.
#pragma once

#include "compiler/sequoia/resolve/resolve.h"

#include <map>

namespace strata::sequoia {

/// Values of size parameters of the entry that are known before compiling, by name.
using KnownSizes = std::map<std::string, int64_t, std::less<>>;

/// A tunable of an instance.
struct TunableUse {
  uint32_t instance = 0;
  const Variable* tunable = nullptr;
  friend auto operator<=>(const TunableUse&, const TunableUse&) = default;
};

/// Appends those of `from` that `into` has not.
void join(std::vector<TunableUse>& into, const std::vector<TunableUse>& from);

/// An upper bound, and the tunables that it follows from.
struct Bound {
  std::optional<int64_t> value; // nothing: not bounded before the program runs
  std::vector<TunableUse> because;
};

struct InstanceSizes {
  std::vector<Bound> sizeParameters;       // by index
  std::vector<std::vector<Bound>> extents; // of each array, by index
  std::vector<Bound> ends;                 // of each loop, by index: what its variable stays below
  bool reached = false;
};

/// Whether this is an indexed block that control at a level cannot gather itself, since the array or its indices are
/// not in the explicit memory of the level, or where its processor touches no elements: elements are moved one by one,
/// by indices that are moved there.
bool isGatheredFar(const Machine& machine, const Instance& caller, unsigned level, const Expr& block);

/// One entry for each instance of the graph. Sizes that grow through a cycle of instances count as unbounded.
std::vector<InstanceSizes> propagateSizes(const InstanceGraph& graph, const KnownSizes& known);

/// What one array takes of a memory.
struct Demand {
  uint32_t instance = 0;
  const Variable* array = nullptr;
  std::optional<uint64_t> bytes; // nothing: not bounded
  std::vector<TunableUse> because;
  std::string why; // what it is beside the array itself, for messages
};

/// The most that is held in one instance of a level's memory at a time: the chain of calls with the greatest demand.
/// Arrays that are passed on within one memory are counted once.
struct LevelDemand {
  unsigned level = 0;
  std::vector<Demand> demands;
  std::optional<uint64_t> total; // bytes; nothing when one of them is not bounded
  std::vector<uint32_t> path;    // the chain of instances, the entry first
};
std::vector<LevelDemand> measureDemand(const InstanceGraph& graph, const Machine& machine,
                                       const std::vector<InstanceSizes>& sizes);

/// Reports every memory that is too small, or that an unbounded array would have to go to: the memory, its size, what
/// wants how much, and which tunable to turn. True when all fits.
bool checkDemand(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes,
                 DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
