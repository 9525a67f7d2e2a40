// Lowering: the instance graph of a checked program becomes a logical program in the svm dialect, and a mapping record
// that says where its parts go. Every copy that a task call implies is in the result; nothing is elided, hoisted or
// pipelined here. Not thread safe; the program and the graph must outlive the call only.
#pragma once

#include "compiler/mapping/record.h"
#include "compiler/sequoia/resolve/resolve.h"
#include "compiler/sequoia/resolve/sizes.h"

#include "mlir/IR/OwningOpRef.h"

namespace strata::sequoia {

/// A task that is written in another language: its kernel is @source::@strata.ext.INSTANCE.
struct ExternalTask {
  std::string instance;
  std::string file; // as the mapping names it
  const TaskVariant* variant = nullptr;
  uint64_t scratch = 0; // bytes of local space
  Location where;       // of the instance in the mapping
};

struct Lowered {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mapping::Record record;
  std::vector<ExternalTask> externals;
};

/// The module verifies and carries the machine, the program kind and the record as attributes. Nothing when there are
/// errors: what this version does not execute is reported with its place. REQUIRES: svm::registerDialects' dialects can
/// be loaded into `context`; the graph came from resolve() for `program` and `machine`; `known` are the sizes that its
/// bounds were checked with.
std::optional<Lowered> lower(const Program& program, const InstanceGraph& graph, const Machine& machine,
                             mlir::MLIRContext& context, DiagnosticEngine& diagnostics, const KnownSizes& known = {});

} // namespace strata::sequoia
