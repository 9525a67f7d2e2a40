// The record names loops by their labels, which are the kernels' names.
#include "compiler/driver/compile/division.h"

#include "base/machine/addressing.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/svm.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(notDivided, Warning, "equations-not-divided",
                  "the mapping's block has no effect: nothing of '{0}' is computed by several processors at once");

equations::Division takeDivision(mlir::ModuleOp program, const Machine& machine, mapping::Record& record) {
  equations::Division division;
  division.processors = static_cast<int64_t>(machine::processorsBesideControl(machine));
  division.figures = machine::figuresOf(machine);
  for (auto& [function, placement] : record.functions)
    for (auto& [label, loop] : placement.loops) {
      auto kernel = program.lookupSymbol<svm::KernelOp>(label);
      if (!kernel || kernel.kind() != svm::KernelKind::Equations || loop.chunk.empty() || loop.chunk.front() < 1)
        continue;
      division.sizes[label] = loop.chunk.front();
      loop.chunk = {1};
    }
  return division;
}

void leaveOutUndivided(mapping::Record& record, const equations::Division& division, mlir::ModuleOp program,
                       DiagnosticEngine& diagnostics) {
  for (auto& [function, placement] : record.functions)
    for (const auto& [label, size] : division.sizes) {
      const auto found = placement.loops.find(label);
      if (found == placement.loops.end() || division.divided.contains(label))
        continue;
      const mlir::Location place = locationOf(found->second.place, program.getContext());
      diagnostics.report(notDivided, sourceLocation(diagnostics.sources(), place), label)
          .help("every way of dividing its iterations would have one part wait for another; leave 'block' out");
      placement.loops.erase(found);
    }
}

} // namespace strata::driver
