// The rules of the tree of levels; see validate_levels.h. A tree in which they hold lets data travel between the
// outermost level and every leaf, and gives each level somebody to run its control.
#include "base/machine/validate_levels.h"
#include "base/machine/connections.h"

#include <algorithm>

namespace strata::machine {

STRATA_DIAGNOSTIC(levelCount, Error, "machine-level-count", "{0} levels; at most {1} are possible");
STRATA_DIAGNOSTIC(levelOrder, Error, "machine-level-order",
                  "the levels are listed from the outside in: '{0}' is level 0, which is the innermost");
STRATA_DIAGNOSTIC(levelRepeated, Error, "machine-level-repeated", "memory '{0}' is at levels {1} and {2}");
STRATA_DIAGNOSTIC(levelFan, Error, "machine-level-fan",
                  "{0} of '{1}' at level {2} cannot be divided evenly among {3} of '{4}' above them");
STRATA_DIAGNOSTIC(levelVirtual, Error, "machine-level-virtual",
                  "virtual memory '{0}' at level {1} is not over the memory of the level below");
STRATA_DIAGNOSTIC(levelControl, Error, "machine-level-control", "level {0} has no processor");
STRATA_DIAGNOSTIC(levelUnreachable, Error, "machine-level-unreachable",
                  "processor '{0}' of level {1} does not reach its memory '{2}'");
STRATA_DIAGNOSTIC(levelTransfer, Error, "machine-level-transfer",
                  "nothing moves data between level {0} and level {1}: no processor reaches both '{2}' and '{3}'");

namespace {

constexpr size_t mostLevels = 16;

class LevelValidator {
public:
  LevelValidator(const Machine& machine, DiagnosticEngine& diagnostics)
      : machine_(machine), diagnostics_(diagnostics), connections_(machine) {}

  void run() {
    const std::vector<Level>& levels = machine_.levels;
    // Machines without a tree are whole too: streaming machines name every memory by itself.
    if (levels.size() > mostLevels) {
      diagnostics_.report(levelCount, machine_.origin.of("levels"), levels.size(), mostLevels);
      return;
    }
    for (size_t i = 0; i < levels.size(); ++i)
      checkLevel(i);
    for (size_t i = 0; i < levels.size(); ++i)
      checkAbove(i);
  }

private:
  void checkLevel(size_t number) {
    const Level& level = machine_.levels[number];
    const Memory& memory = machine_[level.memory];
    for (size_t inner = 0; inner < number; ++inner)
      if (machine_.levels[inner].memory == level.memory)
        diagnostics_.report(levelRepeated, level.origin.of("memory"), memory.name, inner, number)
            .label(machine_.levels[inner].origin.of("memory"), "the inner one");
    if (memory.isVirtual() && (number == 0 || machine_.levels[number - 1].memory != memory.over))
      diagnostics_.report(levelVirtual, level.origin.of("memory"), memory.name, number);
    if (!level.processor.valid()) {
      // A virtual level is a view of the one below: the processors above may run its control.
      if (!memory.isVirtual() || !machine_.controllerOf(static_cast<unsigned>(number)).valid())
        diagnostics_.report(levelControl, level.origin.location, number).help("name the class that runs its control");
    } else if (!connections_.reaches(level.processor, level.memory)) {
      diagnostics_
          .report(levelUnreachable, level.origin.of("processor"), machine_[level.processor].name, number, memory.name)
          .help("make the memory local to it, or describe the link between them");
    }
  }

  /// The rules between a level and the one above it.
  void checkAbove(size_t number) {
    const std::vector<Level>& levels = machine_.levels;
    if (number + 1 == levels.size())
      return;
    const Memory& inner = machine_[levels[number].memory];
    const Memory& outer = machine_[levels[number + 1].memory];
    if (outer.count != 0 && inner.count % outer.count != 0)
      diagnostics_
          .report(levelFan, levels[number].origin.of("memory"), inner.count, inner.name, number, outer.count,
                  outer.name)
          .label(inner.origin.of("count"), "these")
          .label(outer.origin.of("count"), "those");
    for (uint32_t i = 0; i < machine_.processors.size(); ++i)
      if (connections_.reaches(ProcessorId{i}, levels[number].memory) &&
          connections_.reaches(ProcessorId{i}, levels[number + 1].memory))
        return;
    diagnostics_.report(levelTransfer, levels[number].origin.location, number, number + 1, inner.name, outer.name)
        .help("describe the link over which data travels, and end it at a processor that moves data");
  }

  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  const Connections connections_;
};

} // namespace

void validateLevels(const Machine& machine, DiagnosticEngine& diagnostics) {
  DiagnosticEngine asListed(diagnostics.sources());
  LevelValidator(machine, asListed).run();
  if (asListed.hasErrors()) {
    // Levels the other way round break many rules with one mistake.
    Machine reversed = machine;
    std::reverse(reversed.levels.begin(), reversed.levels.end());
    DiagnosticEngine otherwise(diagnostics.sources());
    LevelValidator(reversed, otherwise).run();
    if (!otherwise.hasErrors()) {
      diagnostics.report(levelOrder, machine.origin.of("levels"), machine[machine.levels.front().memory].name)
          .label(machine.levels.back().origin.of("memory"), "the innermost")
          .help("list the level of '" + machine[machine.levels.back().memory].name + "' first");
      return;
    }
  }
  for (const Diagnostic& diagnostic : asListed.all())
    diagnostics.add(diagnostic);
}

} // namespace strata::machine
