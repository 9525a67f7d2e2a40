// Lowering: a loop program's equations become a logical program with one kernel of equations and one entry point that
// runs it. Inputs and outputs are the entry point's arguments, in the order of their declarations, and behind them the
// parameters that no extent tells, as 64-bit integers. Not thread safe.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/equations/system.h"
#include "compiler/mapping/record.h"
#include "compiler/notation/node_mapping.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::pla {

/// Values of parameters and shapes of arrays that are known before compilation, and where the values are stated.
struct KnownSizes {
  std::map<std::string, int64_t> sizes;
  std::map<std::string, std::vector<int64_t>> shapes;
  std::map<std::string, Location> places;
};

/// Whether a mapping is one of this program on this machine: one node, with the program's name. Reports what is not.
bool checkMapping(const equations::System& system, const notation::NodeMapping& mapping, const Machine& machine,
                  DiagnosticEngine& diagnostics);

/// Where kernels work in a memory that the program manages, known sizes become constants, by which blocks there have
/// bounds; the code then checks that it is called with them. Sizes that the program excludes are an error, here as far
/// as they are known and else when the entry point is called. The mapping names the program as its one node; a block is
/// how many values of the iterator along which processors share the program each takes at a time. REQUIRES: the system
/// has no reductions, and verifies. Nothing on errors (reported).
std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
lower(const equations::System& system, const KnownSizes& known, const notation::NodeMapping& mapping,
      const Machine& machine, mlir::MLIRContext& context, DiagnosticEngine& diagnostics);

} // namespace strata::pla
