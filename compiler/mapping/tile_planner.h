// Tiles of a kernel's instances: what each array of the footprint takes, and how large tiles may be, as code that the
// program computes when it runs. Private to offload.cpp.
#pragma once

#include "compiler/mapping/offload.h"
#include "compiler/transform/builders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace strata::mapping {

/// An interval, both ends within.
struct Reach {
  mlir::Value low, high;
};

/// Emits where its builder stands. Refers to what it is given.
class TilePlanner {
protected:
  using Value = mlir::Value;
  template <typename T, unsigned N = llvm::CalculateSmallVectorDefaultInlinedElements<T>::value>
  using SmallVector = llvm::SmallVector<T, N>;

  TilePlanner(mlir::OpBuilder& builder, const InstanceRun& run, const Footprint& footprint,
              llvm::ArrayRef<OffloadStep> steps, const Machine& machine);

  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  Value index(int64_t value) { return math_.constant(value); }
  Value isAtMost(Value left, Value right) {
    return builder_.createOrFold<mlir::arith::CmpIOp>(place_, mlir::arith::CmpIPredicate::sle, left, right);
  }
  Value both(Value left, Value right) {
    return left ? builder_.createOrFold<mlir::arith::AndIOp>(place_, left, right) : right;
  }
  Value choose(Value condition, Value yes, Value no) {
    return builder_.createOrFold<mlir::arith::SelectOp>(place_, condition, yes, no);
  }
  Value quotient(Value value, Value divisor) {
    return builder_.createOrFold<mlir::arith::DivUIOp>(place_, value, divisor);
  }
  Value piecesOf(Value whole, Value part) { return quotient(math_.add(whole, math_.sub(part, index(1))), part); }

  // ---- the kernel's values, outside of it ----
  /// What the kernel computes of its scalar arguments, in the control function.
  Value outside(Value value);

  Value asIndex(Value value);

  Value productOf(const IndexTerm& term, bool isOutside = true);

  Value sumOutside(const IndexSum& sum);

  // ---- ranges ----
  using Instances = SmallVector<Reach>; // of each unordered loop

  std::optional<size_t> instanceOf(Value variable) const;

  Reach rangeOf(Value variable, const Instances& instances);

  Reach rangeOf(const IndexSum& sum, const Instances& instances);

  /// The ends of the loops inside, for all instances: what a bound can be at least and at most.
  Reach boundOf(Value bound);

  Reach unite(std::optional<Reach> range, Reach other);

  /// What an access reaches along a dimension, as far as its guards let it.
  Reach reachOf(const BoxAccess& access, size_t dimension, const Instances& instances);

  SmallVector<Reach> reachOf(const Box& box, const Instances& instances, bool onlyStores);

  // ---- the whole grid ----
  struct Whole {
    SmallVector<Value> strides; // in elements
    SmallVector<Reach> reach;
    SmallVector<Value> fixed; // of each dimension: elements that are reached whatever the tile, or null: all of them
    SmallVector<SmallVector<Value>> factors; // of each dimension: by how much more an instance along a loop reaches
  };

  Value size(Value block) { return make<mlir::memref::DimOp>(block, index(0)); }

  void findWhole();

  void findWhole(const Box& box);

  /// The stride of the dimension around in units of this one's.
  Value ratioOf(const Box& box, size_t dimension);

  /// The terms of a coordinate that vary with a loop over instances; nothing for what has several of one.
  std::vector<IndexTerm> termsOf(const IndexSum& coordinate, size_t loop) const;

  static bool areAlike(const std::vector<IndexTerm>& left, const std::vector<IndexTerm>& right);

  /// How the extent of each dimension grows with the sides of a tile.
  void findGrowth(const Box& box, Whole& whole);

  // ---- tiles ----
  int64_t shareOf(const Box& box, const OffloadStep& step) const;

  /// Whether tiles can be cut along a loop: then what they write is apart.
  bool isApart(size_t loop) const;

  /// Along the dimension, all stores are at one factor times the loop's variable, and the same constants but for less
  /// than the factor.
  bool isApart(const Box& box, size_t dimension, size_t loop) const;

  using Sides = SmallVector<Value>;

  /// Whether every box of a tile with such sides fits its share.
  Value areFitting(const Sides& sides, const OffloadStep& step);

  Value extentOf(const Whole& whole, size_t dimension, const Sides& sides);

  /// Processors of a step under each of the step around it.
  int64_t processorsOf(const OffloadStep& step) const;

  void chooseTile(const OffloadStep& step);

  Value isToBeCut(const Sides& sides, const Sides& from, const OffloadStep& step);

  /// Halves the longest side that may be cut, the outermost of equal ones.
  Sides cut(Sides sides);

  mlir::OpBuilder& builder_;
  const InstanceRun& run_;
  const Footprint& footprint_;
  llvm::ArrayRef<OffloadStep> steps_;
  const Machine& machine_;
  mlir::Location place_;
  transform::IndexMath math_;
  SmallVector<Value> variables_;  // of the loops over instances
  SmallVector<mlir::Type> types_; // of the kernel's arguments

  mlir::IRMapping outside_;
  Instances instances_; // all
  SmallVector<Value> lengths_;
  llvm::DenseMap<Value, Reach> inner_; // of the variables of loops inside
  std::vector<Whole> whole_;           // of each box
  SmallVector<Sides> tiles_;           // of each step
  Value fits_;
};

} // namespace strata::mapping
