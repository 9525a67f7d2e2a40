// What every command does before it compiles: data options understood, sizes and shapes handed to the compiler, a
// context with the dialects in use.
#pragma once

#include "compiler/driver/data/entry.h"
#include "compiler/driver/session/session.h"
#include "compiler/ir/locations.h"

namespace strata::driver {

/// Understands --size, --in and --out, opens input files, and tells the compiler the sizes and shapes. False on errors
/// (reported).
bool prepare(Session& session, DataOptions& data);

/// A compiler with the MLIR context that it works in.
struct CompilerSession {
  explicit CompilerSession(Session& session);
  mlir::MLIRContext context;
  MlirDiagnostics forward;
  Compiler compiler;
};

/// Whether the program has what data options name, and takes what they give: for commands that do not bind arguments as
/// a run does. A program that does not become a logical one, which the command itself reports where it matters, says
/// nothing of them. False on errors (reported).
bool checkData(Session& session, Compiler& compiler, DataOptions& data);

} // namespace strata::driver
