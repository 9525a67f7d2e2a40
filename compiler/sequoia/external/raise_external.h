// External tasks as structured kernels: the LLVM code of a task's function is raised where that is possible, so that
// it goes the way of a leaf, and stays LLVM code where not. Not thread safe.
#pragma once

#include "compiler/sequoia/external/external_code.h"

#include "llvm/IR/Module.h"

namespace strata::sequoia::external {

/// Gives the task's kernel the body that its function in `module` comes to, or reports a remark that says what prevents
/// it. `module` has lines, and does not change.
void raiseExternal(mlir::ModuleOp program, const ExternalCode& code, const llvm::Module& module,
                   DiagnosticEngine& diagnostics);

/// Removes what is in a module for raising alone.
void removeRaisedForms(llvm::Module& module);

} // namespace strata::sequoia::external
