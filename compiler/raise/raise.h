// Raising: a function of LLVM IR, as C and C++ compile to it, becomes the body of a structured kernel, with loops,
// choices and accesses to blocks that the kernel compiler understands. What is not understood is refused, never
// guessed; the function then stays as it is. The method: loops from LLVM's loop and scalar evolution analyses, choices
// from post-dominators, indices as polynomials; nothing is read off branches twice.
//
//   clean(function);
//   Raising raising(function, arguments);
//   if (!raising.analyze()) … raising.refusal() …
//   …                                    // make a kernel with blocks of raising.elementOf(argument)
//   raising.write(builder, values, symbols)
#pragma once

#include "compiler/raise/blocks.h"

#include "mlir/IR/Builders.h"

#include <functional>
#include <map>
#include <string>

namespace strata::raise {

/// A call of it becomes svm.barrier. Arguments of such a function must not be said to be apart (noalias) to LLVM, which
/// would take it that the call changes nothing.
inline constexpr const char* barrierFunction = "strata_barrier_at";

/// What an argument of the function is to the kernel.
struct Argument {
  enum class Kind {
    Scalar, ///< a value
    Block,  ///< a pointer: a block of one dimension
    Known,  ///< an integer that is a polynomial of symbols
    Unused
  };
  Kind kind = Kind::Unused;
  /// Of a known one: factors that are symbols, each with a number; sums of products. {{0}} is symbol 0, {{0, 1}, {2}}
  /// the product of 0 and 1, plus 2.
  std::vector<std::vector<int>> known = {};
  /// Of a known one: whether the caller vouches that it is at least 0 and below 2^30.
  bool isSmall = false;
  /// Of a block: the type of its elements as far as the function does not tell, since it only copies or clears them.
  llvm::Type* element = nullptr;
  /// Of a scalar: whether it differs between the instances whose indices symbols are.
  bool varies = false;
  /// Whether the elements are of that type whatever the function takes them for: then larger numbers are made of them.
  bool hasElements = false;
};

/// A number type of the dialect as LLVM has it.
llvm::Type* numberType(mlir::Type type, llvm::LLVMContext& context);

/// Writes what a call of a function becomes, given its arguments, all of which are numbers. What prevents that; empty:
/// it is done.
using CallWriter = std::function<std::string(mlir::OpBuilder&, mlir::Location, mlir::ArrayRef<mlir::Value>)>;

/// Where an instruction of the function stands in the user's files, as a location of MLIR.
using Places = std::function<mlir::Location(const llvm::Instruction&)>;

/// For one function, which is not changed in the meantime. Not thread safe.
class Raising {
public:
  Raising(llvm::Function& function, std::vector<Argument> arguments);

  /// Finds the memory that the function reaches. False on a refusal.
  bool analyze();
  const Refusal& refusal() const { return refusal_; }

  /// What is known of a pointer's block; null where the function does not reach it.
  const MemoryBlock* blockOf(unsigned argument) const;
  /// Whether it was used that small arguments are small. Known behind write().
  bool reliesOnSmall() const { return indices_.reliesOnSmall(); }
  /// How accesses move with a symbol: how many by one element, and the most factors of a product that it is in; and
  /// whether it is of no use to go along it: all accesses, or a store that no choice by the symbol guards, stay where
  /// they are.
  struct Movement {
    unsigned byOne = 0, mostFactors = 0;
    bool isFixed = false;
  };
  Movement movementOf(int symbol) const;

  /// Has a call of a function that is declared, and returns nothing, written in a way of its own.
  void setCall(std::string function, CallWriter writer) { calls_[std::move(function)] = std::move(writer); }

  /// Writes the body where the builder stands; it stands behind the body then. `values` has a value for each argument
  /// that is a scalar or a block (memref<?xT> of any layout), `symbols` an index for each symbol; local variables are
  /// made by `variables`, at the kernel's beginning. False on a refusal, with some of the body written.
  bool write(mlir::OpBuilder& builder, mlir::OpBuilder& variables, mlir::ArrayRef<mlir::Value> values,
             mlir::ArrayRef<mlir::Value> symbols, const Places& places);

private:
  bool isChosenBy(int symbol, const llvm::Instruction& instruction) const;
  bool dependsOn(const llvm::Value* value, int symbol) const;

  std::vector<Argument> arguments_;
  Analyses analyses_;
  CountedLoops loops_;
  Indices indices_;
  Memory memory_;
  Refusal refusal_;
  std::map<std::string, CallWriter> calls_;
};

} // namespace strata::raise
