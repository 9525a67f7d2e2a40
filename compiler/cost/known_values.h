// What is known of the values of a program while its cost is estimated: numbers that follow from its sizes, the extents
// of blocks, and which token is which. Of elements only those of variables are known (memref.alloca of a
// single element). Used by one thread.
#pragma once

#include "compiler/interpret/scalar_functions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace strata::cost {

struct Known {
  enum class Kind : uint8_t { Nothing, Number, Block, Token };
  Kind kind = Kind::Nothing;
  uint64_t bits = 0;                       ///< of a number, as interpret::PureFunction has them
  uint32_t token = 0;                      ///< its number (walk.h)
  llvm::SmallVector<int64_t, 4> extents{}; ///< of a block; -1: not known

  static Known number(int64_t value) { return {Kind::Number, static_cast<uint64_t>(value)}; }
  static Known block(llvm::ArrayRef<int64_t> extents);
  static Known ofToken(uint32_t number) { return {Kind::Token, 0, number}; }
};

/// The values of one call of a function or kernel.
class KnownValues {
public:
  void set(mlir::Value value, Known known) { known_[value] = std::move(known); }
  void forget(mlir::Value value) { known_.erase(value); }
  const Known& of(mlir::Value value) const;
  /// As an integer of its type, with its sign.
  std::optional<int64_t> integer(mlir::Value value) const;
  /// A token's number; 0 where it is not known.
  uint32_t token(mlir::Value token) const { return of(token).token; }
  /// Of a block; -1 where it is not known.
  int64_t extent(mlir::Value block, unsigned dimension) const;
  /// Bytes of all elements; nothing where an extent is not known.
  std::optional<int64_t> bytes(mlir::Value block) const;

  /// Sets the results of an operation without regions, as far as they are known, and the variable that it stores to.
  void evaluate(mlir::Operation* op);
  /// The variables that an operation or what is in it may store to: for what is not carried out as it stands.
  void forgetVariables(mlir::Operation* op);
  /// The results of an affine map, nothing where one is not known.
  std::optional<llvm::SmallVector<int64_t>> map(mlir::AffineMap map, mlir::ValueRange operands) const;
  /// Whether a point lies in a set.
  std::optional<bool> contains(mlir::IntegerSet set, mlir::ValueRange operands) const;

private:
  std::optional<int64_t> fold(mlir::OpFoldResult value) const;
  Known view(mlir::Operation* op) const;

  llvm::DenseMap<mlir::Value, Known> known_;
  llvm::DenseMap<mlir::Value, Known> variables_; // what they hold
};

/// Iterations of a loop with these bounds; 0 for a step that leads nowhere.
int64_t iterations(int64_t lower, int64_t upper, int64_t step);

/// Iterations of a loop where data decides how many there are, and how that is said.
inline constexpr int64_t assumedIterations = 8;
inline constexpr const char* assumedIterationsText = "how often the loop iterates depends on data; 8 times is assumed";

/// Follows a loop as long as its condition is known and it does not become too long; from then on as often as is
/// assumed. `each` carries out one of its regions. Returns whether anything was assumed.
bool follow(mlir::scf::WhileOp loop, KnownValues& values, llvm::function_ref<void(mlir::Region&)> each,
            llvm::function_ref<bool()> isTooLong);

} // namespace strata::cost
