// Indices of a nest of loops as sums: which loops' numbers they grow with, and by how much.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace strata::kernel {

/// A sum of values with factors, and a constant, in 64 bits that wrap. The values are what sums, differences, casts
/// between index and i64, and products with constants are made of.
struct Sum {
  llvm::SmallMapVector<mlir::Value, int64_t, 4> terms;
  int64_t constant = 0;

  void add(mlir::Value value, int64_t factor) {
    llvm::APInt number;
    if (mlir::matchPattern(value, mlir::m_ConstantInt(&number))) {
      constant = int64_t(uint64_t(constant) + uint64_t(factor) * uint64_t(number.getSExtValue()));
      return;
    }
    mlir::Operation* op = value.getDefiningOp();
    const auto isWord = [](mlir::Type type) { return type.isIndex() || type.isInteger(64); };
    if (op && isWord(value.getType())) {
      if (llvm::isa<mlir::arith::IndexCastOp, mlir::arith::IndexCastUIOp>(op) && isWord(op->getOperand(0).getType()))
        return add(op->getOperand(0), factor);
      if (llvm::isa<mlir::arith::AddIOp, mlir::arith::SubIOp>(op)) {
        add(op->getOperand(0), factor);
        return add(op->getOperand(1), llvm::isa<mlir::arith::SubIOp>(op) ? int64_t(-uint64_t(factor)) : factor);
      }
      for (unsigned side : {0, 1})
        if (llvm::isa<mlir::arith::MulIOp>(op) &&
            mlir::matchPattern(op->getOperand(side), mlir::m_ConstantInt(&number)))
          return add(op->getOperand(1 - side), int64_t(uint64_t(factor) * uint64_t(number.getSExtValue())));
    }
    int64_t& known = terms[value];
    known = int64_t(uint64_t(known) + uint64_t(factor));
  }

  Sum minus(const Sum& other) const {
    Sum difference = *this;
    for (const auto& [value, factor] : other.terms)
      difference.add(value, int64_t(-uint64_t(factor)));
    difference.constant = int64_t(uint64_t(constant) - uint64_t(other.constant));
    return difference;
  }

  int64_t factorOf(mlir::Value value) const {
    const auto found = terms.find(value);
    return found == terms.end() ? 0 : found->second;
  }
  friend bool operator==(const Sum& a, const Sum& b) {
    const auto holds = [](const Sum& x, const Sum& y) {
      return llvm::all_of(x.terms, [&](const auto& term) { return y.factorOf(term.first) == term.second; });
    };
    return a.constant == b.constant && holds(a, b) && holds(b, a);
  }
};

inline Sum sumOf(mlir::Value value) {
  Sum sum;
  sum.add(value, 1);
  return sum;
}

} // namespace strata::kernel
