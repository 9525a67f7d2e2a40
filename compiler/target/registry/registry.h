// All targets, by name: the only place that lists them. Thread safe.
#pragma once

#include "compiler/target/target.h"

namespace strata::target {

/// In the order in which help shows them; the first is that of a machine that names none.
llvm::ArrayRef<const Target*> allTargets();

/// Null when there is none of that name.
const Target* findTarget(llvm::StringRef name);

/// The target of a machine: the one asked for by `name` (at `where`), else the machine's own (Machine::target). Null
/// when there is no such target, or when a processor of the machine is of another one that this one gives no work to
/// (reported).
const Target* targetOf(const Machine& machine, const std::string& name, Location where, DiagnosticEngine& diagnostics);

} // namespace strata::target
