// Integers of a kernel as functions of the iteration vector, and conditions as sets of iterations, where they are
// affine: sums, constant factors, minima and maxima, quotients and remainders by constants.
#pragma once

#include "compiler/equations/extract/program.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace strata::equations::extraction {

class AffineValues {
public:
  explicit AffineValues(const Program& program) : program_(program) {}

  /// What a value is: a parameter, or a loop's variable.
  void define(mlir::Value value, isl::pw_aff meaning) { known_.insert_or_assign(value, std::move(meaning)); }
  /// The iterations in which a block is executed.
  void define(mlir::Block* block, isl::set domain) { domains_[block] = std::move(domain); }
  isl::set domain(mlir::Block* block) const { return domains_.lookup(block); }

  /// Over the iteration vectors of `depth` loops. Nothing where it is not affine.
  std::optional<isl::pw_aff> value(mlir::Value value, unsigned depth);
  /// A condition (i1), as for value().
  std::optional<isl::set> condition(mlir::Value value, unsigned depth);
  /// One result of a map, of these operands.
  std::optional<isl::pw_aff> value(mlir::AffineExpr expression, unsigned dimensions, mlir::ValueRange operands,
                                   unsigned depth);
  std::optional<isl::set> condition(mlir::IntegerSet set, mlir::ValueRange operands, unsigned depth);

  isl::pw_aff constant(int64_t value, unsigned depth) const;
  isl::pw_aff parameter(size_t number) const;
  /// An entry of the iteration vector.
  isl::pw_aff entry(unsigned number, unsigned depth) const;
  isl::set everywhere(unsigned depth) const;
  /// Parameters that make values no affine ones, by a product or a quotient: with numbers in their place they were.
  const std::set<unsigned>& factors() const { return factors_; }
  /// Notes those of a value that no loop's variable is in.
  void noteFactors(const isl::pw_aff& value);
  /// For more loops around.
  static isl::pw_aff lifted(const isl::pw_aff& value, unsigned depth);

private:
  std::optional<isl::pw_aff> compute(mlir::Operation* op, unsigned depth);
  std::optional<isl::set> compare(mlir::Operation* op, unsigned depth);
  bool isNotNegative(const isl::pw_aff& value, mlir::Operation* at, unsigned depth) const;
  isl::pw_aff least(const isl::pw_aff& left, const isl::pw_aff& right, mlir::Operation* at, unsigned depth) const;
  isl::pw_aff greatest(const isl::pw_aff& left, const isl::pw_aff& right, mlir::Operation* at, unsigned depth) const;
  isl::pw_aff parsed(const std::string& text, unsigned depth) const;

  const Program& program_;
  llvm::DenseMap<mlir::Value, std::optional<isl::pw_aff>> known_;
  llvm::DenseMap<mlir::Block*, isl::set> domains_;
  std::set<unsigned> factors_;
};

} // namespace strata::equations::extraction
