// A mapping compared with a program and a machine: every name looked up, every level decided, every callsite with its
// targets. The outcome is a graph of task instances, which is what lowering takes. It points into the Program, which
// must outlive it.
#pragma once

#include "base/machine/machine.h"
#include "compiler/sequoia/mapping/mapping.h"
#include "compiler/sequoia/syntax/ast.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::sequoia {

/// How the iterations of a loop are distributed to processors.
struct ResolvedSpmd {
  int64_t first = 0, last = 0; // processors [first, last) of the loop's level
  bool isRange = false;        // these are not all, and no loop around has said so
  int64_t ways = 0; // parts that the iterations are distributed to; 0: as many as there are processors left (auto)
  int64_t iterationBlock = 0; // iterations distributed at a time; 0: one contiguous share each
};

struct ResolvedLoop {
  const Loop* loop = nullptr;
  unsigned level = 0;
  std::optional<ResolvedSpmd> spmd;
  int64_t pipelineStages = 1; // at most
  int64_t unroll = 1;
  bool flatten = false; // no loop remains
  Location place;       // in the mapping; invalid where it does not speak of the loop
};

struct ResolvedCondition {
  const Variable* array = nullptr; // of the calling instance; null: how often the target has been selected so far
  SizeBound bound;
};

struct ResolvedTarget {
  uint32_t instance = 0; // in InstanceGraph::instances
  std::vector<ResolvedCondition> conditions;
  bool dynamic = false;               // the call stays a call
  std::vector<uint32_t> forcedCopies; // positions of the arguments whose copies stay, in order
};

struct ResolvedCallsite {
  const Callsite* callsite = nullptr;
  unsigned level = 0;                  // of the control that makes the call
  std::vector<ResolvedTarget> targets; // the first whose conditions all hold is called
  Location place;                      // in the mapping; invalid for a mapping made by Strata
};

struct ResolvedPrecondition {
  const Variable* array = nullptr;
  SizeBound bound;
};

/// Arrays of one instance that are packed at one address.
struct ResolvedSpaceShare {
  std::vector<const Variable*> arrays; // at least two, each in one set only
  Location place;
};

/// A task variant with everything decided. Lists are indexed as the variant's own: tunables, arrays, loops, callsites.
struct Instance {
  std::string name;
  const Task* task = nullptr;
  const TaskVariant* variant = nullptr;
  unsigned controlLevel = 0; // of statements outside of iteration statements
  unsigned scalarLevel = 0;
  std::vector<int64_t> tunables;
  std::vector<char> divisors; // per tunable: whether the value is the largest one up to it by which divisions are exact
  std::vector<Location> tunablePlaces; // of their values in the mapping; invalid for a mapping made by Strata
  std::vector<unsigned> arrayLevels;
  std::vector<ResolvedLoop> loops;
  std::vector<ResolvedCallsite> callsites;
  std::vector<ResolvedPrecondition> preconditions;      // on extents
  std::vector<ResolvedPrecondition> pitchPreconditions; // on the extents of the physical arrays
  std::vector<ResolvedSpaceShare> spaceShare;
  std::vector<std::optional<BlockCyclic>> blockCyclic; // per array
  std::string externalFile;
  int64_t scratch = 0;           // bytes of local space of an external task
  bool countsSelections = false; // it, or one that it calls, selects an instance that is counted
  Location place;                // in the mapping; invalid for a mapping made by Strata
};

/// The instances that the entry points reach, each once: the entry points, then callers before the callees they reach
/// first.
struct InstanceGraph {
  std::vector<Instance> instances;
  uint32_t entryCount = 1;
  static constexpr uint32_t entry = 0; // the first one
  bool isEntry(uint32_t instance) const { return instance < entryCount; }
  std::vector<uint32_t> counted; // instances that conditions count the selections of, ascending
  bool isCounted(uint32_t instance) const { return std::binary_search(counted.begin(), counted.end(), instance); }
};

/// The entry point that a user asks for by name, and where; an empty name: none. A library has `others` beside it, or,
/// where no name is given and `isEvery`, all that there are.
struct AskedEntry {
  AskedEntry() = default;
  template <typename Text>
    requires std::convertible_to<const Text&, std::string_view>
  AskedEntry(const Text& name, Location where = {}) : name(name), where(where) {} // NOLINT(google-explicit-constructor)

  std::string_view name;
  Location where;
  std::vector<std::pair<std::string_view, Location>> others;
  bool isEvery = false;
};

/// Checks all of a mapping and resolves what the entry points asked for reach. Each is the name of a task or of an
/// instance; none: the mapping's first entry point. Nothing when there are errors.
std::optional<InstanceGraph> resolve(const Program& program, const Mapping& mapping, const Machine& machine,
                                     const AskedEntry& entry, DiagnosticEngine& diagnostics);

/// The innermost level whose memory is as large as it takes: where a program's arrays start.
unsigned mainLevel(const Machine& machine);
/// Whether a level's memory is managed by the program and has a size of its own.
bool isLimited(const Machine& machine, unsigned level);

} // namespace strata::sequoia
