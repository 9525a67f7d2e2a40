// One instance of a mapping against its variant: every item looked up, every level decided by what is said nearest to
// the object.
#include "base/machine/instance_range.h"
#include "compiler/sequoia/check/tunable_uses.h"
#include "compiler/sequoia/resolve/resolve_loop.h"
#include "compiler/sequoia/resolve/resolver.h"

#include <limits>
#include <set>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(tunableTooLarge, Error, "sequoia-mapping-tunable-too-large",
                  "tunable '{0}' is {1}; it can be 0 to {2}");
STRATA_DIAGNOSTIC(tunableNegative, Error, "sequoia-mapping-tunable-negative",
                  "tunable '{0}' is {1}; tunables are not negative");
STRATA_DIAGNOSTIC(notADivisor, Error, "sequoia-mapping-divisor", "tunable '{0}' cannot be a divisor: {1}");
STRATA_DIAGNOSTIC(missingTunable, Error, "sequoia-mapping-tunable", "instance '{0}' gives no value to tunable '{1}'");
STRATA_DIAGNOSTIC(missingCallsite, Error, "sequoia-mapping-callsite",
                  "instance '{0}' does not say what its call of task '{1}' calls");
STRATA_DIAGNOSTIC(noTargets, Error, "sequoia-mapping-targets", "this callsite has no target");
STRATA_DIAGNOSTIC(hiddenTarget, Error, "sequoia-mapping-hidden-target",
                  "target '{0}' is never called: the target before it has no conditions");
STRATA_DIAGNOSTIC(levelMissing, Error, "sequoia-mapping-level-missing", "instance '{0}' is given no level");
STRATA_DIAGNOSTIC(sizesRank, Error, "sequoia-mapping-rank", "array '{0}' has {1} dimensions, and is given {2} sizes");
STRATA_DIAGNOSTIC(preconditionLocal, Error, "sequoia-mapping-precondition",
                  "'{0}' is a local array, and can have no precondition");
STRATA_DIAGNOSTIC(externalFile, Error, "sequoia-mapping-external", "{0}");
STRATA_DIAGNOSTIC(scratchSpace, Error, "sequoia-mapping-scratch", "{0}");
STRATA_DIAGNOSTIC(layoutSize, Error, "sequoia-mapping-layout",
                  "a block-cyclic layout has sizes of 1 and more, not {0}");
STRATA_DIAGNOSTIC(gridSize, Error, "sequoia-mapping-grid",
                  "the grid of '{0}' distributes it over {1} instances of a memory, and level {2} joins {3}");
STRATA_DIAGNOSTIC(shareAlone, Error, "sequoia-mapping-share-alone", "array '{0}' shares its space with no other");
STRATA_DIAGNOSTIC(copyUnclear, Error, "sequoia-mapping-copy", "copy of '{0}' at the call of '{1}': {2}");

/// Sums and products of a number of the mapping and a size must not overflow.
static constexpr int64_t largestNumber = int64_t(1) << 40;

/// The level of what nothing nearer places: the instance's own, else the first that its blocks give.
unsigned Resolver::ownLevel(const MappedInstance& mapped) {
  OptionalNumber own = mapped.level;
  for (const DataMapping& block : mapped.data)
    own = own ? own : block.level;
  for (const ControlMapping& block : mapped.control)
    own = own ? own : block.level;
  if (!own && machine_.levels.size() > 1)
    diagnostics_.report(levelMissing, mapped.name.place.location, mapped.name.text)
        .label(current_->resolved.variant->location, "the variant")
        .help("write the number of a level in the parentheses: (level 0), in XML: <level> 0 </level>");
  return level(own, 0);
}

void Resolver::external(const MappedInstance& mapped, Instance& resolved) {
  const TaskVariant& variant = *resolved.variant;
  const Location& where = mapped.name.place.location;
  const bool isExternal = variant.kind == TaskKind::External;
  resolved.externalFile = mapped.externalFile;
  if (isExternal && mapped.externalFile.empty())
    diagnostics_.report(externalFile, where, "an instance of an external task names the file that has it")
        .label(variant.location, "the external task")
        .help("write external(\"FILE\") behind the level, in XML: <filename> FILE </filename>");
  if (!isExternal && !mapped.externalFile.empty())
    diagnostics_.report(externalFile, where, "only an instance of an external task has a file")
        .label(variant.location, "the variant");
  if (!mapped.scratch)
    return;
  const MappedNumber& scratch = *mapped.scratch;
  resolved.scratch = scratch.value;
  if (!isExternal)
    diagnostics_
        .report(scratchSpace, scratch.place.location, "only an instance of an external task has local scratch space")
        .label(variant.location, "the variant");
  else if (scratch.value < 1 || scratch.value > largestNumber)
    diagnostics_.report(scratchSpace, scratch.place.location,
                        "local scratch space is of 1 to " + std::to_string(largestNumber) + " bytes, not " +
                            std::to_string(scratch.value));
}

