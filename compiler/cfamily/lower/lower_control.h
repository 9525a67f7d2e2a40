// The lowering of C's control to structured operations, for all notations whose statements and expressions are C's:
// storage of variables, values of which one arm is evaluated, and jumps as flags. A lowering of code derives from this;
// which statements and expressions there are is the notation's own.
#pragma once

#include "compiler/cfamily/lower/lower_arithmetic.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata::cfamily {

class ControlLowering : public ArithmeticLowering {
protected:
  using ArithmeticLowering::ArithmeticLowering;

  /// Uninitialized storage that lives as long as `allocations_`: of rank 0 for a value. REQUIRES: that is set.
  Value allocate(mlir::Type type, llvm::ArrayRef<int64_t> extents = {});
  /// Of storage of rank 0, like the next.
  Value load(Value storage);
  void store(Value value, Value storage);
  /// Storage of a truth value.
  Value flag(bool initial = false);
  /// An i1: none of the flags is set. Null ones cannot be.
  Value noneSet(llvm::ArrayRef<Value> flags);

  /// The value of one of two arms, each evaluated only where it is the one; a function that makes it at the current
  /// place.
  template <typename Then, typename Else>
  Value eitherOf(Value holds, mlir::Type type, Then&& then, Else&& otherwise) {
    auto branch = make<mlir::scf::IfOp>(mlir::TypeRange(type), holds, true, true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    yieldIn(branch.thenBlock(), then);
    yieldIn(branch.elseBlock(), otherwise);
    return branch.getResult(0);
  }
  /// && and ||, of which `second` makes the right operand, evaluated only where the left one does not decide.
  template <typename Second>
  Value shortCircuit(bool isAnd, Value first, Second&& second) {
    auto branch = make<mlir::scf::IfOp>(mlir::TypeRange(builder_.getI1Type()), first, true, true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    yieldIn(isAnd ? branch.thenBlock() : branch.elseBlock(), second);
    yieldIn(isAnd ? branch.elseBlock() : branch.thenBlock(), [&] { return truth(!isAnd); });
    return branch.getResult(0);
  }

  /// A list of statements of which some may jump. A jump sets a flag; what stands behind it in the list is guarded by
  /// the flags that can be set by then, side by side and not nested, so that long lists stay flat. The builder is back
  /// behind the list when this ends.
  class FlatList {
  public:
    explicit FlatList(ControlLowering& lowering)
        : lowering_(lowering), guard_(lowering.builder_), outside_(lowering.builder_.saveInsertionPoint()) {}
    /// Goes behind a statement that may have jumped, out of what guards it.
    void leave() { lowering_.builder_.restoreInsertionPoint(outside_); }
    /// What follows is executed where this holds. REQUIRES: leave() has been called, and `holds` was made since then.
    void enter(Value holds);

  private:
    ControlLowering& lowering_;
    mlir::OpBuilder::InsertionGuard guard_;
    mlir::OpBuilder::InsertPoint outside_;
  };

  mlir::Block* allocations_ = nullptr; // at whose begin allocate() puts storage

private:
  template <typename Make>
  void yieldIn(mlir::Block* block, Make&& makeValue) {
    builder_.setInsertionPointToStart(block);
    Value value = makeValue();
    make<mlir::scf::YieldOp>(value);
  }
};

} // namespace strata::cfamily
