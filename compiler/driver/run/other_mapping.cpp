// All tunables are changed at once. Only where that finds something is each changed alone, to name the one that
// decides. A mapping that the program refuses (a block beyond its array, sizes that do not fit) says nothing: values
// that divide the sizes are tried then.
#include "compiler/driver/run/other_mapping.h"

#include "compiler/driver/compile/notations.h"

#include "compiler/ir/locations.h"

#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace strata::driver {

STRATA_DIAGNOSTIC(mappingDecides, Warning, "check-mapping-decides",
                  "the result depends on {0}: {1} of '{2}' is {3} with {4}, and {5} with {6}");
STRATA_DIAGNOSTIC(mappingFault, Warning, "check-other-mapping", "with {0}, which another mapping may choose: {1}");
STRATA_DIAGNOSTIC(
    partsDecide, Error, "check-reduction-parts",
    "the result depends on how the iterations of a mapreduce are distributed: {0} of '{1}' is {2} when each iteration "
    "goes on from the result of the one before, and {3} when they are made in three parts that are combined");
STRATA_DIAGNOSTIC(mappingTried, Remark, "check-mapping-tried", "the program was also checked with {0}");
STRATA_DIAGNOSTIC(mappingRefused, Remark, "check-mapping-refused",
                  "the program was checked under its own mapping only: with {0}, {1}");

namespace {

/// An interpretation under another mapping may take so many times the steps of the first one, and a few more.
constexpr uint64_t mostTimes = 3, someSteps = 1 << 20;
/// A run of so many steps, about a second, is tried on other levels as well.
constexpr uint64_t fewSteps = uint64_t(1) << 26;
/// So many tunables are tried one by one.
constexpr size_t mostAlone = 8;

/// What a program does wrong, wherever it is mapped to; anything else that ends a run is a mapping that does not fit.
const llvm::StringSet<>& faults() {
  static const llvm::StringSet<> codes{"check-overlap",        "check-iteration-overlap",
                                       "check-repeated-index", "interpret-undefined-read",
                                       "check-combiner",       "check-signed-overflow"};
  return codes;
}

using Values = std::vector<std::pair<TunableInUse, int64_t>>;

std::string text(const Values& values, bool others) {
  std::string result;
  for (const auto& [tunable, other] : values)
    result += (result.empty() ? "" : ", ") + tunable.name + " = " + std::to_string(others ? other : tunable.value);
  return result;
}

/// What came of one interpretation.
struct Outcome {
  enum class Kind { Same, Differs, Faulty, Refused } kind = Kind::Refused;
  Diagnostic fault;        ///< Faulty; of a mapping that is refused, why, or nothing
  bool isMismatch = false; ///< refused since arrays disagree in a size
  size_t argument = 0;
  std::string element, before, after; ///< Differs
};

class OtherMappings {
public:
  OtherMappings(Compiler& compiler, const CheckedRun& run, DiagnosticEngine& diagnostics)
      : compiler_(compiler), run_(run), diagnostics_(diagnostics) {
    mlir::ModuleOp program = run.program;
    program.walk([&](svm::ParallelOp loop) { reduces_ |= !loop.getReductions().empty(); });
  }