void Resolver::instance(Entry& entry) {
  current_ = &entry;
  const MappedInstance& mapped = *entry.mapped;
  Instance& resolved = entry.resolved;
  const unsigned own = ownLevel(mapped);
  resolved.controlLevel = own;
  resolved.scalarLevel = own;
  external(mapped, resolved);
  if (mapped.uniqueOverlay)
    reportHint("a unique overlay", "the machine has no overlays", mapped.name.place.location, diagnostics_);
  tunables(mapped, resolved);
  data(mapped, resolved, own);
  control(mapped, resolved, own);
}

void Resolver::tunables(const MappedInstance& mapped, Instance& resolved) {
  const TaskVariant& variant = *resolved.variant;
  Seen seen(variant.tunables.size());
  resolved.tunables.assign(variant.tunables.size(), 0);
  resolved.divisors.assign(variant.tunables.size(), 0);
  resolved.tunablePlaces.assign(variant.tunables.size(), {});
  bool isReported = false; // a name that means nothing was meant for one of those that have no value
  for (const MappedTunable& tunable : mapped.tunables) {
    auto index = tunableNamed(tunable.name);
    isReported |= !index;
    if (index && first(seen, *index, "tunable", tunable.name, variant.tunables[*index]->location)) {
      resolved.tunables[*index] = tunable.value.value;
      resolved.divisors[*index] = tunable.isDivisor;
      resolved.tunablePlaces[*index] = tunable.value.place.location;
    }
    if (tunable.value.value < 0) {
      DiagnosticBuilder report =
          diagnostics_.report(tunableNegative, tunable.value.place.location, tunable.name.text, tunable.value.value);
      if (index)
        report.label(variant.tunables[*index]->location, "the tunable");
      report.help("write 0 or more; the program can subtract it, or negate it");
    }
    if (index && tunable.isDivisor)
      divisor(tunable, *index, variant);
    if (tunable.value.value > largestNumber)
      diagnostics_.report(tunableTooLarge, tunable.value.place.location, tunable.name.text, tunable.value.value,
                          largestNumber);
  }
  for (const Variable* tunable : variant.tunables)
    if (!seen[tunable->index] && !isReported)
      diagnostics_.report(missingTunable, mapped.name.place.location, mapped.name.text, tunable->name)
          .label(tunable->location, "declared here")
          .help("write tunable " + std::string(tunable->name) + " = VALUE; in the instance, in XML: <tunable name=\"" +
                std::string(tunable->name) + "\"> VALUE </tunable>");
}

/// A divisor is settled from what the program divides by it, which has to be known by then.
void Resolver::divisor(const MappedTunable& mapped, uint32_t index, const TaskVariant& variant) {
  const TunableUses uses = usesOf(variant);
  const Variable* tunable = variant.tunables[index];
  bool isDivided = false;
  for (const ExactDivision& division : uses.divisions) {
    if (std::find(division.tunables.begin(), division.tunables.end(), tunable) == division.tunables.end())
      continue;
    isDivided = true;
    if (!division.isKnown())
      diagnostics_
          .report(notADivisor, mapped.value.place.location, mapped.name.text,
                  "what is divided by it is not known when the task begins")
          .label(division.expr->location, "the division")
          .help("give it a value: tunable " + mapped.name.text + " = VALUE;");
  }
  isDivided |= std::any_of(uses.shares.begin(), uses.shares.end(),
                           [&](const ExactDivision& share) { return share.tunables[0] == tunable; });
  const bool isTooSmall = mapped.value.value < 1 && !uses.tunables[index].isShift;
  if (!isDivided || isTooSmall || (variant.kind != TaskKind::Inner && uses.tunables[index].isExtent))
    diagnostics_
        .report(notADivisor, mapped.value.place.location, mapped.name.text,
                !isDivided   ? "the task divides nothing by it that it does not round up"
                : isTooSmall ? "the largest value is less than 1"
                             : "the size of a leaf's local array follows from it")
        .label(tunable->location, "the tunable")
        .help("give it a value: tunable " + mapped.name.text + " = VALUE;");
}

