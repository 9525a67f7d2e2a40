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

static Obstacle obstacle(Operation* op, std::optional<int64_t> lower, std::optional<int64_t> upper, int64_t step) {
  auto spmd = dyn_cast<SpmdOp>(op);
  if (spmd && spmd.getWays().value_or(0) > 1)
    return {"its iterations are distributed over processors", "leave out 'spmd', or do not flatten the loop"};
  if (!lower || !upper)
    return {"its bounds are not constants after mapping",
            "bound it by constants, tunables and sizes that a precondition states, or unroll it instead"};
  unsigned __int128 count = *upper > *lower ? (static_cast<unsigned __int128>(static_cast<__int128>(*upper) - *lower) +
                                               static_cast<unsigned __int128>(step) - 1) /
                                                  static_cast<unsigned __int128>(step)
                                            : 0;
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
    if (auto spmd = dyn_cast<SpmdOp>(op)) {
      name = spmd.getLabel().value_or("").str();
      found = obstacle(op, getConstantIntValue(spmd.getLower()), getConstantIntValue(spmd.getUpper()), 1);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (auto label = SvmDialect::labelAttr.of(loop))
        name = label.getValue().str();
      found = obstacle(op, getConstantIntValue(loop.getLowerBound()), getConstantIntValue(loop.getUpperBound()),
                       getConstantIntValue(loop.getStep()).value_or(1));
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
