// What is known about integers at a point of a function: loops around it, conditions passed, sizes of blocks. An
// analysis belongs to one function and one thread; operations may be erased while it lives, values that it was asked
// about may not.
//
// Every value has two readings, signed and unsigned, each a linear expression over symbols that is exact for all
// executions that reach the point. Arithmetic is exact where it is proved to fit its type; what it is marked with (nsw,
// nuw) is not believed. Sizes of blocks are in [0, 2^62). Values that nothing is known about are symbols.
#pragma once

#include "compiler/ir/svm.h"
#include "compiler/transform/linear_facts.h"

#include "llvm/ADT/DenseSet.h"

#include <map>

namespace mlir {
class AffineExpr;
class AffineMap;
} // namespace mlir

namespace strata::transform {

/// Of a block, in elements.
inline constexpr int64_t maximumExtent = (int64_t(1) << 62) - 1;

class RangeAnalysis {
public:
  /// REQUIRES: `function` (a function or a kernel) does not change while the analysis lives, but for svm.index being
  /// erased.
  explicit RangeAnalysis(mlir::Operation* function);

  /// Goes to the point before `op`, which lies in the function. Points are best visited in program order.
  void moveTo(mlir::Operation* op);
  /// Whether 0 <= index < extent at the point, both read as signed.
  bool isInRange(mlir::Value index, mlir::Value extent);
  /// Whether the sum, difference, product or shift at the point fits its type, read as signed.
  bool fits(mlir::Operation* op);
  /// The signed reading of an integer or index value that dominates the point. Equal expressions are equal values.
  Linear valueOf(mlir::Value value) { return signedOf(value); }
  /// The point's block and those around it, up to a limit.
  const llvm::SmallPtrSetImpl<mlir::Block*>& around() const { return around_; }

private:
  enum class Reading { Signed, Unsigned };

  /// Counts nested readings and conditions; beyond the limit nothing is known.
  class Nesting {
  public:
    explicit Nesting(unsigned& depth) : depth_(depth) { ++depth_; }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    bool isTooDeep() const { return depth_ > 64; }

  private:
    unsigned& depth_;
  };

  // range_analysis.cpp: points and what holds there.
  void restart(mlir::Block* block);
  void passChecks(mlir::Block* block, mlir::Operation* before);
  void enter(mlir::Operation* op, mlir::Region* region);
  void enterLoop(mlir::Value variable, const Linear& lower, const Linear& upper, const Linear& step);
  void enterAffineLoop(mlir::Value variable, mlir::AffineMap lower, mlir::ValueRange lowerOperands,
                       mlir::AffineMap upper, mlir::ValueRange upperOperands, int64_t step);
  void assumeCondition(mlir::Value condition, bool holds);
  /// What follows from a condition; what is an alternative in itself goes to `alternatives` or is left out.
  void collect(mlir::Value condition, bool holds, Conjunction& facts, std::vector<Alternatives>* alternatives);
  void collectComparison(mlir::arith::CmpIOp compare, bool holds, Conjunction& facts,
                         std::vector<Alternatives>* alternatives);
  void collectSizes();

  // range_values.cpp: readings of values.
  Linear signedOf(mlir::Value value);
  Linear unsignedOf(mlir::Value value);
  std::optional<Linear> computeSigned(mlir::Value value);
  std::optional<Linear> computeUnsigned(mlir::Value value);
  Linear reading(mlir::Value value, Reading how) {
    return how == Reading::Signed ? signedOf(value) : unsignedOf(value);
  }
  /// The sum, difference, product or unchanged operand that `op` computes, before it is cut to the type's width.
  std::optional<Linear> uncut(mlir::Operation* op, Reading how);
  /// What a value is modulo 2 to its width, however often the sums that it is made of have wrapped.
  Linear residueOf(mlir::Value value);
  std::optional<Linear> computeResidue(mlir::Operation* op);
  /// The range of a product of two values that are not known.
  Interval productOf(mlir::Operation* op, Reading how);
  /// The same where it is known to fit.
  std::optional<Linear> exact(mlir::Operation* op, Reading how);
  /// A symbol, in the range of its type.
  Linear unknown(mlir::Value value, Reading how);
  /// The same for what is cut to its width: at most what it was before, where that is not negative.
  Linear cut(mlir::Value value, Reading how);
  std::optional<Linear> quotientOf(mlir::Operation* op, Reading how);
  std::optional<Linear> remainderOf(mlir::Operation* op, Reading how);
  Linear leastOrGreatest(mlir::Value key, llvm::ArrayRef<Linear> choices, bool least, Reading how);
  Linear selected(mlir::Value value, mlir::Value condition, mlir::Value ifTrue, mlir::Value ifFalse);
  /// floor(dividend / divisor). REQUIRES: divisor > 0.
  Linear floorOf(const Linear& dividend, int64_t divisor);
  Linear extentOf(mlir::Value block, unsigned dimension);
  std::optional<Linear> affineOf(mlir::AffineExpr expression, llvm::ArrayRef<Linear> dimensions,
                                 llvm::ArrayRef<Linear> symbols);
  llvm::SmallVector<Linear> affineResults(mlir::AffineMap map, mlir::ValueRange operands);
  /// What is known where both are readings of one value of `width` bits.
  void relate(const Linear& signedValue, const Linear& unsignedValue, unsigned width);
  /// Whether the operation was executed in every execution that reaches the point.
  bool isPassed(mlir::Operation* op) const { return around_.contains(op->getBlock()); }

  /// The symbol that stands for something; the same at every point, so that expressions of different points can be
  /// compared.
  Symbol symbolOf(const void* thing, int64_t aspect);
  Symbol symbolOf(mlir::Value value, int64_t aspect) { return symbolOf(value.getAsOpaquePointer(), aspect); }
  /// Of a value: its readings, a loop variable's count of steps, a block's extents. Of the kernel: its sizes, by
  /// number.
  static constexpr int64_t aspectOf(Reading reading) { return static_cast<int64_t>(reading); }
  static constexpr int64_t tripAspect = 2, firstExtentAspect = 16;

  mlir::Operation* function_;
  svm::KernelOp kernel_; // null for other functions
  LinearFacts facts_;
  llvm::DenseMap<mlir::Value, Linear> signed_, unsigned_, residues_;
  llvm::DenseSet<std::pair<mlir::Operation*, int>> inexact_; ///< what was not proved to fit, by reading
  llvm::DenseMap<std::pair<const void*, int64_t>, Symbol> symbols_;
  std::map<std::pair<Linear, int64_t>, Symbol> quotients_;
  llvm::DenseSet<Symbol> definedQuotients_;
  Symbol nextSymbol_ = 0;
  unsigned depth_ = 0; // of the readings and conditions being followed

  mlir::Block* block_ = nullptr;
  llvm::SmallPtrSet<mlir::Block*, 16> around_;
  llvm::DenseMap<mlir::Block*, llvm::SmallVector<svm::CheckOp>> checks_;
  size_t passedChecks_ = 0;     // of block_
  unsigned conditionSteps_ = 0; // taken for this point; conditions share parts and can unfold to many
};

} // namespace strata::transform