  bool check() {
    const std::vector<TunableInUse> tunables = compiler_.tunables();
    auto valuesOf = [&](int64_t (*choose)(const TunableInUse&)) {
      Values values;
      for (const TunableInUse& tunable : tunables)
        values.emplace_back(tunable, choose(tunable));
      return values;
    };
    Values all = valuesOf(otherValue);
    Outcome outcome;
    if (!all.empty())
      outcome = interpretWith(all);
    if (!all.empty() && outcome.kind == Outcome::Kind::Refused) {
      Values dividing = valuesOf(otherDivisor);
      if (Outcome second = interpretWith(dividing); second.kind != Outcome::Kind::Refused) {
        all = std::move(dividing);
        outcome = std::move(second);
      } else if (second.isMismatch && reportMismatch(dividing)) {
        return true;
      } else if (!outcome.fault.message.empty()) {
        diagnostics_.report(mappingRefused, {}, text(all, true), outcome.fault.message);
      }
    }
    if (outcome.kind == Outcome::Kind::Same) {
      diagnostics_.report(mappingTried, {}, text(all, true)).help("results may not depend on the mapping");
      checkLevels();
      return true;
    }
    // Functions in C that do another thing each time say nothing about mappings.
    if (isFinding(outcome) && run_.oracle.callsC && interpretWith({}, /*splits=*/false).kind != Outcome::Kind::Same)
      return true;
    // In parts, with the mapping at hand: what shows here is wrong under every mapping.
    if (reduces_)
      if (Outcome parts = interpretWith({}); !reportParts(parts))
        return false;
    if (all.empty()) {
      checkLevels();
      return true;
    }
    for (size_t i = 0; i < std::min(all.size(), all.size() > 1 ? mostAlone : 0); ++i)
      if (Outcome alone = interpretWith({all[i]}); isFinding(alone)) {
        report({all[i]}, alone);
        return true;
      }
    if (isFinding(outcome))
      report(all, outcome);
    return true;
  }

private:
  static bool isFinding(const Outcome& outcome) {
    return outcome.kind == Outcome::Kind::Differs || outcome.kind == Outcome::Kind::Faulty;
  }

  /// A mapping made for a machine of other levels calls other variants, and cuts differently at each level.
  /// The machines known by name that have several levels, but for the one in use.
  std::vector<std::string> otherMachines() const {
    const CompileOptions& options = compiler_.options();
    std::vector<std::string> others;
    for (const std::string& name : machineNames(options.machinePath)) {
      DiagnosticEngine quiet(diagnostics_.sources());
      const auto machine = name == options.machine ? std::nullopt : loadMachine(name, options.machinePath, quiet);
      if (machine && machine->levels.size() > 1)
        others.push_back(name);
    }
    return others;
  }

  /// The instances that have tunables.
  static std::set<std::string> instancesThatCut(Compiler& compiler) {
    std::set<std::string> names;
    for (const TunableInUse& tunable : compiler.tunables())
      names.insert(tunable.instance);
    return names;
  }

  CompileOptions optionsFor(const std::string& machine) const {
    CompileOptions options = compiler_.options();
    if (!machine.empty()) {
      options.machine = machine;
      options.halvings = 0;
    }
    options.isTrial = true;
    return options;
  }

  void checkLevels() {
    if (!compiler_.isMappedByDefault() || run_.oracle.callsC || run_.oracle.steps > fewSteps)
      return;
    // The first that the program fits, of those where it is cut at other levels if there are any.
    std::vector<std::string> machines, alike;
    const std::set<std::string> cut = instancesThatCut(compiler_);
    for (const std::string& each : otherMachines()) {
      DiagnosticEngine quiet(diagnostics_.sources());
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      Compiler other(context, quiet, optionsFor(each));
      (instancesThatCut(other) != cut ? machines : alike).push_back(each);
    }
    machines.insert(machines.end(), alike.begin(), alike.end());
    std::string machine;
    Outcome outcome;
    for (const std::string& each : machines) {
      machine = each;
      outcome = interpretWith({}, /*splits=*/true, machine);
      if (outcome.kind != Outcome::Kind::Refused)
        break;
    }
    const std::string where = "the mapping that is made for machine '" + machine + "'";
    if (outcome.kind == Outcome::Kind::Differs)
      diagnostics_
          .report(mappingDecides, {}, "the levels of the machine", outcome.element,
                  run_.entry.arguments[outcome.argument].name, outcome.before, "the mapping in use", outcome.after,
                  where)
          .note("a mapping may change what a program costs, and not what it computes")
          .help("all variants of a task have to compute the same, however their arrays are cut");
    if (outcome.kind == Outcome::Kind::Faulty) {
      Diagnostic diagnostic = outcome.fault;
      diagnostic.kind = &mappingFault;
      diagnostic.message = formatMessage(mappingFault.format, {where, outcome.fault.message});
      diagnostics_.add(std::move(diagnostic));
    }
  }

