// Loops of a mapping: levels are set already; here are software pipelining, unrolling and the distribution over
// processors.
#include "compiler/sequoia/resolve/resolve_loop.h"

#include "base/machine/instance_range.h"

#include <algorithm>
#include <utility>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(spmdLoop, Error, "sequoia-mapping-spmd", "loop '{0}' cannot be distributed over processors: {1}");
STRATA_DIAGNOSTIC(pipelineLoop, Error, "sequoia-mapping-swp",
                  "loop '{0}' is a mapseq; only mappar and mapreduce can be pipelined");
STRATA_DIAGNOSTIC(badCount, Error, "sequoia-mapping-count", "{0} must be at least 1");
STRATA_DIAGNOSTIC(hintUnused, Remark, "sequoia-mapping-hint", "{0} changes nothing: {1}");

namespace {

void spmd(const SpmdMapping& mapped, const MappedLoop& mappedLoop, ResolvedLoop& resolved, const Machine& machine,
          DiagnosticEngine& diagnostics) {
  const Location& where = mapped.place.location;
  auto wrong = [&](const Location& place, const std::string& why, const std::string& help) {
    diagnostics.report(spmdLoop, place, mappedLoop.name.text, why)
        .label(resolved.loop->location, "the loop")
        .help(help);
  };
  if (resolved.loop->kind == MapKind::Seq)
    return wrong(where, "a mapseq runs its iterations one after another",
                 "take 'spmd' out, or write a mappar in the program where iterations may run at once");
  machine::ProcessorId controller = machine.controllerOf(resolved.level);
  int64_t count = controller.valid() ? static_cast<int64_t>(machine[controller].count) : 1;
  // Processors that share a coherent memory take any number of parts in turns; those with stores of their own do not.
  bool ownStores = machine.isExplicit(machine.levels[resolved.level].memory);
  ResolvedSpmd spmd;
  spmd.last = count;
  if (mapped.fullRange) {
    auto [first, last] = *mapped.fullRange;
    if (last <= first)
      return wrong(where,
                   "there are no processors from " + std::to_string(first) + " up to, without, " + std::to_string(last),
                   "the first number of 'fullrange' is the first processor, the second one is behind the last");
    if (first < 0 || (ownStores && last > count))
      return wrong(where,
                   "processors " + std::to_string(first) + " to " + std::to_string(last) + " are not among the " +
                       std::to_string(count) + " of level " + std::to_string(resolved.level),
                   "level " + std::to_string(resolved.level) + " has processors 0," + std::to_string(count) +
                       "; the loop's own level says which level it is");
    spmd.first = first;
    spmd.last = last;
    spmd.isRange = first > 0 || last < count;
    if (first > 0 && !ownStores)
      reportHint("the first processor of a range",
                 "those of level " + std::to_string(resolved.level) +
                     " share their memory, and take parts as they come",
                 where, diagnostics);
  }
  if (mapped.ways) {
    spmd.ways = mapped.ways->value;
    if (spmd.ways < 1)
      return wrong(mapped.ways->place.location, "it needs at least one way", "write 1 or more, or 'auto'");
    if (ownStores && spmd.ways > spmd.last - spmd.first)
      return wrong(mapped.ways->place.location,
                   std::to_string(spmd.ways) + " ways are more than the " + std::to_string(spmd.last - spmd.first) +
                       " processors",
                   "write " + std::to_string(spmd.last - spmd.first) + " at most, or 'auto'");
  }
  if (!mapped.ways && !mapped.fullRange && resolved.loop->kind == MapKind::Reduce &&
      shareMemory(machine, resolved.level))
    spmd.ways = reductionWays;
  if (mapped.iterationBlock) {
    spmd.iterationBlock = mapped.iterationBlock->value;
    if (spmd.iterationBlock < 1)
      return wrong(mapped.iterationBlock->place.location, "iterblk must be at least 1",
                   "write how many iterations go to a processor at a time, or take 'iterblk' out");
    if (spmd.ways == 1)
      reportHint("'iterblk'", "one processor takes all iterations", where, diagnostics);
  }
  resolved.spmd = spmd;
}

} // namespace

