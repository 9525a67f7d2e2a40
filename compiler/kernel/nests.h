// Nests of loops of a kernel as the source has them, made ready for tiles (tiles.h): variables and elements that a loop
// keeps at one place become values that it carries along; records become their fields; loops whose iterations are
// independent are found, and stand around those whose are not; checks are made in front of it. What a nest computes
// stays the same in every bit.
//
// Source: scalar replacement, Callahan, Carr and Kennedy 1990; loop permutation, Allen and Kennedy 2001, chapter 5.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace strata::kernel {

struct TileProblem;

/// Records become their fields: a load or store of one becomes those of its numbers, by svm.fields, and a variable or
/// array of records one of each field. Left are records that loops and choices hand on.
void splitRecords(svm::KernelOp kernel);

/// Variables (memref.alloca of one element) become values: loops carry them along and choices give them as results
/// where somebody reads them later. One that is read before it is written is 0. Left are those that other operations
/// with regions than loops and choices, such as scf.while, hand from one iteration to the next or to what is behind
/// them, and those that are used otherwise than loaded and stored.
void carryVariables(svm::KernelOp kernel);

/// An element that every iteration of a loop loads or stores, at one place in it, becomes a value that the loop carries
/// along; it is loaded before the loop and stored behind it, where the loop is entered.
void carryElements(mlir::scf::ForOp loop);

/// Loads of variables that a loop does not store to go in front of it, one of each, or give way to what was loaded or
/// stored there: those that carryVariables has left, which are set in loops of another kind around it.
void moveSteadyLoads(mlir::scf::ForOp loop);

/// Erases the checks in a nest that can be made for all its iterations at once: of indices that grow with its loops,
/// and of conditions that stay the same. Gives whether none of them would fail, as a choice in front of the nest that
/// asks first for what its condition is made (true here), and is false without; null where there are none such. It may
/// be false where none fails: a loop without iterations. What does not change in the nest stands in front of it then.
mlir::scf::IfOp checkInFront(mlir::scf::ForOp nest);

/// Whether a block shares no element with what else a kernel reaches by another name, unless the kernel's arguments may
/// alias: an argument, the one shape of an argument that is used, an array of the kernel, a table, or a field of the
/// records of one of these.
bool isApart(mlir::Value block);

/// Of a block that is a field of records side by side: how many numbers of its size a record has, where these are few.
/// 1 for any other.
unsigned fieldsSideBySide(mlir::Value block);

/// `for i: if c: … else: …` becomes `if c: for i: … else: for i: …` where the condition does not depend on the loop,
/// and the loop is not long. REQUIRES: what the loop does not change is in front of it (svm::moveInvariants). The loop
/// given is gone where it changes.
void unswitch(mlir::scf::ForOp loop);

/// Iterations that are too few for lanes: LLVM unrolls such loops.
constexpr int64_t fewTrips = 8;

/// How often a loop goes around, where its bounds and step are constants.
std::optional<int64_t> constantTripCount(mlir::scf::ForOp loop);

/// The loops of a nest in a new order: those with independent iterations outside, `lanes` the innermost of them.
struct Nest {
  llvm::SmallVector<mlir::scf::ForOp> parallel; // the outermost first; each holds the next one and nothing else
  mlir::scf::ForOp lanes() const { return parallel.back(); }
};

/// Nothing where no loop is known to have independent iterations that reach memory side by side, or anyhow where
/// `isScattered` (`problem` says why); the nest may have changed its form then, and computes what it did. The loop
/// given is gone otherwise. REQUIRES: a loop in a structured kernel whose arguments are not shared with other
/// processors, with its variables carried (carryVariables).
std::optional<Nest> orderNest(mlir::scf::ForOp nest, bool isScattered, TileProblem& problem);

} // namespace strata::kernel
