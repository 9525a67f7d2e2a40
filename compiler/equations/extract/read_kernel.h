// Reads a structured kernel as statements over iteration vectors: loops and conditions become sets, loads and stores
// become accesses, and what one block hands to another is written to a cell and read from it.
#pragma once

#include "compiler/equations/extract/extract.h"
#include "compiler/equations/extract/program.h"
#include "compiler/ir/svm.h"

namespace strata::equations::extraction {

/// Throws Refused for what equations cannot hold, and isl::exception. REQUIRES: the operation verifies.
Program readKernel(svm::KernelOp kernel, const ExtractOptions& options);

} // namespace strata::equations::extraction