void Resolver::data(const MappedInstance& mapped, Instance& resolved, unsigned own) {
  const TaskVariant& variant = *resolved.variant;
  Seen seen(variant.arrays.size()), sharing(variant.arrays.size());
  // An array that no block names takes the level of the first block that gives one.
  unsigned byDefault = own;
  for (size_t i = mapped.data.size(); i-- > 0;)
    byDefault = level(mapped.data[i].level, byDefault);
  resolved.scalarLevel = byDefault;
  resolved.arrayLevels.assign(variant.arrays.size(), byDefault);
  resolved.blockCyclic.resize(variant.arrays.size());
  for (const DataMapping& block : mapped.data) {
    unsigned blockLevel = level(block.level, own);
    spaceShare(block, resolved, sharing);
    for (const MappedArray& each : block.arrays) {
      auto index = arrayNamed(each.name);
      if (!index || !first(seen, *index, "array", each.name, variant.arrays[*index]->location))
        continue;
      resolved.arrayLevels[*index] = level(each.level, blockLevel);
      array(each, resolved, *variant.arrays[*index]);
    }
  }
}

void Resolver::array(const MappedArray& mapped, Instance& resolved, const Variable& declared) {
  std::vector<const SizeBound*> elements, pitches;
  for (const SizeBound& bound : mapped.elements)
    if (mayBound(bound, declared)) {
      resolved.preconditions.push_back({&declared, bound});
      elements.push_back(&bound);
    }
  for (const SizeBound& bound : mapped.pitch)
    if (mayBound(bound, declared)) {
      resolved.pitchPreconditions.push_back({&declared, bound});
      pitches.push_back(&bound);
    }
  const std::string who = "instance '" + resolved.name + "' could never be called";
  agree(elements, who, "the elements of '" + std::string(declared.name) + "'", declared.location);
  agree(pitches, who, "the pitch of '" + std::string(declared.name) + "'", declared.location);
  if (!mapped.blockCyclic)
    return;
  const BlockCyclic& layout = *mapped.blockCyclic;
  bool fine = true;
  for (const std::vector<int64_t>* sizes : {&layout.grid, &layout.blockSize}) {
    fine = fine && (sizes->empty() || hasRank(sizes->size(), layout.place.location, declared));
    for (int64_t size : *sizes)
      if (size < 1) {
        diagnostics_.report(layoutSize, layout.place.location, size).label(declared.location, "the array");
        fine = false;
      }
  }
  if (!fine)
    return;
  const unsigned at = resolved.arrayLevels[declared.index];
  if (!machine_[machine_.levels[at].memory].isVirtual())
    reportHint("a block-cyclic layout of '" + std::string(declared.name) + "'",
               "level " + std::to_string(at) + " is one memory, and no virtual one", layout.place.location,
               diagnostics_);
  else
    gridFits(layout, at, declared);
  resolved.blockCyclic[declared.index] = layout;
}

/// An array at a virtual level is distributed to as many instances of the memory underneath as one of the level joins.
void Resolver::gridFits(const BlockCyclic& layout, unsigned at, const Variable& declared) {
  const machine::Memory& memory = machine_[machine_.levels[at].memory];
  const uint64_t joined = machine::instancesEach(machine_[memory.over].count, memory.count);
  uint64_t distributed = 1;
  for (int64_t each : layout.grid)
    if (__builtin_mul_overflow(distributed, static_cast<uint64_t>(each), &distributed))
      distributed = std::numeric_limits<uint64_t>::max();
  if (distributed <= joined)
    return;
  diagnostics_.report(gridSize, layout.place.location, declared.name, distributed, at, joined)
      .label(declared.location, "the array")
      .help("give numbers whose product is at most " + std::to_string(joined));
}

void Resolver::spaceShare(const DataMapping& block, Instance& resolved, Seen& sharing) {
  if (block.spaceShare.empty())
    return;
  ResolvedSpaceShare set;
  set.place = block.place.location;
  for (const MappedName& name : block.spaceShare) {
    auto index = arrayNamed(name);
    if (!index)
      continue;
    const Variable* declared = resolved.variant->arrays[*index];
    if (first(sharing, *index, "space of array", name, declared->location))
      set.arrays.push_back(declared);
  }
  if (block.spaceShare.size() == 1)
    diagnostics_.report(shareAlone, block.spaceShare[0].place.location, block.spaceShare[0].text)
        .help("name all arrays that lie at one address: spaceshare(A, B)");
  if (set.arrays.size() < 2)
    return;
  resolved.spaceShare.push_back(std::move(set));
}

