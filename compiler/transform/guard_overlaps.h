// Checks that parts of one array which are used at once do not overlap where one of them is written.
#pragma once

#include "compiler/ir/svm.h"

#include <string>

namespace strata::transform {

/// Puts a check before every move between two parts of one array, every run and call that is given two of which one is
/// written, and between the moves of scopes that are said to be disjoint, unless the parts are seen to be disjoint.
/// REQUIRES: a logical program that verifies, with the ranges of its views checked where they are made.
void guardOverlaps(mlir::ModuleOp program);

/// How messages call the array that a block is part of.
std::string nameOfBlock(mlir::Value block);

} // namespace strata::transform
