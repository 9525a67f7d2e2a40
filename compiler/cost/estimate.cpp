// First who does what in which order (walk.h), then when (simulate.h). See estimate.h.
#include "compiler/cost/estimate.h"

#include "compiler/cost/simulate.h"
#include "compiler/cost/walk.h"
#include "compiler/ir/locations.h"
#include "compiler/kernel/tiles.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace strata::cost {

STRATA_DIAGNOSTIC(tooDeep, Error, "estimate-too-deep", "'{0}' calls itself too often for an estimate: {1} calls deep");
STRATA_DIAGNOSTIC(
    unknownCost, Warning, "estimate-unknown-cost",
    "'{0}' among the costs of processor '{1}' is neither a class of operations nor a kernel of this program");
STRATA_DIAGNOSTIC(tooLong, Error, "estimate-too-long", "the program's control code is too long for an estimate");
STRATA_DIAGNOSTIC(tooMany, Error, "estimate-too-many", "more than {0} processors take part, too many for an estimate");

/// A cost of which no estimate would ever hear: one that is nearly the name of a class of operations. Others may be of
/// other programs' kernels.
static void checkCosts(ModuleOp module, const Machine& machine, DiagnosticEngine& diagnostics) {
  const std::vector<std::string> names = costNames();
  for (const machine::Processor& processor : machine.processors)
    for (const auto& [name, cycles] : processor.costs)
      if (const std::string nearest = nearestName(name, names); !nearest.empty() && nearest != name &&
                                                                !module.lookupSymbol<svm::KernelOp>(name) &&
                                                                !llvm::is_contained(processor.kernels, name))
        diagnostics.report(unknownCost, processor.origin.of("costs"), name, processor.name)
            .help("did you mean '" + nearest + "'?");
}

std::optional<Estimate> estimate(ModuleOp scheduled, const Machine& machine, llvm::StringRef entry,
                                 llvm::ArrayRef<Known> arguments, DiagnosticEngine& diagnostics, bool keepsEvents) {
  svm::setStage(scheduled, svm::Stage::Lowering);
  PassManager passes(scheduled.getContext());
  passes.nest<svm::KernelOp>().addPass(kernel::createTileLoopsPassFor(machine::figuresOf(machine)));
  auto function = scheduled.lookupSymbol<func::FuncOp>(entry);
  if (!function || failed(passes.run(scheduled)))
    return std::nullopt;
  checkCosts(scheduled, machine, diagnostics);
  try {
    Routes routes(machine);
    Walked walked = walk(scheduled, machine, routes, function, arguments);
    Estimate made = simulate(walked, machine, routes, keepsEvents);
    made.counters = std::move(walked.counters);
    made.assumptions = std::move(walked.assumptions);
    return made;
  } catch (const TooLong& found) {
    const Location where = sourceLocation(diagnostics.sources(), found.at->getLoc());
    switch (found.why) {
    case TooLong::Why::Calls:
      diagnostics.report(tooDeep, where, cast<func::FuncOp>(found.at).getName().str(), mostCalls)
          .help("run it instead");
      break;
    case TooLong::Why::Operations:
      diagnostics.report(tooLong, where).help("smaller sizes, or a mapping with larger blocks, have one");
      break;
    case TooLong::Why::Instances:
      diagnostics.report(tooMany, where, mostInstances).help("map the loop to fewer parts");
      break;
    }
    return std::nullopt;
  }
}

} // namespace strata::cost
