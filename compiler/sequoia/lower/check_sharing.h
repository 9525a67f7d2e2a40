// spaceshare: whether arrays of a leaf can lie at one address without changing what the leaf computes. Takes a lowered
// kernel and the sets that its instance asks for; changes nothing.
#pragma once

#include "compiler/ir/svm.h"
#include "compiler/sequoia/resolve/resolve.h"

namespace strata::sequoia {

/// Reports every set that is not proved harmless, with the accesses that stand against it; true when there is none.
/// `arguments` are the kernel's arguments that are arrays of the instance, null for others.
bool checkSharing(svm::KernelOp kernel, const Instance& instance, const std::vector<const Variable*>& arguments,
                  const Machine& machine, DiagnosticEngine& diagnostics);

/// Reports the sets of an instance whose arrays no leaf of the program works on.
bool checkSharingKind(const Instance& instance, const Machine& machine, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia
