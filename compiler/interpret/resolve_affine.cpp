// The affine dialect: expressions become integer arithmetic, loops counted loops.
#include "compiler/interpret/resolver.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace strata::interpret {

Slot Resolver::affine(AffineExpr expression, unsigned dimensions, ArrayRef<Slot> operands) {
  if (auto known = dyn_cast<AffineConstantExpr>(expression))
    return constant(static_cast<uint64_t>(known.getValue()));
  if (auto dimension = dyn_cast<AffineDimExpr>(expression))
    return operands[dimension.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return operands[dimensions + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expression);
  Slot result = newSlots(1);
  nested([&] {
    Slot left = affine(binary.getLHS(), dimensions, operands), right = affine(binary.getRHS(), dimensions, operands);
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      emit(Opcode::AddI, result, left, right);
      break;
    case AffineExprKind::Mul:
      emit(Opcode::MulI, result, left, right);
      break;
    case AffineExprKind::FloorDiv:
      emit(Opcode::Divide, result, left, right).small = static_cast<uint8_t>(Division::FloorSigned);
      break;
    case AffineExprKind::CeilDiv:
      emit(Opcode::Divide, result, left, right).small = static_cast<uint8_t>(Division::CeilSigned);
      break;
    default:
      emit(Opcode::Divide, result, left, right).small = static_cast<uint8_t>(Division::Modulo);
      break;
    }
  });
  return result;
}

Slot Resolver::affineExtreme(AffineMap map, ArrayRef<Slot> operands, bool greatest) {
  Slot best = newSlots(1);
  for (auto [position, expression] : llvm::enumerate(map.getResults())) {
    Slot each = affine(expression, map.getNumDims(), operands);
    if (position == 0) {
      emit(Opcode::Copy, best, each);
      continue;
    }
    Slot better = greatest ? integer(Opcode::LessSigned, best, each) : integer(Opcode::LessSigned, each, best);
    emit(Opcode::Select, best, better, each, best, 1);
  }
  return best;
}

SmallVector<Slot> Resolver::affineAll(AffineMap map, ValueRange operands) {
  SmallVector<Slot> given, list;
  for (Value operand : operands)
    given.push_back(slot(operand));
  for (AffineExpr expression : map.getResults())
    list.push_back(affine(expression, map.getNumDims(), given));
  return list;
}

bool Resolver::resolveAffine(Operation* op) {
  auto slotsOfAll = [&](ValueRange values) {
    SmallVector<Slot> list;
    for (Value value : values)
      list.push_back(slot(value));
    return list;
  };
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    emit(Opcode::Copy, slot(apply.getResult()), affineAll(apply.getAffineMap(), apply.getOperands())[0]);
  } else if (auto least = dyn_cast<affine::AffineMinOp>(op)) {
    alias(least.getResult(), affineExtreme(least.getAffineMap(), slotsOfAll(least.getOperands()), false));
  } else if (auto most = dyn_cast<affine::AffineMaxOp>(op)) {
    alias(most.getResult(), affineExtreme(most.getAffineMap(), slotsOfAll(most.getOperands()), true));
  } else if (auto load = dyn_cast<affine::AffineLoadOp>(op)) {
    resolveAccess(op, true, load.getMemRef(), load.getResult(), affineAll(load.getAffineMap(), load.getMapOperands()));
  } else if (auto store = dyn_cast<affine::AffineStoreOp>(op)) {
    resolveAccess(op, false, store.getMemRef(), store.getValueToStore(),
                  affineAll(store.getAffineMap(), store.getMapOperands()));
  } else if (auto loop = dyn_cast<affine::AffineForOp>(op)) {
    copyValues(loop.getRegionIterArgs(), loop.getInits());
    for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
      alias(result, slot(argument));
    Slot lower = affineExtreme(loop.getLowerBoundMap(), slotsOfAll(loop.getLowerBoundOperands()), true);
    Slot upper = affineExtreme(loop.getUpperBoundMap(), slotsOfAll(loop.getUpperBoundOperands()), false);
    counted(slot(loop.getInductionVar()), lower, upper, constant(static_cast<uint64_t>(loop.getStepAsInt())), 64, false,
            [&] {
              resolveBody(loop.getRegion(),
                          [&](Operation* yield) { copyValues(loop.getRegionIterArgs(), yield->getOperands()); });
            });
  } else if (auto parallel = dyn_cast<affine::AffineParallelOp>(op)) {
    if (parallel.getNumResults()) {
      unsupported(op, " with reductions");
      return true;
    }
    SmallVector<Slot> lowerOperands = slotsOfAll(parallel.getLowerBoundsOperands());
    SmallVector<Slot> upperOperands = slotsOfAll(parallel.getUpperBoundsOperands());
    auto dimension = [&](auto& self, unsigned i) -> void {
      if (i == parallel.getNumDims())
        return resolveBody(parallel.getRegion(), [](Operation*) {});
      Slot lower = affineExtreme(parallel.getLowerBoundMap(i), lowerOperands, true);
      Slot upper = affineExtreme(parallel.getUpperBoundMap(i), upperOperands, false);
      nested([&] {
        counted(slot(parallel.getIVs()[i]), lower, upper, constant(static_cast<uint64_t>(parallel.getSteps()[i])), 64,
                false, [&] { self(self, i + 1); });
      });
    };
    dimension(dimension, 0);
  } else if (auto branch = dyn_cast<affine::AffineIfOp>(op)) {
    IntegerSet set = branch.getIntegerSet();
    SmallVector<Slot> operands = slotsOfAll(branch.getOperands());
    Slot holds = newSlots(1);
    emit(Opcode::Copy, holds, constant(1));
    for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
      Slot value = affine(set.getConstraint(i), set.getNumDims(), operands);
      Slot each = set.isEq(i) ? integer(Opcode::Equal, value, constant(0))
                              : integer(Opcode::LessEqualSigned, constant(0), value);
      emit(Opcode::AndI, holds, holds, each);
    }
    auto yield = [&](Operation* terminator) { copyValues(op->getResults(), terminator->getOperands()); };
    uint32_t test = here();
    emit(Opcode::JumpIfNot, holds);
    resolveBody(branch.getThenRegion(), yield);
    uint32_t end = here();
    emit(Opcode::Jump);
    patch(test, here());
    if (!branch.getElseRegion().empty())
      resolveBody(branch.getElseRegion(), yield);
    patch(end, here());
  } else {
    return false;
  }
  return true;
}

} // namespace strata::interpret
