// Loops that a mapping flattens: what is asked of them, once sizes have become constants where they can. Reported in
// the mapping's own line, with the loop in the program.
#include "compiler/mapping/mapped_place.h"
#include "compiler/mapping/place.h"
#include "compiler/transform/unroll_loops.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(cannotFlatten, Error, "mapping-flatten", "loop '{0}' cannot be flattened: {1}");

/// Why a loop cannot be flattened, and what to change; empty when it can.
struct Obstacle {
  std::string why, help;
};

/// One dimension of a loop, as far as it is known.
struct Bounds {
  std::optional<int64_t> lower, upper;
  int64_t step = 1;
};

static Obstacle obstacle(Operation* op, ArrayRef<Bounds> dimensions) {
  auto parallel = dyn_cast<ParallelOp>(op);
  if (parallel && parallel.getParts() && parallel.allParts() > 1)
    return {"its iterations are distributed over processors", "leave out 'spmd', or do not flatten the loop"};
  unsigned __int128 count = 1;
  for (const Bounds& bounds : dimensions) {
    if (!bounds.lower || !bounds.upper)
      return {"its bounds are not constants after mapping",
              "bound it by constants, tunables and sizes that a precondition states, or unroll it instead"};
    const auto step = static_cast<unsigned __int128>(bounds.step);
    const __int128 span = static_cast<__int128>(*bounds.upper) - *bounds.lower;
    count *= span > 0 ? (static_cast<unsigned __int128>(span) + step - 1) / step : 0;
    count = std::min<unsigned __int128>(count, UINT64_MAX);
  }
  int64_t body = transform::operationsOf(op->getRegion(0));
  if (count > static_cast<unsigned __int128>(transform::mostUnrolledOperations / std::max<int64_t>(body, 1)))
    return {"its iterations would be " + std::to_string(static_cast<uint64_t>(count)) + " copies of " +
                std::to_string(body) + " operations",
            "unroll it instead, or choose tunables with which there are fewer iterations"};
  return {};
}

bool checkFlattening(ModuleOp program, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  program.walk([&](Operation* op) {
    LocationAttr flat = SvmDialect::flattenAttr.of(op);
    if (!flat)
      return;
    Obstacle found;
    std::string name;
    if (auto parallel = dyn_cast<ParallelOp>(op)) {
      name = parallel.getLabel().value_or("").str();
      SmallVector<Bounds> dimensions;
      for (auto [lower, upper] : llvm::zip(parallel.getLower(), parallel.getUpper()))
        dimensions.push_back({getConstantIntValue(lower), getConstantIntValue(upper)});
      found = obstacle(op, dimensions);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (auto label = SvmDialect::labelAttr.of(loop))
        name = label.getValue().str();
      found = obstacle(op, {{getConstantIntValue(loop.getLowerBound()), getConstantIntValue(loop.getUpperBound()),
                             getConstantIntValue(loop.getStep()).value_or(1)}});
    }
    if (found.why.empty())
      return;
    Location loop = sourceLocation(diagnostics.sources(), op->getLoc());
    Location said = sourceLocation(diagnostics.sources(), flat);
    auto report = diagnostics.report(cannotFlatten, said.valid() ? said : loop, mappedName(name), found.why);
    if (said.valid())
      report.label(loop, "the loop");
    report.help(found.help);
  });
  return diagnostics.errorCount() == before;
}

} // namespace strata::mapping
