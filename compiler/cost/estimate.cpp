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

std::optional<Estimate> estimate(ModuleOp scheduled, const Machine& machine, llvm::StringRef entry,
                                 llvm::ArrayRef<Known> arguments, DiagnosticEngine& diagnostics, bool keepsEvents) {
  svm::setStage(scheduled, svm::Stage::Lowering);
  PassManager passes(scheduled.getContext());
  passes.nest<svm::KernelOp>().addPass(kernel::createTileLoopsPassFor(machine::figuresOf(machine)));
  auto function = scheduled.lookupSymbol<func::FuncOp>(entry);
  if (!function || failed(passes.run(scheduled)))
    return std::nullopt;
  try {
    Routes routes(machine);
    Walked walked = walk(scheduled, machine, routes, function, arguments);
    Estimate made = simulate(walked, machine, routes, keepsEvents);
    made.counters = std::move(walked.counters);
    made.assumptions = std::move(walked.assumptions);
    return made;
  } catch (const TooDeep& found) {
    diagnostics
        .report(tooDeep, sourceLocation(diagnostics.sources(), found.at->getLoc()),
                cast<func::FuncOp>(found.at).getName().str(), 256)
        .help("run it instead");
    return std::nullopt;
  }
}

} // namespace strata::cost