  Outcome interpretWith(const Values& values, bool splits = true, const std::string& machine = {}) {
    Outcome outcome;
    CompileOptions options = optionsFor(machine);
    for (const auto& [tunable, value] : values)
      options.chosen[{tunable.instance, tunable.name}] = value;
    DiagnosticEngine quiet(diagnostics_.sources());
    mlir::DialectRegistry registry;
    svm::registerDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    MlirDiagnostics forward(context, quiet);
    context.loadAllAvailableDialects();
    Compiler compiler(context, quiet, options);
    auto program = compiler.logical();
    auto arrays = program ? run_.arrays() : std::nullopt;
    auto function = program ? program->module->lookupSymbol<mlir::func::FuncOp>(run_.entry.name) : nullptr;
    if (!arrays || !function || quiet.hasErrors()) {
      if (!quiet.all().empty())
        outcome.fault = quiet.all().front();
      return outcome;
    }
    Interpreted other;
    other.binding = std::move(*arrays);
    const InterpretMode mode{true, splits, run_.oracle.steps * mostTimes + someSteps};
    if (!interpret(*program->module, run_.entry, other, mode, run_.kernels, quiet)) {
      if (!quiet.all().empty())
        outcome.fault = quiet.all().back();
      if (faults().contains(other.failure) && !quiet.all().empty())
        outcome.kind = Outcome::Kind::Faulty;
      const notation::Description* notation = descriptionOf(options.program);
      outcome.isMismatch = notation && !other.failure.empty() && other.failure == notation->sizeMismatch;
      return outcome;
    }
    return compareWith(other);
  }

  Outcome compareWith(const Interpreted& other) {
    Outcome outcome;
    outcome.kind = Outcome::Kind::Same;
    const Interpreted& oracle = run_.oracle;
    const bool decided = oracle.decidedAt || other.decidedAt || oracle.notFiniteAt || other.notFiniteAt;
    for (size_t position = 0; position < run_.entry.arguments.size(); ++position) {
      if (!run_.entry.arguments[position].written)
        continue;
      const Array &ours = oracle.binding.arrays[position], &theirs = other.binding.arrays[position];
      const std::vector<bool>& hasValue = other.hasValue[position];
      auto missing = std::find(hasValue.begin(), hasValue.end(), false);
      if (missing != hasValue.end()) {
        outcome.kind = Outcome::Kind::Differs;
        outcome.argument = position;
        const auto element = static_cast<uint64_t>(missing - hasValue.begin());
        outcome.element = elementText(ours, element);
        outcome.before = "written";
        outcome.after = "not";
        return outcome;
      }
      if (decided)
        continue;
      if (auto found = firstDifference(theirs, ours, oracle.distances[position], /*rough=*/true)) {
        outcome.kind = Outcome::Kind::Differs;
        outcome.argument = position;
        outcome.element = elementText(ours, found->element);
        outcome.before = numberText(found->wanted);
        outcome.after = numberText(found->ours);
        return outcome;
      }
    }
    return outcome;
  }

  /// Arrays that agree in their sizes by the choice of one tunable only, although it divides them: tells which.
  bool reportMismatch(const Values& values) {
    for (size_t i = 0; i < std::min(values.size(), mostAlone); ++i)
      if (Outcome alone = interpretWith({values[i]}); alone.isMismatch) {
        alone.kind = Outcome::Kind::Faulty;
        report({values[i]}, alone);
        return true;
      }
    return false;
  }

  /// False when the mapping at hand is wrong as well.
  bool reportParts(const Outcome& outcome) {
    if (outcome.kind == Outcome::Kind::Faulty) {
      diagnostics_.add(outcome.fault);
      return false;
    }
    if (outcome.kind != Outcome::Kind::Differs)
      return true;
    diagnostics_
        .report(partsDecide, reductionPlace(), outcome.element, run_.entry.arguments[outcome.argument].name,
                outcome.before, outcome.after)
        .help("a task that is reduced has to combine what it finds with the argument that it is given, by what the "
              "combiner does, and may not replace it");
    return false;
  }

  Location reductionPlace() const {
    Location place;
    mlir::ModuleOp program = run_.program;
    program.walk([&](svm::ParallelOp loop) {
      if (!loop.getReductions().empty() && !place.valid())
        place = sourceLocation(diagnostics_.sources(), placePart(loop.getLoc(), 1));
    });
    return place;
  }