bool shareMemory(const Machine& machine, unsigned level) {
  for (unsigned each = 0; each <= level; ++each)
    if (machine.isExplicit(machine.levels[each].memory))
      return false;
  return true;
}

void resolveLoop(const MappedLoop& mapped, ResolvedLoop& resolved, const Machine& machine,
                 DiagnosticEngine& diagnostics) {
  const Location& where = mapped.name.place.location;
  const Loop& loop = *resolved.loop;
  resolved.flatten = mapped.flat;
  resolved.place = where;
  for (const OptionalNumber* number : {&mapped.pipelineStages, &mapped.unroll})
    if (*number && (*number)->value < 1)
      diagnostics.report(badCount, (*number)->place.location, number == &mapped.unroll ? "unroll" : "swp")
          .help("1 leaves the loop as it is");
  if (mapped.pipelineStages) {
    resolved.pipelineStages = std::max<int64_t>(mapped.pipelineStages->value, 1);
    if (loop.kind == MapKind::Seq && resolved.pipelineStages > 1)
      diagnostics.report(pipelineLoop, mapped.pipelineStages->place.location, mapped.name.text)
          .label(loop.location, "the loop")
          .help("take 'swp' out, or write a mappar in the program where iterations may run at once");
  }
  if (mapped.unroll)
    resolved.unroll = std::max<int64_t>(mapped.unroll->value, 1);
  if (mapped.spmd)
    spmd(*mapped.spmd, mapped, resolved, machine, diagnostics);
}

void resolveNest(std::vector<ResolvedLoop>& loops, const Machine& machine, DiagnosticEngine& diagnostics) {
  for (ResolvedLoop& resolved : loops) {
    if (!resolved.spmd)
      continue;
    int64_t around = 1;
    const ResolvedLoop* outermost = nullptr;
    for (const Loop* outer = resolved.loop->parent; outer; outer = outer->parent)
      if (const ResolvedLoop& other = loops[outer->index]; other.spmd && other.level == resolved.level) {
        outermost = &other;
        // One that is filled up leaves nothing.
        around *= other.spmd->ways > 0 ? std::min<int64_t>(other.spmd->ways, 1 << 20) : 1;
        around = std::min<int64_t>(around, int64_t(1) << 40);
      }
    if (!outermost)
      continue;
    // The outermost loop says which processors take part; what inner ones say of that is passed over.
    ResolvedSpmd& spmd = *resolved.spmd;
    spmd.first = outermost->spmd->first;
    spmd.last = outermost->spmd->last;
    if (std::exchange(spmd.isRange, false))
      reportHint("a range of processors",
                 "loop '" + std::string(outermost->loop->variableName) + "' around this one says which take part",
                 resolved.place, diagnostics);
    const int64_t width = spmd.last - spmd.first, left = machine::instancesEach(width, around);
    if (spmd.ways > 0 && machine.isExplicit(machine.levels[resolved.level].memory) && spmd.ways > left)
      diagnostics
          .report(spmdLoop, resolved.place, resolved.loop->variableName,
                  std::to_string(spmd.ways) + " ways in each of the " + std::to_string(around) +
                      " parts of the loops around it are more than the " + std::to_string(width) + " processors")
          .label(resolved.loop->location, "the loop")
          .label(outermost->place, "the processors")
          .help("distribute it over " + std::to_string(std::max<int64_t>(left, 1)) + " at most, or say 'auto'");
  }
}

void reportHint(std::string_view what, const std::string& why, const Location& where, DiagnosticEngine& diagnostics) {
  diagnostics.report(hintUnused, where, what, why);
}

} // namespace strata::sequoia
