// Loops that a mapping flattens: what is asked of them, once sizes have become constants where they can. Reported in
// the mapping's own line, with the loop in the program.
#include "compiler/ir/locations.h"
#include "compiler/mapping/place.h"
#include "compiler/transform/unroll_loops.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(cannotFlatten, Error, "mapping-flatten", "loop '{0}' cannot be flattened: {1}");

/// The place that a mapping record gives, "FILE:LINE:COLUMN".
static Location placeOf(const SourceManager& sources, MLIRContext* context, StringRef text) {
  auto [head, column] = text.rsplit(':');
  auto [file, line] = head.rsplit(':');
  unsigned lineNumber = 0, columnNumber = 0;
  if (line.getAsInteger(10, lineNumber) || column.getAsInteger(10, columnNumber))
    return {};
  return sourceLocation(sources, FileLineColLoc::get(context, file, lineNumber, columnNumber));
}

/// Why a loop cannot be flattened; empty when it can.
static std::string obstacle(Operation* op, std::optional<int64_t> lower, std::optional<int64_t> upper, int64_t step) {
  auto spmd = dyn_cast<SpmdOp>(op);
  if (spmd && spmd.getWays().value_or(0) > 1)
    return "its iterations are dealt to processors";
  if (!lower || !upper)
    return "its bounds are not constants after mapping";
  unsigned __int128 count = *upper > *lower ? (static_cast<unsigned __int128>(static_cast<__int128>(*upper) - *lower) +
                                               static_cast<unsigned __int128>(step) - 1) /
                                                  static_cast<unsigned __int128>(step)
                                            : 0;
  int64_t body = transform::operationsOf(op->getRegion(0));
  if (count > static_cast<unsigned __int128>(transform::mostUnrolledOperations / std::max<int64_t>(body, 1)))
    return "its iterations would be " + std::to_string(static_cast<uint64_t>(count)) + " copies of " +
           std::to_string(body) + " operations";
  return "";
}

bool checkFlattening(ModuleOp program, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  program.walk([&](Operation* op) {
    auto flat = op->getAttrOfType<StringAttr>(SvmDialect::flattenAttr);
    if (!flat)
      return;
    std::string why, name;
    if (auto spmd = dyn_cast<SpmdOp>(op)) {
      name = spmd.getLabel().value_or("").str();
      why = obstacle(op, getConstantIntValue(spmd.getLower()), getConstantIntValue(spmd.getUpper()), 1);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (auto label = loop->getAttrOfType<StringAttr>(SvmDialect::labelAttr))
        name = label.getValue().str();
      why = obstacle(op, getConstantIntValue(loop.getLowerBound()), getConstantIntValue(loop.getUpperBound()),
                     getConstantIntValue(loop.getStep()).value_or(1));
    }
    if (why.empty())
      return;
    Location loop = sourceLocation(diagnostics.sources(), op->getLoc());
    Location said = placeOf(diagnostics.sources(), op->getContext(), flat.getValue());
    auto report = diagnostics.report(cannotFlatten, said.valid() ? said : loop, name, why);
    if (said.valid())
      report.label(loop, "the loop");
    report.help("bound it by constants, tunables and sizes that a precondition states, or unroll it instead");
  });
  return diagnostics.errorCount() == before;
}

} // namespace strata::mapping
