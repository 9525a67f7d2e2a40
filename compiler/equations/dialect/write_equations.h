// The body of a kernel that computes equations: for each, its own operations with loads and stores in place of
// instances and elements. Used while one kernel is lowered, by one thread.
#pragma once

#include "compiler/equations/storage.h"
#include "compiler/ir/svm.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

#include <map>
#include <string>
#include <vector>

namespace strata::equations {

/// Storage of a variable in one kernel: the memory, and of each dimension that is kept the least number of an instance
/// and how many there are.
struct Cells {
  mlir::Value memory;
  std::vector<mlir::Value> least, extents;
};

/// Writes where its builder stands. What it refers to outlives it.
class EquationWriter {
public:
  /// `equations` are those of `op`, in their order; `numbers` tells variables by name, of which storage and cells are.
  /// `arguments` gives what the kernel has in place of the arguments of the equations' own.
  EquationWriter(mlir::OpBuilder& builder, svm::EquationsOp op, const std::vector<svm::EquationOp>& equations,
                 const std::map<std::string, uint32_t>& numbers, const std::vector<Storage>& storage,
                 const std::vector<Cells>& cells, const mlir::IRMapping& arguments)
      : builder_(builder), op_(op), equations_(equations), numbers_(numbers), storage_(storage), cells_(cells),
        arguments_(arguments), place_(op.getLoc()) {}

  /// One equation, in the iteration of these numbers.
  void compute(uint32_t number, const std::vector<mlir::Value>& iterators);

private:
  using Value = mlir::Value;
  Value constant(int64_t value);
  llvm::SmallVector<Value> cellOf(uint32_t variable, mlir::AffineMap index, const std::vector<Value>& iterators);
  llvm::SmallVector<Value> indices(mlir::AffineMap map, const std::vector<Value>& iterators);
  void store(svm::EquationOp root, Value value, const std::vector<Value>& iterators);
  void require(Value condition, const char* code, const char* message);
  void check(mlir::Operation& op, const mlir::IRMapping& values);

  mlir::OpBuilder& builder_;
  svm::EquationsOp op_;
  const std::vector<svm::EquationOp>& equations_;
  const std::map<std::string, uint32_t>& numbers_;
  const std::vector<Storage>& storage_;
  const std::vector<Cells>& cells_;
  const mlir::IRMapping& arguments_;
  mlir::Location place_;
};

} // namespace strata::equations