  void report(const Values& values, const Outcome& outcome) {
    const std::string others = text(values, true);
    auto addPlaces = [&](DiagnosticBuilder& report) {
      for (const auto& [tunable, other] : values) {
        if (tunable.place.valid())
          report.label(tunable.place, "set here");
        if (tunable.declared.valid() && tunable.declared != primary(values))
          report.label(tunable.declared, "declared here");
      }
    };
    if (outcome.kind == Outcome::Kind::Faulty) {
      Diagnostic diagnostic = outcome.fault;
      diagnostic.kind = &mappingFault;
      diagnostic.message = formatMessage(mappingFault.format, {others, outcome.fault.message});
      diagnostic.notes.push_back("the mapping in use, with " + text(values, false) + ", does not show it");
      diagnostics_.add(std::move(diagnostic));
      return;
    }
    std::string names;
    for (const auto& [tunable, other] : values)
      names += (names.empty() ? values.size() > 1 ? "tunables '" : "tunable '" : ", '") + tunable.name + "'";
    auto report = diagnostics_.report(mappingDecides, primary(values), names, outcome.element,
                                      run_.entry.arguments[outcome.argument].name, outcome.before, text(values, false),
                                      outcome.after, others);
    addPlaces(report);
    report.note("a mapping may change what a program costs, and not what it computes")
        .help(
            "cover every element whatever the value: round up where a size is divided, '(N + t - 1) / t', and the last "
            "block is shorter");
  }

  static Location primary(const Values& values) { return values.front().first.declared; }

  Compiler& compiler_;
  const CheckedRun& run_;
  DiagnosticEngine& diagnostics_;
  bool reduces_ = false;
};

} // namespace

int64_t otherValue(const TunableInUse& tunable) {
  const int64_t value = tunable.value;
  auto divides = [&](int64_t number) {
    return llvm::any_of(tunable.sizes, [&](int64_t size) { return size % number == 0; });
  };
  // Blocks that leave as many elements over as those in use may leave the same ones.
  auto leavesOthers = [&](int64_t number) {
    return llvm::all_of(tunable.sizes, [&](int64_t size) { return value < 1 || size % number != size % value; });
  };
  // With half of the least size there are two iterations at least.
  int64_t most = INT64_MAX;
  for (int64_t size : tunable.sizes)
    most = std::min(most, std::max<int64_t>(2, size / 2));
  const int64_t below = std::min(value - 1, most), above = std::max<int64_t>(value, 1) + 1;
  auto search = [](int64_t begin, int64_t step, llvm::function_ref<bool(int64_t)> fits) -> std::optional<int64_t> {
    for (int64_t other = begin; other >= 2 && std::abs(other - begin) < 64; other += step)
      if (fits(other))
        return other;
    return std::nullopt;
  };
  auto both = [&](int64_t other) { return leavesOthers(other) && !divides(other); };
  auto notDividing = [&](int64_t other) { return !divides(other); };
  auto found = search(below, -1, both);
  if (!found)
    found = search(above, 1, [&](int64_t other) { return other <= most && both(other); });
  if (!found)
    found = search(below, -1, leavesOthers);
  if (!found)
    found = search(above, 1, both);
  if (!found)
    found = search(above, 1, notDividing);
  return found.value_or(value > 1 ? value - 1 : value + 1);
}

int64_t otherDivisor(const TunableInUse& tunable) {
  int64_t common = 0;
  for (int64_t size : tunable.sizes)
    common = std::gcd(common, size);
  if (common <= 0)
    return tunable.value > 1 ? tunable.value / 2 : 2;
  const int64_t most = std::min(tunable.value - 1, std::max<int64_t>(common / 2, 1));
  for (int64_t other = most; other >= 1 && most - other < 4096; --other)
    if (common % other == 0)
      return other;
  for (int64_t other = std::max<int64_t>(tunable.value, 1) + 1; other <= std::min<int64_t>(common, 4096); ++other)
    if (common % other == 0)
      return other;
  return 1;
}

bool checkOtherMappings(Compiler& compiler, const CheckedRun& run, DiagnosticEngine& diagnostics) {
  return OtherMappings(compiler, run, diagnostics).check();
}

} // namespace strata::driver
