// Kernels of equations become structured ones: loops that isl generates for an order in which every value is computed
// before it is used, with storage for instances only as long as they are needed.
#pragma once

#include "base/machine/figures.h"

#include "mlir/Pass/Pass.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace strata::equations {

/// Takes a logical program and leaves loops in place of every svm.equations, and in front of each run of such a kernel
/// blocks for what it keeps from one iteration to later ones. The order of iterations is the same on every machine.
///
/// Storage folds: of a variable that is used at most m steps later along the outermost dimension that any use moves
/// along, m + 1 steps are kept (m, where each use comes before the definition), and nothing of the dimensions around
/// it.
std::unique_ptr<mlir::Pass> createLowerEquationsPass();

/// How equations are divided among processors that address all arrays.
struct Division {
  int64_t processors = 0;               ///< 0: nothing is divided
  machine::Figures figures = {};        ///< of the machine: from when on parts are worth it
  std::map<std::string, int64_t> sizes; ///< by kernel: how many values of its iterator a part has; else as below
  std::set<std::string> divided;        ///< filled in: the kernels that have parts
};

/// The same for several processors. Where a run of a kernel stands in code that one processor executes, its equations
/// are divided (phases.h): a kernel for each phase, and svm.parallel loops over parts, which have the first kernel's
/// name as their label. Where no size is stated there are as many parts as processors, four times as many where
/// iterations have unequally much to do, and fewer where there is little to compute. Results have the same bits.
/// REQUIRES: the division outlives the pass.
std::unique_ptr<mlir::Pass> createLowerEquationsPassFor(Division& division);

} // namespace strata::equations
