// Footprints: which part of its arrays a kernel reaches, as boxes. An array of one dimension whose indices are sums
// such as (z * ny + y) * nx + x is taken apart into as many dimensions as there are strides (delinearisation: Grosser
// et al., ICS 2015, with strides that are products of integers); what is reached is an interval of each. Whether the
// innermost coordinates stay below the strides is not known here: who uses a box checks that where the integers are
// known.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::mapping {

/// A product of an integer that is known, of integers that the kernel computes of its scalar arguments alone
/// (`parameters`; narrow ones count with their sign), and of the variable of a loop; null: of none.
struct IndexTerm {
  int64_t factor = 0;
  llvm::SmallVector<mlir::Value, 2> parameters;
  mlir::Value variable;
};
/// Their sum, in 64 bits that wrap as indices do.
using IndexSum = std::vector<IndexTerm>;

/// What a guard around an access says of one of its coordinates: it is at most, or at least, `bound`, which has no
/// variables. Says nothing where `onlyIf` is negative.
struct Clip {
  unsigned dimension = 0;
  bool isUpper = false;
  IndexSum bound;
  std::optional<IndexSum> onlyIf = std::nullopt;
};

struct BoxAccess {
  mlir::Operation* op = nullptr; // a memref.load or memref.store
  bool isStore = false;
  bool isCertain = false;            // carried out by every instance once
  std::vector<IndexSum> coordinates; // as many as the box has strides
  std::vector<Clip> clips;
};

/// What is reached of one array.
struct Box {
  unsigned argument = 0; // of the kernel
  /// In elements, outermost first; the last is 1, and each is a multiple of the next. Without variables. None: the
  /// array is a single element.
  std::vector<IndexTerm> strides;
  std::vector<BoxAccess> accesses;
  bool isRead = false, isWritten = false;
  /// Whether what is reached cannot be told, so that it is all of the array; such are read only. Their accesses have no
  /// coordinates.
  bool isWhole = false;
};

struct Footprint {
  std::vector<mlir::scf::ForOp> instances; // the unordered loops, outermost first
  std::vector<mlir::scf::ForOp> inner;     // other loops that indices vary with, each behind those around it
  /// What the bounds of these are, or what they are the least or greatest of (arith.minsi, arith.maxsi).
  llvm::DenseMap<mlir::Value, IndexSum> bounds;
  std::vector<Box> boxes;
  /// Sums that the kernel keeps in so many bits; boxes hold only where they fit.
  std::vector<std::pair<IndexSum, unsigned>> narrow;
};

/// What is in the way of a footprint.
struct FootprintProblem {
  std::string what; // "an index that is loaded from memory"
  mlir::Location place;
};

/// The footprint of a structured kernel that is a nest of unordered loops. Its block arguments have one dimension or
/// none. `ranges` are its arguments that bound these loops, which no index may be computed of. Refers to the kernel's
/// operations.
std::optional<Footprint> footprintOf(svm::KernelOp kernel, llvm::ArrayRef<unsigned> ranges, FootprintProblem& problem);

} // namespace strata::mapping