bool Resolver::mayBound(const SizeBound& bound, const Variable& array) {
  if (array.kind != VariableKind::Parameter) {
    diagnostics_.report(preconditionLocal, bound.place.location, array.name)
        .label(array.location, "declared here")
        .help("its size is what its declaration says; bound the tunables and arguments there");
    return false;
  }
  return hasRank(bound.values.size(), bound.place.location, array);
}

bool Resolver::hasRank(size_t count, const Location& where, const Variable& array) {
  if (count == array.extents.size())
    return true;
  diagnostics_.report(sizesRank, where, array.name, array.extents.size(), count)
      .label(array.location, "declared here")
      .help("write one number for each dimension");
  return false;
}

void Resolver::control(const MappedInstance& mapped, Instance& resolved, unsigned own) {
  const TaskVariant& variant = *resolved.variant;
  unsigned byDefault = own;
  for (size_t i = mapped.control.size(); i-- > 0;)
    byDefault = level(mapped.control[i].level, byDefault);
  resolved.loops.resize(variant.loops.size());
  for (size_t i = 0; i < resolved.loops.size(); ++i) {
    resolved.loops[i].loop = variant.loops[i];
    resolved.loops[i].level = byDefault;
  }
  resolved.callsites.resize(variant.callsites.size());
  Seen seenLoops(variant.loops.size()), seenSites(variant.callsites.size());
  bool isReported = false;
  for (const ControlMapping& block : mapped.control) {
    unsigned blockLevel = level(block.level, own);
    for (const MappedLoop& mappedLoop : block.loops) {
      auto index = loopNamed(mappedLoop.name);
      if (index && first(seenLoops, *index, "loop", mappedLoop.name, variant.loops[*index]->location)) {
        resolved.loops[*index].level = level(mappedLoop.level, blockLevel);
        resolveLoop(mappedLoop, resolved.loops[*index], machine_, diagnostics_);
      }
    }
    for (const MappedCallsite& site : block.callsites) {
      auto index = callsiteNamed(site.task);
      isReported |= !index;
      if (index && first(seenSites, *index, "callsite", site.task, variant.callsites[*index]->location))
        targets(site, resolved.callsites[*index], *variant.callsites[*index]);
    }
  }
  resolveNest(resolved.loops, machine_, diagnostics_);
  for (const Callsite* site : variant.callsites) {
    ResolvedCallsite& target = resolved.callsites[site->index];
    target.callsite = site;
    target.level = site->loop ? resolved.loops[site->loop->index].level : resolved.controlLevel;
    if (!seenSites[site->index])
      onlyTarget(*site, target, isReported);
  }
}

void Resolver::targets(const MappedCallsite& site, ResolvedCallsite& resolved, const Callsite& callsite) {
  resolved.place = site.task.place.location;
  if (site.targets.empty())
    diagnostics_.report(noTargets, site.task.place.location)
        .label(callsite.location, "the call")
        .help("write target INSTANCE() { } between its braces, in XML: <target name=\"INSTANCE\"/>");
  const MappedTarget* always = nullptr;
  for (const MappedTarget& target : site.targets) {
    if (always)
      diagnostics_.report(hiddenTarget, target.instance.place.location, target.instance.text)
          .label(always->instance.place.location, "is always called")
          .label(callsite.location, "the call")
          .help("put conditions on all targets but the last");
    Entry* entry = find(target.instance.text);
    if (!entry || entry->resolved.task != callsite.callee) {
      noInstance(target.instance, callsite.callee->name, callsite.location);
      continue;
    }
    ResolvedTarget result;
    result.instance = indexOf(*entry);
    result.dynamic = target.dynamic;
    conditions(target, result);
    forcedCopies(target, result, callsite, *entry->resolved.variant);
    resolved.targets.push_back(std::move(result));
    if (target.conditions.empty() && !always)
      always = &target;
  }
}

