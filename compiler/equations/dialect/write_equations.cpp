// Uses become loads of cells, elements loads of arrays; what may end the program is checked in front of it. See
// write_equations.h.
#include "compiler/equations/dialect/write_equations.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <cmath>

namespace strata::equations {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using mlir::Value;

Value EquationWriter::constant(int64_t value) {
  return builder_.create<arith::ConstantIndexOp>(place_, value);
}

/// Where an instance of a variable lies.
llvm::SmallVector<Value> EquationWriter::cellOf(uint32_t variable, mlir::AffineMap index,
                                                const std::vector<Value>& iterators) {
  const Storage& storage = storage_[variable];
  const Cells& cells = cells_[variable];
  const int64_t rank = mlir::cast<mlir::MemRefType>(cells.memory.getType()).getRank();
  if (storage.dimensions.empty() || (storage.steps == 1 && storage.dimensions.size() == 1))
    return llvm::SmallVector<Value>(static_cast<size_t>(rank), constant(0));
  const llvm::SmallVector<Value> instance = indices(index, iterators);
  llvm::SmallVector<Value> cell;
  for (size_t i = 0; i < storage.dimensions.size(); ++i) {
    cell.push_back(builder_.createOrFold<arith::SubIOp>(place_, instance[storage.dimensions[i]], cells.least[i]));
    if (i == 0 && storage.steps > 0)
      cell[0] = builder_.createOrFold<arith::RemSIOp>(place_, cell[0], cells.extents[0]);
  }
  return cell;
}

llvm::SmallVector<Value> EquationWriter::indices(mlir::AffineMap map, const std::vector<Value>& iterators) {
  llvm::SmallVector<Value> operands(iterators.begin(), iterators.end());
  for (const Value parameter : op_.getParameters())
    operands.push_back(arguments_.lookup(parameter));
  llvm::SmallVector<Value> found;
  for (mlir::AffineExpr result : map.getResults())
    found.push_back(builder_.create<mlir::affine::AffineApplyOp>(
        place_, mlir::AffineMap::get(map.getNumDims(), map.getNumSymbols(), result), operands));
  return found;
}

void EquationWriter::compute(uint32_t number, const std::vector<Value>& iterators) {
  svm::EquationOp root = equations_[number];
  mlir::IRMapping values = arguments_;
  for (mlir::Operation& op : root.getBody().front()) {
    place_ = op.getLoc();
    if (auto use = mlir::dyn_cast<svm::UseOp>(op)) {
      const uint32_t of = numbers_.at(use.getVariable().str());
      values.map(use.getValue(),
                 builder_.create<memref::LoadOp>(place_, cells_[of].memory, cellOf(of, use.getIndex(), iterators))
                     .getResult());
    } else if (auto element = mlir::dyn_cast<svm::ElementOp>(op)) {
      values.map(element.getValue(), builder_
                                         .create<memref::LoadOp>(place_, arguments_.lookup(element.getInput()),
                                                                 indices(element.getIndex(), iterators))
                                         .getResult());
    } else if (auto define = mlir::dyn_cast<svm::DefineOp>(op)) {
      store(root, values.lookup(define.getValue()), iterators);
    } else {
      check(op, values);
      builder_.clone(op, values);
    }
  }
}

void EquationWriter::store(svm::EquationOp root, Value value, const std::vector<Value>& iterators) {
  place_ = root.getLoc();
  if (root.getOutput()) {
    builder_.create<memref::StoreOp>(place_, value, arguments_.lookup(root.getOutput()),
                                     indices(*root.getIndex(), iterators));
    return;
  }
  const uint32_t of = numbers_.at(root.getVariable()->str());
  builder_.create<memref::StoreOp>(place_, value, cells_[of].memory, cellOf(of, root.instanceMap(), iterators));
}

void EquationWriter::require(Value condition, const char* code, const char* message) {
  builder_.create<svm::CheckOp>(place_, condition, builder_.getStringAttr(code), builder_.getStringAttr(message),
                                mlir::StringAttr(), mlir::ValueRange());
}

/// What ends a program with an error: divisions by zero, or that overflow, and numbers that an integer cannot hold.
void EquationWriter::check(mlir::Operation& op, const mlir::IRMapping& values) {
  const auto operand = [&](unsigned i) { return values.lookup(op.getOperand(i)); };
  if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    const Value divisor = operand(1);
    const mlir::Type type = divisor.getType();
    const auto number = [&](const llvm::APInt& value) -> Value {
      return builder_.create<arith::ConstantOp>(place_, builder_.getIntegerAttr(type, value));
    };
    const unsigned width = type.getIntOrFloatBitWidth();
    using P = arith::CmpIPredicate;
    Value fine = builder_.create<arith::CmpIOp>(place_, P::ne, divisor, number(llvm::APInt(width, 0)));
    if (mlir::isa<arith::DivSIOp, arith::RemSIOp>(op)) {
      const Value other =
          builder_.create<arith::CmpIOp>(place_, P::ne, divisor, number(llvm::APInt::getAllOnes(width)));
      const Value inside =
          builder_.create<arith::CmpIOp>(place_, P::ne, operand(0), number(llvm::APInt::getSignedMinValue(width)));
      fine = builder_.create<arith::AndIOp>(place_, fine, builder_.create<arith::OrIOp>(place_, other, inside));
    }
    require(fine, "equations-division", "a division by zero, or one that overflows");
  } else if (mlir::isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    const bool isSigned = mlir::isa<arith::FPToSIOp>(op);
    const unsigned width = op.getResult(0).getType().getIntOrFloatBitWidth();
    const mlir::Type type = operand(0).getType();
    const auto number = [&](double value) -> Value {
      return builder_.create<arith::ConstantOp>(place_, builder_.getFloatAttr(type, value));
    };
    const double end = std::ldexp(1.0, static_cast<int>(width) - (isSigned ? 1 : 0));
    // Numbers between the least integer less one and it become it, where the type tells them apart.
    const bool isFine = type.isF64() ? width < 53 : width < 24;
    const double least = isSigned ? (isFine ? -end - 1 : -end) : -1;
    using P = arith::CmpFPredicate;
    const Value above =
        builder_.create<arith::CmpFOp>(place_, isSigned && !isFine ? P::OGE : P::OGT, operand(0), number(least));
    const Value below = builder_.create<arith::CmpFOp>(place_, P::OLT, operand(0), number(end));
    require(builder_.create<arith::AndIOp>(place_, above, below), "equations-conversion",
            "a number that an integer cannot hold");
  }
}

} // namespace strata::equations
