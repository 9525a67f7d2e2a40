// Splitting at barriers: instances that wait for each other become loops over all instances, one loop for each stretch
// of code between two barriers. Loops and choices that hold barriers are taken by all instances alike and come to stand
// around these loops. What an instance computes before a barrier and uses behind it is kept in an array of an element
// an instance, unless it takes a few operations of the instance's number: then it is computed again. (The method is
// that of work-item loops: Jääskeläinen et al., "pocl", 2015, section 4.)
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace strata::transform {

/// Takes logical programs. Concurrent loops that only run a structured kernel with svm.barrier, and that no mapping
/// names, become runs of a kernel with loops that are marked svm.unordered. Others stay, with a remark: instances that
/// might not take a choice alike.
std::unique_ptr<mlir::Pass> createSplitBarriersPass();

} // namespace strata::transform