void Resolver::conditions(const MappedTarget& target, ResolvedTarget& result) {
  for (const TargetCondition& condition : target.conditions) {
    if (!condition.array) {
      result.conditions.push_back({nullptr, condition.bound});
    } else if (auto index = arrayNamed(*condition.array)) {
      const Variable& declared = *current_->resolved.variant->arrays[*index];
      if (hasRank(condition.bound.values.size(), condition.bound.place.location, declared))
        result.conditions.push_back({&declared, condition.bound});
    }
  }
  // Each array once, with all that is asked of it.
  for (size_t i = 0; i < result.conditions.size(); ++i) {
    const Variable* array = result.conditions[i].array;
    std::vector<const SizeBound*> bounds;
    bool isFirst = true;
    for (size_t j = 0; j < result.conditions.size(); ++j)
      if (result.conditions[j].array == array) {
        isFirst &= j >= i;
        bounds.push_back(&result.conditions[j].bound);
      }
    if (isFirst)
      agree(bounds, "target '" + target.instance.text + "' is never called",
            array ? "the elements of '" + std::string(array->name) + "'" : "the number of its instantiations",
            array ? array->location : Location());
  }
}

/// A copy is named by the callee's parameter, or by the caller's array that is passed there.
void Resolver::forcedCopies(const MappedTarget& target, ResolvedTarget& result, const Callsite& callsite,
                            const TaskVariant& callee) {
  std::set<uint32_t> positions;
  for (const MappedName& name : target.forcedCopies) {
    auto wrong = [&](const std::string& why) {
      return diagnostics_.report(copyUnclear, name.place.location, name.text, callsite.callee->name, why);
    };
    if (callsite.isCombiner) {
      wrong("a combiner works on copies in any case").label(callsite.location, "the combining task");
      continue;
    }
    std::set<uint32_t> asParameter, asArgument;
    std::vector<std::string> names;
    for (uint32_t p = 0; p < callee.parameters.size(); ++p) {
      const Variable& parameter = *callee.parameters[p];
      const Expr& value = *callsite.statement->arguments[p].value;
      if (!parameter.isArray())
        continue;
      names.emplace_back(parameter.name);
      if (parameter.name == name.text && name.lexnum.value_or(0) == 0)
        asParameter.insert(p);
      if (value.kind != ExprKind::Block)
        continue;
      names.emplace_back(value.variable->name);
      if (value.variable->name == name.text && (!name.lexnum || *name.lexnum == value.variable->lexnum))
        asArgument.insert(p);
    }
    std::set<const Variable*> arrays;
    for (uint32_t p : asArgument)
      arrays.insert(callsite.statement->arguments[p].value->variable);
    if (asParameter.empty() && asArgument.empty()) {
      DiagnosticBuilder builder = wrong("no array argument is called so, here or in '" + std::string(callee.taskName) +
                                        "::" + std::string(callee.name) + "'");
      builder.label(callsite.location, "the call");
      suggest(builder, name.text, names);
    } else if (!asParameter.empty() && !asArgument.empty() && asParameter != asArgument) {
      uint32_t p = *asParameter.begin();
      wrong("it is the callee's parameter, and another argument of the call is an array of that name")
          .label(callsite.location, "the call")
          .label(callee.parameters[p]->location, "the parameter")
          .help("name the argument as the other side calls it: '" +
                std::string(callsite.statement->arguments[p].value->variable->name) + "' for the parameter, '" +
                std::string(callee.parameters[*asArgument.begin()]->name) + "' for the array");
    } else if (arrays.size() > 1) {
      wrong("the call is given several arrays of that name")
          .label(callsite.location, "the call")
          .help("say which: " + name.text + "[0], " + name.text + "[1], …");
    } else {
      positions.insert(asParameter.begin(), asParameter.end());
      positions.insert(asArgument.begin(), asArgument.end());
    }
  }
  result.forcedCopies.assign(positions.begin(), positions.end());
}

/// A combiner that the mapping does not mention is called as its only instance; every other callsite must be written.
void Resolver::onlyTarget(const Callsite& site, ResolvedCallsite& resolved, bool isReported) {
  std::vector<uint32_t> candidates;
  for (uint32_t i = 0; i < all_.size(); ++i)
    if (all_[i].resolved.task == site.callee)
      candidates.push_back(i);
  if (site.isCombiner && candidates.size() == 1) {
    ResolvedTarget target;
    target.instance = candidates[0];
    resolved.targets.push_back(std::move(target));
    return;
  }
  if (isReported)
    return;
  size_t calls = 0;
  for (const Callsite* each : current_->resolved.variant->callsites)
    calls += each->callee == site.callee;
  diagnostics_
      .report(missingCallsite, current_->mapped->name.place.location, current_->resolved.name, site.callee->name)
      .label(site.location, site.isCombiner ? "the combining task" : "the call")
      .help("write callsite " + std::string(site.callee->name) +
            (calls > 1 ? "[" + std::to_string(site.lexnum) + "]" : "") +
            "() { target INSTANCE() { } } in a control block");
}

} // namespace strata::sequoia
