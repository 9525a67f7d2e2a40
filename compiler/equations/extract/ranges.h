// What all runs of a kernel say about its integers: the range of each scalar that they give.
#pragma once

#include "compiler/equations/extract/extract.h"

namespace strata::equations {

/// Nothing about a kernel that has uses other than runs, or none.
Known knownOfRuns(svm::KernelOp kernel, mlir::ModuleOp module);

} // namespace strata::equations
