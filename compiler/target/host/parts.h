// Kernels that run on processors of other targets (target::Part): this target's code calls theirs.
#pragma once

#include "compiler/target/host/engine.h"
#include "compiler/target/target.h"

namespace strata::host {

/// Has every run on a processor of another target run a kernel of its own, whose function packs its arguments and calls
/// that target's code. Before kernels are lowered.
void callParts(target::Program program);

/// What these functions call, for code that is loaded into this process.
std::vector<target::Symbol> symbolsOfParts(llvm::ArrayRef<target::Part> parts);

} // namespace strata::host
