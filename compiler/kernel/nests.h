// Nests of loops of a kernel as the source has them, made ready for tiles (instance_tiles.h): variables and elements
// that a loop keeps at one place become values that it carries along; loops whose iterations are independent are found,
// and stand around those whose are not. What a nest computes stays the same in every bit.
//
// Source: scalar replacement, Callahan, Carr and Kennedy 1990; loop permutation, Allen and Kennedy 2001, chapter 5.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

#include "base/machine/figures.h"

#include <memory>
#include <optional>

namespace strata::kernel {

/// Variables (memref.alloca of one element) that nothing but the nest uses become values. False where one is left: it
/// is used in a way that loops and choices cannot hand on.
bool carryVariables(mlir::scf::ForOp nest);

/// An element that every iteration of a loop loads or stores, at one place in it, becomes a value that the loop carries
/// along; it is loaded before the loop and stored behind it, where the loop is entered.
void carryElements(mlir::scf::ForOp loop);

/// The loops of a nest in a new order: those with independent iterations outside, `lanes` the innermost of them.
struct Nest {
  llvm::SmallVector<mlir::scf::ForOp> parallel; // the outermost first; each holds the next one and nothing else
  mlir::scf::ForOp lanes() const { return parallel.back(); }
};

/// Nothing where no loop is known to have independent iterations that reach memory side by side, or none of them holds
/// a loop; the nest may have changed its form then, and computes what it did. The loop given is gone otherwise.
/// REQUIRES: a loop in a structured kernel whose arguments are not shared with other processors.
std::optional<Nest> orderNest(mlir::scf::ForOp nest);

/// Tiles the nests of loops of a kernel that have independent iterations. Takes and leaves svm.kernel; leaves
/// operations of the vector dialect.
std::unique_ptr<mlir::Pass> createTileNestsPass();
/// The same with a machine's figures.
std::unique_ptr<mlir::Pass> createTileNestsPassFor(const machine::Figures& figures);

} // namespace strata::kernel
