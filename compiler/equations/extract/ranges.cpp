// Operations say the range of their results by those of their operands (MLIR's inference); loops, that of their
// variables. See ranges.h.
#include "compiler/equations/extract/ranges.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace strata::equations {

namespace {

using Range = mlir::ConstantIntRanges;

constexpr unsigned mostNested = 32;           // operations that a range is asked of one behind the other
constexpr int64_t largest = int64_t(1) << 31; // of ends that tell something; larger ones are those of types

unsigned widthOf(mlir::Value value) {
  return Range::getStorageBitwidth(value.getType());
}

Range between(mlir::Value value, const llvm::APInt& least, const llvm::APInt& most) {
  return least.sle(most) ? Range::fromSigned(least, most) : Range::maxRange(widthOf(value));
}

Range rangeOf(mlir::Value value, unsigned depth);

/// From `lower` up to but without `upper`.
Range variableOf(mlir::Value variable, mlir::Value lower, mlir::Value upper, unsigned depth) {
  const llvm::APInt end = rangeOf(upper, depth).smax();
  return between(variable, rangeOf(lower, depth).smin(), end.isMinSignedValue() ? end : end - 1);
}

Range rangeOf(mlir::Value value, unsigned depth) {
  const unsigned width = widthOf(value);
  const Range all = Range::maxRange(width);
  if (depth > mostNested)
    return all;
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value)) {
    mlir::Operation* owner = argument.getOwner()->getParentOp();
    if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(owner); loop && value == loop.getInductionVar())
      return variableOf(value, loop.getLowerBound(), loop.getUpperBound(), depth + 1);
    if (auto loop = mlir::dyn_cast<svm::ParallelOp>(owner); loop && argument.getArgNumber() < loop.dimensions())
      return variableOf(value, loop.getLower()[argument.getArgNumber()], loop.getUpper()[argument.getArgNumber()],
                        depth + 1);
    return all;
  }
  mlir::Operation* op = value.getDefiningOp();
  if (mlir::isa<mlir::memref::DimOp>(op))
    return Range::fromSigned(llvm::APInt::getZero(width), llvm::APInt::getSignedMaxValue(width));
  auto inferring = mlir::dyn_cast<mlir::InferIntRangeInterface>(op);
  if (!inferring)
    return all;
  llvm::SmallVector<Range> operands;
  for (const mlir::Value operand : op->getOperands()) {
    if (widthOf(operand) == 0)
      return all;
    operands.push_back(rangeOf(operand, depth + 1));
  }
  Range found = all;
  inferring.inferResultRanges(operands, [&](mlir::Value result, const Range& range) {
    if (result == value)
      found = range;
  });
  return found;
}

} // namespace

Known knownOfRuns(svm::KernelOp kernel, mlir::ModuleOp module) {
  const auto uses = mlir::SymbolTable::getSymbolUses(kernel.getOperation(), module);
  if (!uses)
    return {};
  std::map<unsigned, Range> ranges;
  for (const mlir::SymbolTable::SymbolUse& use : *uses) {
    auto run = mlir::dyn_cast<svm::RunOp>(use.getUser());
    if (!run)
      return {};
    for (const auto& [number, given] : llvm::enumerate(run.getArguments())) {
      if (!given.getType().isIntOrIndex())
        continue;
      const Range range = rangeOf(given, 0);
      const auto [at, isNew] = ranges.try_emplace(static_cast<unsigned>(number), range);
      if (!isNew)
        at->second = at->second.rangeUnion(range);
    }
  }
  Known made;
  for (const auto& [number, range] : ranges) {
    Interval interval;
    const int64_t least = range.smin().getSExtValue(), most = range.smax().getSExtValue();
    if (least > -largest)
      interval.least = least;
    if (most < largest - 1)
      interval.most = most;
    if (interval.least || interval.most)
      made[{number, std::nullopt}] = interval;
  }
  return made;
}

} // namespace strata::equations
